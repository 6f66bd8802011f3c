#include "daedalus/expr/interpolant.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::expr {
namespace {

using Method = Interpolant::Method;
using Outside = Interpolant::Outside;
using Values = std::vector<double>;

double at(const Interpolant& f, double x, int times = 0) { return f.value(f.segment(x), x, times); }

Values map(const Values& x, auto&& function) {
  Values y;
  for (const double one : x) y.push_back(function(one));
  return y;
}

const Values knots{-1.0, -0.3, 0.2, 1.1, 1.5, 3.0};

TEST(Interpolant, GoesThroughTheData) {
  const Values y{2.0, -1.0, 0.5, 0.5, 4.0, -3.0};
  for (const Method method : {Method::step, Method::linear, Method::monotone, Method::spline})
    for (const Outside outside : {Outside::hold, Outside::error, Outside::periodic}) {
      const Interpolant f(knots, y, method, outside);
      for (std::size_t k = 0; k + 1 < knots.size(); ++k) EXPECT_NEAR(at(f, knots[k]), y[k], 1e-15) << k;
      EXPECT_NEAR(f.value(0.0, knots[1]), method == Method::step ? y[0] : y[1], 1e-14);  // continued to the other end
    }
}

TEST(Interpolant, SplineReproducesCubics) {
  // The spline is the only piecewise cubic with two continuous derivatives and no jump of the third at the second and
  // the last but one knot: a cubic is its own spline. Round-off: the slopes come from a system with condition below 10.
  const auto cubic = [](double x) { return ((0.7 * x - 1.3) * x + 0.4) * x + 2.0; };
  const Interpolant f(knots, map(knots, cubic), Method::spline, Outside::error);
  for (double x = -1.0; x <= 3.0; x += 0.0625) {
    EXPECT_NEAR(at(f, x), cubic(x), 1e-13) << x;
    EXPECT_NEAR(at(f, x, 1), (2.1 * x - 2.6) * x + 0.4, 1e-13) << x;
    EXPECT_NEAR(at(f, x, 2), 4.2 * x - 2.6, 1e-12) << x;
  }
  const Values three{0.0, 1.0, 3.0};
  const Interpolant parabola(three, map(three, [](double x) { return x * x - x; }), Method::spline, Outside::error);
  EXPECT_NEAR(at(parabola, 2.2), 2.2 * 2.2 - 2.2, 1e-14);
}

TEST(Interpolant, DerivativesAreContinuousAsPromised) {
  const Values y{2.0, -1.0, 0.5, 0.5, 4.0, 2.0};
  for (const Outside outside : {Outside::hold, Outside::periodic})
    for (const Method method : {Method::linear, Method::monotone, Method::spline}) {
      const Interpolant f(knots, y, method, outside);
      const double first = outside == Outside::periodic ? -3.0 : 1.0, last = outside == Outside::periodic ? 9.0 : 4.0;
      for (double segment = first; segment <= last; segment += 1.0)
        for (int times = 0; times <= f.smoothness(); ++times) {
          const double x = f.low(segment);
          EXPECT_NEAR(f.value(segment - 1.0, x, times), f.value(segment, x, times), 2e-13) << segment << ' ' << times;
        }
    }
}

TEST(Interpolant, PeriodicSplineFollowsASine) {
  Values x, y;
  constexpr int n = 64;
  for (int k = 0; k <= n; ++k) {
    x.push_back(2.0 * std::numbers::pi * k / n);
    y.push_back(k == n ? y.front() : std::sin(x.back() + 0.3));
  }
  const Interpolant f(x, y, Method::spline, Outside::periodic);
  // Error of cubic splines on a uniform mesh: 5/384 h^4 max |f''''| = 1.2e-6.
  for (double t = -20.0; t < 20.0; t += 0.11) EXPECT_NEAR(at(f, t), std::sin(t + 0.3), 1.3e-6) << t;
}

TEST(Interpolant, MonotoneDataStayMonotone) {
  const Values y{0.0, 0.1, 0.1, 5.0, 5.1, 9.0};
  const Interpolant f(knots, y, Method::monotone, Outside::hold);
  double before = 0.0;
  for (double x = -1.0; x <= 3.0; x += 0.01) {
    EXPECT_GE(at(f, x), before - 1e-15) << x;
    before = at(f, x);
  }
}

TEST(Interpolant, OutsideIsWhatTheAuthorSaid) {
  const Values y{2.0, -1.0, 0.5, 0.5, 4.0, -3.0};
  const Interpolant hold(knots, y, Method::spline, Outside::hold), error(knots, y, Method::spline, Outside::error),
      periodic(knots, y, Method::linear, Outside::periodic);
  EXPECT_EQ(at(hold, -7.0), 2.0);
  EXPECT_EQ(at(hold, 8.0), -3.0);
  EXPECT_EQ(at(hold, 8.0, 1), 0.0);
  EXPECT_TRUE(std::isnan(at(error, 3.1)));
  EXPECT_TRUE(error.forbidden(error.segment(-1.1)));
  EXPECT_FALSE(error.forbidden(error.segment(3.0)));
  EXPECT_NEAR(at(periodic, 3.35), at(periodic, -0.65), 1e-14);
  EXPECT_NEAR(at(periodic, -9.0), at(periodic, -1.0), 1e-14);
  EXPECT_EQ(periodic.segment(3.35), 5.0);
  EXPECT_EQ(periodic.low(5.0), 3.0);
  EXPECT_NEAR(periodic.high(5.0), 3.7, 1e-15);
}

TEST(Interpolant, PlacesFarAwayAreFoundOrNotANumber) {
  const Interpolant periodic(knots, Values{0.0, 1.0, 3.0, 2.0, -1.0, 0.0}, Method::linear, Outside::periodic);
  // The last segment of a turn whose quotient by five segments rounds up to the next turn.
  const double last = 5.0 * 0x1p50 - 1.0;
  EXPECT_LE(periodic.low(last), periodic.high(last));
  EXPECT_TRUE(std::isfinite(periodic.value(last, periodic.low(last))));
  EXPECT_TRUE(std::isfinite(periodic.value(-1e-40, 0.0)));  // no whole number, next to one
  for (const double x : {-1e300, 1e300, -1e17, 1e17, -HUGE_VAL, HUGE_VAL}) {
    const double segment = periodic.segment(x);
    EXPECT_TRUE(std::isnan(segment)) << x;
    EXPECT_TRUE(std::isnan(periodic.value(segment, x))) << x;
    EXPECT_TRUE(std::isnan(periodic.value(x, x))) << x;
    EXPECT_TRUE(std::isnan(periodic.low(x))) << x;
  }
}

TEST(Interpolant, DerivativesOfTablesAreTablesWithAPrime) {
  Graph graph;
  const Expr x = graph.symbol("x"), y = graph.symbol("y");
  graph.define_table("path", std::make_shared<const Interpolant>(knots, Values{2.0, -1.0, 0.5, 0.5, 4.0, -3.0},
                                                                 Method::spline, Outside::hold));
  const Expr f = graph.lookup("path", x * y) * y;
  EXPECT_EQ(to_text(partial(graph.lookup("path", x), x)), "path'(x)");
  const std::unordered_map<NodeId, double> point{{x.id(), 0.8}, {y.id(), 1.7}};
  const double h = 1e-5;  // differences err by h^2 f''' / 6 = 1e-9 and eps/h = 2e-11
  for (const Expr& symbol : {x, y}) {
    auto above = point, below = point;
    above[symbol.id()] += h;
    below[symbol.id()] -= h;
    const double expected = (evaluate(f, above) - evaluate(f, below)) / (2.0 * h);
    EXPECT_NEAR(evaluate(partial(f, symbol), point), expected, 1e-7);
    EXPECT_NEAR(evaluate(gradient(f, std::vector{symbol})[0], point), expected, 1e-7);
  }
}

}  // namespace
}  // namespace daedalus::expr
