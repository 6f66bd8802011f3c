// Gauss-Newton for E(u) = 0 with fewer equations than unknowns: the least step with E + J d = 0,
//     (J C)^T = Q R,   d = -C Q R^-T E,
// by QR with pivoting, which leaves out equations that depend on others. A fraction of it is taken that makes the next
// step with the same factors shorter (the natural monotonicity test of Deuflhard, Newton Methods for Nonlinear
// Problems, 2004, section 3.3: the levels of an array are so different in size that |E| would force steps along curved
// valleys). Where none does, the steps of Levenberg and Marquardt, d = -C^2 J^T (J C^2 J^T + lambda I)^-1 E, by QR of
// [(J C)^T; sqrt(lambda) I]. Equations are divided by the length of their gradients at the start, C is larger for
// coefficients that may move freely.
#include "daedalus/structure/array_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/linalg/householder.hpp"

namespace daedalus::structure {

namespace {

constexpr double solved = 1e-10;     // relative to the terms of an equation
constexpr double dependent = 1e-11;  // of the length of a gradient
constexpr double freedom = 10.0;     // of higher coefficients against y
constexpr int most_halvings = 10;    // of a step
constexpr double least_damping = 1e-6, most_damping = 1e8;

class Iteration {
 public:
  Iteration(ArrayValues& array, double t, std::vector<double>& u, ArrayMoves moves)
      : array_(array),
        moves_(moves),
        most_(moves == ArrayMoves::all ? 60 : 20),
        t_(t),
        u_(u),
        m_(array.rows()),
        n_(array.columns()),
        pattern_(array.pattern()),
        J_(pattern_.nonzeros()),
        e_(m_),
        step_(n_ + m_),
        next_(n_ + m_),
        trial_(n_),
        scale_(m_, 1.0),
        plain_(m_, n_) {}

  ArrayPointOutcome operator()() {
    if (!array_.evaluate(t_, u_.data())) return ArrayPointOutcome::not_finite;
    array_.values(J_.data());
    set_scales();
    double size = residual(), alpha = 1.0, damping = least_damping;
    for (std::size_t iteration = 0; iteration < most_ && size > 0.0; ++iteration) {
      array_.evaluate(t_, u_.data());
      array_.values(J_.data());
      const double before = size;
      bool accepted = gauss_newton_step(alpha, size);
      if (!accepted && (before <= solved || moves_ == ArrayMoves::jets_only)) break;
      for (; !accepted && damping <= most_damping; damping *= 10.0) accepted = damped_step(damping * before, size);
      damping = std::max(0.01 * damping, least_damping);
      if (!accepted || (before <= solved && size > 0.5 * before)) break;
    }
    array_.evaluate(t_, u_.data());
    return residual() <= solved ? ArrayPointOutcome::found : ArrayPointOutcome::no_convergence;
  }

 private:
  void set_scales() {
    for (std::size_t i = 0; i < m_; ++i) {
      double square = 0.0;
      for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k) square += J_[k] * J_[k];
      if (square > 0.0) scale_[i] = std::sqrt(square);
    }
  }

  /// Puts E / scale into e_ and gives its length.
  double residual() {
    double square = 0.0;
    for (std::size_t i = 0; i < m_; ++i) {
      e_[i] = array_.E()[i] / scale_[i];
      square += e_[i] * e_[i];
    }
    return std::sqrt(square);
  }

  /// Goes to u + alpha step, and puts its residual into e_.
  bool move(double alpha) {
    for (std::size_t k = 0; k < n_; ++k) trial_[k] = u_[k] + alpha * step_[k];
    return array_.evaluate(t_, trial_.data());
  }

  double freedom_of(std::size_t column) const {
    if (moves_ == ArrayMoves::jets_only) return column < array_.dimension() ? 0.0 : 1.0;
    return column < array_.dimension() ? 1.0 : freedom;
  }

  void fill(linalg::HouseholderQr& qr, double lambda) {
    for (std::size_t i = 0; i < m_; ++i) {
      const std::size_t begin = pattern_.row_start[i], end = pattern_.row_start[i + 1];
      double* x = qr.clear(i);
      for (std::size_t k = begin; k < end; ++k)
        x[pattern_.column[k]] = J_[k] / scale_[i] * freedom_of(pattern_.column[k]);
      if (lambda > 0.0) x[n_ + i] = std::sqrt(lambda);
      if (begin == end) {
        qr.set_support(i, lambda > 0.0 ? n_ + i : 0, lambda > 0.0 ? n_ + i + 1 : 0);
      } else {
        qr.set_support(i, pattern_.column[begin], lambda > 0.0 ? n_ + i + 1 : pattern_.column[end - 1] + 1);
      }
    }
  }

  /// -C Q R^-T e_ for the rows that are independent; returns its length without C.
  double solve(const linalg::HouseholderQr& qr, std::vector<double>& step) {
    std::fill(step.begin(), step.end(), 0.0);
    for (std::size_t k = 0; k < qr.rank(); ++k) step[k] = -e_[qr.order()[k]];
    qr.solve_lower(step.data());
    double square = 0.0;
    for (std::size_t k = 0; k < qr.rank(); ++k) square += step[k] * step[k];
    qr.apply(step.data());
    for (std::size_t k = 0; k < n_; ++k) step[k] *= freedom_of(k);
    return std::sqrt(square);
  }

  bool gauss_newton_step(double& alpha, double& size) {
    fill(plain_, 0.0);
    plain_.factor(m_, dependent);
    residual();
    const double length = solve(plain_, step_);
    if (length <= std::numeric_limits<double>::epsilon() * static_cast<double>(m_)) return false;
    alpha = std::min(1.0, 4.0 * alpha);
    for (int k = 0; k <= most_halvings; ++k, alpha *= 0.5) {
      if (!move(alpha)) continue;
      const double after = residual();
      if (!(solve(plain_, next_) <= (1.0 - 0.25 * alpha) * length) && !(after <= 0.5 * size && alpha == 1.0)) continue;
      size = after;
      u_ = trial_;
      return true;
    }
    return false;
  }

  bool damped_step(double lambda, double& size) {
    if (!damped_) damped_ = std::make_unique<linalg::HouseholderQr>(m_, n_ + m_);
    array_.evaluate(t_, u_.data());
    residual();
    fill(*damped_, lambda);
    damped_->factor(m_, 0.0);
    solve(*damped_, step_);
    if (!move(1.0)) return false;
    const double after = residual();
    if (!(after <= 0.999 * size)) return false;
    size = after;
    u_ = trial_;
    return true;
  }

  ArrayValues& array_;
  ArrayMoves moves_;
  std::size_t most_;  ///< iterations
  double t_;
  std::vector<double>& u_;
  std::size_t m_, n_;
  linalg::Sparsity pattern_;
  std::vector<double> J_, e_, step_, next_, trial_, scale_;
  linalg::HouseholderQr plain_;
  std::unique_ptr<linalg::HouseholderQr> damped_;
};

}  // namespace

ArrayPointOutcome satisfy(ArrayValues& array, double t, std::vector<double>& u, ArrayMoves moves) {
  return Iteration(array, t, u, moves)();
}

}  // namespace daedalus::structure
