#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "daedalus/linalg/lapack.hpp"
#include "daedalus/structure/pencil.hpp"
#include "unit/structure/random_dae.hpp"

/// Pencils whose structure is known because it was hidden by P (A - lambda E) Q.
namespace daedalus::structure::testing {

struct KnownPencil {
  Pencil pencil;
  std::vector<std::size_t> column_minimal_indices, row_minimal_indices, nilpotent_blocks;
  std::vector<std::complex<double>> simple, multiple;  ///< finite eigenvalues
};

inline DenseMatrix random_matrix(std::size_t rows, std::size_t columns, Random& random) {
  DenseMatrix result = DenseMatrix::zero(rows, columns);
  for (double& entry : result.entries) entry = random.uniform(-1.0, 1.0);
  return result;
}

/// Random directions, singular values between 1/condition and 1.
inline DenseMatrix well_conditioned(std::size_t n, double condition, Random& random) {
  linalg::Svd svd = linalg::svd(random_matrix(n, n, random));
  for (std::size_t j = 0; j < n; ++j) {
    const double value = std::pow(condition, -random.uniform(0.0, 1.0));
    for (std::size_t i = 0; i < n; ++i) svd.U(i, j) *= value;
  }
  return svd.U * linalg::transposed(svd.V);
}

/// The direct sum of blocks.
inline Pencil direct_sum(const Pencil& a, const Pencil& b) {
  const auto join = [](const DenseMatrix& p, const DenseMatrix& q) {
    DenseMatrix result = DenseMatrix::zero(p.rows + q.rows, p.columns + q.columns);
    result.set_block(0, 0, p);
    result.set_block(p.rows, p.columns, q);
    return result;
  };
  return {join(a.E, b.E), join(a.A, b.A)};
}

inline DenseMatrix shift(std::size_t n) {
  DenseMatrix result = DenseMatrix::zero(n, n);
  for (std::size_t i = 0; i + 1 < n; ++i) result(i, i + 1) = 1.0;
  return result;
}
inline Pencil nilpotent_block(std::size_t size) { return {shift(size), DenseMatrix::identity(size)}; }
/// L_k: k rows, k + 1 columns, kernel (1, lambda, ..., lambda^k).
inline Pencil column_block(std::size_t k) {
  Pencil result{DenseMatrix::zero(k, k + 1), DenseMatrix::zero(k, k + 1)};
  for (std::size_t i = 0; i < k; ++i) result.E(i, i) = result.A(i, i + 1) = 1.0;
  return result;
}
inline Pencil row_block(std::size_t k) {
  const Pencil block = column_block(k);
  return {linalg::transposed(block.E), linalg::transposed(block.A)};
}

inline Pencil transformed(const DenseMatrix& P, const Pencil& pencil, const DenseMatrix& Q) {
  return {P * pencil.E * Q, P * pencil.A * Q};
}

/// A finite part of the given size: simple real ones, pairs, and double ones with a Jordan block.
inline Pencil finite_part(std::size_t size, Random& random, KnownPencil& known) {
  Pencil result{DenseMatrix::identity(size), DenseMatrix::zero(size, size)};
  for (std::size_t i = 0; i < size;) {
    const double real = random.uniform(-3.0, 2.0);
    const std::size_t kind = i + 1 < size ? random.below(6) : 0;
    result.A(i, i) = real;
    if (kind < 3) {
      known.simple.emplace_back(real);
      ++i;
      continue;
    }
    result.A(i + 1, i + 1) = real;
    const double imaginary = random.uniform(0.1, 4.0);
    result.A(i, i + 1) = kind == 3 ? 1.0 : imaginary;
    if (kind != 3) result.A(i + 1, i) = -imaginary;
    for (const double sign : {1.0, -1.0})
      if (kind == 3)
        known.multiple.emplace_back(real);
      else
        known.simple.emplace_back(real, sign * imaginary);
    i += 2;
  }
  return result;
}

/// A regular pencil of 5 to 30 rows with nilpotent blocks up to 5 behind transformations of a condition up to 100; both
/// matrices changed by `noise`, relative to their norm.
inline KnownPencil random_regular_pencil(std::uint64_t seed, double noise) {
  Random random(seed);
  KnownPencil known;
  const std::size_t n = 5 + random.below(26), infinite = random.below(n + 1);
  Pencil canonical = finite_part(n - infinite, random, known);
  for (std::size_t left = infinite; left > 0;) {
    const std::size_t size = 1 + random.below(std::min<std::size_t>(left, 5));
    known.nilpotent_blocks.push_back(size);
    canonical = direct_sum(canonical, nilpotent_block(size));
    left -= size;
  }
  std::sort(known.nilpotent_blocks.rbegin(), known.nilpotent_blocks.rend());
  known.pencil = transformed(well_conditioned(n, 100.0, random), canonical, well_conditioned(n, 100.0, random));
  for (DenseMatrix* m : {&known.pencil.E, &known.pencil.A}) {
    DenseMatrix change = random_matrix(n, n, random);
    *m = *m + (noise * linalg::norm(*m) / linalg::norm(change)) * change;
  }
  return known;
}

/// A harder one: simple eigenvalues of moduli between 1e-3 and 1e3, and nilpotent blocks up to 12.
inline KnownPencil random_hard_pencil(std::uint64_t seed, double noise) {
  Random random(seed);
  KnownPencil known;
  const std::size_t n = 5 + random.below(26), infinite = random.below(n + 1), finite = n - infinite;
  Pencil canonical{DenseMatrix::identity(finite), DenseMatrix::zero(finite, finite)};
  for (std::size_t i = 0; i < finite; ++i) {
    const double modulus = std::pow(10.0, random.uniform(-3.0, 3.0));
    canonical.A(i, i) = random.below(2) == 0 ? modulus : -modulus;
    known.simple.emplace_back(canonical.A(i, i));
  }
  for (std::size_t left = infinite; left > 0;) {
    const std::size_t size = 1 + random.below(std::min<std::size_t>(left, 12));
    known.nilpotent_blocks.push_back(size);
    canonical = direct_sum(canonical, nilpotent_block(size));
    left -= size;
  }
  std::sort(known.nilpotent_blocks.rbegin(), known.nilpotent_blocks.rend());
  known.pencil = transformed(well_conditioned(n, 100.0, random), canonical, well_conditioned(n, 100.0, random));
  for (DenseMatrix* m : {&known.pencil.E, &known.pencil.A}) {
    const DenseMatrix change = random_matrix(n, n, random);
    *m = *m + (noise * linalg::norm(*m) / linalg::norm(change)) * change;
  }
  return known;
}

/// A singular pencil with up to two column and row minimal indices each, nilpotent blocks and a finite part.
inline KnownPencil random_singular_pencil(std::uint64_t seed) {
  Random random(seed);
  KnownPencil known;
  Pencil canonical = finite_part(random.below(4), random, known);
  for (std::size_t k = random.below(3); k > 0; --k) {
    known.nilpotent_blocks.push_back(1 + random.below(3));
    canonical = direct_sum(canonical, nilpotent_block(known.nilpotent_blocks.back()));
  }
  const std::size_t columns = random.below(3), rows = random.below(3) + (columns == 0 ? 1 : 0);
  for (std::size_t k = 0; k < columns; ++k) {
    known.column_minimal_indices.push_back(random.below(4));
    canonical = direct_sum(canonical, column_block(known.column_minimal_indices.back()));
  }
  for (std::size_t k = 0; k < rows; ++k) {
    known.row_minimal_indices.push_back(random.below(4));
    canonical = direct_sum(canonical, row_block(known.row_minimal_indices.back()));
  }
  std::sort(known.nilpotent_blocks.rbegin(), known.nilpotent_blocks.rend());
  std::sort(known.column_minimal_indices.begin(), known.column_minimal_indices.end());
  std::sort(known.row_minimal_indices.begin(), known.row_minimal_indices.end());
  known.pencil = transformed(well_conditioned(canonical.rows(), 20.0, random), canonical,
                             well_conditioned(canonical.columns(), 20.0, random));
  return known;
}

}  // namespace daedalus::structure::testing
