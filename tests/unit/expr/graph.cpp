#include "daedalus/expr/graph.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"
#include "unit/expr/random_tree.hpp"

namespace daedalus::expr {
namespace {

struct GraphTest : testing::Test {
  Graph graph;
  Expr a = graph.symbol("a"), b = graph.symbol("b"), m = graph.symbol("m"), v = graph.symbol("v"),
       x = graph.symbol("x");
  Expr number(double value) { return graph.constant(value); }
};

TEST_F(GraphTest, EqualExpressionsAreOneNode) {
  EXPECT_EQ(a + b, b + a);
  EXPECT_EQ(a * b, b * a);
  EXPECT_EQ(sin(a + b) * m, m * sin(b + a));
  EXPECT_NE(a - b, b - a);
  EXPECT_NE(a / b, b / a);
  EXPECT_NE(pow(a, b), pow(b, a));
  EXPECT_NE(atan2(a, b), atan2(b, a));
  EXPECT_EQ(graph.symbol("a"), a);
  EXPECT_EQ(graph.constant(0.1), graph.constant(0.1));
  EXPECT_EQ(graph.constant(-0.0), graph.constant(0.0));
  const std::size_t before = graph.size();
  (void)(sin(b + a) * m);
  EXPECT_EQ(graph.size(), before);
}

TEST_F(GraphTest, TablesAreKnownByNameAndArgument) {
  EXPECT_EQ(graph.lookup("path", a), graph.lookup("path", a));
  EXPECT_NE(graph.lookup("path", a), graph.lookup("path", b));
  EXPECT_NE(graph.lookup("path", a), graph.lookup("map", a));
  EXPECT_EQ(graph.table_name(graph.lookup("map", a).node().index), "map");
}

TEST_F(GraphTest, OperandsComeBeforeTheirUsers) {
  random_tree::Random random(1);
  const auto symbols = random_tree::make_symbols(graph, 3);
  for (int i = 0; i < 100; ++i)
    random_tree::build(graph, random_tree::make_tree(random, random_tree::all_operations(), 3, 60), symbols);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (arity(node.op) > 0) {
      EXPECT_LT(node.a, id);
    }
    if (arity(node.op) > 1) {
      EXPECT_LT(node.b, id);
    }
    if (arity(node.op) > 2) {
      EXPECT_LT(node.c, id);
    }
  }
}

TEST_F(GraphTest, ZeroAndOneDisappear) {
  EXPECT_EQ(x + 0.0, x);
  EXPECT_EQ(0.0 + x, x);
  EXPECT_EQ(x - 0.0, x);
  EXPECT_EQ(0.0 - x, -x);
  EXPECT_EQ(x * 1.0, x);
  EXPECT_EQ(x / 1.0, x);
  EXPECT_EQ(x * 0.0, number(0.0));
  EXPECT_EQ(0.0 / x, number(0.0));
  EXPECT_EQ(x - x, number(0.0));
  EXPECT_EQ(pow(x, 1.0), x);
  EXPECT_EQ(pow(x, 0.0), number(1.0));
}

TEST_F(GraphTest, ConstantsAreFolded) {
  EXPECT_EQ(number(2.0) + number(3.0), number(5.0));
  EXPECT_EQ(number(1.0) / number(3.0), number(1.0 / 3.0));
  EXPECT_EQ(sin(number(0.5)), number(std::sin(0.5)));
  EXPECT_EQ(pow(number(2.0), -3.0), number(0.125));
  EXPECT_EQ(graph.make(Op::less, number(1.0), number(2.0)), number(1.0));
  EXPECT_EQ(choose(number(1.0), a, b), a);
  EXPECT_EQ(choose(number(0.0), a, b), b);
  EXPECT_EQ(choose(a, b, b), b);
  EXPECT_EQ(min(a, a), a);
  // A division by zero is kept, so that a message can quote it.
  EXPECT_FALSE((number(1.0) / number(0.0)).is_constant());
}

TEST_F(GraphTest, PowersOfTwoMove) {
  EXPECT_EQ((m / 2.0) * (2.0 * v), m * v);
  EXPECT_EQ(2.0 * (m / 2.0), m);
  EXPECT_EQ((2.0 * m) / 2.0, m);
  EXPECT_EQ(2.0 * (3.0 * m), 6.0 * m);
  EXPECT_EQ((m / 2.0) / 4.0, m / 8.0);
  EXPECT_EQ(m / 0.5, 2.0 * m);
  EXPECT_EQ(m + m, 2.0 * m);
  EXPECT_EQ(2.0 * (3.0 / m), 6.0 / m);
}

TEST_F(GraphTest, OtherNumbersStayWhereRoundingWouldDiffer) {
  EXPECT_NE(3.0 * (5.0 * m), 15.0 * m);
  EXPECT_NE(3.0 * (1.0 / m), 3.0 / m);
  EXPECT_NE((m / 3.0) / 5.0, m / 15.0);
}

TEST_F(GraphTest, LongChainsOfPowersOfTwoDoNotOverflow) {
  Expr doubled = x, halved = x;
  for (int i = 0; i < 1100; ++i) {
    doubled = 2.0 * doubled;
    halved = halved / 2.0;
  }
  // Scaling by powers of two is exact while the result is normal.
  EXPECT_EQ(evaluate(doubled, {{x.id(), 0x1p-1000}}), 0x1p100);
  EXPECT_EQ(evaluate(halved, {{x.id(), 0x1.8p1000}}), 0x1.8p-100);
}

TEST_F(GraphTest, ProductsOfEqualFactorsAreSquares) {
  EXPECT_EQ(x * x, pow(x, 2.0));
  EXPECT_EQ((2.0 * x) * (2.0 * x), 4.0 * pow(x, 2.0));
  EXPECT_EQ(evaluate(pow(x, 2.0), {{x.id(), 1.0 / 3.0}}), (1.0 / 3.0) * (1.0 / 3.0));
}

TEST_F(GraphTest, SignsMoveOutwards) {
  EXPECT_EQ(-(-x), x);
  EXPECT_EQ(-(a - b), b - a);
  EXPECT_EQ(a + -b, a - b);
  EXPECT_EQ(-a + b, b - a);
  EXPECT_EQ(a - -b, a + b);
  EXPECT_EQ(-a * b, -(a * b));
  EXPECT_EQ(-a * -b, a * b);
  EXPECT_EQ(-3.0 * a, -(3.0 * a));
  EXPECT_EQ(a / -b, -(a / b));
  EXPECT_EQ(pow(-a, 2.0), pow(a, 2.0));
  EXPECT_EQ(pow(-a, 3.0), -pow(a, 3.0));
  EXPECT_EQ(pow(-a, -2.0), pow(a, -2.0));
  EXPECT_NE(pow(-a, 0.5), -pow(a, 0.5));
  EXPECT_EQ(a + -2.0, a - 2.0);
}

TEST_F(GraphTest, WrongNumberOfOperandsIsOurFault) {
  EXPECT_THROW(graph.make(Op::add, a), InternalError);
  EXPECT_THROW(graph.make(Op::sin, a, b), InternalError);
  EXPECT_THROW(graph.make(Op::min, a, b, x), InternalError);
}

TEST_F(GraphTest, WhatIsNotFiniteStaysAsWritten) {
  EXPECT_EQ(to_text(number(1.0) / number(0.0)), "1/0");
  EXPECT_EQ(to_text(exp(number(1000.0)) * a), "exp(1000)*a");
  EXPECT_EQ(to_text(log(number(0.0)) + sqrt(number(-1.0))), "log(0) + sqrt(-1)");
  EXPECT_EQ(to_text(pow(number(1e200), 2.0)), "1e+200^2");
  for (const Expr e : {number(1e308) + number(1e308), number(-1e308) - number(1e308), number(1e308) * number(-10.0),
                       number(1e308) / number(-1e-308), number(1e308) / number(0x1p-60)}) {
    EXPECT_FALSE(e.is_constant());
    EXPECT_EQ(to_text(e).find("inf"), std::string::npos) << to_text(e);
  }
}

TEST_F(GraphTest, WholePowersAreRepeatedProducts) {
  const double c = 1.0 / 3.0;
  EXPECT_EQ(power(c, 2.0), c * c);
  EXPECT_EQ(power(c, 3.0), c * (c * c));
  EXPECT_EQ(power(c, -2.0), 1.0 / (c * c));
  EXPECT_EQ(power(c, 0.0), 1.0);
  EXPECT_EQ(power(-2.0, 3.0), -8.0);
  EXPECT_EQ(power(2.0, 65.0), 0x1p65);
  EXPECT_EQ(power(c, 0.5), std::pow(c, 0.5));
  EXPECT_TRUE(std::isnan(power(-2.0, 0.5)));
}

TEST_F(GraphTest, PowersOfHalvesAreProductsWithARoot) {
  const double c = 1.0 / 3.0;
  EXPECT_EQ(power(c, 0.5), std::sqrt(c));
  EXPECT_EQ(power(c, 1.5), c * std::sqrt(c));
  EXPECT_EQ(power(c, -2.5), 1.0 / (c * c * std::sqrt(c)));
  EXPECT_EQ(power(c, 8.5), std::pow(c, 8.5));
  for (const double exponent : {0.5, 1.5, 2.5}) {
    EXPECT_TRUE(power(-0.0, exponent) == 0.0 && !std::signbit(power(-0.0, exponent)));
    EXPECT_EQ(power(-0.0, -exponent), std::numeric_limits<double>::infinity());
  }
}

TEST_F(GraphTest, ApplyIsWhatTheNamesSay) {
  EXPECT_EQ(apply(Op::sign, -3.0), -1.0);
  EXPECT_EQ(apply(Op::sign, 0.0), 0.0);
  EXPECT_TRUE(std::isnan(apply(Op::sign, std::numeric_limits<double>::quiet_NaN())));
  EXPECT_EQ(apply(Op::min, 1.0, 2.0), 1.0);
  EXPECT_EQ(apply(Op::max, 1.0, 2.0), 2.0);
  EXPECT_EQ(apply(Op::floor, -0.5), -1.0);
  EXPECT_EQ(apply(Op::atan2, 1.0, -1.0), std::atan2(1.0, -1.0));
  EXPECT_EQ(apply(Op::logical_and, 2.0, 0.0), 0.0);
  EXPECT_EQ(apply(Op::logical_or, 2.0, 0.0), 1.0);
  EXPECT_EQ(apply(Op::logical_not, 2.0), 0.0);
  EXPECT_EQ(apply(Op::choose, 2.0, 5.0, 6.0), 5.0);
  EXPECT_EQ(apply(Op::less_equal, 2.0, 2.0), 1.0);
  EXPECT_THROW(apply(Op::symbol, 0.0), InternalError);
}

/// Simplification keeps every bit of every value, except the sign of zeros.
void expect_same_values(const std::vector<Op>& operations, std::uint64_t seed, int trees) {
  random_tree::Random random(seed);
  int compared = 0;
  for (int i = 0; i < trees; ++i) {
    Graph graph;
    const auto symbols = random_tree::make_symbols(graph, 4);
    const auto tree = random_tree::make_tree(random, operations, 4, 8 + random_tree::below(random, 40));
    const Expr root = random_tree::build(graph, tree, symbols);
    for (int point = 0; point < 5; ++point) {
      std::vector<double> at;
      std::unordered_map<NodeId, double> bound;
      for (const Expr& symbol : symbols) bound[symbol.id()] = at.emplace_back(random_tree::random_value(random));
      const std::vector<double> written = random_tree::values_of(tree, at);
      if (!random_tree::all_ordinary(written)) continue;
      ++compared;
      ASSERT_EQ(evaluate(root, bound), written.back()) << to_text(root) << " tree " << i;
    }
  }
  EXPECT_GT(compared, trees);  // enough points were ordinary
}

TEST(GraphValues, ArithmeticIsUnchangedBySimplification) {
  expect_same_values({Op::add, Op::sub, Op::mul, Op::div, Op::neg}, 11, 20000);
}

TEST(GraphValues, PolynomialsAreUnchangedBySimplification) {
  expect_same_values({Op::add, Op::sub, Op::mul, Op::mul, Op::pow, Op::neg, Op::sin, Op::choose}, 12, 20000);
}

TEST(GraphValues, AllOperationsAreUnchangedBySimplification) {
  // atan2 tells -0 from 0, so it is left out: the sign of a zero may change.
  std::vector<Op> operations = random_tree::all_operations();
  std::erase(operations, Op::atan2);
  for (int i = 0; i < 6; ++i)  // functions of narrow domain would leave few ordinary points
    operations.insert(operations.end(), {Op::add, Op::sub, Op::mul, Op::div, Op::neg, Op::sin, Op::tanh, Op::choose});
  expect_same_values(operations, 13, 20000);
}

}  // namespace
}  // namespace daedalus::expr
