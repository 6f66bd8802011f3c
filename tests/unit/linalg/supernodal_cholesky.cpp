#include <gtest/gtest.h>

#include <random>

#include "allocations.hpp"
#include "daedalus/linalg/supernodal_cholesky.hpp"
#include "tools.hpp"

namespace daedalus::linalg {
namespace {

using testing::Matrix;
using testing::sparse;

/// B B^T of a sparse B with one entry more in every row than chance gives: positive definite.
Eigen::MatrixXd random_definite(std::size_t n, std::size_t per_row, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto size = static_cast<Eigen::Index>(n);
  Eigen::MatrixXd B = Eigen::MatrixXd::Zero(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    B(i, i) = 1.0 + static_cast<double>(random() % 8);
    for (std::size_t k = 0; k < per_row; ++k)
      B(i, static_cast<Eigen::Index>(random() % n)) += static_cast<double>(random() % 7) - 3.0;
  }
  return B * B.transpose() + 1e-3 * Eigen::MatrixXd::Identity(size, size);
}

void set(SupernodalCholesky& cholesky, const Matrix& A) {
  cholesky.clear();
  for (std::size_t i = 0; i < A.pattern.rows; ++i)
    for (std::size_t k = A.pattern.row_start[i]; k < A.pattern.row_start[i + 1]; ++k)
      if (A.pattern.column[k] <= i) cholesky.add(cholesky.place(i, A.pattern.column[k]), A.values[k]);
}

TEST(SupernodalCholesky, SolvesRandomSystems) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const std::size_t n = 1 + seed * 3, per_row = seed % 4;
    const Eigen::MatrixXd dense = random_definite(n, per_row, seed);
    const Matrix A = sparse(dense);
    SupernodalCholesky cholesky(A.pattern);
    for (int again = 0; again < 2; ++again) {  // factors replace the matrix
      set(cholesky, A);
      ASSERT_GT(cholesky.factor(), 0.0);
    }
    const Eigen::VectorXd right = dense * Eigen::VectorXd::LinSpaced(static_cast<Eigen::Index>(n), -1.0, 2.0);
    Eigen::VectorXd x = right;
    cholesky.solve(x.data());
    EXPECT_LE((dense * x - right).norm(), 1e-12 * dense.norm() * x.norm());
  }
}

/// The five-point matrix of a grid, whose elimination fills in: pivots against those of a full factorization.
TEST(SupernodalCholesky, TellsHowDefiniteAMatrixIs) {
  constexpr Eigen::Index side = 12;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(side * side, side * side);
  for (Eigen::Index i = 0; i < side; ++i)
    for (Eigen::Index j = 0; j < side; ++j) {
      dense(i * side + j, i * side + j) = 4.0;
      if (i > 0) dense(i * side + j, (i - 1) * side + j) = dense((i - 1) * side + j, i * side + j) = -1.0;
      if (j > 0) dense(i * side + j, i * side + j - 1) = dense(i * side + j - 1, i * side + j) = -1.0;
    }
  const Matrix A = sparse(dense);
  SupernodalCholesky cholesky(A.pattern);
  set(cholesky, A);
  const double smallest = cholesky.factor();
  EXPECT_GT(smallest, 0.1);
  EXPECT_LE(smallest, 1.0);
  EXPECT_LT(cholesky.nonzeros(), 0.3 * side * side * side * side);
  // Made singular by its smallest eigenvalue, and indefinite beyond it.
  const double lowest = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense).eigenvalues()[0];
  for (const double part : {1.0 - 1e-9, 1.1}) {
    const Matrix shifted = sparse(Eigen::MatrixXd(dense - part * lowest * Eigen::MatrixXd::Identity(side * side, side * side)));
    set(cholesky, shifted);
    const double measure = cholesky.factor();
    if (part < 1.0)
      EXPECT_LT(measure, 1e-7);
    else
      EXPECT_EQ(measure, 0.0);
  }
}

TEST(SupernodalCholesky, AllocatesNothing) {
  const Matrix A = sparse(random_definite(80, 2, 5));
  SupernodalCholesky cholesky(A.pattern);
  std::vector<double> x(80, 1.0);
  const std::size_t before = testing::allocations();
  set(cholesky, A);
  cholesky.factor();
  cholesky.solve(x.data());
  EXPECT_EQ(testing::allocations(), before);
}

}  // namespace
}  // namespace daedalus::linalg
