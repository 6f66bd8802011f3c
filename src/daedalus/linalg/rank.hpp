#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::linalg {

/// A rank decision with what it rests on.
struct RankDecision {
  std::size_t rank = 0;
  double kept = 0.0;                        ///< smallest pivot counted, relative to the largest (1 for an empty matrix)
  double dropped = 0.0;                     ///< largest pivot not counted, relative to the largest (0 where none is)
  std::vector<std::size_t> dependent_rows;  ///< rows that depend on the other ones, ascending
  /// combinations[k]: coefficients c (one per row) with c^T A = 0 for dependent_rows[k]; empty where m > 3000
  std::vector<std::vector<double>> combinations;
};

/// Numerical row rank by QR with pivoting of A^T, rows scaled to equal norm first. Where several rows could be called
/// dependent, later ones are preferred. Values that are not finite: rank 0 with `kept` and `dropped` NaN.
RankDecision row_rank(const Sparsity& pattern, const double* values);

}  // namespace daedalus::linalg
