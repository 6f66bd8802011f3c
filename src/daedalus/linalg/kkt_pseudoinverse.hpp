#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "daedalus/linalg/envelope_cholesky.hpp"
#include "daedalus/linalg/kkt.hpp"
#include "daedalus/linalg/row_space.hpp"

// Back end of KktSolver; not part of this room's interface.
namespace daedalus::linalg {

/// KKT systems by the pseudoinverses of Udwadia, Kalaba and Phohomsiri; the patterns must outlive it. Same contract as
/// KktSolver.
class PseudoinverseKkt {
 public:
  PseudoinverseKkt(const Sparsity& mass, const Sparsity& jacobian);

  KktOutcome factor(const double* M, const double* G);
  void solve(const double* f, const double* gamma, double* a, double* lambda);
  /// Rows beyond the first `most` independent ones count as dependent.
  void limit_rank(std::size_t most);

  double inconsistency() const { return inconsistency_; }
  std::size_t rank() const { return rows_.rank(); }
  const std::vector<std::size_t>& dependent_rows() const { return dependent_rows_; }

 private:
  KktOutcome decide();
  bool is_definite();
  bool factor_extended();
  void find_coordinates();
  void solve_regular(double* a);
  void solve_extended(double* a);

  const Sparsity& mass_;
  const Sparsity& jacobian_;
  const std::size_t n_, m_;
  std::size_t most_ = std::numeric_limits<std::size_t>::max();
  bool known_ = false;
  bool extended_ = false;  ///< M was singular at some point of the trajectory
  KktOutcome outcome_ = KktOutcome::not_finite;
  std::vector<double> M_, G_;
  EnvelopeCholesky U_;                    ///< of M; where it is singular, of M + s G^T G
  RowSpace rows_;                         ///< of G U^-1, or of G
  std::unique_ptr<HouseholderQr> whole_;  ///< of the extended matrix
  double scale_ = 1.0;                    ///< of its rows of constraints
  std::vector<double> g_, u_, z_, b_, f_;
  std::vector<std::size_t> dependent_rows_;
  double inconsistency_ = 0.0;
};

}  // namespace daedalus::linalg
