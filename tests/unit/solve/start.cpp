// Consistent starts: what moves, what stays, and what is said where there is none.
//
// Where no other tolerance is derived: the start is found to round-off, a few units in the last place of values of
// size 1.

#include "unit/solve/start_tools.hpp"

namespace daedalus::tests {
namespace {

using solve::Initialize;
using solve::Start;

constexpr double round_off = 1e-14;

std::string pendulum(const std::string& x, const std::string& more = "") {
  return "kind = \"lagrangian\"\n[parameters]\nm = 2\nl = 2.5\n[variables]\nx = " + x +
         "\ny = 2.35\n[lagrangian]\nkinetic = \"m/2*(der(x)^2 + der(y)^2)\"\npotential = \"m*9.81*y\"\n[constraints]\n"
         "rod = \"x^2 + y^2 = l^2\"\n" +
         more;
}

TEST(Start, FixedCoordinateStaysAndTheOtherMoves) {
  const Start start = start_of(pendulum("{ start = 0.86, fixed = true }"));
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_EQ(start.x[0], 0.86);
  EXPECT_NEAR(start.x[1], 2.34742412017939357, 1e-15);
  EXPECT_FALSE(start.consistent_as_given);
  ASSERT_EQ(start.violations.size(), 1u);
  EXPECT_EQ(start.violations[0].of, "rod");
  EXPECT_EQ(start.violations[0].level, 0);
  EXPECT_NEAR(start.violations[0].value, 0.0121, round_off);  // of terms of size 6
  ASSERT_EQ(start.moved.size(), 1u);
  EXPECT_EQ(start.moved[0].name, "y");
  EXPECT_NEAR(start.moved[0].by, 2.34742412017939357 - 2.35, 1e-15);
  // at rest: lambda = -m g y / (2 l^2) by hand (the rod is pushed)
  ASSERT_EQ(start.lambda.size(), 1u);
  EXPECT_NEAR(start.lambda[0], -2 * 9.81 * start.x[1] / (2 * 6.25), 1e-14);
}

/// M = m I: the nearest point of the circle is l q / |q|.
TEST(Start, NothingFixedIsTheOrthogonalProjection) {
  const Start start = start_of(pendulum("0.86"));
  ASSERT_TRUE(start.found);
  EXPECT_NEAR(start.x[0], 0.859168726814123432917, 1e-15);
  EXPECT_NEAR(start.x[1], 2.34772849768975589227, 1e-15);
}

/// Ellipse-shaped metric: the least change of positions satisfies M (q - q0) = -G(q)^T mu with the mass at the given
/// point, that of velocities M (v - v0) = -G^T mu with the mass at the positions found.
TEST(Start, MovesLeastInTheMassNorm) {
  const Start start = start_of(planar("x = 0.9\ny = 0.7\n\"der(x)\" = 0.4\n\"der(y)\" = 0.5", "rod = \"x^2 + y^2 = 1\"",
                                      "(1 + 3*x^2)*der(x)^2/2 + 2*der(y)^2 + y*der(x)*der(y)/2"));
  ASSERT_TRUE(start.found);
  const double x = start.x[0], y = start.x[1], vx = start.x[2], vy = start.x[3];
  EXPECT_NEAR(x * x + y * y, 1.0, 1e-15);
  EXPECT_NEAR(x * vx + y * vy, 0.0, 1e-15);
  const auto parallel = [&](double ax, double ay, double dx, double dy) {
    const double M11 = 1 + 3 * ax * ax, M12 = ay / 2, M22 = 4;
    return (M11 * dx + M12 * dy) * y - (M12 * dx + M22 * dy) * x;
  };
  EXPECT_NEAR(parallel(0.9, 0.7, x - 0.9, y - 0.7), 0.0, round_off);
  EXPECT_NEAR(parallel(x, y, vx - 0.4, vy - 0.5), 0.0, round_off);
}

TEST(Start, FixedValuesAreKeptBitwise) {
  const Start start =
      start_of(planar("x = { start = 0.1, fixed = true }\ny = 0.9\nz = { start = 0.3, fixed = true }\n"
                      "\"der(x)\" = 0.7\n\"der(y)\" = { start = 0.123456789012345678, fixed = true }",
                      "ball = \"x^2 + y^2 + z^2 = 1\"", "(der(x)^2 + der(y)^2 + der(z)^2)/2"));
  ASSERT_TRUE(start.found);
  EXPECT_EQ(start.x[0], 0.1);
  EXPECT_EQ(start.x[2], 0.3);
  EXPECT_EQ(start.x[4], 0.123456789012345678);
  EXPECT_NEAR(start.x[1], std::sqrt(1.0 - 0.01 - 0.09), 1e-15);
  EXPECT_NEAR(start.x[0] * start.x[3] + start.x[1] * start.x[4] + start.x[2] * start.x[5], 0.0, 1e-15);
}

TEST(Start, InitialEquationsBindOnTheLevelOfWhatTheyContain) {
  const std::string more = R"toml([initial]
angle = "atan2(x, y) = 0.5"
speed = "hypot(der(x), der(y)) = 2"
)toml";
  const Start start = start_of(
      planar("x = 0.3\ny = 0.9\n\"der(x)\" = 0.5", "rod = \"x^2 + y^2 = 1\"", "(der(x)^2 + der(y)^2)/2", more));
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_NEAR(start.x[0], std::sin(0.5), 1e-15);
  EXPECT_NEAR(start.x[1], std::cos(0.5), 1e-15);
  EXPECT_NEAR(start.x[2], 2 * std::cos(0.5), round_off);
  EXPECT_NEAR(start.x[3], -2 * std::sin(0.5), round_off);
}

const char* const motor = R"toml(
kind = "lagrangian"
[variables]
s = 0.5
"der(s)" = 2.0
[auxiliary]
current = 0.7
voltage = 0.0
[lagrangian]
kinetic = "der(s)^2/2"
[lagrangian.forces]
s = "3*current"
[equations]
coil = "0.1*der(current) = voltage - 2*current - 0.4*der(s)"
source = "voltage = 5 + sin(s)"
)toml";

