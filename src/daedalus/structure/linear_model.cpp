#include "daedalus/structure/linear_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/structure/signature.hpp"

namespace daedalus::structure {

using expr::Expr;
using expr::NodeId;

std::optional<SparseLinearModel> sparse_linear_model(const model::Model& model) {
  if (model.kind != model::Kind::linear && model.kind != model::Kind::dae) return std::nullopt;
  if (std::max(model.variables.size(), model.equations.size()) > most_sparse) return std::nullopt;
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
  SparseLinearModel out;
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
  out.pencil.rows = m;
  out.pencil.columns = n;
  for (std::size_t i = 0; i < own; ++i) {
    out.equations.push_back(system.equations[i].name);
    std::map<std::size_t, SparsePencil::Entry> row;
    for (std::size_t k = jacobian.row_start[i]; k < jacobian.row_start[i + 1]; ++k) {
      const std::size_t j = owner[jacobian.column[k]], order = times[jacobian.column[k]];
      if (values[k] == 0.0) continue;
      const bool rate = order > 0 && order == highest[j];
      const std::size_t at = column(j, rate ? order - 1 : order);
      SparsePencil::Entry& entry = row.try_emplace(at, SparsePencil::Entry{i, at}).first->second;
      if (rate)
        entry.E += values[k];
      else
        entry.A -= values[k];
    }
    for (const auto& [at, entry] : row) out.pencil.entries.push_back(entry);
  }
  std::size_t row = own;
  for (std::size_t j = 0; j < system.unknowns.size(); ++j)
    for (std::size_t k = 1; k < highest[j]; ++k, ++row) {
      out.pencil.entries.push_back({row, column(j, k - 1), 1.0, 0.0});
      out.pencil.entries.push_back({row, column(j, k), 0.0, 1.0});
      out.equations.push_back(model::derivative_name(system.unknowns[j].name, k));
    }
  std::unordered_map<NodeId, Expr> nothing;
  for (const Expr& symbol : symbols) nothing.emplace(symbol.id(), system.graph->constant(0.0));
  for (const auto& [symbol, value] : system.discrete) nothing.emplace(symbol, system.graph->constant(value));
  for (const Expr& residual : residuals) out.f.push_back(-expr::substitute(residual, nothing));
  out.f.resize(m, system.graph->constant(0.0));
  return out;
}

std::optional<LinearModel> linear_model(SparseLinearModel sparse) {
  const auto& [rows, columns, entries] = sparse.pencil;
  if (std::max(rows, columns) > most_dense) return std::nullopt;
  LinearModel out{{DenseMatrix::zero(rows, columns), DenseMatrix::zero(rows, columns)}, {}, {}, {}, sparse.time};
  for (const SparsePencil::Entry& entry : entries) {
    out.pencil.E(entry.row, entry.column) = entry.E;
    out.pencil.A(entry.row, entry.column) = entry.A;
  }
  out.f = std::move(sparse.f);
  out.unknowns = std::move(sparse.unknowns);
  out.equations = std::move(sparse.equations);
  return out;
}

std::optional<LinearModel> linear_model(const model::Model& model) {
  if (std::max(model.variables.size(), model.E.rows + model.equations.size()) > most_dense) return std::nullopt;
  std::optional<SparseLinearModel> sparse = sparse_linear_model(model);
  return sparse ? linear_model(std::move(*sparse)) : std::nullopt;
}

}  // namespace daedalus::structure
