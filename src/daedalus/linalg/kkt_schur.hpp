#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "daedalus/linalg/envelope_cholesky.hpp"
#include "daedalus/linalg/kkt_dense.hpp"

// Back end of KktSolver; not part of this room's interface.
namespace daedalus::linalg {

/// KKT systems through H = G M^-1 G^T; the patterns must outlive it. Same contract as KktSolver.
class SchurKkt {
 public:
  SchurKkt(const Sparsity& mass, const Sparsity& jacobian);

  KktOutcome factor(const double* M, const double* G);
  void solve(const double* f, const double* gamma, double* a, double* lambda);

  double inconsistency() const { return direct_ ? dense_->inconsistency() : 0.0; }
  std::size_t rank() const { return direct_ ? dense_->rank() : m_; }
  const std::vector<std::size_t>& dependent_rows() const { return direct_ ? dense_->dependent_rows() : none_; }

 private:
  void lay_out(const EnvelopeCholesky& U);
  std::size_t end(std::size_t j) const { return begin_[j] + start_[j + 1] - start_[j]; }
  bool factor_mass();
  bool factor_schur();
  void solve_once(const double* f, const double* gamma, double* a, double* lambda);

  const Sparsity& mass_;
  const Sparsity& jacobian_;
  const std::size_t n_, m_;
  bool known_ = false, shifted_ = false, inexact_ = false;
  bool direct_ = false;  ///< H is nearly singular, and the dense solver took over
  KktOutcome outcome_ = KktOutcome::not_finite;
  std::vector<double> M_, G_, shift_;
  EnvelopeCholesky U_;  ///< of M, or of M + G^T S G where M is singular
  EnvelopeCholesky H_;
  std::vector<std::size_t> begin_, start_;  ///< of row j of Y^T, in coordinates and in storage
  std::vector<double> Y_;                   ///< rows of Y^T = G U^-1
  std::vector<double> w_, right_f_, right_gamma_, residual_f_, residual_gamma_;
  std::unique_ptr<DenseKkt> dense_;
  std::vector<std::size_t> none_;
};

}  // namespace daedalus::linalg
