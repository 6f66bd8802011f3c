// Gauss-Newton for E(u) = 0 with fewer equations than unknowns: the least step with E + J d = 0,
//     (J C)^T = Q R,   d = -C Q R^-T E,
// by QR with pivoting, which leaves out equations that depend on others. A fraction of it is taken that makes the next
// step with the same factors shorter (the natural monotonicity test of Deuflhard, Newton Methods for Nonlinear
// Problems, 2004, section 3.3: the levels of an array are so different in size that |E| would force steps along curved
// valleys). Where that leads nowhere, the path E(u) = tau E(u_0) from tau = 1 to 0 is followed in small steps. J has
// full rank near the solutions of a regular DAE, so that the path has no turning points. Equations are divided by the
// length of their gradients at the start.
#include "daedalus/structure/array_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/linalg/householder.hpp"

namespace daedalus::structure {

namespace {

constexpr double solved = 1e-10;     // relative to the terms of an equation
constexpr double dependent = 1e-11;  // of the length of a gradient
constexpr int most_halvings = 10;    // of a step
constexpr int most_iterations = 20;
constexpr double shortest = 1e-3;  // step along the path, relative to what is left of it
constexpr int most_path_steps = 600;
constexpr double most_work = 5e9;    // operations of one factorization, times steps along the path
constexpr int most_corrections = 4;  // for one point of the path
constexpr double close = 0.05;       // to the path, relative to the last correction

class Iteration {
 public:
  Iteration(ArrayValues& array, double t, std::vector<double>& u, ArrayMoves moves)
      : array_(array),
        moves_(moves),
        t_(t),
        u_(u),
        m_(array.rows()),
        n_(array.columns()),
        pattern_(array.pattern()),
        J_(pattern_.nonzeros()),
        target_(m_, 0.0),
        e_(m_),
        step_(n_),
        next_(n_),
        trial_(n_),
        scale_(m_, 1.0),
        qr_(m_, n_) {}

  ArrayPointOutcome operator()() {
    if (!array_.evaluate(t_, u_.data())) return ArrayPointOutcome::not_finite;
    set_scales();
    residual();
    const std::vector<double> start = u_, first = e_;
    if (iterate()) return ArrayPointOutcome::found;
    if (moves_ == ArrayMoves::along_path) {
      const std::vector<double> best = u_;
      u_ = start;
      if (follow(first)) return ArrayPointOutcome::found;
      u_ = best;
    }
    std::fill(target_.begin(), target_.end(), 0.0);
    array_.evaluate(t_, u_.data());
    return ArrayPointOutcome::no_convergence;
  }

 private:
  void set_scales() {
    array_.values(J_.data());
    for (std::size_t i = 0; i < m_; ++i) {
      double square = 0.0;
      for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k) square += J_[k] * J_[k];
      if (square > 0.0) scale_[i] = std::sqrt(square);
    }
  }

  /// Puts E / scale - target into e_ and gives its length.
  double residual() {
    double square = 0.0;
    for (std::size_t i = 0; i < m_; ++i) {
      e_[i] = array_.E()[i] / scale_[i] - target_[i];
      square += e_[i] * e_[i];
    }
    return std::sqrt(square);
  }

  /// C: how freely a coefficient moves.
  double freedom(std::size_t column) const {
    if (column >= array_.dimension()) return 1.0;
    return moves_ == ArrayMoves::jets_only ? 0.0 : moves_ == ArrayMoves::mostly_jets ? 0.1 : 1.0;
  }

  /// Factors J at u_, where E was evaluated last.
  void factor() {
    array_.values(J_.data());
    for (std::size_t i = 0; i < m_; ++i) {
      const std::size_t begin = pattern_.row_start[i], end = pattern_.row_start[i + 1];
      double* x = qr_.clear(i);
      for (std::size_t k = begin; k < end; ++k) x[pattern_.column[k]] = J_[k] / scale_[i] * freedom(pattern_.column[k]);
      if (begin < end) qr_.set_support(i, pattern_.column[begin], pattern_.column[end - 1] + 1);
    }
    qr_.factor(m_, dependent);
  }

