#include "daedalus/expr/derivative.hpp"

#include <gtest/gtest.h>

#include <map>

#include "daedalus/base/error.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"
#include "unit/expr/dual.hpp"
#include "unit/expr/random_tree.hpp"

namespace daedalus::expr {
namespace {

using First = dual::Dual<double>;
using Second = dual::Dual<First>;
using Values = std::unordered_map<NodeId, double>;

struct Range {
  double low, high;
};

/// Where the arguments of each operation are drawn: inside its domain, at a distance from singular points that keeps
/// the condition number of value and derivatives below about 1e2.
std::map<Op, std::array<Range, 3>> ranges() {
  const Range wide{-2.0, 2.0}, positive{0.3, 3.0}, unit{-0.9, 0.9};
  std::map<Op, std::array<Range, 3>> table;
  for (const Op op :
       {Op::add,   Op::sub,       Op::mul,         Op::neg,        Op::sin,         Op::cos,   Op::atan, Op::sinh,
        Op::cosh,  Op::tanh,      Op::asinh,       Op::exp,        Op::min,         Op::max,   Op::less, Op::less_equal,
        Op::equal, Op::not_equal, Op::logical_and, Op::logical_or, Op::logical_not, Op::choose})
    table[op] = {wide, wide, wide};
  for (const Op op : {Op::log, Op::log10, Op::sqrt, Op::pow}) table[op] = {positive, wide, wide};
  for (const Op op : {Op::asin, Op::acos, Op::atanh}) table[op] = {unit, wide, wide};
  table[Op::div] = {wide, positive, wide};
  table[Op::tan] = {Range{-1.2, 1.2}, wide, wide};
  table[Op::acosh] = {Range{1.2, 4.0}, wide, wide};
  table[Op::cbrt] = table[Op::abs] = table[Op::sign] = {Range{-3.0, -0.3}, wide, wide};
  table[Op::floor] = {Range{1.1, 1.9}, wide, wide};
  table[Op::atan2] = {Range{-3.0, -0.3}, wide, wide};
  table[Op::hypot] = {positive, wide, wide};
  return table;
}

// Both paths make some tens of roundings of relative size 1.1e-16, amplified by condition numbers up to about 1e2:
// below 1e-12 of the size of the derivative, or of 1 where it is small.
double allowed(double size) { return 1e-12 * (1.0 + std::abs(size)); }

struct DerivativeOfOperation : testing::TestWithParam<Op> {};

TEST_P(DerivativeOfOperation, EqualsDualNumbers) {
  const Op op = GetParam();
  const auto table = ranges();
  ASSERT_TRUE(table.contains(op)) << "no range for " << name_of(op);
  random_tree::Random random(static_cast<std::uint64_t>(op) + 100);
  Graph graph;
  const std::vector<Expr> s{graph.symbol("a"), graph.symbol("b"), graph.symbol("c")};
  const Expr f = arity(op) == 1   ? graph.make(op, s[0])
                 : arity(op) == 2 ? graph.make(op, s[0], s[1])
                                  : graph.make(op, s[0], s[1], s[2]);
  const std::vector<Expr> gradient_of_f = gradient(f, s);
  for (int trial = 0; trial < 50; ++trial) {
    Values at;
    for (std::size_t k = 0; k < 3; ++k)
      at[s[k].id()] = std::uniform_real_distribution(table.at(op)[k].low, table.at(op)[k].high)(random);
    for (std::size_t j = 0; j < 3; ++j) {
      std::unordered_map<NodeId, First> first;
      for (const Expr& symbol : s) first[symbol.id()] = {at[symbol.id()], symbol == s[j] ? 1.0 : 0.0};
      const First expected = dual::evaluate(f, first);
      ASSERT_NEAR(evaluate(f, at), expected.v, allowed(expected.v)) << to_text(f);
      ASSERT_NEAR(evaluate(partial(f, s[j]), at), expected.d, allowed(expected.d)) << to_text(partial(f, s[j]));
      ASSERT_NEAR(evaluate(gradient_of_f[j], at), expected.d, allowed(expected.d)) << to_text(gradient_of_f[j]);
      for (std::size_t k = 0; k < 3; ++k) {
        std::unordered_map<NodeId, Second> second;
        for (const Expr& symbol : s)
          second[symbol.id()] = {First(at[symbol.id()], symbol == s[j] ? 1.0 : 0.0), First(symbol == s[k] ? 1.0 : 0.0)};
        const double expected_second = dual::evaluate(f, second).d.d;
        const Expr forward = partial(partial(f, s[j]), s[k]), reverse = gradient(gradient_of_f[j], s)[k];
        // one order more: another factor of the distance to the singular point
        ASSERT_NEAR(evaluate(forward, at), expected_second, 10.0 * allowed(expected_second)) << to_text(forward);
        ASSERT_NEAR(evaluate(reverse, at), expected_second, 10.0 * allowed(expected_second)) << to_text(reverse);
      }
    }
  }
}

std::string test_name(const testing::TestParamInfo<Op>& info) {
  constexpr std::array symbols{"add", "sub", "mul", "div", "neg", "pow"};
  const auto i = static_cast<std::size_t>(info.param) - static_cast<std::size_t>(Op::add);
  if (i < symbols.size()) return symbols[i];
  const std::string name(name_of(info.param));
  return std::isalpha(static_cast<unsigned char>(name.front())) ? name : "compare" + std::to_string(i);
}

INSTANTIATE_TEST_SUITE_P(All, DerivativeOfOperation, testing::ValuesIn(random_tree::all_operations()), test_name);

TEST(Derivative, OfNegativeBaseWithWholeExponent) {
  Graph graph;
  const Expr x = graph.symbol("x");
  for (const double n : {2.0, 3.0, 5.0}) {
    const Values at{{x.id(), -1.7}};
    EXPECT_NEAR(evaluate(partial(pow(x, n), x), at), n * std::pow(-1.7, n - 1.0), 1e-13 * std::pow(2.0, n) * n);
  }
}

TEST(Derivative, OfRandomExpressionsForwardReverseAndDual) {
  random_tree::Random random(21);
  const std::vector<Op> operations{Op::add,   Op::sub, Op::mul, Op::mul, Op::sin, Op::cos,    Op::tanh, Op::atan,
                                   Op::asinh, Op::neg, Op::min, Op::max, Op::abs, Op::choose, Op::less, Op::hypot};
  int compared = 0;
  for (int i = 0; i < 1500; ++i) {
    Graph graph;
    const auto s = random_tree::make_symbols(graph, 4);
    const Expr f = random_tree::build(graph, random_tree::make_tree(random, operations, 4, 24), s);
    Values at;
    for (const Expr& symbol : s) at[symbol.id()] = std::normal_distribution<double>(0.0, 1.5)(random);
    const std::vector<Expr> reverse = gradient(f, s);
    const SparseExpr matrix = jacobian(std::vector<Expr>{f}, s);
    for (std::size_t j = 0; j < s.size(); ++j) {
      std::unordered_map<NodeId, First> seeds;
      for (const Expr& symbol : s) seeds[symbol.id()] = {at[symbol.id()], symbol == s[j] ? 1.0 : 0.0};
      const double expected = dual::evaluate(f, seeds).d;
      if (!std::isfinite(expected) || std::abs(expected) > 1e6) continue;  // too steep to compare: a pole of hypot at 0
      ++compared;
      // At most 24 operations with values and slopes up to about 1e3 lose at most three digits to cancellation.
      const double tolerance = 1e-11 * (1.0 + std::abs(expected));
      ASSERT_NEAR(evaluate(partial(f, s[j]), at), expected, tolerance) << to_text(f);
      ASSERT_NEAR(evaluate(reverse[j], at), expected, tolerance) << to_text(f) << "\n" << to_text(reverse[j]);
      const Expr entry = matrix.at(0, j);
      ASSERT_EQ(entry.valid(), !reverse[j].is_constant(0.0));
      if (entry.valid()) {
        ASSERT_EQ(entry, reverse[j]);
      }
    }
  }
  EXPECT_GT(compared, 4000);
}

TEST(Derivative, AlongTimeIsTheTotalDerivative) {
  Graph graph;
  const Expr t = graph.symbol("t"), x = graph.symbol("x"), y = graph.symbol("y"), l = graph.symbol("l");
  const Expr dx = graph.symbol("der(x)"), dy = graph.symbol("der(y)");
  const Direction time{{t.id(), graph.constant(1.0)}, {x.id(), dx}, {y.id(), dy}};
  EXPECT_EQ(to_text(derivative_along(pow(x, 2.0) + pow(y, 2.0) - pow(l, 2.0), time)), "2*x*der(x) + 2*y*der(y)");
  EXPECT_EQ(derivative_along(x * t, time), dx * t + x);
  EXPECT_EQ(derivative_along(sin(l), time), graph.constant(0.0));
  EXPECT_TRUE(derivative_along(std::vector<Expr>{}, time).empty());
}

TEST(Derivative, OfBranchesReadsLikeABranch) {
  Graph graph;
  const Expr x = graph.symbol("x"), y = graph.symbol("y");
  const Expr dx = graph.symbol("der(x)"), dy = graph.symbol("der(y)");
  const Direction time{{x.id(), dx}, {y.id(), dy}};
  EXPECT_EQ(to_text(derivative_along(min(x, y), time)), "if(y < x, der(y), der(x))");
  EXPECT_EQ(to_text(derivative_along(max(x, y), time)), "if(x < y, der(y), der(x))");
  const Expr f = choose(graph.make(Op::less, x, y), 3.0 * x, 5.0 * x);
  EXPECT_EQ(to_text(gradient(f, std::vector{x})[0]), "if(x < y, 3, 5)");
  const Expr inner = choose(graph.make(Op::less, y, x), 7.0 * x, f);
  EXPECT_EQ(to_text(gradient(inner, std::vector{x})[0]), "if(y < x, 7, if(x < y, 3, 5))");
}

TEST(Derivative, IgnoresWhatABranchLeavesOut) {
  // Outside the branch 1/(2*sqrt(x)) is not finite: a zero adjoint must not be multiplied by it.
  Graph graph;
  const Expr x = graph.symbol("x"), y = graph.symbol("y"), zero = graph.constant(0.0);
  const auto positive = [&](Expr e) { return graph.make(Op::less, zero, e); };
  const std::vector<Expr> s{x, y};
  const std::vector<Expr> expressions{
      choose(positive(x), sqrt(x), zero),
      choose(positive(x), sqrt(x), zero) + choose(positive(x), 2.0 * sqrt(x), y),
      choose(positive(x), sqrt(x), zero) * y + choose(positive(y), sqrt(x), y),
      choose(positive(x), choose(positive(y), sqrt(x) * log(y), y), x),
      min(sqrt(x), log(x)) * choose(positive(x), y, y * y),
      choose(positive(x), log(x) * log(x) + sqrt(x), choose(positive(-x), sqrt(-x), zero)),
  };
  for (const Expr& f : expressions) {
    const std::vector<Expr> reverse = gradient(f, s);
    for (const double a : {-1.5, 0.0, 0.7})
      for (const double b : {-0.5, 0.8})
        for (std::size_t j = 0; j < 2; ++j) {
          const Values at{{x.id(), a}, {y.id(), b}};
          const double forward = evaluate(partial(f, s[j]), at), backward = evaluate(reverse[j], at);
          if (std::isfinite(forward)) {
            EXPECT_NEAR(backward, forward, 1e-14 * (1.0 + std::abs(forward))) << to_text(f);
          }
        }
  }
  EXPECT_EQ(evaluate(gradient(expressions[0], s)[0], {{x.id(), -1.5}, {y.id(), 0.0}}), 0.0);
}

TEST(Gradient, HasZerosForOtherSymbols) {
  Graph graph;
  const Expr x = graph.symbol("x"), y = graph.symbol("y"), z = graph.symbol("z");
  const std::vector<Expr> g = gradient(x * y, std::vector{x, y, z});
  EXPECT_EQ(g[0], y);
  EXPECT_EQ(g[1], x);
  EXPECT_EQ(g[2], graph.constant(0.0));
  EXPECT_EQ(gradient(x, std::vector{x})[0], graph.constant(1.0));
  EXPECT_EQ(gradient(graph.constant(3.0), std::vector{x})[0], graph.constant(0.0));
}

TEST(Jacobian, StoresOnlyWhatIsNotZero) {
  Graph graph;
  const Expr x = graph.symbol("x"), y = graph.symbol("y"), z = graph.symbol("z");
  const SparseExpr j =
      jacobian(std::vector{x * z, graph.constant(1.0), y - y, z * x + y, floor(x)}, std::vector{z, y, x});
  EXPECT_EQ(j.rows, 5U);
  EXPECT_EQ(j.columns, 3U);
  EXPECT_EQ(j.row_start, (std::vector<std::size_t>{0, 2, 2, 2, 5, 5}));
  EXPECT_EQ(j.column, (std::vector<std::size_t>{0, 2, 0, 1, 2}));
  EXPECT_EQ(j.at(0, 0), x);
  EXPECT_FALSE(j.at(0, 1).valid());
  EXPECT_EQ(j.at(3, 1), graph.constant(1.0));
  EXPECT_FALSE(j.at(4, 2).valid());
  EXPECT_EQ(jacobian({}, std::vector{x}).row_start, (std::vector<std::size_t>{0}));
}

/// Number of nodes that the Jacobian of a chain of n links adds to the graph.
std::size_t nodes_for_chain(std::size_t n) {
  Graph graph;
  std::vector<Expr> x, f;
  for (std::size_t i = 0; i < n; ++i) {
    x.push_back(graph.symbol("x" + std::to_string(i)));
    f.push_back(i == 0 ? sin(x[0]) : pow(x[i] - x[i - 1], 2.0) + cos(x[i] * x[i - 1]) - 1.0);
  }
  const std::size_t before = graph.size();
  const SparseExpr j = jacobian(f, x);
  EXPECT_EQ(j.value.size(), 2 * n - 1);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(j.column[j.row_start[i + 1] - 1], i);
    EXPECT_EQ(j.column[j.row_start[i]], i == 0 ? 0 : i - 1);
  }
  return graph.size() - before;
}

TEST(Jacobian, OfAChainCostsInProportionToItsLength) {
  const std::size_t small = nodes_for_chain(2000), large = nodes_for_chain(20000);
  // c*n + d with d a few constants: the ratio is 10 up to the ends of the chain.
  EXPECT_NEAR(static_cast<double>(large) / static_cast<double>(small), 10.0, 0.1);
}

}  // namespace
}  // namespace daedalus::expr
