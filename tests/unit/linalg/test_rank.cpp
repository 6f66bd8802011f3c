#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>

#include "daedalus/linalg/rank.hpp"
#include "daedalus/linalg/row_selection.hpp"
#include "tools.hpp"

namespace daedalus::linalg {
namespace {

using testing::append_row;
using testing::Chain;
using testing::Matrix;
using testing::Random;
using testing::sparse;
using Rows = std::vector<std::size_t>;

RankDecision rank_of(const Matrix& A) { return row_rank(A.pattern, A.values.data()); }

// Largest |c^T A| over all combinations, with rows of A of size about 1.
double combination_error(const Matrix& A, const RankDecision& decision) {
  double error = 0.0;
  for (const auto& c : decision.combinations) {
    std::vector<double> sum(A.pattern.columns);
    multiply_transposed_add(A.pattern, A.values.data(), 1.0, c.data(), sum.data());
    for (const double value : sum) error = std::max(error, std::abs(value));
  }
  return error;
}

TEST(RowRank, IsFullForRandomRows) {
  Random random(3);
  const RankDecision decision = rank_of(sparse(random.matrix(6, 9)));
  EXPECT_EQ(decision.rank, 6u);
  EXPECT_TRUE(decision.dependent_rows.empty());
  EXPECT_EQ(decision.dropped, 0.0);
  EXPECT_GT(decision.kept, 1e-3);
}

TEST(RowRank, NamesDuplicatesAndSums) {
  Random random(4);
  Eigen::MatrixXd A = random.matrix(6, 8);
  A.row(3) = -2.0 * A.row(1);
  A.row(5) = A.row(0) + 1e6 * A.row(2);
  const Matrix matrix = sparse(A);
  const RankDecision decision = rank_of(matrix);
  EXPECT_EQ(decision.rank, 4u);
  ASSERT_EQ(decision.dependent_rows, (Rows{3, 5}));
  EXPECT_LE(decision.dropped, 1e-14);
  ASSERT_EQ(decision.combinations.size(), 2u);
  const auto& first = decision.combinations[0];
  EXPECT_EQ(first[3], 1.0);
  EXPECT_NEAR(first[1], 2.0, 1e-12);
  for (const std::size_t row : {0, 2, 4, 5}) EXPECT_EQ(first[row], 0.0);
  const auto& second = decision.combinations[1];
  EXPECT_EQ(second[5], 1.0);
  EXPECT_NEAR(second[2], -1e6, 1e-6);
  EXPECT_NEAR(second[0], -1.0, 1e-6);  // 1e6 times round-off is left of it
  EXPECT_EQ(second[1], 0.0);
}

TEST(RowRank, IgnoresTheUnitsOfRows) {
  Eigen::MatrixXd A(3, 3);
  A << 1e-20, 0.0, 0.0, 0.0, 1e20, 0.0, 1.0, 1.0, 1e-9;
  EXPECT_EQ(rank_of(sparse(A)).rank, 3u);
}

TEST(RowRank, TellsSmallAnglesFromRoundOff) {
  Eigen::MatrixXd A(2, 2);
  A << 1.0, 1.0, 1.0, 1.0 + 1e-9;
  const RankDecision near = rank_of(sparse(A));
  EXPECT_EQ(near.rank, 2u);
  EXPECT_NEAR(near.kept, 0.5e-9, 0.01e-9);
  A(1, 1) = 1.0 + 1e-14;
  const RankDecision equal = rank_of(sparse(A));
  EXPECT_EQ(equal.rank, 1u);
  EXPECT_NEAR(equal.dropped, 0.5e-14, 0.1e-14);
}

TEST(RowRank, CountsZeroRowsAndSurplusRows) {
  Eigen::MatrixXd A(4, 2);
  A << 1.0, 2.0, 0.0, 0.0, 3.0, -1.0, 5.0, 7.0;
  const Matrix matrix = sparse(A);
  const RankDecision decision = rank_of(matrix);
  EXPECT_EQ(decision.rank, 2u);
  EXPECT_EQ(decision.dependent_rows, (Rows{1, 3}));
  EXPECT_LE(combination_error(matrix, decision), 1e-14);
}

TEST(RowRank, HandlesEmptyAndNonFiniteMatrices) {
  const RankDecision empty = rank_of(sparse(Eigen::MatrixXd(0, 5)));
  EXPECT_EQ(empty.rank, 0u);
  EXPECT_EQ(empty.kept, 1.0);
  EXPECT_EQ(rank_of(sparse(Eigen::MatrixXd::Zero(3, 0))).rank, 0u);
  Matrix bad = sparse(Eigen::MatrixXd::Identity(2, 2));
  bad.values[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(rank_of(bad).rank, 0u);
  EXPECT_TRUE(std::isnan(rank_of(bad).kept));
}

TEST(RowRank, FindsDependentRowsOfALargeChain) {
  Chain chain(400);
  Matrix G = chain.G;
  // Row 400: the sum of rows 10 and 300; row 401: nothing; row 402: row 7 again.
  std::vector<std::size_t> columns(G.pattern.column.begin() + static_cast<std::ptrdiff_t>(G.pattern.row_start[10]),
                                   G.pattern.column.begin() + static_cast<std::ptrdiff_t>(G.pattern.row_start[11]));
  std::vector<double> values(G.values.begin() + static_cast<std::ptrdiff_t>(G.pattern.row_start[10]),
                             G.values.begin() + static_cast<std::ptrdiff_t>(G.pattern.row_start[11]));
  for (std::size_t k = G.pattern.row_start[300]; k < chain.G.pattern.row_start[301]; ++k) {
    columns.push_back(G.pattern.column[k]);
    values.push_back(G.values[k]);
  }
  append_row(G, columns, values);
  append_row(G, {3}, {0.0});
  append_row(G, {12, 13, 14, 15}, std::vector<double>(chain.G.values.begin() + 26, chain.G.values.begin() + 30));
  ASSERT_EQ(G.pattern.row_start[7], 26u);
  // Once dense (1203 rows and columns) and once with enough empty columns for the sparse factorization.
  for (const std::size_t extra : {0, 1000}) {
    G.pattern.columns = 800 + extra;
    const RankDecision decision = rank_of(G);
    EXPECT_EQ(decision.rank, 400u);
    EXPECT_EQ(decision.dependent_rows, (Rows{400, 401, 402}));
    EXPECT_LE(decision.dropped, 1e-12);
    EXPECT_GT(decision.kept, 1e-6);
    ASSERT_EQ(decision.combinations.size(), 3u);
    EXPECT_LE(combination_error(G, decision), 1e-12);
    std::size_t involved = 0;
    for (const auto& c : decision.combinations) {
      involved += static_cast<std::size_t>(std::count_if(c.begin(), c.end(), [](double x) { return x != 0.0; }));
    }
    EXPECT_EQ(involved, 3u + 1u + 2u);
  }
}

TEST(RowRank, TellsSmallAnglesFromRoundOffInLargeMatrices) {
  // Rows 600 and 601 differ from rows 20 and 30 by angles of 1e-9 and 1e-14; row 602 lies in the span of rows 20 and
  // 600, which only the small angle shows.
  Chain chain(600);
  Matrix G = chain.G;
  const auto row = [&](std::size_t i) {
    return std::vector<double>(G.values.begin() + static_cast<std::ptrdiff_t>(G.pattern.row_start[i]),
                               G.values.begin() + static_cast<std::ptrdiff_t>(G.pattern.row_start[i + 1]));
  };
  std::vector<double> near = row(20), equal = row(30);
  near.push_back(1e-9);
  equal.push_back(1e-14);
  append_row(G, {38, 39, 40, 41, 60}, near);
  append_row(G, {58, 59, 60, 61, 70}, equal);
  const RankDecision two = rank_of(G);
  EXPECT_EQ(two.rank, 601u);
  EXPECT_EQ(two.dependent_rows.size(), 1u);
  EXPECT_NEAR(two.kept, 0.5e-9, 0.3e-9);  // rows have length sqrt(2); their neighbours share some of the 1e-9
  EXPECT_NEAR(two.dropped, 0.5e-14, 0.4e-14);
  append_row(G, {60}, {5.0});
  const RankDecision three = rank_of(G);
  EXPECT_EQ(three.rank, 601u);
  EXPECT_EQ(three.dependent_rows.size(), 2u);
  EXPECT_GT(three.kept, 1e-4);
}

/// What zeros decide and what is then decided part by part is what an orthogonal factorization of everything says.
TEST(RowRank, OfSparseMatricesIsThatOfTheirSingularValues) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::size_t rows = 60 + random() % 40, columns = 40 + random() % 60;
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
    for (Eigen::Index i = 0; i < A.rows(); ++i) {
      const std::size_t entries = random() % (seed % 4 + 2);
      for (std::size_t k = 0; k < entries; ++k)
        A(i, static_cast<Eigen::Index>(random() % columns)) = (random() % 2 == 0 ? 1.0 : -1.0) * static_cast<double>(1 + random() % 3);
      if (random() % 5 == 0 && i > 2)
        A.row(i) = 2.0 * A.row(static_cast<Eigen::Index>(random() % static_cast<std::size_t>(i))) -
                   A.row(static_cast<Eigen::Index>(random() % static_cast<std::size_t>(i)));
    }
    // Many copies beside each other: too large for the decision on full matrices.
    const Matrix small = sparse(A);
    Matrix large{{0, 0, {0}, {}}, {}};
    constexpr std::size_t copies = 30;
    for (std::size_t copy = 0; copy < copies; ++copy)
      for (std::size_t i = 0; i < small.pattern.rows; ++i) {
        for (std::size_t k = small.pattern.row_start[i]; k < small.pattern.row_start[i + 1]; ++k) {
          large.pattern.column.push_back(small.pattern.column[k] + copy * small.pattern.columns);
          large.values.push_back(small.values[k]);
        }
        large.pattern.row_start.push_back(large.pattern.column.size());
      }
    large.pattern.rows = copies * small.pattern.rows;
    large.pattern.columns = copies * small.pattern.columns;
    const auto rank = static_cast<std::size_t>(Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(A.transpose()).setThreshold(1e-10).rank());
    const RowSelection selection =
        select_rows(large.pattern, large.values.data(), rank_tolerance(large.pattern.rows, large.pattern.columns), Combinations::none);
    EXPECT_EQ(selection.independent.size(), copies * rank);
    EXPECT_EQ(selection.independent.size() + selection.dependent.size(), large.pattern.rows);
    EXPECT_TRUE(std::ranges::is_sorted(selection.dependent));
    EXPECT_GT(selection.kept, 1e-4);
    EXPECT_LT(selection.dropped, 1e-13);
    // The rows that are called independent are so.
    std::size_t of_first = 0;
    Eigen::MatrixXd kept(static_cast<Eigen::Index>(rank), A.cols());
    for (const std::size_t i : selection.independent)
      if (i < small.pattern.rows && of_first < rank) kept.row(static_cast<Eigen::Index>(of_first++)) = A.row(static_cast<Eigen::Index>(i));
    ASSERT_EQ(of_first, rank);
    EXPECT_EQ(static_cast<std::size_t>(Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(kept.transpose()).setThreshold(1e-10).rank()), rank);
  }
}

/// The balance of currents at the nodes of a circuit, by the derivatives of potentials at capacitors and by the other
/// potentials: nodes that hang together by capacitors depend on each other, and their sum is often in sums again. Rows like
/// these have pivots far above round-off, and are dependent all the same.
TEST(RowRank, OfCircuitsIsThatOfAnOrthogonalFactorization) {
  constexpr std::size_t nodes = 780;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const auto value = [&] { return 0.1 + 1.9 * static_cast<double>(random() >> 11) * 0x1p-53; };
    struct Element {
      std::size_t from, to;  // 0 is ground
      double value;
      bool capacitor;
    };
    std::vector<Element> elements;
    std::vector<bool> differentiated(nodes + 1, false);
    for (std::size_t k = 1; k <= nodes; ++k) elements.push_back({k, k - 1 - below(std::min<std::size_t>(k, 10)), value(), false});
    for (std::size_t k = 0; k < nodes / 2; ++k) {
      const std::size_t from = 1 + below(nodes), to = from - std::min(from, 1 + below(7));
      elements.push_back({from, to, value(), below(2) == 0});
      if (elements.back().capacitor) differentiated[from] = differentiated[to] = true;
    }
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(nodes, nodes);
    for (const Element& one : elements)
      for (const auto& [row, column, sign] : {std::tuple{one.from, one.from, 1.0}, {one.from, one.to, -1.0}, {one.to, one.from, -1.0}, {one.to, one.to, 1.0}})
        if (row > 0 && column > 0 && differentiated[column] == one.capacitor)
          A(static_cast<Eigen::Index>(row - 1), static_cast<Eigen::Index>(column - 1)) += sign * one.value;
    const auto rank = static_cast<std::size_t>(Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(A.transpose()).setThreshold(1e-10).rank());
    ASSERT_LT(rank, nodes);
    const RankDecision decision = rank_of(sparse(A));
    EXPECT_EQ(decision.rank, rank);
    // Coefficients below 1e-9 of the largest are left out, of some dozen entries each.
    EXPECT_LE(combination_error(sparse(A), decision), 1e-7);
  }
}

}  // namespace
}  // namespace daedalus::linalg
