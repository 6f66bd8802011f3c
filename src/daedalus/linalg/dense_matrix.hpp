#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace daedalus::linalg {

/// A dense matrix as a value, row-major; for algebra before a run, not for its steps. Number is double, or Rational.
template <class Number>
struct BasicMatrix {
  std::size_t rows = 0, columns = 0;
  std::vector<Number> entries = std::vector<Number>(rows * columns, Number(0));

  Number& operator()(std::size_t i, std::size_t j) { return entries[i * columns + j]; }
  const Number& operator()(std::size_t i, std::size_t j) const { return entries[i * columns + j]; }
  bool square() const { return rows == columns; }

  static BasicMatrix zero(std::size_t rows, std::size_t columns) {
    return {rows, columns, std::vector<Number>(rows * columns, Number(0))};
  }
  static BasicMatrix identity(std::size_t n) {
    BasicMatrix result = zero(n, n);
    for (std::size_t i = 0; i < n; ++i) result(i, i) = Number(1);
    return result;
  }
  /// Rows [top, top + height), columns [left, left + width).
  BasicMatrix block(std::size_t top, std::size_t left, std::size_t height, std::size_t width) const {
    BasicMatrix result = zero(height, width);
    for (std::size_t i = 0; i < height; ++i)
      for (std::size_t j = 0; j < width; ++j) result(i, j) = (*this)(top + i, left + j);
    return result;
  }
  void set_block(std::size_t top, std::size_t left, const BasicMatrix& part) {
    for (std::size_t i = 0; i < part.rows; ++i)
      for (std::size_t j = 0; j < part.columns; ++j) (*this)(top + i, left + j) = part(i, j);
  }
};

using DenseMatrix = BasicMatrix<double>;

template <class Number>
BasicMatrix<Number> operator*(const BasicMatrix<Number>& a, const BasicMatrix<Number>& b) {
  auto result = BasicMatrix<Number>::zero(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k < a.columns; ++k) {
      if (a(i, k) == Number(0)) continue;
      for (std::size_t j = 0; j < b.columns; ++j) result(i, j) += a(i, k) * b(k, j);
    }
  return result;
}
template <class Number>
BasicMatrix<Number> operator+(BasicMatrix<Number> a, const BasicMatrix<Number>& b) {
  for (std::size_t k = 0; k < a.entries.size(); ++k) a.entries[k] += b.entries[k];
  return a;
}
template <class Number>
BasicMatrix<Number> operator-(BasicMatrix<Number> a, const BasicMatrix<Number>& b) {
  for (std::size_t k = 0; k < a.entries.size(); ++k) a.entries[k] -= b.entries[k];
  return a;
}
template <class Number>
BasicMatrix<Number> operator*(const Number& factor, BasicMatrix<Number> a) {
  for (Number& entry : a.entries) entry *= factor;
  return a;
}
template <class Number>
bool operator==(const BasicMatrix<Number>& a, const BasicMatrix<Number>& b) {
  return a.rows == b.rows && a.columns == b.columns && a.entries == b.entries;
}
template <class Number>
BasicMatrix<Number> transposed(const BasicMatrix<Number>& a) {
  auto result = BasicMatrix<Number>::zero(a.columns, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.columns; ++j) result(j, i) = a(i, j);
  return result;
}

/// The Frobenius norm.
inline double norm(const DenseMatrix& a) {
  double largest = 0.0, sum = 0.0;
  for (const double entry : a.entries) largest = std::max(largest, std::abs(entry));
  if (largest == 0.0) return 0.0;
  for (const double entry : a.entries) sum += (entry / largest) * (entry / largest);
  return largest * std::sqrt(sum);
}

}  // namespace daedalus::linalg
