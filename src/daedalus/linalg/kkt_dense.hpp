#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "daedalus/linalg/envelope_cholesky.hpp"
#include "daedalus/linalg/kkt.hpp"
#include "daedalus/linalg/row_space.hpp"
#include "daedalus/linalg/sparsity.hpp"

// Back end of KktSolver; not part of this room's interface.
namespace daedalus::linalg {

/// Dense KKT solver; the patterns must outlive it. Same contract as KktSolver.
class DenseKkt {
 public:
  DenseKkt(const Sparsity& mass, const Sparsity& jacobian);
  DenseKkt(const DenseKkt&) = delete;
  DenseKkt& operator=(const DenseKkt&) = delete;

  KktOutcome factor(const double* M, const double* G);
  void solve(const double* f, const double* gamma, double* a, double* lambda);

  double inconsistency() const { return inconsistency_; }
  std::size_t rank() const { return rank_; }
  const std::vector<std::size_t>& dependent_rows() const { return dependent_rows_; }

  /// Floating-point operations of one factor(), roughly, not counting what the patterns' zeros save in the QR.
  static double estimate_operations(const Sparsity& mass, const Sparsity& jacobian);

 private:
  double factor_shifted();
  void form_rows();
  void solve_once(const double* f, const double* gamma, double* a, double* lambda);
  void solve_corrected(const double* f, const double* gamma, double* a, double* lambda);
  void solve_single(const double* f, const double* gamma, double* a, double* lambda);
  KktOutcome decide();
  bool shifted() const { return U_ == &shifted_factor_; }

  const Sparsity& mass_;
  const Sparsity& jacobian_;
  const std::size_t n_, m_;
  bool known_ = false, inexact_ = false;
  KktOutcome outcome_ = KktOutcome::not_finite;
  std::vector<double> M_, G_;  ///< the values factored last
  EnvelopeCholesky mass_factor_, shifted_factor_;  ///< of M and of M + G^T S G
  const EnvelopeCholesky* U_ = nullptr;            ///< the one in use
  std::vector<double> row_mass_, shift_;        ///< per row of G
  double mass_quality_ = 0.0;
  bool mass_was_singular_ = false;  ///< at some point of the trajectory; then it is so everywhere, up to round-off
  double single_square_ = 0.0;      ///< y^T y where G has one row
  RowSpace rows_;                   ///< of G U^-1
  std::vector<double> w_, u_, z_, g_;
  std::vector<double> right_f_, right_gamma_, residual_f_, residual_gamma_, range_gamma_;
  std::size_t rank_ = 0;
  std::vector<std::size_t> dependent_rows_;
  double inconsistency_ = 0.0;
};

}  // namespace daedalus::linalg
