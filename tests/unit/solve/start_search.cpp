// How a start is found from afar, which values can be chosen, and other branches.
#include <gtest/gtest.h>

#include <cmath>

#include "start_tools.hpp"

namespace daedalus::tests {
namespace {

using solve::Initialize;
using solve::Look;
using solve::Start;
using Sets = std::vector<std::vector<std::string>>;

Start around(const std::string& text) {
  return solve::consistent_start(solve::prepare(model::read_model_text(text, "test")), 0.0, Initialize::project, Look::around);
}

double value(const Start& start, const std::string& name) {
  for (const auto& [known, number] : start.values)
    if (known == name) return number;
  ADD_FAILURE() << "no " << name;
  return 0.0;
}

Sets sets_of(const Start& start) {
  bool all = false;
  Sets sets = start.free.sets(all);
  EXPECT_TRUE(all);
  return sets;
}

TEST(StartSearch, AFarGuessIsFollowedAlongAPath) {
  // x^3 - 3 x = 10 as in the tests of the homotopy: the guess lies beyond a minimum of the residual.
  const Start start = around("kind = \"dae\"\n[variables]\nu = 1\nz = -1.5\n[equations]\na = \"der(u) = -u\"\n"
                             "b = \"z^3 - 3*z = 10*u\"\n");
  ASSERT_TRUE(start.found) << start.message;
  const double z = value(start, "z");
  EXPECT_NEAR(z * z * z - 3.0 * z, 10.0, 1e-12);
  EXPECT_EQ(value(start, "u"), 1.0);
}

TEST(StartSearch, GuessesOutsideTheDomainAreMovedIntoIt) {
  // All start values are 0, where logarithm and root have no values or derivatives.
  const Start start = around("kind = \"dae\"\n[variables]\nx = 1\np = 0\nq = 0\n[equations]\na = \"der(x) = -x + p\"\n"
                             "gas = \"log(p) + q/100 = 3\"\nflow = \"sqrt(q - 1) = 2 + p/10\"\n");
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_NEAR(std::log(value(start, "p")) + value(start, "q") / 100.0, 3.0, 1e-10);
  EXPECT_NEAR(std::sqrt(value(start, "q") - 1.0), 2.0 + value(start, "p") / 10.0, 1e-10);
  ASSERT_FALSE(start.notes.empty());
  EXPECT_TRUE(contains(start.notes[0], "no finite values at the guess")) << start.notes[0];
}

TEST(StartSearch, BothSolutionsOfAQuadraticAreFound) {
  const Start start = around("kind = \"dae\"\n[variables]\nx = 0.6\ny = 0.1\n[equations]\na = \"der(x) = -x*y\"\n"
                             "circle = \"x^2 + y^2 = 1\"\n");
  ASSERT_EQ(start.branches.size(), 2u);
  EXPECT_EQ(start.branch_starts, 64u);
  EXPECT_NEAR(start.branches[0].values[1].second, 0.8, 1e-14);
  EXPECT_NEAR(start.branches[1].values[1].second, -0.8, 1e-12);
  EXPECT_NEAR(start.branches[0].distance, 0.7, 1e-12);
  EXPECT_NEAR(start.branches[1].distance, 0.9, 1e-12);
}

TEST(StartSearch, AFourBarLinkageIsOpenOrCrossed) {
  // Crank 1, coupler 3, rocker 2.5, ground 3, crank angle 1: the ends of the rocker are where two circles meet.
  const Start start = around(
      "kind = \"lagrangian\"\n[variables]\nphi = { start = 1, fixed = true }\npsi = 0.2\nchi = 1.5\n[lagrangian]\n"
      "kinetic = \"(der(phi)^2 + der(psi)^2 + der(chi)^2)/2\"\npotential = \"0\"\n[constraints]\n"
      "across = \"cos(phi) + 3*cos(psi) = 3 + 2.5*cos(chi)\"\nup = \"sin(phi) + 3*sin(psi) = 2.5*sin(chi)\"\n");
  ASSERT_TRUE(start.found);
  ASSERT_EQ(start.branches.size(), 2u);
  // By the law of cosines in the triangle of the diagonal: psi = angle of the diagonal +- the angle at the crank's end.
  const double dx = 3.0 - std::cos(1.0), dy = -std::sin(1.0), d = std::hypot(dx, dy), along = std::atan2(dy, dx);
  const double angle = std::acos((9.0 + d * d - 6.25) / (6.0 * d));
  EXPECT_NEAR(start.branches[0].values[1].second, along + angle, 1e-10);
  EXPECT_NEAR(std::remainder(start.branches[1].values[1].second - (along - angle), 2.0 * std::acos(-1.0)), 0.0, 1e-10);
}

TEST(StartSearch, LinearEquationsHaveOneBranchWithoutASearch) {
  const Start start = around("kind = \"dae\"\n[variables]\nx = 0.6\ny = 0.1\n[equations]\na = \"der(x) = -x*y\"\nb = \"2*y = x\"\n");
  EXPECT_TRUE(start.branches.empty());
  EXPECT_EQ(start.branch_starts, 0u);
}

TEST(FreeValuesOfAStart, OfAPendulumAtRestAndInMotion) {
  const auto pendulum = [](const std::string& velocity) {
    return "kind = \"dae\"\n[variables]\nx = 0.6\ny = -0.8\n" + velocity +
           "f = 0\n[equations]\nh = \"der(x,2) = -f*x\"\nv = \"der(y,2) = -f*y - 9.81\"\nrod = \"x^2 + y^2 = 1\"\n";
  };
  const Start rest = around(pendulum(""));
  ASSERT_TRUE(rest.free.known);
  EXPECT_EQ(rest.free.count, 2u);
  // At rest the hidden constraint x x' + y y' = 0 says nothing about x and y.
  EXPECT_EQ(sets_of(rest), (Sets{{"x", "der(x)"}, {"x", "der(y)"}, {"y", "der(x)"}, {"y", "der(y)"}}));
  EXPECT_EQ(solve::group_texts(rest.free), (std::vector<std::string>{"any 1 of x, y", "any 1 of der(x), der(y)"}));
  // In motion the velocity tells where on the circle it is.
  const Start motion = around(pendulum("\"der(x)\" = 0.8\n\"der(y)\" = 0.6\n"));
  EXPECT_EQ(solve::group_texts(motion.free), (std::vector<std::string>{"any 2 of x, der(x), y, der(y) but x + y"}));
}

TEST(FreeValuesOfAStart, SomeValuesAreNeverAndSomeAlwaysFree) {
  // u is given by time, w is a state of its own, x and y share one degree of freedom.
  const Start start = around("kind = \"dae\"\n[variables]\nu = 1\nw = 2\nx = 3\ny = -3\nk = 0\n[equations]\na = \"u = 1 + sin(t)\"\n"
                             "b = \"der(w) = -w + u\"\nc = \"der(x) = k + u\"\nd = \"der(y) = w\"\ne = \"x + y = 0\"\n");
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_EQ(start.free.count, 2u);
  EXPECT_EQ(sets_of(start), (Sets{{"w", "x"}, {"w", "y"}}));
}

TEST(FreeValuesOfAStart, MechanicsCountsByLevels) {
  const Start start = around(planar("x = 0.6\ny = -0.8", "rod = \"x^2 + y^2 = 1\""));
  EXPECT_EQ(sets_of(start), (Sets{{"x", "der(x)"}, {"x", "der(y)"}, {"y", "der(x)"}, {"y", "der(y)"}}));
  // Hanging straight down only x can be chosen: y cannot change.
  const Start down = around(planar("x = 0\ny = -1", "rod = \"x^2 + y^2 = 1\""));
  EXPECT_EQ(sets_of(down), (Sets{{"x", "der(x)"}}));
  EXPECT_EQ(down.free.determined, (std::vector<std::string>{"y", "der(y)"}));
}

/// The velocity is a state of the differentiated equations, and the rate of another one: it is fixed once.
TEST(StartSearch, WhatIsFixedIsNamedOnce) {
  const Start start = around("kind = \"dae\"\n[variables]\nx = { start = 0.6, fixed = true }\ny = -0.8\nl = 0\n"
                             "\"der(x)\" = { start = 1, fixed = true }\n[equations]\na = \"x'' = -l*x\"\n"
                             "b = \"y'' = -l*y - 9.81\"\nc = \"x^2 + y^2 = 1\"\n");
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_EQ(start.free.fixed, (std::vector<std::string>{"x", "der(x)"}));
}

/// So it is no surplus of itself where further equations bind the start.
TEST(FreeValuesOfAStart, AFixedVelocityThatIsFreeIsNoSurplus) {
  const Start start = around("kind = \"dae\"\n[variables]\ns = 0\nth = { start = 0.3, fixed = true }\nF = 0\n"
                             "\"der(th)\" = { start = 0, fixed = true }\n[equations]\n"
                             "cart = \"2*der(s,2) + cos(th)*der(th,2) - sin(th)*der(th)^2 = F\"\n"
                             "pole = \"der(th,2) + cos(th)*der(s,2) + sin(th) = 0\"\npath = \"s = 1 + t\"\n");
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_EQ(start.free.count, 2u);
  EXPECT_TRUE(start.free.surplus.empty());
  EXPECT_TRUE(start.notes.empty());
}

/// A pendulum that swings through its lowest point with 1, and quantities that follow from its motion with wrong guesses. The
/// derivatives of x and y, which nobody gave, begin with 0 and must not slow it down.
TEST(StartSearch, DerivativesThatNobodyGaveDoNotPull) {
  const Start start = around("kind = \"dae\"\n[variables]\nx = 0\ny = -1\nvx = 1\nvy = 0\nr = 1.1\nE = 0\nlam = 1\nspeed = 0.9\n"
                             "[equations]\nk1 = \"der(x) = vx\"\nk2 = \"der(y) = vy\"\ne1 = \"der(vx) = -lam*x\"\n"
                             "e2 = \"der(vy) = -lam*y\"\nrod = \"r = 1\"\nradius = \"r^2 = x^2 + y^2\"\n"
                             "energy = \"E = vx^2/2 + vy^2/2 + y\"\nsp = \"speed^2 = vx^2 + vy^2\"\n");
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_NEAR(value(start, "vx"), 1.0, 1e-14);
  EXPECT_NEAR(value(start, "x"), 0.0, 1e-14);
  EXPECT_NEAR(value(start, "E"), -0.5, 1e-14);
  ASSERT_EQ(start.branches.size(), 2u);  // the speed may be negative
  EXPECT_LT(start.branches[0].distance, start.branches[1].distance);
}

/// The equations of a pendulum mixed by its state, so that the derivative array runs it. Its tension is never differentiated:
/// a wrong guess of it moves nothing else.
TEST(StartSearch, AlgebraicUnknownsOfAnArrayFollow) {
  const Start start = around("kind = \"dae\"\n[variables]\nx = 0\ny = -1\nu = 1\nv = 0\nT = 3\n[equations]\n"
                             "a = \"cos(y)*(der(x) - u) + sin(y)*(x^2 + y^2 - 1) = 0\"\n"
                             "b = \"-sin(y)*(der(x) - u) + cos(y)*(x^2 + y^2 - 1) = 0\"\n"
                             "c = \"der(y) - v + x*(der(u) + T*x) = 0\"\n"
                             "d = \"der(u) + T*x + 0.3*(der(v) + T*y + 9.81) = 0\"\n"
                             "e = \"der(v) + T*y + 9.81 + 0.5*(der(y) - v) = 0\"\n");
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_NEAR(value(start, "u"), 1.0, 1e-14);
  EXPECT_NEAR(value(start, "T"), 10.81, 1e-12);
  EXPECT_EQ(start.moved.size(), 1u);
}

}  // namespace
}  // namespace daedalus::tests
