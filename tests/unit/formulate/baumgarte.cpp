// Poles and automatic gains of Baumgarte's stabilization.

#include "daedalus/formulate/step_gain.hpp"
#include "unit/formulate/tools.hpp"

namespace daedalus::tests {
namespace {

const char* const rod = R"toml(
kind = "lagrangian"
[variables]
x = 1.05
y = 0
"der(x)" = 0.2
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2)/2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = 1"
[outputs]
g = "x^2 + y^2 - 1"
)toml";

double violation_at(const std::string& choice, double t) {
  solve::RunOptions options;
  options.formulation = choice;
  options.method = "dop853";
  options.initialize = "off";
  options.t_end = t;
  options.rtol = 1e-11;
  options.rows = solve::Rows::ends;
  return solve::simulate(prepared_text(rod), options).last("g");
}

/// g'' - (p1 + p2) g' + p1 p2 g = 0 from g0, d0.
TEST(Baumgarte, PlacesPolesAnywhereInTheLeftHalfPlane) {
  const double g0 = 1.05 * 1.05 - 1.0, d0 = 2.0 * 1.05 * 0.2;
  const double t = 0.7;
  const double two = ((d0 + 7.0 * g0) * std::exp(-3.0 * t) - (d0 + 3.0 * g0) * std::exp(-7.0 * t)) / 4.0;
  EXPECT_NEAR(violation_at("baumgarte:pole1=-3,pole2=-7", t), two, 1e-9);
  const double twice = (g0 + (d0 + 4.0 * g0) * t) * std::exp(-4.0 * t);
  EXPECT_NEAR(violation_at("baumgarte:pole1=-4", t), twice, 1e-9);
  const double pair = std::exp(-2.0 * t) * (g0 * std::cos(5.0 * t) + (d0 + 2.0 * g0) / 5.0 * std::sin(5.0 * t));
  EXPECT_NEAR(violation_at("baumgarte:pole1=-2,imaginary=5", t), pair, 1e-9);
}

std::string complaint(const std::string& choice) {
  try {
    violation_at(choice, 0.1);
  } catch (const Error& error) {
    return error.faults().front().message;
  }
  return "none";
}

TEST(Baumgarte, RefusesPolesThatLetViolationsGrow) {
  EXPECT_EQ(complaint("baumgarte:pole1=2"), "baumgarte: with pole1 = 2 a violation of the constraints would not decay");
  EXPECT_EQ(complaint("baumgarte:pole1=-2,pole2=0"),
            "baumgarte: with pole2 = 0 a violation of the constraints would not decay");
  EXPECT_EQ(complaint("baumgarte:pole2=-1"), "baumgarte needs pole1 where pole2 or imaginary is given");
  EXPECT_EQ(complaint("baumgarte:pole1=-1,pole2=-2,imaginary=1"), "baumgarte takes pole2 or imaginary, not both");
  EXPECT_EQ(complaint("baumgarte:pole1=-1,omega=2"),
            "baumgarte takes alpha and beta, or omega and xi, or poles, not several of them");
  EXPECT_EQ(complaint("baumgarte:gains=auto,omega=2"),
            "baumgarte finds its gains itself with gains=auto, and takes none then");
}

TEST(StepGain, FollowsTheStepByFactorsOfTwo) {
  formulate::StepGain gain;
  EXPECT_FALSE(gain.follow(0.0, 1e-6));  // steps grow: wait
  EXPECT_FALSE(gain.follow(0.1, 1e-3));
  EXPECT_FALSE(gain.follow(0.2, 0.08));
  EXPECT_TRUE(gain.follow(0.3, 0.1));
  EXPECT_EQ(gain.value(), 4.0);
  EXPECT_FALSE(gain.follow(0.4, 0.08));
  EXPECT_TRUE(gain.follow(0.5, 0.3));  // longer: at once
  EXPECT_EQ(gain.value(), 1.0);
  for (int i = 1; i <= 3; ++i) EXPECT_FALSE(gain.follow(i, 1e-6));  // shorter: not at once, and not far
  EXPECT_TRUE(gain.follow(4.0, 1e-6));
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(gain.follow(4.0, 1e-6));  // one step, tried again and again
  EXPECT_EQ(gain.value(), 2.0);
  formulate::StepGain backwards;
  backwards.follow(0.0, -0.1);
  backwards.follow(-0.1, -0.1);
  EXPECT_EQ(backwards.value(), 4.0);
}

/// What the comment of StepGain promises. One-step methods: the spectral radius of the matrix written there. Multistep
/// methods: s^2 + (2 k s + b) exp(-s) on the border of the left half plane goes around 0 as s^2 does, seen by its phase at the
/// frequency w where both terms are of one size; it must not have reached -pi.
TEST(StepGain, HeldFeedbackIsStable) {
  for (double k = 0.01; k < 1.0; k += 0.01)
    for (const double share : {0.01, 0.1, 0.5, 1.0}) {
      const double b = share * k * k;
      const double trace = 2.0 - 0.5 * b - 2.0 * k, determinant = (1.0 - 0.5 * b) * (1.0 - 2.0 * k) + b * (1.0 - k);
      const double discriminant = 0.25 * trace * trace - determinant;
      const double radius = discriminant < 0.0 ? std::sqrt(determinant) : std::abs(0.5 * trace) + std::sqrt(discriminant);
      EXPECT_LT(radius, 1.0) << k << ", " << share;
      if (k > 0.5) continue;
      const double w2 = 2.0 * k * k + std::sqrt(4.0 * k * k * k * k + b * b), w = std::sqrt(w2);
      EXPECT_LT(w, std::atan2(2.0 * k * w, b)) << k << ", " << share;
    }
}

/// Gains that follow the step keep the order of a method: halving the step of rk4 divides drift and error by about 16.
TEST(Baumgarte, AutomaticGainsKeepTheOrder) {
  const auto run = [](const std::string& choice, double step) {
    solve::RunOptions options;
    options.formulation = choice;
    options.method = "rk4";
    options.step = step;
    options.t_end = 2.0;
    options.rows = solve::Rows::ends;
    return solve::simulate(prepared_text(rod), options);
  };
  for (const char* choice : {"baumgarte:gains=auto", "ascher-chin-reich:gain=auto"}) {
    const double exact = run("projection", 0.001).last("x");
    const solve::Trajectory coarse = run(choice, 0.02), fine = run(choice, 0.01);
    const double ratio = (coarse.last("x") - exact) / (fine.last("x") - exact);
    EXPECT_GT(ratio, 10.0) << choice;
    EXPECT_LT(ratio, 30.0) << choice;
    const double unstabilized = run("index1", 0.02).constraints.absolute[0];
    EXPECT_LT(coarse.constraints.absolute[0], 0.2 * unstabilized) << choice;
    EXPECT_LT(fine.constraints.absolute[0], 0.1 * coarse.constraints.absolute[0]) << choice;
  }
}

}  // namespace
}  // namespace daedalus::tests
