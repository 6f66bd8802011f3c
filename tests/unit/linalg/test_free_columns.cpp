#include <gtest/gtest.h>

#include <algorithm>
#include <eigen3/Eigen/Dense>
#include <random>

#include "daedalus/linalg/free_columns.hpp"
#include "tools.hpp"

namespace daedalus::linalg {
namespace {

using testing::sparse;

/// Whether the columns outside the set have the rank of C: the definition.
bool others_follow(const Eigen::MatrixXd& C, const std::vector<bool>& in_set) {
  std::vector<Eigen::Index> others;
  for (Eigen::Index j = 0; j < C.cols(); ++j)
    if (!in_set[static_cast<std::size_t>(j)]) others.push_back(j);
  Eigen::FullPivLU<Eigen::MatrixXd> all(C), some(C(Eigen::all, others));
  all.setThreshold(1e-9);
  some.setThreshold(1e-9);
  return all.rank() == some.rank();
}

TEST(FreeColumns, SetsAreThoseOfTheDefinition) {
  // Small integers, so that ranks are sharp and dependent columns occur; redundant rows too.
  std::mt19937_64 random(5);
  int sets = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 3 + trial % 4, m = 1 + trial % 3;
    Eigen::MatrixXd C(m, n);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) C(i, j) = static_cast<double>(random() % 3) - 1.0;
    if (m > 1 && trial % 5 == 0) C.row(m - 1) = 2.0 * C.row(0);
    const testing::Matrix matrix = sparse(C);
    const std::vector<double> sizes(static_cast<std::size_t>(n), 1.0);
    const FreeColumns columns =
        free_columns(matrix.pattern, matrix.values.data(), sizes, std::vector<int>(static_cast<std::size_t>(n), 0));
    Eigen::FullPivLU<Eigen::MatrixXd> lu(C);
    ASSERT_EQ(columns.determined.size(), static_cast<std::size_t>(lu.rank()));
    // d_determined = A d_free solves C d = 0.
    for (std::size_t q = 0; q < columns.free.size(); ++q) {
      Eigen::VectorXd d = Eigen::VectorXd::Zero(n);
      d[static_cast<Eigen::Index>(columns.free[q])] = 1.0;
      for (std::size_t p = 0; p < columns.determined.size(); ++p)
        d[static_cast<Eigen::Index>(columns.determined[p])] = columns.entry(p, q);
      EXPECT_LE((C * d).lpNorm<Eigen::Infinity>(), 1e-13);
    }
    for (std::size_t mask = 0; mask < (std::size_t{1} << n); ++mask) {
      std::vector<bool> in_set;
      for (int j = 0; j < n; ++j) in_set.push_back((mask >> j & 1) != 0);
      if (static_cast<std::size_t>(std::count(in_set.begin(), in_set.end(), true)) != columns.free.size()) continue;
      EXPECT_EQ(may_be_free(columns, in_set), others_follow(C, in_set)) << C << "\nset " << mask;
      ++sets;
    }
  }
  EXPECT_GT(sets, 1000);
}

TEST(FreeColumns, LateTurnsStayFreeWhereTheyCan) {
  // x + y + z = 0, y = 0: y is determined whatever its turn is.
  const testing::Matrix matrix = sparse((Eigen::MatrixXd(2, 3) << 1, 1, 1, 0, 1, 0).finished());
  const FreeColumns x_late = free_columns(matrix.pattern, matrix.values.data(), {1, 1, 1}, {1, 1, 0});
  EXPECT_EQ(x_late.free, std::vector<std::size_t>{0});
  const FreeColumns z_late = free_columns(matrix.pattern, matrix.values.data(), {1, 1, 1}, {0, 1, 1});
  EXPECT_EQ(z_late.free, std::vector<std::size_t>{2});
}

}  // namespace
}  // namespace daedalus::linalg
