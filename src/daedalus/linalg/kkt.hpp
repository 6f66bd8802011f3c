#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::linalg {

enum class KktOutcome {
  regular,        ///< G has full row rank
  redundant,      ///< some rows of G depend on others: see dependent_rows()
  singular_mass,  ///< M is not positive definite on the kernel of G
  not_finite,     ///< a value is NaN or infinite
};

/// Solves
///     [ M  G^T ] [ a ]   [ f     ]
///     [ G   0  ] [ l ] = [ gamma ]
/// with symmetric M, positive definite on ker G (M itself may be singular), for one pattern and many values.
/// Redundant rows of G are solved in the least-squares sense with the multipliers of least norm. A row counts as
/// redundant where its part outside the span of the others, in the metric M^-1 and relative to its length, is at most
/// about 1e-12, whatever its units; rows that differ by 1e-9 are still told apart.
class KktSolver {
 public:
  /// `automatic` is the fastest of `dense`, `sparse` and, where M consists of small blocks, `blocks`. The others have a meaning of their own: `schur` eliminates with
  /// G M^-1 G^T, `pseudoinverse` is the formula of Udwadia, Kalaba and Phohomsiri, `penalty` iterates multipliers and never
  /// calls rows redundant.
  enum class Backend { automatic, dense, sparse, blocks, schur, pseudoinverse, penalty };

  /// M is stored whole (both triangles), n by n; G is m by n. `penalty` is in units of the masses that a row of G moves.
  KktSolver(Sparsity mass, Sparsity jacobian, Backend backend = Backend::automatic, double penalty = 1e6);
  ~KktSolver();
  KktSolver(KktSolver&&) noexcept;
  KktSolver& operator=(KktSolver&&) noexcept;

  const Sparsity& mass() const;
  const Sparsity& jacobian() const;
  Backend backend() const;  ///< as chosen, never automatic

  /// Factors for these values (kept by copy). Allocates nothing when called again with a regular matrix.
  KktOutcome factor(const double* M, const double* G);

  /// Solves with the last factors, which must be `regular` or `redundant`. `a` and `lambda` may be `f` and `gamma`.
  void solve(const double* f, const double* gamma, double* a, double* lambda);

  /// Counts rows beyond the first `most` independent ones as redundant, whatever their length; only for `pseudoinverse`.
  void limit_rank(std::size_t most);

  /// How far gamma lies outside the range of G (max norm), known after a solve with redundant rows; 0 otherwise.
  double inconsistency() const;

  std::size_t rank() const;                                ///< of G
  const std::vector<std::size_t>& dependent_rows() const;  ///< rows of G that depend on the other ones, ascending

  struct Implementation;

 private:
  std::unique_ptr<Implementation> self_;
};

}  // namespace daedalus::linalg
