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
    std::vector<std::size_t>& taken = taken_.emplace_back();
    for (std::size_t i = 0; i < part->pattern.rows; ++i) {
      for (const bool rate : {false, true})
        for (std::size_t k = part->pattern.row_start[i]; k < part->pattern.row_start[i + 1]; ++k) {
          const std::size_t unknown = part->pattern.column[k];
          if (rate && !contains_rate(pattern_.row_start.size() - 1, unknown)) continue;
          pattern_.column.push_back(unknown + (rate ? n_ : 0));
          taken.push_back(k + (rate ? part->pattern.nonzeros() : 0));
        }
      pattern_.row_start.push_back(pattern_.column.size());
    }
  }
  pattern_.rows = n_ + extra_;
  pattern_.columns = 2 * n_;
}

/// What holds between t and y alone says nothing of y': which values can be kept is a question of where unknowns stand.
bool DaeStartRows::contains_rate(std::size_t row, std::size_t unknown) const {
  if (row >= n_) return row_initial(row);
  const auto begin = fn_.solved.column.begin();
  return unknown < fn_.differential &&
         std::ranges::binary_search(begin + static_cast<std::ptrdiff_t>(fn_.solved.row_start[row]),
                                    begin + static_cast<std::ptrdiff_t>(fn_.solved.row_start[row + 1]), unknown);
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
    values_.resize(parts_[p]->jacobian.output_count());
    const double* inputs[] = {&t_, u, u + n_};
    parts_[p]->jacobian(inputs, values_.data(), jacobian_scratch_[p], frozen());
    finite = finite && all_finite(values_);
    for (const std::size_t at : taken_[p]) *C++ = values_[at];
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
