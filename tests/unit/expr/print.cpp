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

TEST_F(PrintTest, LatexForms) {
  EXPECT_EQ(to_latex(a / b), "\\frac{a}{b}");
  EXPECT_EQ(to_latex(pow(a / b, 2.0)), "\\left(\\frac{a}{b}\\right)^{2}");
  EXPECT_EQ(to_latex((a + b) / c), "\\frac{a + b}{c}");
  EXPECT_EQ(to_latex((a + b) * c), "\\left(a + b\\right) \\, c");
  EXPECT_EQ(to_latex(a * (b / c)), "a \\, \\frac{b}{c}");
  EXPECT_EQ(to_latex(a - (b - c)), "a - \\left(b - c\\right)");
  EXPECT_EQ(to_latex(-pow(x, 2.0)), "-x^{2}");
  EXPECT_EQ(to_latex(pow(x, -2.0)), "x^{-2}");
  EXPECT_EQ(to_latex(pow(x + y, 2.0)), "{\\left(x + y\\right)}^{2}");
  EXPECT_EQ(to_latex(pow(pow(a, b), c)), "{\\left(a^{b}\\right)}^{c}");
  EXPECT_EQ(to_latex(pow(sin(x), 2.0)), "{\\sin\\left(x\\right)}^{2}");
  EXPECT_EQ(to_latex(sqrt(a + b)), "\\sqrt{a + b}");
  EXPECT_EQ(to_latex(cbrt(a)), "\\sqrt[3]{a}");
  EXPECT_EQ(to_latex(abs(x)), "\\left|x\\right|");
  EXPECT_EQ(to_latex(log(x)), "\\ln\\left(x\\right)");
  EXPECT_EQ(to_latex(atan2(y, x)), "\\operatorname{atan2}\\left(y, x\\right)");
  EXPECT_EQ(to_latex(choose(less(x, y), a, b)),
            "\\begin{cases}a & \\text{if } x < y \\\\ b & \\text{otherwise}\\end{cases}");
  EXPECT_EQ(to_latex(negated(less(x, y))), "\\lnot \\left(x < y\\right)");
}

TEST_F(PrintTest, LatexNumbers) {
  EXPECT_EQ(to_latex(2.0 * x), "2 \\, x");
  EXPECT_EQ(to_latex(number(2.5e-7)), "2.5 \\cdot 10^{-7}");
  EXPECT_EQ(to_latex(number(1e-7)), "10^{-7}");
  EXPECT_EQ(to_latex(number(-1e20)), "-10^{20}");
  EXPECT_EQ(to_latex(pow(number(1e-7), x)), "\\left(10^{-7}\\right)^{x}");
  EXPECT_EQ(to_latex(pow(number(2.0), x)), "2^{x}");
  EXPECT_EQ(to_latex(x * (3.0 * y)), "x \\cdot 3 \\, y");
  EXPECT_EQ(to_latex(5.0 * (3.0 * y * a)), "5 \\cdot 3 \\, y \\, a");
  EXPECT_EQ(to_latex(3.0 * pow(number(2.0), x)), "3 \\cdot 2^{x}");
}

TEST_F(PrintTest, LatexNames) {
  EXPECT_EQ(name_to_latex("x"), "x");
  EXPECT_EQ(name_to_latex("theta"), "\\theta");
  EXPECT_EQ(name_to_latex("theta_1"), "\\theta_{1}");
  EXPECT_EQ(name_to_latex("theta1"), "\\theta_{1}");
  EXPECT_EQ(name_to_latex("x_max"), "x_{\\mathrm{max}}");
  EXPECT_EQ(name_to_latex("i_m"), "i_{m}");
  EXPECT_EQ(name_to_latex("height"), "\\mathrm{height}");
  EXPECT_EQ(name_to_latex("x[3]"), "x_{3}");
  EXPECT_EQ(name_to_latex("K[1,2]"), "K_{1,2}");
  EXPECT_EQ(name_to_latex("phi_a[2]"), "\\phi_{a,2}");
  EXPECT_EQ(name_to_latex("x1[2]"), "x_{1,2}");
  EXPECT_EQ(name_to_latex("x1_2"), "x_{1,2}");  // two subscripts in a row would be refused by TeX
  EXPECT_EQ(name_to_latex("x_a_b1"), "x_{a,b_{1}}");
  EXPECT_EQ(name_to_latex("der(x)"), "\\dot{x}");
  EXPECT_EQ(name_to_latex("der(x,2)"), "\\ddot{x}");
  EXPECT_EQ(name_to_latex("der(x,3)"), "\\dddot{x}");
  EXPECT_EQ(name_to_latex("der(x,4)"), "x^{(4)}");
  EXPECT_EQ(name_to_latex("der(theta_1)"), "\\dot{\\theta}_{1}");
  EXPECT_EQ(name_to_latex("der(x[1,2])"), "\\dot{x}_{1,2}");
  EXPECT_EQ(name_to_latex("der(x[1,2],2)"), "\\ddot{x}_{1,2}");
  EXPECT_EQ(name_to_latex("der(x[3],12)"), "x^{(12)}_{3}");
  EXPECT_EQ(name_to_latex("lambda.rod"), "\\lambda_{\\mathrm{rod}}");
  EXPECT_EQ(name_to_latex("lambda.rod_a"), "\\lambda_{\\mathrm{rod\\_a}}");
  EXPECT_EQ(name_to_latex("lambda.rod[2]"), "\\lambda_{\\mathrm{rod},2}");
  EXPECT_EQ(name_to_latex("reaction.rod.x"), "\\mathrm{reaction}_{\\mathrm{rod},\\mathrm{x}}");
  EXPECT_EQ(name_to_latex("_x"), "\\mathrm{\\_x}");
}

TEST_F(PrintTest, LatexPowersOfNames) {
  EXPECT_EQ(to_latex(pow(graph.symbol("der(x)"), 2.0)), "\\dot{x}^{2}");
  EXPECT_EQ(to_latex(pow(graph.symbol("theta_1"), 2.0)), "\\theta_{1}^{2}");
  EXPECT_EQ(to_latex(pow(graph.symbol("der(x,4)"), 2.0)), "{x^{(4)}}^{2}");  // two exponents in a row would be refused
}

}  // namespace
}  // namespace daedalus::expr
