#include "daedalus/expr/print.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>

#include "daedalus/expr/derivative.hpp"

namespace daedalus::expr {
namespace {

struct PrintTest : testing::Test {
  Graph graph;
  Expr a = graph.symbol("a"), b = graph.symbol("b"), c = graph.symbol("c"), x = graph.symbol("x"),
       y = graph.symbol("y");
  Expr number(double value) { return graph.constant(value); }
  Expr less(Expr l, Expr r) { return graph.make(Op::less, l, r); }
  Expr both(Expr l, Expr r) { return graph.make(Op::logical_and, l, r); }
  Expr either(Expr l, Expr r) { return graph.make(Op::logical_or, l, r); }
  Expr negated(Expr e) { return graph.make(Op::logical_not, e); }
};

TEST_F(PrintTest, SumsAndDifferences) {
  EXPECT_EQ(to_text(a + b + c), "a + b + c");
  EXPECT_EQ(to_text(y + x), "y + x");
  EXPECT_EQ(to_text(x + y), "y + x");  // as it was written first
  EXPECT_EQ(to_text(a - b - c), "a - b - c");
  EXPECT_EQ(to_text(a - (b - c)), "a - (b - c)");
  EXPECT_EQ(to_text(a - (b + c)), "a - (b + c)");
  EXPECT_EQ(to_text(-a - b), "-a - b");
  EXPECT_EQ(to_text(-(a + b)), "-(a + b)");
  EXPECT_EQ(to_text(a - 3.0), "a - 3");
  EXPECT_EQ(to_text(-3.0 - a), "-3 - a");
}

TEST_F(PrintTest, ProductsAndQuotients) {
  EXPECT_EQ(to_text((a + b) * c), "(a + b)*c");
  EXPECT_EQ(to_text(c * (a + b)), "(a + b)*c");
  EXPECT_EQ(to_text(x * (a - b)), "x*(a - b)");
  EXPECT_EQ(to_text(a / b / c), "a/b/c");
  EXPECT_EQ(to_text(a / (b * c)), "a/(b*c)");
  EXPECT_EQ(to_text(a / (b / c)), "a/(b/c)");
  EXPECT_EQ(to_text(a * b / c), "a*b/c");
  EXPECT_EQ(to_text((a + b) / (a - b)), "(a + b)/(a - b)");
  EXPECT_EQ(to_text(-2.0 * x), "-2*x");
  EXPECT_EQ(to_text(-(a * b)), "-a*b");
  EXPECT_EQ(to_text(-(a / b)), "-a/b");
  EXPECT_EQ(to_text(a - b * c), "a - b*c");
  EXPECT_EQ(to_text(a + -(b * c)), "a - b*c");
}

TEST_F(PrintTest, Powers) {
  EXPECT_EQ(to_text(-pow(x, 2.0)), "-x^2");
  EXPECT_EQ(to_text(pow(-x, 0.5)), "(-x)^0.5");
  EXPECT_EQ(to_text(pow(x, -2.0)), "x^(-2)");
  EXPECT_EQ(to_text(pow(x + y, 2.0)), "(x + y)^2");
  EXPECT_EQ(to_text(pow(2.0 * x, 2.5)), "(2*x)^2.5");
  EXPECT_EQ(to_text(pow(pow(a, b), c)), "(a^b)^c");
  EXPECT_EQ(to_text(pow(a, pow(b, c))), "a^b^c");
  EXPECT_EQ(to_text(pow(a, b + c)), "a^(b + c)");
  EXPECT_EQ(to_text(pow(a, -b)), "a^(-b)");
  EXPECT_EQ(to_text(pow(number(-2.0), x)), "(-2)^x");
  EXPECT_EQ(to_text(2.0 * pow(x, 2.0)), "2*x^2");
  EXPECT_EQ(to_text(pow(sin(x), 2.0)), "sin(x)^2");
}

TEST_F(PrintTest, CallsAndConditions) {
  EXPECT_EQ(to_text(sin(a + b)), "sin(a + b)");
  EXPECT_EQ(to_text(atan2(-a, b - c)), "atan2(-a, b - c)");
  EXPECT_EQ(to_text(graph.lookup("path", x + 1.0)), "path(x + 1)");
  EXPECT_EQ(to_text(choose(less(x, y + 1.0), a, -b)), "if(x < y + 1, a, -b)");
  EXPECT_EQ(to_text(both(less(x, y), either(less(y, a), less(a, b)))), "x < y and (y < a or a < b)");
  EXPECT_EQ(to_text(either(both(less(x, y), less(y, a)), less(a, b))), "x < y and y < a or a < b");
  EXPECT_EQ(to_text(negated(both(less(x, y), less(y, a)))), "not (x < y and y < a)");
  EXPECT_EQ(to_text(negated(less(x, y))), "not x < y");
  EXPECT_EQ(to_text(both(negated(less(x, y)), less(y, a))), "not x < y and y < a");
  EXPECT_EQ(to_text(graph.make(Op::less_equal, x, y)), "x <= y");
  EXPECT_EQ(to_text(graph.make(Op::equal, x, y)), "x == y");
  EXPECT_EQ(to_text(graph.make(Op::not_equal, x, y)), "x != y");
}

TEST_F(PrintTest, DerivativesReadAsByHand) {
  const Expr dx = graph.symbol("der(x)"), dy = graph.symbol("der(y)"), m = graph.symbol("m");
  const Direction time{{x.id(), dx}, {y.id(), dy}};
  EXPECT_EQ(to_text(derivative_along(pow(x, 2.0) + pow(y, 2.0), time)), "2*x*der(x) + 2*y*der(y)");
  EXPECT_EQ(to_text(partial(m / 2.0 * (pow(dx, 2.0) + pow(dy, 2.0)), dx)), "m*der(x)");
  EXPECT_EQ(to_text(partial(cos(x), x)), "-sin(x)");
  EXPECT_EQ(to_text(partial(sqrt(x), x)), "1/(2*sqrt(x))");
}

TEST_F(PrintTest, NumbersReadBackAsTheSame) {
  EXPECT_EQ(to_text(number(0.1)), "0.1");
  EXPECT_EQ(to_text(number(3.0)), "3");
  EXPECT_EQ(to_text(number(1e-5)), "1e-05");
  std::mt19937_64 random(41);
  for (int i = 0; i < 10000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(std::strtod(to_text(number(value)).c_str(), nullptr), value);
  }
}

}  // namespace
}  // namespace daedalus::expr
