#include "daedalus/integrate/families/step_doubling.hpp"

#include <gtest/gtest.h>

#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::growth;
using problems::kepler;
using problems::kepler_solution;

std::unique_ptr<Stepper> doubled(const std::string& name, const System& system) {
  return problems::make_stepper(integrator(name), system, Control::adaptive);
}

TEST(StepDoubling, ExplicitMethodIsExtrapolated) {
  const System system = growth(1.0);
  const auto stepper = doubled("explicit-euler", system);
  const double start = 1.0, h = 0.1;
  stepper->start(0.0, &start);
  const Tolerance tolerance{0.0, {1e-3}};
  const Attempt attempt = stepper->attempt(h, &tolerance);
  // One step 1 + h, two (1 + h/2)^2 = 1 + h + h^2/4; the difference is the estimate, and extrapolated 1 + h + h^2/2.
  EXPECT_NEAR(attempt.error, h * h / 4 / 1e-3, 1e-12);
  EXPECT_NEAR(stepper->candidate()[0], 1.0 + h + h * h / 2, 1e-15);
}

// The trapezoidal rule has R(z) = (1 + z/2)/(1 - z/2), -1 at infinity. Extrapolated it would tend to 5/3.
TEST(StepDoubling, ImplicitMethodIsNot) {
  const double rate = -1e6, h = 1.0;
  const System system = growth(rate);
  const auto stepper = doubled("crank-nicolson", system);
  const double start = 1.0;
  stepper->start(0.0, &start);
  const Tolerance tolerance{0.0, {1e3}};
  ASSERT_EQ(stepper->attempt(h, &tolerance).outcome, Evaluation::ok);
  const double half = (1.0 + rate * h / 4) / (1.0 - rate * h / 4);
  EXPECT_NEAR(stepper->candidate()[0], half * half, 1e-9);
}

TEST(StepDoubling, EvaluatesTheEndsOfStepsOnce) {
  const System system = kepler();
  const std::vector<double> start = kepler_solution(0.0);
  const auto stepper = doubled("rk4", system);
  const Tolerance tolerance{1e-6, std::vector<double>(5, 1e-6)};
  stepper->start(0.0, start.data());
  EXPECT_EQ(stepper->stats().rhs, 0u);
  stepper->attempt(0.1, &tolerance);
  EXPECT_EQ(stepper->stats().rhs, 11u);  // 12, less the common first stage
  stepper->rejected();
  stepper->attempt(0.05, &tolerance);
  EXPECT_EQ(stepper->stats().rhs, 21u);  // the first stage stays known
  stepper->accepted(0.05);
  std::vector<double> row(5);
  stepper->interpolate(0.2, row.data());  // the slope in the middle is known from the second half
  EXPECT_EQ(stepper->stats().rhs, 21u);
  stepper->interpolate(0.8, row.data());
  EXPECT_EQ(stepper->stats().rhs, 22u);
  ASSERT_NE(stepper->derivative(), nullptr);
  stepper->attempt(0.1, &tolerance);
  EXPECT_EQ(stepper->stats().rhs, 32u);
}

// Between steps the two halves have an interpolant each; they meet in the middle, and the second ends at the accepted
// state wherever it was moved to.
TEST(StepDoubling, InterpolantIsContinuousAndEndsAtTheAcceptedState) {
  const System system = kepler();
  const std::vector<double> start = kepler_solution(0.0);
  const auto stepper = doubled("rk4", system);
  stepper->start(0.0, start.data());
  ASSERT_EQ(stepper->attempt(0.2, nullptr).outcome, Evaluation::ok);
  for (std::size_t i = 0; i < 5; ++i) stepper->candidate()[i] += 1e-4;
  const std::vector<double> end(stepper->candidate(), stepper->candidate() + 5);
  ASSERT_EQ(stepper->accepted(0.2), Evaluation::ok);
  std::vector<double> left(5), right(5), row(5);
  stepper->interpolate(0.5 - 1e-12, left.data());
  stepper->interpolate(0.5, right.data());
  EXPECT_LT(problems::distance(left, right), 1e-11);
  stepper->interpolate(0.0, row.data());
  EXPECT_LT(problems::distance(row, start), 1e-15);
  stepper->interpolate(1.0, row.data());
  EXPECT_LT(problems::distance(row, end), 1e-15);
}

// With local extrapolation the solution has order p + 1: for a fixed sequence of steps the error falls accordingly.
TEST(StepDoubling, ExtrapolatedOrderIsOneHigher) {
  for (const auto& [name, order] : {std::pair{"heun2", 3}, std::pair{"rk4", 5}}) {
    std::vector<double> errors;
    for (const int steps : {64, 128}) {
      const System system = kepler();
      const auto stepper = doubled(name, system);
      stepper->start(0.0, kepler_solution(0.0).data());
      for (int k = 1; k <= steps; ++k) {
        ASSERT_EQ(stepper->attempt(3.0 / steps, nullptr).outcome, Evaluation::ok);
        ASSERT_EQ(stepper->accepted(3.0 * k / steps), Evaluation::ok);
      }
      errors.push_back(problems::distance({stepper->state(), stepper->state() + 5}, kepler_solution(3.0)));
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), order, 0.25) << name;
  }
}

TEST(StepDoubling, FailureInAnyOfTheThreeStepsIsReported) {
  for (const double wall : {0.15, 0.08, 0.01}) {
    System system = kepler();
    system.ode = [inner = system.ode, wall](double t, const double* x, double* dx) {
      return t > wall ? Evaluation::singular : inner(t, x, dx);
    };
    const auto stepper = doubled("rk4", system);
    stepper->start(0.0, kepler_solution(0.0).data());
    EXPECT_EQ(stepper->attempt(0.2, nullptr).outcome, Evaluation::singular);
    EXPECT_EQ(stepper->attempt(0.9 * wall, nullptr).outcome, Evaluation::ok);
  }
}

TEST(StepDoubling, SymplecticMethodSaysThatItNoLongerIsOne) {
  const System system = kepler();
  std::vector<double> x = kepler_solution(0.0);
  const LoopResult result = problems::run("gauss4", system, problems::controlled(system, 1.0, 1e-5), x);
  ASSERT_EQ(result.status, Status::done);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("no longer symplectic"), std::string::npos);
  x = kepler_solution(0.0);
  EXPECT_TRUE(problems::run("gauss4", system, problems::fixed(1.0, 0.1), x).notes.empty());
}

}  // namespace
}  // namespace daedalus::integrate
