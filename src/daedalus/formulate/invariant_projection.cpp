// After a step the state goes back to what its model keeps,
//     min |W^(1/2) (x - x~)|   subject to   b(t, x) = 0,   c(t, x) = 0,       W = diag(1/(atol_i + rtol |x~_i|)^2),
// with the invariants c and, for constrained motion, the constraints b = (g, G v + g_t): E. Hairer, C. Lubich, G. Wanner,
// Geometric Numerical Integration, 2nd ed., section IV.4. A simplified Newton iteration with
//     [ W  B^T ] [ dx     ]   [  0 ]
//     [ B   0  ] [ lambda ] = [ -c ],       B = d(b, c)/dx,
// on the true c, with factors of an earlier state where they serve as well. W is the norm of the error test: in it the
// projection is nearest, so it moves the state by no more than the error that took it off, whatever the units are. Before each
// look at c the constraints are met to the last digit by their own projection in the mass norm; the joint step is tangent to
// them, so the two do not work against each other.

#include "daedalus/formulate/invariant_projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/text.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// A sum of a few terms is exact to so many units in the last place of the largest.
constexpr double round_off = 2.0 * epsilon;
/// What counts as held where round-off of the equations themselves leaves no way to come nearer.
constexpr double held = 1e-13;
/// A correction so small beside the size of the state is round-off of terms within an equation, as in a table that passes
/// through zero.
constexpr double negligible = 1e-14;
constexpr int most_iterations = 30;
/// Factors of a point before serve where the norm, in which the projection is nearest, has changed by no more than this since,
/// and corrections are small: how they are directed hardly matters then.
constexpr double same_norm = 1.1, small_correction = 1e-4;

}  // namespace

InvariantProjection::InvariantProjection(Kept kept)
    : kept_(std::move(kept)),
      values_(kept_.equations),
      kkt_(diagonal_pattern(kept_.equations->pattern.columns), kept_.equations->pattern),
      before_(kept_.before()),
      atol_(kept_.equations->pattern.columns, 1.0),
      unit_(atol_.size()),
      start_(atol_.size()),
      weight_(atol_.size()),
      zero_(atol_.size()),
      right_(kept_.equations->rows()),
      step_(atol_.size()),
      multiplier_(right_.size()),
      floor_(right_.size()) {}

void InvariantProjection::weigh(double rtol, const std::vector<double>& atol) {
  rtol_ = rtol;
  std::copy_n(atol.begin(), atol_.size(), atol_.begin());
  factored_ = false;
}

Evaluation InvariantProjection::factor(double t, const double* x) {
  factored_ = false;
  if (!values_.jacobian(t, x)) {
    explanation_ = "the derivative of an invariant is not a finite number";
    return Evaluation::not_finite;
  }
  const linalg::Sparsity& pattern = kept_.equations->pattern;
  for (std::size_t i = before_; i < floor_.size(); ++i) {
    floor_[i] = 0.0;
    // Near zero a component has no digits of its own; far below the tolerance nothing need be exact.
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      floor_[i] += std::abs(values_.jacobian()[k]) * std::max(std::abs(x[pattern.column[k]]), 1e-3 * atol_[pattern.column[k]]);
  }
  double largest = 0.0;
  for (std::size_t i = 0; i < weight_.size(); ++i) largest = std::max(largest, unit_[i] = unit(i, x[i]));
  // A component that the tolerance binds 1e8 times as much as another does not move.
  for (std::size_t i = 0; i < weight_.size(); ++i) {
    const double relative = std::max(unit_[i] / largest, 1e-8);
    weight_[i] = 1.0 / (relative * relative);
  }
  const linalg::KktOutcome outcome = kkt_.factor(weight_.data(), values_.jacobian().data());
  if (outcome == linalg::KktOutcome::regular || outcome == linalg::KktOutcome::redundant) {
    factored_ = true;
    return Evaluation::ok;
  }
  explanation_ = "the invariants cannot be solved for a correction of the state";
  return Evaluation::singular;
}

double InvariantProjection::unit(std::size_t i, double x) const { return atol_[i] + rtol_ * std::abs(x); }

