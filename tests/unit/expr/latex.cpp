#include "daedalus/expr/latex.hpp"

#include <gtest/gtest.h>

namespace daedalus::expr {
namespace {

struct LatexTest : testing::Test {
  Graph graph;
  Expr a = graph.symbol("a"), b = graph.symbol("b"), c = graph.symbol("c"), x = graph.symbol("x"),
       y = graph.symbol("y");
  Expr number(double value) { return graph.constant(value); }
  Expr less(Expr l, Expr r) { return graph.make(Op::less, l, r); }
  Expr negated(Expr e) { return graph.make(Op::logical_not, e); }
};

TEST_F(LatexTest, Forms) {
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

TEST_F(LatexTest, Numbers) {
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

TEST_F(LatexTest, Names) {
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

TEST_F(LatexTest, PowersOfNames) {
  EXPECT_EQ(to_latex(pow(graph.symbol("der(x)"), 2.0)), "\\dot{x}^{2}");
  EXPECT_EQ(to_latex(pow(graph.symbol("theta_1"), 2.0)), "\\theta_{1}^{2}");
  EXPECT_EQ(to_latex(pow(graph.symbol("der(x,4)"), 2.0)), "{x^{(4)}}^{2}");  // two exponents in a row would be refused
}

}  // namespace
}  // namespace daedalus::expr
