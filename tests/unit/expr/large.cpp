// Graphs of a million nodes: every pass is a loop, and adds nodes in proportion to the size.
#include <gtest/gtest.h>

#include "daedalus/compile/compile.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/latex.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::expr {
namespace {

/// f <- sin(f)*y + x, n times: depth and size 3 n.
struct Deep {
  Graph graph;
  Expr x = graph.symbol("x"), y = graph.symbol("y"), z = graph.symbol("z");
  Expr root = x;
  explicit Deep(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) root = sin(root) * y + x;
  }
};

constexpr std::size_t links = 340'000;

/// The same chain and its derivatives by recurrence: f' = cos(f) y f' + 1 (by x), cos(f) y f' + sin(f) (by y).
struct Recurrence {
  double f, by_x = 1.0, by_y = 0.0;
  Recurrence(double x, double y, std::size_t n) : f(x) {
    for (std::size_t i = 0; i < n; ++i) {
      by_x = std::cos(f) * y * by_x + 1.0;
      by_y = std::cos(f) * y * by_y + std::sin(f);
      f = std::sin(f) * y + x;
    }
  }
};

// |cos(f) y| <= 0.5 forgets errors geometrically: only the last few tens of links contribute, some 1e-15.
constexpr double tolerance = 1e-14;

TEST(Large, ForwardDerivative) {
  Deep deep(links);
  const std::size_t size = deep.graph.size();
  ASSERT_GT(size, 1'000'000U);
  const Expr d = partial(deep.root, deep.x);
  EXPECT_LT(deep.graph.size() - size, 4 * links + 10);  // cos, two products, a sum
  EXPECT_NEAR(evaluate(d, {{deep.x.id(), 0.3}, {deep.y.id(), 0.5}}), Recurrence(0.3, 0.5, links).by_x, tolerance);
}

TEST(Large, ReverseDerivative) {
  Deep deep(links);
  const std::size_t size = deep.graph.size();
  const std::vector<Expr> g = gradient(deep.root, std::vector{deep.x, deep.y, deep.z});
  EXPECT_LT(deep.graph.size() - size, 6 * links + 10);
  const Recurrence expected(0.3, 0.5, links);
  EXPECT_NEAR(evaluate(g[0], {{deep.x.id(), 0.3}, {deep.y.id(), 0.5}}), expected.by_x, tolerance);
  EXPECT_NEAR(evaluate(g[1], {{deep.x.id(), 0.3}, {deep.y.id(), 0.5}}), expected.by_y, tolerance);
  EXPECT_EQ(g[2], deep.graph.constant(0.0));
}

TEST(Large, Substitution) {
  Deep deep(links);
  const std::size_t size = deep.graph.size();
  const Expr replaced = substitute(deep.root, {{deep.x.id(), deep.z}});
  EXPECT_LE(deep.graph.size() - size, size);
  EXPECT_EQ(symbols_of(replaced), (std::vector<NodeId>{deep.y.id(), deep.z.id()}));
  EXPECT_EQ(evaluate(replaced, {{deep.y.id(), 0.5}, {deep.z.id(), 0.3}}), Recurrence(0.3, 0.5, links).f);
}

TEST(Large, CompiledFunctionIsTheSameToTheLastBit) {
  Deep deep(links);
  compile::Switches switches;
  const compile::Function function = compile::compile({{{deep.x, deep.y}}, {deep.root}}, switches);
  EXPECT_EQ(function.operation_count(), 3 * links);
  auto scratch = function.make_scratch();
  EXPECT_LT(scratch.size(), 10U);
  const double at[] = {0.3, 0.5};
  const double* inputs[] = {at};
  double value = 0.0;
  function(inputs, &value, scratch);
  EXPECT_EQ(value, Recurrence(0.3, 0.5, links).f);
}

TEST(Large, SumsOfManyTerms) {
  Graph graph;
  Expr sum = graph.constant(0.0);
  constexpr std::size_t n = 250'000;
  for (std::size_t i = 0; i < n; ++i) sum = sum - sin(graph.symbol("x" + std::to_string(i)));
  EXPECT_EQ(terms_of(sum).size(), n);
  EXPECT_EQ(symbols_of(sum).size(), n);
  const std::string text = to_text(sum);
  EXPECT_TRUE(text.starts_with("-sin(x0) - sin(x1) - ")) << text.substr(0, 40);
  EXPECT_TRUE(text.ends_with(" - sin(x249999)"));
}

TEST(Large, DeepTextIsWhole) {
  Deep deep(300'000);
  const std::string text = to_text(deep.root);
  EXPECT_TRUE(text.starts_with("sin(sin("));
  EXPECT_TRUE(text.ends_with(")*y + x)*y + x"));
  EXPECT_EQ(text.size(), 300'000 * (4 + 7) + 1);
  EXPECT_FALSE(to_latex(deep.root).empty());
}

TEST(Large, TextOfASharedGraphIsCut) {
  // Written out, this expression has more than 2^100 characters.
  Graph graph;
  Expr e = graph.symbol("x");
  for (int i = 0; i < 100; ++i) e = sin(e) + cos(e);
  const std::string text = to_text(e);
  EXPECT_LT(text.size(), 4'100'000U);
  EXPECT_TRUE(text.ends_with(" ..."));
  EXPECT_TRUE(to_latex(e).ends_with(" ..."));
}

TEST(Large, TermsOfAChainOfRotationsAreNotExponential) {
  Graph graph;
  Expr x = graph.symbol("x"), y = graph.symbol("y");
  std::unordered_map<NodeId, double> at{{x.id(), 0.6}, {y.id(), -0.3}};
  for (int i = 0; i < 60; ++i) {
    const Expr angle = graph.symbol("th" + std::to_string(i));
    at[angle.id()] = 0.1 * i;
    const Expr next = cos(angle) * x - sin(angle) * y;
    y = sin(angle) * x + cos(angle) * y;
    x = next;
  }
  const std::vector<Expr> terms = terms_of(x);
  EXPECT_LE(terms.size(), 4U * 60U);
  double sum = 0.0, size = 0.0;
  for (const Expr& term : terms) {
    sum += evaluate(term, at);
    size += std::abs(evaluate(term, at));
  }
  EXPECT_NEAR(sum, evaluate(x, at), 1e-13 * size);  // 240 terms of products of at most 60 factors
}

}  // namespace
}  // namespace daedalus::expr
