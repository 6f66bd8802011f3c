// Motions over positions where constraints become dependent, against motions in one coordinate that knows nothing of
// them.
#include <gtest/gtest.h>

#include <cmath>

#include "physics/reference.hpp"

namespace daedalus::tests {
namespace {

constexpr double pi = 3.141592653589793238;

/// The slider-crank from rest at theta1 = pi/4 moves on its branch with theta'^2 (3 + 2 cos 2 theta)/2 - g cos theta
/// constant. A quarter of its period is the integral of sqrt((3 + 2 cos 2 theta)/(2 g (cos theta - cos pi/4))) from 0
/// to pi/4, with sin(theta/2) = k sin(phi) and k = sin(pi/8) that of a smooth periodic function, for which the
/// trapezoidal rule is exact.
double quarter_period() {
  constexpr int points = 64;
  const double k = std::sin(pi / 8.0);
  double sum = 0.0;
  for (int i = 0; i < points; ++i) {
    const double s = k * std::sin(0.5 * pi * (i + 0.5) / points), theta = 2.0 * std::asin(s);
    sum += std::sqrt((3.0 + 2.0 * std::cos(2.0 * theta)) / (9.81 * (1.0 - s * s)));
  }
  return 0.5 * pi * sum / points;
}

struct Way {
  const char* method;
  double rtol;
};

class SliderCrank : public testing::TestWithParam<Way> {};

/// Both rods are vertical at odd multiples of a quarter of the period. The energy of a run is off by less than 3500
/// tolerances (NUMERICS: dop853 with projection in 50 s), growing with the time; the period of this swing changes by
/// less than that part of itself, so that the k-th passage is off by less than 3500 rtol t (t/50).
TEST_P(SliderCrank, PassesAHundredTimesOnItsBranch) {
  const double quarter = quarter_period();
  solve::RunOptions options;
  options.method = GetParam().method;
  options.formulation = "projection";
  options.rtol = options.atol = GetParam().rtol;
  options.t_end = 200.0 * quarter;
  options.samples = 2001;
  const solve::Trajectory run = solve::simulate(prepared("slider_crank_position"), options);
  ASSERT_TRUE(run.success()) << run.message;
  for (std::size_t row = 0; row < run.t.size(); ++row) {
    const double theta1 = run.value(row, run.column("theta1")), theta2 = run.value(row, run.column("theta2"));
    const double rate1 = run.value(row, run.column("der(theta1)")), rate2 = run.value(row, run.column("der(theta2)"));
    // Rows are on the branch up to eps/s in positions and eps/s^2 in velocities with s^2 > 10 eps/rtol, or, nearer to
    // the singular position, up to a few tolerances.
    ASSERT_NEAR(theta1 + theta2, pi, 1e-9 + 10.0 * GetParam().rtol) << run.t[row];
    ASSERT_NEAR(rate1 + rate2, 0.0, 1e-9 + 10.0 * GetParam().rtol) << run.t[row];
  }
  ASSERT_EQ(run.singular_positions.size(), 100u);
  for (std::size_t k = 0; k < 100; ++k) {
    const integrate::SingularPosition& passed = run.singular_positions[k];
    const double exact = static_cast<double>(2 * k + 1) * quarter;
    EXPECT_NEAR(passed.t, exact, 3500.0 * options.rtol.value() * exact * (1.0 + exact / 50.0)) << k;
    EXPECT_EQ(passed.constraints, std::vector<std::string>{"slide"});
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, SliderCrank,
                         testing::Values(Way{"dop853", 1e-4}, Way{"dop853", 1e-6}, Way{"dop853", 1e-8},
                                         Way{"dop853", 1e-10}, Way{"dop853", 1e-11}, Way{"auto", 1e-6},
                                         Way{"auto", 1e-10}, Way{"dopri5", 1e-8}));

/// Whatever the formulation: a run stays on its branch as long as it goes. Only forms without any stabilization do not:
/// they drift from g = 0 to g = c, whose branches do not meet, and follow the bend; nor does index2, whose velocities alone
/// are bound and which may come out of a singular position on either branch.
TEST(SingularPositions, OtherFormulationsKeepTheBranch) {
  const solve::Prepared model = prepared("slider_crank_position");
  for (const std::string formulation : {"index3", "baumgarte", "ggl", "stabilized-index1", "null-space",
                                        "udwadia-kalaba", "ascher-chin-reich", "augmented-lagrangian"}) {
    solve::RunOptions options;
    options.formulation = formulation;
    options.rtol = options.atol = 1e-7;
    options.t_end = 5.0;
    const solve::Trajectory run = solve::simulate(model, options);
    for (std::size_t row = 0; row < run.t.size(); ++row) {
      const double sum = run.value(row, run.column("theta1")) + run.value(row, run.column("theta2"));
      // Drift at this tolerance is below 1e-3; the other branch is off by the angles.
      ASSERT_NEAR(sum, pi, 1e-3) << formulation << " at t = " << run.t[row];
    }
  }
}

/// Rows at the singular positions themselves, which the dense output meets in the middle of a step.
TEST(SingularPositions, RowsAreOnTheBranch) {
  const double quarter = quarter_period();
  for (const double rtol : {1e-4, 1e-8, 1e-11}) {
    solve::RunOptions options;
    options.rtol = options.atol = rtol;
    options.t_end = 10.0 * quarter;
    for (int k = 1; k < 10; k += 2)
      for (const double beside : {-1e-3, -1e-6, -1e-9, 0.0, 1e-12, 1e-7, 1e-4})
        options.at.push_back(k * quarter + beside);
    const solve::Trajectory run = solve::simulate(prepared("slider_crank_position"), options);
    ASSERT_TRUE(run.success()) << run.message;
    ASSERT_EQ(run.t.size(), options.at.size());
    // theta'^2 (3 + 2 cos 2 theta)/2 = g (cos theta - cos pi/4)
    const double speed = std::sqrt(2.0 * 9.81 * (1.0 - std::cos(0.25 * pi)) / 5.0);
    for (std::size_t row = 0; row < run.t.size(); ++row) {
      const double theta1 = run.value(row, run.column("theta1")), rate1 = run.value(row, run.column("der(theta1)"));
      EXPECT_NEAR(theta1 + run.value(row, run.column("theta2")), pi, 1e-9 + 10.0 * rtol) << rtol << " " << run.t[row];
      EXPECT_NEAR(rate1 + run.value(row, run.column("der(theta2)")), 0.0, 1e-9 + 10.0 * rtol)
          << rtol << " " << run.t[row];
      EXPECT_NEAR(std::abs(rate1), speed, 3500.0 * rtol + 1e-5) << rtol << " " << run.t[row];
    }
  }
}

/// N + 1 rods on N bars: all rods turn by one angle, (N + 1)/3 + N times theta'' is (3 N + 1)/2 g sin(theta).
TEST(SingularPositions, BarsThatFoldTurnLikeAPendulum) {
  for (const int N : {1, 2, 5}) {
    const std::string pendulum =
        "kind = \"lagrangian\"\n[variables]\ntheta = 0.0\n\"der(theta)\" = 1.0\n[lagrangian]\n" +
        ("kinetic = \"(" + std::to_string(4 * N + 1) + ")/6*der(theta)^2\"\n") +
        ("potential = \"(" + std::to_string(3 * N + 1) + ")/2*9.81*cos(theta)\"\n");
    solve::RunOptions options;
    options.t_end = 10.0;
    options.samples = 201;
    options.rtol = options.atol = 1e-13;
    const solve::Trajectory exact =
        solve::simulate(solve::prepare(model::read_model_text(pendulum, "pendulum")), options);
    ASSERT_TRUE(exact.success()) << exact.message;
    model::Overrides overrides;
    overrides.set = {{"N", std::to_string(N)}};
    // At the last ones round-off of stages moves the end of a step over a position by more than a hundred tolerances.
    for (const double rtol : {1e-5, 1e-7, 1e-9, 1e-11, 7.5e-12, 4.2e-12}) {
      options.rtol = options.atol = rtol;
      const solve::Trajectory run = solve::simulate(prepared("four_bars", overrides), options);
      ASSERT_TRUE(run.success()) << N << " " << rtol << ": " << run.message;
      // Every half turn passes one.
      const auto turns = static_cast<std::size_t>(std::floor(exact.last("theta") / pi + 0.5));
      ASSERT_EQ(run.singular_positions.size(), turns) << N << " " << rtol;
      EXPECT_EQ(run.singular_positions[0].constraints.size(), static_cast<std::size_t>(2 * N + 1));
      double worst = 0.0;
      for (std::size_t row = 0; row < run.t.size(); ++row)
        for (int i = 0; i <= N; ++i) {
          const double theta = exact.value(row, exact.column("theta"));
          const std::string index = "[" + std::to_string(i) + "]";
          worst = std::max({worst, std::abs(run.value(row, run.column("x" + index)) - i - std::sin(theta)),
                            std::abs(run.value(row, run.column("y" + index)) - std::cos(theta))});
        }
      EXPECT_LE(worst, 3500.0 * rtol) << N << " " << rtol;
    }
  }
}

/// With a second rod that is longer the branches do not meet: theta2 stays below pi, and turns back before it. Energy
/// tells whether the bend was taken: it is kept by the tolerance, not where a step cuts the corner.
TEST(SingularPositions, ABendIsFollowed) {
  for (const double longer : {1e-2, 1e-4, 1e-6}) {
    const std::string text = "kind = \"lagrangian\"\n[parameters]\nl = " + std::to_string(1.0 + longer) + R"toml(
[variables]
theta1 = "pi/4"
theta2 = "acos(-cos(pi/4)/l)"
[lagrangian]
kinetic = "der(theta1)^2 + (l*der(theta2))^2/2 + l*der(theta1)*der(theta2)*cos(theta2 - theta1)"
potential = "-2*9.81*cos(theta1) - 9.81*l*cos(theta2)"
[constraints]
slide = "cos(theta1) + l*cos(theta2) = 0"
)toml";
    for (const double rtol : {1e-3, 1e-6, 1e-9}) {
      solve::RunOptions options;
      options.rtol = options.atol = rtol;
      options.t_end = 20.0;
      options.samples = 501;
      const solve::Trajectory run = solve::simulate(solve::prepare(model::read_model_text(text, "bend")), options);
      ASSERT_TRUE(run.success()) << longer << " " << rtol << ": " << run.message;
      EXPECT_TRUE(run.singular_positions.empty()) << longer << " " << rtol;
      double most = 0.0;
      for (std::size_t row = 0; row < run.t.size(); ++row) most = std::max(most, run.value(row, run.column("theta2")));
      EXPECT_LE(most, std::acos(-1.0 / (1.0 + longer)) + 1e-12) << longer << " " << rtol;
      EXPECT_LE(*run.energy, 3500.0 * rtol) << longer << " " << rtol;
    }
  }
}

/// A crank that is driven over the position at t = 1.
const char* const driven = R"toml(
kind = "lagrangian"
[variables]
theta1 = 1
theta2 = "pi - 1"
[lagrangian]
kinetic = "der(theta1)^2 + der(theta2)^2/2 + der(theta1)*der(theta2)*cos(theta2 - theta1)"
potential = "-2*9.81*cos(theta1) - 9.81*cos(theta2)"
[constraints]
drive = "theta1 = 1 - time"
slide = "cos(theta1) + cos(theta2) = 0"
)toml";

TEST(SingularPositions, ADrivenCrankPassesAtAnOutputTime) {
  solve::RunOptions options;
  options.t_end = 2.0;
  options.at = {0.5, 1.0, 1.5, 2.0};
  for (const double rtol : {1e-4, 1e-8}) {
    options.rtol = options.atol = rtol;
    const solve::Trajectory run = solve::simulate(solve::prepare(model::read_model_text(driven, "driven")), options);
    ASSERT_TRUE(run.success()) << rtol << ": " << run.message;
    ASSERT_EQ(run.singular_positions.size(), 1u);
    EXPECT_NEAR(run.singular_positions[0].t, 1.0, 10.0 * rtol);
    EXPECT_EQ(run.singular_positions[0].constraints, std::vector<std::string>{"slide"});
    for (std::size_t row = 0; row < run.t.size(); ++row) {
      EXPECT_NEAR(run.value(row, run.column("theta2")), pi - 1.0 + run.t[row], 1e-9 + 10.0 * rtol) << rtol;
      EXPECT_NEAR(run.value(row, run.column("der(theta2)")), 1.0, 1e-9 + 10.0 * rtol) << rtol;
    }
  }
}

solve::Trajectory run_of(const solve::Prepared& model, const std::string& method, double step, double t_end) {
  solve::RunOptions options;
  options.method = method;
  options.step = step;
  options.t_end = t_end;
  return solve::simulate(model, options);
}

/// Steps of given size pass where they do not end in the position itself.
TEST(SingularPositions, FixedStepsSayWhatTheyPass) {
  const solve::Trajectory run = run_of(prepared("slider_crank_position"), "rk4", 1e-3, 10.0);
  ASSERT_TRUE(run.success()) << run.message;
  ASSERT_EQ(run.singular_positions.size(), 5u);
  for (std::size_t k = 0; k < 5; ++k)
    EXPECT_NEAR(run.singular_positions[k].t, static_cast<double>(2 * k + 1) * quarter_period(), 1e-6) << k;
  EXPECT_NEAR(run.last("theta1") + run.last("theta2"), pi, 1e-8);
}

/// 2 is a multiple of 1/8, and 1 as well: the eighth step ends at the position.
TEST(SingularPositions, AFixedStepThatEndsThereStops) {
  const solve::Trajectory run = run_of(solve::prepare(model::read_model_text(driven, "driven")), "rk4", 0.125, 2.0);
  EXPECT_EQ(run.status, integrate::Status::singular);
  EXPECT_EQ(run.message,
            "the step from t = 0.875 to t = 1 ends in a singular position of 'slide', from where the equations do not "
            "say how the "
            "motion goes on; choose a step size that goes over it");
}

TEST(SingularPositions, TheRunSaysWhatItPassed) {
  solve::RunOptions options;
  options.t_end = 2.0;
  EXPECT_EQ(solve::simulate(prepared("slider_crank_position"), options).notes.back(),
            "passed a singular position at t = 1.03074: 'slide' binds nothing there, and branches cross; the motion "
            "stayed on the one "
            "it came on");
  options.t_end = 10.0;
  EXPECT_EQ(solve::simulate(prepared("slider_crank_position"), options).notes.back(),
            "passed 5 singular positions, the first at t = 1.03074, the last at t = 9.27666: 'slide' binds nothing "
            "there, and branches "
            "cross; the motion stayed on the one it came on");
}

}  // namespace
}  // namespace daedalus::tests
