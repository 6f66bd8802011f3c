#include "daedalus/compile/implicit_function.hpp"

#include <algorithm>
#include <string>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::compile {

using expr::Expr;

namespace {

/// The union of two patterns, and the entries of both on it, zeros included.
struct Merged {
  linalg::Sparsity pattern;
  std::vector<Expr> first, second;
};

Merged merge(const expr::SparseExpr& a, const expr::SparseExpr& b, Expr zero) {
  Merged out;
  out.pattern.rows = a.rows;
  out.pattern.columns = a.columns;
  for (std::size_t i = 0; i < a.rows; ++i) {
    std::size_t p = a.row_start[i], q = b.row_start[i];
    while (p < a.row_start[i + 1] || q < b.row_start[i + 1]) {
      const std::size_t none = a.columns;
      const std::size_t in_a = p < a.row_start[i + 1] ? a.column[p] : none;
      const std::size_t in_b = q < b.row_start[i + 1] ? b.column[q] : none;
      const std::size_t column = std::min(in_a, in_b);
      out.pattern.column.push_back(column);
      out.first.push_back(in_a == column ? a.value[p++] : zero);
      out.second.push_back(in_b == column ? b.value[q++] : zero);
    }
    out.pattern.row_start.push_back(out.pattern.column.size());
  }
  return out;
}

}  // namespace

ImplicitFunction compile_implicit(const ImplicitEquations& equations,
                                  const std::unordered_map<expr::NodeId, double>& numbers, Switches& switches,
                                  Request::NewSwitches new_switches) {
  ImplicitFunction out;
  expr::Graph& graph = equations.t.graph();
  std::vector<std::vector<Expr>> inputs{{equations.t}, equations.y, {}};
  for (std::size_t i = 0; i < equations.dy.size(); ++i) {
    out.differential.push_back(equations.dy[i].valid());
    // A symbol that nothing uses stands for the derivative of an algebraic unknown, so that blocks have one size.
    inputs[2].push_back(equations.dy[i].valid() ? equations.dy[i] : graph.symbol("rate.none" + std::to_string(i)));
  }

  const expr::SparseExpr by_y = expr::jacobian(equations.F, equations.y);
  const expr::SparseExpr by_dy = expr::jacobian(equations.F, inputs[2]);
  const Merged merged = merge(by_y, by_dy, graph.constant(0.0));
  out.pattern = merged.pattern;
  std::unordered_set<expr::NodeId> varying{equations.t.id()};
  for (const Expr& e : equations.y) varying.insert(e.id());
  for (const Expr& e : inputs[2]) varying.insert(e.id());
  const std::vector<bool> depends = expr::dependence(by_dy.value, varying);
  out.constant_leading = std::ranges::none_of(depends, [](bool b) { return b; });

  std::vector<Expr> jacobian = merged.first;
  jacobian.insert(jacobian.end(), merged.second.begin(), merged.second.end());
  const std::vector<Expr> by_t = expr::derivative_along(equations.F, {{equations.t.id(), graph.constant(1.0)}});
  out.autonomous = std::ranges::all_of(by_t, [](const Expr& e) { return e.is_constant(0.0); });
  const auto make = [&](const std::vector<Expr>& outputs, Request::NewSwitches added) {
    return compile({inputs, outputs, &numbers, added}, switches);
  };
  out.residual = make(equations.F, new_switches);
  // Derivatives are decided by the switches of what they are derivatives of.
  out.jacobian = make(jacobian, Request::NewSwitches::none);
  out.time_derivative = make(by_t, Request::NewSwitches::none);
  return out;
}

}  // namespace daedalus::compile
