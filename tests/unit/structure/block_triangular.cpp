// Largest matchings, the coarse decomposition and the blocks against their definitions, on all that is small enough.
#include "daedalus/structure/block_triangular.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "unit/structure/patterns.hpp"

namespace daedalus::structure {
namespace {

/// Size of a largest matching by trying everything, without one row and one column (`unmatched`: all are there).
std::size_t largest(const Dense& sigma, std::size_t columns, std::size_t no_row, std::size_t no_column) {
  std::function<std::size_t(std::size_t, unsigned)> best = [&](std::size_t i, unsigned used) -> std::size_t {
    if (i == sigma.size()) return 0;
    std::size_t result = best(i + 1, used);
    for (std::size_t j = 0; j < columns && i != no_row; ++j)
      if (sigma[i][j] >= 0 && j != no_column && (used >> j & 1u) == 0)
        result = std::max(result, 1 + best(i + 1, used | 1u << j));
    return result;
  };
  return best(0, 0);
}

bool contains(const std::vector<std::size_t>& all, std::size_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// An equation is in the overdetermined part where some largest matching does without it, so that leaving it out makes
/// none smaller; an unknown is in the underdetermined part likewise.
TEST(BlockTriangular, CoarsePartsByTheirDefinition) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 600; ++trial) {
    const std::size_t rows = 1 + random() % 6, columns = 1 + random() % 6;
    const Dense sigma = random_signature(random, rows, columns, 1.6, 0);
    const linalg::Sparsity pattern = signature(sigma, columns).pattern;
    const Matching matching = maximum_matching(pattern);
    const std::size_t size = largest(sigma, columns, unmatched, unmatched);
    ASSERT_EQ(matching.size, size);
    const CoarseParts parts = coarse_parts(pattern, matching);
    for (std::size_t i = 0; i < rows; ++i) {
      EXPECT_EQ(contains(parts.over.rows, i), largest(sigma, columns, i, unmatched) == size);
      bool near = false;
      for (const std::size_t j : parts.under.columns) near = near || sigma[i][j] >= 0;
      EXPECT_EQ(contains(parts.under.rows, i), near);
    }
    for (std::size_t j = 0; j < columns; ++j) {
      EXPECT_EQ(contains(parts.under.columns, j), largest(sigma, columns, unmatched, j) == size);
      bool near = false;
      for (const std::size_t i : parts.over.rows) near = near || sigma[i][j] >= 0;
      EXPECT_EQ(contains(parts.over.columns, j), near);
    }
    EXPECT_EQ(parts.over.rows.size() + parts.under.rows.size() + parts.well.rows.size(), rows);
    EXPECT_EQ(parts.over.columns.size() + parts.under.columns.size() + parts.well.columns.size(), columns);
    EXPECT_EQ(parts.well.rows.size(), parts.well.columns.size());
  }
}

/// Two rows are in one block where each needs the other, over any number of steps; blocks need earlier ones only.
TEST(BlockTriangular, BlocksByTheirDefinition) {
  std::mt19937 random(5);
  int regular = 0, loops = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::size_t n = 1 + random() % 9;
    const Dense sigma = random_signature(random, n, n, 1.8, 0);
    const linalg::Sparsity pattern = signature(sigma).pattern;
    const Matching matching = maximum_matching(pattern);
    if (!matching.perfect()) continue;
    ++regular;
    std::vector<std::vector<bool>> needs(n, std::vector<bool>(n, false));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k) needs[i][k] = i == k || sigma[i][matching.column_of[k]] >= 0;
    for (std::size_t m = 0; m < n; ++m)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k)
          if (needs[i][m] && needs[m][k]) needs[i][k] = true;
    const std::vector<Part> blocks = solution_order(pattern, matching);
    std::vector<std::size_t> block_of(n, unmatched), block_of_column(n, unmatched);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      loops += blocks[b].rows.size() > 1 ? 1 : 0;
      for (const std::size_t i : blocks[b].rows) block_of[i] = b;
      for (const std::size_t j : blocks[b].columns) block_of_column[j] = b;
    }
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_NE(block_of[i], unmatched);
      EXPECT_EQ(block_of[i], block_of_column[matching.column_of[i]]);
      for (std::size_t k = 0; k < n; ++k) EXPECT_EQ(block_of[i] == block_of[k], needs[i][k] && needs[k][i]);
      for (std::size_t j = 0; j < n; ++j) EXPECT_TRUE(sigma[i][j] < 0 || block_of_column[j] <= block_of[i]);
    }
  }
  EXPECT_GT(regular, 200);
  EXPECT_GT(loops, 100);
}

/// A search that recursed would overflow the stack here.
TEST(BlockTriangular, LongLoopAndLongChain) {
  const std::size_t n = 200000;
  linalg::Sparsity loop{n, n, {0}, {}}, chain = loop;
  for (std::size_t i = 0; i < n; ++i) {
    if (i + 1 < n) loop.column.push_back(i);
    loop.column.push_back(i + 1 < n ? i + 1 : 0);
    if (i + 1 == n) loop.column.push_back(i);
    loop.row_start.push_back(loop.column.size());
    chain.column.push_back(i);
    if (i + 1 < n) chain.column.push_back(i + 1);
    chain.row_start.push_back(chain.column.size());
  }
  EXPECT_EQ(solution_order(loop, maximum_matching(loop)).size(), 1u);
  const std::vector<Part> blocks = solution_order(chain, maximum_matching(chain));
  ASSERT_EQ(blocks.size(), n);
  EXPECT_EQ(blocks.front().rows.front(), n - 1);
}

TEST(BlockTriangular, TransposedTwiceIsTheSame) {
  std::mt19937 random(6);
  const linalg::Sparsity pattern = signature(random_signature(random, 7, 4, 2.0, 0), 4).pattern;
  const linalg::Sparsity again = transposed(transposed(pattern));
  EXPECT_EQ(again.row_start, pattern.row_start);
  EXPECT_EQ(again.column, pattern.column);
}

}  // namespace
}  // namespace daedalus::structure
