#include "daedalus/integrate/crossing.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "daedalus/integrate/hermite.hpp"

namespace daedalus::integrate {
namespace {

/// Eight numbers determine a polynomial of degree seven.
TEST(Hermite, IsExactForDegreeSeven) {
  const auto f = [](double t) { return std::pow(t, 7) - 3.0 * std::pow(t, 4) + t - 2.0; };
  const auto slope = [](double t) { return 7.0 * std::pow(t, 6) - 12.0 * std::pow(t, 3) + 1.0; };
  Hermite polynomial;
  for (const double t : {-0.7, 0.2, 1.1, 1.5}) polynomial.add(t, f(t), slope(t));
  for (const double t : {-0.7, -0.1, 0.2, 0.9, 1.5}) {
    EXPECT_NEAR(polynomial.at(t).f, f(t), 1e-12);  // a thousand roundings of numbers up to 20
    EXPECT_NEAR(polynomial.at(t).slope, slope(t), 1e-11);
  }
}

/// g(q) with the gradient `gradient`, one constraint of two coordinates.
struct Plane {
  System system;
  BranchHooks hooks;
  Plane(std::function<void(const double* q, double* gradient)> gradient, std::function<double(const double* q)> g) {
    system.dimension = 4;
    hooks.coordinates = 2;
    hooks.arrows = 1;
    hooks.look = [gradient](double, const double* q, double* arrow) {
      gradient(q, arrow);
      return Evaluation::ok;
    };
    hooks.meeting = [g](double, const double* q, const std::vector<std::size_t>&) {
      return Meeting{{std::abs(g(q))}, {"g"}};
    };
  }
  Crossing::Verdict judge(const double* from, const double* to, double h, double nearest = 1e-3) {
    Crossing crossing(hooks, system);
    crossing.begin(0.0, from);
    return crossing.judge({0.0, h, from, to}, nearest);
  }
};

using Verdict = Crossing::Verdict;

/// On a circle the gradient turns with the position and never vanishes, however far a step goes.
TEST(Crossing, AnArrowThatOnlyTurnsIsOrdinary) {
  Plane circle([](const double* q, double* G) { std::copy_n(q, 2, G); }, [](const double*) { return 0.0; });
  for (const double angle : {0.1, 1.0, 1.6, 2.0, 3.0, 4.0}) {
    const double from[] = {1.0, 0.0, 0.0, 1.0};
    const double to[] = {std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle)};
    EXPECT_EQ(circle.judge(from, to, angle), Verdict::ordinary) << angle;
  }
}

/// x y = e along the axis y = 0: branches that cross for e = 0, and leave a gap for others.
TEST(Crossing, BranchesCrossOrDoNot) {
  const double from[] = {-1.0, 0.0, 1.0, 0.0}, over[] = {1.0, 0.0, 1.0, 0.0}, before[] = {-0.5, 0.0, 1.0, 0.0},
               close[] = {-1e-4, 0.0, 1.0, 0.0}, behind[] = {1e-4, 0.0, 1.0, 0.0};
  const auto gradient = [](const double* q, double* G) {
    G[0] = q[1];
    G[1] = q[0];
  };
  Plane cross(gradient, [](const double* q) { return q[0] * q[1]; });
  EXPECT_EQ(cross.judge(from, over, 2.0), Verdict::crosses);
  EXPECT_EQ(cross.judge(from, before, 0.5), Verdict::ordinary);
  EXPECT_EQ(cross.judge(from, close, 1.0 - 1e-4), Verdict::too_near);
  EXPECT_EQ(cross.judge(from, behind, 1.0 + 1e-4), Verdict::too_near);
  EXPECT_EQ(cross.judge(from, close, 1.0 - 1e-4, 1e-5), Verdict::ordinary);
  Plane gap(gradient, [](const double* q) { return q[0] * q[1] - 1e-4; });
  EXPECT_EQ(gap.judge(from, over, 2.0), Verdict::unclear);
}

TEST(Crossing, KnowsTheWay) {
  Plane cross(
      [](const double* q, double* G) {
        G[0] = q[1];
        G[1] = q[0];
      },
      [](const double* q) { return q[0] * q[1]; });
  const double from[] = {-1.0, 0.0, 1.0, 0.0}, close[] = {-1e-4, 0.0, 1.0, 0.0};
  Crossing crossing(cross.hooks, cross.system);
  crossing.begin(5.0, from);
  ASSERT_EQ(crossing.judge({5.0, 6.0 - 1e-4, from, close}, 1e-3), Verdict::too_near);
  EXPECT_NEAR(crossing.way(), 1.0, 1e-12);
  EXPECT_EQ(crossing.constraints(), std::vector<std::string>{"g"});
}

}  // namespace
}  // namespace daedalus::integrate
