#include "daedalus/structure/kronecker.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "daedalus/structure/weierstrass.hpp"
#include "unit/structure/random_pencil.hpp"

namespace daedalus::structure {
namespace {

using testing::KnownPencil;

std::uint64_t count() { return std::getenv("DAEDALUS_LONG") != nullptr ? 1000 : 100; }

double distance_to(const std::vector<std::complex<double>>& spectrum, std::complex<double> value) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::complex<double>& one : spectrum) least = std::min(least, std::abs(one - value));
  return least;
}

TEST(Kronecker, RandomRegularPencilsAreClassifiedRight) {
  for (std::uint64_t seed = 1; seed <= count(); ++seed) {
    const KnownPencil known = testing::random_regular_pencil(seed, 0.0);
    const KroneckerStructure found = kronecker_structure(known.pencil);
    EXPECT_TRUE(found.decided) << seed;
    EXPECT_TRUE(found.regular) << seed;
    EXPECT_EQ(found.nilpotent_blocks, known.nilpotent_blocks) << seed;
    ASSERT_EQ(found.spectrum().size(), known.simple.size() + known.multiple.size()) << seed;
    // The transformations have condition 100 each: eps * 1e4 relative for simple ones, with two digits to spare its
    // root for double ones; an eigenvalue may lie close to another by chance.
    for (const auto& value : known.simple) EXPECT_LT(distance_to(found.spectrum(), value), 1e-8) << seed;
    for (const auto& value : known.multiple) EXPECT_LT(distance_to(found.spectrum(), value), 2e-5) << seed;
  }
}

TEST(Kronecker, NoiseIsNotedAndSeenThrough) {
  std::uint64_t right = 0;
  for (std::uint64_t seed = 1; seed <= count(); ++seed) {
    const KnownPencil known = testing::random_regular_pencil(seed, 1e-10);
    const KroneckerStructure found = kronecker_structure(known.pencil);
    if (!found.decided) {
      EXPECT_GT(found.gap(), 0.0);
      continue;
    }
    EXPECT_TRUE(found.regular && found.nilpotent_blocks == known.nilpotent_blocks) << seed;
    ++right;
  }
  EXPECT_GE(right, count() * 9 / 10);
  RecordProperty("right", std::to_string(right));
}

TEST(Kronecker, HardPencilsAreRightOrFlagged) {
  for (const double noise : {0.0, 1e-10}) {
    std::uint64_t decided = 0;
    for (std::uint64_t seed = 1; seed <= count(); ++seed) {
      const KnownPencil known = testing::random_hard_pencil(seed, noise);
      const KroneckerStructure found = kronecker_structure(known.pencil);
      if (!found.decided) continue;
      EXPECT_TRUE(found.regular && found.nilpotent_blocks == known.nilpotent_blocks) << seed << " noise " << noise;
      ++decided;
    }
    EXPECT_GE(decided, count() / 2);  // it does not flag everything
  }
}

TEST(Kronecker, NoiseThatGrowsFromRoundToRoundIsNotTakenForARank) {
  // A block of size 2 in which A is 2e-5: noise of 1e-12 turns the rows of the first round by 1e-12/2e-5 and shows as 5e-8 in
  // the second, far from what the first one dropped. Only without noise the size of the block is certain.
  for (std::uint64_t seed = 1; seed <= 50; ++seed)
    for (const double noise : {0.0, 1e-12}) {
      testing::Random random(seed);
      Pencil block = testing::nilpotent_block(2);
      block.A(0, 0) = 2e-5;
      Pencil finite{DenseMatrix::identity(4), DenseMatrix::zero(4, 4)};
      for (std::size_t i = 0; i < 4; ++i) finite.A(i, i) = -1.0 - static_cast<double>(i);
      const DenseMatrix P = testing::well_conditioned(6, 1.0, random), Q = testing::well_conditioned(6, 1.0, random);
      Pencil pencil = testing::transformed(P, testing::direct_sum(block, finite), Q);
      for (DenseMatrix* m : {&pencil.E, &pencil.A}) *m = *m + noise * testing::random_matrix(6, 6, random);
      const KroneckerStructure found = kronecker_structure(pencil);
      EXPECT_TRUE(found.decided || noise > 0.0) << seed;
      EXPECT_TRUE(!found.decided || found.nilpotent_blocks == std::vector<std::size_t>{2}) << seed << " noise " << noise;
    }
}

