// The augmented Lagrangian iteration
//     (M + G^T alpha G) a_(i+1) = f + G^T (alpha gamma - lambda_i),    lambda_(i+1) = lambda_i + alpha (G a_(i+1) -
//     gamma):
// E. Bayo, J. Garcia de Jalon, M. A. Serna, A modified Lagrangian formulation for the dynamic analysis of constrained
// mechanical systems, Comput. Methods Appl. Mech. Eng. 71 (1988) 183-195. Written for the step from a_i to a_(i+1),
//     (M + G^T alpha G) (a_(i+1) - a_i) = f - M a_i - G^T (lambda_i + alpha (G a_i - gamma)),
// it is iterative refinement: its limit solves the KKT system to working precision though alpha is large. An error in
// the direction of a row whose part outside the others is sigma of its length shrinks by 1 / (1 + penalty sigma^2).
#include "daedalus/linalg/kkt_penalty.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/linalg/dense_kernels.hpp"

namespace daedalus::linalg {

namespace {
constexpr int most_iterations = 60;
constexpr double converged = 1e-11;  // of the size of a: what counts where round-off ends the progress
}  // namespace

PenaltyKkt::PenaltyKkt(const Sparsity& mass, const Sparsity& jacobian, double penalty)
    : mass_(mass),
      jacobian_(jacobian),
      n_(mass.rows),
      m_(jacobian.rows),
      penalty_(penalty),
      M_(mass.nonzeros()),
      G_(jacobian.nonzeros()),
      alpha_(m_),
      K_(extents_of(mass, jacobian)),
      f_(n_),
      gamma_(m_),
      residual_(m_),
      step_(n_) {}

KktOutcome PenaltyKkt::factor(const double* M, const double* G) {
  if (known_ && same_bits(M, M_.data(), M_.size()) && same_bits(G, G_.data(), G_.size())) return outcome_;
  known_ = false;
  if (!all_finite(M, M_.size()) || !all_finite(G, G_.size())) return outcome_ = KktOutcome::not_finite;
  std::copy_n(M, M_.size(), M_.begin());
  std::copy_n(G, G_.size(), G_.begin());
  known_ = true;
  row_masses(mass_, M, jacobian_, G, alpha_.data());
  for (double& alpha : alpha_) alpha *= penalty_;
  K_.clear();
  K_.add(mass_, M);
  K_.add_squares(jacobian_, G, alpha_.data());
  const bool definite = n_ == 0 || K_.factor() > singular_pivot(n_);
  return outcome_ = definite ? KktOutcome::regular : KktOutcome::singular_mass;
}

void PenaltyKkt::solve(const double* f, const double* gamma, double* a, double* lambda) {
  std::copy_n(f, n_, f_.begin());
  std::copy_n(gamma, m_, gamma_.begin());
  if (iterate(a, lambda)) return;
  if (!dense_) dense_ = std::make_unique<DenseKkt>(mass_, jacobian_);
  const KktOutcome outcome = dense_->factor(M_.data(), G_.data());
  if (outcome == KktOutcome::regular || outcome == KktOutcome::redundant)
    dense_->solve(f_.data(), gamma_.data(), a, lambda);
}

bool PenaltyKkt::iterate(double* a, double* lambda) {
  std::fill_n(a, n_, 0.0);
  std::fill_n(lambda, m_, 0.0);
  double last = std::numeric_limits<double>::infinity();
  for (iterations_ = 0; iterations_ < most_iterations; ++iterations_) {
    for (std::size_t j = 0; j < m_; ++j) residual_[j] = -gamma_[j];
    multiply_add(jacobian_, G_.data(), 1.0, a, residual_.data());
    for (std::size_t j = 0; j < m_; ++j) {
      residual_[j] *= alpha_[j];
      if (iterations_ > 0) lambda[j] += residual_[j];
      residual_[j] += lambda[j];
    }
    step_ = f_;
    multiply_add(mass_, M_.data(), -1.0, a, step_.data());
    multiply_transposed_add(jacobian_, G_.data(), -1.0, residual_.data(), step_.data());
    K_.solve(step_.data());
    double step = 0.0, size = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      a[i] += step_[i];
      step = std::max(step, std::abs(step_[i]));
      size = std::max(size, std::abs(a[i]));
    }
    if (!std::isfinite(step)) return true;  // for the caller to find
    if (step <= std::numeric_limits<double>::epsilon() * size) return true;
    if (step >= 0.5 * last && step <= converged * size) return true;
    last = step;
  }
  return false;
}

}  // namespace daedalus::linalg
