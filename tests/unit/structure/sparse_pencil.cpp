#include "daedalus/structure/sparse_pencil.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "daedalus/structure/sparse_staircase.hpp"
#include "unit/structure/random_pencil.hpp"

namespace daedalus::structure {
namespace {

using Sizes = std::vector<std::size_t>;

SparsePencil sparse(const Pencil& pencil) {
  SparsePencil out{pencil.rows(), pencil.columns(), {}};
  for (std::size_t i = 0; i < pencil.rows(); ++i)
    for (std::size_t j = 0; j < pencil.columns(); ++j)
      if (pencil.E(i, j) != 0.0 || pencil.A(i, j) != 0.0) out.entries.push_back({i, j, pencil.E(i, j), pencil.A(i, j)});
  return out;
}

/// A ladder: a node per capacitor, a current per resistor; `closed` adds a source across the first node, index 2.
SparsePencil ladder(std::size_t stages, bool source, double resistance = 2.0) {
  SparsePencil out{2 * stages + (source ? 1 : 0), 2 * stages + (source ? 1 : 0), {}};
  const auto v = [](std::size_t k) { return k; };
  const auto i = [&](std::size_t k) { return stages + k; };
  for (std::size_t k = 0; k < stages; ++k) {
    out.entries.push_back({k, v(k), 1.0, 0.0});
    out.entries.push_back({k, i(k), 0.0, 1.0});
    if (k + 1 < stages) out.entries.push_back({k, i(k + 1), 0.0, -1.0});
    out.entries.push_back({stages + k, i(k), 0.0, resistance});
    out.entries.push_back({stages + k, v(k), 0.0, 1.0});
    if (k > 0) out.entries.push_back({stages + k, v(k - 1), 0.0, -1.0});
  }
  if (source) {
    out.entries.push_back({0, 2 * stages, 0.0, 1.0});
    out.entries.push_back({2 * stages, v(0), 0.0, 1.0});
  }
  return out;
}

TEST(SparsePencil, SaysWhatTheDensePencilSays) {
  // Eliminations leave at most what a dense reduction then sees; rows and columns come in any order.
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    testing::Random random(seed);
    testing::KnownPencil known;
    Pencil canonical = testing::finite_part(random.below(5), random, known);
    for (std::size_t k = 2 + random.below(5); k > 0; --k) {
      known.nilpotent_blocks.push_back(1 + random.below(random.below(2) == 0 ? 1 : 3));
      canonical = testing::direct_sum(canonical, testing::nilpotent_block(known.nilpotent_blocks.back()));
    }
    if (seed % 3 == 0) canonical = testing::direct_sum(testing::direct_sum(canonical, testing::column_block(seed % 2)), testing::row_block(1));
    std::sort(known.nilpotent_blocks.rbegin(), known.nilpotent_blocks.rend());
    // A few rows added to others and columns to others: not many new entries, the same structure.
    const std::size_t m = canonical.rows(), n = canonical.columns();
    for (int k = 0; k < 8; ++k) {
      const std::size_t a = random.below(m), b = random.below(m), c = random.below(n), d = random.below(n);
      const double factor = random.uniform(0.5, 2.0);
      for (DenseMatrix* M : {&canonical.E, &canonical.A}) {
        for (std::size_t j = 0; a != b && j < n; ++j) (*M)(a, j) += factor * (*M)(b, j);
        for (std::size_t i = 0; c != d && i < m; ++i) (*M)(i, c) -= factor * (*M)(i, d);
      }
    }
    const auto found = sparse_structure(sparse(canonical), 400);
    ASSERT_TRUE(found) << seed;
    EXPECT_EQ(found->regular, seed % 3 != 0) << seed;
    EXPECT_EQ(found->nilpotent_blocks, known.nilpotent_blocks) << seed;
    EXPECT_EQ(found->differential_dimension, known.simple.size() + known.multiple.size()) << seed;
    EXPECT_EQ(found->column_minimal_indices, seed % 3 == 0 ? Sizes{seed % 2} : Sizes{}) << seed;
  }
}

TEST(SparsePencil, AnOdeRemainsOfALadder) {
  for (const double resistance : {2.0, 0.02, 1e-4, 1e4}) {  // whatever the units
    const auto found = sparse_structure(ladder(700, false, resistance), 400);
    ASSERT_TRUE(found) << resistance;
    EXPECT_TRUE(found->regular && found->decided);
    EXPECT_EQ(found->index, 1);
    EXPECT_EQ(found->eliminated, 700u);
    EXPECT_EQ(found->nilpotent_blocks, Sizes(700, 1));
    EXPECT_EQ(found->differential_dimension, 700u);
    EXPECT_FALSE(found->spectrum_known);
  }
}

TEST(SparsePencil, ADenseRestTellsTheRest) {
  // A source fixes the first voltage, whose current is its derivative: one block of size 2.
  const auto found = sparse_structure(ladder(300, true), 400);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->index, 2);
  EXPECT_EQ(found->nilpotent_blocks.front(), 2u);
  EXPECT_EQ(std::accumulate(found->nilpotent_blocks.begin(), found->nilpotent_blocks.end(), std::size_t{0}) + found->differential_dimension, 601u);
  EXPECT_EQ(found->spectrum().size(), 299u);
}

