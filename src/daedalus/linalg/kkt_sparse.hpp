#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "daedalus/linalg/householder.hpp"
#include "daedalus/linalg/kkt.hpp"
#include "daedalus/linalg/kkt_dense.hpp"
#include "daedalus/linalg/klu_factor.hpp"
#include "daedalus/linalg/sparsity.hpp"

// Back end of KktSolver; not part of this room's interface.
namespace daedalus::linalg {

/// Where the entries of M, G^T, G and of the diagonal of the zero block go in the assembled matrix.
struct KktAssembly {
  enum class ZeroBlock { empty, with_diagonal };
  KktAssembly(const Sparsity& mass, const Sparsity& jacobian, ZeroBlock zero_block);
  std::vector<std::size_t> mass, upper, lower, diagonal;
  std::unique_ptr<KluFactor> klu;
};

/// Sparse KKT solver; the patterns must outlive it. Same contract as KktSolver.
class SparseKkt {
 public:
  SparseKkt(const Sparsity& mass, const Sparsity& jacobian);

  KktOutcome factor(const double* M, const double* G);
  void solve(const double* f, const double* gamma, double* a, double* lambda);

  double inconsistency() const { return inconsistency_; }
  std::size_t rank() const { return rank_; }
  const std::vector<std::size_t>& dependent_rows() const { return dependent_rows_; }

  /// Time of one factor() in units of a floating-point operation, as the ordering predicts it.
  double estimate_cost() const;

 private:
  enum class Mode { plain, bordered, dense, regularized };
  enum class Reuse { pivots, nothing };

  void choose_scales();
  void scale_jacobian();
  void assemble(KktAssembly& assembly, double shift);
  bool definite() const;
  KktOutcome factor_plain();
  KktOutcome factor_carefully(bool factored);
  bool factor_bordered(Reuse reuse);
  bool orthogonalize_weak();
  void collect_null_vectors();
  KktOutcome last_resort();

  void solve_bordered(double* x);
  double true_residual(const double* b, const double* x, double* residual);
  void solve_plain();
  void solve_refined(int most_corrections);
  void project_out_null(double* rows) const;

  const Sparsity& mass_;
  const Sparsity& jacobian_;
  const std::size_t n_, m_;
  bool fresh_ = false;  ///< d_ and e_ were chosen
  bool known_ = false, definite_ = false;
  Mode mode_ = Mode::plain;
  KktOutcome outcome_ = KktOutcome::not_finite;
  std::vector<double> M_, G_;                ///< the values factored last
  std::vector<double> scaled_M_, scaled_G_;  ///< D M D and E G D
  std::vector<double> d_, e_;                ///< the diagonals of D and E, powers of two
  KktAssembly plain_;
  std::vector<double> b_, x_, r_, size_;

  std::unique_ptr<KktAssembly> bordered_;  ///< with the diagonal of the zero block; made when first needed
  std::vector<std::size_t> weak_;          ///< rows kept out of the factors because they (nearly) depend on others
  std::vector<char> is_weak_;
  std::vector<double> X_, C_, V_, MV_;  ///< per weak row: G_r x = 0, M x + G_r^T c = g; see the source
  std::vector<double> R_;
  std::vector<std::size_t> order_;  ///< of the weak rows: independent ones first
  std::size_t weak_rank_ = 0;
  std::vector<double> t_;
  std::unique_ptr<HouseholderQr> null_;  ///< orthonormal basis of the kernel of G^T
  bool weak_no_longer_ = false;

  std::unique_ptr<DenseKkt> dense_;
  std::size_t rank_ = 0;
  std::vector<std::size_t> dependent_rows_;
  double inconsistency_ = 0.0;
};

}  // namespace daedalus::linalg
