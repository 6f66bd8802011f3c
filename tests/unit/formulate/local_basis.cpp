#include "daedalus/formulate/local_basis.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/linalg/tools.hpp"

namespace daedalus::formulate {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using linalg::testing::Random;

struct Made {
  MatrixXd B, C, D;
};

/// The three matrices of a basis, column by column.
Made matrices(LocalBasis& basis, Index n, Index r) {
  Made made{MatrixXd::Zero(n, n - r), MatrixXd::Zero(n, r), MatrixXd::Zero(n - r, n)};
  for (Index k = 0; k < n - r; ++k) {
    const VectorXd y = VectorXd::Unit(n - r, k);
    VectorXd u = VectorXd::Zero(n);
    basis.add(y.data(), u.data());
    made.B.col(k) = u;
  }
  for (Index j = 0; j < n; ++j) {
    const VectorXd u = VectorXd::Unit(n, j);
    VectorXd y(n - r);
    basis.take(u.data(), y.data());
    made.D.col(j) = y;
  }
  made.C = linalg::testing::dense({basis.normal(), basis.normal_values()}).transpose();
  return made;
}

/// D B = I and D C = 0 make y the coordinates of u = B y + C mu, and (B, C) regular lets every u be written so.
TEST(LocalBasis, DirectionsBelongTogether) {
  Random random(11);
  for (const LocalBasis::Kind kind : {LocalBasis::Kind::coordinates, LocalBasis::Kind::tangent})
    for (const auto& [r, n] : std::vector<std::pair<Index, Index>>{{1, 2}, {2, 5}, {4, 6}, {3, 3}, {0, 2}}) {
      const MatrixXd G = random.matrix(r, n);
      const VectorXd W = random.matrix(n, 1).cwiseAbs2() + VectorXd::Constant(n, 0.1);
      const linalg::testing::Matrix rows = linalg::testing::sparse(G, true);
      LocalBasis basis(kind, rows.pattern);
      ASSERT_TRUE(basis.choose(rows.values.data(), W.data()));
      const Made made = matrices(basis, n, r);
      EXPECT_LE((made.D * made.B - MatrixXd::Identity(n - r, n - r)).norm(), 1e-14);
      EXPECT_LE((made.D * made.C).norm(), 1e-14);
      EXPECT_TRUE((MatrixXd(n, n) << made.B, made.C).finished().fullPivLu().isInvertible());
      if (kind == LocalBasis::Kind::coordinates) continue;
      EXPECT_LE((G * made.B).norm(), 1e-14 * (1.0 + G.norm()));
      EXPECT_LE((made.B.transpose() * W.asDiagonal() * made.B - MatrixXd::Identity(n - r, n - r)).norm(), 1e-14);
    }
}

TEST(LocalBasis, MovesAlongItsDirections) {
  Random random(13);
  for (const LocalBasis::Kind kind : {LocalBasis::Kind::coordinates, LocalBasis::Kind::tangent}) {
    const MatrixXd G = random.matrix(2, 5);
    const VectorXd W = VectorXd::Constant(5, 2.0);
    const linalg::testing::Matrix rows = linalg::testing::sparse(G, true);
    LocalBasis basis(kind, rows.pattern);
    ASSERT_TRUE(basis.choose(rows.values.data(), W.data()));
    const Made made = matrices(basis, 5, 2);
    VectorXd u = random.vector(5), from(3), to = random.vector(3);
    basis.take(u.data(), from.data());
    const VectorXd expected = u + made.B * (to - from);
    basis.move(from.data(), to.data(), u.data());
    EXPECT_LE((u - expected).norm(), 1e-14);
    basis.take(u.data(), from.data());
    EXPECT_LE((from - to).norm(), 1e-14);
  }
}

/// Light coordinates become dependent, heavy ones stay.
TEST(LocalBasis, TheMassesDecide) {
  const linalg::testing::Matrix rows = linalg::testing::sparse((MatrixXd(1, 2) << 1.0, 1.0).finished());
  LocalBasis basis(LocalBasis::Kind::coordinates, rows.pattern);
  ASSERT_TRUE(basis.choose(rows.values.data(), std::vector<double>{1.0, 4.0}.data()));
  EXPECT_EQ(basis.nearest(0), 1u);
  EXPECT_EQ(basis.length(0), 2.0);
  ASSERT_TRUE(basis.choose(rows.values.data(), std::vector<double>{4.0, 1.0}.data()));
  EXPECT_EQ(basis.nearest(0), 0u);
}

/// A change of y_k by its bound changes no u_j by more than its own, and some u_j by a good part of it.
TEST(LocalBasis, BoundsAndMagnitudes) {
  Random random(17);
  for (const LocalBasis::Kind kind : {LocalBasis::Kind::coordinates, LocalBasis::Kind::tangent}) {
    const MatrixXd G = random.matrix(2, 5);
    const VectorXd W = random.matrix(5, 1).cwiseAbs2() + VectorXd::Constant(5, 0.1);
    const VectorXd bound = random.matrix(5, 1).cwiseAbs() + VectorXd::Constant(5, 0.01), u = random.vector(5);
    const linalg::testing::Matrix rows = linalg::testing::sparse(G, true);
    LocalBasis basis(kind, rows.pattern);
    ASSERT_TRUE(basis.choose(rows.values.data(), W.data()));
    const Made made = matrices(basis, 5, 2);
    VectorXd y(3);
    basis.bounds(bound.data(), y.data());
    for (Index k = 0; k < 3; ++k) {
      const double share = (made.B.col(k) * y(k)).cwiseAbs().cwiseQuotient(bound).maxCoeff();
      EXPECT_LE(share, 1.0 + 1e-14);
      EXPECT_GE(share, 1.0 / std::sqrt(5.0));  // the root of a sum of five squares that is 1
    }
    basis.magnitudes(u.data(), y.data());
    for (Index k = 0; k < 3; ++k)
      EXPECT_NEAR(y(k), made.D.row(k).transpose().cwiseProduct(u).norm(), 1e-14);
  }
}

TEST(LocalBasis, RefusesDependentRows) {
  const linalg::testing::Matrix rows = linalg::testing::sparse((MatrixXd(2, 3) << 1.0, 2.0, 3.0, 2.0, 4.0, 6.0).finished());
  LocalBasis basis(LocalBasis::Kind::coordinates, rows.pattern);
  EXPECT_FALSE(basis.choose(rows.values.data(), std::vector<double>{1.0, 1.0, 1.0}.data()));
}

}  // namespace
}  // namespace daedalus::formulate
