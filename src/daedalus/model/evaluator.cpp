#include "daedalus/model/evaluator.hpp"

#include <array>

namespace daedalus::model {

using expr::Node;
using expr::NodeId;
using expr::Op;

std::optional<double> Evaluator::operator()(expr::Expr root) {
  const expr::Graph& graph = root.graph();
  if (state_.size() < graph.size()) {
    state_.resize(graph.size() + graph.size() / 2, State::unknown);
    value_.resize(state_.size(), 0.0);
  }
  std::vector<NodeId> stack{root.id()};
  while (!stack.empty()) {
    const NodeId id = stack.back();
    if (state_[id] != State::unknown) {
      stack.pop_back();
      continue;
    }
    const Node node = graph.node(id);
    const std::array<NodeId, 3> operands{node.a, node.b, node.c};
    const auto count = static_cast<std::size_t>(expr::arity(node.op));
    bool ready = true, varying = false;
    for (std::size_t k = 0; k < count; ++k) {
      if (state_[operands[k]] == State::unknown) {
        stack.push_back(operands[k]);
        ready = false;
      }
      varying = varying || state_[operands[k]] == State::varying;
    }
    if (!ready) continue;
    State state = varying ? State::varying : State::known;
    double value = 0.0;
    if (node.op == Op::constant) {
      value = node.value;
    } else if (node.op == Op::symbol) {
      const std::optional<double> number = number_of_(id);
      // The call may have built nodes and evaluated others: nothing here may be held across it.
      if (number)
        value = *number;
      else
        state = State::varying;
    } else if (node.op == Op::lookup) {
      const expr::Graph::TableUse table = graph.table(node.index);
      if (table.data == nullptr)
        state = State::varying;
      else if (!varying)
        value = table.data->value(table.data->segment(value_[operands[0]]), value_[operands[0]], table.times);
    } else if (!varying) {
      const auto of = [&](std::size_t k) { return k < count ? value_[operands[k]] : 0.0; };
      value = expr::apply(node.op, of(0), of(1), of(2));
    }
    state_[id] = state;
    value_[id] = value;
    stack.pop_back();
  }
  if (state_[root.id()] == State::varying) return std::nullopt;
  return value_[root.id()];
}

}  // namespace daedalus::model
