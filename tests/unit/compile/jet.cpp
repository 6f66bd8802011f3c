// Taylor coefficients along curves against derivatives in symbols, and against values beside the point.
#include "daedalus/compile/jet.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "conformance/allocations.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"
#include "unit/compile/call.hpp"
#include "unit/expr/random_tree.hpp"

namespace daedalus::compile {
namespace {

using expr::Expr;
using expr::Graph;
using expr::Interpolant;
using expr::Op;
using expr::random_tree::Random;
using Values = std::vector<double>;

/// A curve in the inputs: one row of coefficients for each.
using Curve = std::vector<Values>;

Values jet_of(const Function& function, const Curve& curve, std::size_t order, const double* modes = nullptr) {
  Jet jet(function, order);
  Values out;
  for (std::size_t k = 0; k <= order; ++k) {
    for (std::size_t i = 0; i < curve.size(); ++i) jet.input(i) = k < curve[i].size() ? curve[i][k] : 0.0;
    jet.advance(k, modes);
    out.push_back(jet.output(0, k));
  }
  return out;
}

/// The same by substitution of the curve and repeated differentiation.
Values derivatives_of(Expr e, const std::vector<Expr>& inputs, const Curve& curve, std::size_t order) {
  Graph& graph = e.graph();
  const Expr s = graph.symbol("s");
  std::unordered_map<expr::NodeId, Expr> replacement;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Expr sum = graph.constant(0.0);
    for (std::size_t k = curve[i].size(); k-- > 0;) sum = graph.constant(curve[i][k]) + s * sum;
    replacement.emplace(inputs[i].id(), sum);
  }
  Expr at = expr::substitute(e, replacement);
  Switches switches;
  Values out;
  double factorial = 1.0;
  for (std::size_t k = 0; k <= order; ++k) {
    if (k > 0) at = expr::partial(at, s);
    if (k > 0) factorial *= static_cast<double>(k);
    out.push_back(call(compile({{{s}}, {at}}, switches), {0.0})[0] / factorial);
  }
  return out;
}

Curve random_curve(Random& random, std::size_t inputs) {
  Curve curve(inputs);
  for (Values& row : curve)
    for (int k = 0; k < 4; ++k) row.push_back(0.5 * expr::random_tree::random_value(random));
  return curve;
}

/// Both ways round off: coefficients by a few units of the largest term that enters them, which grow with the order
/// like those of the coefficients themselves.
void expect_close(const Values& found, const Values& expected, double slack, const std::string& what) {
  double size = 1e-300;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (!std::isfinite(expected[k])) return;
    size = std::max(size, std::abs(expected[k]));
    ASSERT_NEAR(found[k], expected[k], slack * size) << "order " << k << " of " << what;
  }
}

TEST(Jet, EveryOperationFollowsItsDerivatives) {
  Random random(17);
  int compared = 0;
  for (const Op op : expr::random_tree::all_operations()) {
    Graph graph;
    const std::vector<Expr> inputs{graph.symbol("x"), graph.symbol("y"), graph.symbol("z")};
    const Expr e = expr::arity(op) == 1   ? graph.make(op, inputs[0])
                   : expr::arity(op) == 2 ? graph.make(op, inputs[0], inputs[1])
                                          : graph.make(op, inputs[0], inputs[1], inputs[2]);
    Switches switches;
    const Function function = compile({{inputs}, {e}}, switches);
    for (int i = 0; i < 40; ++i) {
      Curve curve = random_curve(random, 3);
      // Into the domains of acosh, asin and atanh by turns.
      curve[0][0] = i % 2 == 0 ? 0.1 + 0.02 * i : 1.1 + 0.1 * i;
      const Values found = jet_of(function, curve, 6);
      if (!std::isfinite(found[0])) continue;
      ++compared;
      // Derivatives of acosh and atanh near 1 cancel: their terms grow like 1/(x - 1)^k, at most 10^6 here.
      expect_close(found, derivatives_of(e, inputs, curve, 6), 1e-9, expr::to_text(e));
    }
  }
  EXPECT_GT(compared, 1200);
}

TEST(Jet, RandomTreesFollowTheirDerivatives) {
  Random random(5);
  const std::vector<Op> smooth{Op::add, Op::sub,  Op::mul,  Op::div,  Op::neg, Op::sin,   Op::cos,
                               Op::exp, Op::tanh, Op::sqrt, Op::atan, Op::pow, Op::hypot, Op::log};
  int compared = 0;
  for (int i = 0; i < 300; ++i) {
    Graph graph;
    const auto inputs = expr::random_tree::make_symbols(graph, 3);
    const auto tree = expr::random_tree::make_tree(random, smooth, 3, 12);
    const Expr e = expr::random_tree::build(graph, tree, inputs);
    Switches switches;
    const Function function = compile({{inputs}, {e}}, switches);
    const Curve curve = random_curve(random, 3);
    const Values found = jet_of(function, curve, 4), expected = derivatives_of(e, inputs, curve, 4);
    bool ordinary = true;
    for (const double value : expected) ordinary = ordinary && std::abs(value) < 1e3;
    if (!ordinary || !std::isfinite(found[4])) continue;
    ++compared;
    expect_close(found, expected, 1e-8, expr::to_text(e));
  }
  EXPECT_GT(compared, 100);
}

