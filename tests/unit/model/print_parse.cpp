// What the printer writes, the reader understands: print, parse, same value.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/model/elaborate.hpp"

namespace daedalus::model {
namespace {

using expr::Graph;
using expr::Op;

struct PrintParse : testing::Test {
  Graph graph;
  Elaborator elaborator{graph, [](const Error& error) { ADD_FAILURE() << error.what(); }};
  std::mt19937_64 random{71};
  std::vector<Expr> symbols;
  int compared = 0;

  PrintParse() {
    for (const char* name : {"x", "y_1", "theta"}) {
      Item item;
      item.name = name;
      item.state = Item::State::done;
      item.expression = graph.symbol(name);
      Entity* entity = elaborator.declare(Role::variable, name, {});
      entity->scalar = true;
      entity->scalar_item = elaborator.add(item);
      elaborator.add_unknown(entity->scalar_item);
      symbols.push_back(item.expression);
      symbols.push_back(elaborator.rate(item.expression, 1));
      symbols.push_back(elaborator.rate(item.expression, 2));
    }
  }

  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); }

  Expr number(int depth) {
    constexpr std::array constants{0.5, -2.0, 3.0, 1e-5, 0.1, 2.5e7, -1.0, 1.0};
    if (depth == 0)
      return below(4) == 0 ? graph.constant(constants[below(constants.size())]) : symbols[below(symbols.size())];
    const auto next = [&] { return number(depth - 1); };
    constexpr std::array functions{Op::sin, Op::cos,  Op::atan, Op::tanh, Op::asinh,
                                   Op::abs, Op::cbrt, Op::neg,  Op::sign};
    constexpr std::array pairs{Op::min, Op::max, Op::hypot, Op::atan2};
    switch (below(10)) {
      case 0:
      case 1:
        return next() + next();
      case 2:
      case 3:
        return next() - next();
      case 4:
      case 5:
        return next() * next();
      case 6:
        return next() / (2.0 + sin(next()));
      case 7:
        return below(2) == 0 ? pow(next(), static_cast<double>(below(4))) : pow(exp(sin(next())), -sin(next()));
      case 8:
        return below(3) != 0 ? graph.make(functions[below(functions.size())], next())
                             : graph.make(pairs[below(pairs.size())], next(), next());
      default:
        return choose(condition(depth - 1), next(), next());
    }
  }

  Expr condition(int depth) {
    constexpr std::array comparisons{Op::less, Op::less_equal, Op::not_equal};
    if (depth == 0 || below(2) == 0)
      return graph.make(comparisons[below(3)], symbols[below(symbols.size())], number(0));
    if (below(3) == 0) return graph.make(Op::logical_not, condition(depth - 1));
    return graph.make(below(2) == 0 ? Op::logical_and : Op::logical_or, condition(depth - 1), condition(depth - 1));
  }

  Expr parsed(const std::string& text) {
    auto source = std::make_shared<SourceText>(SourceText{"printed", text});
    const SyntaxTree tree = parse_expression(Passage(std::make_shared<SourceMap>(source), text, 0));
    return elaborator.number(tree, tree.left());
  }

  std::unordered_map<NodeId, double> point() {
    std::unordered_map<NodeId, double> values;
    for (const Expr& symbol : symbols) values[symbol.id()] = std::normal_distribution<double>(0.0, 1.0)(random);
    return values;
  }

  /// How far the value moves when every part of the expression is wrong by up to 1e-14 of itself, over some trials:
  /// what regrouping sums and products of up to 32 parts can do.
  double looseness(Expr e, const std::unordered_map<NodeId, double>& at) {
    const std::vector<NodeId> nodes = expr::reachable(std::vector{e});
    const double exact = expr::evaluate(e, at);
    std::unordered_map<NodeId, double> value;
    double largest = 0.0;
    for (int trial = 0; trial < 20; ++trial) {
      for (const NodeId id : nodes) {
        const expr::Node& node = graph.node(id);
        const double here = node.op == Op::constant ? node.value
                            : node.op == Op::symbol ? at.at(id)
                                                    : expr::apply(node.op, value[node.a], value[node.b], value[node.c]);
        // Numbers are printed exactly; a whole exponent must stay one.
        value[id] = node.op == Op::constant ? here : here * (1.0 + (below(2) == 0 ? 1e-14 : -1e-14));
      }
      const double moved = std::abs(value[e.id()] - exact);
      if (!std::isfinite(moved)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, moved);
    }
    return largest;
  }

  void expect_same(Expr e) {
    const std::string text = to_text(e);
    Expr again;
    try {
      again = parsed(text);
    } catch (const Error& error) {
      FAIL() << error.what();
    }
    for (int i = 0; i < 3; ++i) {
      const auto at = point();
      const double expected = expr::evaluate(e, at);
      if (!std::isfinite(expected)) continue;
      const double tolerance = 10.0 * looseness(e, at);
      if (!(tolerance < 1e-6)) continue;  // the value itself is not known at such a point
      ++compared;
      ASSERT_NEAR(expr::evaluate(again, at), expected, tolerance) << text;
    }
  }
};

TEST_F(PrintParse, RandomExpressions) {
  for (int i = 0; i < 3000; ++i) {
    expect_same(number(static_cast<int>(1 + below(5))));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(compared, 2000);
}

TEST_F(PrintParse, TheirDerivatives) {
  for (int i = 0; i < 500; ++i) {
    const Expr e = number(3);
    for (const Expr& d : expr::gradient(e, std::vector{symbols[0], symbols[1]})) expect_same(d);
    expect_same(expr::partial(e, symbols[0]));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(compared, 2000);
}

TEST_F(PrintParse, DelicateForms) {
  const Expr x = symbols[0], y = symbols[3];
  for (const Expr& e : {pow(-x, 0.5), -pow(x, 2.0), pow(x, -2.0), pow(pow(x, y), 2.5), pow(x, pow(y, 2.0)),
                        x - (y - (x - 1.0)), x / (y / x), x / (y * x), (x / y) * x, graph.constant(-2.5e-300) * x,
                        1e300 * x, pow(graph.constant(-2.0), 3.0) * y, pow(graph.constant(-2.5), x), x - -3.0 * y,
                        choose(graph.make(Op::equal, x, -y), -x, -(x + y))}) {
    const std::string text = to_text(e);
    EXPECT_EQ(to_text(parsed(text)), text);
    EXPECT_EQ(parsed(text), e) << text;
  }
}

}  // namespace
}  // namespace daedalus::model
