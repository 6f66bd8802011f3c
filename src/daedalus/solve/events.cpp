// Between events everything that can switch is frozen, so a step sees one smooth system. A watched function f with mode m
// holds while low(m) < f < high(m). Where it reaches a bound the mode on the other side is tried: it holds if f, with the
// new mode in force, goes on in the same direction (seen by a short step, of Euler's or Heun's method); if f is driven back from both
// sides, the motion would have to slide along the bound, which a model must say by a mode of its own. (A. F. Filippov,
// Differential Equations with Discontinuous Righthand Sides, 1988, section 4.)

#include "daedalus/solve/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::solve {

using compile::Switches;
using expr::Expr;
using expr::NodeId;
using integrate::Evaluation;
using integrate::Reaction;
using integrate::Status;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// Relative change of the state over which the direction of a function is looked at; the second one where the first
/// shows nothing, because the derivative vanishes.
constexpr double glance = 1e-9, look = 1e-6;
/// At the start a function counts as zero if it is this much smaller than its change over a glance.
constexpr double negligible = 1e-3;
/// Events of one name that follow each other faster than this part of the run, so many times, are without end.
constexpr double quick = 1e-10;
constexpr int most_quick = 20;
/// Events that make each other happen at one moment.
constexpr int longest_chain = 100;

std::string at_time(double t) { return "t = " + brief(t, 12); }

/// Whether a function is zero for a while, as a speed is in rest.
bool rests_at_zero(const auto& watch) { return watch.decides.kind == Switches::Kind::side && watch.mode == 0.0 && !watch.by_time; }

Reaction failure(Status status, std::string message) { return {Reaction::Kind::failed, status, std::move(message)}; }

}  // namespace

Events::Events(EventSymbols symbols, const EventSpan& span) : symbols_(std::move(symbols)), span_(span) {
  const auto numbers = model().numbers();
  const std::size_t motion_switches = symbols_.switches.size();
  std::vector<Expr> conditions, crossings, resets;
  reset_start_.push_back(0);
  for (std::size_t e = 0; e < model().events.size(); ++e) {
    const model::Event& event = model().events[e];
    if (event.every) sampled_.push_back({e, expr::evaluate(*event.every, numbers)});
    if (event.when && event.when_is_condition) {
      condition_events_.push_back(e);
      conditions.push_back(*event.when);
    } else if (event.when) {
      crossings.push_back(*event.when);
    }
    for (const auto& [name, value] : event.reset) resets.push_back(value);
    reset_start_.push_back(resets.size());
  }
  for (auto* list : {&conditions, &crossings, &resets})
    if (!list->empty() && !symbols_.replacement.empty()) *list = expr::substitute(*list, symbols_.replacement);
  const auto make = [&](const std::vector<Expr>& outputs, compile::Request::NewSwitches added) {
    return outputs.empty() ? compile::Function{}
                           : compile::compile({symbols_.blocks, outputs, &numbers, added}, symbols_.switches);
  };
  condition_function_ = make(conditions, compile::Request::NewSwitches::added);
  resets_ = make(resets, compile::Request::NewSwitches::none);

  std::vector<Expr> functions;
  for (std::size_t i = 0; i < symbols_.switches.size(); ++i) {
    Watch watch;
    watch.decides = symbols_.switches[i];
    watch.place = symbols_.switches.place(i);
    watch.motion = i < motion_switches;
    watch.name = watch.decides.kind == Switches::Kind::segment
                     ? fmt::format("{}({})", watch.decides.table_name, expr::to_text(watch.decides.function))
                     : expr::to_text(watch.decides.function);
    functions.push_back(watch.decides.function);
    watches_.push_back(std::move(watch));
  }
  for (std::size_t e = 0, k = 0; e < model().events.size(); ++e) {
    const model::Event& event = model().events[e];
    if (!event.when || event.when_is_condition) continue;
    Watch watch;
    watch.decides = {Switches::Kind::side, crossings[k++], nullptr, {}};
    watch.event = e;
    watch.name = event.name;
    functions.push_back(watch.decides.function);
    watches_.push_back(std::move(watch));
  }
  watched_ = make(functions, compile::Request::NewSwitches::none);
  std::vector<Expr> terms;
  term_start_.push_back(0);
  for (const Expr& function : functions) {
    const std::vector<Expr> of = expr::terms_of(function);
    terms.insert(terms.end(), of.begin(), of.end());
    term_start_.push_back(terms.size());
  }
  terms_ = make(terms, compile::Request::NewSwitches::none);
  find_known_times();

  std::vector<double> held;
  for (const model::Parameter& value : model().discrete) held.push_back(value.value);
  frozen_ = symbols_.switches.free_modes(held);
  watched_scratch_ = watched_.make_scratch();
  terms_scratch_ = terms_.make_scratch();
  term_values_.resize(terms.size());
  round_off_.resize(watches_.size());
  condition_scratch_ = condition_function_.make_scratch();
  resets_scratch_ = resets_.make_scratch();
  values_.resize(watches_.size());
  first_values_.resize(watches_.size());
  change_.resize(watches_.size());
  conditions_.resize(conditions.size());
  conditions_now_.resize(conditions.size());
  reset_values_.resize(resets.size());
  touched_.assign(watches_.size(), false);
  event_rhythm_.resize(model().events.size());
  watch_rhythm_.resize(watches_.size());
}

