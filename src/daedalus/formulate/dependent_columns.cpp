#include "daedalus/formulate/dependent_columns.hpp"

#include <algorithm>
#include <cmath>

namespace daedalus::formulate {

void DependentColumns::set_rows(std::vector<std::size_t> rows) {
  rows_ = std::move(rows);
  linalg::Sparsity part{rows_.size(), jacobian_.columns, {0}, {}};
  for (const std::size_t row : rows_) {
    for (std::size_t k = jacobian_.row_start[row]; k < jacobian_.row_start[row + 1]; ++k)
      part.column.push_back(jacobian_.column[k]);
    part.row_start.push_back(part.column.size());
  }
  const std::size_t r = rows_.size();
  columns_ = std::make_unique<linalg::BasisColumns>(part);
  lu_ = std::make_unique<linalg::DenseLu>(r);
  transposed_ = std::make_unique<linalg::DenseLu>(r);
  values_.resize(part.nonzeros());
  matrix_.resize(r * r);
  right_.resize(r);
  place_.resize(jacobian_.columns);
  dependent_.reserve(r);
  independent_.reserve(jacobian_.columns);
  dependent_.clear();
}

bool DependentColumns::choose(const double* G, const double* scale) {
  std::size_t next = 0;
  for (const std::size_t row : rows_)
    for (std::size_t k = jacobian_.row_start[row]; k < jacobian_.row_start[row + 1]; ++k) values_[next++] = G[k];
  const std::vector<std::size_t>& chosen = columns_->choose(values_.data(), scale);
  if (chosen.size() < rows_.size()) return false;
  take(chosen);
  return true;
}

void DependentColumns::take(const std::vector<std::size_t>& dependent) {
  dependent_.assign(dependent.begin(), dependent.end());
  independent_.clear();
  std::ranges::fill(place_, none);
  for (std::size_t i = 0; i < dependent_.size(); ++i) place_[dependent_[i]] = i;
  for (std::size_t j = 0; j < jacobian_.columns; ++j)
    if (place_[j] == none) independent_.push_back(j);
}

void DependentColumns::choose_as(const DependentColumns& other) {
  dependent_ = other.dependent_;
  independent_ = other.independent_;
  place_ = other.place_;
}

bool DependentColumns::factor(const double* G) {
  const std::size_t r = rows_.size();
  std::ranges::fill(matrix_, 0.0);
  for (std::size_t i = 0; i < r; ++i)
    for (std::size_t k = jacobian_.row_start[rows_[i]]; k < jacobian_.row_start[rows_[i] + 1]; ++k)
      if (const std::size_t j = place_[jacobian_.column[k]]; j != none) matrix_[i * r + j] = G[k];
  if (!lu_->factor(matrix_.data())) return false;
  for (std::size_t i = 0; i < r; ++i)
    for (std::size_t j = 0; j < i; ++j) std::swap(matrix_[i * r + j], matrix_[j * r + i]);
  return transposed_->factor(matrix_.data());
}

void DependentColumns::lead(const double* c, double* u) {
  std::copy_n(c, right_.size(), right_.begin());
  lu_->solve(right_.data());
  std::fill_n(u, jacobian_.columns, 0.0);
  for (std::size_t i = 0; i < dependent_.size(); ++i) u[dependent_[i]] = right_[i];
}

void DependentColumns::eliminate(const double* G, const double* b, double* y, double* row_factors) {
  for (std::size_t i = 0; i < dependent_.size(); ++i) right_[i] = b[dependent_[i]];
  transposed_->solve(right_.data());
  std::fill_n(row_factors, jacobian_.rows, 0.0);
  for (std::size_t i = 0; i < rows_.size(); ++i) row_factors[rows_[i]] = right_[i];
  for (std::size_t k = 0; k < independent_.size(); ++k) y[k] = b[independent_[k]];
  // `independent_` ascends, as the columns of a row do.
  for (std::size_t i = 0; i < rows_.size(); ++i)
    for (std::size_t e = jacobian_.row_start[rows_[i]]; e < jacobian_.row_start[rows_[i] + 1]; ++e) {
      const std::size_t j = jacobian_.column[e];
      if (place_[j] != none) continue;
      const auto at = std::ranges::lower_bound(independent_, j) - independent_.begin();
      y[at] -= G[e] * right_[i];
    }
}

double DependentColumns::tilt(const double* G, const double* scale) {
  double worst = 0.0;
  for (const std::size_t j : independent_) {
    bool any = false;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      right_[i] = 0.0;
      for (std::size_t e = jacobian_.row_start[rows_[i]]; e < jacobian_.row_start[rows_[i] + 1]; ++e)
        if (jacobian_.column[e] == j) right_[i] = G[e];
      any = any || right_[i] != 0.0;
    }
    if (!any) continue;
    lu_->solve(right_.data());
    for (std::size_t i = 0; i < dependent_.size(); ++i)
      worst = std::max(worst, std::abs(right_[i]) * scale[dependent_[i]] / scale[j]);
  }
  return worst;
}

}  // namespace daedalus::formulate
