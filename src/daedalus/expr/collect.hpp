#pragma once

#include <unordered_map>

#include "daedalus/expr/graph.hpp"

namespace daedalus::expr {

/// A sum without the parts that cancel in it: where subexpressions occur more than once, each times a number, and what is
/// left of their factors is at most `cancelled` times all of them, as a flat sum without these; otherwise the expression
/// itself. `numbers` gives values of symbols that may be part of a factor. Unlike tidy() it expands no products, and so
/// takes expressions of any length.
Expr collected(Expr root, const std::unordered_map<NodeId, double>& numbers, double cancelled);

}  // namespace daedalus::expr
