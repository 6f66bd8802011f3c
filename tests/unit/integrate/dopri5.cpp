#include <gtest/gtest.h>

#include "daedalus/integrate/order_conditions.hpp"
#include "daedalus/integrate/stability.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::kepler;
using problems::kepler_solution;

Tolerance tolerance() { return {1e-6, std::vector<double>(5, 1e-6)}; }

TEST(Dopri5, FirstStageIsTheLastOfTheStepBefore) {
  const System system = kepler();
  const auto stepper = problems::make_stepper(integrator("dopri5"), system);
  const Tolerance given = tolerance();
  stepper->start(0.0, kepler_solution(0.0).data());
  EXPECT_EQ(stepper->stats().rhs, 1u);
  stepper->attempt(0.1, &given);
  stepper->accepted(0.1);
  EXPECT_EQ(stepper->stats().rhs, 7u);
  std::vector<double> row(5);
  stepper->interpolate(0.3, row.data());
  stepper->attempt(0.1, &given);
  stepper->rejected();
  stepper->attempt(0.05, &given);
  EXPECT_EQ(stepper->stats().rhs, 19u);  // dense output costs nothing
}

// The estimate uses the slope at the end as computed; the next step begins with that at the end as projected.
TEST(Dopri5, EstimatesFirstThenTakesTheProjectedEnd) {
  const System system = kepler();
  const auto stepper = problems::make_stepper(integrator("dopri5"), system);
  const Tolerance given = tolerance();
  stepper->start(0.0, kepler_solution(0.0).data());
  ASSERT_EQ(stepper->attempt(0.1, &given).outcome, Evaluation::ok);
  for (std::size_t i = 0; i < 5; ++i) stepper->candidate()[i] += 1e-3;
  const std::vector<double> end(stepper->candidate(), stepper->candidate() + 5);
  ASSERT_EQ(stepper->accepted(0.1), Evaluation::ok);
  EXPECT_EQ(stepper->stats().rhs, 8u);
  std::vector<double> slope(5);
  system.ode(0.1, end.data(), slope.data());
  EXPECT_EQ(std::vector<double>(stepper->derivative(), stepper->derivative() + 5), slope);
}

// The stepper has its rows unrolled, beside the exact tableau: one step of both agrees. The tableau's own step is made
// here.
TEST(Dopri5, StepperAgreesWithTheTableau) {
  const Tableau& tableau = *integrator("dopri5").tableau;
  const System system = kepler();
  const std::vector<double> start = kepler_solution(0.3);
  const double t = 0.3, h = 0.2;
  std::vector<std::vector<double>> k(7, std::vector<double>(5));
  for (std::size_t i = 0; i < 7; ++i) {
    std::vector<double> x = start;
    for (std::size_t j = 0; j < i; ++j)
      for (std::size_t n = 0; n < 5; ++n) x[n] += h * tableau.a[i][j] * k[j][n];
    system.ode(t + tableau.c[i] * h, x.data(), k[i].data());
  }
  std::vector<double> end = start;
  double square_sum = 0.0;
  for (std::size_t n = 0; n < 5; ++n) {
    double error = 0.0;
    for (std::size_t i = 0; i < 7; ++i) {
      end[n] += h * tableau.b[i] * k[i][n];
      error += h * (tableau.b[i] - tableau.embedded[i]) * k[i][n];
    }
    const double ratio = error / (1e-6 + 1e-6 * std::max(std::abs(start[n]), std::abs(end[n])));
    square_sum += ratio * ratio;
  }
  const auto stepper = problems::make_stepper(integrator("dopri5"), system);
  const Tolerance given = tolerance();
  stepper->start(t, start.data());
  const Attempt attempt = stepper->attempt(h, &given);
  EXPECT_LT(problems::distance(end, {stepper->candidate(), stepper->candidate() + 5}), 4e-16 * 5);
  // The sums in the estimate cancel to 1e-5 of their terms.
  EXPECT_NEAR(attempt.error, std::sqrt(square_sum / 5.0), 1e-9 * attempt.error);
}

TEST(Dopri5, SaysWhenAProblemIsStiff) {
  const System system = problems::growth(-1000.0);
  std::vector<double> x{1.0};
  const LoopResult result = problems::run("dopri5", system, problems::controlled(system, 10.0, 1e-4), x);
  ASSERT_EQ(result.status, Status::done);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("looks stiff"), std::string::npos);
}

TEST(OrderConditions, OrderOfKnownTableaux) {
  const auto order = [](const char* name) {
    const Tableau& tableau = *integrator(name).tableau;
    return order_of(tableau.a, tableau.b);
  };
  EXPECT_EQ(order("explicit-euler"), 1);
  EXPECT_EQ(order("rk4"), 4);
  EXPECT_EQ(order("dopri5"), 5);
  EXPECT_EQ(order("dop853"), 8);
  EXPECT_EQ(order_of({{}}, {0.5}), 0);
}

TEST(Stability, KnownFunctionsAndIntervals) {
  const Tableau& rk4 = *integrator("rk4").tableau;
  const std::complex<double> z(-0.7, 1.3);
  EXPECT_LT(std::abs(stability_function(rk4, z) - (1.0 + z + z * z / 2.0 + z * z * z / 6.0 + z * z * z * z / 24.0)),
            1e-15);
  // The roots of 1 + z/2 + z^2/6 + z^3/24 = 0 and of y^2 = 8.
  EXPECT_NEAR(stability_interval(rk4, -1.0), 2.785293563405282, 1e-9);
  EXPECT_NEAR(stability_interval(rk4, {0.0, 1.0}), std::sqrt(8.0), 1e-6);
  EXPECT_EQ(stability_interval(*integrator("midpoint").tableau, {0.0, 1.0}), 0.0);
  EXPECT_TRUE(std::isinf(stability_at_infinity(rk4)));
  const Tableau euler = exact_tableau({.a = {{"1"}}, .b = {"1"}, .c = {"1"}});
  EXPECT_LT(std::abs(stability_function(euler, z) - 1.0 / (1.0 - z)), 1e-15);
  EXPECT_LT(stability_at_infinity(euler), 1e-6);
  EXPECT_TRUE(std::isinf(stability_interval(euler, -1.0)));
  EXPECT_EQ(properties_of(euler), (std::vector<std::string>{"A-stable", "L-stable", "stiffly accurate"}));
}

// Backward differentiation: z = sum_j (1 - 1/zeta)^j / j on the unit circle is where the largest root has modulus 1.
TEST(Stability, MultistepFormulasHaveTheirRootLocus) {
  for (int order = 1; order <= 5; ++order) {
    IntegratorEntry entry;
    entry.name = "formula";
    entry.multistep = {bdf_formula(order)};
    const std::complex<double> zeta = std::polar(1.0, 2.0), w = 1.0 - 1.0 / zeta;
    std::complex<double> z = 0.0, power = 1.0;
    for (int j = 1; j <= order; ++j) {
      power *= w;
      z += power / static_cast<double>(j);
    }
    EXPECT_NEAR(amplification(entry, 0, z), 1.0, 1e-9) << order;
    EXPECT_LT(amplification(entry, 0, -1000.0), 1.0);
    EXPECT_NEAR(amplification(entry, 0, 0.0), 1.0, 1e-9) << "zero-stable";
  }
  EXPECT_EQ(bdf_formula(2).alpha, (std::vector<double>{0.5, -2.0, 1.5}));
}

}  // namespace
}  // namespace daedalus::integrate
