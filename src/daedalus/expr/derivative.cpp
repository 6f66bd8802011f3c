// Derivatives by the chain rule, forward and reverse (Griewank, Walther: Evaluating Derivatives, 2008). Both sweeps are
// loops over a topological order and share one table of partial derivatives: chain(node, operand, d) is
// d * (df/d operand).
//
// An operand that a condition may leave out (if, min, max) gets its derivative only where it counts: in if(x > 0,
// sqrt(x), 0) the factor 1/(2*sqrt(x)) must not be multiplied by an adjoint 0, which would be NaN for x <= 0. So the
// reverse sweep keeps each adjoint as a pair (condition, value) and multiplies values only.

#include "daedalus/expr/derivative.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "daedalus/base/error.hpp"
#include "daedalus/expr/walk.hpp"

namespace daedalus::expr {

namespace {

constexpr NodeId none = std::numeric_limits<NodeId>::max();

/// d times the partial derivative of node `f` by its operand number `which` (0, 1 or 2).
Expr chain(Expr f, int which, Expr d) {
  Graph& graph = f.graph();
  const Node node = f.node();
  const Expr a{&graph, node.a}, b{&graph, node.b};
  const Expr zero = graph.constant(0.0);
  switch (node.op) {
    case Op::add:
      return d;
    case Op::sub:
      return which == 0 ? d : -d;
    case Op::mul:
      return which == 0 ? d * b : a * d;
    case Op::div:
      // Not a d / b^2: squares of squares would overflow in derivatives of a high order. d / b serves them all.
      return which == 0 ? d / b : -(f * (d / b));
    case Op::neg:
      return -d;
    case Op::pow:
      if (which == 0) return b * pow(a, b - 1.0) * d;
      return f * log(a) * d;
    case Op::sin:
      return cos(a) * d;
    case Op::cos:
      return -(sin(a) * d);
    case Op::tan:
      return (1.0 + pow(f, 2.0)) * d;
    case Op::asin:
      return d / sqrt(1.0 - pow(a, 2.0));
    case Op::acos:
      return -(d / sqrt(1.0 - pow(a, 2.0)));
    case Op::atan:
      return d / (1.0 + pow(a, 2.0));
    case Op::sinh:
      return cosh(a) * d;
    case Op::cosh:
      return sinh(a) * d;
    case Op::tanh:
      return (1.0 - pow(f, 2.0)) * d;
    case Op::asinh:
      return d / sqrt(pow(a, 2.0) + 1.0);
    case Op::acosh:
      return d / (sqrt(a - 1.0) * sqrt(a + 1.0));
    case Op::atanh:
      return d / (1.0 - pow(a, 2.0));
    case Op::exp:
      return f * d;
    case Op::log:
      return d / a;
    case Op::log10:
      return d / (std::numbers::ln10 * a);
    case Op::sqrt:
      return d / (2.0 * f);
    case Op::cbrt:
      return d / (3.0 * pow(f, 2.0));
    case Op::abs:
      return sign(a) * d;
    case Op::atan2:
      return which == 0 ? b * d / (pow(a, 2.0) + pow(b, 2.0)) : -(a * d / (pow(a, 2.0) + pow(b, 2.0)));
    case Op::hypot:
      return (which == 0 ? a : b) * d / f;
    case Op::lookup:
      return graph.lookup(graph.table_name(node.index) + "'", a) * d;
    case Op::min:
    case Op::max:
    case Op::choose:
      break;  // see Branches
    case Op::sign:
    case Op::floor:
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_not:
    case Op::constant:
    case Op::symbol:
      return zero;
  }
  DAEDALUS_CHECK(false, "no derivative of {}", name_of(node.op));
}

std::vector<NodeId> ids_of(std::span<const Expr> roots) {
  std::vector<NodeId> ids;
  ids.reserve(roots.size());
  for (const Expr& root : roots) ids.push_back(root.id());
  return ids;
}

NodeId operand(const Node& node, int which) { return which == 0 ? node.a : which == 1 ? node.b : node.c; }

/// What if, min and max have in common: a condition, and the operand whose value they take where it holds and where
/// not.
struct Branches {
  bool any = false;
  Expr condition;
  int yes = 0, no = 0;
};

Branches branches_of(Graph& graph, const Node& node) {
  const Expr a{&graph, node.a}, b{&graph, node.b};
  if (node.op == Op::choose) return {true, a, 1, 2};
  if (node.op == Op::min) return {true, graph.make(Op::less, b, a), 1, 0};
  if (node.op == Op::max) return {true, graph.make(Op::less, a, b), 1, 0};
  return {};
}

/// A value that counts only where a condition holds; everywhere without one.
struct Guarded {
  NodeId condition = none;
  NodeId value = none;  ///< none: zero
};

Expr plain(Graph& graph, const Guarded& guarded) {
  const Expr value{&graph, guarded.value}, zero = graph.constant(0.0);
  if (guarded.condition == none) return value;
  const Node condition = graph.node(guarded.condition);
  if (condition.op == Op::logical_not) return choose({&graph, condition.a}, zero, value);
  return choose({&graph, guarded.condition}, value, zero);
}

/// The part of `guarded` that counts where `condition` is `wanted`, and elsewhere not.
Guarded narrowed(Graph& graph, const Guarded& guarded, Expr condition, bool wanted) {
  const Expr mine = wanted ? condition : graph.make(Op::logical_not, condition);
  if (guarded.condition == none || guarded.condition == mine.id()) return {mine.id(), guarded.value};
  return {graph.make(Op::logical_and, {&graph, guarded.condition}, mine).id(), guarded.value};
}

/// Whether `r` is the condition `not l`.
bool opposes(const Graph& graph, NodeId l, NodeId r) {
  return graph.node(r).op == Op::logical_not && graph.node(r).a == l;
}

Guarded sum_of(Graph& graph, const Guarded& l, const Guarded& r) {
  if (l.value == none) return r;
  const Expr a{&graph, l.value}, b{&graph, r.value};
  if (l.condition == r.condition) return {l.condition, (a + b).id()};
  if (l.condition == none || r.condition == none) return {none, (plain(graph, l) + plain(graph, r)).id()};
  // The two branches of one condition together are if(condition, a, b).
  const auto joined = [&](NodeId outer, NodeId first, NodeId second) -> Guarded {
    if (opposes(graph, first, second)) return {outer, choose({&graph, first}, a, b).id()};
    if (opposes(graph, second, first)) return {outer, choose({&graph, second}, b, a).id()};
    return {};
  };
  if (const Guarded both = joined(none, l.condition, r.condition); both.value != none) return both;
  const Node first = graph.node(l.condition), second = graph.node(r.condition);
  if (first.op == Op::logical_and && second.op == Op::logical_and && first.a == second.a)
    if (const Guarded both = joined(first.a, first.b, second.b); both.value != none) return both;
  const Expr either = graph.make(Op::logical_or, {&graph, l.condition}, {&graph, r.condition});
  return {either.id(), (plain(graph, l) + plain(graph, r)).id()};
}

/// Reverse sweeps over many expressions of one graph, each at the cost of its own size.
class ReverseSweep {
 public:
  explicit ReverseSweep(std::span<const Expr> symbols) {
    for (std::size_t j = 0; j < symbols.size(); ++j) column_.emplace(symbols[j].id(), j);
  }

