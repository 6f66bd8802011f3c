#include "daedalus/expr/substitute.hpp"

#include <gtest/gtest.h>

#include "daedalus/base/error.hpp"
#include "daedalus/expr/print.hpp"
#include "unit/expr/random_tree.hpp"

namespace daedalus::expr {
namespace {

struct SubstituteTest : testing::Test {
  Graph graph;
  Expr a = graph.symbol("a"), b = graph.symbol("b"), c = graph.symbol("c"), x = graph.symbol("x"),
       y = graph.symbol("y");

  std::vector<std::string> terms(Expr root) {
    std::vector<std::string> texts;
    for (const Expr& term : terms_of(root)) texts.push_back(to_text(term));
    return texts;
  }
};

using Texts = std::vector<std::string>;

TEST_F(SubstituteTest, ReplacesAllAtOnce) {
  EXPECT_EQ(substitute(x - 2.0 * y, {{x.id(), y}, {y.id(), x}}), y - 2.0 * x);  // a swap, not one after the other
  EXPECT_EQ(substitute(sin(x) * x, {{x.id(), graph.constant(0.0)}}), graph.constant(0.0));
  EXPECT_EQ(substitute(x, {{x.id(), a + b}}), a + b);
  EXPECT_EQ(substitute(a + b, {{x.id(), y}}), a + b);
  EXPECT_EQ(substitute(choose(graph.make(Op::less, x, y), x, y), {{x.id(), a}}),
            choose(graph.make(Op::less, a, y), a, y));
  EXPECT_EQ(substitute(graph.lookup("path", x), {{x.id(), 2.0 * a}}), graph.lookup("path", 2.0 * a));
  const std::vector<Expr> both = substitute(std::vector{x, x * y}, {{x.id(), a}});
  EXPECT_EQ(both, (std::vector{a, a * y}));
  EXPECT_TRUE(substitute(std::vector<Expr>{}, {}).empty());
}

TEST_F(SubstituteTest, NumbersForSymbolsGiveTheValue) {
  random_tree::Random random(31);
  std::vector<Op> operations{Op::add, Op::sub, Op::mul, Op::neg, Op::sin, Op::tanh, Op::max, Op::choose, Op::less};
  for (int i = 0; i < 500; ++i) {
    Graph fresh;
    const auto symbols = random_tree::make_symbols(fresh, 3);
    const Expr root = random_tree::build(fresh, random_tree::make_tree(random, operations, 3, 25), symbols);
    std::unordered_map<NodeId, double> values;
    std::unordered_map<NodeId, Expr> numbers;
    for (const Expr& symbol : symbols) {
      values[symbol.id()] = random_tree::random_value(random);
      numbers[symbol.id()] = fresh.constant(values[symbol.id()]);
    }
    const Expr folded = substitute(root, numbers);
    ASSERT_TRUE(folded.is_constant());
    ASSERT_EQ(folded.node().value, evaluate(root, values)) << to_text(root);
  }
}

TEST_F(SubstituteTest, TermsCarryTheirSigns) {
  EXPECT_EQ(terms(pow(x, 2.0) + pow(y, 2.0) - pow(a, 2.0)), (Texts{"x^2", "y^2", "-a^2"}));
  EXPECT_EQ(terms(a - (b - c)), (Texts{"a", "-b", "c"}));
  EXPECT_EQ(terms(-(a + b)), (Texts{"-a", "-b"}));
  EXPECT_EQ(terms(a * (x - y)), (Texts{"a*x", "-a*y"}));
  EXPECT_EQ(terms((x - y) / a - 1.0), (Texts{"1/a*x", "-1/a*y", "-1"}));
  EXPECT_EQ(terms(x * y), (Texts{"x*y"}));
  EXPECT_EQ(terms(sin(a + b)), (Texts{"sin(a + b)"}));
  EXPECT_EQ(terms((a + b) * (x + y)), (Texts{"a*x", "a*y", "b*x", "b*y"}));
  // Wherever the other factors stand.
  EXPECT_EQ(terms(2.0 * (a + b) * (x + y)), (Texts{"2*a*x", "2*a*y", "2*b*x", "2*b*y"}));
  EXPECT_EQ(terms((a + b) * (c * (x + y))), (Texts{"c*a*x", "c*a*y", "c*b*x", "c*b*y"}));
  EXPECT_EQ(terms(sin(c) * (a * (x + y))), (Texts{"sin(c)*a*x", "sin(c)*a*y"}));
  EXPECT_EQ(terms(graph.constant(0.0)), Texts{});
}

TEST_F(SubstituteTest, TermsOfLongProductsOfSumsAreFew) {
  Expr first = x, second = y, third = a;
  std::unordered_map<NodeId, double> at{{x.id(), 0.6}, {y.id(), -0.3}, {a.id(), 0.2}};
  for (int i = 0; i < 300; ++i) {
    const Expr one = graph.symbol("s" + std::to_string(i));
    at[one.id()] = 0.01 * i;
    first = first + one;
    second = second - one;
    third = third + one * one;
  }
  const Expr root = first * second * third;
  const std::vector<Expr> few = terms_of(root);
  EXPECT_LE(few.size(), 2000U);
  double sum = 0.0, size = 0.0;
  for (const Expr& term : few) {
    sum += evaluate(term, at);
    size += std::abs(evaluate(term, at));
  }
  EXPECT_NEAR(sum, evaluate(root, at), 1e-13 * size);
}

TEST_F(SubstituteTest, SymbolsAscend) {
  EXPECT_EQ(symbols_of(y * sin(a) + y), (std::vector<NodeId>{a.id(), y.id()}));
  EXPECT_TRUE(symbols_of(graph.constant(2.0)).empty());
  EXPECT_EQ(symbols_of(std::vector{b * a, y}), (std::vector<NodeId>{a.id(), b.id(), y.id()}));
  EXPECT_TRUE(symbols_of(std::span<const Expr>{}).empty());
  EXPECT_EQ(symbols_of(graph.lookup("path", c)), (std::vector<NodeId>{c.id()}));
}

TEST_F(SubstituteTest, DependenceSeesEveryOperand) {
  const std::vector<Expr> roots{
      a,     a * x,      choose(graph.make(Op::less, x, a), b, c), choose(a, b, sin(x)), graph.constant(1.0),
      y - y, atan2(a, x)};
  EXPECT_EQ(dependence(roots, {x.id(), y.id()}), (std::vector<bool>{false, true, true, true, false, false, true}));
  EXPECT_TRUE(dependence({}, {x.id()}).empty());
}

TEST_F(SubstituteTest, ReachableHasOperandsFirst) {
  const Expr root = sin(a * b) + a;
  const std::vector<NodeId> nodes = reachable(std::vector{root, a * b});
  EXPECT_EQ(nodes.size(), 5U);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = graph.node(nodes[i]);
    const auto before = [&](NodeId id) {
      return std::find(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i), id) !=
             nodes.begin() + static_cast<std::ptrdiff_t>(i);
    };
    if (arity(node.op) > 0) {
      EXPECT_TRUE(before(node.a));
    }
    if (arity(node.op) > 1) {
      EXPECT_TRUE(before(node.b));
    }
  }
}

TEST_F(SubstituteTest, EvaluateNamesWhatIsMissing) {
  EXPECT_EQ(evaluate(a * x + 1.0, {{a.id(), 2.0}, {x.id(), 3.0}}), 7.0);
  try {
    evaluate(a * x, {{a.id(), 2.0}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.faults().front().code, "unbound-symbol");
    EXPECT_EQ(error.faults().front().message, "'x' has no value here");
  }
  EXPECT_THROW(evaluate(graph.lookup("path", graph.constant(1.0)), {}), Error);
}

}  // namespace
}  // namespace daedalus::expr