/// Functions that are linear in time alone leave at moments that are known: steps end there, and nothing is searched.
void Events::find_known_times() {
  const auto numbers = model().numbers();
  for (Watch& watch : watches_) {
    const Expr f = watch.decides.function;
    bool alone = true, any = false;
    for (const NodeId id : expr::symbols_of(f)) {
      any = any || id == symbols_.t.id();
      alone = alone && (id == symbols_.t.id() || (numbers.contains(id) && !symbols_.switches.held(id)));
    }
    if (!alone || !any) continue;
    const auto at = [&](double t) {
      auto values = numbers;
      values[symbols_.t.id()] = t;
      return expr::evaluate(f, values);
    };
    const double offset = at(0.0), scale = std::max({1.0, std::abs(span_.t_start), std::abs(span_.t_end)});
    const double rate = (at(scale) - offset) / scale;
    if (rate == 0.0 || !std::isfinite(rate)) continue;
    bool linear = true;
    for (const double part : {-0.83, -0.31, 0.127, 0.52, 0.79})
      linear = linear && std::abs(at(part * scale) - (offset + rate * part * scale)) <=
                             16.0 * epsilon * (std::abs(offset) + std::abs(rate) * scale);
    if (!linear) continue;
    watch.by_time = true;
    watch.offset = offset;
    watch.rate = rate;
  }
}

void Events::connect(EventPort port, std::size_t dimension) {
  port_ = std::move(port);
  std::vector<Expr> functions;
  for (const Watch& watch : watches_) functions.push_back(watch.decides.function);
  std::unordered_set<NodeId> further;
  for (std::size_t b = std::max(symbols_.state_blocks, port_.state_blocks); b < symbols_.blocks.size(); ++b)
    for (const Expr& symbol : symbols_.blocks[b]) further.insert(symbol.id());
  const std::vector<bool> depends = functions.empty() ? std::vector<bool>{} : expr::dependence(functions, further);
  watched_depth_ = std::ranges::find(depends, true) != depends.end() ? EventPort::Depth::all : EventPort::Depth::state;
  slope_.resize(dimension);
  slope_ahead_.resize(dimension);
  x_ahead_.resize(dimension);
  hooks_.count = watches_.size();
  hooks_.begin = [this](double t, double* x) { return begin(t, x); };
  hooks_.room = [this](double t, const double* x, double* room) {
    if (!evaluate(t, x, Modes::frozen)) return outcome_;
    if (std::any_of(watches_.begin(), watches_.end(), [](const Watch& watch) { return rests_at_zero(watch); })) evaluate_noise();
    for (std::size_t i = 0; i < watches_.size(); ++i) {
      if (rests_at_zero(watches_[i]) && std::abs(values_[i]) <= round_off_[i]) values_[i] = 0.0;
      if (values_[i] != 0.0) watches_[i].seen = values_[i];
      room[i] = room_of(watches_[i], values_[i]);
    }
    return Evaluation::ok;
  };
  hooks_.next_time = [this](double t) { return next_time(t); };
  hooks_.notice = [this](const integrate::Happening& happening) { return notice(happening); };
  hooks_.react = [this](double t, double* x) { return react(t, x); };
}

