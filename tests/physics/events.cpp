// Events against times in closed form, to 1e-9 at rtol 1e-11: a bouncing ball, a pendulum that hits a wall, a block that
// sticks and slips, a controller that samples.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "physics/reference.hpp"

namespace daedalus::tests {
namespace {

using Happened = std::vector<std::pair<std::string, double>>;

solve::Trajectory tight(const std::string& model, const std::string& formulation, const std::string& method) {
  solve::RunOptions options;
  options.rtol = 1e-11;
  options.formulation = formulation;
  options.method = method;
  return solve::simulate(prepared(model), options);
}

void expect(const solve::Trajectory& run, const Happened& expected, const std::string& without = "") {
  ASSERT_TRUE(run.success()) << run.message;
  std::vector<solve::EventRecord> events;
  for (const solve::EventRecord& event : run.events)
    if (event.name != without) events.push_back(event);
  ASSERT_EQ(events.size(), expected.size());
  for (std::size_t k = 0; k < events.size(); ++k) {
    EXPECT_EQ(events[k].name, expected[k].first) << k;
    EXPECT_NEAR(events[k].t, expected[k].second, 1e-9) << k;
  }
}

struct Way {
  const char *formulation, *method;
};
class EventTimes : public testing::TestWithParam<Way> {
 protected:
  solve::Trajectory run(const std::string& model) { return tight(model, GetParam().formulation, GetParam().method); }
};

TEST_P(EventTimes, BouncingBall) {
  const double g = 9.81, h = 1.0, e = 0.9;
  double v = std::sqrt(2.0 * g * h);
  Happened expected;
  for (double t = v / g; t < 5.0; t += 2.0 * v / g) {
    expected.emplace_back("bounce", t);
    v *= e;
  }
  expect(run("bouncing_ball"), expected);
}

TEST_P(EventTimes, PendulumHitsAWall) {
  // From rest at the angle a to the wall it takes a quarter of the period 4 K(k)/w, k = sin(a/2); the speed there is
  // 2 sqrt(g l) k, so that each impact multiplies k by e, and half a period follows.
  const double w = std::sqrt(9.81 / 1.5), e = 0.8;
  double k = std::sin(0.6);
  Happened expected;
  for (double t = std::comp_ellint_1(k) / w; t < 8.0; t += 2.0 * std::comp_ellint_1(k) / w) {
    expected.emplace_back("impact", t);
    k *= e;
  }
  const solve::Trajectory motion = run("pendulum_wall");
  expect(motion, expected);
  // The reset values bind, and the other velocity follows: the speed after an impact is e times that before.
  for (std::size_t row = 1; row < motion.t.size(); ++row) {
    if (motion.t[row] != motion.t[row - 1]) continue;
    const std::size_t vx = motion.column("der(x)"), vy = motion.column("der(y)");
    EXPECT_NEAR(motion.value(row, vx), -e * motion.value(row - 1, vx), 1e-14);
    EXPECT_NEAR(motion.value(row, vy), -e * motion.value(row - 1, vy), 1e-9);  // the state before may have drifted
  }
}

TEST_P(EventTimes, StickSlip) {
  const double m = 1.0, k = 40.0, V = 0.2, Fs = 6.0, Fk = 4.0, w = std::sqrt(k / m), A = (Fs - Fk) / k;
  const double slips = 2.0 * (std::numbers::pi - std::atan(A * w / V)) / w, sticks = 2.0 * (Fs - Fk) / (k * V);
  Happened expected;
  for (double t = Fs / (k * V); t < 10.0; t += sticks) {
    expected.emplace_back("slip", t);
    t += slips;
    if (t < 10.0) expected.emplace_back("stick", t);
  }
  expect(run("stick_slip"), expected);
}

TEST_P(EventTimes, SampledController) {
  const solve::Trajectory motion = run("sampled_controller");
  double x = 0.0, v = 0.0;
  Happened near;
  std::size_t samples = 0;
  for (const solve::EventRecord& event : motion.events) {
    if (event.name != "sample") continue;
    EXPECT_EQ(event.t, 0.01 * static_cast<double>(samples++));
  }
  EXPECT_EQ(samples, 301U);
  for (int k = 0; k < 300; ++k) {
    const double u = 30.0 * (1.0 - x) - 8.0 * v, T = 0.01, next = x + v * T + u * T * T / 2.0;
    if (near.empty() && next >= 0.95)
      near.emplace_back("near", k * T + (-v + std::sqrt(v * v - 2.0 * u * (x - 0.95))) / u);
    x = next;
    v += u * T;
  }
  expect(motion, near, "sample");
  EXPECT_NEAR(motion.last("x"), x, 1e-10);
}

/// Rows before a switch show the mode before it, also those of the step that ends at it: z is x/1.5 below zero and x/2 above,
/// and y keeps a relation with a kink, whose derivative gives lam.
TEST(EventRows, BelongToTheModeOfTheirTime) {
  const solve::Prepared kinked = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = { start = -1, fixed = true }
z = 0
[equations]
rise = "der(x) = 1"
kink = "z + if(z > 0, z, 0.5*z) = x"
)toml", "kinked"));
  const solve::Prepared hidden = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 1
y = 0
lam = 0
[equations]
a = "der(x) = -x + lam"
b = "der(y) = x - 2*lam"
kept = "x + y + 0.3*abs(y) = 1 + 0.5*sin(3*t)"
)toml", "hidden"));
  solve::RunOptions options;
  options.t_end = 3.0;
  options.samples = 101;
  for (const std::string method : {"radau", "bdf", "dop853"}) {
    options.formulation = "direct";
    options.method = method;
    const solve::Trajectory run = solve::simulate(kinked, options);
    ASSERT_TRUE(run.success()) << run.message;
    for (std::size_t row = 0; row < run.t.size(); ++row) {
      const double x = run.t[row] - 1.0;
      EXPECT_NEAR(run.value(row, run.column("z")), x / (x > 0.0 ? 2.0 : 1.5), 1e-6) << method << " at " << run.t[row];
    }
    for (const std::string formulation : {"index1", "projection"}) {
      options.formulation = formulation;
      const solve::Trajectory other = solve::simulate(hidden, options);
      ASSERT_TRUE(other.success()) << other.message;
      EXPECT_GE(other.constraints.absolute.size(), 1u);
      EXPECT_LE(other.constraints.absolute[0], 1e-4) << formulation << " + " << method;
      for (std::size_t row = 0; row < other.t.size(); ++row) {
        const auto value = [&](const char* name) { return other.value(row, other.column(name)); };
        // lam from der(kept), with the side of y on which the motion is
        const double side = 1.0 + (value("y") > 0.0 ? 0.3 : -0.3);
        if (std::abs(value("y")) < 1e-4) continue;
        const double lam = (value("x") - side * value("x") + 1.5 * std::cos(3.0 * other.t[row])) / (1.0 - 2.0 * side);
        EXPECT_NEAR(value("lam"), lam, 1e-4) << formulation << " + " << method << " at " << other.t[row];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(By, EventTimes,
                         testing::Values(Way{"projection", "dop853"}, Way{"projection", "dopri5"}, Way{"index1", "radau"},
                                         Way{"index2", "radau"}),
                         [](const auto& way) { return std::string(way.param.formulation) + "_" + way.param.method; });

/// A pendulum as equations comes back from a wall: its place stays, its velocity turns round, and der(y) with the der(x) that the
/// event names. Its energy says so, with every formulation.
TEST(EventsOfDaes, ReboundsLeaveThePlaceAsItIs) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = { start = 0.6, fixed = true }
y = -0.8
tension = 0
"der(x)" = { start = 0, fixed = true }
[equations]
sideways = "x'' = -tension*x"
upwards = "y'' = -tension*y - 9.81"
rod = "x^2 + y^2 = 1"
[events]
wall = { when = "x + 0.5", direction = "down", reset = { "der(x)" = "-der(x)" } }
[outputs]
energy = "(x'^2 + y'^2)/2 + 9.81*(y + 0.8)"
[simulation]
t_end = 5
)toml", "wall"));
  for (const std::string formulation : {"projection", "index1", "baumgarte", "dummy-derivatives", "overdetermined"}) {
    SCOPED_TRACE(formulation);
    solve::RunOptions options;
    options.formulation = formulation;
    options.rtol = 1e-9;
    options.samples = 41;
    const solve::Trajectory run = solve::simulate(model, options);
    ASSERT_TRUE(run.success()) << run.message;
    EXPECT_GE(run.events.size(), 2u);
    for (std::size_t row = 0; row < run.t.size(); ++row) EXPECT_NEAR(run.value(row, run.column("energy")), 0.0, 1e-6) << run.t[row];
  }
}

/// From t = 1 on z is prescribed through x: the index leaps, and the answer says what is open.
TEST(EventsOfDaes, AnIndexThatLeapsIsNamed) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = { start = 0, fixed = true }
y = 0
z = 0
[equations]
a = "der(x) = y"
b = "if(t < 1, z - 1, x - 1 - sin(t - 1)) = 0"
c = "z = y"
[simulation]
t_end = 2
)toml", "leap"));
  const solve::Trajectory run = solve::simulate(model, {});
  EXPECT_FALSE(run.success());
  EXPECT_EQ(run.message, "the index is above 1 here: 'a' and 'b' and first derivatives of them do not determine der(y) and der(z), "
                         "after the event at t = 1");
}

}  // namespace
}  // namespace daedalus::tests