TEST(Start, AuxiliaryUnknownsFollowFromTheirEquations) {
  const Start start = start_of(motor);
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_EQ(start.x[2], 0.7);
  const double voltage = 5 + std::sin(0.5);
  EXPECT_NEAR(start.w[1], voltage, round_off);
  EXPECT_NEAR(start.w[0], (voltage - 1.4 - 0.8) / 0.1, 1e-12);
  EXPECT_NEAR(start.a[0], 2.1, round_off);
}

TEST(Start, InitialEquationsBindAuxiliaryUnknowns) {
  const Start steady = start_of(std::string(motor) + "[initial]\nsteady = \"der(current) = 0\"\n");
  ASSERT_TRUE(steady.found) << steady.message;
  EXPECT_NEAR(steady.x[2], (5 + std::sin(0.5) - 0.8) / 2, round_off);
  EXPECT_NEAR(steady.w[0], 0.0, 1e-12);
  // an equation that concerns an algebraic unknown alone cannot be met: it follows already
  EXPECT_TRUE(contains(thrown(std::string(motor) + "[initial]\nwrong = \"voltage = 1\"\n"), "contradicting-fixed"));
  // one that holds already moves nothing
  const Start same = start_of(std::string(motor) + "[initial]\nright = \"current = 0.7\"\n");
  ASSERT_TRUE(same.found);
  EXPECT_NEAR(same.x[2], 0.7, 2.3e-16);
  EXPECT_TRUE(same.moved.empty());
}

TEST(Start, NonlinearAlgebraicLoopsAreSolved) {
  const Start start = start_of(R"toml(
kind = "lagrangian"
[variables]
x = 1.0
[auxiliary]
u = 0.0
i_d = 0.0
[lagrangian]
kinetic = "der(x)^2/2"
[lagrangian.forces]
x = "i_d"
[equations]
diode = "i_d = 1e-6*(exp(u/0.025) - 1)"
loop = "5*x = u + 100*i_d"
)toml");
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_NEAR(start.w[0] + 100 * start.w[1], 5.0, round_off);
  EXPECT_NEAR(start.w[1], 1e-6 * std::expm1(start.w[0] / 0.025), 1e-13);
}

TEST(Start, ContradictingFixedValuesAreNamed) {
  const std::string both =
      thrown(planar("x = { start = 1, fixed = true }\ny = { start = 0.5, fixed = true }", "rod = \"x^2 + y^2 = 1\""));
  EXPECT_TRUE(contains(both, "contradicting-fixed")) << both;
  EXPECT_TRUE(contains(both, "x = 1") && contains(both, "y = 0.5") && contains(both, "'rod'")) << both;
  const std::string one = thrown(planar("x = { start = 3, fixed = true }\ny = 0.5", "rod = \"x^2 + y^2 = 1\""));
  EXPECT_TRUE(contains(one, "x = 3") && !contains(one, "y =")) << one;
  const std::string rate =
      thrown(planar("x = 0\ny = 1\n\"der(y)\" = { start = 1, fixed = true }", "rod = \"x^2 + y^2 = 1\""));
  EXPECT_TRUE(contains(rate, "contradicting-fixed") && contains(rate, "der(y) = 1")) << rate;
  const std::string initial = thrown(
      planar("x = 0\ny = 1", "rod = \"x^2 + y^2 = 1\"", "(der(x)^2 + der(y)^2)/2", "[initial]\nheight = \"y = 2\"\n"));
  EXPECT_TRUE(contains(initial, "contradicting-fixed") && contains(initial, "height")) << initial;
}