bool Events::evaluate(double t, const double* x, Modes modes) {
  outcome_ = Evaluation::ok;
  if (watches_.empty()) return true;
  time_ = t;
  outcome_ = port_.look(time_, x, watched_depth_, inputs_);
  if (outcome_ != Evaluation::ok) return false;
  if (modes == Modes::frozen) {
    watched_(inputs_.data(), values_.data(), watched_scratch_, frozen_.data());
  } else {
    std::vector<double> free = frozen_;
    std::fill(free.begin() + static_cast<std::ptrdiff_t>(symbols_.switches.place(0)), free.end(),
              std::numeric_limits<double>::quiet_NaN());
    watched_(inputs_.data(), values_.data(), watched_scratch_, free.data());
  }
  return true;
}

/// How every function changes over a short time from here, in change_.
bool Events::probe(double t, const double* x) {
  const std::size_t n = slope_.size();
  if (!evaluate(t, x, Modes::frozen)) return false;
  first_values_ = values_;
  outcome_ = port_.slope(t, x, slope_.data());
  if (outcome_ != Evaluation::ok) return false;
  const double span = std::abs(span_.t_end - span_.t_start), forwards = span_.t_end < span_.t_start ? -1.0 : 1.0;
  double rate = 1.0 / (span > 0.0 ? span : 1.0);
  for (std::size_t i = 0; i < n; ++i) rate = std::max(rate, std::abs(slope_[i]) / (1e-2 + std::abs(x[i])));
  // Along the tangent, so that a ball that hardly bounces does go up.
  double h = forwards * std::max(glance / rate, 64.0 * epsilon * std::abs(t));
  for (std::size_t i = 0; i < n; ++i) x_ahead_[i] = x[i] + h * slope_[i];
  if (!evaluate(t + h, x_ahead_.data(), Modes::frozen)) return false;
  bool still = false;
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    change_[i] = values_[i] - first_values_[i];
    still = still || change_[i] == 0.0;
  }
  if (!still) return true;
  h = forwards * std::max(look / rate, 1e4 * epsilon * std::abs(t));
  for (std::size_t i = 0; i < n; ++i) x_ahead_[i] = x[i] + h * slope_[i];
  outcome_ = port_.slope(t + h, x_ahead_.data(), slope_ahead_.data());
  if (outcome_ == Evaluation::ok)
    for (std::size_t i = 0; i < n; ++i) x_ahead_[i] = x[i] + 0.5 * h * (slope_[i] + slope_ahead_[i]);
  if (!evaluate(t + h, x_ahead_.data(), Modes::frozen)) return false;
  for (std::size_t i = 0; i < watches_.size(); ++i)
    if (change_[i] == 0.0) change_[i] = values_[i] - first_values_[i];
  return true;
}

double Events::room_of(const Watch& watch, double value) const {
  if (watch.by_time) return infinity;
  if (rests_at_zero(watch)) return value == 0.0 ? infinity : -std::abs(value);
  return std::min(value - watch.decides.low(watch.mode), watch.decides.high(watch.mode) - value);
}

/// Round-off in the values of the functions where they were evaluated last: some digits of their largest terms.
void Events::evaluate_noise() {
  terms_(inputs_.data(), term_values_.data(), terms_scratch_, frozen_.data());
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    double most = 0.0;
    for (std::size_t k = term_start_[i]; k < term_start_[i + 1]; ++k) most = std::max(most, std::abs(term_values_[k]));
    round_off_[i] = 16.0 * epsilon * most;
  }
}

double Events::nearest_bound(const Watch& watch, double value) const {
  if (watch.decides.kind == Switches::Kind::side) return 0.0;
  const double mode = watch.decides.mode(value);
  const double low = watch.decides.low(mode), high = watch.decides.high(mode);
  return value - low < high - value ? low : high;
}

void Events::set_mode(Watch& watch, double mode) {
  watch.mode = mode;
  if (watch.place != 0) frozen_[watch.place] = mode;
}

