#pragma once

#include <cstddef>
#include <vector>

namespace daedalus::linalg {

/// Positions of the nonzero entries of a matrix, in compressed rows; columns ascend within a row. Values live apart,
/// in the same order.
struct Sparsity {
  std::size_t rows = 0, columns = 0;
  std::vector<std::size_t> row_start{0};
  std::vector<std::size_t> column;
  std::size_t nonzeros() const { return column.size(); }
};

/// y += alpha A x
inline void multiply_add(const Sparsity& s, const double* A, double alpha, const double* x, double* y) {
  for (std::size_t i = 0; i < s.rows; ++i) {
    double sum = 0.0;
    for (std::size_t k = s.row_start[i]; k < s.row_start[i + 1]; ++k) sum += A[k] * x[s.column[k]];
    y[i] += alpha * sum;
  }
}

/// y += alpha A^T x
inline void multiply_transposed_add(const Sparsity& s, const double* A, double alpha, const double* x, double* y) {
  for (std::size_t i = 0; i < s.rows; ++i) {
    const double xi = alpha * x[i];
    for (std::size_t k = s.row_start[i]; k < s.row_start[i + 1]; ++k) y[s.column[k]] += A[k] * xi;
  }
}

}  // namespace daedalus::linalg
