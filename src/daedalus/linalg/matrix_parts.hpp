#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "daedalus/linalg/dense_matrix.hpp"

namespace daedalus::linalg {

/// Largest sum of moduli in a row.
template <class T>
double row_norm(const BasicMatrix<T>& a) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.rows; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < a.columns; ++j) sum += std::abs(double(a(i, j)));
    if (!(sum <= largest)) largest = sum;
  }
  return largest;
}

/// A with the columns of B, which has as many rows, beside its own.
template <class T>
BasicMatrix<T> beside(const BasicMatrix<T>& a, const BasicMatrix<T>& b) {
  auto result = BasicMatrix<T>::zero(a.rows, a.columns + b.columns);
  result.set_block(0, 0, a);
  result.set_block(0, a.columns, b);
  return result;
}

/// A x
template <class T>
std::vector<T> times(const BasicMatrix<T>& a, const std::vector<T>& x) {
  std::vector<T> result(a.rows, T(0.0));
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.columns; ++j) result[i] += a(i, j) * x[j];
  return result;
}

/// The largest modulus.
template <class T>
double largest_of(const std::vector<T>& x) {
  double largest = 0.0;
  for (const T& value : x)
    if (!(std::abs(double(value)) <= largest)) largest = std::abs(double(value));
  return largest;
}

/// The same matrix with other numbers.
template <class T, class From>
BasicMatrix<T> converted(const BasicMatrix<From>& a) {
  auto result = BasicMatrix<T>::zero(a.rows, a.columns);
  for (std::size_t k = 0; k < a.entries.size(); ++k) result.entries[k] = T(a.entries[k]);
  return result;
}

}  // namespace daedalus::linalg
