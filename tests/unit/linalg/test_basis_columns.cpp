#include "daedalus/linalg/basis_columns.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/linalg/allocations.hpp"
#include "unit/linalg/tools.hpp"

namespace daedalus::linalg {
namespace {

using testing::Matrix;
using testing::Random;

/// A_D^-1 A
Eigen::MatrixXd reduced(const Eigen::MatrixXd& A, const std::vector<std::size_t>& columns) {
  Eigen::MatrixXd square(A.rows(), A.rows());
  for (std::size_t k = 0; k < columns.size(); ++k)
    square.col(static_cast<Eigen::Index>(k)) = A.col(static_cast<Eigen::Index>(columns[k]));
  return square.fullPivLu().solve(A);
}

/// The pivot is the largest entry of its row, so the rows of U over their pivots have entries of at most 1, and those of
/// U_D^-1 U at most 2^(r-1). That is hardly ever reached: the mean of the largest entries is far below.
TEST(BasisColumns, MakeAWellConditionedMatrix) {
  Random random(5);
  for (const Eigen::Index r : {1, 2, 3, 5, 8}) {
    double sum = 0.0;
    for (int trial = 0; trial < 50; ++trial) {
      Eigen::MatrixXd A = random.matrix(r, 2 * r + 1);
      for (Eigen::Index i = 0; i < A.size(); ++i)
        if (random.number() > 0.2) A.data()[i] = 0.0;
      for (Eigen::Index i = 0; i < r; ++i) {
        A(i, i) += 0.5;  // full rank
        A.row(i) *= std::pow(10.0, 6.0 * random.number());
      }
      if (A.fullPivLu().rank() < r) continue;
      const Matrix matrix = testing::sparse(A);
      const std::vector<double> ones(static_cast<std::size_t>(A.cols()), 1.0);
      BasisColumns basis(matrix.pattern);
      const std::vector<std::size_t> columns = basis.choose(matrix.values.data(), ones.data());
      ASSERT_EQ(columns.size(), static_cast<std::size_t>(r));
      EXPECT_TRUE(std::is_sorted(columns.begin(), columns.end()));
      const double largest = reduced(A, columns).cwiseAbs().maxCoeff();
      EXPECT_LE(largest, std::pow(2.0, static_cast<double>(r) - 1.0) * (1.0 + 1e-9));
      sum += largest;
    }
    EXPECT_LE(sum / 50, 2.5) << r;
  }
}

TEST(BasisColumns, PreferWhatIsLargeInUnitsOfItsScale) {
  const Matrix matrix = testing::sparse((Eigen::MatrixXd(1, 3) << 1.0, -3.0, 2.0).finished());
  BasisColumns basis(matrix.pattern);
  EXPECT_EQ(basis.choose(matrix.values.data(), std::vector<double>{1.0, 1.0, 1.0}.data()), std::vector<std::size_t>{1});
  EXPECT_EQ(basis.choose(matrix.values.data(), std::vector<double>{1.0, 4.0, 1.0}.data()), std::vector<std::size_t>{2});
  EXPECT_EQ(basis.choose(matrix.values.data(), std::vector<double>{0.1, 4.0, 1.0}.data()), std::vector<std::size_t>{0});
}

TEST(BasisColumns, AreFewerWhereRowsDependOnEachOther) {
  Random random(7);
  Eigen::MatrixXd A = random.matrix(4, 7);
  A.row(3) = 2.0 * A.row(0) - A.row(1);
  const Matrix matrix = testing::sparse(A, true);
  const std::vector<double> ones(7, 1.0);
  BasisColumns basis(matrix.pattern);
  EXPECT_EQ(basis.choose(matrix.values.data(), ones.data()).size(), 3u);
}

/// A chain of 1000 links: as well conditioned as a small one, and the rows do not fill up. Small ones allocate nothing.
TEST(BasisColumns, OfLongChainsAndWithoutAllocation) {
  const testing::Chain chain(1000);
  const std::vector<double> ones(2000, 1.0);
  BasisColumns basis(chain.G.pattern);
  EXPECT_EQ(basis.choose(chain.G.values.data(), ones.data()).size(), 1000u);

  const testing::Chain small(20);
  BasisColumns of_small(small.G.pattern);
  const std::size_t before = testing::allocations();
  of_small.choose(small.G.values.data(), ones.data());
  EXPECT_EQ(testing::allocations(), before);
}

}  // namespace
}  // namespace daedalus::linalg