TEST(Jet, PolynomialMeetsTheFunctionBesideThePoint) {
  Graph graph;
  const Expr x = graph.symbol("x"), y = graph.symbol("y");
  const Expr e = expr::sin(x * y) / expr::sqrt(x * x + y * y) + expr::exp(-x) * expr::atan2(y, x);
  Switches switches;
  const Function function = compile({{{x, y}}, {e}}, switches);
  const Curve curve{{0.8, 1.0}, {0.3, -0.5}};
  const Values found = jet_of(function, curve, 20);
  for (const double s : {-0.2, 0.1, 0.2}) {
    double sum = 0.0;
    for (std::size_t k = found.size(); k-- > 0;) sum = found[k] + s * sum;
    // x^2 + y^2 vanishes nearest at |s| = |0.8 + 0.3i| / |1 - 0.5i| = 0.76: what is left out is of the size
    // (0.2/0.76)^21 = 7e-13.
    EXPECT_NEAR(sum, call(function, {0.8 + s, 0.3 - 0.5 * s})[0], 1e-11) << s;
  }
}

TEST(Jet, FrozenModesDecideForTheWholeCurve) {
  Graph graph;
  const Expr x = graph.symbol("x"), h = graph.symbol("h");
  Switches switches;
  switches.hold({h});
  graph.define_table("f", std::make_shared<Interpolant>(Values{0.0, 1.0, 2.0, 3.0}, Values{0.0, 1.0, 0.5, 2.0},
                                                        Interpolant::Method::spline, Interpolant::Outside::hold));
  const Expr e = expr::abs(x) + h * expr::max(x, 2.0 * x) +
                 graph.lookup("f", x) * graph.make(Op::choose, graph.make(Op::less, x, graph.constant(1.5)), x * x, x);
  const Function function = compile({{{x}}, {e}}, switches);
  Values modes = modes_at(switches, {x}, {1.2}, {3.0});
  const Curve curve{{1.2, 1.0, -0.4}};
  // Within the modes it is a polynomial: both ways are exact up to round-off, which the sums of some ten terms of size
  // 10 make.
  const auto value = [&](double s) {
    const Values at{1.2 + s - 0.4 * s * s};
    return call(function, at, &modes)[0];
  };
  const Values found = jet_of(function, curve, 12, modes.data());
  for (const double s : {0.01, 0.1, -0.1}) {
    double sum = 0.0;
    for (std::size_t k = found.size(); k-- > 0;) sum = found[k] + s * sum;
    EXPECT_NEAR(sum, value(s), 1e-13) << s;
  }
  // Another mode of abs and another held value are another function.
  for (double& mode : modes)
    if (mode == 1.0) mode = -1.0;
  EXPECT_NEAR(jet_of(function, curve, 3, modes.data())[0], value(0.0), 1e-13);
}

TEST(Jet, LateInputsAreSetRight) {
  Graph graph;
  const Expr x = graph.symbol("x"), u = graph.symbol("u");
  const Expr e = expr::sin(x) * u / (1.0 + x * x) + expr::sqrt(2.0 + u * u) - expr::exp(u * x);
  Switches switches;
  const Function function = compile({{{x, u}}, {e}}, switches);
  const Curve curve{{0.4, 0.7, 0.2, -0.1, 0.3}, {-0.3, 0.5, 0.25, 1.0, -2.0}};
  const Values expected = jet_of(function, curve, 4);
  Jet jet(function, 4, {1});
  for (std::size_t k = 0; k <= 4; ++k) {
    jet.input(0) = curve[0][k];
    jet.input(1) = 0.0;
    jet.advance(k);
    jet.input(1) = curve[1][k];
    jet.correct(k);
    // Some ten operations of round-off on numbers of size 1 to 10.
    EXPECT_NEAR(jet.output(0, k), expected[k], 1e-14) << k;
  }
}

TEST(Jet, AllocatesNothing) {
  Graph graph;
  const Expr x = graph.symbol("x");
  Switches switches;
  const Function function = compile({{{x}}, {expr::exp(expr::sin(x)) / (1.0 + x * x)}}, switches);
  Jet jet(function, 10, {0});
  const std::size_t before = allocations::counted();
  for (std::size_t k = 0; k <= 10; ++k) {
    jet.input(0) = k == 0 ? 0.3 : k == 1 ? 1.0 : 0.0;
    jet.advance(k);
    jet.correct(k);
  }
  EXPECT_EQ(allocations::counted(), before);
}

TEST(Jet, ClearForgetsWhatWasNotFinite) {
  Graph graph;
  const Expr x = graph.symbol("x");
  Switches switches;
  const Function function = compile({{{x}}, {expr::log(x) * x}}, switches);
  Jet jet(function, 8);
  const auto run = [&](double at) {
    for (std::size_t k = 0; k <= 8; ++k) {
      jet.input(0) = k == 0 ? at : k == 1 ? 1.0 : 0.0;
      jet.advance(k);
    }
    return jet.output(0, 8);
  };
  const double expected = run(2.0);
  EXPECT_FALSE(std::isfinite(run(0.0)));
  jet.clear();
  EXPECT_EQ(run(2.0), expected);
}

}  // namespace
}  // namespace daedalus::compile
