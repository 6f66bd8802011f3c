#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace daedalus::linalg {

enum class NewtonOutcome { solved, not_finite, singular, no_descent, too_many };

/// Newton's method for R(w) = 0 with the natural monotonicity test (Deuflhard, Newton Methods for Nonlinear Problems,
/// 2004, section 3.3): a step is halved until the next simplified Newton correction is shorter than it. Goes on to
/// round-off: of every unknown in its own size, but of one whose value is zero only in that of the terms around it, which
/// shows in steps that get no shorter any more. Factors of a point near the solution serve as long as they make steps shorter
/// by enough (simplified Newton's method, ibid. section 2.1.2). Owns its workspace.
class DampedNewton {
 public:
  static constexpr int most = 60;    ///< iterations
  static constexpr int stalled = 3;  ///< so many steps of round-off that get no shorter are enough
  /// Factors of another point are taken where the first step with them is as short as this, and every later one shorter than
  /// the one before by such a factor.
  static constexpr double near = 1e-3, contraction = 0.05;

  explicit DampedNewton(std::size_t n) : step_(n), trial_(n), next_(n) {}

  /// `evaluate(w, R)` writes the residual and says whether it is finite; `factor(w)` factors its Jacobian at the point
  /// of the last evaluation; `solve(x)` solves with the factors in place; `nominal(i)` is the positive size that w_i has
  /// where its value does not tell. A linear problem takes one step. `factored`: there are factors of a point that may be near.
  template <class Evaluate, class Factor, class Solve, class Nominal>
  NewtonOutcome operator()(std::vector<double>& w, bool linear, Evaluate evaluate, Factor factor, Solve solve,
                           Nominal nominal, bool factored = false) {
    const std::size_t n = w.size();
    // In units of the unknowns; near zero, a part of their nominal sizes counts.
    const auto length = [&](const std::vector<double>& of, double part = 1e-8) {
      double largest = 0.0;
      for (std::size_t i = 0; i < n; ++i)
        largest = std::max(largest, std::abs(of[i]) / std::max(std::abs(w[i] + step_[i]), part * nominal(i)));
      return largest;
    };
    const auto step_length = [&] {
      for (std::size_t i = 0; i < n; ++i) step_[i] = -next_[i];
      solve(step_);
      return length(step_);
    };
    int stalls = 0;
    bool proven = false;  // the factors of another point have made a step shorter
    double last = std::numeric_limits<double>::infinity(), step = last;
    if (!evaluate(w, next_)) return NewtonOutcome::not_finite;
    for (int iteration = 0; iteration < most; ++iteration) {
      bool fresh = linear || !(iteration == 0 ? factored : last <= near);
      if (!fresh) {
        step = step_length();
        const bool good = step <= (iteration == 0 ? near : contraction * last);
        // What does not get shorter at the end is round-off.
        fresh = !good && !(proven && step < 1e-9);
        proven = iteration > 0 && (proven || good);
      }
      if (fresh) {
        if (!factor(w)) return NewtonOutcome::singular;
        step = step_length();
        proven = false;
      }
      if (!std::isfinite(step)) return NewtonOutcome::not_finite;
      const bool shorter = step < 0.5 * last, round_off = length(step_, 1.0) < 1e-9;
      stalls += round_off && !shorter ? 1 : 0;
      const bool done = linear || step <= 4.0 * std::numeric_limits<double>::epsilon() || (step < 1e-9 && !shorter) ||
                        stalls == stalled;
      if (done) {
        for (std::size_t i = 0; i < n; ++i) w[i] += step_[i];
        return NewtonOutcome::solved;
      }
      last = step;
      for (double damping = 1.0;; damping *= 0.5) {
        if (damping < 1e-9) return NewtonOutcome::no_descent;
        for (std::size_t i = 0; i < n; ++i) trial_[i] = w[i] + damping * step_[i];
        if (!evaluate(trial_, next_)) continue;
        if (step < 1e-6 || round_off) break;  // close: round-off would decide the test
        correction_ = next_;
        solve(correction_);
        if (length(correction_) <= (1.0 - 0.25 * damping) * step) break;
      }
      w.swap(trial_);
    }
    return NewtonOutcome::too_many;
  }

 private:
  std::vector<double> step_, trial_, next_, correction_ = step_;
};

}  // namespace daedalus::linalg
