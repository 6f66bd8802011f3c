// tidy() changes the form of an expression, never its mathematical value.

#include "daedalus/expr/tidy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::expr {
namespace {

struct Tidy : testing::Test {
  Graph graph;
  Expr m = graph.symbol("m"), l = graph.symbol("l"), a = graph.symbol("a"), b = graph.symbol("b"), x = graph.symbol("x"),
       v = graph.symbol("der(x)");
  std::string text(Expr e) { return to_text(tidy(e)); }
};

TEST_F(Tidy, CollectsLikeTerms) {
  EXPECT_EQ(text(m * l * x + 2.0 * (x * l * m)), "3*m*l*x");
  EXPECT_EQ(text((a + b) * (a - b) + pow(b, 2.0)), "a^2");
  EXPECT_EQ(text(x * v / 3.0 + 2.0 * x * v / 3.0), "x*der(x)");
  EXPECT_EQ(text(a - a * x / x), "0");
}

TEST_F(Tidy, WhatIsLeftOfNumbersThatCancelIsNothing) {
  const Expr sum = 3.0 * a + 1e-11 * b + 5.0 * b - 5.0 * b + 0.1 * a - (3.1 - 1e-11) * a;
  EXPECT_EQ(to_text(tidy(sum, 1e-10)), "0");
  EXPECT_NE(to_text(tidy(sum)), "0");
  EXPECT_EQ(to_text(tidy(a + 3e-11 * b, 1e-10)), "a + 3e-11*b");  // a small number by itself is none of these
}

TEST_F(Tidy, QuotientsThatWereDifferentiatedArePowers) {
  const Expr t = graph.symbol("t");
  Expr level = log(2.0 + t);
  for (int k = 0; k < 5; ++k) level = partial(level, t);
  EXPECT_EQ(text(level), "24/(2 + t)^5");
}

TEST_F(Tidy, KnowsTheAdditionTheorems) {
  EXPECT_EQ(text(pow(sin(x), 2.0) + pow(cos(x), 2.0)), "1");
  EXPECT_EQ(text(cos(a) * cos(b) + sin(a) * sin(b)), "cos(a - b)");
  EXPECT_EQ(text(sin(a) * cos(b) - cos(a) * sin(b)), "sin(a - b)");
  EXPECT_EQ(text(cos(b) * cos(a) - sin(a) * sin(b)), "cos(a + b)");
}

TEST_F(Tidy, PutsCommonFactorsInFront) {
  EXPECT_EQ(text(a * pow(l, 2.0) + b * pow(l, 2.0)), "l^2*(a + b)");
  EXPECT_EQ(text(-(2.0 * m * l * x) - 2.0 * m * l * v), "-m*l*(2*x + 2*der(x))");
}

TEST_F(Tidy, KeepsWhatIsShortAlready) {
  EXPECT_EQ(text(pow(a + b, 8.0)), "(a + b)^8");
  EXPECT_EQ(text(pow(cos(x), 2.0)), "cos(x)^2");
  EXPECT_EQ(text(2.0 * x * v + 2.0 * a * b), "2*x*der(x) + 2*a*b");
}

TEST_F(Tidy, LeavesExpressionsThatWouldGrowTooLong) {
  Expr product = graph.constant(1.0);
  for (int i = 0; i < 30; ++i) product = product * (graph.symbol("p" + std::to_string(i)) + graph.symbol("q" + std::to_string(i)));
  EXPECT_EQ(tidy(product), product);
}

/// Random sums and products of symbols, sines and cosines, and their derivatives: the value stays.
TEST_F(Tidy, NeverChangesTheValue) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-2.0, 2.0);
  const std::vector<Expr> symbols{m, l, a, b, x, v};
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<Expr> pool = symbols;
    for (int k = 0; k < 14; ++k) {
      const Expr p = pool[random() % pool.size()], q = pool[random() % pool.size()];
      switch (random() % 7) {
        case 0: pool.push_back(p + q); break;
        case 1: pool.push_back(p - q); break;
        case 2: pool.push_back(p * q); break;
        case 3: pool.push_back(sin(p)); break;
        case 4: pool.push_back(cos(p)); break;
        case 5: pool.push_back(p / (3.0 + pow(q, 2.0))); break;
        default: pool.push_back(pow(p, 2.0) / 2.0);
      }
    }
    const Expr e = partial(pool.back(), symbols[random() % symbols.size()]);
    const Expr t = tidy(e);
    std::unordered_map<NodeId, double> values;
    for (const Expr& symbol : symbols) values[symbol.id()] = uniform(random);
    const double before = evaluate(e, values), after = evaluate(t, values);
    // Expanding may cancel: compare with the size of the summands, at most a few hundred roundings of them.
    double size = 1.0;
    for (const Expr& form : {e, t})
      for (const Expr& term : terms_of(form)) size = std::max(size, std::abs(evaluate(term, values)));
    if (!std::isfinite(before) || size > 1e6) continue;
    EXPECT_NEAR(before, after, 1e-11 * size) << to_text(e) << "\n" << to_text(t);
  }
}

TEST_F(Tidy, NumbersOfFewerDigits) {
  const Expr t = graph.symbol("t");
  EXPECT_EQ(to_text(with_digits(1.0000000000000044 * sin(t) + 0.30000000000000004 * t, 12)), "sin(t) + 0.3*t");
  EXPECT_EQ(to_text(with_digits(0.125 * t, 12)), "0.125*t");
}

}  // namespace
}  // namespace daedalus::expr
