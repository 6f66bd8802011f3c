#include "daedalus/compile/function.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "conformance/allocations.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"
#include "unit/compile/call.hpp"
#include "unit/expr/random_tree.hpp"

namespace daedalus::compile {
namespace {

using expr::Expr;
using expr::Graph;
using expr::NodeId;
using expr::Op;
using Numbers = std::unordered_map<NodeId, double>;
using Values = std::vector<double>;

struct FunctionTest : testing::Test {
  Graph graph;
  Expr x = graph.symbol("x"), y = graph.symbol("y"), p = graph.symbol("p");
  Switches switches;
};

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

TEST_F(FunctionTest, EqualsEvaluationToTheLastBit) {
  expr::random_tree::Random random(51);
  const std::vector<Op> operations = expr::random_tree::all_operations();
  for (int i = 0; i < 3000; ++i) {
    Graph fresh;
    Switches own;
    const auto symbols = expr::random_tree::make_symbols(fresh, 4);
    // Several outputs that share parts, and their derivatives along the way.
    std::vector<Expr> outputs;
    for (int k = 0; k < 3; ++k)
      outputs.push_back(
          expr::random_tree::build(fresh, expr::random_tree::make_tree(random, operations, 4, 20), symbols));
    outputs.push_back(outputs[0] + sin(outputs[1]));
    outputs.push_back(partial(outputs[3], symbols[0]));
    const Function function = compile({{symbols}, outputs}, own);
    for (int point = 0; point < 3; ++point) {
      Values at;
      Numbers bound;
      for (const Expr& symbol : symbols) bound[symbol.id()] = at.emplace_back(expr::random_tree::random_value(random));
      const Values values = call(function, at);
      for (std::size_t k = 0; k < outputs.size(); ++k)
        ASSERT_TRUE(same_bits(values[k], evaluate(outputs[k], bound))) << to_text(outputs[k]) << " " << values[k];
    }
  }
}

TEST_F(FunctionTest, NumbersAreFolded) {
  expr::random_tree::Random random(52);
  const std::vector<Op> operations{Op::add,  Op::sub,    Op::mul,  Op::pow, Op::sin,
                                   Op::tanh, Op::choose, Op::less, Op::max};
  for (int i = 0; i < 1000; ++i) {
    Graph fresh;
    Switches own;
    const auto symbols = expr::random_tree::make_symbols(fresh, 4);
    const Expr output =
        expr::random_tree::build(fresh, expr::random_tree::make_tree(random, operations, 4, 25), symbols);
    Numbers bound;
    for (const Expr& symbol : symbols) bound[symbol.id()] = expr::random_tree::random_value(random);
    const double expected = evaluate(output, bound);
    if (!std::isfinite(expected)) continue;  // a factor 0 removes what is not finite
    const Numbers numbers{{symbols[0].id(), bound[symbols[0].id()]}, {symbols[2].id(), bound[symbols[2].id()]}};
    const Function function = compile({{{symbols[1], symbols[3]}}, {output}, &numbers}, own);
    ASSERT_EQ(call(function, {bound[symbols[1].id()], bound[symbols[3].id()]})[0], expected) << to_text(output);
  }
  const Numbers half{{p.id(), 0.5}};
  EXPECT_EQ(compile({{{x}}, {sin(p) * cos(p) + x}, &half}, switches).operation_count(), 1U);
  EXPECT_EQ(compile({{}, {sin(p)}, &half}, switches).operation_count(), 0U);
}

TEST_F(FunctionTest, AParameterThatIsZeroRemovesWhatItMultiplies) {
  const Numbers zero{{p.id(), 0.0}};
  const Function function = compile({{{x}}, {p * log(x) + x}, &zero}, switches);
  EXPECT_EQ(call(function, {-1.0}), Values{-1.0});
  EXPECT_EQ(function.operation_count(), 1U);
}

TEST_F(FunctionTest, OutputsOfEveryKind) {
  const Expr shared = sin(x) * y;
  const Numbers numbers{{p.id(), 7.0}};
  const Function function =
      compile({{{x, y}}, {shared, x, graph.constant(3.0), shared, p, shared + 1.0, x, 2.0 * p, y}, &numbers}, switches);
  const double s = std::sin(0.3) * 2.0;
  EXPECT_EQ(call(function, {0.3, 2.0}), (Values{s, 0.3, 3.0, s, 7.0, s + 1.0, 0.3, 14.0, 2.0}));
  EXPECT_EQ(function.output_count(), 9U);
  EXPECT_EQ(function.operation_count(), 3U);
  EXPECT_EQ(call(function, {0.3, 2.0}), call(function, {0.3, 2.0}));
}

TEST_F(FunctionTest, NoOutputs) {
  const Function function = compile({{{x, y}}, {}}, switches);
  EXPECT_EQ(function.output_count(), 0U);
  EXPECT_EQ(function.operation_count(), 0U);
  EXPECT_TRUE(call(function, {1.0, 2.0}).empty());
  EXPECT_EQ(Function().output_count(), 0U);
  auto scratch = Function().make_scratch();
  Function()(nullptr, nullptr, scratch);
}

TEST_F(FunctionTest, InputsComeInBlocks) {
  const Function function = compile({{{x}, {}, {y, p}}, {x - y * p}}, switches);
  EXPECT_EQ(function.blocks(), (std::vector<std::size_t>{1, 0, 2}));
  const double first[] = {10.0}, third[] = {2.0, 3.0};
  const double* inputs[] = {first, nullptr, third};
  auto scratch = function.make_scratch();
  double output = 0.0;
  function(inputs, &output, scratch);
  EXPECT_EQ(output, 4.0);
}

TEST_F(FunctionTest, SlotsAreReused) {
  Expr chain = x;
  for (int i = 0; i < 5000; ++i) chain = sin(chain) + y;
  const Function function = compile({{{x, y}}, {chain}}, switches);
  EXPECT_EQ(function.operation_count(), 10000U);
  EXPECT_LE(function.make_scratch().size(), 4U);  // two inputs and what is on the way
  // Many outputs leave at once: their slots are free again.
  std::vector<Expr> many;
  for (int i = 0; i < 5000; ++i) many.push_back(sin(x + static_cast<double>(i)) * y);
  EXPECT_LE(compile({{{x, y}}, many}, switches).make_scratch().size(), 5000U + 12U);  // the numbers, and few on the way
}

TEST_F(FunctionTest, AnUnboundSymbolIsOurFault) {
  EXPECT_THROW(compile({{{x}}, {x * y}}, switches), InternalError);
  EXPECT_THROW(compile({{{x}}, {y}}, switches), InternalError);
  EXPECT_NO_THROW(compile({{{x, y, p}}, {x}}, switches));
}

TEST_F(FunctionTest, TablesNeedData) {
  EXPECT_THROW(compile({{{x}}, {graph.lookup("path", x)}}, switches), Error);
}

TEST_F(FunctionTest, ACallAllocatesNothing) {
  const Function function =
      compile({{{x, y}}, {sin(x) * y, abs(x - y), max(x, y), pow(x, 3.0), hypot(x, y)}}, switches);
  auto scratch = function.make_scratch();
  const Values at{0.3, 0.7};
  const double* inputs[] = {at.data()};
  Values outputs(5), modes = modes_at(switches, {x, y}, at);
  const std::size_t before = allocations::counted();
  for (int i = 0; i < 100; ++i) {
    function(inputs, outputs.data(), scratch);
    function(inputs, outputs.data(), scratch, modes.data());
  }
  EXPECT_EQ(allocations::counted(), before);
  outputs.resize(1000);
  EXPECT_GT(allocations::counted(), before);  // the count counts
}

TEST_F(FunctionTest, CopiesShareTheCodeAndOutliveTheOriginal) {
  Function copy;
  {
    const Function function = compile({{{x}}, {x * x}}, switches);
    copy = function;
  }
  EXPECT_EQ(call(copy, {3.0}), Values{9.0});
}

}  // namespace
}  // namespace daedalus::compile
