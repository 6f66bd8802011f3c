// The state-space forms: coordinates that change while the motion goes on must not be seen in its results.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::tests {
namespace {

/// A pendulum that turns over: every coordinate is bad twice in a turn.
constexpr const char* turning = R"toml(
kind = "lagrangian"
[variables]
x = 0
y = -1
"der(x)" = 7
"der(y)" = 0
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2)/2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = 1"
)toml";

/// A crank that turns round in a four-bar linkage (Grashof: 1 + 3.5 < 3 + 2.5), in the coordinates of its two joints.
constexpr const char* four_bar = R"toml(
kind = "lagrangian"
[variables]
x1 = { start = 1, fixed = true }
y1 = 0
x2 = 2.2
y2 = 2.1
"der(y1)" = { start = 6, fixed = true }
[lagrangian]
kinetic = "(der(x1)^2 + der(y1)^2)/2 + (der(x2)^2 + der(y2)^2)/4"
potential = "y1 + y2"
[constraints]
crank = "x1^2 + y1^2 = 1"
coupler = "(x2 - x1)^2 + (y2 - y1)^2 = 3^2"
rocker = "(x2 - 3.5)^2 + y2^2 = 2.5^2"
)toml";

const std::vector<std::string>& forms() {
  static const std::vector<std::string> all{"partition", "null-space"};
  return all;
}

solve::Prepared prepared(const std::string& text) { return solve::prepare(model::read_model_text(text, "test")); }

solve::RunOptions options_for(const std::string& formulation, const std::string& method, double t_end) {
  solve::RunOptions options;
  options.formulation = formulation;
  options.method = method;
  options.t_end = t_end;
  options.rtol = 1e-9;
  options.samples = 201;
  return options;
}

solve::Trajectory reference_for(const solve::Prepared& model, double t_end) {
  solve::RunOptions options = options_for("projection", "dop853", t_end);
  options.rtol = 1e-13;
  return solve::simulate(model, options);
}

/// Largest difference in positions and velocities, over all rows.
double distance(const solve::Prepared& model, const solve::Trajectory& a, const solve::Trajectory& b) {
  EXPECT_EQ(a.t.size(), b.t.size());
  double largest = 0.0;
  for (std::size_t row = 0; row < std::min(a.t.size(), b.t.size()); ++row)
    for (std::size_t c = 0; c < 2 * model.functions->n; ++c)
      largest = std::max(largest, std::abs(a.value(row, c) - b.value(row, c)));
  return largest;
}

std::size_t changes(const solve::Trajectory& run) {
  for (const std::string& note : run.notes) {
    const std::string begin = "local coordinates changed ";
    if (note.find(begin) == 0) return note.find("once") == begin.size() ? 1 : std::stoul(note.substr(begin.size()));
  }
  return 0;
}

/// Fixed steps over four turns, outputs between them. The reference errs by about 1e-10. Halved steps meet the charts in
/// other places, so that the constant of the error varies, by half an order at most over two halvings.
TEST(StateSpace, MethodsKeepTheirOrderAcrossChanges) {
  const solve::Prepared model = prepared(turning);
  const double t_end = 4.0;
  const solve::Trajectory reference = reference_for(model, t_end);
  ASSERT_TRUE(reference.success()) << reference.message;
  struct Case {
    std::string method;
    int steps, order;  ///< of the lower one of steps and dense output
  };
  for (const std::string& form : forms())
    for (const Case& one : std::vector<Case>{
             {"rk4", 400, 4}, {"dopri5", 300, 5}, {"dop853", 60, 7}, {"radau", 250, 5}, {"bdf", 1200, 5}, {"mebdf", 800, 4}}) {
      SCOPED_TRACE(form + ", " + one.method);
      const auto error = [&](int steps) {
        solve::RunOptions options = options_for(form, one.method, t_end);
        options.step = t_end / steps;
        const solve::Trajectory run = solve::simulate(model, options);
        EXPECT_TRUE(run.success()) << run.message;
        EXPECT_GE(changes(run), 12u);
        EXPECT_LE(run.constraints.relative[0], 1e-14);
        EXPECT_LE(run.constraints.relative[1], 1e-14);
        return distance(model, run, reference);
      };
      EXPECT_GT(std::log2(error(one.steps) / error(4 * one.steps)) / 2.0, one.order - 0.5);
    }
}

