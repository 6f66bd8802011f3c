#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "daedalus/linalg/envelope_cholesky.hpp"
#include "daedalus/linalg/kkt_dense.hpp"

// Back end of KktSolver; not part of this room's interface.
namespace daedalus::linalg {

/// KKT systems by a penalty with iterated multipliers; the patterns must outlive it. Same contract as KktSolver, except
/// that it does not ask whether rows depend on others: multipliers are then one of several solutions.
class PenaltyKkt {
 public:
  /// `penalty` counts in masses that a row of G moves.
  PenaltyKkt(const Sparsity& mass, const Sparsity& jacobian, double penalty);

  KktOutcome factor(const double* M, const double* G);
  void solve(const double* f, const double* gamma, double* a, double* lambda);

  int iterations() const { return iterations_; }  ///< of the last solve(); with the most, the direct solver took over

  double inconsistency() const { return 0.0; }
  std::size_t rank() const { return m_; }
  const std::vector<std::size_t>& dependent_rows() const { return none_; }

 private:
  bool iterate(double* a, double* lambda);

  const Sparsity& mass_;
  const Sparsity& jacobian_;
  const std::size_t n_, m_;
  const double penalty_;
  bool known_ = false;
  int iterations_ = 0;
  KktOutcome outcome_ = KktOutcome::not_finite;
  std::vector<double> M_, G_, alpha_;
  EnvelopeCholesky K_;  ///< of M + G^T alpha G
  std::vector<double> f_, gamma_, residual_, step_;
  std::unique_ptr<DenseKkt> dense_;  ///< for rows that the iteration cannot tell apart
  std::vector<std::size_t> none_;
};

}  // namespace daedalus::linalg
