#include "daedalus/linalg/block_determinants.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/base/finite.hpp"

namespace daedalus::linalg {

namespace {

/// Larger blocks are sparse.
constexpr std::size_t most_dense = 40;
/// Larger blocks are not searched for what vanishes in them.
constexpr std::size_t most_searched = 500;

/// A vector that A nearly annihilates, by inverse iteration. A is row-major, nearly singular and is spoiled.
std::vector<double> annihilated(std::vector<double>& A, std::size_t n) {
  double largest = 0.0;
  for (const double a : A) largest = std::max(largest, std::abs(a));
  DenseLu lu(n);
  // Where no pivot is left at all, a matrix nearby has the same answer.
  for (double nudge = 1e-12; !lu.factor(A.data()) && nudge < 1.0; nudge *= 100.0)
    for (std::size_t i = 0; i < n; ++i) A[i * n + i] += nudge * largest;
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = 1.0 + 0.5 * std::cos(static_cast<double>(i + 1));
  for (int iteration = 0; iteration < 4; ++iteration) {
    lu.solve(v.data());
    double most = 0.0;
    for (const double value : v) most = std::max(most, std::abs(value));
    if (!(most > 0.0) || !std::isfinite(most)) return {};
    for (double& value : v) value /= most;
  }
  return v;
}

}  // namespace

BlockDeterminants::BlockDeterminants(const Sparsity& pattern, std::vector<Block> blocks) : blocks_(std::move(blocks)) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> block_of(pattern.rows, none), row_in(pattern.rows), column_block(pattern.columns, none),
      column_in(pattern.columns);
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (std::size_t i = 0; i < blocks_[b].rows.size(); ++i) {
      block_of[blocks_[b].rows[i]] = column_block[blocks_[b].columns[i]] = b;
      row_in[blocks_[b].rows[i]] = column_in[blocks_[b].columns[i]] = i;
    }
  parts_.resize(blocks_.size());
  for (std::size_t i = 0; i < pattern.rows; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      if (const std::size_t j = pattern.column[k]; block_of[i] != none && block_of[i] == column_block[j])
        parts_[block_of[i]].entries.push_back({k, row_in[i], column_in[j]});
  std::size_t largest = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Part& part = parts_[b];
    std::ranges::stable_sort(part.entries, {}, &Entry::column);
    const std::size_t n = blocks_[b].rows.size();
    if (n == 1) continue;
    if (n <= most_dense) {
      largest = std::max(largest, n);
      part.dense = std::make_unique<DenseLu>(n);
      continue;
    }
    std::vector<int> start(n + 1, 0), row;
    for (const Entry& entry : part.entries) {
      ++start[entry.column + 1];
      row.push_back(static_cast<int>(entry.row));
    }
    for (std::size_t j = 0; j < n; ++j) start[j + 1] += start[j];
    part.sparse = std::make_unique<KluFactor>(std::move(start), std::move(row));
  }
  matrix_.resize(largest * largest);
}

Determinant BlockDeterminants::of(std::size_t which, const double* values) {
  Part& part = parts_[which];
  const std::size_t n = blocks_[which].rows.size();
  if (n == 1) {
    const double value = part.entries.empty() ? 0.0 : values[part.entries.front().source];
    if (value == 0.0 || !std::isfinite(value)) return {};
    return {value > 0.0 ? 1 : -1, std::log(std::abs(value))};
  }
  if (part.dense) {
    std::fill_n(matrix_.begin(), n * n, 0.0);
    for (const Entry& entry : part.entries) matrix_[entry.row * n + entry.column] = values[entry.source];
    return part.dense->factor(matrix_.data()) ? part.dense->determinant() : Determinant{};
  }
  double* to = part.sparse->values();
  for (const Entry& entry : part.entries) *to++ = values[entry.source];
  if (!all_finite(part.sparse->values(), part.entries.size())) return {};
  return part.sparse->refactor() || part.sparse->factor() ? part.sparse->determinant() : Determinant{};
}

BlockDeterminants::NullVectors BlockDeterminants::null_vectors(std::size_t which, const double* values) const {
  const std::size_t n = blocks_[which].rows.size();
  if (n == 1) return {{1.0}, {1.0}};
  if (n > most_searched) return {};
  std::vector<double> A(n * n, 0.0), transposed(n * n, 0.0), length(n, 0.0);
  for (const Entry& entry : parts_[which].entries) length[entry.row] = std::hypot(length[entry.row], values[entry.source]);
  for (const Entry& entry : parts_[which].entries) {
    const double value = length[entry.row] > 0.0 ? values[entry.source] / length[entry.row] : 0.0;
    A[entry.row * n + entry.column] = transposed[entry.column * n + entry.row] = value;
  }
  return {annihilated(transposed, n), annihilated(A, n)};
}

}  // namespace daedalus::linalg
