// A pivot of the Cholesky factorization of A A^T is the squared distance of its row from the span of the rows before
// it. Row by row along the elimination tree (Liu, SIAM J. Matrix Anal. Appl. 11, 1990), ordered by minimum degree.
#include "daedalus/linalg/gram.hpp"

#include <amd.h>

#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>

#include "daedalus/base/check.hpp"

namespace daedalus::linalg {

namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

Matrix gram_matrix(const Sparsity& pattern, const double* values) {
  std::vector<Eigen::Triplet<double, int>> entries;
  entries.reserve(pattern.nonzeros());
  for (std::size_t i = 0; i < pattern.rows; ++i) {
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      entries.emplace_back(static_cast<int>(i), static_cast<int>(pattern.column[k]), values[k]);
    }
  }
  Matrix A(static_cast<int>(pattern.rows), static_cast<int>(pattern.columns));
  A.setFromTriplets(entries.begin(), entries.end());
  const Matrix transposed = A.transpose();
  Matrix gram = A * transposed;
  gram.makeCompressed();
  return gram;
}

}  // namespace

GramFactors::GramFactors(const Sparsity& pattern, const double* unit_rows, double threshold)
    : order_(pattern.rows), inverse_(pattern.rows), work_(pattern.rows) {
  const Matrix S = gram_matrix(pattern, unit_rows);
  const int m = static_cast<int>(pattern.rows);
  const int* outer = S.outerIndexPtr();
  const int* inner = S.innerIndexPtr();
  const double* entry = S.valuePtr();
  const int status = amd_order(m, outer, inner, order_.data(), nullptr, nullptr);
  DAEDALUS_CHECK(status >= 0, "ordering of {} rows: status {}", m, status);
  std::vector<int> position(pattern.rows), parent(pattern.rows, -1);
  for (int k = 0; k < m; ++k) position[order_[k]] = k;

  // Columns of L below the diagonal: the rows whose path in the tree passes through them.
  std::vector<int> mark(pattern.rows, -1), count(pattern.rows, 0);
  const auto walk = [&](int k, auto&& visit) {
    mark[k] = k;
    for (int p = outer[order_[k]]; p < outer[order_[k] + 1]; ++p) {
      for (int i = position[inner[p]]; i < k && mark[i] != k; i = parent[i]) {
        if (parent[i] < 0) parent[i] = k;
        visit(i);
        mark[i] = k;
      }
    }
  };
  for (int k = 0; k < m; ++k) walk(k, [&](int i) { ++count[i]; });
  start_.assign(pattern.rows + 1, 0);
  for (int k = 0; k < m; ++k) start_[k + 1] = start_[k] + count[k];
  row_.resize(static_cast<std::size_t>(start_[m]));
  value_.resize(row_.size());

  std::vector<int> filled(start_.begin(), start_.end() - 1), path;
  std::fill(mark.begin(), mark.end(), -1);
  std::vector<double> y(pattern.rows, 0.0);
  for (int k = 0; k < m; ++k) {
    path.clear();
    walk(k, [&](int i) { path.push_back(i); });
    // Along the tree a child comes before its parents, and children have smaller numbers.
    std::sort(path.begin(), path.end());
    double d = 0.0;
    for (int p = outer[order_[k]]; p < outer[order_[k] + 1]; ++p) {
      const int i = position[inner[p]];
      if (i < k) y[i] += entry[p];
      if (i == k) d += entry[p];
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
    if (d > threshold * threshold * square) {
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
