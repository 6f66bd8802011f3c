// The method `auto`: which of its two methods is at work, and that changing between them costs no accuracy.
#include <gtest/gtest.h>

#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

/// Stiff from t = 1 to t = 2 and not elsewhere: x' = -k(t) (x - cos 20t) - 20 sin 20t, x = cos 20t, with k = 1 or 1e5.
System stiff_for_a_while() {
  System system;
  system.dimension = 1;
  system.names = {"x"};
  system.ode = [](double t, const double* x, double* dx) {
    const double k = 1.0 + 5e4 * (std::tanh(50.0 * (t - 1.0)) - std::tanh(50.0 * (t - 2.0)));
    dx[0] = -k * (x[0] - std::cos(20.0 * t)) - 20.0 * std::sin(20.0 * t);
    return Evaluation::ok;
  };
  return system;
}

struct Outcome {
  LoopResult result;
  std::string used;
  double end = 0.0;
};

Outcome run(const System& system, double t_end, double tolerance) {
  const IntegratorEntry& method = integrator("auto");
  const auto stepper = problems::make_stepper(method, system);
  std::vector<double> x(system.dimension, 1.0);
  Outcome out;
  out.result = integrate(system, method, *stepper, problems::controlled(system, t_end, tolerance), {}, x);
  out.used = stepper->used();
  out.end = x[0];
  return out;
}

TEST(Auto, StaysExplicitWhereNothingIsStiff) {
  const System system = problems::kepler();
  const IntegratorEntry& method = integrator("auto");
  const auto stepper = problems::make_stepper(method, system);
  std::vector<double> x = problems::kepler_solution(0.0), single = x;
  const LoopOptions options = problems::controlled(system, 60.0, 1e-9);
  const LoopResult result = integrate(system, method, *stepper, options, {}, x);
  ASSERT_EQ(result.status, Status::done);
  EXPECT_EQ(stepper->used(), "dop853");
  EXPECT_TRUE(result.notes.empty());
  // The steps are those of dop853, to the last bit; the looks at the spectral radius cost 7 evaluations in 20 steps.
  const LoopResult alone = problems::run("dop853", system, options, single);
  EXPECT_EQ(x, single);
  EXPECT_EQ(result.stats.steps, alone.stats.steps);
  EXPECT_LE(result.stats.rhs, alone.stats.rhs + 7 * (alone.stats.steps / 20));
}

TEST(Auto, BecomesImplicitWhereStabilityHoldsTheStep) {
  // x' = -1e6 (x - cos t) - sin t, x = cos t: dop853 would need 1e6 * 20 / 6.1 = 3e6 steps.
  System system = problems::growth(0.0);
  system.ode = [](double t, const double* x, double* dx) {
    dx[0] = -1e6 * (x[0] - std::cos(t)) - std::sin(t);
    return Evaluation::ok;
  };
  const Outcome out = run(system, 20.0, 1e-8);
  ASSERT_EQ(out.result.status, Status::done) << out.result.message;
  EXPECT_EQ(out.used, "dop853,radau");
  ASSERT_EQ(out.result.notes.size(), 1u);
  EXPECT_NE(out.result.notes[0].find("from dop853 to radau"), std::string::npos);
  EXPECT_LT(out.result.stats.steps, 1000u);
  EXPECT_NEAR(out.end, std::cos(20.0),
              3e-6);  // radau accepts an error of 300 tolerances in a step; all die out at once
}

TEST(Auto, ReturnsWhenStiffnessIsGone) {
  const Outcome out = run(stiff_for_a_while(), 10.0, 1e-8);
  ASSERT_EQ(out.result.status, Status::done) << out.result.message;
  ASSERT_GE(out.result.notes.size(), 2u);
  EXPECT_NE(out.result.notes[0].find("from dop853 to radau"), std::string::npos);
  EXPECT_NE(out.result.notes[1].find("from radau to dop853"), std::string::npos);
  EXPECT_NEAR(out.end, std::cos(200.0), 1e-6);  // of dop853 over three times the memory of the equation
}

/// Motion on a circle that attracts, weakly at first and then 1e6 times as strongly as it turns. For 11 digits explicit steps
/// shrink far inside the region of stability, where nothing but their length tells that the implicit method is due.
TEST(Auto, ReturnsToImplicitStepsThatWereMuchLonger) {
  System system;
  system.dimension = 2;
  system.names = {"x", "y"};
  system.ode = [](double t, const double* x, double* dx) {
    const double square = x[0] * x[0] + x[1] * x[1], k = 1.0 + 1e6 * std::pow(std::sin(0.1 * t), 30);
    dx[0] = -x[1] - k * (square - 1.0) * x[0];
    dx[1] = x[0] - k * (square - 1.0) * x[1];
    return Evaluation::ok;
  };
  const IntegratorEntry& method = integrator("auto");
  const auto stepper = method.make(system, Options(Choice{"auto", {{"first", "implicit"}}}, method.options));
  std::vector<double> x{1.0, 0.0}, alone{1.0, 0.0};
  const LoopOptions options = problems::controlled(system, 30.0, 1e-11);
  const LoopResult result = integrate(system, method, *stepper, options, {}, x);
  ASSERT_EQ(result.status, Status::done) << result.message;
  EXPECT_NEAR(x[0], std::cos(30.0), 1e-8);
  ASSERT_EQ(result.notes.size(), 2u);
  EXPECT_NE(result.notes[1].find("from dop853 to radau"), std::string::npos) << result.notes[1];
  EXPECT_NE(result.notes[1].find("where radau had taken steps of"), std::string::npos) << result.notes[1];
  EXPECT_LE(result.stats.rhs, 1.5 * static_cast<double>(problems::run("radau", system, options, alone).stats.rhs));
}

TEST(Auto, BeginsImplicitOnRequest) {
  const System system = problems::growth(-1.0);
  const IntegratorEntry& method = integrator("auto");
  const auto stepper = method.make(system, Options(parse_choice("auto:first=implicit"), method.options));
  std::vector<double> x{1.0};
  const LoopResult result = integrate(system, method, *stepper, problems::controlled(system, 1.0, 1e-6), {}, x);
  ASSERT_EQ(result.status, Status::done);
  EXPECT_EQ(stepper->used().substr(0, 5), "radau");
  EXPECT_NEAR(x[0], std::exp(-1.0), 1e-5);
}

}  // namespace
}  // namespace daedalus::integrate
