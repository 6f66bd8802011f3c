#include "daedalus/formulate/invariants.hpp"

#include <algorithm>

namespace daedalus::formulate {

namespace {

std::vector<std::string> names_of(const model::Model& model) {
  std::vector<std::string> names;
  for (const model::Equation& invariant : model.invariants) names.push_back(invariant.name);
  return names;
}

}  // namespace

std::string Kept::name(std::size_t row) const {
  const std::size_t i = row - before();
  return i < hidden.size() ? "hidden constraint '" + hidden[i] + "'" : "invariant '" + invariants[i - hidden.size()] + "'";
}

Kept kept_by(const std::shared_ptr<const structure::DaeFunctions>& functions) {
  if (functions->kept.rows() == 0) return {};
  Kept kept{{functions, &functions->kept}, {}, {}, names_of(*functions->model)};
  for (std::size_t i = 0; i < functions->differential; ++i) kept.nominal.push_back(functions->unknowns[i].of->nominal);
  for (const structure::DaeFunctions::Row& row : functions->hidden) kept.hidden.push_back(row.name);
  return kept;
}

Kept kept_by(const std::shared_ptr<const mechanics::Functions>& functions) {
  const model::Model& model = *functions->equations.model;
  if (model.invariants.empty()) return {};
  Kept kept{{functions, &functions->kept}, {}, {}, names_of(model)};
  for (int positions_then_velocities = 0; positions_then_velocities < 2; ++positions_then_velocities)
    for (const model::Unknown& variable : model.variables) kept.nominal.push_back(variable.nominal);
  for (const std::size_t i : functions->differential) kept.nominal.push_back(model.auxiliary[i].nominal);
  return kept;
}

Kept kept_by(const Equations& equations) {
  return equations.motion ? kept_by(equations.motion) : kept_by(equations.dae);
}

linalg::Sparsity diagonal_pattern(std::size_t n) {
  linalg::Sparsity pattern{n, n, {0}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    pattern.column.push_back(i);
    pattern.row_start.push_back(i + 1);
  }
  return pattern;
}

InvariantWatch::InvariantWatch(const Kept& kept) : names_(kept.invariants) {
  if (kept.equations) values_.emplace(kept.equations);
}

void InvariantWatch::name(Observation::Level& level) const {
  for (const std::string& name : names_) level.columns.push_back("residual." + name);
  level.residual.resize(names_.size());
  level.scale.resize(names_.size());
}

void InvariantWatch::look(double t, const double* x, Observation::Level& level) {
  if (!values_) return;
  values_->residuals(t, x);
  const auto count = static_cast<std::ptrdiff_t>(names_.size());
  std::copy(values_->residual().end() - count, values_->residual().end(), level.residual.begin());
  std::copy(values_->scale().end() - count, values_->scale().end(), level.scale.begin());
}

}  // namespace daedalus::formulate
