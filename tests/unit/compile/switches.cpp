#include "daedalus/compile/switches.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/sine.hpp"
#include "unit/compile/call.hpp"
#include "unit/expr/random_tree.hpp"

namespace daedalus::compile {
namespace {

using expr::Expr;
using expr::Graph;
using expr::Op;
using Values = std::vector<double>;

struct SwitchesTest : testing::Test {
  Graph graph;
  Expr x = graph.symbol("x"), y = graph.symbol("y");
  Switches switches;

  Function function_of(Expr e) { return compile({{{x, y}}, {e}}, switches); }
  /// Value at `at` with the switches frozen as they are at `frozen`.
  double continued(Expr e, const Values& frozen, const Values& at) {
    const Function function = function_of(e);
    const Values modes = modes_at(switches, {x, y}, frozen);
    return call(function, at, &modes)[0];
  }
};

TEST_F(SwitchesTest, FrozenBranchesContinueBeyondTheirEnd) {
  EXPECT_EQ(continued(abs(x), {1.0, 0.0}, {-0.5, 0.0}), -0.5);
  EXPECT_EQ(continued(abs(x), {-1.0, 0.0}, {0.5, 0.0}), -0.5);
  EXPECT_EQ(continued(sign(x), {1.0, 0.0}, {-0.5, 0.0}), 1.0);
  EXPECT_EQ(continued(sign(x), {-1.0, 0.0}, {0.5, 0.0}), -1.0);
  EXPECT_EQ(continued(floor(x), {1.7, 0.0}, {2.2, 0.0}), 1.0);
  EXPECT_EQ(continued(floor(x), {-0.2, 0.0}, {0.4, 0.0}), -1.0);
  EXPECT_EQ(continued(min(x, y), {1.0, 2.0}, {3.0, 2.0}), 3.0);
  EXPECT_EQ(continued(min(x, y), {2.0, 1.0}, {0.5, 1.0}), 1.0);
  EXPECT_EQ(continued(max(x, y), {1.0, 2.0}, {3.0, 2.0}), 2.0);
  EXPECT_EQ(continued(max(x, y), {2.0, 1.0}, {0.5, 1.0}), 0.5);
}

TEST_F(SwitchesTest, FrozenConditionsKeepTheirAnswer) {
  for (const Op op : {Op::less, Op::less_equal, Op::equal, Op::not_equal}) {
    const Expr e = choose(graph.make(op, x, y), 2.0 * x, -y);
    for (const double before : {-1.0, 0.0, 1.0})
      for (const double after : {-1.0, 0.0, 1.0}) {
        const bool answer = expr::apply(op, before, 0.0) != 0.0;
        EXPECT_EQ(continued(e, {5.0 + before, 5.0}, {5.0 + after, 5.0}), answer ? 2.0 * (5.0 + after) : -5.0)
            << name_of(op) << before << after;
      }
  }
  const Expr both = graph.make(Op::logical_and, graph.make(Op::less, x, y),
                               graph.make(Op::logical_not, graph.make(Op::less, x, 0.0 * x)));
  EXPECT_EQ(continued(choose(both, x, y), {1.0, 2.0}, {3.0, 2.0}), 3.0);
  EXPECT_EQ(continued(choose(both, x, y), {3.0, 2.0}, {1.0, 2.0}), 2.0);
}

TEST_F(SwitchesTest, DerivativesFollowTheFrozenBranch) {
  for (const Expr& e : {abs(x), min(x, y), max(x, y), choose(graph.make(Op::less, x, y), x * x, y)}) {
    const Expr forward = expr::partial(e, x), reverse = expr::gradient(e, std::vector{x})[0];
    for (const double from : {-1.0, 1.0}) {
      const Values frozen{from, 0.1}, at{-0.7 * from, 0.1};
      const double h = 0x1p-20;
      // The branches are polynomials of degree two at most: central differences are exact up to rounding 2^-52/h.
      const double expected =
          (continued(e, frozen, {at[0] + h, at[1]}) - continued(e, frozen, {at[0] - h, at[1]})) / (2.0 * h);
      EXPECT_NEAR(continued(forward, frozen, at), expected, 1e-9) << to_text(e);
      EXPECT_NEAR(continued(reverse, frozen, at), expected, 1e-9) << to_text(e);
    }
  }
}

TEST_F(SwitchesTest, FreeAndFrozenAgreeAtThePoint) {
  expr::random_tree::Random random(61);
  const std::vector<Op> operations{Op::add,         Op::sub,   Op::mul,       Op::sin,         Op::abs,
                                   Op::sign,        Op::floor, Op::min,       Op::max,         Op::less,
                                   Op::less_equal,  Op::equal, Op::not_equal, Op::logical_and, Op::logical_or,
                                   Op::logical_not, Op::choose};
  for (int i = 0; i < 1000; ++i) {
    Graph fresh;
    Switches own;
    const auto symbols = expr::random_tree::make_symbols(fresh, 3);
    const Expr e = expr::random_tree::build(fresh, expr::random_tree::make_tree(random, operations, 3, 30), symbols);
    const Function function = compile({{symbols}, {e}}, own);
    Values at;
    for (int k = 0; k < 3; ++k) at.push_back(expr::random_tree::random_value(random));
    const Values modes = modes_at(own, symbols, at);
    ASSERT_EQ(call(function, at)[0], call(function, at, &modes)[0]) << to_text(e);
  }
}

TEST_F(SwitchesTest, ModeIsTheSignOfTheSwitchingFunction) {
  function_of(abs(x) + floor(y));
  const Switches::Switch side = switches[0], whole = switches[1];
  EXPECT_EQ(side.mode(0.1), 1.0);
  EXPECT_EQ(side.mode(-0.1), -1.0);
  EXPECT_EQ(side.mode(0.0), 0.0);
  EXPECT_EQ(whole.mode(-0.1), -1.0);
  EXPECT_EQ(whole.low(-1.0), -1.0);
  EXPECT_EQ(whole.high(-1.0), 0.0);
  EXPECT_EQ(side.low(1.0), 0.0);
  EXPECT_EQ(side.high(-1.0), 0.0);
}

TEST_F(SwitchesTest, WhatHasTheSameFunctionSharesOneSwitch) {
  function_of(abs(x) + sign(x) * y + min(x, y) + choose(graph.make(Op::less, y, x), 1.0 * x, y));
  EXPECT_EQ(switches.size(), 2U);
  function_of(expr::partial(abs(x) + min(x, y), x));
  EXPECT_EQ(switches.size(), 2U);
}

TEST_F(SwitchesTest, WhatOnlyHeldValuesAndModesDecideHasNoSwitchOfItsOwn) {
  const Expr stuck = graph.symbol("stuck");
  switches.hold({stuck});
  const std::unordered_map<expr::NodeId, double> numbers{{stuck.id(), 2.0}};
  const Expr e = choose(graph.make(Op::less, graph.constant(1.0), stuck), x, -x) + abs(stuck) +
                 choose(graph.make(Op::less, sign(y) + stuck, graph.constant(2.5)), x, 10.0 * x);
  const Function function = compile({{{x, y}}, {e}, &numbers}, switches);
  EXPECT_EQ(switches.size(), 1U);  // the sign of y
  EXPECT_EQ(call(function, {3.0, -1.0})[0], 3.0 + 2.0 + 3.0);
  const Values frozen = modes_at(switches, {x, y}, {0.0, 1.0}, {-0.5});
  EXPECT_EQ(call(function, {3.0, -1.0}, &frozen)[0], -3.0 + 0.5 + 3.0);
  const Values later = modes_at(switches, {x, y}, {0.0, 1.0}, {1.75});
  EXPECT_EQ(call(function, {3.0, -1.0}, &later)[0], 3.0 + 1.75 + 30.0);
}

TEST_F(SwitchesTest, WhatIsOnlyLookedAtAddsNoSwitch) {
  function_of(abs(x));
  const Function seen = compile({{{x, y}}, {abs(x) + floor(y)}, nullptr, Request::NewSwitches::none}, switches);
  EXPECT_EQ(switches.size(), 1U);
  const Values frozen = modes_at(switches, {x, y}, {1.0, 0.0});
  EXPECT_EQ(call(seen, {-2.0, 3.5}, &frozen)[0], -2.0 + 3.0);  // abs is frozen, floor free
}

TEST_F(SwitchesTest, TablesContinueBeyondTheirSegment) {
  using expr::Interpolant;
  graph.define_table("path", std::make_shared<const Interpolant>(Values{0.0, 1.0, 3.0}, Values{0.0, 2.0, 1.0},
                                                                 Interpolant::Method::linear, Interpolant::Outside::hold));
  const Expr path = graph.lookup("path", x);
  const Function function = function_of(path), slope = function_of(expr::partial(path, x));
  EXPECT_EQ(switches.size(), 1U);
  EXPECT_EQ(switches[0].kind, Switches::Kind::segment);
  EXPECT_EQ(call(function, {0.5, 0.0})[0], 1.0);
  EXPECT_EQ(call(function, {2.0, 0.0})[0], 1.5);
  EXPECT_EQ(call(function, {9.0, 0.0})[0], 1.0);
  const Values frozen = modes_at(switches, {x, y}, {0.5, 0.0});
  EXPECT_EQ(call(function, {2.0, 0.0}, &frozen)[0], 4.0);
  EXPECT_EQ(call(slope, {2.0, 0.0}, &frozen)[0], 2.0);
  EXPECT_EQ(call(slope, {2.0, 0.0})[0], -0.5);
  EXPECT_EQ(switches[0].high(frozen[switches.place(0)]), 1.0);
}

TEST_F(SwitchesTest, FunctionsShareTheirNumbers) {
  const Function first = function_of(abs(x) + min(x, y));
  EXPECT_EQ(switches.size(), 2U);
  const Function second = function_of(sin(min(x, y)) + floor(y));
  EXPECT_EQ(switches.size(), 3U);
  const std::size_t of_min = switches.of(min(x, y)) - switches.place(0);
  EXPECT_LT(of_min, 2U);
  EXPECT_EQ(switches[of_min].function, y - x);
  // One mode vector serves both: frozen where y is the smaller.
  const Values modes = modes_at(switches, {x, y}, {2.0, 1.0}), at{0.5, 1.25};
  EXPECT_EQ(call(first, at, &modes)[0], 0.5 + 1.25);
  EXPECT_EQ(call(second, at, &modes)[0], std::sin(1.25) + 1.0);
}

TEST_F(SwitchesTest, OnlyDecisionsAreSwitched) {
  for (const Op op : expr::random_tree::all_operations()) {
    const bool expected = op == Op::abs || op == Op::sign || op == Op::floor || op == Op::min || op == Op::max ||
                          op == Op::less || op == Op::less_equal || op == Op::equal || op == Op::not_equal ||
                          op == Op::lookup;
    EXPECT_EQ(is_switched(op), expected) << name_of(op);
  }
  function_of(sin(x) * y + hypot(x, y));
  EXPECT_EQ(switches.size(), 0U);
}

TEST_F(SwitchesTest, SwitchesOfNumbersAreDecidedAtOnce) {
  const Expr limit = graph.symbol("limit");
  const std::unordered_map<expr::NodeId, double> numbers{{limit.id(), 3.0}};
  const Function function = compile({{{x}}, {abs(limit) * x + max(limit, limit - 1.0)}, &numbers}, switches);
  EXPECT_EQ(switches.size(), 0U);
  EXPECT_EQ(call(function, {2.0}), Values{9.0});
}

TEST_F(SwitchesTest, ManySwitchesInOneFunction) {
  // Each new switch adds nodes to the graph that is being compiled.
  Expr e = graph.constant(0.0);
  for (int i = 0; i < 5000; ++i) e = e + min(sin(x + static_cast<double>(i)), y * static_cast<double>(i));
  const Function function = function_of(e);
  EXPECT_EQ(switches.size(), 5000U);
  double expected = 0.0;
  for (int i = 0; i < 5000; ++i) expected += std::min(expr::sine(0.3 + i), 0.01 * i);
  EXPECT_EQ(call(function, {0.3, 0.01})[0], expected);
}

}  // namespace
}  // namespace daedalus::compile