  /// -C Q R^-T e for the rows that are independent; returns its length without C.
  double solve(std::vector<double>& step) {
    std::fill(step.begin(), step.end(), 0.0);
    for (std::size_t k = 0; k < qr_.rank(); ++k) step[k] = -e_[qr_.order()[k]];
    qr_.solve_lower(step.data());
    double square = 0.0;
    for (std::size_t k = 0; k < qr_.rank(); ++k) square += step[k] * step[k];
    qr_.apply(step.data());
    for (std::size_t k = 0; k < array_.dimension(); ++k) step[k] *= freedom(k);
    return std::sqrt(square);
  }

  bool evaluate_at(double alpha) {
    for (std::size_t k = 0; k < n_; ++k) trial_[k] = u_[k] + alpha * step_[k];
    return array_.evaluate(t_, trial_.data());
  }

  bool iterate() {
    double alpha = 1.0, size = residual();
    for (int iteration = 0; iteration < most_iterations && size > 0.0; ++iteration) {
      array_.evaluate(t_, u_.data());
      const double before = residual();
      factor();
      const double length = solve(step_);
      if (length <= std::numeric_limits<double>::epsilon() * static_cast<double>(m_)) break;
      bool accepted = false;
      alpha = std::min(1.0, 4.0 * alpha);
      for (int k = 0; k <= most_halvings && !accepted; ++k) {
        if (k > 0) alpha *= 0.5;
        if (!evaluate_at(alpha)) continue;
        size = residual();
        accepted = solve(next_) <= (1.0 - 0.25 * alpha) * length || (alpha == 1.0 && size <= 0.5 * before);
      }
      if (!accepted) break;
      u_ = trial_;
      if (before <= solved && size > 0.5 * before) break;
    }
    array_.evaluate(t_, u_.data());
    return residual() <= solved;
  }

  /// Goes to E / scale = target; false where the steps do not get shorter at once.
  bool correct() {
    double last = std::numeric_limits<double>::infinity();
    for (int iteration = 0; iteration < most_corrections; ++iteration) {
      array_.evaluate(t_, u_.data());
      residual();
      factor();
      const double length = solve(step_);
      if (!(length <= 0.5 * last) || !evaluate_at(1.0)) return false;
      u_ = trial_;
      residual();
      if (solve(next_) <= close * length) return true;
      last = length;
    }
    return false;
  }

  /// Follows E / scale = tau first from tau = 1 to 0.
  bool follow(const std::vector<double>& first) {
    const double work = static_cast<double>(m_) * static_cast<double>(m_) * static_cast<double>(n_);
    const int most = static_cast<int>(std::clamp(most_work / work, 1.0, static_cast<double>(most_path_steps)));
    double tau = 1.0, ahead = 0.1;
    for (int k = 0; k < most && tau > 0.0 && ahead >= shortest * tau; ++k) {
      const std::vector<double> before = u_;
      const double next = std::max(0.0, tau - ahead);
      for (std::size_t i = 0; i < m_; ++i) target_[i] = next * first[i];
      if (correct()) {
        tau = next;
        ahead *= 1.5;
      } else {
        u_ = before;
        ahead *= 0.4;
      }
    }
    std::fill(target_.begin(), target_.end(), 0.0);
    return tau == 0.0 && iterate();
  }

  ArrayValues& array_;
  ArrayMoves moves_;
  double t_;
  std::vector<double>& u_;
  std::size_t m_, n_;
  linalg::Sparsity pattern_;
  std::vector<double> J_, target_, e_, step_, next_, trial_, scale_;
  linalg::HouseholderQr qr_;
};

}  // namespace

ArrayPointOutcome satisfy(ArrayValues& array, double t, std::vector<double>& u, ArrayMoves moves) {
  return Iteration(array, t, u, moves)();
}

}  // namespace daedalus::structure