/// Under step control the error follows the tolerance, within thirty times that of projection at the same one, and 300 and
/// 3000 times with radau and bdf.
TEST(StateSpace, FollowsTheToleranceThroughManyChanges) {
  struct Motion {
    const char* text;
    double t_end;
  };
  for (const Motion& motion : {Motion{turning, 50.0}, Motion{four_bar, 20.0}}) {
    const solve::Prepared model = prepared(motion.text);
    const solve::Trajectory reference = reference_for(model, motion.t_end);
    ASSERT_TRUE(reference.success()) << reference.message;
    for (const double rtol : {1e-6, 1e-8, 1e-10}) {
      solve::RunOptions plain = options_for("projection", "dop853", motion.t_end);
      plain.rtol = rtol;
      const double allowed = distance(model, solve::simulate(model, plain), reference);
      for (const std::string& form : forms())
        for (const auto& [method, factor] :
             std::vector<std::pair<std::string, double>>{{"dop853", 30.0}, {"auto", 30.0}, {"radau", 300.0}, {"bdf", 3000.0}}) {
          SCOPED_TRACE(form + ", " + method + ", " + std::to_string(rtol));
          solve::RunOptions options = options_for(form, method, motion.t_end);
          options.rtol = rtol;
          const solve::Trajectory run = solve::simulate(model, options);
          ASSERT_TRUE(run.success()) << run.message;
          EXPECT_GE(changes(run), 20u);
          EXPECT_LE(distance(model, run, reference), factor * allowed);
          EXPECT_LE(run.constraints.relative[0], 1e-14);
          EXPECT_LE(run.constraints.relative[1], 1e-14);
        }
    }
  }
}

/// One turn of the pendulum is four changes of its coordinate, not more: the next one waits until it is worth it.
TEST(StateSpace, DoesNotGoToAndFro) {
  const solve::Prepared model = prepared(turning);
  const solve::Trajectory run = solve::simulate(model, options_for("partition", "bdf", 10.0));
  ASSERT_TRUE(run.success()) << run.message;
  const std::size_t x = 0;
  std::size_t crossings = 0;
  for (std::size_t row = 1; row < run.t.size(); ++row) crossings += (run.value(row - 1, x) < 0.0) != (run.value(row, x) < 0.0);
  EXPECT_LE(changes(run), 2 * crossings + 2);
  EXPECT_GE(changes(run) + 4, 2 * crossings);
}

TEST(StateSpace, ShowsWhichCoordinatesAreIndependent) {
  solve::RunOptions options = options_for("partition:show=choice", "dop853", 3.0);
  options.rows = solve::Rows::steps;
  options.samples.reset();
  const solve::Trajectory run = solve::simulate(prepared(turning), options);
  ASSERT_TRUE(run.success()) << run.message;
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(run.columns, name) - run.columns.begin());
  };
  const std::size_t x = column("independent.x"), y = column("independent.y");
  ASSERT_LT(y, run.columns.size());
  std::size_t seen[2] = {};
  for (std::size_t row = 1; row < run.t.size(); ++row) {
    EXPECT_EQ(run.value(row, x) + run.value(row, y), 1.0);
    ++seen[run.value(row, x) == 1.0 ? 0 : 1];
    // A coordinate that is used changes with the other one by no more than about the limit of 1.2, give or take a step.
    const double tilt = std::abs(run.value(row, run.value(row, x) == 1.0 ? 0 : 1) / run.value(row, run.value(row, x) == 1.0 ? 1 : 0));
    EXPECT_LE(tilt, 4.0) << run.t[row];
  }
  EXPECT_GT(seen[0], 0u);
  EXPECT_GT(seen[1], 0u);
}

