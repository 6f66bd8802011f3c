#include "daedalus/structure/gauss_like.hpp"

#include <utility>

namespace daedalus::structure {

using linalg::BasicMatrix;

namespace {

/// Of fractions the first that is not zero is the pivot, of doubles the largest.
template <class Number>
Diagonalization<Number> diagonalization(BasicMatrix<Number> M, double tolerance) {
  Diagonalization<Number> out{BasicMatrix<Number>::identity(M.rows), BasicMatrix<Number>::identity(M.columns), {}, 0};
  for (std::size_t k = 0; k < M.rows && k < M.columns; ++k) {
    std::size_t p = k, q = k;
    double best = tolerance;
    for (std::size_t j = k; j < M.columns; ++j)
      for (std::size_t i = k; i < M.rows; ++i)
        if (linalg::magnitude(M(i, j)) > best) best = linalg::magnitude(M(i, j)), p = i, q = j;
    if (best <= tolerance) break;
    for (BasicMatrix<Number>* m : {&M, &out.L})
      for (std::size_t j = 0; j < m->columns && p != k; ++j) std::swap((*m)(p, j), (*m)(k, j));
    for (BasicMatrix<Number>* m : {&M, &out.U})
      for (std::size_t i = 0; i < m->rows && q != k; ++i) std::swap((*m)(i, q), (*m)(i, k));
    for (std::size_t i = k + 1; i < M.rows; ++i) {
      if (M(i, k) == Number(0)) continue;
      const Number factor = M(i, k) / M(k, k);
      for (BasicMatrix<Number>* m : {&M, &out.L})
        for (std::size_t j = 0; j < m->columns; ++j) (*m)(i, j) -= factor * (*m)(k, j);
      M(i, k) = Number(0);
    }
    for (std::size_t j = k + 1; j < M.columns; ++j) {
      if (M(k, j) == Number(0)) continue;
      const Number factor = M(k, j) / M(k, k);
      for (BasicMatrix<Number>* m : {&M, &out.U})
        for (std::size_t i = 0; i < m->rows; ++i) (*m)(i, j) -= factor * (*m)(i, k);
      M(k, j) = Number(0);
    }
    ++out.rank;
  }
  for (std::size_t i = out.rank; i < M.rows; ++i)  // what is below the tolerance
    for (std::size_t j = out.rank; j < M.columns; ++j) M(i, j) = Number(0);
  out.form = std::move(M);
  return out;
}

/// The rows of `left` times `terms`.
template <class Number>
std::vector<ForcingTerms<Number>> combined(const BasicMatrix<Number>& left,
                                           const std::vector<ForcingTerms<Number>>& terms) {
  std::vector<ForcingTerms<Number>> result;
  for (std::size_t i = 0; i < left.rows; ++i) {
    std::size_t order = 1;
    for (std::size_t k = 0; k < terms.size(); ++k)
      if (!(left(i, k) == Number(0))) order = std::max(order, terms[k].rows);
    auto sum = ForcingTerms<Number>::zero(order, terms.empty() ? 0 : terms.front().columns);
    for (std::size_t k = 0; k < terms.size(); ++k)
      for (std::size_t a = 0; a < terms[k].rows && !(left(i, k) == Number(0)); ++a)
        for (std::size_t b = 0; b < sum.columns; ++b) sum(a, b) += left(i, k) * terms[k](a, b);
    result.push_back(std::move(sum));
  }
  return result;
}

template <class Number>
ForcingTerms<Number> differentiated(const ForcingTerms<Number>& terms) {
  auto result = ForcingTerms<Number>::zero(terms.rows + 1, terms.columns);
  result.set_block(1, 0, terms);
  return result;
}

template <class Number>
GaussLikeReduction<Number> reduced(const BasicPencil<Number>& pencil, double tolerance) {
  using Matrix = BasicMatrix<Number>;
  const std::size_t m = pencil.rows(), n = pencil.columns();
  GaussLikeReduction<Number> out;
  std::vector<ForcingTerms<Number>> g;
  for (std::size_t i = 0; i < m; ++i) {
    g.push_back(ForcingTerms<Number>::zero(1, m));
    g.back()(0, i) = Number(1);
  }
  BasicPencil<Number> now = pencil;
  Matrix coordinates = Matrix::identity(n);
  while (true) {
    const Diagonalization<Number> d = diagonalization(now.E, tolerance);
    coordinates = coordinates * d.U;
    g = combined(d.L, g);
    GaussLikeStep<Number> step{now, d.L, d.U, {d.form, d.L * now.A * d.U}, d.rank, coordinates, g};
    now = step.after;
    out.steps.push_back(std::move(step));
    if (d.rank == m) break;
    const Matrix rows = now.A.block(d.rank, 0, m - d.rank, n);
    const linalg::Echelon<Number> e = linalg::echelon(rows, tolerance);
    if (e.rank() < rows.rows || out.steps.size() > std::max(m, n)) {
      out.regular = false;
      const std::vector<ForcingTerms<Number>> lower(g.begin() + static_cast<std::ptrdiff_t>(d.rank), g.end());
      out.conditions = combined(e.left.block(e.rank(), 0, rows.rows - e.rank(), rows.rows), lower);
      return out;
    }
    now.E.set_block(d.rank, 0, Number(-1) * rows);
    now.A.set_block(d.rank, 0, Matrix::zero(m - d.rank, n));
    for (std::size_t i = d.rank; i < m; ++i) g[i] = differentiated(g[i]);
  }
  if (m < n) {
    out.regular = false;
    return out;
  }
  // Lambda z' = A z + g with x = C z.
  const Matrix back = *linalg::inverse(coordinates);
  Matrix forward = coordinates;
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i) forward(i, j) = forward(i, j) / now.E(j, j);
  out.ode = forward * now.A * back;
  out.ode_forcing = combined(forward, g);
  for (const ForcingTerms<Number>& terms : out.ode_forcing)
    for (std::size_t k = 0; k < terms.rows; ++k)
      for (std::size_t i = 0; i < n; ++i)
        if (!(terms(k, i) == Number(0))) out.derivatives = std::max(out.derivatives, k);
  return out;
}

}  // namespace

Diagonalization<Rational> diagonalized(const RationalMatrix& matrix) { return diagonalization(matrix, 0.0); }

GaussLikeReduction<Rational> gauss_like_reduction(const RationalPencil& pencil) { return reduced(pencil, 0.0); }
GaussLikeReduction<double> gauss_like_reduction(const Pencil& pencil, double tolerance) {
  return reduced(pencil, tolerance);
}

}  // namespace daedalus::structure
