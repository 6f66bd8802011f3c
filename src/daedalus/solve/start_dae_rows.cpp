#include "daedalus/solve/start_dae_rows.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "daedalus/base/finite.hpp"

namespace daedalus::solve {

using structure::DaeFunctions;

namespace {

/// The size of an equation, beside what its unknowns can make of it.
constexpr double nearly_zero = 1e-14;

}  // namespace

DaeStartRows::DaeStartRows(const DaeFunctions& functions, double t, Which which)
    : fn_(functions),
      t_(t),
      n_(fn_.dimension()),
      kept_(fn_.kept.rows()),
      extra_(which == Which::all ? fn_.model->initial.size() + kept_ : 0) {
  std::vector<double> discrete;
  for (const model::Parameter& value : fn_.model->discrete) discrete.push_back(value.value);
  frozen_ = fn_.switches.free_modes(discrete);
  parts_.push_back(&fn_.function);
  if (extra_ > 0) parts_.push_back(&fn_.initial);
  for (const auto* part : parts_) {
    residual_scratch_.push_back(part->residual.make_scratch());
    jacobian_scratch_.push_back(part->jacobian.make_scratch());
    for (std::size_t i = 0; i + 1 < part->pattern.row_start.size(); ++i) {
      const std::size_t begin = part->pattern.row_start[i], end = part->pattern.row_start[i + 1];
      for (const std::size_t shift : {std::size_t{0}, n_})
        for (std::size_t k = begin; k < end; ++k) pattern_.column.push_back(part->pattern.column[k] + shift);
      pattern_.row_start.push_back(pattern_.column.size());
    }
  }
  pattern_.rows = n_ + extra_;
  pattern_.columns = 2 * n_;
}

bool DaeStartRows::residual(const double* u, double* c) {
  for (std::size_t p = 0, row = 0; p < parts_.size(); row += parts_[p]->residual.output_count(), ++p) {
    const double* inputs[] = {&t_, u, u + n_};
    parts_[p]->residual(inputs, c + row, residual_scratch_[p], frozen());
  }
  return all_finite(c, rows());
}

bool DaeStartRows::jacobian(const double* u, double* C) {
  bool finite = true;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const linalg::Sparsity& pattern = parts_[p]->pattern;
    values_.resize(parts_[p]->jacobian.output_count());
    const double* inputs[] = {&t_, u, u + n_};
    parts_[p]->jacobian(inputs, values_.data(), jacobian_scratch_[p], frozen());
    finite = finite && all_finite(values_);
    for (std::size_t i = 0; i < pattern.rows; ++i)
      for (const std::size_t shift : {std::size_t{0}, pattern.nonzeros()})
        for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) *C++ = values_[shift + k];
  }
  return finite;
}

std::vector<double> DaeStartRows::scales(const double* u) const {
  std::vector<double> result(rows(), 1.0);
  const std::size_t count = extra_ == 0 ? 0 : kept_;
  if (count == 0) return result;
  compile::StateValues values({std::shared_ptr<void>(), &fn_.kept});
  values.freeze(frozen());
  values.residuals(t_, u);
  values.jacobian(t_, u);
  const linalg::Sparsity& pattern = fn_.kept.pattern;
  for (std::size_t i = 0; i < count; ++i) {
    // Terms that vanish here, up to round-off, have no size of their own.
    double slope = 0.0;
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      slope += std::abs(values.jacobian()[k]) * std::max(std::abs(u[pattern.column[k]]), fn_.unknowns[pattern.column[k]].of->nominal);
    const double scale = values.scale()[i];
    if (scale > nearly_zero * slope && std::isfinite(scale)) result[rows() - count + i] = scale;
  }
  return result;
}

/// Name and place of a row.
std::pair<std::string, Place> DaeStartRows::binding(std::size_t i) const {
  if (i < n_) return {fn_.rows[i].name, fn_.rows[i].place};
  i -= n_;
  const auto& initial = fn_.model->initial;
  if (i < initial.size()) return {initial[i].name, initial[i].place};
  i -= initial.size();
  if (i < fn_.hidden.size()) return {fn_.hidden[i].name, fn_.hidden[i].place};
  const model::Equation& invariant = fn_.model->invariants[i - fn_.hidden.size()];
  return {invariant.name, invariant.place};
}

}  // namespace daedalus::solve
