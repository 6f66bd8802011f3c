#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::linalg {

/// The solutions of C d = 0, solved for as many entries as C determines:
///     d_determined = A d_free.
struct FreeColumns {
  std::vector<std::size_t> determined, free;  ///< columns
  std::vector<double> A;                      ///< one row for each of `determined`; in units of the sizes, round-off is 0
  double entry(std::size_t row, std::size_t column) const { return A[row * free.size() + column]; }
};

/// Solves C d = 0 by Gauss-Jordan elimination with complete pivoting among the columns of lowest `turn`, then among the
/// next, and so on: entries with a late turn stay free where they can. Needs the positive size of every entry. Dense.
FreeColumns free_columns(const Sparsity& pattern, const double* values, const std::vector<double>& sizes,
                         const std::vector<int>& turn);

/// Whether a set of columns, `free.size()` of them, may be free instead: the others then follow from it. `in_set` has one
/// entry per column of C.
bool may_be_free(const FreeColumns& columns, const std::vector<bool>& in_set);

}  // namespace daedalus::linalg
