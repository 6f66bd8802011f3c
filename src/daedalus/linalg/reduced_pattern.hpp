#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

// Patterns that the Gauss-Newton solver works with; not part of this room's interface.
namespace daedalus::linalg {

inline constexpr std::size_t no_entry = std::numeric_limits<std::size_t>::max();

/// A pattern without the fixed rows or columns, and for each of its entries the one it came from (no_entry: a new
/// zero).
struct Reduced {
  Sparsity pattern;
  std::vector<std::size_t> source;
};

/// Keeps the rows and columns `free` of a square pattern and adds the diagonal; `position` numbers the free ones.
Reduced reduce_weight(const Sparsity& weight, const std::vector<std::size_t>& free,
                      const std::vector<std::size_t>& position);

/// Keeps the columns that have a position.
Reduced reduce_columns(const Sparsity& jacobian, std::size_t columns, const std::vector<std::size_t>& position);

/// The patterns of diag(W, I) and (C I), I of m rows.
Sparsity extended_weight(const Sparsity& weight, std::size_t m);
Sparsity extended_jacobian(const Sparsity& jacobian);

}  // namespace daedalus::linalg
