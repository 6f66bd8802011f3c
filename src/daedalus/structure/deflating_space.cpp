#include "daedalus/structure/deflating_space.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/linalg/elimination.hpp"

namespace daedalus::structure {

using linalg::BasicMatrix;

namespace {

template <class Number>
BasicMatrix<Number> basis_of(const BasicMatrix<Number>& columns, double tolerance) {
  const linalg::Echelon<Number> e = linalg::echelon(transposed(columns), tolerance);
  return transposed(e.form.block(0, 0, e.rank(), columns.rows));
}

DenseMatrix whole(RationalMatrix basis) {
  for (std::size_t j = 0; j < basis.columns; ++j) {
    Rational factor(1);
    for (std::size_t i = 0; i < basis.rows; ++i)
      if (const Rational scaled = factor * basis(i, j); !scaled.integer()) factor *= Rational(scaled.denominator());
    for (std::size_t i = 0; i < basis.rows; ++i) basis(i, j) *= factor;
  }
  return linalg::rounded(basis);
}

}  // namespace

DeflatingSpaces deflating_spaces(const RationalPencil& pencil, const ExactWeierstrass& form) {
  const auto space = [&](const RationalMatrix& image, std::size_t first, std::size_t size) {
    const RationalMatrix columns = form.R.block(0, first, form.n, size);
    return DeflatingSpace{whole(basis_of(columns, 0.0)), whole(basis_of(image * columns, 0.0))};
  };
  return {space(pencil.E, 0, form.finite), space(pencil.A, form.finite, form.infinite)};
}

DeflatingSpaces deflating_spaces(const Pencil& pencil, const WeierstrassForm& form) {
  const auto basis = [&](const DenseMatrix& columns) {
    DenseMatrix result = basis_of(columns, 1e-8 * linalg::norm(columns));  // well above the error of the columns
    if (result.columns != columns.columns) return DenseMatrix{};
    for (std::size_t j = 0; j < result.columns; ++j) {
      double largest = 0.0;
      for (std::size_t i = 0; i < result.rows; ++i) largest = std::max(largest, std::abs(result(i, j)));
      for (std::size_t i = 0; i < result.rows; ++i)
        if (std::abs(result(i, j)) < 1e-12 * largest) result(i, j) = 0.0;
    }
    return result;
  };
  const auto space = [&](const DenseMatrix& image, std::size_t first, std::size_t size) {
    const DenseMatrix columns = form.R.block(0, first, form.n, size);
    return DeflatingSpace{basis(columns), basis(image * columns)};
  };
  return {space(pencil.E, 0, form.finite), space(pencil.A, form.finite, form.infinite)};
}

}  // namespace daedalus::structure
