#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

#include <gtest/gtest.h>

#include "daedalus/base/check.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

/// Heun's method of order 2 with Euler's embedded: the smallest pair.
IntegratorEntry heun_euler() {
  IntegratorEntry entry;
  entry.name = "heun-euler";
  entry.order = 2;
  entry.estimate_order = 2;
  return explicit_runge_kutta(entry, {.a = {{}, {1.0}}, .b = {0.5, 0.5}, .c = {0.0, 1.0}, .embedded = {1.0, 0.0}});
}

TEST(ExplicitRungeKutta, EntryFollowsFromTheTableau) {
  const IntegratorEntry entry = heun_euler();
  EXPECT_TRUE(entry.adaptive);
  EXPECT_EQ(entry.stages, 2);
  EXPECT_EQ(entry.dense_order, 2);
  EXPECT_EQ(entry.tableau->b.size(), 2u);
  EXPECT_THROW(explicit_runge_kutta({}, {.a = {{0.5}}, .b = {1.0}, .c = {0.5}}), InternalError);
}

TEST(ExplicitRungeKutta, EstimateIsTheDifferenceOfTheTwoFormulas) {
  const System system = problems::growth(1.0);
  const IntegratorEntry entry = heun_euler();
  const std::unique_ptr<Stepper> stepper = problems::make_stepper(entry, system);
  const double start = 1.0, h = 0.1;
  stepper->start(0.0, &start);
  const Tolerance tolerance{0.0, {1e-3}};
  const Attempt attempt = stepper->attempt(h, &tolerance);
  // Heun 1 + h + h^2/2, Euler 1 + h.
  EXPECT_NEAR(attempt.error, h * h / 2 / 1e-3, 1e-12);
  EXPECT_EQ(attempt.worst, 0u);
  EXPECT_NEAR(*stepper->candidate(), 1.0 + h + h * h / 2, 1e-15);
}

TEST(ExplicitRungeKutta, StepControlWithAnEmbeddedFormula) {
  const System system = problems::growth(-1.0);
  const IntegratorEntry entry = heun_euler();
  std::vector<double> errors;
  for (const double tolerance : {1e-4, 1e-6}) {
    const std::unique_ptr<Stepper> stepper = problems::make_stepper(entry, system);
    std::vector<double> x{1.0};
    const LoopResult result = integrate(system, entry, *stepper, problems::controlled(system, 1.0, tolerance), {}, x);
    ASSERT_EQ(result.status, Status::done);
    EXPECT_EQ(result.t, 1.0);
    errors.push_back(std::abs(x[0] - std::exp(-1.0)));
  }
  // h is proportional to the root of the tolerance and the error to h^2.
  EXPECT_NEAR(std::log10(errors[0] / errors[1]), 2.0, 0.2);
}

TEST(ExplicitRungeKutta, SlopeAtTheEndServesOutputAndNextStep) {
  const System system = problems::kepler();
  const std::vector<double> start = problems::kepler_solution(0.0);
  const std::unique_ptr<Stepper> stepper = problems::make_stepper(integrator("rk4"), system);
  stepper->start(0.0, start.data());
  stepper->attempt(0.1, nullptr);
  stepper->accepted(0.1);
  EXPECT_EQ(stepper->stats().rhs, 4u);
  EXPECT_EQ(stepper->derivative(), nullptr);
  std::vector<double> row(5);
  stepper->interpolate(0.5, row.data());
  stepper->interpolate(0.7, row.data());
  EXPECT_EQ(stepper->stats().rhs, 5u);
  EXPECT_NE(stepper->derivative(), nullptr);
  stepper->attempt(0.1, nullptr);
  EXPECT_EQ(stepper->stats().rhs, 8u);
}

TEST(Taylor2, MatchesItsFormula) {
  System system;
  system.dimension = 3;
  system.coordinates = 1;
  system.ode = [](double, const double* x, double* dx) {
    dx[0] = x[1];
    dx[1] = 6.0;
    dx[2] = 2.0 * x[2];
    return Evaluation::ok;
  };
  const std::vector<double> start{1.0, 2.0, 3.0};
  const std::unique_ptr<Stepper> stepper = problems::make_stepper(integrator("taylor2"), system);
  stepper->start(0.0, start.data());
  ASSERT_EQ(stepper->attempt(0.5, nullptr).outcome, Evaluation::ok);
  EXPECT_EQ(stepper->candidate()[0], 1.0 + 0.5 * 2.0 + 0.125 * 6.0);
  EXPECT_EQ(stepper->candidate()[1], 2.0 + 0.5 * 6.0);
  EXPECT_EQ(stepper->candidate()[2], 3.0 + 0.5 * 6.0);
}

}  // namespace
}  // namespace daedalus::integrate