TEST(Start, UnreachableConstraintsAreNatures) {
  const Start start = start_of(planar("x = 0.4\ny = 1", "rod = \"x^2 + y^2 = -1\""));
  EXPECT_FALSE(start.found);
  EXPECT_TRUE(contains(start.message, "'rod'") && contains(start.message, "cannot be reached")) << start.message;
}

TEST(Start, ContradictingConstraintsAreNamed) {
  const Start start = start_of(planar("x = 0\ny = 0", "one = \"x = 1\"\ntwo = \"x = 2\"\nother = \"y = 1\""));
  EXPECT_FALSE(start.found);
  EXPECT_TRUE(contains(start.message, "'one'") && contains(start.message, "'two'")) << start.message;
  EXPECT_FALSE(contains(start.message, "'other'")) << start.message;
}

TEST(Start, RedundantConstraintsAreNamedAndHarmless) {
  const Start twice = start_of(planar("x = 0.6\ny = 0.8\n\"der(x)\" = 0.8\n\"der(y)\" = -0.6",
                                      "rod = \"x^2 + y^2 = 1\"\nagain = \"2*x^2 + 2*y^2 = 2\""));
  ASSERT_TRUE(twice.found) << twice.message;
  ASSERT_EQ(twice.redundant.size(), 1u);
  EXPECT_EQ(twice.redundant[0].constraint, "again");
  EXPECT_EQ(twice.redundant[0].follows_from, std::vector<std::string>{"rod"});
  EXPECT_EQ(twice.rank, 1u);
  EXPECT_EQ(twice.holonomic_rank, 1u);
  ASSERT_FALSE(twice.notes.empty());
  EXPECT_TRUE(contains(twice.notes[0], "'again'") && contains(twice.notes[0], "'rod'"));
  // G^T lambda is that of one rod, 2 lambda0 = v^2 - g y; the least norm shares it among rows 1 : 2 as (1, 2)/5
  const double single = (1.0 - 9.81 * 0.8) / 2.0;
  EXPECT_NEAR(twice.lambda[0], single / 5.0, round_off);
  EXPECT_NEAR(twice.lambda[1], 2.0 * single / 5.0, round_off);
}

/// A platform on three parallel cranks: any two of them hold it, so one crank's rod follows from the rest.
const char* const linkage = R"toml(
kind = "lagrangian"
[variables]
x = 0.6
y = 0.8
phi = 0.0
"der(x)" = 0.8
[lagrangian]
kinetic = "der(x)^2 + der(y)^2 + der(phi)^2/4"
potential = "9.81*y"
[constraints]
crank1 = "x^2 + y^2 = 1"
crank2 = "(x + cos(phi) - 1)^2 + (y + sin(phi))^2 = 1"
crank3 = "(x + 2*cos(phi) - 2)^2 + (y + 2*sin(phi))^2 = 1"
)toml";

TEST(Start, AParallelLinkageIsRedundant) {
  const Start start = start_of(linkage);
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_EQ(start.rank, 2u);
  ASSERT_EQ(start.redundant.size(), 1u);
  EXPECT_EQ(start.redundant[0].follows_from.size(), 2u);
  EXPECT_EQ(start.open_multipliers, (std::vector<std::string>{"lambda.crank1", "lambda.crank2", "lambda.crank3"}));
}

/// A rod beside the linkage has a multiplier of its own: 2 z lambda = -9.81 with z = -1 at rest.
TEST(Start, MultipliersThatAreNotUniqueAreNamed) {
  std::string text = linkage;
  text.replace(text.find("phi = 0.0"), 9, "phi = 0.0\nz = -1");
  text.replace(text.find("der(phi)^2/4"), 12, "der(phi)^2/4 + der(z)^2/2");
  text.replace(text.find("9.81*y"), 6, "9.81*y + 9.81*z");
  const Start start = start_of(text + "thread = \"z^2 = 1\"\n");
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_EQ(start.open_multipliers, (std::vector<std::string>{"lambda.crank1", "lambda.crank2", "lambda.crank3"}));
  EXPECT_NEAR(start.lambda[3], 9.81 / 2.0, round_off);
  ASSERT_EQ(start.notes.size(), 2u);
  EXPECT_EQ(start.notes[0], "the constraint 'crank3' is redundant: it follows from 'crank1' and 'crank2'");
  EXPECT_EQ(start.notes[1],
            "accelerations are unique, but lambda.crank1, lambda.crank2 and lambda.crank3 are not: of all values that give this "
            "motion the smallest are shown; the other multipliers are unique");
}

