#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "daedalus/linalg/rational.hpp"

/// Gauss-Jordan elimination of small matrices: of fractions, where it is exact, and of doubles for display, where
/// entries of at most `tolerance` count as zero.
namespace daedalus::linalg {

inline double magnitude(double value) { return std::abs(value); }
/// The first fraction that is not zero is as good a pivot as any.
inline double magnitude(const Rational& value) { return value.sign() == 0 ? 0.0 : 1.0; }

/// left * matrix is the reduced echelon form: pivots 1, zero above and below, zero rows last.
template <class Number>
struct Echelon {
  BasicMatrix<Number> form, left;
  std::vector<std::size_t> pivots;  ///< their columns
  std::size_t rank() const { return pivots.size(); }
};

template <class Number>
Echelon<Number> echelon(const BasicMatrix<Number>& matrix, double tolerance = 0.0) {
  Echelon<Number> out{matrix, BasicMatrix<Number>::identity(matrix.rows), {}};
  for (std::size_t column = 0; column < matrix.columns && out.rank() < matrix.rows; ++column) {
    const std::size_t row = out.rank();
    std::size_t pivot = row;
    for (std::size_t i = row; i < matrix.rows; ++i)
      if (magnitude(out.form(i, column)) > magnitude(out.form(pivot, column))) pivot = i;
    if (magnitude(out.form(pivot, column)) <= tolerance) {
      for (std::size_t i = row; i < matrix.rows; ++i) out.form(i, column) = Number(0);
      continue;
    }
    const Number factor = Number(1) / out.form(pivot, column);
    for (BasicMatrix<Number>* m : {&out.form, &out.left})
      for (std::size_t j = 0; j < m->columns; ++j) {
        if (pivot != row) std::swap((*m)(pivot, j), (*m)(row, j));
        (*m)(row, j) *= factor;
      }
    for (std::size_t i = 0; i < matrix.rows; ++i) {
      const Number multiple = out.form(i, column);
      if (i == row || multiple == Number(0)) continue;
      for (BasicMatrix<Number>* m : {&out.form, &out.left})
        for (std::size_t j = 0; j < m->columns; ++j)
          if (!((*m)(row, j) == Number(0))) (*m)(i, j) -= multiple * (*m)(row, j);
      out.form(i, column) = Number(0);
    }
    out.form(row, column) = Number(1);
    out.pivots.push_back(column);
  }
  for (std::size_t i = out.rank(); i < matrix.rows; ++i)
    for (std::size_t j = 0; j < matrix.columns; ++j) out.form(i, j) = Number(0);
  return out;
}

template <class Number>
std::size_t rank(const BasicMatrix<Number>& matrix, double tolerance = 0.0) {
  return echelon(matrix, tolerance).rank();
}

/// Columns that span {x: matrix x = 0}; each has a 1 where the others have a 0.
template <class Number>
BasicMatrix<Number> kernel(const BasicMatrix<Number>& matrix, double tolerance = 0.0) {
  const Echelon<Number> e = echelon(matrix, tolerance);
  auto basis = BasicMatrix<Number>::zero(matrix.columns, matrix.columns - e.rank());
  for (std::size_t column = 0, k = 0, pivot = 0; column < matrix.columns; ++column) {
    if (pivot < e.rank() && e.pivots[pivot] == column) {
      ++pivot;
      continue;
    }
    basis(column, k) = Number(1);
    for (std::size_t i = 0; i < e.rank(); ++i) basis(e.pivots[i], k) = -e.form(i, column);
    ++k;
  }
  return basis;
}

/// Beside each other.
template <class Number>
BasicMatrix<Number> joined(const BasicMatrix<Number>& a, const BasicMatrix<Number>& b) {
  auto result = BasicMatrix<Number>::zero(a.rows, a.columns + b.columns);
  result.set_block(0, 0, a);
  result.set_block(0, a.columns, b);
  return result;
}

/// The columns with these numbers.
template <class Number>
BasicMatrix<Number> chosen(const BasicMatrix<Number>& matrix, const std::vector<std::size_t>& columns) {
  auto result = BasicMatrix<Number>::zero(matrix.rows, columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) result.set_block(0, k, matrix.block(0, columns[k], matrix.rows, 1));
  return result;
}

/// Those columns of `more`, by their numbers, that are independent of `some` and of each other, the first ones first.
template <class Number>
std::vector<std::size_t> independent_of(const BasicMatrix<Number>& some, const BasicMatrix<Number>& more,
                                        double tolerance = 0.0) {
  std::vector<std::size_t> columns;
  for (const std::size_t pivot : echelon(joined(some, more), tolerance).pivots)
    if (pivot >= some.columns) columns.push_back(pivot - some.columns);
  return columns;
}

template <class Number>
std::optional<BasicMatrix<Number>> inverse(const BasicMatrix<Number>& matrix, double tolerance = 0.0) {
  Echelon<Number> e = echelon(matrix, tolerance);
  if (!matrix.square() || e.rank() < matrix.rows) return std::nullopt;
  return std::move(e.left);
}

}  // namespace daedalus::linalg