void Events::evaluate_conditions(const double* x, std::vector<double>& to) {
  if (to.empty()) return;
  outcome_ = port_.look(time_, x, EventPort::Depth::state, inputs_);
  condition_function_(inputs_.data(), to.data(), condition_scratch_, frozen_.data());
}

/// Finds the modes in force from (t, x) on. Functions at a bound go where the motion takes them.
bool Events::settle(double t, const double* x, Bound bound, std::string& culprit) {
  if (watches_.empty()) return true;
  if (!evaluate(t, x, Modes::free)) return false;
  const std::vector<double> given = values_;
  evaluate_noise();
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    Watch& watch = watches_[i];
    if (watch.by_time) continue;
    const double distance = std::abs(given[i] - nearest_bound(watch, given[i]));
    if (distance > watch.noise) {
      if (bound == Bound::touched) touched_[i] = false;
      set_mode(watch, watch.decides.mode(given[i]));
    }
  }
  for (int round = 0; round < 8; ++round) {
    bool open = bound == Bound::at_start;
    for (std::size_t i = 0; i < watches_.size(); ++i)
      open = open || touched_[i] || (!watches_[i].by_time && given[i] == nearest_bound(watches_[i], given[i]));
    if (!open) return true;
    if (!probe(t, x)) return false;
    bool changed = false;
    for (std::size_t i = 0; i < watches_.size(); ++i) {
      Watch& watch = watches_[i];
      if (watch.by_time) continue;
      const double at = nearest_bound(watch, given[i]), distance = std::abs(given[i] - at);
      const bool near =
          distance == 0.0 || touched_[i] ||
          (bound == Bound::at_start && (distance <= round_off_[i] || distance <= negligible * std::abs(change_[i])));
      if (!near) continue;
      watch.noise = std::max(watch.noise, distance);
      double mode = watch.mode;
      if (watch.decides.kind == Switches::Kind::side) {
        mode = change_[i] > 0.0 ? 1.0 : change_[i] < 0.0 ? -1.0 : watch.leaves_zero ? watch.mode : 0.0;
      } else if (change_[i] != 0.0) {
        const double above = watch.decides.mode(at);
        mode = change_[i] > 0.0 ? above : above - 1.0;
      }
      if (mode == watch.mode) continue;
      set_mode(watch, mode);
      changed = true;
      culprit = watch.name;
    }
    if (!changed) return true;
  }
  return false;
}

