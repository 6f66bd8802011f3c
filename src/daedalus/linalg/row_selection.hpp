#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

// Rank decisions shared by the sources of this room; not part of its interface.
namespace daedalus::linalg {

/// Relative length below which the part of a row outside the span of the others counts as round-off. The floor leaves
/// four decimals for rows that a model computes by different formulas.
inline double rank_tolerance(std::size_t rows, std::size_t columns) {
  return std::max(1e-12, 32.0 * static_cast<double>(std::max(rows, columns)) * std::numeric_limits<double>::epsilon());
}

enum class Combinations { none, all };

struct RowSelection {
  std::vector<std::size_t> independent;           ///< in the order in which they were chosen
  std::vector<std::size_t> dependent;             ///< ascending
  double kept = 1.0;                              ///< smallest relative remaining length that was counted
  double dropped = 0.0;                           ///< largest that was not
  std::vector<std::vector<double>> combinations;  ///< as in RankDecision, for `dependent`; empty for `none`
};

/// Changes a basis of the kernel of A^T (coefficients of rows of equal length, one vector per dependent row) so that
/// the rows called dependent are late ones: 1 in its own row, 0 in those of the other vectors. Returns them, ascending,
/// with the vectors in the same order.
std::vector<std::size_t> prefer_later_rows(std::vector<std::vector<double>>& kernel);

/// Splits the rows into independent ones and those whose remaining relative length is at most `tolerance`.
RowSelection select_rows(const Sparsity& pattern, const double* values, double tolerance, Combinations wanted);

}  // namespace daedalus::linalg
