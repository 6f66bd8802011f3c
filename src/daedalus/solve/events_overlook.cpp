// A change of mode that the tolerance hides. A step ends where an 'if' or 'abs' changes, as beyond it another smooth system holds.
// But where both systems hardly differ in the rest of the step, nothing is gained by beginning anew: friction that is saturated
// in one direction passes zero in the other, and for a millionth of a second, or by a millionth, another formula holds.
//
// With f_A and f_B the derivatives in the modes before and after, the rest of a step that was made with f_A errs by the integral
// of f_B - f_A over the time for which B holds. Both agree at the bound; further away the difference grows. So it is taken at the
// end of the step where B holds from then on, and in the middle of the excursion where the function comes back.
#include <algorithm>
#include <cmath>

#include "daedalus/expr/walk.hpp"
#include "daedalus/solve/events.hpp"

namespace daedalus::solve {

using compile::Switches;
using integrate::Evaluation;
using integrate::Tolerance;

namespace {

/// What may be overlooked, in tolerances.
constexpr double hidden = 0.01;
constexpr double epsilon = std::numeric_limits<double>::epsilon();

}  // namespace

/// A constraint that changes its form binds velocities of another kind at once: that is never overlooked.
void Events::find_binding() {
  if (symbols_.constraints.empty()) return;
  expr::Graph& graph = symbols_.constraints.front().graph();
  std::vector<expr::NodeId> roots;
  for (const expr::Expr& constraint : symbols_.constraints) roots.push_back(constraint.id());
  expr::Walk walk;
  for (const expr::NodeId id : walk.from(graph, roots)) {
    if (!compile::is_switched(graph.node(id).op)) continue;
    const std::size_t place = symbols_.switches.find(expr::Expr(&graph, id));
    for (Watch& watch : watches_) watch.binds = watch.binds || (place != 0 && watch.place == place);
  }
}

bool Events::may_be_overlooked(const integrate::Happening& happening) const {
  if (!crossed_.empty() || !conditions_.empty()) return false;
  return std::ranges::all_of(*happening.left, [&](std::size_t i) {
    const Watch& watch = watches_[i];
    return watch.motion && !watch.binds && !watch.event && watch.place != 0 && watch.decides.kind == Switches::Kind::side &&
           frozen_[watch.place] != 0.0 && !watch.leaves_zero;
  });
}

/// Whether any of these functions is beyond its bound where it was evaluated last.
bool Events::any_has_left(const std::vector<std::size_t>& functions) const {
  return std::ranges::any_of(functions, [&](std::size_t i) { return !(room_of(watches_[i], values_[i]) > 0.0); });
}

/// How fast solutions in the modes before and after part at a point, in tolerances per time.
double Events::difference(double t, const double* x, const Tolerance& tolerance) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (port_.slope(t, x, slope_.data()) != Evaluation::ok) return infinity;
  exchange_modes();
  const Evaluation outcome = port_.slope(t, x, slope_ahead_.data());
  exchange_modes();
  if (outcome != Evaluation::ok) return infinity;
  double most = 0.0;
  for (std::size_t i = 0; i < slope_.size(); ++i) {
    const double apart = std::abs(slope_ahead_[i] - slope_[i]), weight = tolerance.atol[i] + tolerance.rtol * std::abs(x[i]);
    if (apart != 0.0) most = std::max(most, apart / weight);
  }
  return most;
}

/// Whether unknowns that follow from others are the same with the modes in force now.
bool Events::follow_closely(double t, const double* x, const Tolerance& tolerance) {
  if (!port_.complete) return true;
  std::copy_n(x, x_ahead_.size(), x_ahead_.begin());
  port_.complete(t, x_ahead_.data());
  for (std::size_t i = 0; i < x_ahead_.size(); ++i)
    if (!(std::abs(x_ahead_[i] - x[i]) <= hidden * (tolerance.atol[i] + tolerance.rtol * std::abs(x[i])))) return false;
  return true;
}

std::optional<double> Events::overlook(const integrate::Happening& happening, const integrate::Rest& rest) {
  if (!may_be_overlooked(happening)) return std::nullopt;
  const std::vector<std::size_t>& left = *happening.left;
  const auto modes_of = [&](const std::vector<double>& frozen) {
    for (const std::size_t i : left) watches_[i].mode = frozen[watches_[i].place];
  };
  const auto no = [&] {
    modes_of(modes_before_);
    return std::nullopt;
  };
  modes_of(frozen_);
  if (!evaluate(rest.t_end, rest.x_end, Modes::frozen)) return no();
  double length = rest.t_end - happening.t;
  if (any_has_left(left)) {
    if (!(std::abs(length) * difference(rest.t_end, rest.x_end, *rest.tolerance) <= hidden)) return no();
    exchange_modes();
    if (!follow_closely(rest.t_end, rest.x_end, *rest.tolerance)) {
      exchange_modes();
      return no();
    }
    modes_of(frozen_);
    std::fill(touched_.begin(), touched_.end(), false);
    return happening.t;
  }
  while (std::abs(length) > 8.0 * epsilon * std::abs(happening.t)) {
    const double middle = happening.t + 0.5 * length;
    if ((*rest.inside)(middle, x_ahead_.data()) != Evaluation::ok || !evaluate(middle, x_ahead_.data(), Modes::frozen)) return no();
    if (any_has_left(left)) {
      if (!(std::abs(length) * difference(middle, x_ahead_.data(), *rest.tolerance) <= hidden)) return no();
      break;
    }
    length *= 0.5;
  }
  std::fill(touched_.begin(), touched_.end(), false);
  return happening.t + length;
}

}  // namespace daedalus::solve
