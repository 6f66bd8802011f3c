// A beam on three parallel rods, one more than needed, against the same motion in one angle: constraints that follow from
// others change nothing but what can be known about the multipliers.
#include <gtest/gtest.h>

#include <cmath>

#include "physics/reference.hpp"

namespace daedalus::tests {
namespace {

solve::Trajectory run_of(const std::string& model, const std::string& formulation) {
  solve::RunOptions options;
  options.rtol = options.atol = 1e-12;
  options.samples = 101;
  options.formulation = formulation;
  solve::Trajectory run = solve::simulate(prepared(model), options);
  EXPECT_TRUE(run.success()) << formulation << ": " << run.message;
  return run;
}

/// The global error of dop853 is up to 3500 tolerances in 50 s of a pendulum, and this is a pendulum for 10 s: a tenth of
/// 1e-9 remains for either run. `auto` is projection.
TEST(Redundant, TheThirdRodDoesNotChangeTheMotion) {
  const solve::Trajectory minimal = run_of("parallelogram_minimal", "auto");
  for (const std::string formulation : {"projection", "udwadia-kalaba", "partition", "null-space"}) {
    const solve::Trajectory run = run_of("parallelogram", formulation);
    ASSERT_EQ(run.t, minimal.t);
    const std::size_t theta = minimal.column("theta"), rate = minimal.column("der(theta)");
    for (std::size_t k = 0; k < run.t.size(); ++k) {
      const double angle = minimal.value(k, theta), speed = minimal.value(k, rate);
      const auto expect = [&](const char* name, double value) {
        EXPECT_NEAR(run.value(k, run.column(name)), value, 1e-9) << formulation << " " << name << " at t = " << run.t[k];
      };
      expect("x", 0.6 + std::sin(angle));
      expect("y", -std::cos(angle));
      expect("phi", 0.0);
      expect("der(x)", speed * std::cos(angle));
      expect("der(y)", speed * std::sin(angle));
      expect("der(phi)", 0.0);
    }
  }
}

/// Which forces the rods share is open, but not their sum: m (y'' + g) with y = -cos(theta) and theta'' = -g sin(theta). It
/// is known to the digits of theta times 2 m (g + speed^2) < 100.
TEST(Redundant, TheRodsCarryTheBeamTogether) {
  const solve::Trajectory run = run_of("parallelogram", "projection"), minimal = run_of("parallelogram_minimal", "auto");
  for (std::size_t k = 0; k < run.t.size(); ++k) {
    const double angle = minimal.value(k, minimal.column("theta")), speed = minimal.value(k, minimal.column("der(theta)"));
    const double rise = speed * speed * std::cos(angle) - 9.81 * std::sin(angle) * std::sin(angle);
    EXPECT_NEAR(run.value(k, run.column("load")), 2.0 * (rise + 9.81), 1e-7) << run.t[k];
  }
}

TEST(Redundant, TheRunSaysWhatIsNotUnique) {
  const solve::Trajectory run = run_of("parallelogram", "projection");
  ASSERT_EQ(run.notes.size(), 2u);
  EXPECT_EQ(run.notes[0], "the constraint 'middle' is redundant: it follows from 'left' and 'right'");
  EXPECT_EQ(run.notes[1],
            "accelerations are unique, but lambda.left, lambda.right and lambda.middle are not: of all values that give this "
            "motion the smallest are shown");
}

}  // namespace
}  // namespace daedalus::tests