  /// Calls found(column, derivative) for every symbol on which `root` depends.
  template <class Found>
  void operator()(Expr root, Found&& found) {
    Graph& graph = root.graph();
    const NodeId ids[] = {root.id()};
    const std::vector<NodeId> order = walk_.from(graph, ids);
    active_.assign(order.size(), false);
    adjoint_.assign(order.size(), Guarded{});
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Node& node = graph.node(order[i]);
      bool active = node.op == Op::symbol && column_.contains(order[i]);
      for (int k = 0; k < arity(node.op); ++k) active = active || active_[walk_.position(operand(node, k))];
      active_[i] = active;
    }
    adjoint_.back().value = graph.constant(1.0).id();
    for (std::size_t i = order.size(); i-- > 0;) {
      const Guarded bar = adjoint_[i];
      if (!active_[i] || bar.value == none) continue;
      const Expr f{&graph, order[i]};
      const Node node = f.node();
      if (node.op == Op::symbol) {
        if (const Expr d = plain(graph, bar); !d.is_constant(0.0)) found(column_.at(order[i]), d);
        continue;
      }
      const Branches branches = branches_of(graph, node);
      for (int k = 0; k < arity(node.op); ++k) {
        const std::size_t position = walk_.position(operand(node, k));
        if (!active_[position]) continue;
        Guarded part = bar;
        if (!branches.any)
          part.value = chain(f, k, {&graph, bar.value}).id();
        else if (k == branches.yes || k == branches.no)
          part = narrowed(graph, bar, branches.condition, k == branches.yes);
        else
          continue;
        if (Expr{&graph, part.value}.is_constant(0.0)) continue;
        adjoint_[position] = sum_of(graph, adjoint_[position], part);
      }
    }
  }

