#include "daedalus/model/syntax.hpp"

#include <cmath>
#include <numbers>

#include "unit/model/helpers.hpp"

namespace daedalus::model {
namespace {

TEST(Syntax, PowerBindsAboveMinusAndToTheRight) {
  EXPECT_EQ(value_of("-3^2"), -9.0);
  EXPECT_EQ(value_of("2^3^2"), 512.0);
  EXPECT_EQ(value_of("(2^3)^2"), 64.0);
  EXPECT_EQ(value_of("2^-1"), 0.5);
  EXPECT_EQ(value_of("2^-2^2"), 0.0625);
  EXPECT_EQ(value_of("-2^-2"), -0.25);
  EXPECT_EQ(value_of("(-3)^2"), 9.0);
}

TEST(Syntax, DivisionAndSubtractionBindToTheLeft) {
  EXPECT_EQ(value_of("12/3/2"), 2.0);
  EXPECT_EQ(value_of("12/3*2"), 8.0);
  EXPECT_EQ(value_of("10 - 3 - 2"), 5.0);
  EXPECT_EQ(value_of("2 - 3*4"), -10.0);
  EXPECT_EQ(value_of("2*-3"), -6.0);
  EXPECT_EQ(value_of("1 - -1"), 2.0);
  EXPECT_EQ(value_of("--1"), 1.0);
  EXPECT_EQ(value_of("+1"), 1.0);
  EXPECT_EQ(value_of("-2*3^2/9"), -2.0);
}

TEST(Syntax, ReadsNumbers) {
  EXPECT_EQ(value_of("2.5e-3"), 2.5e-3);
  EXPECT_EQ(value_of(".5"), 0.5);
  EXPECT_EQ(value_of("1."), 1.0);
  EXPECT_EQ(value_of("1E+2"), 100.0);
  EXPECT_EQ(value_of("1e-400"), 0.0);
  EXPECT_EQ(value_of("0.1"), 0.1);
  EXPECT_EQ(value_of("pi"), std::numbers::pi);
}

TEST(Syntax, KnowsTheFunctions) {
  // A compiler folds library functions with its own last bit, hence equality to four units of it.
  EXPECT_DOUBLE_EQ(value_of("sin(1) + cos(1) + tan(1)"), std::sin(1.0) + std::cos(1.0) + std::tan(1.0));
  EXPECT_DOUBLE_EQ(value_of("asin(0.5) + acos(0.5) + atan(0.5)"), std::asin(0.5) + std::acos(0.5) + std::atan(0.5));
  EXPECT_DOUBLE_EQ(value_of("atan2(1, -1)"), std::atan2(1.0, -1.0));
  EXPECT_DOUBLE_EQ(value_of("sinh(1) + cosh(1) + tanh(1)"), std::sinh(1.0) + std::cosh(1.0) + std::tanh(1.0));
  EXPECT_DOUBLE_EQ(value_of("asinh(1) + acosh(2) + atanh(0.5)"), std::asinh(1.0) + std::acosh(2.0) + std::atanh(0.5));
  EXPECT_DOUBLE_EQ(value_of("exp(1) + log(2) + log10(2)"), std::exp(1.0) + std::log(2.0) + std::log10(2.0));
  EXPECT_DOUBLE_EQ(value_of("sqrt(2) + cbrt(2)"), std::sqrt(2.0) + std::cbrt(2.0));
  EXPECT_DOUBLE_EQ(value_of("abs(-2) + sign(-2) + floor(-2.5)"), -2.0);
  EXPECT_DOUBLE_EQ(value_of("min(3, 2) + max(3, 2) + min(3, 2, 1)"), 6.0);
  EXPECT_DOUBLE_EQ(value_of("hypot(3, 4)"), 5.0);
}

TEST(Syntax, DecidesConditions) {
  EXPECT_EQ(value_of("if(1 < 2, 10, 20)"), 10.0);
  EXPECT_EQ(value_of("if(1 <= 1, 10, 20)"), 10.0);
  EXPECT_EQ(value_of("if(1 > 2, 10, 20)"), 20.0);
  EXPECT_EQ(value_of("if(1 >= 2, 10, 20)"), 20.0);
  EXPECT_EQ(value_of("if(1 == 1, 10, 20)"), 10.0);
  EXPECT_EQ(value_of("if(1 != 1, 10, 20)"), 20.0);
  EXPECT_EQ(value_of("if(1 < 2 and 2 < 1, 10, 20)"), 20.0);
  EXPECT_EQ(value_of("if(1 < 2 or 2 < 1, 10, 20)"), 10.0);
  EXPECT_EQ(value_of("if(not 2 < 1, 10, 20)"), 10.0);
  EXPECT_EQ(value_of("if(not not 2 < 1, 10, 20)"), 20.0);
  // `and` binds above `or`
  EXPECT_EQ(value_of("if(1 < 2 or 1 < 2 and 2 < 1, 10, 20)"), 10.0);
  EXPECT_EQ(value_of("if((1 < 2 or 1 < 2) and 2 < 1, 10, 20)"), 20.0);
}

TEST(Syntax, WritesOutSumsAndProducts) {
  EXPECT_EQ(value_of("sum(i in 1..4, i^2)"), 30.0);
  EXPECT_EQ(value_of("product(i in 1..4, i)"), 24.0);
  EXPECT_EQ(value_of("sum(i in 3..2, i)"), 0.0);
  EXPECT_EQ(value_of("product(i in 3..2, i)"), 1.0);
  EXPECT_EQ(value_of("sum(i in 1..3, sum(j in i..3, i*j))"), 1 + 2 + 3 + 4 + 6 + 9);
  EXPECT_EQ(value_of("sum(i in 1..3, j in i..3, i*j)"), 25.0);
  EXPECT_EQ(value_of("sum(i in -1..1, i)"), 0.0);
}

TEST(Syntax, DerivativesHaveTwoSpellings) {
  for (const std::string spelling :
       {"der(x,2) + der(y) = 0", "x'' + y' = 0", "der(x, 1 + 1) + der(y,1) = 0", "der(der(x)) + y' = 0"}) {
    const Model model = with_equation(spelling);
    EXPECT_EQ(text(model.equations[0].left), "der(x,2) + der(y)") << spelling;
    EXPECT_EQ(unknown(model, "x").rates.size(), 2U);
    EXPECT_EQ(unknown(model, "y").rates.size(), 1U);
    EXPECT_EQ(unknown(model, "z").rates.size(), 0U);
  }
}

TEST(Syntax, DerivativeOfAnExpressionIsItsTotalTimeDerivative) {
  EXPECT_EQ(text(with_equation("der(x*y) = 0").equations[0].left), "der(x)*y + x*der(y)");
  EXPECT_EQ(text(with_equation("der(t^2) = 0").equations[0].left), "2*t");
  EXPECT_EQ(text(with_equation("der(x^2, 2) = 0").equations[0].left), "2*(der(x)^2 + x*der(x,2))");
  EXPECT_TRUE(with_equation("der(3) + x = 0").equations[0].left == with_equation("x = 0").variables[0].symbol ||
              text(with_equation("der(3) + x = 0").equations[0].left) == "x");
}

TEST(Syntax, AnEquationIsLeftMinusRightAndAResidualByItselfIsZero) {
  const Model model = with_equation("2*x = y");
  EXPECT_EQ(text(model.equations[0].left), "2*x");
  EXPECT_EQ(text(model.equations[0].right), "y");
  EXPECT_EQ(text(model.equations[0].residual), "2*x - y");
  const Model residual = with_equation("x - y");
  EXPECT_EQ(text(residual.equations[0].residual), "x - y");
  EXPECT_TRUE(residual.equations[0].right.is_constant(0.0));
}

TEST(Syntax, TimeHasTwoNames) {
  const Model model = with_equation("t + time = x");
  EXPECT_EQ(text(model.equations[0].left), "2*t");
}

TEST(Syntax, ComparisonsStaySwitchesWhereVariablesDecide) {
  const Model model = with_equation("if(x > y and not x >= 2, x, y) = 0");
  EXPECT_EQ(text(model.equations[0].left), "if(y < x and not 2 <= x, x, y)");
}

TEST(Syntax, MayUseLettersOfOtherAlphabets) {
  const Model model = read("kind = \"dae\"\n[variables]\n\"\u03B8\" = 1\n[equations]\ne = \"der(\u03B8) = -\u03B8\"\n");
  EXPECT_EQ(model.variables[0].name, "\u03B8");
}

TEST(Syntax, MillionTermsDoNotNest) {
  std::string sum = "x = 0";
  for (int i = 0; i < 100000; ++i) sum += "+y*z";
  EXPECT_NO_THROW(with_equation(sum));
}

TEST(Syntax, NestingIsLimited) {
  const auto nested = [](int depth) { return std::string(depth, '(') + "x" + std::string(depth, ')') + " = 0"; };
  EXPECT_NO_THROW(with_equation(nested(400)));
  EXPECT_THROW(with_equation(nested(600)), Error);
  EXPECT_THROW(with_equation(nested(200000)), Error);
  std::string powers = "x";
  for (int i = 0; i < 100000; ++i) powers += "^2";
  EXPECT_THROW(with_equation(powers + " = 0"), Error);
}

TEST(Syntax, KeysAreParsed) {
  const auto map = std::make_shared<const SourceMap>(std::make_shared<const SourceText>(SourceText{"key", "key"}));
  const auto key = [&](const std::string& written) { return parse_key(Passage(map, written, 0)); };
  EXPECT_EQ(key("x").form, KeySyntax::Form::plain);
  EXPECT_EQ(key("x[i,j]").indices.size(), 2U);
  EXPECT_EQ(key("der(x)").order, 1);
  EXPECT_EQ(key("der(x,1)").order, 1);
  EXPECT_EQ(key("x''").order, 2);
  EXPECT_EQ(key("der(x[i],2)").base, "x");
  EXPECT_EQ(key("f(u, v)").arguments, (std::vector<std::string>{"u", "v"}));
  for (const std::string wrong : {"x+1", "2x", "f(1)", "der(x,0)", "der()", "x[", "", "in", "a b"})
    EXPECT_THROW(key(wrong), Error) << wrong;
}

}  // namespace
}  // namespace daedalus::model
