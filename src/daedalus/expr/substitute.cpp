#include "daedalus/expr/substitute.hpp"

#include <algorithm>

#include "daedalus/base/error.hpp"
#include "daedalus/expr/walk.hpp"

namespace daedalus::expr {

namespace {

std::vector<NodeId> ids_of(std::span<const Expr> roots) {
  std::vector<NodeId> ids;
  ids.reserve(roots.size());
  for (const Expr& root : roots) ids.push_back(root.id());
  return ids;
}

bool is_sum(const Node& node) { return node.op == Op::add || node.op == Op::sub; }

/// The sums among the factors of a product, and the product of all others.
struct Factors {
  std::vector<Expr> sums;
  Expr rest;
};

Factors factors_of(Expr product) {
  Graph& graph = product.graph();
  Factors result{{}, graph.constant(1.0)};
  std::vector<Expr> stack{product};
  while (!stack.empty()) {
    const Expr part = stack.back();
    stack.pop_back();
    const Node node = part.node();
    if (node.op == Op::mul) {
      stack.emplace_back(&graph, node.b);
      stack.emplace_back(&graph, node.a);
    } else if (is_sum(node)) {
      result.sums.push_back(part);
    } else {
      result.rest = result.rest * part;
    }
  }
  return result;
}

}  // namespace

std::vector<Expr> substitute(std::span<const Expr> roots, const std::unordered_map<NodeId, Expr>& replacement) {
  if (roots.empty()) return {};
  Graph& graph = roots.front().graph();
  thread_local Walk walk;
  const std::vector<NodeId> order = walk.from(graph, ids_of(roots));
  std::vector<Expr> image(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node node = graph.node(order[i]);
    const auto of = [&](NodeId id) { return image[walk.position(id)]; };
    switch (arity(node.op)) {
      case 0: {
        const auto found = replacement.find(order[i]);
        image[i] = found == replacement.end() ? Expr{&graph, order[i]} : found->second;
        break;
      }
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
  }
  std::vector<Expr> result;
  for (const Expr& root : roots) result.push_back(image[walk.position(root.id())]);
  return result;
}

Expr substitute(Expr root, const std::unordered_map<NodeId, Expr>& replacement) {
  return substitute(std::span<const Expr>(&root, 1), replacement).front();
}

std::vector<NodeId> reachable(std::span<const Expr> roots) {
  if (roots.empty()) return {};
  thread_local Walk walk;
  return walk.from(roots.front().graph(), ids_of(roots));
}

std::vector<NodeId> symbols_of(std::span<const Expr> roots) {
  std::vector<NodeId> symbols;
  for (const NodeId id : reachable(roots))
    if (roots.front().graph().node(id).op == Op::symbol) symbols.push_back(id);
  std::sort(symbols.begin(), symbols.end());
  return symbols;
}

std::vector<NodeId> symbols_of(Expr root) { return symbols_of(std::span<const Expr>(&root, 1)); }

std::vector<bool> dependence(std::span<const Expr> roots, const std::unordered_set<NodeId>& symbols) {
  if (roots.empty()) return {};
  const Graph& graph = roots.front().graph();
  thread_local Walk walk;
  const std::vector<NodeId>& order = walk.from(graph, ids_of(roots));
  std::vector<bool> active(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node& node = graph.node(order[i]);
    const int n = arity(node.op);
    active[i] = n == 0 ? symbols.contains(order[i])
                       : active[walk.position(node.a)] || (n > 1 && active[walk.position(node.b)]) ||
                             (n > 2 && active[walk.position(node.c)]);
  }
  std::vector<bool> result;
  for (const Expr& root : roots) result.push_back(active[walk.position(root.id())]);
  return result;
}

std::vector<Expr> terms_of(Expr root) {
  Graph& graph = root.graph();
  struct Item {
    Expr part, factor;
    bool product = false;  // of sums: every one of its terms
  };
  constexpr int most_splits = 256;
  std::vector<Item> stack{{root, graph.constant(1.0)}};
  std::vector<Expr> terms;
  int splits = 0;
  // A sum that occurs again is one term the second time: products of sums (a chain of rotations) would otherwise have
  // a number of terms exponential in their length.
  std::unordered_set<NodeId> opened;
  while (!stack.empty()) {
    const auto [part, factor, product] = stack.back();
    stack.pop_back();
    const Node node = part.node();
    const Expr a{&graph, node.a}, b{&graph, node.b};
    const Factors factors = node.op == Op::mul ? factors_of(part) : Factors{};
    if (is_sum(node) && (opened.insert(part.id()).second || (product && splits++ < most_splits))) {
      stack.push_back({b, node.op == Op::add ? factor : -factor, product});
      stack.push_back({a, factor, product});
    } else if (node.op == Op::neg) {
      stack.push_back({a, -factor, product});
    } else if (factors.sums.size() == 1) {
      stack.push_back({factors.sums[0], factor * factors.rest, product});
    } else if (factors.sums.size() > 1 && splits < most_splits) {
      // Where one of the sums vanishes, so does the product, and its size is known from the terms of all alone.
      Expr others = factors.sums[1];
      for (std::size_t i = 2; i < factors.sums.size(); ++i) others = others * factors.sums[i];
      const Node sum = factors.sums[0].node();
      const Expr first{&graph, sum.a}, second{&graph, sum.b}, scale = factor * factors.rest;
      ++splits;
      stack.push_back({second * others, sum.op == Op::add ? scale : -scale, true});
      stack.push_back({first * others, scale, true});
    } else if (node.op == Op::div && is_sum(a.node())) {
      stack.push_back({a, factor / b, product});
    } else if (const Expr term = factor * part; !term.is_constant(0.0)) {
      terms.push_back(term);
    }
  }
  return terms;
}

double evaluate(Expr root, const std::unordered_map<NodeId, double>& values) {
  const Graph& graph = root.graph();
  thread_local Walk walk;
  const NodeId ids[] = {root.id()};
  const std::vector<NodeId>& order = walk.from(graph, ids);
  std::vector<double> value(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node& node = graph.node(order[i]);
    const auto of = [&](NodeId id) { return value[walk.position(id)]; };
    if (node.op == Op::constant) {
      value[i] = node.value;
    } else if (node.op == Op::symbol) {
      const auto found = values.find(order[i]);
      if (found == values.end())
        throw Error("unbound-symbol", "'" + graph.symbol_name(node.index) + "' has no value here");
      value[i] = found->second;
    } else if (node.op == Op::lookup) {
      const Graph::TableUse table = graph.table(node.index);
      if (table.data == nullptr)
        throw Error("unknown-table", "the table '" + graph.table_name(node.index) + "' has no data", "give it with define_table");
      value[i] = table.data->value(table.data->segment(of(node.a)), of(node.a), table.times);
    } else {
      const int n = arity(node.op);
      value[i] = apply(node.op, of(node.a), n > 1 ? of(node.b) : 0.0, n > 2 ? of(node.c) : 0.0);
    }
  }
  return value.back();
}

}  // namespace daedalus::expr
