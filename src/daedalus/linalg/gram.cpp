// A pivot of the Cholesky factorization of A A^T is the squared distance of its row from the span of the rows before
// it, as long as the smallest eigenvalue of their part of A A^T is far above round-off; inverse iteration finds what pivots
// do not tell (Foster and Davis, Algorithm 933, ACM TOMS 40, 2013). Row by row along the elimination tree (Liu, SIAM J.
// Matrix Anal. Appl. 11, 1990), ordered by minimum degree.
#include "daedalus/linalg/gram.hpp"

#include <amd.h>

#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "daedalus/base/check.hpp"
#include "daedalus/linalg/dense_kernels.hpp"

namespace daedalus::linalg {

namespace {

/// Smallest eigenvalue of A A^T with which its factors still tell distances: its inverse times round-off is the error of
/// their squares.
constexpr double sound = 1e-12;
constexpr int iterations = 4;

}  // namespace

struct GramFactors::Matrix {
  Eigen::SparseMatrix<double, Eigen::RowMajor, int> gram;

  Matrix(const Sparsity& pattern, const double* values) {
    std::vector<Eigen::Triplet<double, int>> entries;
    entries.reserve(pattern.nonzeros());
    for (std::size_t i = 0; i < pattern.rows; ++i) {
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
        entries.emplace_back(static_cast<int>(i), static_cast<int>(pattern.column[k]), values[k]);
      }
    }
    Eigen::SparseMatrix<double, Eigen::RowMajor, int> A(static_cast<int>(pattern.rows), static_cast<int>(pattern.columns));
    A.setFromTriplets(entries.begin(), entries.end());
    const Eigen::SparseMatrix<double, Eigen::RowMajor, int> transposed = A.transpose();
    gram = A * transposed;
    gram.makeCompressed();
  }

  int size() const { return static_cast<int>(gram.rows()); }
  const int* outer() const { return gram.outerIndexPtr(); }
  const int* inner() const { return gram.innerIndexPtr(); }
  const double* entry() const { return gram.valuePtr(); }
};

/// The columns of L in which row k has entries: paths of the elimination tree.
template <class Visit>
void GramFactors::walk(const Matrix& S, int k, Visit visit) {
  mark_[k] = k;
  for (int p = S.outer()[order_[k]]; p < S.outer()[order_[k] + 1]; ++p) {
    for (int i = position_[S.inner()[p]]; i < k && mark_[i] != k; i = parent_[i]) {
      if (parent_[i] < 0) parent_[i] = k;
      visit(i);
      mark_[i] = k;
    }
  }
}

void GramFactors::analyze(const Matrix& S) {
  const int m = S.size();
  const int status = amd_order(m, S.outer(), S.inner(), order_.data(), nullptr, nullptr);
  DAEDALUS_CHECK(status >= 0, "ordering of {} rows: status {}", m, status);
  for (int k = 0; k < m; ++k) position_[order_[k]] = k;
  std::vector<int> count(order_.size(), 0);
  for (int k = 0; k < m; ++k) walk(S, k, [&](int i) { ++count[i]; });
  for (int k = 0; k < m; ++k) start_[k + 1] = start_[k] + count[k];
  row_.resize(static_cast<std::size_t>(start_[m]));
  value_.resize(row_.size());
}

void GramFactors::factor(const Matrix& S, double threshold) {
  weak_.clear();
  smallest_ = 1.0;
  std::vector<int> filled(start_.begin(), start_.end() - 1), path;
  std::fill(mark_.begin(), mark_.end(), -1);
  std::vector<double> y(order_.size(), 0.0);
  for (int k = 0; k < S.size(); ++k) {
    path.clear();
    walk(S, k, [&](int i) { path.push_back(i); });
    // Along the tree a child comes before its parents, and children have smaller numbers.
    std::sort(path.begin(), path.end());
    double d = 0.0;
    for (int p = S.outer()[order_[k]]; p < S.outer()[order_[k] + 1]; ++p) {
      const int i = position_[S.inner()[p]];
      if (i < k) y[i] += S.entry()[p];
      if (i == k) d += S.entry()[p];
    }
    const double square = d;
    for (const int i : path) {
      const double yi = y[i];
      y[i] = 0.0;
      for (int p = start_[i]; p < filled[i]; ++p) y[row_[p]] -= value_[p] * yi;
      const double l = yi * inverse_[i];
      d -= l * yi;
      row_[filled[i]] = k;
      value_[filled[i]++] = l;
    }
    if (d > threshold * threshold * square && !left_out_[order_[k]]) {
      inverse_[k] = 1.0 / d;
      smallest_ = std::min(smallest_, std::sqrt(d / square));
      continue;
    }
    for (const int i : path) value_[filled[i] - 1] = 0.0;
    inverse_[k] = 0.0;
    weak_.push_back(static_cast<std::size_t>(order_[k]));
  }
  std::sort(weak_.begin(), weak_.end());
}

// Inverse iteration. Rows that depend on many others, each of which adds little, leave pivots far above round-off: their
// combination is what A A^T makes smallest, and the row with the largest part in it follows from the others.
std::size_t GramFactors::superfluous() {
  const std::size_t m = order_.size();
  std::vector<double> v(m, 0.0);
  std::uint64_t state = 0x9E3779B97F4A7C15ULL;
  for (std::size_t k = 0; k < m; ++k) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    if (inverse_[k] != 0.0) v[static_cast<std::size_t>(order_[k])] = static_cast<double>(state >> 11) * 0x1p-52 - 1.0;
  }
  double growth = 0.0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const double length = std::sqrt(dot(v.data(), v.data(), m));
    if (length == 0.0) return m;
    for (double& value : v) value /= length;
    solve(v.data());
    growth = std::sqrt(dot(v.data(), v.data(), m));
  }
  if (growth * sound < 1.0) return m;
  const auto larger = [](double a, double b) { return std::abs(a) < std::abs(b); };
  return static_cast<std::size_t>(std::ranges::max_element(v, larger) - v.begin());
}

GramFactors::GramFactors(const Sparsity& pattern, const double* unit_rows, double threshold)
    : order_(pattern.rows),
      position_(pattern.rows),
      parent_(pattern.rows, -1),
      mark_(pattern.rows, -1),
      start_(pattern.rows + 1, 0),
      inverse_(pattern.rows),
      work_(pattern.rows),
      left_out_(pattern.rows, 0) {
  const Matrix S(pattern, unit_rows);
  analyze(S);
  factor(S, threshold);
  for (std::size_t row = superfluous(); row < pattern.rows; row = superfluous()) {
    left_out_[row] = 1;
    factor(S, threshold);
  }
}

void GramFactors::solve(double* b) {
  const int m = static_cast<int>(order_.size());
  for (int k = 0; k < m; ++k) work_[k] = b[order_[k]];
  for (int k = 0; k < m; ++k) {
    if (inverse_[k] == 0.0) continue;
    for (int p = start_[k]; p < start_[k + 1]; ++p) work_[row_[p]] -= value_[p] * work_[k];
  }
  for (int k = m; k-- > 0;) {
    double sum = work_[k] * inverse_[k];
    if (inverse_[k] != 0.0) {
      for (int p = start_[k]; p < start_[k + 1]; ++p) sum -= value_[p] * work_[row_[p]];
    }
    work_[k] = sum;
  }
  for (int k = 0; k < m; ++k) b[order_[k]] = work_[k];
}

}  // namespace daedalus::linalg
