#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "daedalus/linalg/kkt_sparse.hpp"
#include "daedalus/linalg/supernodal_cholesky.hpp"

// Back end of KktSolver; not part of this room's interface.
namespace daedalus::linalg {

/// KKT systems whose M consists of small blocks, through H = G M^-1 G^T, which is sparse then; the patterns must outlive
/// it. Same contract as KktSolver: where M or H is not clearly definite, SparseKkt takes over.
class BlockKkt {
 public:
  /// Whether all blocks of M are small.
  static bool fits(const Sparsity& mass);
  BlockKkt(const Sparsity& mass, const Sparsity& jacobian);

  KktOutcome factor(const double* M, const double* G);
  void solve(const double* f, const double* gamma, double* a, double* lambda);

  double inconsistency() const { return direct_ ? sparse_->inconsistency() : 0.0; }
  std::size_t rank() const { return direct_ ? sparse_->rank() : m_; }
  const std::vector<std::size_t>& dependent_rows() const { return direct_ ? sparse_->dependent_rows() : none_; }

  /// Time of one factor() in units of a floating-point operation.
  double estimate_cost() const;

 private:
  struct Block {
    std::size_t size = 0;
    std::size_t at = 0;                   ///< of its first coordinate in coordinates_
    std::size_t factors = 0;              ///< of its Cholesky factor in L_, row by row
    std::size_t rows = 0, row_count = 0;  ///< constraints that touch it, in rows_
    std::size_t parts = 0;                ///< where its columns of L^-1 G^T begin in Y_
    std::size_t pairs = 0;                ///< where its products go to, in pairs_
  };
  bool factor_masses();
  bool factor_products();
  void solve_masses(double* x) const;
  void solve_once(double* f, double* gamma);

  const Sparsity& mass_;
  const Sparsity& jacobian_;
  const std::size_t n_, m_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> coordinates_;
  std::vector<std::size_t> mass_place_;      ///< of the entries of M in L_; those above the diagonal are left out
  std::vector<std::size_t> jacobian_place_;  ///< of the entries of G in Y_
  std::vector<std::size_t> rows_, pairs_;
  std::vector<double> L_, Y_, M_, G_, residual_f_, residual_gamma_, given_f_, given_gamma_, right_f_;
  mutable std::vector<double> block_;
  std::unique_ptr<SupernodalCholesky> H_;
  std::unique_ptr<SparseKkt> sparse_;
  bool known_ = false, masses_factored_ = false, direct_ = false, inexact_ = false;
  KktOutcome outcome_ = KktOutcome::not_finite;
  double products_ = 0.0;  ///< multiplications for H
  const std::vector<std::size_t> none_;
};

}  // namespace daedalus::linalg