 private:
  Walk walk_;
  std::unordered_map<NodeId, std::size_t> column_;
  std::vector<bool> active_;
  std::vector<Guarded> adjoint_;
};

}  // namespace

std::vector<Expr> derivative_along(std::span<const Expr> roots, const Direction& direction) {
  if (roots.empty()) return {};
  Graph& graph = roots.front().graph();
  thread_local Walk walk;
  const std::vector<NodeId> order = walk.from(graph, ids_of(roots));
  std::vector<NodeId> dot(order.size(), none);  // none: zero
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node node = graph.node(order[i]);
    const Expr f{&graph, order[i]};
    if (node.op == Op::symbol) {
      const auto found = direction.find(order[i]);
      if (found != direction.end() && !found->second.is_constant(0.0)) dot[i] = found->second.id();
      continue;
    }
    const auto dot_of = [&](int k) { return dot[walk.position(operand(node, k))]; };
    if (node.op == Op::choose || node.op == Op::min || node.op == Op::max) {
      if (dot_of(1) == none && dot_of(node.op == Op::choose ? 2 : 0) == none) continue;
      const Branches branches = branches_of(graph, node);
      const auto branch = [&](int k) { return dot_of(k) == none ? graph.constant(0.0) : Expr{&graph, dot_of(k)}; };
      dot[i] = choose(branches.condition, branch(branches.yes), branch(branches.no)).id();
    } else {
      for (int k = 0; k < arity(node.op); ++k) {
        if (dot_of(k) == none) continue;
        const Expr part = chain(f, k, {&graph, dot_of(k)});
        dot[i] = dot[i] == none ? part.id() : (Expr{&graph, dot[i]} + part).id();
      }
    }
    if (dot[i] != none && graph.constant(0.0).id() == dot[i]) dot[i] = none;
  }
  std::vector<Expr> result;
  result.reserve(roots.size());
  for (const Expr& root : roots) {
    const NodeId d = dot[walk.position(root.id())];
    result.push_back(d == none ? graph.constant(0.0) : Expr{&graph, d});
  }
  return result;
}

Expr derivative_along(Expr root, const Direction& direction) {
  return derivative_along(std::span<const Expr>(&root, 1), direction).front();
}

Expr partial(Expr root, Expr symbol) {
  return derivative_along(root, Direction{{symbol.id(), root.graph().constant(1.0)}});
}

std::vector<Expr> gradient(Expr root, std::span<const Expr> symbols) {
  std::vector<Expr> result(symbols.size(), root.graph().constant(0.0));
  ReverseSweep sweep(symbols);
  sweep(root, [&](std::size_t j, Expr d) { result[j] = d; });
  return result;
}

Expr SparseExpr::at(std::size_t row, std::size_t wanted) const {
  const auto begin = column.begin() + static_cast<std::ptrdiff_t>(row_start[row]);
  const auto end = column.begin() + static_cast<std::ptrdiff_t>(row_start[row + 1]);
  const auto found = std::lower_bound(begin, end, wanted);
  return found != end && *found == wanted ? value[static_cast<std::size_t>(found - column.begin())] : Expr{};
}

SparseExpr jacobian(std::span<const Expr> roots, std::span<const Expr> symbols) {
  SparseExpr result;
  result.rows = roots.size();
  result.columns = symbols.size();
  ReverseSweep sweep(symbols);
  std::vector<std::pair<std::size_t, Expr>> row;
  for (const Expr& root : roots) {
    row.clear();
    sweep(root, [&](std::size_t j, Expr d) { row.emplace_back(j, d); });
    std::sort(row.begin(), row.end(), [](const auto& l, const auto& r) { return l.first < r.first; });
    for (const auto& [j, d] : row) {
      result.column.push_back(j);
      result.value.push_back(d);
    }
    result.row_start.push_back(result.column.size());
  }
  return result;
}

}  // namespace daedalus::expr
