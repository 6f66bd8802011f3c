// y' and projection from the derivative array, on exact solutions and by integration.
#include "daedalus/structure/array_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "conformance/allocations.hpp"
#include "unit/structure/dae_examples.hpp"

namespace daedalus::structure {
namespace {

using testing::DaeExample;
using testing::Mixing;

struct Solved {
  std::shared_ptr<const DaeFunctions> functions;
  NumericalIndex found;
  std::unique_ptr<ArraySolver> solver;
};

Solved solved(const DaeExample& example, Mixing mixing) {
  Solved result;
  result.functions = testing::compiled(example, mixing, 3);
  const auto array = std::make_shared<DerivativeArray>(result.functions);
  ArrayPoint start;
  for (const auto& unknown : result.functions->unknowns) start.jets.push_back(unknown.start.value);
  result.found = numerical_index(array, start);
  EXPECT_EQ(result.found.outcome, NumericalIndex::Outcome::found);
  result.solver = std::make_unique<ArraySolver>(array, result.found);
  return result;
}

std::vector<DaeExample> with_solutions() {
  std::vector<DaeExample> list;
  for (const DaeExample& example : testing::dae_examples())
    if (example.solution) list.push_back(example);
  return list;
}

/// The classical Runge-Kutta method with a projection after every step.
std::vector<double> integrated(ArraySolver& solver, std::vector<double> y, double end, int steps) {
  const std::size_t n = y.size();
  const std::vector<double> sizes(n, 1.0);
  const double h = end / steps;
  EXPECT_EQ(solver.project(0.0, y.data(), sizes.data()), DaeOutcome::ok);
  for (int k = 0; k < steps; ++k) {
    const double t = k * h;
    std::vector<double> sum(n, 0.0), stage = y;
    for (const auto& [at, weight] :
         {std::pair(0.0, 1.0), std::pair(0.5, 2.0), std::pair(0.5, 2.0), std::pair(1.0, 1.0)}) {
      if (at > 0.0)
        for (std::size_t i = 0; i < n; ++i) stage[i] = y[i] + at * h * solver.dy()[i];
      EXPECT_EQ(solver.derivatives(t + at * h, stage.data()), DaeOutcome::ok) << solver.explain() << " at " << t;
      for (std::size_t i = 0; i < n; ++i) sum[i] += weight * solver.dy()[i];
    }
    for (std::size_t i = 0; i < n; ++i) y[i] += h / 6.0 * sum[i];
    EXPECT_EQ(solver.project(t + h, y.data(), sizes.data()), DaeOutcome::ok) << solver.explain() << " at " << t;
  }
  return y;
}

/// Against central differences, whose errors are d^2 times third derivatives and round-off over d: 1e-8 of what they are.
TEST(ArraySolver, KnowsHowDerivativesChangeWithTheUnknowns) {
  for (const DaeExample& example : testing::dae_examples())
    for (const Mixing mixing : {Mixing::none, Mixing::dense}) {
      SCOPED_TRACE(example.name);
      const Solved problem = solved(example, mixing);
      const std::size_t n = example.start.size();
      std::vector<double> y(problem.found.point.jets.begin(), problem.found.point.jets.begin() + static_cast<std::ptrdiff_t>(n));
      std::vector<double> jacobian(n * n, NAN);
      ASSERT_EQ(problem.solver->jacobian(0.0, y.data(), jacobian.data()), DaeOutcome::ok);
      double largest = 0.0;
      for (const double entry : jacobian) largest = std::max(largest, std::abs(entry));
      for (std::size_t j = 0; j < n; ++j) {
        const double at = y[j], d = 1e-5 * std::max(1.0, std::abs(at));
        std::vector<double> slope(n, 0.0);
        for (const double side : {1.0, -1.0}) {
          y[j] = at + side * d;
          ASSERT_EQ(problem.solver->derivatives(0.0, y.data()), DaeOutcome::ok);
          for (std::size_t i = 0; i < n; ++i) slope[i] += side * problem.solver->dy()[i] / (2.0 * d);
        }
        y[j] = at;
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(jacobian[i * n + j], slope[i], 1e-6 * std::max(1.0, largest)) << i << " " << j;
      }
    }
}

TEST(ArraySolver, FindsTheDerivativesOfExactSolutions) {
  for (const DaeExample& example : with_solutions()) {
    SCOPED_TRACE(example.name);
    const Solved problem = solved(example, Mixing::none);
    for (const double t : {0.0, 0.4, 0.8}) {
      ASSERT_EQ(problem.solver->derivatives(t, example.solution(t).data()), DaeOutcome::ok);
      const double d = 1e-3;
      for (std::size_t i = 0; i < example.start.size(); ++i) {
        const auto y = [&](double at) { return example.solution(at)[i]; };
        const double slope = (8.0 * (y(t + d) - y(t - d)) - (y(t + 2.0 * d) - y(t - 2.0 * d))) / (12.0 * d);
        // d^4/30 y^(5) plus round-off of y over d, for y up to 200 and derivatives up to 3200 (Example 2.1).
        EXPECT_NEAR(problem.solver->dy()[i], slope, 1e-10 * std::max(1.0, std::abs(slope)) + 1e-10) << i;
      }
      for (const double residual : problem.solver->residuals()) EXPECT_NEAR(residual, 0.0, 1e-12);
      EXPECT_EQ(problem.solver->residuals().size(), example.constraints);
    }
  }
}

// The circle of 003 is singular at 0.93.
constexpr double t_end = 0.6;

// Errors of a method of order four fall by 16 when the step is halved; they are those of the free unknowns only, since
// the others are found anew by every projection: examples without free initial values are exact. Stages lie beside the
// manifold, by 200 h^2/4 in Example 2.1: at h = 0.015 by 1 percent, which makes its errors the largest.
TEST(ArraySolver, IntegratesToExactSolutions) {
  for (const DaeExample& example : with_solutions()) {
    SCOPED_TRACE(example.name);
    const bool free = example.constraints < example.start.size();
    const auto error = [&](int steps) {
      const Solved problem = solved(example, Mixing::none);
      const std::vector<double> y = integrated(*problem.solver, example.solution(0.0), t_end, steps),
                                exact = example.solution(t_end);
      double largest = 0.0;
      for (std::size_t i = 0; i < y.size(); ++i)
        largest = std::max(largest, std::abs(y[i] - exact[i]) / std::max(1.0, std::abs(exact[i])));
      return largest;
    };
    const double coarse = error(40), fine = error(80);
    if (free) {
      EXPECT_LT(coarse, 1e-3);
      EXPECT_LT(fine, coarse / 12.0);
    } else {
      EXPECT_LT(coarse, 1e-12);
    }
  }
}

// Against the angle: phi'' = -9.81 sin phi, by many steps of the same method.
TEST(ArraySolver, SwingsThePendulum) {
  const DaeExample pendulum = [] {
    for (const DaeExample& example : testing::dae_examples())
      if (example.name == "pendulum") return example;
    return DaeExample{};
  }();
  const double phi0 = 1.0;
  double phi = phi0, rate = 0.3;
  const double g = 9.81;
  const int many = 4000;
  for (int k = 0; k < many; ++k) {
    const double h = t_end / many;
    const double k1 = rate, l1 = -g * std::sin(phi), k2 = rate + 0.5 * h * l1, l2 = -g * std::sin(phi + 0.5 * h * k1),
                 k3 = rate + 0.5 * h * l2, l3 = -g * std::sin(phi + 0.5 * h * k2), k4 = rate + h * l3,
                 l4 = -g * std::sin(phi + h * k3);
    phi += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    rate += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
  }
  const double s = std::sin(phi), c = std::cos(phi);
  const std::vector<double> exact{s, -c, rate * c, rate * s, rate * rate + g * c};
  const auto error = [&](int steps) {
    const Solved problem = solved(pendulum, Mixing::none);
    const std::vector<double> start{std::sin(phi0), -std::cos(phi0), 0.3 * std::cos(phi0), 0.3 * std::sin(phi0),
                                    0.09 + g * std::cos(phi0)};
    const std::vector<double> y = integrated(*problem.solver, start, t_end, steps);
    double largest = 0.0;
    for (std::size_t i = 0; i < 5; ++i) largest = std::max(largest, std::abs(y[i] - exact[i]));
    return largest;
  };
  const double coarse = error(50), fine = error(100);
  EXPECT_LT(coarse, 1e-3);
  EXPECT_LT(fine, coarse / 12.0);
}

TEST(ArraySolver, ProjectsWithTheLeastChange) {
  // The circle of 003 has the constraints x1^2 + x2^2 = 1 and x1 + z = 0 (where x2 is not zero). From (0.7, 0.9, -0.5)
  // the nearest point has (x - x0) orthogonal to the curve (sin a, cos a, -sin a).
  const Solved problem = solved(testing::dae_examples()[2], Mixing::none);
  const double y0[] = {0.7, 0.9, -0.5}, sizes[] = {1.0, 1.0, 1.0};
  double y[] = {0.7, 0.9, -0.5};
  ASSERT_EQ(problem.solver->project(0.0, y, sizes), DaeOutcome::ok);
  // A few units of round-off; the least change as far as the last steps, shorter than 1e-8, keep old factors.
  EXPECT_NEAR(y[0] * y[0] + y[1] * y[1], 1.0, 1e-13);
  EXPECT_NEAR(y[0] + y[2], 0.0, 1e-13);
  const double tangent[] = {y[1], -y[0], -y[1]};
  double product = 0.0;
  for (std::size_t i = 0; i < 3; ++i) product += tangent[i] * (y[i] - y0[i]);
  EXPECT_NEAR(product, 0.0, 1e-7);
  // What may not move stays.
  const double fixed[] = {0.0, 1.0, 1.0};
  double x[] = {0.7, 0.9, -0.5};
  ASSERT_EQ(problem.solver->project(0.0, x, fixed), DaeOutcome::ok);
  EXPECT_EQ(x[0], 0.7);
  EXPECT_NEAR(x[1], std::sqrt(0.51), 1e-13);
  EXPECT_NEAR(x[2], -0.7, 1e-13);
}

// Beside the manifold y' is smooth: first differences over e and 2e agree to O(e), here about 1e-5 times second
// derivatives.
TEST(ArraySolver, IsSmoothBesideTheManifold) {
  for (const DaeExample& example : with_solutions()) {
    SCOPED_TRACE(example.name);
    const Solved problem = solved(example, Mixing::none);
    const std::size_t n = example.start.size();
    std::vector<double> y = example.solution(0.3);
    const std::vector<double> sizes(n, 1.0);
    ASSERT_EQ(problem.solver->project(0.3, y.data(), sizes.data()), DaeOutcome::ok);
    ASSERT_EQ(problem.solver->derivatives(0.3, y.data()), DaeOutcome::ok);
    const std::vector<double> centre = problem.solver->dy();
    const double e = 1e-5;
    std::vector<std::vector<double>> slope;
    for (const double step : {e, 2.0 * e}) {
      std::vector<double> beside = y;
      for (std::size_t i = 0; i < n; ++i)
        beside[i] += step * std::cos(3.0 * static_cast<double>(i)) * std::max(1.0, std::abs(y[i]));
      ASSERT_EQ(problem.solver->derivatives(0.3, beside.data()), DaeOutcome::ok);
      slope.push_back(problem.solver->dy());
      for (std::size_t i = 0; i < n; ++i) slope.back()[i] = (slope.back()[i] - centre[i]) / step;
    }
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(slope[0][i], slope[1][i], 1e-2 * std::max(1.0, std::abs(slope[1][i]))) << i;
  }
}

// Between two projections y' is one function: what was asked before, the derivative by y too, does not change it. A step of
// Newton's method for an implicit stage asks for points far apart.
TEST(ArraySolver, IsOneFunctionBetweenProjections) {
  for (const DaeExample& example : with_solutions()) {
    SCOPED_TRACE(example.name);
    const Solved problem = solved(example, Mixing::none);
    const std::size_t n = example.start.size();
    std::vector<double> y = example.solution(0.3);
    const std::vector<double> sizes(n, 1.0);
    ASSERT_EQ(problem.solver->project(0.3, y.data(), sizes.data()), DaeOutcome::ok);
    const auto beside = [&](double by) {
      std::vector<double> other = y;
      for (std::size_t i = 0; i < n; ++i) other[i] += by * std::sin(1.0 + static_cast<double>(i));
      return other;
    };
    ASSERT_EQ(problem.solver->derivatives(0.3, beside(0.01).data()), DaeOutcome::ok);
    const std::vector<double> first = problem.solver->dy();
    std::vector<double> jacobian(n * n);
    if (problem.solver->jacobian(0.35, beside(-0.1).data(), jacobian.data()) != DaeOutcome::ok) continue;  // too far
    ASSERT_EQ(problem.solver->derivatives(0.3, beside(0.01).data()), DaeOutcome::ok);
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(problem.solver->dy()[i], first[i], 1e-9 * std::max(1.0, std::abs(first[i]))) << i;
  }
}

// Mixed by dense matrices nothing can be read from the structure: the same trajectory in other unknowns.
TEST(ArraySolver, DoesNotNeedStructure) {
  for (const DaeExample& example : with_solutions()) {
    SCOPED_TRACE(example.name);
    DaeExample at_solution = example;
    at_solution.start = example.solution(0.0);
    const Solved mixed = solved(at_solution, Mixing::dense);
    std::vector<double> start;
    for (const auto& unknown : mixed.functions->unknowns) start.push_back(unknown.start.value);
    const std::vector<double> y = integrated(*mixed.solver, start, t_end, 80);
    DaeExample at_end = example;
    at_end.start = example.solution(t_end);
    const auto exact = testing::compiled(at_end, Mixing::dense, 3);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double expected = exact->unknowns[i].start.value;
      EXPECT_NEAR(y[i], expected, 1e-4 * std::max(1.0, std::abs(expected))) << i;
    }
  }
}

TEST(ArraySolver, ReusesItsFactors) {
  const Solved problem = solved(testing::dae_examples()[3], Mixing::none);
  std::vector<double> start(problem.found.point.jets.begin(), problem.found.point.jets.begin() + 7);
  integrated(*problem.solver, start, 0.5, 50);
  // One in every projection, and hardly more.
  EXPECT_LT(problem.solver->factorizations(), 130u);
}

TEST(ArraySolver, AllocatesNothing) {
  const Solved problem = solved(testing::dae_examples()[3], Mixing::none);
  std::vector<double> y(problem.found.point.jets.begin(), problem.found.point.jets.begin() + 7);
  const std::vector<double> sizes(7, 1.0);
  ASSERT_EQ(problem.solver->project(0.0, y.data(), sizes.data()), DaeOutcome::ok);
  const std::size_t before = allocations::counted();
  bool ok = true;
  for (int k = 0; k < 20; ++k) {
    ok = ok && problem.solver->derivatives(0.01 * k, y.data()) == DaeOutcome::ok;
    for (std::size_t i = 0; i < 7; ++i) y[i] += 0.01 * problem.solver->dy()[i];
    ok = ok && problem.solver->project(0.01 * (k + 1), y.data(), sizes.data()) == DaeOutcome::ok;
  }
  EXPECT_EQ(allocations::counted(), before);
  EXPECT_TRUE(ok);
}

}  // namespace
}  // namespace daedalus::structure
