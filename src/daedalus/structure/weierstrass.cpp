#include "daedalus/structure/weierstrass.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/base/check.hpp"
#include "daedalus/linalg/lapack.hpp"
#include "daedalus/linalg/lu.hpp"

namespace daedalus::structure {

namespace {

double condition_of(const DenseMatrix& a) {
  const std::vector<double> values = linalg::singular_values(a);
  return values.empty() ? 1.0 : values.front() / values.back();
}

/// a^-1 b for an upper triangular or general regular a.
DenseMatrix solved(const DenseMatrix& a, const DenseMatrix& b) {
  linalg::DenseLu lu(a.rows);
  DAEDALUS_CHECK(lu.factor(a.entries.data()), "a block of rank {} is singular", a.rows);
  DenseMatrix columns = linalg::transposed(b);
  for (std::size_t j = 0; j < b.columns; ++j) lu.solve(columns.entries.data() + j * b.rows);
  return linalg::transposed(columns);
}

/// Largest entry of |a b c - d|, relative to the largest of |a| |b| |c|.
double misfit(const DenseMatrix& a, const DenseMatrix& b, const DenseMatrix& c, const DenseMatrix& d) {
  const auto absolute = [](DenseMatrix m) {
    for (double& entry : m.entries) entry = std::abs(entry);
    return m;
  };
  const DenseMatrix difference = a * b * c - d, terms = absolute(a) * absolute(b) * absolute(c);
  double largest = 0.0, size = 0.0;
  for (const double entry : difference.entries) largest = std::max(largest, std::abs(entry));
  for (const double entry : terms.entries) size = std::max(size, entry);
  return size > 0.0 ? largest / size : largest;
}

}  // namespace

WeierstrassForm weierstrass_form(const Pencil& pencil, const Reduction& reduction) {
  const Staircase& stairs = reduction.stairs;
  DAEDALUS_CHECK(stairs.regular(), "a singular pencil has no Weierstrass form");
  const std::size_t n = pencil.rows(), nf = stairs.finite, ni = n - nf;
  const DenseMatrix &E = stairs.form.E, &A = stairs.form.A;
  // [A_i - lambda E_i, A_c - lambda E_c; 0, A_f - lambda E_f]: A_i is upper triangular, E_i strictly so.
  const DenseMatrix Ei = E.block(0, 0, ni, ni), Ai = A.block(0, 0, ni, ni), Ec = E.block(0, ni, ni, nf),
                    Ac = A.block(0, ni, ni, nf), Ef = E.block(ni, ni, nf, nf), Af = A.block(ni, ni, nf, nf);

  // Rows and columns of the finite part in Schur form, (Af, Ef) = P (S, T) U^T. X and Y with
  //     Ai X - Y S = -Ac U,  Ei X - Y T = -Ec U
  // make [I -Y; 0 I] (...) [I X; 0 I] block diagonal.
  const linalg::GeneralizedSchur schur = linalg::generalized_schur(Af, Ef);
  const DenseMatrix U = nf > 0 ? schur.Z : DenseMatrix::zero(0, 0), P = nf > 0 ? schur.Q : DenseMatrix::zero(0, 0);
  const linalg::SylvesterPair pair =
      linalg::generalized_sylvester(Ai, schur.S, -1.0 * (Ac * U), Ei, schur.T, -1.0 * (Ec * U));
  DAEDALUS_CHECK(schur.converged && pair.solved, "finite and infinite part do not separate");

  // Back in the unknowns of the scaled pencil, the finite part first: bases of the two right deflating subspaces,
  // Z [X; U] and Z [I; 0], and rows of the left ones, [0 P^T] Q^T and [I -Y P^T] Q^T.
  DenseMatrix right = DenseMatrix::zero(n, n), left = DenseMatrix::zero(n, n);
  DenseMatrix finite_columns = DenseMatrix::zero(n, nf);
  finite_columns.set_block(0, 0, pair.X);
  finite_columns.set_block(ni, 0, U);
  const linalg::Svd orthonormal = linalg::svd(finite_columns);
  right.set_block(0, 0, orthonormal.U.block(0, 0, n, nf));
  for (std::size_t i = 0; i < ni; ++i) right(i, nf + i) = 1.0;
  right = stairs.Z * right;
  const DenseMatrix Pt = linalg::transposed(P);
  left.set_block(0, ni, Pt);
  for (std::size_t i = 0; i < ni; ++i) left(nf + i, i) = 1.0;
  left.set_block(nf, ni, -1.0 * (pair.Y * Pt));
  left = left * linalg::transposed(stairs.Q);

  // Undo the scaling, then make E the identity on the finite part and A on the other.
  WeierstrassForm out;
  out.n = n;
  out.finite = nf;
  out.infinite = ni;
  const std::vector<std::size_t> blocks = stairs.infinite_blocks();
  out.index = blocks.empty() ? 0 : static_cast<int>(blocks.front());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      right(i, j) *= reduction.scaling.column[i];
      left(i, j) *= reduction.scaling.row[j];
    }
  const DenseMatrix lower = left.block(nf, 0, ni, n), upper = left.block(0, 0, nf, n);
  const DenseMatrix finite_right = right.block(0, 0, n, nf), infinite_right = right.block(0, nf, n, ni);
  const DenseMatrix top = solved(upper * pencil.E * finite_right, upper);
  const DenseMatrix bottom = solved(lower * pencil.A * infinite_right, lower);
  out.R = std::move(right);
  out.L = DenseMatrix::zero(n, n);
  out.L.set_block(0, 0, top);
  out.L.set_block(nf, 0, bottom);
  out.J = top * pencil.A * finite_right;
  out.N = bottom * pencil.E * infinite_right;
  // N is strictly upper block triangular on the steps of the staircase; what stands elsewhere is noise.
  for (std::size_t step = 0, begin = 0; step < stairs.s.size(); begin += stairs.s[step++])
    for (std::size_t i = begin; i < ni; ++i)
      for (std::size_t j = begin; j < begin + stairs.s[step]; ++j) out.N(i, j) = 0.0;

  DenseMatrix e = DenseMatrix::identity(n), a = DenseMatrix::identity(n);
  e.set_block(nf, nf, out.N);
  a.set_block(0, 0, out.J);
  out.residual = std::max(misfit(out.L, pencil.E, out.R, e), misfit(out.L, pencil.A, out.R, a));
  out.condition_L = condition_of(out.L);
  out.condition_R = condition_of(out.R);
  return out;
}

WeierstrassForm weierstrass_form(const Pencil& pencil) { return weierstrass_form(pencil, reduce(pencil)); }

}  // namespace daedalus::structure
