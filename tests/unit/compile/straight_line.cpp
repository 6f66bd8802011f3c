// Functions put together as one line, beside calls one after the other.
#include "daedalus/compile/straight_line.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "daedalus/compile/compile.hpp"
#include "daedalus/compile/interpreter.hpp"

namespace daedalus::tests {
namespace {

using compile::Function;
using compile::StraightLine;
using expr::Expr;

std::vector<double> called(const Function& function, const std::vector<std::vector<double>>& inputs,
                           const double* modes = nullptr) {
  std::vector<const double*> pointers;
  for (const auto& block : inputs) pointers.push_back(block.data());
  auto scratch = function.make_scratch();
  std::vector<double> outputs(function.output_count(), -1.0), again(outputs);
  function(pointers.data(), outputs.data(), scratch, modes);
  auto fresh = function.make_scratch();
  compile::interpret(function.tape(), pointers.data(), again.data(), fresh.data(), modes);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(outputs[i], again[i]) << "native and interpreted, output " << i;
  return outputs;
}

/// x, y -> x y, sin x + |y|
struct Pair {
  expr::Graph graph;
  compile::Switches switches;
  Expr x = graph.symbol("x"), y = graph.symbol("y");
  Function function =
      compile::compile({{{x, y}}, {x * y, sin(x) + abs(y)}, nullptr, compile::Request::NewSwitches::added}, switches);
};

TEST(StraightLine, PassesOutputsOn) {
  Pair pair;
  StraightLine line({1, 2});
  const auto first = line.call(pair.function, {line.block(1)});
  const auto second = line.call(pair.function, {{first.outputs[1], line.input(0, 0)}});
  const Function whole =
      line.finish({second.outputs[0], second.outputs[1], first.outputs[0], line.input(1, 1), line.constant(7.0)}, {});
  const double modes[] = {std::nan(""), std::nan("")};
  for (const double* frozen : {static_cast<const double*>(nullptr), modes}) {
    const std::vector<double> one = called(pair.function, {{0.4, -1.7}}, frozen),
                              two = called(pair.function, {{one[1], 2.5}}, frozen);
    EXPECT_EQ(called(whole, {{2.5}, {0.4, -1.7}}, frozen), (std::vector<double>{two[0], two[1], one[0], -1.7, 7.0}));
  }
  // A frozen value counts in every call: |y| with the sign of a time when y was negative.
  const double negative[] = {std::nan(""), -1.0};
  EXPECT_EQ(called(whole, {{2.5}, {0.4, 1.7}}, negative)[0], (std::sin(0.4) - 1.7) * 2.5);
}

TEST(StraightLine, ComputesOnceWhatIsTheSame) {
  Pair pair;
  StraightLine line({2});
  const auto first = line.call(pair.function, {line.block(0)}), again = line.call(pair.function, {line.block(0)});
  EXPECT_EQ(first.outputs, again.outputs);
  EXPECT_EQ(line.finish(again.outputs, {}).operation_count(), pair.function.operation_count());
  // What nobody asks for is left out.
  EXPECT_EQ(line.finish({first.outputs[0]}, {}).operation_count(), 1U);
}

/// A product and a sum with one rounding: (1 + e)(1 - e) - 1 = -e^2, which is lost with two.
TEST(StraightLine, AddsProductsWithOneRounding) {
  StraightLine line({3});
  const auto x = line.block(0);
  // Many at a time, so that operands stand in registers, in memory, and are used again.
  StraightLine::Values outputs;
  for (int k = 0; k < 20; ++k)
    outputs.push_back(
        line.multiply_add(x[static_cast<std::size_t>(k % 2)], line.constant(1.0 + k), k == 0 ? x[2] : outputs.back()));
  for (int k = 0; k < 20; ++k)
    outputs.push_back(
        line.multiply_add(outputs[static_cast<std::size_t>(k)], outputs[static_cast<std::size_t>(19 - k)], x[2]));
  outputs.push_back(line.multiply_add(x[0], x[1], x[2]));
  outputs.push_back(line.multiply_add(x[0], x[0], x[0]));
  const double e = std::ldexp(1.0, -30);
  const std::vector<double> found = called(line.finish(outputs, {}), {{1.0 + e, 1.0 - e, -1.0}});
  double sum = -1.0;
  for (int k = 0; k < 20; ++k)
    EXPECT_EQ(found[static_cast<std::size_t>(k)], sum = std::fma(k % 2 == 0 ? 1.0 + e : 1.0 - e, 1.0 + k, sum));
  EXPECT_EQ(found[40], -e * e);
  EXPECT_EQ(found[41], std::fma(1.0 + e, 1.0 + e, 1.0 + e));
}

/// Each of a b + c, a b - c, c - a b and a^2 + b^2 with one rounding less; what is used twice, or is an output, stays.
TEST(StraightLine, ContractsProductsThatAreUsedOnce) {
  expr::Graph graph;
  compile::Switches switches;
  const Expr a = graph.symbol("a"), b = graph.symbol("b"), c = graph.symbol("c");
  const std::vector<Expr> wanted{a * b + c, a * c - b, c - b * (a + c), pow(a, 2.0) + pow(b, 2.0), b * c, b * c + a};
  const Function plain = compile::compile({{{a, b, c}}, wanted}, switches);
  StraightLine line({3});
  const auto outputs = line.call(plain, {line.block(0)}).outputs;
  line.contract(outputs, {});
  const Function contracted = line.finish(outputs, {});
  const double x = 1.0 + std::ldexp(1.0, -30), y = 1.0 - std::ldexp(3.0, -29), z = -1.0;
  const std::vector<double> found = called(contracted, {{x, y, z}});
  EXPECT_EQ(found[0], std::fma(x, y, z));
  EXPECT_EQ(found[1], std::fma(x, z, -y));
  EXPECT_EQ(found[2], std::fma(-y, x + z, z));
  EXPECT_EQ(found[3], std::fma(y, y, x * x));
  EXPECT_EQ(found[4], y * z);
  EXPECT_EQ(found[5], y * z + x);
  EXPECT_LT(contracted.operation_count(), plain.operation_count());
}

}  // namespace
}  // namespace daedalus::tests
