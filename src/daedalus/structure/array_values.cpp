#include "daedalus/structure/array_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/check.hpp"
#include "daedalus/base/finite.hpp"

namespace daedalus::structure {

namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

/// The largest entry of every row of a matrix with columns times s.
std::vector<double> row_sizes(const linalg::Sparsity& pattern, const double* values, const std::vector<double>& s) {
  std::vector<double> size(pattern.rows, 0.0);
  for (std::size_t i = 0; i < pattern.rows; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      size[i] = std::max(size[i], std::abs(values[k]) * s[pattern.column[k]]);
  return size;
}

}  // namespace

TaylorScale taylor_scale(const DerivativeArray& array, double t, const double* jets, const double* frozen) {
  const std::size_t n = array.dimension();
  TaylorScale result;
  for (std::size_t i = 0; i < n; ++i) {
    const double size = std::max(std::abs(jets[i]), array.functions().unknowns[i].of->nominal);
    result.s.push_back(std::isfinite(size) && size > 0.0 ? size : 1.0);
  }
  const compile::Function& function = array.level(0).function;
  compile::Function::Scratch scratch = function.make_scratch();
  std::vector<double> values(function.output_count());
  const double* inputs[] = {&t, jets};
  function(inputs, values.data(), scratch, frozen);
  const std::vector<double> by_y = row_sizes(array.by_y(), values.data() + n, result.s);
  const std::vector<double> by_dy = row_sizes(array.by_dy(), values.data() + n + array.by_y().nonzeros(), result.s);
  double sum = 0.0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double ratio = std::log(by_dy[i] / by_y[i]);
    if (!std::isfinite(ratio)) continue;
    sum += ratio;
    ++count;
  }
  if (count > 0) result.h = std::exp(sum / static_cast<double>(count));
  return result;
}

ArrayValues::ArrayValues(std::shared_ptr<const DerivativeArray> array, std::size_t levels, TaylorScale scale)
    : array_(std::move(array)), levels_(levels), n_(array_->dimension()), scale_(std::move(scale)), by_column_(n_) {
  DAEDALUS_CHECK(levels_ > 0 && levels_ <= array_->levels(), "{} of {} levels", levels_, array_->levels());
  const linalg::Sparsity &by_y = array_->by_y(), &by_dy = array_->by_dy();
  for (std::size_t i = 0; i < n_; ++i) {
    std::size_t p = by_y.row_start[i], q = by_dy.row_start[i];
    while (p < by_y.row_start[i + 1] || q < by_dy.row_start[i + 1]) {
      const std::size_t in_y = p < by_y.row_start[i + 1] ? by_y.column[p] : n_;
      const std::size_t in_dy = q < by_dy.row_start[i + 1] ? by_dy.column[q] : n_;
      const std::size_t column = std::min(in_y, in_dy);
      by_column_[column].push_back({i, in_y == column ? p++ : none, in_dy == column ? q++ : none});
    }
  }
  jets_.resize(columns());
  E_.resize(rows());
  double factor = 1.0;
  for (std::size_t k = 0; k <= levels_; ++k) {
    factor_.push_back(factor);
    factor *= scale_.h / static_cast<double>(k + 1);
    if (k == levels_) break;
    values_.emplace_back(array_->level(k).function.output_count());
    scratch_.push_back(array_->level(k).function.make_scratch());
  }
}

void ArrayValues::to_taylor(const double* jets, double* u) const {
  for (std::size_t j = 0; j <= levels_; ++j)
    for (std::size_t i = 0; i < n_; ++i) u[j * n_ + i] = jets[j * n_ + i] * factor_[j] / scale_.s[i];
}

void ArrayValues::to_jets(const double* u, double* jets) const {
  for (std::size_t j = 0; j <= levels_; ++j)
    for (std::size_t i = 0; i < n_; ++i) jets[j * n_ + i] = u[j * n_ + i] / factor_[j] * scale_.s[i];
}

bool ArrayValues::evaluate(double t, const double* u) {
  to_jets(u, jets_.data());
  const double* inputs[] = {&t, jets_.data()};
  bool finite = true;
  for (std::size_t k = 0; k < levels_; ++k) {
    std::vector<double>& values = values_[k];
    array_->level(k).function(inputs, values.data(), scratch_[k], frozen_);
    for (double& value : values) value *= factor_[k];
    finite = finite && all_finite(values);
    std::copy_n(values.begin(), n_, E_.begin() + static_cast<std::ptrdiff_t>(k * n_));
  }
  return finite;
}

double ArrayValues::entry(std::size_t k, std::size_t j, std::size_t i, std::size_t in_y, std::size_t in_dy) const {
  double value = 0.0;
  if (k >= j && in_y != none) value += values_[k - j][n_ + in_y];
  if (j > 0 && in_dy != none)
    value += static_cast<double>(j) / scale_.h * values_[k + 1 - j][n_ + array_->by_y().nonzeros() + in_dy];
  return value * scale_.s[i];
}

void ArrayValues::column(std::size_t j, std::size_t i, double* out) const {
  std::fill_n(out, rows(), 0.0);
  for (std::size_t k = j > 0 ? j - 1 : 0; k < levels_; ++k)
    for (const Entry& e : by_column_[i]) out[k * n_ + e.row] = entry(k, j, i, e.in_y, e.in_dy);
}

linalg::Sparsity ArrayValues::pattern() const {
  std::vector<std::vector<std::size_t>> by_row(n_);
  for (std::size_t i = 0; i < n_; ++i)
    for (const Entry& e : by_column_[i]) by_row[e.row].push_back(i);
  linalg::Sparsity pattern;
  pattern.rows = rows();
  pattern.columns = columns();
  for (std::size_t k = 0; k < levels_; ++k)
    for (std::size_t r = 0; r < n_; ++r) {
      for (std::size_t j = 0; j <= k + 1; ++j)
        for (const std::size_t i : by_row[r]) pattern.column.push_back(j * n_ + i);
      pattern.row_start.push_back(pattern.column.size());
    }
  return pattern;
}

void ArrayValues::values(double* out) const {
  // In the order of pattern(): the entries of a row of F ascend by column, since by_column_ is walked column by column.
  std::vector<std::vector<std::pair<std::size_t, Entry>>> by_row(n_);
  for (std::size_t i = 0; i < n_; ++i)
    for (const Entry& e : by_column_[i]) by_row[e.row].emplace_back(i, e);
  for (std::size_t k = 0; k < levels_; ++k)
    for (std::size_t r = 0; r < n_; ++r)
      for (std::size_t j = 0; j <= k + 1; ++j)
        for (const auto& [i, e] : by_row[r]) *out++ = entry(k, j, i, e.in_y, e.in_dy);
}

}  // namespace daedalus::structure
