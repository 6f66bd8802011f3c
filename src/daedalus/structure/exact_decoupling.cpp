// The spaces of the finite and of the infinite part are kernel and range of a power of (A - lambda_0 E)^-1 E, in fractions.
// Their bases are chosen so that numbers of 31 digits are enough from there on, however large the fractions have become.

#include <algorithm>
#include <cmath>

#include "daedalus/linalg/elimination.hpp"
#include "daedalus/linalg/matrix_parts.hpp"
#include "daedalus/structure/decoupling_parts.hpp"

namespace daedalus::structure {

namespace {

/// Other columns with the same span: an identity in as many rows, chosen so that what stands in the others is not large.
RationalMatrix tame(RationalMatrix basis) {
  std::vector<bool> used(basis.rows, false);
  for (std::size_t k = 0; k < basis.columns; ++k) {
    std::size_t row = 0, column = k;
    double largest = 0.0;
    for (std::size_t j = k; j < basis.columns; ++j) {
      // A column by itself has no size: its entries count beside each other.
      double size = 0.0, own = 0.0;
      std::size_t at = 0;
      for (std::size_t i = 0; i < basis.rows; ++i) {
        const double value = std::abs(basis(i, j).value());
        size = std::max(size, value);
        if (!used[i] && value > own) own = value, at = i;
      }
      if (size > 0.0 && own / size > largest) largest = own / size, row = at, column = j;
    }
    const Rational factor = Rational(1) / basis(row, column);
    for (std::size_t i = 0; i < basis.rows; ++i) {
      std::swap(basis(i, k), basis(i, column));
      basis(i, k) *= factor;
    }
    used[row] = true;
    for (std::size_t j = 0; j < basis.columns; ++j) {
      const Rational multiple = basis(row, j);
      if (j == k || multiple.sign() == 0) continue;
      for (std::size_t i = 0; i < basis.rows; ++i) basis(i, j) -= multiple * basis(i, k);
    }
  }
  return basis;
}

RationalMatrix shifted(const RationalMatrix& matrix, const Balance& scale, int more = 0) {
  RationalMatrix result = matrix;
  for (std::size_t i = 0; i < matrix.rows; ++i)
    for (std::size_t j = 0; j < matrix.columns; ++j)
      if (const int power = scale.row[i] + scale.column[j] + more; power != 0 && result(i, j).sign() != 0)
        result(i, j) *= Rational::exactly(std::ldexp(1.0, power));
  return result;
}

}  // namespace

std::optional<Decoupling<linalg::DoubleDouble>> decouple(const RationalPencil& pencil) {
  const Balance scale = balance_of({linalg::rounded(pencil.E), linalg::rounded(pencil.A)});
  const RationalPencil unit{shifted(pencil.E, scale, scale.time), shifted(pencil.A, scale)};
  const std::optional<ExactWeierstrass> form = exact_weierstrass(unit);
  if (!form) return std::nullopt;
  const std::size_t n = form->n, n1 = form->finite, n2 = form->infinite;
  const RationalMatrix V = tame(form->R.block(0, 0, n, n1)), W = tame(form->R.block(0, n1, n, n2));
  const RationalMatrix L = *linalg::inverse(linalg::joined(unit.E * V, unit.A * W));
  const RationalMatrix L1 = L.block(0, 0, n1, n), L2 = L.block(n1, 0, n2, n), N = L2 * (unit.E * W);
  Decoupling<linalg::DoubleDouble> out;
  out.V = linalg::extended(V);
  out.W = linalg::extended(W);
  out.L1 = linalg::extended(L1);
  out.L2 = linalg::extended(L2);
  out.J = linalg::extended(L1 * (unit.A * V));
  out.N = linalg::extended(N);
  out.index = form->index;
  std::vector<std::size_t> blocks_of_size;
  RationalMatrix power = RationalMatrix::identity(n2);
  for (std::size_t rank = n2; rank > 0;) {
    power = power * N;
    const std::size_t smaller = linalg::rank(power);
    blocks_of_size.push_back(rank - smaller);
    rank = smaller;
  }
  out.nilpotent_blocks = block_sizes(blocks_of_size);
  out.condition = linalg::row_norm(linalg::beside(out.V, out.W)) * linalg::row_norm(linalg::extended(L)) *
                  (linalg::row_norm(linalg::rounded(unit.E)) + linalg::row_norm(linalg::rounded(unit.A)));
  unscale(scale, out);
  balance_dynamics(out, 0.0);
  return out;
}

}  // namespace daedalus::structure
