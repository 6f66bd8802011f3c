// Gaussian elimination on rows of equal length. The pivot is the largest entry of a row whose largest is at least half the
// largest of all (complete pivoting up to that factor), and among such rows of one with the fewest entries, which keeps
// the rest sparse. With G = L [U_D U_I], L and U_D triangular, entries of U_D^-1 U_I = G_D^-1 G_I stay of moderate size
// (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 9.4; "basic solutions" of
// G. W. Stewart, Matrix Algorithms I, section 3.4).
#include "daedalus/linalg/basis_columns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace daedalus::linalg {

namespace {
constexpr double pivot_fraction = 0.5;
/// What elimination leaves of rows that depend on others.
constexpr double nothing = 1e-13;
/// Rows of matrices up to this size get room for all columns at once.
constexpr std::size_t small = 10'000;
}  // namespace

BasisColumns::BasisColumns(const Sparsity& pattern) : pattern_(pattern), rows_(pattern.rows) {
  if (pattern.rows * pattern.columns <= small) {
    for (Row& row : rows_) row.entries.reserve(pattern.columns);
    merged_.reserve(pattern.columns);
  }
  left_.reserve(pattern.rows);
  chosen_.reserve(pattern.rows);
}

void BasisColumns::find_largest(Row& row) {
  row.largest = 0.0;
  for (std::size_t k = 0; k < row.entries.size(); ++k) {
    if (std::abs(row.entries[k].second) > row.largest) {
      row.largest = std::abs(row.entries[k].second);
      row.pivot = k;
    }
  }
}

void BasisColumns::eliminate(const Row& pivot, std::size_t at, Row& row) {
  const std::size_t column = row.entries[at].first;
  const double factor = row.entries[at].second / pivot.entries[pivot.pivot].second;
  merged_.clear();
  auto a = row.entries.begin();
  auto b = pivot.entries.begin();
  while (a != row.entries.end() || b != pivot.entries.end()) {
    const bool from_a = b == pivot.entries.end() || (a != row.entries.end() && a->first <= b->first);
    const bool from_b = a == row.entries.end() || (b != pivot.entries.end() && b->first <= a->first);
    const std::size_t j = from_a ? a->first : b->first;
    const double value = (from_a ? a->second : 0.0) - (from_b ? factor * b->second : 0.0);
    if (j != column) merged_.emplace_back(j, value);
    if (from_a) ++a;
    if (from_b) ++b;
  }
  row.entries.swap(merged_);
  find_largest(row);
}

const std::vector<std::size_t>& BasisColumns::choose(const double* values, const double* column_scale) {
  chosen_.clear();
  left_.resize(pattern_.rows);
  std::iota(left_.begin(), left_.end(), std::size_t{0});
  for (std::size_t i = 0; i < pattern_.rows; ++i) {
    Row& row = rows_[i];
    row.entries.clear();
    double length = 0.0;
    for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k) {
      const double value = values[k] / column_scale[pattern_.column[k]];
      row.entries.emplace_back(pattern_.column[k], value);
      length = std::hypot(length, value);
    }
    if (length > 0.0)
      for (Entry& entry : row.entries) entry.second /= length;
    find_largest(row);
  }
  while (!left_.empty()) {
    double largest = 0.0;
    for (const std::size_t i : left_) largest = std::max(largest, rows_[i].largest);
    if (!(largest > nothing)) break;
    std::size_t best = left_.size();
    for (std::size_t k = 0; k < left_.size(); ++k) {
      const Row& row = rows_[left_[k]];
      if (row.largest < pivot_fraction * largest) continue;
      if (best == left_.size() || row.entries.size() < rows_[left_[best]].entries.size()) best = k;
    }
    const Row& pivot = rows_[left_[best]];
    const std::size_t column = pivot.entries[pivot.pivot].first;
    chosen_.push_back(column);
    left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(best));
    for (const std::size_t i : left_) {
      Row& row = rows_[i];
      const auto found = std::lower_bound(row.entries.begin(), row.entries.end(), column,
                                          [](const Entry& entry, std::size_t j) { return entry.first < j; });
      if (found != row.entries.end() && found->first == column)
        eliminate(pivot, static_cast<std::size_t>(found - row.entries.begin()), row);
    }
  }
  std::ranges::sort(chosen_);
  return chosen_;
}

}  // namespace daedalus::linalg
