// Between events everything that can switch is frozen, so a step sees one smooth system. A watched function f with mode
// m holds while low(m) < f < high(m). Where it reaches a bound the mode on the other side is tried: it holds if f, with
// the new mode in force, goes on in the same direction (seen by a short step, of Euler's or Heun's method); if f is
// driven back from both sides, the motion would have to slide along the bound, which a model must say by a mode of its
// own. (A. F. Filippov, Differential Equations with Discontinuous Righthand Sides, 1988, section 4.)

#include "daedalus/solve/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::solve {

using compile::Switches;
using expr::Expr;
using expr::NodeId;
using integrate::Evaluation;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// Relative change of the state over which the direction of a function is looked at; the second one where the first
/// shows nothing, because the derivative vanishes.
constexpr double glance = 1e-9, look = 1e-6;
/// At the start a function counts as zero if it is this much smaller than its change over a glance.
constexpr double negligible = 1e-3;
/// A function without a mode that is so many tolerances away from its bound has a side again.
constexpr double far_away = 100.0;
/// Whether a function is zero for a while, as a speed is in rest.
bool rests_at_zero(const auto& watch) {
  return watch.decides.kind == Switches::Kind::side && watch.mode == 0.0 && !watch.by_time;
}

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
  find_binding();

  std::vector<double> held;
  for (const model::Parameter& value : model().discrete) held.push_back(value.value);
  frozen_ = symbols_.switches.free_modes(held);
  watched_scratch_ = watched_.make_scratch();
  terms_scratch_ = terms_.make_scratch();
  term_values_.resize(terms.size());
  largest_term_.resize(watches_.size());
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
    if (std::ranges::any_of(watches_, [](const Watch& watch) { return watch.released || rests_at_zero(watch); }))
      evaluate_noise();
    for (std::size_t i = 0; i < watches_.size(); ++i) {
      Watch& watch = watches_[i];
      if (rests_at_zero(watch) && std::abs(values_[i]) <= round_off_[i]) values_[i] = 0.0;
      if (values_[i] != 0.0) watch.seen = values_[i];
      watch.excursion = std::max(watch.excursion, std::abs(values_[i]));
      if (watch.released && std::abs(values_[i]) > far_away * tolerance_of(i)) {
        watch.released = false;
        watch.trembles = 0;
        set_mode(watch, watch.decides.mode(values_[i]));
      }
      room[i] = room_of(watch, values_[i]);
    }
    return Evaluation::ok;
  };
  hooks_.next_time = [this](double t) { return next_time(t); };
  hooks_.notice = [this](const integrate::Happening& happening) { return notice(happening); };
  hooks_.overlook = [this](const integrate::Happening& happening, const integrate::Rest& rest) {
    return overlook(happening, rest);
  };
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
  if (watch.by_time || watch.released) return infinity;
  if (rests_at_zero(watch)) return value == 0.0 ? infinity : -std::abs(value);
  return std::min(value - watch.decides.low(watch.mode), watch.decides.high(watch.mode) - value);
}

/// Round-off in the values of the functions where they were evaluated last: some digits of their largest terms.
void Events::evaluate_noise() {
  terms_(inputs_.data(), term_values_.data(), terms_scratch_, frozen_.data());
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    double most = 0.0;
    for (std::size_t k = term_start_[i]; k < term_start_[i + 1]; ++k) most = std::max(most, std::abs(term_values_[k]));
    largest_term_[i] = most;
    round_off_[i] = 16.0 * epsilon * most;
  }
}

/// What the value of a function may be wrong by where evaluate_noise() was last.
double Events::tolerance_of(std::size_t i) const { return span_.atol + span_.rtol * largest_term_[i]; }

/// Whether the motion from here is the same on both sides of a bound, up to what round-off and a value within the
/// tolerance explain.
bool Events::makes_no_difference(std::size_t i, double t, const double* x) {
  Watch& watch = watches_[i];
  const double mode = watch.mode;
  set_mode(watch, 1.0);
  bool known = port_.slope(t, x, slope_.data()) == Evaluation::ok;
  set_mode(watch, -1.0);
  known = known && port_.slope(t, x, slope_ahead_.data()) == Evaluation::ok;
  set_mode(watch, mode);
  if (!known) return false;
  double largest = 0.0, difference = 0.0;
  for (std::size_t k = 0; k < slope_.size(); ++k) {
    largest = std::max({largest, std::abs(slope_[k]), std::abs(slope_ahead_[k])});
    difference = std::max(difference, std::abs(slope_[k] - slope_ahead_[k]));
  }
  return difference <= 10.0 * (span_.rtol * largest + span_.atol);
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
    if (watch.by_time || watch.released) continue;
    const double distance = std::abs(given[i] - nearest_bound(watch, given[i]));
    if (distance > watch.noise) {
      if (bound == Bound::touched) touched_[i] = false;
      set_mode(watch, watch.decides.mode(given[i]));
    }
  }
  for (int round = 0; round < 8; ++round) {
    bool open = bound == Bound::at_start;
    for (std::size_t i = 0; i < watches_.size(); ++i)
      open = open || touched_[i] || (!watches_[i].by_time && !watches_[i].released && given[i] == nearest_bound(watches_[i], given[i]));
    if (!open) return true;
    if (!probe(t, x)) return false;
    bool changed = false;
    for (std::size_t i = 0; i < watches_.size(); ++i) {
      Watch& watch = watches_[i];
      if (watch.by_time || watch.released) continue;
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

}  // namespace daedalus::solve
