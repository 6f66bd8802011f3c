#include "daedalus/structure/linear_model.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/structure/signature.hpp"

namespace daedalus::structure {

using expr::Expr;
using expr::NodeId;

std::optional<LinearModel> linear_model(const model::Model& model) {
  if (model.kind != model::Kind::linear && model.kind != model::Kind::dae) return std::nullopt;
  if (std::max(model.variables.size(), model.equations.size()) > most_dense) return std::nullopt;
  const EquationSet system = equations_of(model);
  std::unordered_map<NodeId, Expr> numbers;
  for (const auto& [symbol, value] : system.parameters) numbers.emplace(symbol, system.graph->constant(value));
  std::vector<Expr> residuals, symbols;
  for (const EquationSet::Equation& equation : system.equations) residuals.push_back(equation.residual);
  residuals = expr::substitute(residuals, numbers);
  for (const EquationSet::Unknown& unknown : system.unknowns)
    symbols.insert(symbols.end(), unknown.derivatives.begin(), unknown.derivatives.end());

  // Linear with constant coefficients: no derivative by an unknown depends on time, on an unknown or on an event.
  const expr::SparseExpr jacobian = expr::jacobian(residuals, symbols);
  std::unordered_set<NodeId> moving{system.time.id()};
  for (const Expr& symbol : symbols) moving.insert(symbol.id());
  for (const auto& [symbol, value] : system.discrete) moving.insert(symbol);
  const std::vector<bool> varies = expr::dependence(jacobian.value, moving);
  if (std::find(varies.begin(), varies.end(), true) != varies.end()) return std::nullopt;

  // The derivatives that occur decide the unknowns: x, x', ... up to the one before the highest.
  std::vector<std::size_t> highest(system.unknowns.size(), 0), owner, times;
  for (std::size_t j = 0; j < system.unknowns.size(); ++j)
    for (std::size_t k = 0; k < system.unknowns[j].derivatives.size(); ++k) {
      owner.push_back(j);
      times.push_back(k);
    }
  std::vector<double> values;
  for (const Expr& entry : jacobian.value) values.push_back(expr::evaluate(entry, {}));
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!std::isfinite(values[k])) return std::nullopt;
    if (values[k] != 0.0)
      highest[owner[jacobian.column[k]]] = std::max(highest[owner[jacobian.column[k]]], times[jacobian.column[k]]);
  }
  LinearModel out;
  out.time = system.time;
  std::vector<std::size_t> first;
  for (std::size_t j = 0; j < system.unknowns.size(); ++j) out.unknowns.push_back(system.unknowns[j].name);
  for (std::size_t j = 0; j < system.unknowns.size(); ++j) {
    first.push_back(out.unknowns.size() - 1);  // der(x,k) is first + k
    for (std::size_t k = 1; k < highest[j]; ++k)
      out.unknowns.push_back(model::derivative_name(system.unknowns[j].name, k));
  }
  const auto column = [&](std::size_t j, std::size_t k) { return k == 0 ? j : first[j] + k; };
  const std::size_t own = residuals.size(), n = out.unknowns.size(), m = own + n - system.unknowns.size();
  if (std::max(m, n) > most_dense) return std::nullopt;
  out.pencil = {DenseMatrix::zero(m, n), DenseMatrix::zero(m, n)};
  for (std::size_t i = 0; i < own; ++i) {
    out.equations.push_back(system.equations[i].name);
    for (std::size_t k = jacobian.row_start[i]; k < jacobian.row_start[i + 1]; ++k) {
      const std::size_t j = owner[jacobian.column[k]], order = times[jacobian.column[k]];
      if (order > 0 && order == highest[j])
        out.pencil.E(i, column(j, order - 1)) += values[k];
      else if (values[k] != 0.0)
        out.pencil.A(i, column(j, order)) -= values[k];
    }
  }
  std::size_t row = own;
  for (std::size_t j = 0; j < system.unknowns.size(); ++j)
    for (std::size_t k = 1; k < highest[j]; ++k, ++row) {
      out.pencil.E(row, column(j, k - 1)) = 1.0;
      out.pencil.A(row, column(j, k)) = 1.0;
      out.equations.push_back(model::derivative_name(system.unknowns[j].name, k));
    }
  std::unordered_map<NodeId, Expr> nothing;
  for (const Expr& symbol : symbols) nothing.emplace(symbol.id(), system.graph->constant(0.0));
  for (const auto& [symbol, value] : system.discrete) nothing.emplace(symbol, system.graph->constant(value));
  for (const Expr& residual : residuals) out.f.push_back(-expr::substitute(residual, nothing));
  out.f.resize(m, system.graph->constant(0.0));
  return out;
}

}  // namespace daedalus::structure
