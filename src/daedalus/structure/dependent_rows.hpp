#pragma once

#include <utility>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::structure {

/// Rows of a sparse matrix that follow from others, each with a combination of rows that vanishes: c^T A = 0.
struct DependentRows {
  std::vector<std::size_t> rows;
  std::vector<std::vector<std::pair<std::size_t, double>>> combinations;  ///< rows, ascending, and their factors
  bool complete = true;  ///< false where some part of the matrix is too large to tell, or not finite
};

/// Decides part by part: rows that share no column, directly or through others, have nothing to do with each other.
DependentRows dependent_rows(const linalg::Sparsity& pattern, const double* values);

}  // namespace daedalus::structure
