#include "daedalus/structure/exact_pencil.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/linalg/elimination.hpp"
#include "daedalus/linalg/rational_polynomial.hpp"

namespace daedalus::structure {

namespace {

/// Takes the kernel of E off until E has full column rank: see Staircase.
struct ExactSweep {
  std::vector<std::size_t> s, r;
  RationalPencil rest;
};

ExactSweep swept(RationalPencil p) {
  ExactSweep out;
  while (p.columns() > 0) {
    const RationalMatrix K = linalg::kernel(p.E);
    if (K.columns == 0) break;
    const RationalMatrix unit = RationalMatrix::identity(p.columns());
    const RationalMatrix others = linalg::chosen(unit, linalg::independent_of(K, unit));
    const linalg::Echelon<Rational> compressed = linalg::echelon(p.A * K);
    const std::size_t r = compressed.rank(), left = p.rows() - r;
    out.s.push_back(K.columns);
    out.r.push_back(r);
    const RationalMatrix rows = compressed.left.block(r, 0, left, p.rows());
    p = {rows * p.E * others, rows * p.A * others};
  }
  out.rest = std::move(p);
  return out;
}

std::vector<FiniteEigenvalue> eigenvalues_of(const RationalMatrix& matrix) {
  std::vector<FiniteEigenvalue> found;
  for (const linalg::Factor& factor : linalg::squarefree_factors(linalg::characteristic_polynomial(matrix)))
    for (const std::complex<double>& value : linalg::roots(factor.p))
      found.push_back({value, factor.multiplicity, 4e-16 * std::abs(value), 1.0});
  std::sort(found.begin(), found.end(), [](const FiniteEigenvalue& a, const FiniteEigenvalue& b) {
    return a.value.real() != b.value.real() ? a.value.real() < b.value.real() : a.value.imag() < b.value.imag();
  });
  return found;
}

/// Entries of seven digits and more are results that somebody has written down rounded, where most are like that and the
/// ranks show noise: as fractions they would be a pencil in which that noise counts.
bool was_rounded(const Pencil& pencil) {
  constexpr std::size_t many_digits = 7;
  constexpr double rounding = 1e-13;  // of double precision, in ranks
  std::size_t all = 0, many = 0;
  for (const DenseMatrix* m : {&pencil.E, &pencil.A})
    for (const double entry : m->entries) {
      all += entry != 0.0;
      many += entry != 0.0 && entry != std::trunc(entry) && !linalg::has_few_bits(entry) && linalg::decimal_digits(entry) >= many_digits;
    }
  return 2 * many > all && reduce(pencil).stairs.dropped > rounding;
}

}  // namespace

std::optional<RationalPencil> short_rational(const Pencil& pencil) {
  if (std::max(pencil.rows(), pencil.columns()) > most_exact) return std::nullopt;
  std::optional<RationalMatrix> E = linalg::short_rational(pencil.E), A = linalg::short_rational(pencil.A);
  if (!E || !A || was_rounded(pencil)) return std::nullopt;
  return RationalPencil{std::move(*E), std::move(*A)};
}

KroneckerStructure exact_structure(const RationalPencil& pencil) {
  Staircase stairs;  // its numbers alone
  ExactSweep right = swept(pencil);
  stairs.s = right.s;
  stairs.r = right.r;
  RationalPencil finite = std::move(right.rest);
  if (finite.rows() != finite.columns()) {
    ExactSweep left = swept({linalg::transposed(finite.E), linalg::transposed(finite.A)});
    stairs.left_s = left.s;
    stairs.left_r = left.r;
    finite = {linalg::transposed(left.rest.E), linalg::transposed(left.rest.A)};
  }
  KroneckerStructure out;
  out.exact = true;
  out.rows = pencil.rows();
  out.columns = pencil.columns();
  out.column_minimal_indices = stairs.column_minimal_indices();
  out.row_minimal_indices = stairs.row_minimal_indices();
  out.nilpotent_blocks = stairs.infinite_blocks();
  out.regular = out.column_minimal_indices.empty() && out.row_minimal_indices.empty();
  out.differential_dimension = finite.rows();
  if (out.regular) out.index = out.nilpotent_blocks.empty() ? 0 : static_cast<int>(out.nilpotent_blocks.front());
  out.finite = eigenvalues_of(*linalg::inverse(finite.E) * finite.A);
  return out;
}

KroneckerStructure structure_of(const Pencil& pencil) {
  const std::optional<RationalPencil> fractions = short_rational(pencil);
  return fractions ? exact_structure(*fractions) : kronecker_structure(pencil);
}

std::optional<Rational> regular_shift(const RationalPencil& pencil) {
  if (!pencil.E.square()) return std::nullopt;
  const long n = static_cast<long>(pencil.rows());
  for (long k = 0; k <= n; ++k) {
    const Rational shift(k % 2 == 1 ? (k + 1) / 2 : -k / 2);
    if (linalg::rank(pencil.A - shift * pencil.E) == pencil.rows()) return shift;
  }
  return std::nullopt;
}

std::optional<ExactWeierstrass> exact_weierstrass(const RationalPencil& pencil) {
  const std::optional<Rational> shift = regular_shift(pencil);
  if (!shift) return std::nullopt;
  ExactWeierstrass out;
  out.n = pencil.rows();
  out.shift = *shift;
  const RationalMatrix T0 = *linalg::inverse(pencil.A - *shift * pencil.E), M = T0 * pencil.E;
  RationalMatrix power = RationalMatrix::identity(out.n);
  std::size_t rank = out.n;
  while (true) {
    RationalMatrix next = power * M;
    const std::size_t smaller = linalg::rank(next);
    if (smaller == rank) break;
    rank = smaller;
    power = std::move(next);
    ++out.index;
  }
  out.finite = rank;
  out.infinite = out.n - rank;
  // Kernel and range of the power are invariant: T^-1 M T = [J~ 0; 0 N~].
  out.R = linalg::joined(linalg::chosen(power, linalg::echelon(power).pivots), linalg::kernel(power));
  const RationalMatrix inverse = *linalg::inverse(out.R), split = inverse * M * out.R, rows = inverse * T0;
  const std::size_t nf = out.finite, ni = out.infinite;
  const RationalMatrix finite = *linalg::inverse(split.block(0, 0, nf, nf)), nilpotent = split.block(nf, nf, ni, ni);
  const RationalMatrix infinite = *linalg::inverse(RationalMatrix::identity(ni) + *shift * nilpotent);
  out.J = finite + *shift * RationalMatrix::identity(nf);
  out.N = infinite * nilpotent;
  out.L = RationalMatrix::zero(out.n, out.n);
  out.L.set_block(0, 0, finite * rows.block(0, 0, nf, out.n));
  out.L.set_block(nf, 0, infinite * rows.block(nf, 0, ni, out.n));
  return out;
}

}  // namespace daedalus::structure