TEST(Start, HolonomicRankDoesNotDependOnNonholonomicRows) {
  const Start start = start_of(planar("x = 0\ny = 0", "skate = \"der(x) = 0\"\nwall = \"x = 0\""));
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_EQ(start.rank, 1u);
  EXPECT_EQ(start.holonomic_rank, 1u);
}

/// Both rods of the slider-crank vertical: the Jacobian of the constraint vanishes.
TEST(Start, SingularConfigurationsAreTold) {
  const Start start = start_of(planar("x = 0\ny = 0", "cross = \"x*y = 0\""));
  EXPECT_EQ(start.rank, 0u);
  EXPECT_FALSE(start.found);
  EXPECT_TRUE(start.singular);
  EXPECT_TRUE(start.redundant.empty());
  EXPECT_EQ(start.message,
            "the start is a singular position: the constraint 'cross' says nothing here that it says beside it, and several "
            "motions may go on from here; start beside it");
  const Start moving = start_of(planar("x = 0\ny = 0\n\"der(x)\" = 1\n\"der(y)\" = 1", "cross = \"x*y = 0\""));
  EXPECT_FALSE(moving.found);
  EXPECT_TRUE(contains(moving.message, "'cross'") && contains(moving.message, "no motion goes on with these velocities"))
      << moving.message;
}

/// Far off the constraints the Jacobian may vanish as well: what says nothing at such a start does not follow from others. What
/// is said twice is, there too.
TEST(Start, SingularPositionsOffTheConstraintsAreTold) {
  const Start center = start_of(planar("x = 0\ny = 0", "rod = \"x^2 + y^2 = 4\""), Initialize::off);
  EXPECT_FALSE(center.found);
  EXPECT_TRUE(center.singular);
  EXPECT_TRUE(contains(center.message, "the constraint 'rod' says nothing here that it says beside it")) << center.message;
  const Start twice = start_of(planar("x = 1\ny = 0.5", "rod = \"x^2 + y^2 = 4\"\nagain = \"2*x^2 + 2*y^2 = 8\""), Initialize::off);
  EXPECT_TRUE(twice.found) << twice.message;
  EXPECT_EQ(twice.redundant.size(), 1u);
  // Level, the linkage has as many independent rows with rods of any length as on its constraints; turned it has more.
  std::string shorter = linkage;
  shorter.replace(shorter.find("x = 0.6\ny = 0.8"), 15, "x = 0.5\ny = 0.7");
  const Start level = start_of(shorter, Initialize::off);
  EXPECT_TRUE(level.found) << level.message;
  EXPECT_EQ(level.redundant.size(), 1u);
}

TEST(Start, ModesCheckAndOff) {
  const std::string text = pendulum("0.86");
  const std::string fault = thrown(text, Initialize::check);
  EXPECT_TRUE(contains(fault, "inconsistent-start") && contains(fault, "'rod'") && contains(fault, "0.0121")) << fault;
  const Start off = start_of(text, Initialize::off);
  ASSERT_TRUE(off.found);
  EXPECT_EQ(off.x[0], 0.86);
  EXPECT_EQ(off.x[1], 2.35);
  EXPECT_FALSE(off.consistent_as_given);
  EXPECT_TRUE(off.moved.empty());
  EXPECT_EQ(thrown(planar("x = 0.6\ny = 0.8", "rod = \"x^2 + y^2 = 1\""), Initialize::check), "");
  EXPECT_EQ(solve::parse_initialize("check"), Initialize::check);
  EXPECT_THROW(solve::parse_initialize("chekc"), Error);
}

TEST(Start, RheonomicConstraintsAreTakenAtTheStartTime) {
  const Start start = start_of(planar("x = 0.3\ny = 0.1", "wire = \"y = x*t^2\""), Initialize::project, 2.0);
  ASSERT_TRUE(start.found);
  EXPECT_NEAR(start.x[1], 4 * start.x[0], 1e-15);
  EXPECT_NEAR(start.x[3], 4 * start.x[2] + 4 * start.x[0], 1e-15);
}

TEST(Start, WhatCannotBeFixedIsRefused) {
  EXPECT_TRUE(
      contains(thrown(planar("x = 0\ny = 0\n\"der(x,2)\" = { start = 1, fixed = true }", "")), "fixed-acceleration"));
  EXPECT_TRUE(
      contains(thrown(planar("x = 0\ny = 0", "", "(der(x)^2 + der(y)^2)/2", "[initial]\nfall = \"der(y,2) = 0\"\n")),
               "initial-too-high"));
}

}  // namespace
}  // namespace daedalus::tests