bool InvariantProjection::serves(const double* x) const {
  if (!factored_) return false;
  for (std::size_t i = 0; i < unit_.size(); ++i) {
    const double now = unit(i, x[i]);
    if (!(now <= same_norm * unit_[i] && unit_[i] <= same_norm * now)) return false;
  }
  return true;
}

double InvariantProjection::relative(std::size_t row) const {
  const double size = std::abs(values_.residual()[row]);
  return size == 0.0 ? 0.0 : size / std::max(values_.scale()[row], floor_[row]);
}

double InvariantProjection::distance() const {
  double most = 0.0;
  for (std::size_t i = before_; i < right_.size(); ++i) most = std::max(most, relative(i));
  return most / round_off;
}

Evaluation InvariantProjection::give_up(double t) {
  std::size_t worst = before_;
  for (std::size_t i = before_; i < right_.size(); ++i)
    if (!(relative(i) <= relative(worst))) worst = i;
  explanation_ = fmt::format("the {} cannot be met at t = {}: {} of its largest term remains", kept_.name(worst), brief(t),
                             brief(relative(worst), 2));
  return Evaluation::no_convergence;
}

Evaluation InvariantProjection::operator()(double t, double* x,
                                           const std::function<Evaluation(double t, double* x)>& first) {
  explanation_.clear();
  bool elsewhere = serves(x);  // the factors are of another point
  bool factored = elsewhere, fresh = false;
  if (factored) std::copy_n(x, start_.size(), start_.begin());
  else std::ranges::fill(floor_, 0.0);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double last = infinity, moved = infinity;
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    Evaluation outcome = first ? first(t, x) : Evaluation::ok;
    if (outcome == Evaluation::ok && !values_.residuals(t, x)) {
      explanation_ = "an invariant is not a finite number";
      outcome = Evaluation::not_finite;
    }
    double now = outcome == Evaluation::ok ? distance() : infinity;
    if (now <= 1.0) return Evaluation::ok;
    if (elsewhere && last < infinity && !(now <= 0.5 * last)) {
      // Factors of another point have led astray: as if there had been none.
      std::ranges::copy(start_, x);
      explanation_.clear();
      elsewhere = factored = false;
      last = infinity;
      continue;
    }
    if (outcome != Evaluation::ok) return outcome;
    if (!(now <= 0.5 * last)) {
      // With factors of this very point there is no way to come nearer.
      if (fresh) return now * round_off <= held || moved <= negligible ? Evaluation::ok : give_up(t);
      factored = false;
    }
    // They stay where the next correction, shorter by as much as the last, is the last one.
    if (elsewhere && !(now * (now / last) <= 1.0 && now * round_off <= small_correction)) factored = elsewhere = false;
    fresh = !factored;
    if (!factored) {
      if (outcome = factor(t, x); outcome != Evaluation::ok) return outcome;
      now = distance();
      if (now <= 1.0) return Evaluation::ok;
    }
    last = now;
    factored = true;
    for (std::size_t i = before_; i < right_.size(); ++i) right_[i] = -values_.residual()[i];
    kkt_.solve(zero_.data(), right_.data(), step_.data(), multiplier_.data());
    moved = 0.0;
    for (std::size_t i = 0; i < step_.size(); ++i) {
      x[i] += step_[i];
      moved = std::max(moved, std::abs(step_[i]) / std::max(std::abs(x[i]), kept_.nominal[i]));
    }
  }
  return give_up(t);
}

void keep_invariants(Formulated& formulated, const Equations& equations) {
  Kept kept = kept_by(equations);
  if (!kept.equations) return;
  auto projection = std::make_shared<InvariantProjection>(std::move(kept));
  integrate::System& system = formulated.system;
  system.project = [projection, first = system.project](double t, double* x) { return (*projection)(t, x, first); };
  system.explain = [projection, other = system.explain] {
    return projection->explain().empty() ? other() : projection->explain();
  };
  formulated.freeze = [projection, other = formulated.freeze](const double* frozen) {
    projection->freeze(frozen);
    other(frozen);
  };
  formulated.weigh = [projection](double rtol, const std::vector<double>& atol) { projection->weigh(rtol, atol); };
}

}  // namespace daedalus::formulate
