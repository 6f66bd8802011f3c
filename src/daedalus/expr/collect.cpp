#include "daedalus/expr/collect.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include "daedalus/expr/walk.hpp"

namespace daedalus::expr {

namespace {

/// The value of a node whose operands have the values a and b, where it is one that factors are made of.
std::optional<double> folded(Op op, std::optional<double> a, std::optional<double> b) {
  if (op == Op::neg && a) return -*a;
  if (!a || !b) return std::nullopt;
  switch (op) {
    case Op::add: return *a + *b;
    case Op::sub: return *a - *b;
    case Op::mul: return *a * *b;
    case Op::div: return *a / *b;
    case Op::pow: return std::pow(*a, *b);
    default: return std::nullopt;
  }
}

/// The sum of the factors of a node, and of their moduli.
struct Factor {
  double value = 0.0, size = 0.0;
};

}  // namespace

Expr collected(Expr root, const std::unordered_map<NodeId, double>& numbers, double cancelled) {
  Graph& graph = root.graph();
  const NodeId ids[] = {root.id()};
  Walk walk;
  const std::vector<NodeId>& order = walk.from(graph, ids);
  std::vector<std::optional<double>> known(order.size());
  std::vector<Factor> factor(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Node& node = graph.node(order[k]);
    const auto of = [&](NodeId operand) { return known[walk.position(operand)]; };
    if (node.op == Op::constant)
      known[k] = node.value;
    else if (const auto number = numbers.find(order[k]); number != numbers.end())
      known[k] = number->second;
    else if (const int operands = arity(node.op); operands == 1 || operands == 2)
      known[k] = folded(node.op, of(node.a), operands == 2 ? of(node.b) : std::nullopt);
  }
  Factor number;
  std::vector<std::size_t> terms;
  bool lost = false;
  const auto cancels = [&](const Factor& all) { return std::abs(all.value) <= cancelled * all.size; };
  factor.back() = {1.0, 1.0};
  for (std::size_t k = order.size(); k-- > 0;) {
    const Factor own = factor[k];
    if (own.size == 0.0) continue;
    if (cancels(own)) {
      lost = true;
      continue;
    }
    const Node& node = graph.node(order[k]);
    const auto give = [&](NodeId operand, double times) {
      Factor& to = factor[walk.position(operand)];
      to.value += times * own.value;
      to.size += std::abs(times) * own.size;
    };
    const auto is_number = [&](NodeId operand) { return known[walk.position(operand)].has_value(); };
    const auto number_of = [&](NodeId operand) { return *known[walk.position(operand)]; };
    if (known[k]) {
      number.value += own.value * *known[k];
      number.size += own.size * std::abs(*known[k]);
    } else if (node.op == Op::add || node.op == Op::sub) {
      give(node.a, 1.0);
      give(node.b, node.op == Op::add ? 1.0 : -1.0);
    } else if (node.op == Op::neg) {
      give(node.a, -1.0);
    } else if (node.op == Op::mul && is_number(node.a)) {
      give(node.b, number_of(node.a));
    } else if (node.op == Op::mul && is_number(node.b)) {
      give(node.a, number_of(node.b));
    } else if (node.op == Op::div && is_number(node.b)) {
      give(node.a, 1.0 / number_of(node.b));
    } else {
      terms.push_back(k);
    }
  }
  if (!lost) return root;
  Expr sum = graph.constant(cancels(number) ? 0.0 : number.value);
  const std::vector<NodeId> nodes(order);  // building more of them moves what the walk has
  for (auto k = terms.rbegin(); k != terms.rend(); ++k) sum = sum + factor[*k].value * Expr(&graph, nodes[*k]);
  return sum;
}

}  // namespace daedalus::expr