Reaction Events::begin(double t, double* x) {
  time_ = t;
  std::string culprit;
  for (Watch& watch : watches_) watch.mode = 0.0;
  if (!evaluate(t, x, Modes::free)) return failure(Status::event_failed, "the events cannot be evaluated at the start: " + port_.explain());
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    Watch& watch = watches_[i];
    set_mode(watch, watch.decides.mode(values_[i]));
    if (!watch.by_time) continue;
    // A bound at the very start is behind: time goes on.
    const double at = nearest_bound(watch, values_[i]);
    if (std::abs(values_[i] - at) > 16.0 * epsilon * std::max(std::abs(watch.offset), std::abs(watch.rate * t))) continue;
    const bool up = (watch.rate > 0.0) == (span_.t_end >= span_.t_start);
    if (watch.decides.kind == Switches::Kind::side)
      set_mode(watch, up ? 1.0 : -1.0);
    else
      set_mode(watch, up ? watch.decides.mode(at) : watch.decides.mode(at) - 1.0);
  }
  if (const auto outside = leave_table(t)) return *outside;
  if (!settle(t, x, Bound::at_start, culprit)) {
    if (outcome_ != Evaluation::ok)
      return failure(Status::event_failed, "the motion cannot be evaluated at the start: " + port_.explain());
    return failure(Status::too_many_events,
                   fmt::format("no mode holds at the start: '{}' is driven back to its bound from both sides; describe what "
                               "happens there by a value of [discrete] and events",
                               culprit));
  }
  evaluate_conditions(x, conditions_);
  for (std::size_t k = 0; k < conditions_.size(); ++k)
    if (conditions_[k] != 0.0)
      notes.push_back(fmt::format("the condition of the event '{}' holds at the start already; the event happens when it "
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
    for (std::size_t k = 0; k < conditions_.size(); ++k) matters = matters || (conditions_now_[k] != 0.0 && conditions_[k] == 0.0);
    if (!matters) {
      conditions_ = conditions_now_;
      std::fill(touched_.begin(), touched_.end(), false);
      for (const std::size_t i : *happening.left) watches_[i].leaves_zero = false;
    }
  }
  // The state before the event is still shown with the modes before it.
  if (matters) std::swap(frozen_, modes_before_);
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
  if (std::find(touched_.begin(), touched_.end(), true) != touched_.end()) std::swap(frozen_, modes_before_);
  std::vector<std::size_t> fired;
  const double slack = 4.0 * epsilon * std::abs(t);
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    Watch& watch = watches_[i];
    if (!watch.by_time || exit_time(watch) > t + slack) continue;
    const bool up = (watch.rate > 0.0) == (span_.t_end >= span_.t_start);
    const bool side = watch.decides.kind == Switches::Kind::side;
    set_mode(watch, side ? (up ? 1.0 : -1.0) : watch.mode + (up ? 1.0 : -1.0));
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
    if (touched_[i] && watches_[i].place != 0)
      if (auto endless = complain(t, watch_rhythm_[i], "the mode of '" + watches_[i].name + "'")) return *endless;
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
  const Reaction reaction = chain(std::move(fired), t, x);
  for (Watch& watch : watches_) watch.leaves_zero = false;
  std::fill(touched_.begin(), touched_.end(), false);
  return reaction;
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
  unable_ = fmt::format("the event '{}' cannot be evaluated at {}: {}", model().events[e].name, at_time(t), port_.explain());
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
    if (const std::string message = perform(fired, t, x); !message.empty()) return failure(Status::event_failed, message);
    std::string culprit;
    if (!settle(t, x, Bound::touched, culprit)) {
      if (outcome_ != Evaluation::ok)
        return failure(Status::event_failed, fmt::format("the motion after {} cannot be evaluated: {}", at_time(t), port_.explain()));
      return failure(Status::too_many_events,
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
    if (stop) return {Reaction::Kind::stop, Status::stopped, fmt::format("stopped by the event '{}' at {}", last, at_time(t))};
    if (fired.empty()) return {};
    if (length == longest_chain)
      return failure(Status::too_many_events,
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
        return fmt::format("the event '{}' gives '{}' a value that is not a finite number at {}", event.name, name, at_time(t));
      const auto [found, fresh] = given.try_emplace(name, New{value, e});
      if (!fresh) {
        if (found->second.value == value) continue;
        return fmt::format("the events '{}' and '{}' happen together at {} and give '{}' different values, {} and {}; let one "
                           "of them decide, or make them one event",
                           model().events[found->second.event].name, event.name, at_time(t), name,
                           brief(found->second.value), brief(value));
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
  return message.empty() ? message
                         : fmt::format("after the event '{}' at {}: {}", model().events[fired.front()].name, at_time(t), message);
}

std::optional<Reaction> Events::complain(double t, Rhythm& rhythm, const std::string& what) {
  const double pause = std::abs(t - rhythm.last), span = std::abs(span_.t_end - span_.t_start);
  rhythm.quick = rhythm.count > 0 && pause <= std::max(quick * span, 20.0 * epsilon * std::abs(t)) ? rhythm.quick + 1 : 0;
  rhythm.last = t;
  ++rhythm.count;
  if (rhythm.quick < most_quick) return std::nullopt;
  return endless(t, rhythm, what);
}

Reaction Events::endless(double t, const Rhythm& rhythm, const std::string& what) const {
  const bool mode = what.starts_with("the mode");
  return failure(Status::too_many_events,
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
    return failure(Status::event_failed,
                   fmt::format("the argument of the table '{}' leaves its data, which reach from {} to {}, at {}; give more data, "
                               "or say what is outside: outside = \"hold\" or \"periodic\"",
                               watch.decides.table_name, brief(table->first()), brief(table->last()), at_time(t)));
  }
  return std::nullopt;
}

}  // namespace daedalus::solve
