// P D A = L U, D = powers of two that bring each row's largest entry into [1, 2); right-looking, one row at a time.
// A pivot counts as zero below 4 n eps times the largest entry of its column of D A: the backward error of the
// factorization is of that size (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., theorem 9.3).
#include "daedalus/linalg/lu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "daedalus/linalg/dense_kernels.hpp"

namespace daedalus::linalg {

bool DenseLu::factor(const double* matrix) {
  const std::size_t n = n_;
  double* A = lu_.data();
  if (!all_finite(matrix, n * n)) {
    for (std::size_t k = 0; k < n * n; ++k) {
      if (!std::isfinite(matrix[k])) {
        singular_column_ = k % n;
        return false;
      }
    }
  }
  std::fill(column_size_.begin(), column_size_.end(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = matrix + i * n;
    double largest = 0.0;
    for (std::size_t j = 0; j < n; ++j) largest = std::max(largest, std::abs(row[j]));
    const double below = power_of_two_below(largest);
    double scale = below > 0.0 ? 1.0 / below : 1.0;
    if (!std::isfinite(scale)) scale = 1.0;
    row_scale_[i] = scale;
    for (std::size_t j = 0; j < n; ++j) {
      const double entry = scale * row[j];
      A[i * n + j] = entry;
      column_size_[j] = std::max(column_size_[j], std::abs(entry));
    }
  }
  const double tolerance = 4.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    double largest = std::abs(A[k * n + k]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double size = std::abs(A[i * n + k]);
      if (size > largest) {
        largest = size;
        p = i;
      }
    }
    pivot_[k] = p;
    if (!(largest > tolerance * column_size_[k])) {
      singular_column_ = k;
      return false;
    }
    if (p != k) std::swap_ranges(A + k * n, A + (k + 1) * n, A + p * n);
    const double inverse = 1.0 / A[k * n + k];
    for (std::size_t i = k + 1; i < n; ++i) {
      double* row = A + i * n;
      if (row[k] == 0.0) continue;
      const double l = row[k] * inverse;
      row[k] = l;
      add_multiple(-l, A + k * n + k + 1, row + k + 1, n - k - 1);
    }
  }
  return true;
}

Determinant DenseLu::determinant() const {
  Determinant result{1, 0.0};
  for (std::size_t k = 0; k < n_; ++k) {
    const double pivot = lu_[k * n_ + k];
    if ((pivot < 0.0) != (pivot_[k] != k)) result.sign = -result.sign;
    result.logarithm += std::log(std::abs(pivot)) - std::log(row_scale_[k]);
  }
  return result;
}

void DenseLu::solve(double* x) const {
  const std::size_t n = n_;
  const double* A = lu_.data();
  for (std::size_t i = 0; i < n; ++i) x[i] *= row_scale_[i];
  for (std::size_t k = 0; k < n; ++k) std::swap(x[k], x[pivot_[k]]);
  for (std::size_t i = 1; i < n; ++i) x[i] -= dot(A + i * n, x, i);
  for (std::size_t i = n; i-- > 0;) x[i] = (x[i] - dot(A + i * n + i + 1, x + i + 1, n - i - 1)) / A[i * n + i];
}

}  // namespace daedalus::linalg