TEST(Kronecker, SingularPencilsShowTheirMinimalIndices) {
  for (std::uint64_t seed = 1; seed <= count(); ++seed) {
    const KnownPencil known = testing::random_singular_pencil(seed);
    const KroneckerStructure found = kronecker_structure(known.pencil);
    EXPECT_TRUE(found.decided) << seed;
    EXPECT_FALSE(found.regular) << seed;
    EXPECT_FALSE(found.index.has_value());
    EXPECT_EQ(found.column_minimal_indices, known.column_minimal_indices) << seed;
    EXPECT_EQ(found.row_minimal_indices, known.row_minimal_indices) << seed;
    EXPECT_EQ(found.nilpotent_blocks, known.nilpotent_blocks) << seed;
    EXPECT_EQ(found.differential_dimension, known.simple.size() + known.multiple.size()) << seed;
  }
}

TEST(Kronecker, WhatMayBeNoiseAloneIsNotTakenForALine) {
  // E = 0, or a row of zeros, and noise of 1e-10 in every entry: scaling makes it as large as all else, and every rank is full.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    testing::Random random(seed);
    const DenseMatrix P = testing::well_conditioned(6, 10.0, random), Q = testing::well_conditioned(6, 10.0, random);
    const auto noisy = [&](DenseMatrix m) { return m + 1e-10 * testing::random_matrix(m.rows, m.columns, random); };
    const KroneckerStructure algebraic = kronecker_structure({noisy(DenseMatrix::zero(6, 6)), noisy(P * Q)});
    EXPECT_FALSE(algebraic.decided) << seed;
    EXPECT_TRUE(algebraic.noise_alone) << seed;
    DenseMatrix E = DenseMatrix::zero(7, 6), A = E;
    E.set_block(0, 0, P);
    A.set_block(0, 0, Q);
    const KroneckerStructure too_many = kronecker_structure({noisy(E), noisy(A)});
    EXPECT_FALSE(too_many.decided) << seed;
    // Units do the same to a line, and say nothing against it.
    DenseMatrix small = P;
    for (std::size_t j = 0; j < 6; ++j) small(2, j) *= 1e-10;
    const KroneckerStructure clear = kronecker_structure({small, DenseMatrix::zero(6, 6)});
    EXPECT_TRUE(clear.decided && clear.regular && clear.index == 0) << seed;
  }
}

TEST(Kronecker, UnitsOfAnySizeAreUndone) {
  for (std::uint64_t seed = 1; seed <= count() / 2; ++seed) {
    KnownPencil known = testing::random_regular_pencil(seed, 0.0);
    if (known.simple.size() + known.multiple.size() == known.pencil.rows()) continue;  // an ODE with so small an E is in doubt
    testing::Random random(seed + 500);
    const auto unit = [&] { return std::pow(10.0, random.uniform(-9.0, 6.0)); };
    const double time = unit();
    known.pencil.E = time * known.pencil.E;
    for (const bool rows : {true, false})
      for (std::size_t i = 0; i < known.pencil.rows(); ++i) {
        const double factor = unit();
        for (std::size_t j = 0; j < known.pencil.rows(); ++j)
          for (DenseMatrix* m : {&known.pencil.E, &known.pencil.A}) (rows ? (*m)(i, j) : (*m)(j, i)) *= factor;
      }
    const KroneckerStructure found = kronecker_structure(known.pencil);
    EXPECT_TRUE(found.decided && found.regular) << seed;
    EXPECT_EQ(found.nilpotent_blocks, known.nilpotent_blocks) << seed;
    for (const auto& value : known.simple) EXPECT_LT(distance_to(found.spectrum(), value / time), 1e-8 / time) << seed;
  }
}

TEST(Kronecker, NoiseInTheDigitsIsSeenThroughInAnyUnits) {
  // Small entries everywhere tell that a small line is no noise of one size for all.
  std::uint64_t decided = 0;
  for (std::uint64_t seed = 1; seed <= count(); ++seed) {
    KnownPencil known = testing::random_regular_pencil(seed, 1e-10);
    testing::Random random(seed + 700);
    for (const bool rows : {true, false})
      for (std::size_t i = 0; i < known.pencil.rows(); ++i) {
        const double factor = std::pow(10.0, random.uniform(-9.0, 6.0));
        for (std::size_t j = 0; j < known.pencil.rows(); ++j)
          for (DenseMatrix* m : {&known.pencil.E, &known.pencil.A}) (rows ? (*m)(i, j) : (*m)(j, i)) *= factor;
      }
    const KroneckerStructure found = kronecker_structure(known.pencil);
    if (!found.decided) continue;
    EXPECT_TRUE(found.regular && found.nilpotent_blocks == known.nilpotent_blocks) << seed;
    ++decided;
  }
  EXPECT_GE(decided, count() * 3 / 4);
}

