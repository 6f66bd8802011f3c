// What happens at one moment: which events are due, what they change, and whether that can go on.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/solve/events.hpp"

namespace daedalus::solve {

using compile::Switches;
using integrate::Evaluation;
using integrate::Reaction;
using integrate::Status;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// Events of one name that follow each other faster than this part of the run, so many times, are without end.
constexpr double quick = 1e-10;
constexpr int most_quick = 20;
/// A function that stays below `close` tolerances between changes of its mode, so many times, only trembles.
constexpr double close = 10.0;
constexpr int most_trembles = 3;
/// Events that make each other happen at one moment.
constexpr int longest_chain = 100;

std::string at_time(double t) { return "t = " + brief(t, 12); }

Status unsolvable(Evaluation outcome) { return outcome == Evaluation::singular ? Status::singular : Status::event_failed; }

Reaction failure(Status status, std::string message) { return {Reaction::Kind::failed, status, std::move(message)}; }

}  // namespace

Reaction Events::begin(double t, double* x) {
  time_ = t;
  std::string culprit;
  for (Watch& watch : watches_) watch.mode = 0.0;
  if (!evaluate(t, x, Modes::free))
    return failure(Status::event_failed, "the events cannot be evaluated at the start: " + port_.explain());
  std::vector<double> as_given(watches_.size());
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    Watch& watch = watches_[i];
    as_given[i] = watch.decides.mode(values_[i]);
    set_mode(watch, as_given[i]);
    if (!watch.by_time) continue;
    // A bound at the very start is behind: time goes on.
    const double at = nearest_bound(watch, values_[i]);
    if (std::abs(values_[i] - at) > 16.0 * epsilon * std::max(std::abs(watch.offset), std::abs(watch.rate * t)))
      continue;
    const bool up = (watch.rate > 0.0) == (span_.t_end >= span_.t_start);
    if (watch.decides.kind == Switches::Kind::side)
      set_mode(watch, up ? 1.0 : -1.0);
    else
      set_mode(watch, up ? watch.decides.mode(at) : watch.decides.mode(at) - 1.0);
  }
  if (const auto outside = leave_table(t)) return *outside;
  if (!settle(t, x, Bound::at_start, culprit)) {
    if (outcome_ != Evaluation::ok)
      return failure(unsolvable(outcome_), "the motion cannot be evaluated at the start: " + port_.explain());
    return failure(
        Status::too_many_events,
        fmt::format("no mode holds at the start: '{}' is driven back to its bound from both sides; describe what "
                    "happens there by a value of [discrete] and events",
                    culprit));
  }
  if (port_.begun) port_.begun();
  // The start meets what holds at that very moment. Where something else holds from there on, what follows from the state
  // leaps, as it does at an event.
  for (std::size_t i = 0; i < watches_.size(); ++i)
    if (port_.complete && watches_[i].motion && watches_[i].mode != as_given[i]) {
      port_.complete(t, x);
      break;
    }
  evaluate_conditions(x, conditions_);
  for (std::size_t k = 0; k < conditions_.size(); ++k)
    if (conditions_[k] != 0.0)
      notes.push_back(
          fmt::format("the condition of the event '{}' holds at the start already; the event happens when it "
                      "becomes true again",
                      model().events[condition_events_[k]].name));
  std::vector<std::size_t> fired;
  if (!span_.continues)
    for (const Sampled& sampled : sampled_)
      if (span_.origin == t) fired.push_back(sampled.event);
  std::fill(touched_.begin(), touched_.end(), false);
  if (fired.empty()) return {};
  if (!evaluate_resets(fired.front(), t, x)) return failure(Status::event_failed, unable_);
  return chain(std::move(fired), t, x);
}

/// When a function that is linear in time leaves its mode.
double Events::exit_time(const Watch& watch) const {
  const bool up = (watch.rate > 0.0) == (span_.t_end >= span_.t_start);
  const double bound = up ? watch.decides.high(watch.mode) : watch.decides.low(watch.mode);
  if (!std::isfinite(bound)) return infinity;
  return (bound - watch.offset) / watch.rate;
}

/// The first sampling time after t; every one is counted from the origin, so that nothing adds up.
double Events::sample_time(const Sampled& sampled, double t) const {
  double k = std::floor((t - span_.origin) / sampled.period);
  double next = span_.origin + k * sampled.period;
  while (next <= t) next = span_.origin + ++k * sampled.period;
  return next;
}

