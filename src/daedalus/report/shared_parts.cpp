#include "daedalus/report/shared_parts.hpp"

#include <algorithm>
#include <string>

#include "daedalus/expr/walk.hpp"

namespace daedalus::report {

using expr::Expr;
using expr::Graph;
using expr::Node;
using expr::NodeId;
using expr::Op;

namespace {

constexpr double longest = 4000.0;  ///< operands of one expression written out: about three pages
constexpr double smallest = 12.0;   ///< operands of a part that gets a name

/// A letter for the names of parts that no symbol has.
std::string free_letter(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::string letter = "e";
  const auto taken = [&](NodeId id) {
    return graph.node(id).op == Op::symbol && graph.symbol_name(graph.node(id).index).starts_with(letter + "[");
  };
  while (std::ranges::any_of(nodes, taken)) letter += "e";
  return letter;
}

}  // namespace

SharedParts shared_parts(const std::vector<Expr>& roots) {
  SharedParts result{{}, roots};
  if (roots.empty()) return result;
  Graph& graph = roots.front().graph();
  std::vector<NodeId> ids;
  for (const Expr& root : roots) ids.push_back(root.id());
  expr::Walk walk;
  const std::vector<NodeId> order = walk.from(graph, ids);

  std::vector<std::size_t> users(order.size(), 0);
  std::vector<double> written(order.size(), 1.0);  // operands if everything is written out
  const auto operands = [&](const Node& node) {
    const NodeId all[] = {node.a, node.b, node.c};
    return std::vector<NodeId>(all, all + expr::arity(node.op));
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::vector<NodeId> of = operands(graph.node(order[i]));
    if (!of.empty()) written[i] = 0.0;
    for (const NodeId id : of) {
      ++users[walk.position(id)];
      written[i] += written[walk.position(id)];
    }
  }
  if (std::ranges::none_of(ids, [&](NodeId id) { return written[walk.position(id)] > longest; })) return result;

  const std::string letter = free_letter(graph, order);
  std::vector<Expr> image(order.size());
  std::vector<double> size(order.size(), 1.0);  // operands with names for parts
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node node = graph.node(order[i]);
    const auto of = [&](NodeId id) { return image[walk.position(id)]; };
    const std::vector<NodeId> inner = operands(node);
    switch (inner.size()) {
      case 0:
        image[i] = Expr{&graph, order[i]};
        continue;
      case 1:
        image[i] = node.op == Op::lookup ? graph.lookup(graph.table_name(node.index), of(node.a))
                                         : graph.make(node.op, of(node.a));
        break;
      case 2:
        image[i] = graph.make(node.op, of(node.a), of(node.b));
        break;
      default:
        image[i] = graph.make(node.op, of(node.a), of(node.b), of(node.c));
    }
    size[i] = 0.0;
    for (const NodeId id : inner) size[i] += size[walk.position(id)];
    if (users[i] < 2 || size[i] < smallest || node.op == Op::neg) continue;
    const Expr name = graph.symbol(letter + "[" + std::to_string(result.parts.size() + 1) + "]");
    result.parts.emplace_back(name, image[i]);
    image[i] = name;
    size[i] = 1.0;
  }
  for (Expr& root : result.roots) root = image[walk.position(root.id())];
  return result;
}

}  // namespace daedalus::report
