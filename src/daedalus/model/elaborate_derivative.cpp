#include <fmt/format.h>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/model/elaborate.hpp"
#include "daedalus/model/limits.hpp"

namespace daedalus::model {

using expr::Op;

Expr Elaborator::derivative_call(const SyntaxTree& tree, const Syntax& node) {
  const auto arguments = tree.children(node);
  int order = 1;
  if (arguments.size() == 2) {
    const std::int64_t given = whole_number(tree, arguments[1]);
    if (given < 1 || given > 100)
      throw Error("bad-order", fmt::format("the order of a derivative is 1, 2, ...{}: found {}", given > 100 ? " 100" : "", given),
                  "write der(x) or der(x, 2)", tree.place(tree[arguments[1]]));
    order = static_cast<int>(given);
  }
  const Expr inner = number_of(tree, arguments[0]);
  try {
    return derivative(inner, order);
  } catch (const Error& error) {
    throw Error(error.faults()[0].code, error.faults()[0].message, error.faults()[0].advice, tree.place(node));
  }
}

Expr Elaborator::rate(Expr unknown, int order) {
  const UnknownSymbol base = unknown_of_symbol_.at(unknown.id());
  if (order == 0) return unknown;
  const int total = base.order + order;
  const Expr symbol = graph_.symbol(derivative_name(items_[base.item].name, static_cast<std::size_t>(total)));
  unknown_of_symbol_.try_emplace(symbol.id(), UnknownSymbol{base.item, total});
  return symbol;
}

Expr Elaborator::derivative(Expr expression, int times) {
  if (expression.is_symbol() && unknown_of_symbol_.contains(expression.id())) return rate(expression, times);
  for (int k = 0; k < times; ++k) {
    expression = total_derivative(expression);
    if (graph_.size() > limits::nodes) too_large({});
  }
  return expression;
}

/// Sums are differentiated term by term and every result is kept, so that a chain of definitions X[i] = X[i-1] + ...
/// costs O(N) and not the square of it.
Expr Elaborator::total_derivative(Expr root) {
  std::vector<NodeId> stack{root.id()};
  while (!stack.empty()) {
    const NodeId id = stack.back();
    const expr::Node node = graph_.node(id);
    const bool binary = node.op == Op::add || node.op == Op::sub;
    if (total_derivatives_.contains(id)) {
      stack.pop_back();
    } else if (binary || node.op == Op::neg) {
      const auto a = total_derivatives_.find(node.a), b = binary ? total_derivatives_.find(node.b) : a;
      if (a == total_derivatives_.end()) stack.push_back(node.a);
      if (b == total_derivatives_.end()) stack.push_back(node.b);
      if (a == total_derivatives_.end() || b == total_derivatives_.end()) continue;
      const Expr da = a->second, db = b->second;
      total_derivatives_.emplace(id, node.op == Op::neg ? -da : node.op == Op::add ? da + db : da - db);
    } else {
      total_derivatives_.emplace(id, derivative_of_term(Expr(&graph_, id)));
    }
  }
  return total_derivatives_.at(root.id());
}

Expr Elaborator::derivative_of_term(Expr term) {
  if (term.is_constant()) return graph_.constant(0.0);
  if (term.is_symbol() && unknown_of_symbol_.contains(term.id())) return rate(term, 1);
  expr::Direction direction;
  const NodeId root[] = {term.id()};
  const std::vector<NodeId>& used = walk_.from(graph_, root);
  // Terms that share their parts are walked again and again.
  if (steps_ += used.size(); steps_ > limits::steps) too_large({});
  for (const NodeId id : used) {
    if (graph_.node(id).op != Op::symbol) continue;
    if (id == time_.id()) direction.emplace(id, graph_.constant(1.0));
    if (multipliers_.contains(id))
      throw Error(
          "derivative-of-multiplier",
          fmt::format("the time derivative of '{}' is not available", graph_.symbol_name(graph_.node(id).index)),
          "multipliers and reactions may be used, but not differentiated");
    if (unknown_of_symbol_.contains(id)) direction.emplace(id, rate(Expr(&graph_, id), 1));
  }
  return direction.empty() ? graph_.constant(0.0) : expr::derivative_along(term, direction);
}

}  // namespace daedalus::model