/// They are different maps: no two formulations give the same numbers to the last bit.
TEST(StateSpace, FormsAreNotTheSameMap) {
  const solve::Prepared model = prepared(turning);
  const solve::Trajectory one = solve::simulate(model, options_for("partition", "dop853", 5.0));
  const solve::Trajectory two = solve::simulate(model, options_for("null-space", "dop853", 5.0));
  const solve::Trajectory three = solve::simulate(model, options_for("projection", "dop853", 5.0));
  for (const auto* other : {&two, &three}) EXPECT_NE(one.values, other->values);
  EXPECT_NE(two.values, three.values);
}

/// An event that resets a velocity: times and motion as with projection.
TEST(StateSpace, EventsHappenAtTheSameTimes) {
  const std::string text = std::string(turning) + R"toml(
[events]
wall = { when = "x - 0.8", direction = "up", reset = { "der(x)" = "-0.9*der(x)" } }
)toml";
  const solve::Prepared model = prepared(text);
  solve::RunOptions options = options_for("projection", "dop853", 10.0);
  options.rtol = 1e-12;
  const solve::Trajectory reference = solve::simulate(model, options);
  ASSERT_TRUE(reference.success()) << reference.message;
  ASSERT_GE(reference.events.size(), 3u);
  for (const std::string& form : forms())
    for (const std::string method : {"dop853", "radau"}) {
      SCOPED_TRACE(form + ", " + method);
      options = options_for(form, method, 10.0);
      options.rtol = 1e-11;
      const solve::Trajectory run = solve::simulate(model, options);
      ASSERT_TRUE(run.success()) << run.message;
      ASSERT_EQ(run.events.size(), reference.events.size());
      // Errors of 3,500 tolerances are what long runs have; here about ten seconds.
      for (std::size_t i = 0; i < run.events.size(); ++i) EXPECT_NEAR(run.events[i].t, reference.events[i].t, 1e-7);
    }
}

/// Constraints that drive everything leave nothing to integrate; a fast drive beside a slow motion is followed by steps that
/// the slow one would not need.
TEST(StateSpace, DrivenMotions) {
  const solve::Prepared whole = prepared(R"toml(
kind = "lagrangian"
[variables]
x = 2.5
y = 0
phi = 0
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2 + der(phi)^2)/2"
potential = "y"
[constraints]
drive = "phi = 3*t + 0.2*sin(7*t)"
height = "y = sin(phi)"
crank = "(x - cos(phi))^2 + y^2 = 4"
)toml");
  const solve::Prepared beside = prepared(R"toml(
kind = "lagrangian"
[variables]
s = 1
x = 3
phi = 0
[lagrangian]
kinetic = "(der(s)^2 + der(x)^2 + der(phi)^2)/2"
potential = "0.005*s^2"
[constraints]
drive = "phi = 20*t"
slider = "(x - cos(phi))^2 + sin(phi)^2 = 4"
)toml");
  for (const std::string& form : forms())
    for (const std::string method : {"dop853", "radau", "bdf", "rk4"}) {
      SCOPED_TRACE(form + ", " + method);
      solve::RunOptions options = options_for(form, method, 10.0);
      options.rtol = 1e-7;
      options.samples = 101;
      const solve::Trajectory run = solve::simulate(whole, options);
      ASSERT_TRUE(run.success()) << run.message;
      for (std::size_t row = 0; row < run.t.size(); ++row) {
        const double phi = 3.0 * run.t[row] + 0.2 * std::sin(7.0 * run.t[row]);
        EXPECT_NEAR(run.value(row, 0), std::cos(phi) + std::sqrt(4.0 - std::sin(phi) * std::sin(phi)), 1e-12);
        EXPECT_NEAR(run.value(row, 1), std::sin(phi), 1e-12);
      }
      const solve::Trajectory both = solve::simulate(beside, options);
      ASSERT_TRUE(both.success()) << both.message;
      for (std::size_t row = 0; row < both.t.size(); ++row) {
        const double phi = 20.0 * both.t[row];
        EXPECT_NEAR(both.value(row, 0), std::cos(0.1 * both.t[row]), 1e-5);
        EXPECT_NEAR(both.value(row, 1), std::cos(phi) + std::sqrt(4.0 - std::sin(phi) * std::sin(phi)), 1e-11);
      }
    }
}

}  // namespace
}  // namespace daedalus::tests
