// Backward differentiation: what the conformance tests do not ask.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "daedalus/integrate/families/multistep.hpp"
#include "unit/integrate/dae_problems.hpp"
#include "unit/integrate/multistep_problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::growth_on_circle;
using problems::kepler;
using problems::kepler_solution;
using problems::make_with_order;
using problems::order_on_circle;

class BdfOrder : public testing::TestWithParam<int> {};

TEST_P(BdfOrder, IsTheOptionWithFixedSteps) {
  // Neighbouring orders are 1 away.
  EXPECT_NEAR(order_on_circle("bdf", GetParam()), GetParam(), 0.1);
}

TEST_P(BdfOrder, FollowsAStiffSolution) {
  // The stiff part is stiffly accurate: the error is that of cos(t), h^(k+1) / (k+1) or less, divided by the rate.
  const double rate = 1e6, h = 0.05;
  const System system = problems::relaxation(rate);
  std::vector<double> x{1.0};
  const std::unique_ptr<Stepper> stepper = make_with_order("bdf", system, GetParam());
  ASSERT_EQ(integrate(system, integrator("bdf"), *stepper, problems::fixed(2.0, h), {}, x).status, Status::done);
  // The exact solution lags: x = cos t + sin(t) / rate + O(1 / rate^2).
  const double lag = std::sin(2.0) / rate;
  EXPECT_NEAR(x[0], std::cos(2.0) + lag, std::pow(h, GetParam()) / rate + 1e-11);
}

INSTANTIATE_TEST_SUITE_P(All, BdfOrder, testing::Range(1, 6));

TEST(Bdf, StaysBoundedOnTheImaginaryAxisUpToOrderTwoOnly) {
  for (const double angle : {0.01, 0.1, 0.3, 1.0, 2.0, 10.0, 1000.0}) {
    for (const int order : {1, 2})
      EXPECT_LT(growth_on_circle("bdf", order, angle), 1.0 + 1e-9) << order << ", " << angle;
  }
  // Order 5 is unstable near z = 2 i, far inside the sector of 38 degrees that its stability leaves out.
  EXPECT_GT(growth_on_circle("bdf", 5, 2.0), 1e3);
}

TEST(Bdf, ProjectionEntersTheHistory) {
  // On the circle x^2 + y^2 = 1 the projection removes the normal error. The error of order 4, h^5 x^(5), is
  // tangential, so that the phase shows the order.
  System system = problems::rotation(1.0);
  system.project = [](double, double* x) {
    const double r = std::hypot(x[0], x[1]);
    x[0] /= r;
    x[1] /= r;
    return Evaluation::ok;
  };
  double before = 0.0, order = 0.0;
  for (const double h : {0.08, 0.04, 0.02}) {
    std::vector<double> x{1.0, 0.0};
    const std::unique_ptr<Stepper> stepper = make_with_order("bdf", system, 4);
    ASSERT_EQ(integrate(system, integrator("bdf"), *stepper, problems::fixed(8.0, h), {}, x).status, Status::done);
    EXPECT_NEAR(std::hypot(x[0], x[1]), 1.0, 1e-15);
    const double error = std::abs(std::atan2(x[1], x[0]) - (8.0 - 2.0 * std::numbers::pi));
    order = std::log2(before / error);
    before = error;
  }
  // The next power of h changes the order seen by something like h.
  EXPECT_NEAR(order, 4.0, 0.1);
}

TEST(Bdf, ErrorFollowsTheToleranceOnEveryIndex) {
  for (const problems::DaeProblem& problem : problems::dae_problems()) {
    double first = 0.0, last = 0.0;
    for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
      std::vector<double> y = problem.exact(0.0);
      LoopOptions options = problems::controlled(problem.system, problem.t_end, tolerance);
      ASSERT_EQ(problems::run("bdf", problem.system, options, y).status, Status::done) << problem.name;
      const std::vector<double> exact = problem.exact(problem.t_end);
      double error = 0.0;
      for (const std::size_t c : problem.kinds[0]) error = std::max(error, std::abs(y[c] - exact[c]));
      // Errors of size tolerance / 12 in each of up to 1500 steps, damped or not.
      EXPECT_LT(error, 125.0 * tolerance) << problem.name << " at " << tolerance;
      if (first == 0.0) first = error;
      last = error;
    }
    // An error per step of order tolerance over tolerance^(-1/6) steps: at least the power 5/6 of 1e6.
    EXPECT_LT(last, 1e-5 * first) << problem.name;
  }
}

TEST(Bdf, TakesRobertsonToTheEnd) {
  // t_end = 1e11 after 1e4 times longer steps than the fastest time constant.
  const problems::ReferenceProblem problem = problems::robertson();
  for (const double tolerance : {1e-6, 1e-9}) {
    std::vector<double> y = problem.start;
    LoopOptions options = problems::controlled(problem.system, problem.t_end, tolerance);
    options.tolerance.atol.assign(3, 1e-4 * tolerance);
    const LoopResult result = problems::run("bdf", problem.system, options, y);
    ASSERT_EQ(result.status, Status::done) << result.message;
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(y[i], problem.end[i], tolerance * (1e-4 + problem.end[i])) << i;
  }
}

TEST(Bdf, NoiseOfMagnifiedUnknownsDoesNotTrapTheStep) {
  // Two voltages of the amplifier magnify errors of the others a hundred times. Where the iteration stops too early,
  // the order falls to 1 in steps of 1e-9 of the span and stays there.
  const problems::ReferenceProblem problem = problems::transistor_amplifier();
  double steps_before = 0.0;
  for (const double tolerance : {1e-6, 1e-7, 1e-8, 1e-9}) {
    std::vector<double> y = problem.start;
    const LoopResult result =
        problems::run("bdf", problem.system, problems::controlled(problem.system, problem.t_end, tolerance), y);
    ASSERT_EQ(result.status, Status::done) << result.message;
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], problem.end[i], 10.0 * tolerance) << i;
    // Order 5 needs 10^(1/6) = 1.47 times as many steps for a digit, order 4 1.58.
    const double steps = static_cast<double>(result.stats.steps);
    if (steps_before > 0.0) {
      EXPECT_LT(steps, 1.7 * steps_before) << tolerance;
    }
    steps_before = steps;
  }
}

TEST(Bdf, KeepsJacobiansAndFactors) {
  std::vector<double> x = kepler_solution(0.0);
  const System system = kepler();
  const LoopResult result = problems::run("bdf", system, problems::controlled(system, 60.0, 1e-6), x);
  ASSERT_EQ(result.status, Status::done);
  EXPECT_LT(result.stats.jacobians * 5, result.stats.steps);
  EXPECT_LT(result.stats.newton_iterations, 4 * result.stats.steps);
}

}  // namespace
}  // namespace daedalus::integrate
