#pragma once

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "daedalus/expr/graph.hpp"

namespace daedalus::expr {

/// Replaces symbols (by node id) at once, in one pass without recursion.
std::vector<Expr> substitute(std::span<const Expr> roots, const std::unordered_map<NodeId, Expr>& replacement);
Expr substitute(Expr root, const std::unordered_map<NodeId, Expr>& replacement);

/// The nodes that `roots` use, operands before users.
std::vector<NodeId> reachable(std::span<const Expr> roots);

/// Symbols (node ids) on which `roots` depend, ascending.
std::vector<NodeId> symbols_of(std::span<const Expr> roots);
std::vector<NodeId> symbols_of(Expr root);
/// Which of the roots contain any of the symbols, in one pass over all of them.
std::vector<bool> dependence(std::span<const Expr> roots, const std::unordered_set<NodeId>& symbols);

/// The summands of an expression, with signs: x^2 + y^2 - l^2 gives x^2, y^2, -(l^2). Products with a
/// sum are multiplied out where the sum occurs first, so that the time is proportional to the size of the expression; those
/// of two sums as far as some hundred terms go.
std::vector<Expr> terms_of(Expr root);

/// Value of an expression with numbers for its symbols (by node id). Throws Error("unbound-symbol") for a symbol
/// without a number. Meant for parameters and start values, not for inner loops.
double evaluate(Expr root, const std::unordered_map<NodeId, double>& values);

}  // namespace daedalus::expr
