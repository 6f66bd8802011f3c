#pragma once

#include <array>
#include <cmath>
#include <random>
#include <unordered_map>
#include <vector>

#include "daedalus/expr/graph.hpp"

/// Random expressions kept as they were written, so that the graph's simplified form has something to be compared with.
namespace daedalus::expr::random_tree {

struct Part {
  Op op;
  std::array<std::size_t, 3> operand{};  ///< earlier parts
  double value = 0.0;
  std::size_t symbol = 0;
};
using Tree = std::vector<Part>;  ///< the last part is the whole

using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

/// Numbers that invite simplification, and some that do not.
inline double interesting_number(Random& random) {
  constexpr std::array numbers{0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5,  0.25,
                               4.0, 3.0, -3.0, 0.1, 7.0,  1.5, -10.0, 1024.0};
  return numbers[below(random, numbers.size())];
}

inline Tree make_tree(Random& random, const std::vector<Op>& operations, std::size_t symbols, std::size_t size) {
  Tree tree;
  for (std::size_t s = 0; s < symbols; ++s) tree.push_back({Op::symbol, {}, 0.0, s});
  while (tree.size() < size) {
    if (below(random, 5) == 0) {
      tree.push_back({Op::constant, {}, interesting_number(random)});
      continue;
    }
    Part part{operations[below(random, operations.size())]};
    // Mostly recent parts, so that trees are deep and little is left unused.
    for (std::size_t& operand : part.operand)
      operand = below(random, 4) == 0 ? below(random, tree.size())
                                      : tree.size() - 1 - below(random, std::min<std::size_t>(tree.size(), 6));
    tree.push_back(part);
  }
  return tree;
}

inline Expr build(Graph& graph, const Tree& tree, const std::vector<Expr>& symbols) {
  std::vector<Expr> built;
  for (const Part& part : tree) {
    const auto operand = [&](std::size_t k) { return built[part.operand[k]]; };
    if (part.op == Op::constant)
      built.push_back(graph.constant(part.value));
    else if (part.op == Op::symbol)
      built.push_back(symbols[part.symbol]);
    else if (arity(part.op) == 1)
      built.push_back(graph.make(part.op, operand(0)));
    else if (arity(part.op) == 2)
      built.push_back(graph.make(part.op, operand(0), operand(1)));
    else
      built.push_back(graph.make(part.op, operand(0), operand(1), operand(2)));
  }
  return built.back();
}

/// Values of all parts, each computed exactly as it was written.
inline std::vector<double> values_of(const Tree& tree, const std::vector<double>& symbols) {
  std::vector<double> values;
  for (const Part& part : tree) {
    if (part.op == Op::constant)
      values.push_back(part.value);
    else if (part.op == Op::symbol)
      values.push_back(symbols[part.symbol]);
    else
      values.push_back(apply(part.op, values[part.operand[0]], values[part.operand[1]], values[part.operand[2]]));
  }
  return values;
}

/// Whether all values lie where multiplying by a power of two is exact; outside, simplification promises nothing.
inline bool all_ordinary(const std::vector<double>& values) {
  for (const double value : values)
    if (!std::isfinite(value) || std::abs(value) > 1e150 || (value != 0.0 && std::abs(value) < 1e-150)) return false;
  return true;
}

inline double random_value(Random& random) {
  if (below(random, 12) == 0) return interesting_number(random);
  return std::normal_distribution<double>(0.0, 2.0)(random);
}

inline std::vector<Expr> make_symbols(Graph& graph, std::size_t count) {
  std::vector<Expr> symbols;
  for (std::size_t i = 0; i < count; ++i) symbols.push_back(graph.symbol(std::string(1, static_cast<char>('p' + i))));
  return symbols;
}

/// All operations that take numbers, from the list of operations itself.
inline std::vector<Op> all_operations() {
  std::vector<Op> operations;
  for (int op = 0; op <= static_cast<int>(Op::choose); ++op)
    if (const Op o = static_cast<Op>(op); o != Op::constant && o != Op::symbol && o != Op::lookup)
      operations.push_back(o);
  return operations;
}

}  // namespace daedalus::expr::random_tree