double Events::next_time(double t) const {
  double next = infinity;
  for (const Watch& watch : watches_)
    if (watch.by_time)
      if (const double exit = exit_time(watch); exit > t) next = std::min(next, exit);
  for (const Sampled& sampled : sampled_) next = std::min(next, sample_time(sampled, t));
  return next;
}

/// Value by value: everybody who reads the modes knows where they lie.
void Events::exchange_modes() { std::swap_ranges(frozen_.begin(), frozen_.end(), modes_before_.begin()); }

bool Events::notice(const integrate::Happening& happening) {
  time_ = happening.t;
  crossed_.clear();
  std::fill(touched_.begin(), touched_.end(), false);
  modes_before_ = frozen_;
  bool matters = false;
  if (!evaluate(happening.t, happening.x, Modes::frozen)) return true;
  evaluate_noise();
  for (const std::size_t i : *happening.left) {
    Watch& watch = watches_[i];
    const double before = watch.mode, value = values_[i];
    double mode = 0.0;
    if (watch.decides.kind == Switches::Kind::side) {
      watch.leaves_zero = before == 0.0;
      mode = before != 0.0 ? -before : watch.seen > 0.0 ? 1.0 : -1.0;
    } else {
      mode = value - watch.decides.low(before) < watch.decides.high(before) - value ? before - 1.0 : before + 1.0;
    }
    touched_[i] = true;
    watch.noise = 8.0 * std::abs(value - nearest_bound(watch, value)) + round_off_[i];
    set_mode(watch, mode);
    if (watch.motion) matters = true;
    if (watch.event && before != 0.0) {
      const std::string& direction = model().events[*watch.event].direction;
      const bool up = mode > 0.0;
      if (direction == "both" || direction == (up ? "up" : "down")) {
        crossed_.push_back(i);
        matters = true;
      }
    }
  }
  if (!matters) {
    evaluate_conditions(happening.x, conditions_now_);
    for (std::size_t k = 0; k < conditions_.size(); ++k)
      matters = matters || (conditions_now_[k] != 0.0 && conditions_[k] == 0.0);
    if (!matters) {
      conditions_ = conditions_now_;
      std::fill(touched_.begin(), touched_.end(), false);
      for (const std::size_t i : *happening.left) watches_[i].leaves_zero = false;
    }
  }
  // The state before the event is still shown with the modes before it.
  if (matters) exchange_modes();
  return matters;
}

Reaction Events::react(double t, double* x) {
  time_ = t;
  const std::vector<double> before = frozen_;
  if (!crossed_.empty() && std::abs(t - last_time_) <= 8.0 * epsilon * std::abs(t) && probe(t, x))
    for (const std::size_t i : crossed_)  // it moves away from the bound, but is back before the next number after t
      if (change_[i] * watches_[i].mode < 0.0)
        return endless(t, event_rhythm_[*watches_[i].event], "the event '" + watches_[i].name + "'");
  last_time_ = t;
  if (std::find(touched_.begin(), touched_.end(), true) != touched_.end()) exchange_modes();
  std::vector<std::size_t> fired;
  const double slack = 4.0 * epsilon * std::abs(t);
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    Watch& watch = watches_[i];
    if (!watch.by_time || exit_time(watch) > t + slack) continue;
    const bool up = (watch.rate > 0.0) == (span_.t_end >= span_.t_start);
    const bool side = watch.decides.kind == Switches::Kind::side;
    const double mode = side ? (up ? 1.0 : -1.0) : watch.mode + (up ? 1.0 : -1.0);
    if (t == span_.t_end && watch.decides.table && !(std::isfinite(watch.decides.low(mode)) && std::isfinite(watch.decides.high(mode))))
      continue;  // the data end with the run: nothing goes beyond
    set_mode(watch, mode);
    if (!watch.event) continue;
    const std::string& direction = model().events[*watch.event].direction;
    if (direction == "both" || direction == (up ? "up" : "down")) fired.push_back(*watch.event);
  }
  if (const auto outside = leave_table(t)) return *outside;
  for (const std::size_t i : crossed_) fired.push_back(*watches_[i].event);
  crossed_.clear();
  for (const Sampled& sampled : sampled_) {
    const double k = std::round((t - span_.origin) / sampled.period);
    if (std::abs(span_.origin + k * sampled.period - t) <= slack) fired.push_back(sampled.event);
  }
  for (std::size_t i = 0; i < watches_.size(); ++i)
    if (touched_[i] && watches_[i].place != 0) {
      release_if_trembling(i, t, x);
      if (watches_[i].released) continue;
      if (auto endless = complain(t, watch_rhythm_[i], "the mode of '" + watches_[i].name + "'")) return *endless;
    }
  evaluate_conditions(x, conditions_now_);
  for (std::size_t k = 0; k < conditions_.size(); ++k)
    if (conditions_now_[k] != 0.0 && conditions_[k] == 0.0) fired.push_back(condition_events_[k]);
  conditions_ = conditions_now_;
  // What happens uses the values before it, multipliers under the old modes among them.
  const std::vector<double> after = frozen_;
  frozen_ = before;
  std::sort(fired.begin(), fired.end());
  fired.erase(std::unique(fired.begin(), fired.end()), fired.end());
  if (!fired.empty() && !evaluate_resets(fired.front(), t, x)) return failure(Status::event_failed, unable_);
  frozen_ = after;
  Reaction reaction = chain(std::move(fired), t, x);
  if (reaction.kind == Reaction::Kind::failed && reaction.status == Status::singular) reaction.message += change_since(before);
  for (Watch& watch : watches_) watch.leaves_zero = false;
  std::fill(touched_.begin(), touched_.end(), false);
  return reaction;
}

