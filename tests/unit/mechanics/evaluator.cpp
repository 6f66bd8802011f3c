// Projections and auxiliary equations of one trajectory, at points where they are easily got wrong.

#include "unit/mechanics/tools.hpp"

namespace daedalus::tests {
namespace {

using mechanics::Evaluator;
using mechanics::Outcome;

Evaluator evaluator_of(const std::string& text) { return Evaluator(mechanics::compile_functions(derived(text))); }

std::string planar(const std::string& constraints, const std::string& kinetic = "(der(x)^2 + der(y)^2)/2") {
  return "kind = \"lagrangian\"\n[variables]\nx = 0\ny = 0\n[lagrangian]\nkinetic = \"" + kinetic +
         "\"\n[constraints]\n" + constraints;
}

/// x^2 + (y - 1)^2 = 1 near the origin: the terms of g are of size 1, but G q tends to 0 with q. A projection that
/// measures g by G q never ends here.
TEST(Projection, EndsWhereThePositionIsAlmostZero) {
  Evaluator evaluator = evaluator_of(planar("rod = \"x^2 + (y - 1)^2 = 1\""));
  for (const double x : {1e-2, 1e-4, 1e-6, 1e-9, 0.0}) {
    double state[] = {x, 1e-7, 0.3, 0.01};
    ASSERT_EQ(evaluator.project(0.0, state), Outcome::ok) << x << ": " << evaluator.explain();
    double g, rate;
    evaluator.residuals(0.0, state, &g, &rate);
    EXPECT_LE(std::abs(g), 4 * 2.3e-16);
    EXPECT_LE(std::abs(rate), 4 * 2.3e-16);
  }
}

/// x = 0 has one term, which vanishes: the end must be near zero itself, at any size of the other coordinate.
TEST(Projection, DrivesASingleTermToZero) {
  Evaluator evaluator = evaluator_of(planar("wall = \"x = 0\"", "der(x)^2/2 + der(y)^2/6 + der(x)*der(y)/7"));
  double state[] = {0.37, 1e3, 0.3, 2.0};
  const std::size_t before = evaluator.factorizations();
  ASSERT_EQ(evaluator.project(0.0, state), Outcome::ok);
  EXPECT_LE(std::abs(state[0]), 1e-29);
  EXPECT_LE(std::abs(state[2]), 1e-29);
  EXPECT_LE(evaluator.factorizations() - before, 2u);  // one for the positions, one for the velocities
}

/// The correction is the least one in the mass norm: M dq is in the range of G^T, so M1 (x1 - x0) : M2 (y1 - y0) = G1 :
/// G2.
TEST(Projection, MovesLeastInTheMassNorm) {
  Evaluator evaluator = evaluator_of(planar("line = \"x + 2*y = 1\"", "3*der(x)^2/2 + 5*der(y)^2/2"));
  double state[] = {0.2, 0.7, 0.5, -0.9};
  ASSERT_EQ(evaluator.project(0.0, state), Outcome::ok);
  // by hand: dq = -M^-1 G^T (G M^-1 G^T)^-1 g with g = 0.6, G M^-1 G^T = 1/3 + 4/5 = 17/15
  EXPECT_NEAR(state[0], 0.2 - 0.6 * 15.0 / 17.0 / 3.0, 1e-15);
  EXPECT_NEAR(state[1], 0.7 - 0.6 * 15.0 / 17.0 * 2.0 / 5.0, 1e-15);
  const double c = 0.5 - 1.8;  // G v
  EXPECT_NEAR(state[2], 0.5 - c * 15.0 / 17.0 / 3.0, 1e-15);
  EXPECT_NEAR(state[3], -0.9 - c * 15.0 / 17.0 * 2.0 / 5.0, 1e-15);
}

/// A wheel without inertia: M is definite only together with the rolling constraint, which is nonholonomic, and the
/// positions still have to be projected onto the holonomic one.
TEST(Projection, UsesNonholonomicConstraintsWhereTheMassNeedsThem) {
  Evaluator evaluator = evaluator_of(R"toml(
kind = "lagrangian"
[variables]
x = 0
y = 0
phi = 0
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2)/2"
potential = "9.81*y"
[constraints]
slope = "y + x/2 = 0"
roll = "der(x) = 0.3*der(phi)"
)toml");
  double state[] = {1.0, -0.48, 2.0, 0.4, -0.1, 0.9};
  ASSERT_EQ(evaluator.project(0.0, state), Outcome::ok) << evaluator.explain();
  EXPECT_NEAR(state[1] + state[0] / 2.0, 0.0, 1e-16);
  EXPECT_NEAR(state[4] + state[3] / 2.0, 0.0, 1e-16);
  EXPECT_NEAR(state[3], 0.3 * state[5], 1e-16);
  ASSERT_EQ(evaluator.accelerations(0.0, state), Outcome::ok) << evaluator.explain();
  // a point mass on a slope of 1:2 (the wheel has no inertia): x'' = g/2 / (1 + 1/4)
  EXPECT_NEAR(evaluator.a()[0], 9.81 * 0.5 / 1.25, 1e-14);
  EXPECT_NEAR(evaluator.a()[2], 9.81 * 0.5 / 1.25 / 0.3, 1e-13);
}

TEST(Projection, FailsWhereDependentConstraintsContradict) {
  Evaluator evaluator = evaluator_of(planar("one = \"der(x) = 1\"\ntwo = \"der(x) = 1 + t^3\""));
  double state[] = {0.0, 0.0, 1.0, 0.0};
  EXPECT_EQ(evaluator.project(0.0, state), Outcome::ok);
  EXPECT_EQ(evaluator.project(0.5, state), Outcome::no_convergence);
  EXPECT_NE(evaluator.explain().find("contradicts"), std::string::npos) << evaluator.explain();
}

/// Nonholonomic constraints do not bind positions, so the error of a position keeps its part across them.
TEST(Projection, OfErrorsLeavesPositionsToHolonomicConstraints) {
  Evaluator evaluator = evaluator_of(planar("skate = \"der(y) = 0\""));
  const double state[] = {0.0, 0.0, 1.0, 0.0};
  ASSERT_EQ(evaluator.accelerations(0.0, state), Outcome::ok);
  double error[] = {0.1, 0.2, 0.3, 0.4};
  evaluator.project_error(error);
  EXPECT_EQ(error[0], 0.1);
  EXPECT_EQ(error[1], 0.2);
  EXPECT_NEAR(error[2], 0.3, 1e-16);
  EXPECT_NEAR(error[3], 0.0, 1e-16);

  Evaluator both = evaluator_of(planar("wall = \"x = 0\"\nskate = \"der(y) = 0\""));
  ASSERT_EQ(both.accelerations(0.0, state), Outcome::ok);
  double more[] = {0.1, 0.2, 0.3, 0.4};
  both.project_error(more);
  for (const auto& [i, expected] : {std::pair{0, 0.0}, {1, 0.2}, {2, 0.0}, {3, 0.0}})
    EXPECT_NEAR(more[i], expected, 1e-16);
}

std::string with_auxiliary(const std::string& equation, const std::string& start = "0") {
  return "kind = \"lagrangian\"\n[variables]\nx = 0\n[auxiliary]\nw = " + start +
         "\n[lagrangian]\nkinetic = \"der(x)^2/2\"\n[lagrangian.forces]\nx = \"w\"\n[equations]\nloop = \"" + equation +
         "\"\n";
}

TEST(AuxiliaryEquations, NonlinearLoopsAreSolvedToTheLastDigits) {
  Evaluator cubic = evaluator_of(with_auxiliary("w^3 + w = x"));
  const double one[] = {10.0, 0.0};
  ASSERT_EQ(cubic.accelerations(0.0, one), Outcome::ok);
  EXPECT_NEAR(cubic.w()[0], 2.0, 2 * 2.3e-16);  // 8 + 2 = 10
  EXPECT_EQ(cubic.a()[0], cubic.w()[0]);
  const double zero[] = {0.0, 0.0};
  ASSERT_EQ(cubic.accelerations(0.0, zero), Outcome::ok);
  EXPECT_NEAR(cubic.w()[0], 0.0, 1e-15);
}

/// exp(w) = 1e5 from w = 0: the first Newton step is 1e5 long and overflows.
TEST(AuxiliaryEquations, LongNewtonStepsAreShortened) {
  Evaluator diode = evaluator_of(with_auxiliary("exp(w) - 1 = x"));
  const double state[] = {1e5, 0.0};
  ASSERT_EQ(diode.accelerations(0.0, state), Outcome::ok) << diode.explain();
  EXPECT_NEAR(diode.w()[0], std::log1p(1e5), 1e-13);
}

/// A trial step of an integrator may leave the domain; the next one must not suffer from it.
TEST(AuxiliaryEquations, AFailureIsForgotten) {
  Evaluator root = evaluator_of(with_auxiliary("w^2 = x", "1"));
  root.guess_auxiliary({1.0});
  const double good[] = {4.0, 0.0}, bad[] = {-4.0, 0.0};
  ASSERT_EQ(root.accelerations(0.0, good), Outcome::ok);
  EXPECT_NE(root.accelerations(0.0, bad), Outcome::ok);
  EXPECT_FALSE(root.explain().empty());
  ASSERT_EQ(root.accelerations(0.0, good), Outcome::ok);
  EXPECT_NEAR(root.w()[0], 2.0, 1e-15);  // the branch that it was on
  const double huge[] = {std::nan(""), 0.0};
  EXPECT_EQ(root.accelerations(0.0, huge), Outcome::not_finite);
  ASSERT_EQ(root.accelerations(0.0, good), Outcome::ok);
}

}  // namespace
}  // namespace daedalus::tests
