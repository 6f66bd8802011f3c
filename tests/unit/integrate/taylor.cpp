// The Taylor method: its order by steps and by tolerance, and what a step costs.
#include <gtest/gtest.h>

#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::distance;
using problems::kepler;
using problems::kepler_solution;

double error_with(const std::string& order, int steps) {
  const IntegratorEntry& method = integrator("taylor");
  const System system = kepler();
  const auto stepper =
      make_stepper(method, system, Options(Choice{"taylor", {{"order", order}}}, method.options), Control::fixed);
  std::vector<double> x = kepler_solution(0.0);
  double largest = 0.0;
  Observer observer;
  observer.step = [&](double t, const double* at) {
    largest = std::max(largest, distance(kepler_solution(t), std::vector<double>(at, at + 5)));
  };
  const LoopResult result = integrate(system, method, *stepper, problems::fixed(6.0, 6.0 / steps), observer, x);
  EXPECT_EQ(result.status, Status::done);
  return largest;
}

TEST(Taylor, EveryOrderIsMeasured) {
  struct Case {
    int order, steps;
  };
  // The finest pair of steps whose errors are above 1000 round-offs. Successive coefficients fall by r = 2, the
  // distance of the nearest complex singularity, acosh(1/e) - sqrt(1 - e^2): the next power of h is up to h (p+1)/r of
  // the leading one, and moves the observed order by at most log2((1 + n) / (1 + n/2)), n = h (p+1)/r.
  for (const auto& [order, steps] : {Case{3, 320}, Case{5, 160}, Case{8, 48}, Case{12, 20}}) {
    const double coarse = error_with(std::to_string(order), steps), fine = error_with(std::to_string(order), 2 * steps);
    ASSERT_GT(fine, 1e-13) << order;
    const double next = 6.0 / steps * (order + 1) / 2.0;
    EXPECT_NEAR(std::log2(coarse / fine), order, std::log2((1.0 + next) / (1.0 + 0.5 * next))) << order;
  }
}

TEST(Taylor, OrderFollowsTheTolerance) {
  // More digits cost orders, not steps: with h = r/e^2 the number of steps does not depend on the tolerance.
  std::vector<std::size_t> steps;
  for (const double tolerance : {1e-8, 1e-14}) {
    std::vector<double> x = kepler_solution(0.0);
    const LoopResult result = problems::run("taylor", kepler(), problems::controlled(kepler(), 60.0, tolerance), x);
    ASSERT_EQ(result.status, Status::done) << result.message;
    EXPECT_EQ(result.stats.rejected, 0u);
    steps.push_back(result.stats.steps);
    // Errors of the semi-axis grow like 3 t/2 per step of tolerance 3 tol.
    EXPECT_LT(distance(x, kepler_solution(60.0)), 270.0 * static_cast<double>(result.stats.steps) * tolerance);
  }
  EXPECT_LT(static_cast<double>(steps[1]), 1.25 * static_cast<double>(steps[0]));
}

TEST(Taylor, TakesOneSeriesPerStep) {
  System system = kepler();
  std::size_t series = 0;
  system.series = [&, inner = system.series](double t, const double* x, std::size_t order, double* out) {
    ++series;
    return inner(t, x, order, out);
  };
  std::vector<double> x = kepler_solution(0.0);
  const LoopResult result = problems::run("taylor", system, problems::controlled(system, 60.0, 1e-12), x);
  ASSERT_EQ(result.status, Status::done);
  EXPECT_EQ(series, result.stats.steps + 1);
}

}  // namespace
}  // namespace daedalus::integrate
