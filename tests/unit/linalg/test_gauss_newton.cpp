#include <gtest/gtest.h>

#include <limits>

#include "daedalus/linalg/gauss_newton.hpp"
#include "tools.hpp"

namespace daedalus::linalg {
namespace {

using testing::Chain;
using testing::sparse;
using Outcome = GaussNewtonOutcome;
using Rows = std::vector<std::size_t>;

// A problem with W = I and a full pattern of C.
LeastChangeProblem problem(std::size_t unknowns, std::size_t constraints,
                           std::function<void(const double*, double*)> residual,
                           std::function<void(const double*, double*)> jacobian) {
  LeastChangeProblem result;
  const auto n = static_cast<Eigen::Index>(unknowns), m = static_cast<Eigen::Index>(constraints);
  const testing::Matrix weight = sparse(Eigen::MatrixXd::Identity(n, n));
  result.weight = weight.pattern;
  result.weight_values = weight.values;
  result.jacobian = sparse(Eigen::MatrixXd::Ones(m, n)).pattern;
  result.residual = [residual](const double* x, double* c) {
    residual(x, c);
    return true;
  };
  result.jacobian_values = [jacobian](const double* x, double* C) {
    jacobian(x, C);
    return true;
  };
  return result;
}

// x^2 + y^2 = square
LeastChangeProblem circle(double square) {
  return problem(
      2, 1, [square](const double* x, double* c) { c[0] = x[0] * x[0] + x[1] * x[1] - square; },
      [](const double* x, double* C) {
        C[0] = 2.0 * x[0];
        C[1] = 2.0 * x[1];
      });
}

TEST(GaussNewton, ProjectsOntoACircle) {
  LeastChangeProblem circle_problem = circle(6.25);
  circle_problem.scales = {6.25};
  GaussNewton solver(circle_problem);
  const double x0[] = {0.86, 2.35};
  const GaussNewtonResult result = solver.solve(x0);
  ASSERT_EQ(result.outcome, Outcome::converged);
  // Round-off of x is 2.2e-16 * 2.35; c of size 6 in double gives as much again.
  EXPECT_NEAR(result.x[0], 0.859168726814123432917168572923, 1e-15);
  EXPECT_NEAR(result.x[1], 2.34772849768975589227365830973, 2e-15);
  EXPECT_LE(result.residual, 1e-15);
  EXPECT_LE(result.iterations, 8u);
  // W (x - x0) + C^T mu = 0
  EXPECT_NEAR(result.x[1] - x0[1] + 2.0 * result.x[1] * result.multipliers[0], 0.0, 1e-15);
  EXPECT_TRUE(result.offending_rows.empty());
}

TEST(GaussNewton, KeepsFixedEntries) {
  LeastChangeProblem circle_problem = circle(6.25);
  circle_problem.fixed = {true, false};
  const double x0[] = {0.86, 2.35};
  const GaussNewtonResult result = GaussNewton(circle_problem).solve(x0);
  ASSERT_EQ(result.outcome, Outcome::converged);
  EXPECT_EQ(result.x[0], 0.86);
  EXPECT_NEAR(result.x[1], 2.34742412017939357, 1e-15);
}

TEST(GaussNewton, ProjectsFromFarOutsideAndFromNearTheCentre) {
  // Without the curvature of the circle full tangential steps diverge outside twice the radius.
  GaussNewton solver(circle(1.0));
  for (const double radius : {0.05, 0.5, 3.0, 30.0}) {
    const double x0[] = {radius * std::cos(1.0), radius * std::sin(1.0)};
    const double start[] = {std::cos(0.2), 1.5 * std::sin(0.2)};
    const GaussNewtonResult result = solver.solve(x0, start);
    ASSERT_EQ(result.outcome, Outcome::converged) << radius;
    // The direction is found where the distance stops changing: sqrt(eps) at worst.
    EXPECT_NEAR(result.x[0], std::cos(1.0), 1e-7) << radius;
    EXPECT_NEAR(result.x[1], std::sin(1.0), 1e-7) << radius;
    EXPECT_LE(result.residual, 4e-16) << radius;
  }
}

TEST(GaussNewton, FollowsTheWeights) {
  // The heavy coordinate hardly moves; exact solution of (x + y = 1) from (0, 0): x = w2/(w1 + w2).
  LeastChangeProblem line = problem(
      2, 1, [](const double* x, double* c) { c[0] = x[0] + x[1] - 1.0; },
      [](const double*, double* C) { C[0] = C[1] = 1.0; });
  line.weight_values = {100.0, 1.0};
  GaussNewton solver(line);
  const double x0[] = {0.0, 0.0};
  EXPECT_NEAR(solver.solve(x0).x[0], 1.0 / 101.0, 1e-16);
  const double equal[] = {1.0, 1.0};
  solver.set_weight(equal);
  EXPECT_NEAR(solver.solve(x0).x[0], 0.5, 1e-16);
}

TEST(GaussNewton, UsesTheWeightsBetweenFixedAndFreeEntries) {
  // W couples x (fixed at 1, reference 0) with y: minimum of 1/2 (x^2 + 2 r x y + y^2), y free: y = -r.
  LeastChangeProblem coupled = problem(
      2, 1, [](const double*, double* c) { c[0] = 0.0; }, [](const double*, double* C) { C[0] = C[1] = 0.0; });
  Eigen::MatrixXd W(2, 2);
  W << 1.0, 0.25, 0.25, 1.0;
  coupled.weight = sparse(W).pattern;
  coupled.weight_values = sparse(W).values;
  coupled.fixed = {true, false};
  const double x0[] = {0.0, 0.0}, start[] = {1.0, 3.0};
  const GaussNewtonResult result = GaussNewton(coupled).solve(x0, start);
  ASSERT_EQ(result.outcome, Outcome::converged);
  EXPECT_EQ(result.x[0], 1.0);
  EXPECT_NEAR(result.x[1], -0.25, 1e-15);
}

TEST(GaussNewton, TakesWeightsThatVanishWhereConstraintsDecide) {
  LeastChangeProblem circle_problem = circle(6.25);
  circle_problem.weight_values = {1.0, 0.0};
  const double x0[] = {0.86, 2.35};
  const GaussNewtonResult result = GaussNewton(circle_problem).solve(x0);
  ASSERT_EQ(result.outcome, Outcome::converged);
  EXPECT_NEAR(result.x[0], 0.86, 1e-14);
  EXPECT_NEAR(result.x[1], 2.34742412017939357, 1e-14);
}

TEST(GaussNewton, StallsWhereTheConstraintCannotBeMet) {
  for (const double start : {1.0, 0.0}) {
    const double x0[] = {start, 2.0 * start};
    const GaussNewtonResult result = GaussNewton(circle(-1.0)).solve(x0);
    EXPECT_EQ(result.outcome, Outcome::stalled) << start;
    EXPECT_NEAR(result.residual, 1.0, 1e-6) << start;  // x^2 + y^2 + 1 is least at 0; |c| is flat there
    EXPECT_EQ(result.offending_rows, Rows{0});
    EXPECT_LE(result.iterations, 100u);
  }
}

TEST(GaussNewton, StallsBetweenTwoCirclesThatDoNotMeet) {
  LeastChangeProblem circles = problem(
      2, 3,
      [](const double* x, double* c) {
        c[0] = x[0] * x[0] + x[1] * x[1] - 1.0;
        c[1] = (x[0] - 5.0) * (x[0] - 5.0) + x[1] * x[1] - 1.0;
        c[2] = 0.0;
      },
      [](const double* x, double* C) {
        C[0] = 2.0 * x[0];
        C[1] = C[3] = 2.0 * x[1];
        C[2] = 2.0 * (x[0] - 5.0);
        C[4] = C[5] = 0.0;
      });
  const double x0[] = {1.0, 1.0};
  const GaussNewtonResult result = GaussNewton(circles).solve(x0);
  EXPECT_EQ(result.outcome, Outcome::stalled);
  EXPECT_EQ(result.offending_rows, (Rows{0, 1}));
  EXPECT_NEAR(result.x[0], 2.5, 1e-3);  // halfway between by symmetry
}

TEST(GaussNewton, NamesConstraintsThatContradictEachOther) {
  LeastChangeProblem pair = problem(
      2, 3,
      [](const double* x, double* c) {
        c[0] = x[0] * x[0] + x[1] * x[1] - 1.0;
        c[1] = x[0] - 0.3;
        c[2] = 2.0 * (x[0] * x[0] + x[1] * x[1]) - 4.0;
      },
      [](const double* x, double* C) {
        C[0] = 2.0 * x[0];
        C[1] = 2.0 * x[1];
        C[2] = 1.0;
        C[3] = 0.0;
        C[4] = 4.0 * x[0];
        C[5] = 4.0 * x[1];
      });
  const double x0[] = {0.2, 0.8};
  const GaussNewtonResult result = GaussNewton(pair).solve(x0);
  EXPECT_EQ(result.outcome, Outcome::rank_deficient_inconsistent);
  EXPECT_EQ(result.offending_rows, (Rows{0, 2}));
}

TEST(GaussNewton, NamesConstraintsThatContradictFixedValues) {
  LeastChangeProblem lines = problem(
      3, 3,
      [](const double* x, double* c) {
        c[0] = x[0] + x[1] - 1.0;
        c[1] = x[1] + x[2] - 1.0;
        c[2] = x[0] - x[1];
      },
      [](const double*, double* C) {
        const double values[] = {1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, -1.0, 0.0};
        std::copy(values, values + 9, C);
      });
  const double x0[] = {0.5, 0.25, 0.0};
  lines.fixed = {true, true, false};
  const GaussNewtonResult result = GaussNewton(lines).solve(x0);
  EXPECT_EQ(result.outcome, Outcome::rank_deficient_inconsistent);
  EXPECT_EQ(result.offending_rows, (Rows{0, 2}));
  EXPECT_EQ(result.x[0], 0.5);
  EXPECT_EQ(result.x[1], 0.25);

  lines.fixed = {true, true, true};
  const GaussNewtonResult all_fixed = GaussNewton(lines).solve(x0);
  EXPECT_EQ(all_fixed.outcome, Outcome::rank_deficient_inconsistent);
  EXPECT_EQ(all_fixed.offending_rows, (Rows{0, 1, 2}));

  const double good[] = {0.5, 0.5, 0.5};
  EXPECT_EQ(GaussNewton(lines).solve(good).outcome, Outcome::converged);
}

TEST(GaussNewton, AcceptsRedundantConstraints) {
  LeastChangeProblem twice = problem(
      2, 2,
      [](const double* x, double* c) {
        c[0] = x[0] * x[0] + x[1] * x[1] - 6.25;
        c[1] = std::sqrt(x[0] * x[0] + x[1] * x[1]) - 2.5;
      },
      [](const double* x, double* C) {
        const double r = std::sqrt(x[0] * x[0] + x[1] * x[1]);
        C[0] = 2.0 * x[0];
        C[1] = 2.0 * x[1];
        C[2] = x[0] / r;
        C[3] = x[1] / r;
      });
  const double x0[] = {0.86, 2.35};
  const GaussNewtonResult result = GaussNewton(twice).solve(x0);
  ASSERT_EQ(result.outcome, Outcome::converged);
  EXPECT_NEAR(result.x[0], 0.859168726814123432917168572923, 4e-15);
  EXPECT_NEAR(result.x[1], 2.34772849768975589227365830973, 4e-15);
}

TEST(GaussNewton, LeavesASingularPose) {
  // The gradient of the circle vanishes at its centre.
  const double centre[] = {0.0, 0.0};
  const GaussNewtonResult from_centre = GaussNewton(circle(4.0)).solve(centre);
  EXPECT_EQ(from_centre.outcome, Outcome::converged);
  EXPECT_NEAR(std::hypot(from_centre.x[0], from_centre.x[1]), 2.0, 1e-15);

  // Two bars of length 1 from (0, 0) over p to q, q on the x axis at distance 1.2. Stretched along the axis the bars'
  // gradients and that of q depend on each other, and the linear model cannot bend the knee.
  LeastChangeProblem knee = problem(
      4, 4,
      [](const double* x, double* c) {
        c[0] = x[0] * x[0] + x[1] * x[1] - 1.0;
        c[1] = (x[2] - x[0]) * (x[2] - x[0]) + (x[3] - x[1]) * (x[3] - x[1]) - 1.0;
        c[2] = x[2] - 1.2;
        c[3] = x[3];
      },
      [](const double* x, double* C) {
        std::fill(C, C + 16, 0.0);
        C[0] = 2.0 * x[0];
        C[1] = 2.0 * x[1];
        C[4] = -2.0 * (x[2] - x[0]);
        C[5] = -2.0 * (x[3] - x[1]);
        C[6] = 2.0 * (x[2] - x[0]);
        C[7] = 2.0 * (x[3] - x[1]);
        C[10] = 1.0;
        C[15] = 1.0;
      });
  const double stretched[] = {1.0, 0.0, 2.0, 0.0};
  const GaussNewtonResult result = GaussNewton(knee).solve(stretched);
  ASSERT_EQ(result.outcome, Outcome::converged);
  EXPECT_NEAR(result.x[0], 0.6, 1e-14);
  EXPECT_NEAR(std::abs(result.x[1]), 0.8, 1e-14);
}

TEST(GaussNewton, ReportsWhatCannotBeEvaluated) {
  LeastChangeProblem bad = circle(1.0);
  bad.residual = [](const double*, double*) { return false; };
  const double x0[] = {1.0, 1.0};
  EXPECT_EQ(GaussNewton(bad).solve(x0).outcome, Outcome::not_finite);
  const double nan[] = {std::numeric_limits<double>::quiet_NaN(), 1.0};
  EXPECT_EQ(GaussNewton(circle(1.0)).solve(nan).outcome, Outcome::not_finite);
}

TEST(GaussNewton, StaysInsideTheDomain) {
  // log(x) + 2 = 0 from x = 4: the first full step would leave x > 0.
  LeastChangeProblem logarithm = problem(
      1, 1, [](const double* x, double* c) { c[0] = std::log(x[0]) + 2.0; },
      [](const double* x, double* C) { C[0] = 1.0 / x[0]; });
  const double x0[] = {4.0};
  const GaussNewtonResult result = GaussNewton(logarithm).solve(x0);
  ASSERT_EQ(result.outcome, Outcome::converged);
  EXPECT_NEAR(result.x[0], std::exp(-2.0), 1e-16);
}

TEST(GaussNewton, ReportsIndefiniteWeights) {
  LeastChangeProblem indefinite = circle(1.0);
  indefinite.weight_values = {-1.0, -1.0};
  const double x0[] = {1.0, 1.0};
  EXPECT_EQ(GaussNewton(indefinite).solve(x0).outcome, Outcome::singular_weight);
}

TEST(GaussNewton, NeedsNoConstraints) {
  LeastChangeProblem free = circle(1.0);
  free.jacobian = sparse(Eigen::MatrixXd::Zero(0, 2)).pattern;
  const double x0[] = {1.0, 2.0}, start[] = {5.0, 6.0};
  const GaussNewtonResult result = GaussNewton(free).solve(x0, start);
  ASSERT_EQ(result.outcome, Outcome::converged);
  EXPECT_EQ(result.x, (std::vector<double>{1.0, 2.0}));
}

TEST(GaussNewton, StraightensAChainOfAThousandLinks) {
  const std::size_t links = 1000;
  const Chain chain(links);
  LeastChangeProblem rods;
  rods.weight = chain.M.pattern;
  rods.weight_values = chain.M.values;
  rods.jacobian = chain.G.pattern;
  const auto difference = [](const double* q, std::size_t i, std::size_t c) {
    return q[2 * i + c] - (i > 0 ? q[2 * i - 2 + c] : 0.0);
  };
  rods.residual = [=](const double* q, double* c) {
    for (std::size_t i = 0; i < links; ++i) {
      const double dx = difference(q, i, 0), dy = difference(q, i, 1);
      c[i] = 0.5 * (dx * dx + dy * dy - 1.0);
    }
    return true;
  };
  rods.jacobian_values = [=](const double* q, double* C) {
    std::size_t k = 0;
    for (std::size_t i = 0; i < links; ++i) {
      const double dx = difference(q, i, 0), dy = difference(q, i, 1);
      if (i > 0) {
        C[k++] = -dx;
        C[k++] = -dy;
      }
      C[k++] = dx;
      C[k++] = dy;
    }
    return true;
  };
  rods.fixed.assign(2 * links, false);
  rods.fixed[500] = true;
  testing::Random random(5);
  Eigen::VectorXd x0 = chain.q;
  for (double& value : x0) value += 0.02 * random.number();
  GaussNewton solver(rods);
  const GaussNewtonResult result = solver.solve(x0.data());
  ASSERT_EQ(result.outcome, Outcome::converged);
  // Coordinates reach several hundred, differences of them are known to 1e-13.
  EXPECT_LE(result.residual, 5e-13);
  EXPECT_EQ(result.x[500], x0(500));
  EXPECT_LE(result.iterations, 40u);

  // The stationarity condition W (x - x0) + C^T mu = 0 holds for the free entries.
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(2 * links));
  std::vector<double> change(2 * links), C(rods.jacobian.nonzeros());
  for (std::size_t i = 0; i < change.size(); ++i) change[i] = result.x[i] - x0(static_cast<Eigen::Index>(i));
  rods.jacobian_values(result.x.data(), C.data());
  multiply_add(rods.weight, rods.weight_values.data(), 1.0, change.data(), sum.data());
  multiply_transposed_add(rods.jacobian, C.data(), 1.0, result.multipliers.data(), sum.data());
  sum(500) = 0.0;
  // Stopped at a tangential step of 1e-8 |x|_W at most; in fact far below.
  EXPECT_LE(result.tangential, 1e-8);
  EXPECT_LE(sum.lpNorm<Eigen::Infinity>(), 1e-7);
}

}  // namespace
}  // namespace daedalus::linalg
