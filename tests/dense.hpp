#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "daedalus/linalg/lu.hpp"

/// Small dense matrices, for formulas as textbooks print them.
namespace daedalus::tests {

struct Matrix {
  std::size_t rows, columns;
  std::vector<double> entries = std::vector<double>(rows * columns);
  double& operator()(std::size_t i, std::size_t j) { return entries[i * columns + j]; }
  double operator()(std::size_t i, std::size_t j) const { return entries[i * columns + j]; }
};

inline Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix result{a.rows, b.columns};
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k < a.columns; ++k)
      for (std::size_t j = 0; j < b.columns; ++j) result(i, j) += a(i, k) * b(k, j);
  return result;
}
inline Matrix operator+(Matrix a, const Matrix& b) {
  for (std::size_t i = 0; i < a.entries.size(); ++i) a.entries[i] += b.entries[i];
  return a;
}
inline Matrix operator-(Matrix a, const Matrix& b) {
  for (std::size_t i = 0; i < a.entries.size(); ++i) a.entries[i] -= b.entries[i];
  return a;
}
inline Matrix transposed(const Matrix& a) {
  Matrix result{a.columns, a.rows};
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.columns; ++j) result(j, i) = a(i, j);
  return result;
}
/// A^-1 b
inline Matrix solved(const Matrix& a, const Matrix& b) {
  linalg::DenseLu lu(a.rows);
  EXPECT_TRUE(lu.factor(a.entries.data()));
  const Matrix columns = transposed(b);
  Matrix result{b.columns, b.rows, columns.entries};
  for (std::size_t j = 0; j < b.columns; ++j) lu.solve(&result.entries[j * b.rows]);
  return transposed(result);
}
/// The rows [from, to).
inline Matrix part(const Matrix& a, std::size_t from, std::size_t to) {
  const auto begin = a.entries.begin();
  return {to - from,
          a.columns,
          {begin + static_cast<std::ptrdiff_t>(from * a.columns), begin + static_cast<std::ptrdiff_t>(to * a.columns)}};
}
/// The least solution of a x = b for a of full row rank.
inline Matrix least_solution(const Matrix& a, const Matrix& b) { return transposed(a) * solved(a * transposed(a), b); }
/// The least-squares solution of a x = b for a of full column rank.
inline Matrix least_squares(const Matrix& a, const Matrix& b) { return solved(transposed(a) * a, transposed(a) * b); }
/// An orthonormal basis of the kernel: unit vectors without their parts in the range of a^T and in the basis so far.
inline Matrix kernel(const Matrix& a) {
  std::vector<std::vector<double>> basis;
  for (std::size_t k = 0; k < a.columns && basis.size() + a.rows < a.columns; ++k) {
    Matrix e{a.columns, 1};
    e(k, 0) = 1.0;
    for (int twice = 0; twice < 2; ++twice) {
      e = e - least_solution(a, a * e);
      for (const std::vector<double>& v : basis) {
        double product = 0.0;
        for (std::size_t i = 0; i < a.columns; ++i) product += v[i] * e(i, 0);
        for (std::size_t i = 0; i < a.columns; ++i) e(i, 0) -= product * v[i];
      }
    }
    double length = 0.0;
    for (const double x : e.entries) length += x * x;
    if (length < 1e-4) continue;
    for (double& x : e.entries) x /= std::sqrt(length);
    basis.push_back(e.entries);
  }
  Matrix result{a.columns, basis.size()};
  for (std::size_t j = 0; j < basis.size(); ++j)
    for (std::size_t i = 0; i < a.columns; ++i) result(i, j) = basis[j][i];
  return result;
}

/// The ssf-generalized solution of A_1 x = a_1, A_2 x = a_2 as (27) of 001 defines it.
inline Matrix ssf_solution(const Matrix& A1, const Matrix& A2, const Matrix& a1, const Matrix& a2) {
  const Matrix V = kernel(A2), particular = least_solution(A2, a2);
  return particular + V * solved(transposed(V) * A1 * V, transposed(V) * (a1 - A1 * particular));
}

}  // namespace daedalus::tests
