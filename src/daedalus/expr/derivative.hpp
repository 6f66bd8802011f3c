#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "daedalus/expr/graph.hpp"

namespace daedalus::expr {

/// Derivative of each symbol along a direction; symbols that are absent are constant. Keys are node ids of symbols.
using Direction = std::unordered_map<NodeId, Expr>;

/// Directional derivatives of all `roots` in one forward pass over what they use. With the direction t -> 1,
/// x -> der(x), ... it is the total time derivative.
std::vector<Expr> derivative_along(std::span<const Expr> roots, const Direction& direction);
Expr derivative_along(Expr root, const Direction& direction);

/// Partial derivative by one symbol.
Expr partial(Expr root, Expr symbol);

/// All partial derivatives of one expression by `symbols`, in one reverse pass: the cost is proportional to the size
/// of the expression, not to the number of symbols.
std::vector<Expr> gradient(Expr root, std::span<const Expr> symbols);

/// A sparse matrix of expressions in compressed rows; columns ascend within a row. Entries that are zero whatever the
/// values are not stored.
struct SparseExpr {
  std::size_t rows = 0, columns = 0;
  std::vector<std::size_t> row_start{0};
  std::vector<std::size_t> column;
  std::vector<Expr> value;
  /// The entry at (row, column), or an invalid Expr where it is zero.
  Expr at(std::size_t row, std::size_t column) const;
};

/// d roots / d symbols. Each row costs what its own expression costs, so a chain costs O(N).
SparseExpr jacobian(std::span<const Expr> roots, std::span<const Expr> symbols);

}  // namespace daedalus::expr
