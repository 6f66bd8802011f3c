#include "daedalus/solve/events.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "daedalus/solve/restart.hpp"

namespace daedalus::solve {
namespace {

using integrate::Status;

/// A unit mass on a line, with a force and more sections.
std::string line(const std::string& start, const std::string& force, const std::string& more) {
  return "kind = \"lagrangian\"\n[variables]\n" + start +
         "\n[lagrangian]\nkinetic = \"der(x)^2/2\"\npotential = \"0\"\n[lagrangian.forces]\nx = \"" + force + "\"\n" +
         more;
}

Trajectory run(const std::string& text, double t_end, double rtol = 1e-11, RunOptions options = {}) {
  options.t_end = t_end;
  options.rtol = rtol;
  options.formulation = "projection";
  if (!options.method) options.method = "dop853";
  return simulate(model::read_model_text(text, "test"), options);
}

std::string told(const Trajectory& run) {
  std::string names;
  for (const EventRecord& event : run.events) names += event.name + " ";
  return names;
}

const std::string free_flight = "x = 0\n\"der(x)\" = 1";

TEST(ModelEvents, DirectionsChooseTheCrossings) {
  const Trajectory motion = run(line("x = 0\n\"der(x)\" = 1", "-x", R"toml([events]
up = { when = "x - 0.5", direction = "up" }
down = { when = "x - 0.5", direction = "down" }
both = { when = "x - 0.5" }
condition = { when = "x > 0.5" }
)toml"),
                                7.0);
  ASSERT_TRUE(motion.success()) << motion.message;
  EXPECT_EQ(told(motion), "up both condition down both up both condition ");
  EXPECT_NEAR(motion.events[0].t, std::numbers::pi / 6.0, 1e-10);
  EXPECT_NEAR(motion.events[3].t, 5.0 * std::numbers::pi / 6.0, 1e-10);
}

TEST(ModelEvents, ACrossingAtTheStartIsNone) {
  // sin(pi) is 1.2e-16 and falls: it was zero at the start.
  const Trajectory motion = run(line("x = \"sin(pi)\"\n\"der(x)\" = -1", "-x", R"toml([events]
cross = { when = "x" }
true_at_once = { when = "x < 1e-9" }
)toml"),
                                4.0);
  ASSERT_TRUE(motion.success()) << motion.message;
  EXPECT_EQ(told(motion), "cross ");
  EXPECT_NEAR(motion.events[0].t, std::numbers::pi, 1e-10);
  ASSERT_EQ(motion.notes.size(), 1U);
  EXPECT_NE(motion.notes[0].find("'true_at_once' holds at the start already"), std::string::npos) << motion.notes[0];
}

TEST(ModelEvents, ResetsUseTheValuesBeforeAndMayChain) {
  const Trajectory motion = run(line(free_flight, "0", R"toml([discrete]
a = 1
b = 2
[events]
swap = { when = "x - 1", reset = { a = "b", b = "a" } }
also = { when = "x - 1", direction = "up", reset = { x = "x + b" } }
chain = { when = "a > 1.5", reset = { "der(x)" = "-a" } }
)toml"),
                                1.75);
  ASSERT_TRUE(motion.success()) << motion.message;
  EXPECT_EQ(told(motion), "swap also chain ");
  EXPECT_EQ(motion.last("a"), 2.0);
  EXPECT_EQ(motion.last("b"), 1.0);
  EXPECT_NEAR(motion.last("x"), 1.0 + 2.0 - 1.5, 1e-10);  // 0.75 seconds with der(x) = -2
}

TEST(ModelEvents, DifferentValuesForOneNameAreRefused) {
  const Trajectory motion = run(line(free_flight, "0", R"toml([discrete]
a = 1
[events]
one = { when = "x - 1", reset = { a = 2 } }
two = { when = "x >= 1", reset = { a = 3 } }
)toml"),
                                2.0);
  EXPECT_EQ(motion.status, Status::event_failed);
  EXPECT_EQ(motion.message,
            "the events 'one' and 'two' happen together at t = 1 and give 'a' different values, 2 and 3; let one of "
            "them decide, "
            "or make them one event");
  EXPECT_NEAR(motion.t.back(), 1.0, 1e-12);
}

TEST(ModelEvents, StopIsASuccess) {
  const Trajectory motion = run(line(free_flight, "0", "[events]\nend = { when = \"x >= 1.5\", stop = true }\n"), 9.0);
  EXPECT_EQ(motion.status, Status::stopped);
  EXPECT_TRUE(motion.success());
  EXPECT_NEAR(motion.t.back(), 1.5, 1e-12);
}

TEST(ModelEvents, AtTheEndTheyHappenToo) {
  const Trajectory motion = run(line(free_flight, "0", R"toml([discrete]
n = 0
[events]
time = { when = "t >= 2" }
sample = { every = 0.5, reset = { n = "n + 1" } }
place = { when = "x - 2" }
)toml"),
                                2.0);
  ASSERT_TRUE(motion.success()) << motion.message;
  EXPECT_EQ(told(motion), "sample sample sample sample time sample place ");
  EXPECT_EQ(motion.last("n"), 5.0);
}

TEST(ModelEvents, ZenoEndsWithAMessage) {
  for (const char* e : {"0.9", "0.5", "0.1"}) {
    const Trajectory motion = run(line("x = 1", "-10", std::string("[parameters]\ne = ") + e + R"toml(
[events]
bounce = { when = "x", direction = "down", reset = { "der(x)" = "-e*der(x)" } }
)toml"),
                                  30.0, 1e-8);
    EXPECT_EQ(motion.status, Status::too_many_events) << e;
    EXPECT_NE(motion.message.find("infinitely often"), std::string::npos) << motion.message;
    const double q = std::stod(e), t = std::sqrt(0.2) * (1.0 + q) / (1.0 - q);
    EXPECT_NEAR(motion.t.back(), t, 1e-6) << e;
  }
}

TEST(ModelEvents, SlidingEndsWithAMessage) {
  const Trajectory motion = run(line("x = 1", "-x - 0.3*sign(der(x))", ""), 30.0, 1e-8);
  EXPECT_EQ(motion.status, Status::too_many_events);
  EXPECT_NE(motion.message.find("'der(x)' is driven back to its bound from both sides"), std::string::npos)
      << motion.message;
  // Each half swing loses 0.6: 1, -0.4, then |x| < 0.3 holds: it sticks after two.
  EXPECT_NEAR(motion.t.back(), 2.0 * std::numbers::pi, 1e-6);
}

TEST(ModelEvents, AbsIsSteppedToFromEitherSide) {
  // x'' = -sign(x): parabolas of duration 4 per period from x = 1/2, v = 0: x = 1/2 - t^2/2 for t < 1, and so on. The
  // third derivatives vanish, so that nothing but the switching makes an error.
  const Trajectory motion = run(line("x = 0.5", "-sign(x)", ""), 40.0, 1e-6);
  ASSERT_TRUE(motion.success()) << motion.message;
  // Twenty switches, each late by 4 round-offs of t at most, each with a jump of 2: 20 * 2 * 4 * 2.2e-16 * 40 = 1.4e-12
  // in the speed, and about as much again for the round-off of the state.
  EXPECT_NEAR(motion.last("x"), 0.5, 4e-12);
  EXPECT_NEAR(motion.last("der(x)"), 0.0, 4e-12);
  EXPECT_LT(motion.stats.rejected, 5U);
  // |x| from exactly 0 goes the way of the motion.
  EXPECT_NEAR(run(line("x = 0\n\"der(x)\" = -1", "abs(x)", ""), 1.0).last("x"), -std::sin(1.0), 1e-10);
  EXPECT_NEAR(run(line("x = 0\n\"der(x)\" = 1", "-abs(x)", ""), 1.0).last("x"), std::sin(1.0), 1e-10);
}

TEST(ModelEvents, AChangeThatTheToleranceHidesDoesNotEndTheStep) {
  // A corner of the force x |-> -x at x = 0, by d there: beyond it nothing but round-off where d is small.
  const auto corner = [](double d) {
    return run(line("x = 0.5", "-x - " + std::to_string(d) + "*max(x, 0)", ""), 40.0, 1e-6);
  };
  const Trajectory none = run(line("x = 0.5", "-x", ""), 40.0, 1e-6), hidden = corner(1e-7), seen = corner(1.0);
  ASSERT_TRUE(hidden.success()) << hidden.message;
  EXPECT_LE(hidden.stats.steps + hidden.stats.rejected, none.stats.steps + none.stats.rejected + 1);
  EXPECT_GE(seen.stats.steps + seen.stats.rejected, none.stats.steps + none.stats.rejected + 12);
  // The side x > 0 has the frequency sqrt(1 + d): a full turn takes pi + pi/sqrt(1 + d).
  EXPECT_NEAR(hidden.last("x"), 0.5 * std::cos(40.0 * (1.0 + 0.25e-7)), 1e-5);
  const double turn = std::numbers::pi * (1.0 + 1.0 / std::sqrt(2.0)), rest = std::fmod(40.0, turn);
  // From x = 1/2 a quarter of the fast side, the slow side, and the rest of the fast one.
  const double quarter = std::numbers::pi / std::sqrt(8.0);
  const double x = rest < quarter                       ? 0.5 * std::cos(std::sqrt(2.0) * rest)
                   : rest < quarter + std::numbers::pi ? -std::sqrt(0.5) * std::sin(rest - quarter)
                                                       : 0.5 * std::sin(std::sqrt(2.0) * (rest - quarter - std::numbers::pi));
  EXPECT_NEAR(seen.last("x"), x, 1e-5);
}

TEST(ModelEvents, AnExcursionThatTheToleranceHidesDoesNotEndTheStep) {
  // While |x| < w the force has 1 more: its work on the way down takes 2 w of the energy.
  const auto window = [](double w, double rtol) {
    std::ostringstream text;
    text << "-x + if(x^2 < (" << w << ")^2, 1, 0)";
    return run(line("x = 1", text.str(), ""), 2.5, rtol);
  };
  const auto amplitude = [](const Trajectory& motion) { return std::hypot(motion.last("x"), motion.last("der(x)")); };
  const Trajectory none = run(line("x = 1", "-x", ""), 2.5, 1e-4), hidden = window(1e-9, 1e-4), seen = window(1e-3, 1e-4),
                   tight = window(1e-6, 1e-10);
  for (const Trajectory* motion : {&hidden, &seen, &tight}) ASSERT_TRUE(motion->success()) << motion->message;
  EXPECT_LE(hidden.stats.steps + hidden.stats.rejected, none.stats.steps + none.stats.rejected + 1);
  EXPECT_GE(seen.stats.steps + seen.stats.rejected, none.stats.steps + none.stats.rejected + 2);
  EXPECT_NEAR(amplitude(seen), std::sqrt(1.0 - 4e-3), 1e-4);
  EXPECT_NEAR(amplitude(tight), std::sqrt(1.0 - 4e-6), 1e-9);
}

TEST(ModelEvents, AConstraintThatBendsEndsTheStepHoweverLittle) {
  // y = 1e-7 max(x, 0): far below the tolerance, but the velocity of y leaps where x = t - 1 goes through zero.
  const auto ends_at_the_corner = [](const std::string& floor) {
    RunOptions options;
    options.rows = Rows::steps;
    const Trajectory motion = run("kind = \"lagrangian\"\n[variables]\nx = -1\n\"der(x)\" = 1\ny = 0\n[lagrangian]\n"
                                  "kinetic = \"(der(x)^2 + der(y)^2)/2\"\npotential = \"0\"\n[constraints]\nfloor = \"" + floor + "\"\n",
                                  2.5, 1e-3, options);
    EXPECT_TRUE(motion.success()) << motion.message;
    return std::ranges::any_of(motion.t, [](double t) { return std::abs(t - 1.0) < 1e-9; });
  };
  EXPECT_TRUE(ends_at_the_corner("y - 1e-7*max(x, 0)"));
  EXPECT_FALSE(ends_at_the_corner("y - 1e-7*x"));
}

TEST(ModelEvents, TimesOfSwitchesAreStops) {
  const Trajectory motion = run(line("x = 0", "if(t < 0.3, 1, 0) + floor(4*t)", ""), 1.0, 1e-6);
  ASSERT_TRUE(motion.success()) << motion.message;
  EXPECT_EQ(motion.stats.rejected, 0U);
  // v = 0.3 + (0.25 + 0.5 + 0.75) / 1 ... the floor of 4t is k during a quarter.
  EXPECT_NEAR(motion.last("der(x)"), 0.3 + 0.25 * (0 + 1 + 2 + 3), 1e-14);
  for (const double t : {0.25, 0.3, 0.5, 0.75})
    EXPECT_NE(std::find(motion.t.begin(), motion.t.end(), t), motion.t.end()) << t;
}

TEST(ModelEvents, TablesAreSteppedToTheirKnots) {
  const std::string tables = R"toml([tables]
f = { x = [0, 1, 2.5], y = [1, -1, 2], interpolation = "INTERPOLATION" }
)toml";
  const auto with = [&](const std::string& word) {
    std::string text = tables;
    return text.replace(text.find("INTERPOLATION"), 13, word);
  };
  // The integral of the data: steps 1 - 1.5, trapezoids 0 + 0.75, parabola through three points.
  EXPECT_NEAR(run(line("x = 0", "f(t)", with("step")), 2.5).last("der(x)"), 1.0 - 1.5, 1e-13);
  EXPECT_NEAR(run(line("x = 0", "f(t)", with("linear")), 2.5).last("der(x)"), 0.75, 1e-13);
  // 1 + b t + c t^2 with b + c = -2 and 2.5 b + 6.25 c = 1: c = 1.6, b = -3.6.
  EXPECT_NEAR(run(line("x = 0", "f(t)", with("spline")), 2.5).last("der(x)"),
              2.5 - 3.6 * 2.5 * 2.5 / 2.0 + 1.6 * 2.5 * 2.5 * 2.5 / 3.0, 1e-12);
  // As a function of the state: x'' = f(x) conserves x'^2/2 - F(x).
  const Trajectory motion = run(line("x = 0\n\"der(x)\" = 1.5", "f(x)", with("linear")), 1.2);
  const double x = motion.last("x"), v = motion.last("der(x)");
  ASSERT_GT(x, 1.1);
  const double u = x - 1.0, F = -u + u * u;  // from 1 on; the integral over 0..1 vanishes
  EXPECT_NEAR(v * v / 2.0 - F, 1.125, 1e-10);
}

TEST(ModelEvents, LeavingATableIsToldWhereThatIsAnError) {
  const std::string table = "[tables]\nf = { x = [0, 1], y = [1, 2], outside = \"error\" }\n";
  EXPECT_TRUE(run(line("x = 0", "f(t)", table), 1.0).success());
  const Trajectory motion = run(line("x = 0", "f(t)", table), 1.5);
  EXPECT_EQ(motion.status, Status::event_failed);
  EXPECT_EQ(motion.message,
            "the argument of the table 'f' leaves its data, which reach from 0 to 1, at t = 1; give more data, or say "
            "what is "
            "outside: outside = \"hold\" or \"periodic\"");
  EXPECT_EQ(motion.t.back(), 1.0);
}

TEST(ModelEvents, TablesOfConstraintsMustBeSmooth) {
  const auto text = [](const std::string& word) {
    return "kind = \"lagrangian\"\n[tables]\np = { x = [0, 1, 2, 3], y = [0, 1, 0, 2], interpolation = \"" + word +
           "\" }\n[variables]\nx = 0\ny = 0\n[lagrangian]\nkinetic = \"(der(x)^2 + der(y)^2)/2\"\npotential = "
           "\"y\"\n[constraints]\nc = \"x = p(t)\"\n";
  };
  EXPECT_THROW(prepare(model::read_model_text(text("linear"), "test")), Error);
  EXPECT_THROW(prepare(model::read_model_text(text("step"), "test")), Error);
  for (const char* word : {"monotone", "spline"}) {
    const Trajectory motion = run(text(word), 3.0);
    ASSERT_TRUE(motion.success()) << motion.message;
    EXPECT_NEAR(motion.last("x"), 2.0, 1e-12);
    EXPECT_NEAR(motion.last("y"), -4.5, 1e-9);
  }
}

TEST(ModelEvents, EndlessChainsAreCut) {
  const Trajectory motion = run(line(free_flight, "0", R"toml([discrete]
n = 0
[events]
first = { when = "x - 1", reset = { n = 1 } }
a = { when = "n > 0.5", reset = { n = "-n" } }
b = { when = "n < -0.5", reset = { n = "-n" } }
)toml"),
                                2.0);
  EXPECT_EQ(motion.status, Status::too_many_events) << motion.message;
}

TEST(ModelEvents, GrazingDoesNoHarm) {
  for (const char* d : {"-1e-9", "-1e-13", "0", "1e-16", "1e-13", "1e-9"}) {
    const Trajectory motion = run(line(free_flight, "-x", std::string("[parameters]\nd = ") + d + R"toml(
[events]
touch = { when = "x - 1 - d", reset = { "der(x)" = "-der(x)" } }
)toml"),
                                  20.0);
    EXPECT_TRUE(motion.success()) << d << motion.message;
    EXPECT_LE(std::abs(motion.last("x")), 1.001) << d;
  }
}

TEST(ModelEvents, DiscreteValuesAreContinued) {
  const std::string text = line("x = 0", "n", R"toml([discrete]
n = 1
[events]
sample = { every = 0.3, reset = { n = "-n" } }
)toml");
  const Trajectory whole = run(text, 2.0), half = run(text, 1.0);
  Moment moment;
  moment.t = 1.0;
  moment.columns = half.columns;
  moment.values = std::span(half.values).subspan(half.values.size() - half.columns.size());
  RunOptions options;
  options.t_start = 1.0;
  options.t_end = 2.0;
  options.rtol = 1e-11;
  options.continues = true;
  options.output_start = 0.0;
  options.method = "dop853";
  options.formulation = "projection";
  const Trajectory rest = simulate(continued(model::read_model_text(text, "test"), moment), options);
  EXPECT_NEAR(rest.last("x"), whole.last("x"), 1e-13);
  EXPECT_EQ(rest.last("n"), whole.last("n"));
  EXPECT_EQ(rest.events.size() + half.events.size(), whole.events.size());
}

TEST(ModelEvents, FixedStepsAreCutAtEventsAndGoOnInTheirGrid) {
  RunOptions options;
  options.method = "rk4";
  options.step = 0.25;
  const Trajectory motion = run(line("x = 1", "-2", R"toml([events]
bounce = { when = "x", direction = "down", reset = { "der(x)" = "-der(x)" } }
)toml"),
                                4.0, 1e-6, options);
  ASSERT_TRUE(motion.success()) << motion.message;
  ASSERT_EQ(motion.events.size(), 2U);  // t = 1 and 3: rk4 is exact here
  EXPECT_NEAR(motion.events[1].t, 3.0, 1e-14);
  EXPECT_NEAR(motion.last("x"), 1.0, 1e-14);
}

/// What stands behind positions and velocities in a state differs: nothing, the force, or their rates and then the
/// force.
TEST(ModelEvents, ResetsLeaveTheOrderOfAStateToItsFormulation) {
  const Prepared model = prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = { start = 1, fixed = true }
y = 1
force = 0
"der(x)" = { start = 0, fixed = true }
[equations]
left = "x'' = -1 - force"
right = "y'' = -3 + force"
joint = "x = y"
[events]
bounce = { when = "x", direction = "down", reset = { "der(x)" = "-der(x)" } }
[simulation]
t_end = 4
rtol = 1e-10
)toml",
                                                        "test"));
  for (const auto& [formulation, method] :
       std::vector<std::pair<std::string, std::string>>{{"index1", "dop853"},
                                                        {"index1", "auto"},
                                                        {"index1", "radau"},
                                                        {"projection", "bdf"},
                                                        {"baumgarte", "dopri5"},
                                                        {"dummy-derivatives", "dop853"},
                                                        {"overdetermined", "auto"}}) {
    SCOPED_TRACE(formulation + " + " + method);
    RunOptions options;
    options.formulation = formulation;
    options.method = method;
    const Trajectory motion = simulate(model, options);
    ASSERT_TRUE(motion.success()) << motion.message;
    ASSERT_EQ(motion.events.size(), 2U);
    EXPECT_NEAR(motion.events[1].t, 3.0, 1e-7);
    EXPECT_NEAR(motion.last("x"), 1.0, 1e-7);
    EXPECT_NEAR(motion.last("y"), 1.0, 1e-7);
    EXPECT_NEAR(motion.last("force"), 1.0, 1e-7);
  }
}

}  // namespace
}  // namespace daedalus::solve