/// What makes the equations other ones than those with these frozen values.
std::string Events::change_since(const std::vector<double>& before) const {
  std::vector<std::string> changed;
  for (const Watch& watch : watches_)
    if (watch.motion && watch.place != 0 && frozen_[watch.place] != before[watch.place]) changed.push_back("'" + watch.name + "'");
  if (changed.empty()) return {};
  return fmt::format("; the equations change there with {}, and with them their index", listed(changed));
}

/// Values of all resets at a point. Where they cannot be told, unable_ says why the event `e` cannot happen.
bool Events::evaluate_resets(std::size_t e, double t, const double* x) {
  if (reset_values_.empty()) return true;
  time_ = t;
  outcome_ = port_.look(time_, x, EventPort::Depth::all, inputs_);
  if (outcome_ == Evaluation::ok) {
    resets_(inputs_.data(), reset_values_.data(), resets_scratch_, frozen_.data());
    return true;
  }
  unable_ =
      fmt::format("the event '{}' cannot be evaluated at {}: {}", model().events[e].name, at_time(t), port_.explain());
  return false;
}

/// Performs events and what they make happen at the same moment. The values of the first resets are known.
Reaction Events::chain(std::vector<std::size_t> fired, double t, double* x) {
  bool stop = false;
  std::string last;
  for (int length = 0;; ++length) {
    for (const std::size_t e : fired) {
      const model::Event& event = model().events[e];
      records.push_back({event.name, t});
      last = event.name;
      stop = stop || event.stop;
      if (!event.every)
        if (auto endless = complain(t, event_rhythm_[e], "the event '" + event.name + "'")) return *endless;
    }
    if (const std::string message = perform(fired, t, x); !message.empty())
      return failure(Status::event_failed, message);
    if (port_.complete) port_.complete(t, x);
    std::string culprit;
    if (!settle(t, x, Bound::touched, culprit)) {
      if (outcome_ != Evaluation::ok)
        return failure(unsolvable(outcome_),
                       fmt::format("the motion after {} cannot be evaluated: {}", at_time(t), port_.explain()));
      return failure(
          Status::too_many_events,
          fmt::format("'{}' is driven back to its bound from both sides at {}: the motion would slide along it; "
                      "describe that by a mode of its own, a value of [discrete] that an event sets here and "
                      "another one takes back (see docs/events.md)",
                      culprit, at_time(t)));
    }
    if (const auto outside = leave_table(t)) return *outside;
    evaluate_conditions(x, conditions_now_);
    fired.clear();
    for (std::size_t k = 0; k < conditions_.size(); ++k)
      if (conditions_now_[k] != 0.0 && conditions_[k] == 0.0) fired.push_back(condition_events_[k]);
    conditions_ = conditions_now_;
    if (stop)
      return {Reaction::Kind::stop, Status::stopped, fmt::format("stopped by the event '{}' at {}", last, at_time(t))};
    if (fired.empty()) return {};
    if (length == longest_chain)
      return failure(
          Status::too_many_events,
          fmt::format("the event '{}' makes itself happen again without end at {}: more than {} events one after "
                      "the other",
                      model().events[fired.front()].name, at_time(t), longest_chain));
    if (!evaluate_resets(fired.front(), t, x)) return failure(Status::event_failed, unable_);
  }
}

