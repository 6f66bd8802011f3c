#include <gtest/gtest.h>

#include <limits>

#include "daedalus/linalg/lu.hpp"
#include "tools.hpp"

namespace daedalus::linalg {
namespace {

using testing::Random;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

TEST(DenseLu, SolvesRandomSystems) {
  Random random(7);
  for (const Eigen::Index n : {1, 2, 3, 8, 20, 51}) {
    const RowMajor A = random.matrix(n, n);
    const Eigen::VectorXd b = random.vector(n);
    DenseLu lu(static_cast<std::size_t>(n));
    ASSERT_TRUE(lu.factor(A.data()));
    Eigen::VectorXd x = b;
    lu.solve(x.data());
    // Backward stable: |b - A x| <= 3 n eps |A| |x|, with growth below 10 for random matrices.
    const double bound = 30.0 * static_cast<double>(n) * 2.2e-16 * A.norm() * x.norm();
    EXPECT_LE((b - A * x).norm(), bound) << n;
  }
}

TEST(DenseLu, SolvesTheEmptySystem) {
  DenseLu lu(0);
  EXPECT_TRUE(lu.factor(nullptr));
  lu.solve(nullptr);
}

TEST(DenseLu, NamesTheColumnThatDependsOnEarlierOnes) {
  RowMajor A(3, 3);
  A << 1.0, 2.0, 3.0, 0.1, 0.2, 7.0, -3.0, -6.0, 1.0;
  DenseLu lu(3);
  EXPECT_FALSE(lu.factor(A.data()));
  EXPECT_EQ(lu.singular_column(), 1u);
}

TEST(DenseLu, DoesNotTakeSmallUnitsForSingularity) {
  RowMajor A(3, 3);
  A << 1.0, 1.0, 0.0, 0.0, 1e-25, 1e-25, 0.0, 0.0, 1e30;
  DenseLu lu(3);
  ASSERT_TRUE(lu.factor(A.data()));
  Eigen::Vector3d x(3.0, 3e-25, 2e30);
  lu.solve(x.data());
  EXPECT_DOUBLE_EQ(x(2), 2.0);
  EXPECT_NEAR(x(1), 1.0, 1e-15);
  EXPECT_NEAR(x(0), 2.0, 1e-15);
}

TEST(DenseLu, RefusesWhatIsNotFinite) {
  RowMajor A = RowMajor::Identity(2, 2);
  DenseLu lu(2);
  A(0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(lu.factor(A.data()));
  EXPECT_EQ(lu.singular_column(), 1u);
  A(0, 1) = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(lu.factor(A.data()));
}

}  // namespace
}  // namespace daedalus::linalg
