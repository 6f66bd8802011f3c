#include "daedalus/linalg/block_determinants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "unit/linalg/tools.hpp"

namespace daedalus::linalg {
namespace {

using testing::Matrix;

/// A random matrix of two blocks of the given sizes with something beside them, rows and columns in any order.
struct Example {
  Eigen::MatrixXd dense;
  std::vector<BlockDeterminants::Block> blocks;
};

Example example(std::mt19937& random, std::size_t first, std::size_t second) {
  const std::size_t n = first + second;
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  std::vector<std::size_t> row(n), column(n);
  for (auto* order : {&row, &column}) {
    std::iota(order->begin(), order->end(), std::size_t{0});
    std::shuffle(order->begin(), order->end(), random);
  }
  Example result{Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n)), {}};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const bool above = i < first && j >= first;
      // Some eight entries per row of a block, and its diagonal.
      const bool kept = i == j || n < 20 || any(random) < 16.0 / static_cast<double>(n) - 1.0;
      if (!above && kept) result.dense(static_cast<Eigen::Index>(row[i]), static_cast<Eigen::Index>(column[j])) = any(random);
    }
  const auto part = [](const std::vector<std::size_t>& order, std::size_t from, std::size_t to) {
    std::vector<std::size_t> some(order.begin() + static_cast<std::ptrdiff_t>(from), order.begin() + static_cast<std::ptrdiff_t>(to));
    std::ranges::sort(some);
    return some;
  };
  result.blocks = {{part(row, 0, first), part(column, 0, first)}, {part(row, first, n), part(column, first, n)}};
  return result;
}

Eigen::MatrixXd cut(const Eigen::MatrixXd& dense, const BlockDeterminants::Block& block) {
  const auto n = static_cast<Eigen::Index>(block.rows.size());
  Eigen::MatrixXd result(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      result(i, j) = dense(static_cast<Eigen::Index>(block.rows[static_cast<std::size_t>(i)]),
                           static_cast<Eigen::Index>(block.columns[static_cast<std::size_t>(j)]));
  return result;
}

// Eigen's determinant is by full pivoting; both have the error n eps of a well-conditioned product.
TEST(BlockDeterminants, AreThoseOfTheBlocks) {
  std::mt19937 random(7);
  for (const auto& [first, second] : {std::pair<std::size_t, std::size_t>{1, 2}, {3, 4}, {1, 39}, {45, 5}, {60, 80}})
    for (int k = 0; k < 5; ++k) {
      const Example one = example(random, first, second);
      const Matrix matrix = testing::sparse(one.dense);
      BlockDeterminants determinants(matrix.pattern, one.blocks);
      // The sparse ones keep their pivots where these suit: the second look has other values.
      for (const double factor : {1.0, -0.5}) {
        std::vector<double> values = matrix.values;
        for (std::size_t i = 0; i < values.size(); i += 3) values[i] *= factor;
        const Eigen::MatrixXd now = testing::dense({matrix.pattern, values});
        for (std::size_t b = 0; b < 2; ++b) {
          const Determinant found = determinants.of(b, values.data());
          const Eigen::FullPivLU<Eigen::MatrixXd> lu(cut(now, one.blocks[b]));
          const double exact = lu.determinant();
          ASSERT_EQ(found.sign, exact > 0.0 ? 1 : -1) << first << " " << second << " block " << b;
          EXPECT_NEAR(found.logarithm, std::log(std::abs(exact)), 1e-8);
        }
      }
    }
}

TEST(BlockDeterminants, VanishWithTheBlock) {
  const Eigen::MatrixXd dense{{1.0, 2.0, 0.0}, {2.0, 4.0, 0.0}, {5.0, 6.0, 3.0}};
  const Matrix matrix = testing::sparse(dense);
  BlockDeterminants determinants(matrix.pattern, {{{0, 1}, {0, 1}}, {{2}, {2}}});
  EXPECT_EQ(determinants.of(0, matrix.values.data()).sign, 0);
  EXPECT_EQ(determinants.of(1, matrix.values.data()).sign, 1);
  // 2 row 0 - row 1 = 0, of which row 1 has twice the length; 2 column 0 - column 1 = 0.
  const auto null = determinants.null_vectors(0, matrix.values.data());
  ASSERT_EQ(null.rows.size(), 2u);
  EXPECT_NEAR(null.rows[0] / null.rows[1], -1.0, 1e-9);
  EXPECT_NEAR(null.columns[0] / null.columns[1], -2.0, 1e-9);
}

}  // namespace
}  // namespace daedalus::linalg