/// Gives new values to state and discrete values. Answers what is wrong, if anything is.
std::string Events::perform(const std::vector<std::size_t>& fired, double t, double* x) {
  struct New {
    double value;
    std::size_t event;
  };
  std::vector<std::pair<std::string, double>> state;
  std::unordered_map<std::string, New> given;
  for (const std::size_t e : fired) {
    const model::Event& event = model().events[e];
    for (std::size_t k = 0; k < event.reset.size(); ++k) {
      const std::string& name = event.reset[k].first;
      const double value = reset_values_[reset_start_[e] + k];
      if (!std::isfinite(value))
        return fmt::format("the event '{}' gives '{}' a value that is not a finite number at {}", event.name, name,
                           at_time(t));
      const auto [found, fresh] = given.try_emplace(name, New{value, e});
      if (!fresh) {
        if (found->second.value == value) continue;
        return fmt::format(
            "the events '{}' and '{}' happen together at {} and give '{}' different values, {} and {}; let one "
            "of them decide, or make them one event",
            model().events[found->second.event].name, event.name, at_time(t), name, brief(found->second.value),
            brief(value));
      }
      const auto discrete = std::find_if(model().discrete.begin(), model().discrete.end(),
                                         [&](const model::Parameter& one) { return one.name == name; });
      if (discrete != model().discrete.end())
        frozen_[1 + static_cast<std::size_t>(discrete - model().discrete.begin())] = value;
      else
        state.emplace_back(name, value);
    }
  }
  if (given.empty()) return {};
  const std::string message = port_.assign(t, x, state);
  return message.empty()
             ? message
             : fmt::format("after the event '{}' at {}: {}", model().events[fired.front()].name, at_time(t), message);
}

/// A difference that vanishes, such as the voltage of a transistor that is switched off, has no sign beyond its
/// tolerance. Where nothing depends on it, its changes are no events: the condition follows its value.
void Events::release_if_trembling(std::size_t i, double t, const double* x) {
  Watch& watch = watches_[i];
  if (watch.event || !watch.motion || watch.decides.kind != Switches::Kind::side) return;
  const bool at_once = follows_quickly(t, watch_rhythm_[i]);
  watch.trembles = at_once || watch.excursion <= close * tolerance_of(i) ? watch.trembles + 1 : 0;
  watch.excursion = 0.0;
  if (watch.trembles < most_trembles || !makes_no_difference(i, t, x)) return;
  watch.released = true;
  watch_rhythm_[i].quick = 0;
  touched_[i] = false;
  frozen_[watch.place] = std::numeric_limits<double>::quiet_NaN();
}

bool Events::follows_quickly(double t, const Rhythm& rhythm) const {
  const double pause = std::abs(t - rhythm.last), span = std::abs(span_.t_end - span_.t_start);
  return rhythm.count > 0 && pause <= std::max(quick * span, 20.0 * epsilon * std::abs(t));
}

std::optional<Reaction> Events::complain(double t, Rhythm& rhythm, const std::string& what) {
  rhythm.quick = follows_quickly(t, rhythm) ? rhythm.quick + 1 : 0;
  rhythm.last = t;
  ++rhythm.count;
  if (rhythm.quick < most_quick) return std::nullopt;
  return endless(t, rhythm, what);
}

Reaction Events::endless(double t, const Rhythm& rhythm, const std::string& what) const {
  const bool mode = what.starts_with("the mode");
  return failure(
      Status::too_many_events,
      fmt::format("{} {} {} times, and infinitely often before the motion gets past {}: {}", what,
                  mode ? "changed" : "happened", rhythm.count, at_time(t),
                  "say what the motion is after that by a mode: a value of [discrete] that an event sets when the "
                  "motion has become small, and that stops it (see docs/events.md)"));
}

/// Where an argument leaves a table that has nothing beyond its ends.
std::optional<Reaction> Events::leave_table(double t) const {
  if (t == span_.t_end && t != span_.t_start) return std::nullopt;
  for (const Watch& watch : watches_) {
    const auto& table = watch.decides.table;
    if (!watch.motion || !table || !table->forbidden(watch.mode)) continue;
    return failure(
        Status::event_failed,
        fmt::format("the argument of the table '{}' leaves its data, which reach from {} to {}, at {}; give more data, "
                    "or say what is outside: outside = \"hold\" or \"periodic\"",
                    watch.decides.table_name, brief(table->first()), brief(table->last()), at_time(t)));
  }
  return std::nullopt;
}

}  // namespace daedalus::solve
