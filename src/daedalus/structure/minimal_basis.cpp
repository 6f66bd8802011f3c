// (A - lambda E)(x_0 + lambda x_1 + ... + lambda^d x_d) = 0 is one linear system for the coefficients,
//     A x_0 = 0,  A x_k = E x_(k-1),  E x_d = 0,
// whose solutions of degree d are spanned by lambda^j times those of lower degrees, and new ones.

#include "daedalus/structure/minimal_basis.hpp"

#include "daedalus/linalg/elimination.hpp"

namespace daedalus::structure {

using linalg::BasicMatrix;

namespace {

template <class Number>
std::vector<PolynomialVector<Number>> basis(const BasicPencil<Number>& pencil, const std::vector<std::size_t>& indices,
                                            double tolerance) {
  using Matrix = BasicMatrix<Number>;
  const std::size_t m = pencil.rows(), n = pencil.columns();
  std::vector<PolynomialVector<Number>> found;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const std::size_t d = indices[k];
    if (k > 0 && indices[k - 1] == d) continue;
    Matrix system = Matrix::zero(m * (d + 2), n * (d + 1));
    for (std::size_t power = 0; power <= d; ++power) {
      system.set_block(m * power, n * power, pencil.A);
      system.set_block(m * (power + 1), n * power, Number(-1) * pencil.E);
    }
    const Matrix all = linalg::kernel(system, tolerance);
    Matrix known = Matrix::zero(n * (d + 1), 0);
    for (const PolynomialVector<Number>& one : found)
      for (std::size_t shift = 0; shift + one.rows <= d + 1; ++shift) {
        Matrix column = Matrix::zero(n * (d + 1), 1);
        for (std::size_t i = 0; i < one.rows; ++i)
          for (std::size_t j = 0; j < n; ++j) column(n * (i + shift) + j, 0) = one(i, j);
        known = linalg::joined(known, column);
      }
    for (const std::size_t column : linalg::independent_of(known, all, tolerance)) {
      PolynomialVector<Number> one = PolynomialVector<Number>::zero(d + 1, n);
      for (std::size_t i = 0; i <= d; ++i)
        for (std::size_t j = 0; j < n; ++j) one(i, j) = all(n * i + j, column);
      found.push_back(std::move(one));
    }
  }
  return found;
}

template <class Number>
BasicPencil<Number> transposed(const BasicPencil<Number>& pencil) {
  return {linalg::transposed(pencil.E), linalg::transposed(pencil.A)};
}

}  // namespace

std::vector<PolynomialVector<Rational>> right_minimal_basis(const RationalPencil& pencil,
                                                            const std::vector<std::size_t>& indices) {
  return basis(pencil, indices, 0.0);
}
std::vector<PolynomialVector<Rational>> left_minimal_basis(const RationalPencil& pencil,
                                                           const std::vector<std::size_t>& indices) {
  return basis(transposed(pencil), indices, 0.0);
}
std::vector<PolynomialVector<double>> right_minimal_basis(const Pencil& pencil, const std::vector<std::size_t>& indices,
                                                          double tolerance) {
  return basis(pencil, indices, tolerance);
}
std::vector<PolynomialVector<double>> left_minimal_basis(const Pencil& pencil, const std::vector<std::size_t>& indices,
                                                         double tolerance) {
  return basis(transposed(pencil), indices, tolerance);
}

}  // namespace daedalus::structure