TEST(Kronecker, SingularPencilsWithNoiseAreRightOrFlagged) {
  std::uint64_t decided = 0;
  for (std::uint64_t seed = 1; seed <= count(); ++seed) {
    KnownPencil known = testing::random_singular_pencil(seed);
    testing::Random random(seed + 1000);
    for (DenseMatrix* m : {&known.pencil.E, &known.pencil.A})
      *m = *m + (1e-10 * linalg::norm(*m)) * testing::random_matrix(m->rows, m->columns, random);
    const KroneckerStructure found = kronecker_structure(known.pencil);
    if (!found.decided) continue;
    ++decided;
    EXPECT_EQ(found.column_minimal_indices, known.column_minimal_indices) << seed;
    EXPECT_EQ(found.row_minimal_indices, known.row_minimal_indices) << seed;
    EXPECT_EQ(found.nilpotent_blocks, known.nilpotent_blocks) << seed;
  }
  EXPECT_GE(decided, count() * 9 / 10);
}

TEST(Kronecker, ErrorsOfEigenvaluesAreBounds) {
  // Simple ones, pairs, double ones with a Jordan block, and double ones with two eigenvectors, which may fall together
  // to the last digit and still be wrong there.
  for (std::uint64_t seed = 1; seed <= count(); ++seed) {
    testing::Random random(seed);
    KnownPencil known;
    const Pencil finite = testing::finite_part(8, random, known);
    const Pencil twice{DenseMatrix::identity(2), random.uniform(-3.0, 2.0) * DenseMatrix::identity(2)};
    known.multiple.emplace_back(twice.A(0, 0));
    const Pencil whole = testing::direct_sum(testing::direct_sum(finite, twice), testing::nilpotent_block(2));
    const KroneckerStructure found = kronecker_structure(testing::transformed(
        testing::well_conditioned(12, 10.0, random), whole, testing::well_conditioned(12, 10.0, random)));
    for (const auto* list : {&known.simple, &known.multiple})
      for (const std::complex<double>& value : *list) {
        const auto nearest = std::min_element(
            found.finite.begin(), found.finite.end(),
            [&](const auto& a, const auto& b) { return std::abs(a.value - value) < std::abs(b.value - value); });
        ASSERT_NE(nearest, found.finite.end());
        EXPECT_LE(std::abs(nearest->value - value), nearest->error) << seed << " " << value.real();
      }
  }
}

TEST(Kronecker, PureCases) {
  const auto of = [](DenseMatrix E, DenseMatrix A) { return kronecker_structure({std::move(E), std::move(A)}); };
  const DenseMatrix zero = DenseMatrix::zero(3, 3), one = DenseMatrix::identity(3);
  const KroneckerStructure algebraic = of(zero, one);
  EXPECT_EQ(algebraic.index, 1);
  EXPECT_EQ(algebraic.nilpotent_blocks, (std::vector<std::size_t>{1, 1, 1}));
  const KroneckerStructure constant = of(one, zero);
  EXPECT_EQ(constant.index, 0);
  ASSERT_EQ(constant.finite.size(), 1u);
  EXPECT_EQ(constant.finite[0].multiplicity, 3u);
  EXPECT_EQ(constant.finite[0].value, 0.0);
  const KroneckerStructure nothing = of(zero, zero);
  EXPECT_FALSE(nothing.regular);
  EXPECT_EQ(nothing.column_minimal_indices, (std::vector<std::size_t>{0, 0, 0}));
  EXPECT_EQ(nothing.row_minimal_indices, (std::vector<std::size_t>{0, 0, 0}));
}

TEST(Kronecker, ValuesBetweenNoiseAndSizeAreNotDecided) {
  // Diagonal entries 1, 1e-2, ..., 1e-14: no gap of three digits anywhere.
  DenseMatrix E = DenseMatrix::zero(8, 8);
  for (std::size_t i = 0; i < 8; ++i) E(i, i) = std::pow(10.0, -2.0 * static_cast<double>(i));
  testing::Random random(7);
  const DenseMatrix U = linalg::svd(testing::random_matrix(8, 8, random)).U;
  const KroneckerStructure found = kronecker_structure({U * E * linalg::transposed(U), DenseMatrix::identity(8)});
  EXPECT_FALSE(found.decided);
  EXPECT_LT(found.gap(), 1e3);
}

TEST(Weierstrass, DecouplesAndSolves) {
  for (std::uint64_t seed = 1; seed <= count(); ++seed) {
    const KnownPencil known = testing::random_regular_pencil(seed, 0.0);
    const WeierstrassForm form = weierstrass_form(known.pencil);
    EXPECT_EQ(form.infinite + form.finite, form.n);
    // Relative to the product of absolute values: round-off of n additions, amplified by the conditions of the blocks
    // solved with, up to 1e4.
    EXPECT_LT(form.residual, 1e-11) << seed;
    DenseMatrix power = DenseMatrix::identity(form.infinite);
    for (int k = 0; k < form.index; ++k) power = power * form.N;
    EXPECT_EQ(linalg::norm(power), 0.0) << seed;
  }
}

}  // namespace
}  // namespace daedalus::structure
