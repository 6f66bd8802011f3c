#pragma once

#include <vector>

#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::structure {

/// Vectors u with u^T A_k = 0 for every one of several matrices of one pattern: a basis, empty where there is none.
/// What counts as zero is measured by the terms of which it is the sum.
std::vector<std::vector<double>> common_null_vectors(const linalg::Sparsity& pattern,
                                                     const std::vector<std::vector<double>>& matrices);

/// Brings a basis to echelon form: every vector gets an entry 1, its pivot, where all others are zero, and none of its
/// entries costs less than that. Entries that are small whole numbers or fractions up to round-off become so. Returns
/// the pivots.
std::vector<std::size_t> reduce_to_pivots(std::vector<std::vector<double>>& basis, const std::vector<int>& cost);

}  // namespace daedalus::structure
