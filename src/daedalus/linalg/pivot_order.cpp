// Threshold pivoting after Markowitz: among the entries that are at least a tenth of the largest of their column the one
// with the least (entries of its row - 1) (entries of its column - 1), which bounds what fills in (I. S. Duff, A. M. Erisman,
// J. K. Reid, Direct Methods for Sparse Matrices, 2nd ed., sections 5.3 and 7.2). Rows are compared in units of their largest
// entries.
#include "daedalus/linalg/pivot_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "daedalus/linalg/dense_kernels.hpp"

namespace daedalus::linalg {

namespace {

constexpr double threshold = 0.1;
constexpr char given = 1, filled = 2;

}  // namespace

PivotOrder::PivotOrder(const Sparsity& pattern)
    : pattern_(pattern),
      n_(pattern.rows),
      row_(n_),
      column_(n_),
      row_scale_(n_, 1.0),
      lower_start_(n_ + 1),
      upper_start_(n_ + 1),
      fill_start_(n_ + 1),
      place_(pattern.nonzeros()),
      work_(n_ * n_),
      column_size_(n_),
      there_(n_ * n_),
      in_row_(n_),
      in_column_(n_),
      at_(n_) {
  for (std::vector<Place>* places : {&lower_, &upper_, &fill_}) places->reserve(n_ * n_);
}

bool PivotOrder::choose(const double* values) {
  spread(values);
  std::iota(row_.begin(), row_.end(), 0U);
  std::iota(column_.begin(), column_.end(), 0U);
  operations_ = 0;
  for (std::size_t k = 0; k < n_; ++k) {
    find_column_sizes(k);
    if (!find_pivot(k)) return false;
    eliminate(k);
  }
  list_places();
  return true;
}

void PivotOrder::spread(const double* values) {
  std::ranges::fill(work_, 0.0);
  std::ranges::fill(there_, char{0});
  std::ranges::fill(in_row_, 0U);
  std::ranges::fill(in_column_, 0U);
  for (std::size_t i = 0; i < n_; ++i) {
    const std::size_t begin = pattern_.row_start[i], end = pattern_.row_start[i + 1];
    double largest = 0.0;
    for (std::size_t k = begin; k < end; ++k) largest = std::max(largest, std::abs(values[k]));
    const double below = power_of_two_below(largest);
    row_scale_[i] = below > 0.0 && std::isfinite(1.0 / below) ? 1.0 / below : 1.0;
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t j = pattern_.column[k];
      work_[i * n_ + j] = row_scale_[i] * values[k];
      there_[i * n_ + j] = given;
      ++in_row_[i];
      ++in_column_[j];
    }
  }
}

void PivotOrder::find_column_sizes(std::size_t k) {
  for (std::size_t j = k; j < n_; ++j) column_size_[column_[j]] = 0.0;
  for (std::size_t i = k; i < n_; ++i) {
    const double* row = work_.data() + row_[i] * n_;
    for (std::size_t j = k; j < n_; ++j) {
      double& size = column_size_[column_[j]];
      size = std::max(size, std::abs(row[column_[j]]));
    }
  }
}

/// Brings the pivot to place k. Of several that cost the same, the largest beside its column.
bool PivotOrder::find_pivot(std::size_t k) {
  std::size_t best_row = n_, best_column = n_, least = 0;
  double largest = 0.0;
  for (std::size_t i = k; i < n_; ++i) {
    const Place r = row_[i];
    for (std::size_t j = k; j < n_; ++j) {
      const Place c = column_[j];
      if (there_[r * n_ + c] == 0) continue;
      const double size = std::abs(work_[r * n_ + c]);
      if (!(size > 0.0) || size < threshold * column_size_[c]) continue;
      const std::size_t cost = std::size_t{in_row_[r] - 1} * (in_column_[c] - 1);
      if (best_row < n_ && (cost > least || (cost == least && size <= largest * column_size_[c]))) continue;
      best_row = i;
      best_column = j;
      least = cost;
      largest = size / column_size_[c];
    }
  }
  if (best_row == n_) return false;
  std::swap(row_[k], row_[best_row]);
  std::swap(column_[k], column_[best_column]);
  return true;
}

void PivotOrder::eliminate(std::size_t k) {
  const Place p = row_[k], q = column_[k];
  const double* pivot_row = work_.data() + p * n_;
  const char* there = there_.data() + p * n_;
  for (std::size_t j = k; j < n_; ++j) in_column_[column_[j]] -= there[column_[j]] != 0 ? 1 : 0;
  for (std::size_t i = k + 1; i < n_; ++i) {
    const Place r = row_[i];
    if (there_[r * n_ + q] == 0) continue;
    --in_row_[r];
    ++operations_;
    const double multiplier = work_[r * n_ + q] / pivot_row[q];
    for (std::size_t j = k + 1; j < n_; ++j) {
      const Place c = column_[j];
      if (there[c] == 0) continue;
      ++operations_;
      work_[r * n_ + c] -= multiplier * pivot_row[c];
      if (there_[r * n_ + c] != 0) continue;
      there_[r * n_ + c] = filled;
      ++in_row_[r];
      ++in_column_[c];
    }
  }
}

void PivotOrder::list_places() {
  for (std::size_t k = 0; k < n_; ++k) at_[column_[k]] = static_cast<Place>(k);
  for (std::size_t k = 0; k < place_.size(); ++k) place_[k] = at_[pattern_.column[k]];
  lower_.clear();
  upper_.clear();
  fill_.clear();
  for (std::size_t k = 0; k < n_; ++k) {
    const char* there = there_.data() + row_[k] * n_;
    lower_start_[k] = lower_.size();
    upper_start_[k] = upper_.size();
    fill_start_[k] = fill_.size();
    for (std::size_t j = 0; j < n_; ++j) {
      const char entry = there[column_[j]];
      if (entry == 0) continue;
      if (j < k) lower_.push_back(static_cast<Place>(j));
      if (j > k) upper_.push_back(static_cast<Place>(j));
      if (entry == filled) fill_.push_back(static_cast<Place>(j));
    }
  }
  lower_start_[n_] = lower_.size();
  upper_start_[n_] = upper_.size();
  fill_start_[n_] = fill_.size();
}

}  // namespace daedalus::linalg
