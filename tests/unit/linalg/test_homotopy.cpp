#include <gtest/gtest.h>

#include <cmath>

#include "daedalus/linalg/homotopy.hpp"

namespace daedalus::linalg {
namespace {

/// c(x) = 0 with as many rows and columns as said, a full pattern and W = I.
template <class Residual, class Jacobian>
LeastChangeProblem problem(std::size_t n, std::size_t m, Residual residual, Jacobian jacobian) {
  LeastChangeProblem result;
  result.weight = {n, n, {0}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    result.weight.column.push_back(i);
    result.weight.row_start.push_back(i + 1);
  }
  result.weight_values.assign(n, 1.0);
  result.jacobian = {m, n, {0}, {}};
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t i = 0; i < n; ++i) result.jacobian.column.push_back(i);
    result.jacobian.row_start.push_back((j + 1) * n);
  }
  result.residual = residual;
  result.jacobian_values = jacobian;
  return result;
}

/// The end of the path, made exact by Gauss-Newton.
std::vector<double> solved(const LeastChangeProblem& problem, const std::vector<double>& x0, HomotopyResult& path) {
  path = follow_homotopy(problem, x0.data(), std::vector<double>(x0.size(), 1.0));
  EXPECT_TRUE(path.reached) << "ended at s = " << path.s << " after " << path.steps << " steps";
  const GaussNewtonResult result = GaussNewton(problem).solve(x0.data(), path.x.data());
  EXPECT_EQ(result.outcome, GaussNewtonOutcome::converged);
  return result.x;
}

TEST(Homotopy, ReachesTheRootOfACubicBehindItsTurningPoints) {
  // x^3 - 3 x = 10 from x0 = -1.5: |c| has a minimum at x = -1, where Newton's method is stuck, and the path turns there
  // and at x = 1 before it reaches the only root, 2.61288...
  const LeastChangeProblem cubic = problem(
      1, 1,
      [](const double* x, double* c) {
        c[0] = x[0] * x[0] * x[0] - 3.0 * x[0] - 10.0;
        return true;
      },
      [](const double* x, double* C) {
        C[0] = 3.0 * x[0] * x[0] - 3.0;
        return true;
      });
  HomotopyResult path;
  const double root = solved(cubic, {-1.5}, path)[0];
  EXPECT_NEAR(root * root * root - 3.0 * root, 10.0, 1e-13);
  EXPECT_TRUE(path.turned);
}

TEST(Homotopy, StaysInsideTheDomainOfALogarithm) {
  // log(x) + y = 5, y exp(-x/100) = 2: from x = 1e-3 the first Newton step goes to x < 0.
  const LeastChangeProblem gas = problem(
      2, 2,
      [](const double* x, double* c) {
        if (x[0] <= 0.0) return false;
        c[0] = std::log(x[0]) + x[1] - 5.0;
        c[1] = x[1] * std::exp(-x[0] / 100.0) - 2.0;
        return true;
      },
      [](const double* x, double* C) {
        C[0] = 1.0 / x[0];
        C[1] = 1.0;
        C[2] = -x[1] / 100.0 * std::exp(-x[0] / 100.0);
        C[3] = std::exp(-x[0] / 100.0);
        return true;
      });
  HomotopyResult path;
  const std::vector<double> x = solved(gas, {1e-3, 40.0}, path);
  EXPECT_GT(x[0], 0.0);
  EXPECT_NEAR(std::log(x[0]) + x[1], 5.0, 1e-13);
  EXPECT_NEAR(x[1] * std::exp(-x[0] / 100.0), 2.0, 1e-13);
}

TEST(Homotopy, KeepsFixedEntriesAndFollowsTheSteepestWayWhereThereAreMany) {
  // One equation for three unknowns, the last of them fixed.
  LeastChangeProblem sphere = problem(
      3, 1,
      [](const double* x, double* c) {
        c[0] = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - 4.0;
        return true;
      },
      [](const double* x, double* C) {
        for (int i = 0; i < 3; ++i) C[i] = 2.0 * x[i];
        return true;
      });
  sphere.fixed = {false, false, true};
  const std::vector<double> x0{0.3, 0.4, 1.0};
  const HomotopyResult path = follow_homotopy(sphere, x0.data(), {1.0, 1.0, 1.0});
  ASSERT_TRUE(path.reached);
  EXPECT_EQ(path.x[2], 1.0);
  // Along the gradient the direction (3, 4) stays; corrections are a hundredth of the last step at most.
  EXPECT_NEAR(path.x[1] / path.x[0], 4.0 / 3.0, 1e-2);
  EXPECT_NEAR(std::hypot(path.x[0], path.x[1]), std::sqrt(3.0), 1e-2);
}

TEST(Homotopy, EndsWithoutASolutionWhereThereIsNone) {
  const LeastChangeProblem none = problem(
      1, 1,
      [](const double* x, double* c) {
        c[0] = x[0] * x[0] + 1.0;
        return true;
      },
      [](const double* x, double* C) {
        C[0] = 2.0 * x[0];
        return true;
      });
  const double x0[] = {3.0};
  const HomotopyResult path = follow_homotopy(none, x0, {1.0});
  EXPECT_FALSE(path.reached);
  EXPECT_LT(path.s, 1.0);
}

}  // namespace
}  // namespace daedalus::linalg
