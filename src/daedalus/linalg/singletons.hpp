#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

// Not part of this room's interface.
namespace daedalus::linalg {

/// What the zeros of a matrix alone decide about the dependence of its rows (T. A. Davis, SuiteSparseQR, ACM Trans. Math.
/// Softw. 38, 2011, peels in the same way):
///   a row with one entry is a unit vector, so that the others, seen beside it, have no such column;
///   a row that has a column for itself depends on no others, and no combination of others needs it.
/// Nothing is computed, so that nothing is rounded. Entries count that are above `clear` beside the length of their row.
struct Peeled {
  std::vector<std::size_t> independent, dependent;  ///< rows, as they were decided
  std::vector<std::vector<std::size_t>> parts;      ///< the other rows, ascending, those that share columns together
  std::vector<bool> column_gone;                    ///< that the others are not compared in
  double kept = 1.0;                                ///< smallest entry that decided, beside the length of its row
};

Peeled peel(const Sparsity& pattern, const double* values, const std::vector<double>& row_lengths, double clear);

}  // namespace daedalus::linalg