TEST(SparsePencil, AStaircaseTellsTheRestThatIsLarge) {
  const auto found = sparse_structure(ladder(700, true), 400);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->regular && found->decided);
  EXPECT_EQ(found->index, 2);
  EXPECT_EQ(found->nilpotent_blocks[0], 2u);
  EXPECT_EQ(found->nilpotent_blocks[1], 1u);
  EXPECT_EQ(found->differential_dimension, 699u);
  EXPECT_FALSE(found->spectrum_known);
}

TEST(SparsePencil, TheStaircaseSaysWhatTheDenseOneSays) {
  // Nothing is small enough to be judged densely but the parts of E, some of which have a kernel along no single unknown.
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    testing::Random random(seed);
    testing::KnownPencil known;
    Pencil canonical = testing::finite_part(3 + random.below(5), random, known);
    for (std::size_t k = 2 + random.below(5); k > 0; --k) {
      known.nilpotent_blocks.push_back(1 + random.below(4));
      canonical = testing::direct_sum(canonical, testing::nilpotent_block(known.nilpotent_blocks.back()));
    }
    std::sort(known.nilpotent_blocks.rbegin(), known.nilpotent_blocks.rend());
    const std::size_t n = canonical.rows();
    for (int k = 0; k < 8; ++k) {
      const std::size_t a = random.below(n), b = random.below(n), c = random.below(n), d = random.below(n);
      const double factor = std::ldexp(1.0, static_cast<int>(random.below(3)) - 1);  // what cancels is zero
      for (DenseMatrix* M : {&canonical.E, &canonical.A}) {
        for (std::size_t j = 0; a != b && j < n; ++j) (*M)(a, j) += factor * (*M)(b, j);
        for (std::size_t i = 0; c != d && i < n; ++i) (*M)(i, c) -= factor * (*M)(i, d);
      }
    }
    const auto found = sparse_staircase(sparse(canonical), n);
    ASSERT_TRUE(found) << seed;
    EXPECT_EQ(found->blocks(), known.nilpotent_blocks) << seed;
    EXPECT_EQ(found->rest.rows, known.simple.size() + known.multiple.size()) << seed;
  }
}

TEST(SparsePencil, ASingularPencilHasNoStaircaseOfThisKind) {
  const SparsePencil pencil = sparse(testing::direct_sum(testing::column_block(1), testing::row_block(1)));
  EXPECT_FALSE(sparse_staircase(pencil, 10));
}

}  // namespace
}  // namespace daedalus::structure
