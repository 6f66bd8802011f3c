// Several points at once against the interpreter at each of them: the same to the last bit, but for fast functions, whose
// errors are measured.
#include "daedalus/compile/batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "conformance/allocations.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/print.hpp"
#include "unit/compile/awkward.hpp"
#include "unit/compile/both_paths.hpp"
#include "unit/compile/call.hpp"
#include "unit/compile/hard_functions.hpp"

namespace daedalus::compile {
namespace {

using expr::Expr;
using expr::Graph;
using expr::Interpolant;
using expr::Op;
using expr::random_tree::Random;
using Values = std::vector<double>;

/// With 4 and 8 lanes. Where the processor cannot do so many at once these run on the interpreter.
struct BatchTest : testing::TestWithParam<std::size_t> {
  Graph graph;
  Expr x = graph.symbol("x"), y = graph.symbol("y");
  Switches switches;
  const std::size_t lanes = GetParam();

  void expect_same(const Function& function, const std::vector<Values>& points, const Values* modes, const std::string& what) const {
    const Batch batch(function, Elementary::exact, lanes);
    const std::optional<Difference> difference = compare_lanes(batch, points, modes);
    ASSERT_EQ(batch.is_native(), makes_native_code(lanes) && function.output_count() > 0) << what;
    ASSERT_FALSE(difference) << what << ": output " << difference->output << " is " << difference->native
                             << ", interpreted alone " << difference->interpreted;
  }

  std::vector<Values> random_points(Random& random, std::size_t size) const {
    std::vector<Values> points(lanes, Values(size));
    for (Values& point : points)
      for (double& number : point) number = any_value(random);
    return points;
  }
};

INSTANTIATE_TEST_SUITE_P(Lanes, BatchTest, testing::Values(4, 8), testing::PrintToStringParamName());

TEST_P(BatchTest, RunsAsMachineCode) {
  if (!makes_native_code(lanes)) GTEST_SKIP() << "this processor does not work on " << lanes << " numbers at once";
  const Batch batch(compile({{{x, y}}, {x * y}}, switches), Elementary::exact, lanes);
  batch.make_scratch();
  EXPECT_TRUE(batch.is_native());
  EXPECT_GE(Batch::widest(), lanes);
}

TEST_P(BatchTest, EveryOperationAtAwkwardPoints) {
  Random random(96);
  for (const Op op : expr::random_tree::all_operations()) {
    const HardFunction hard = operation_function(op);
    const std::string what(expr::name_of(op));
    for (int i = 0; i < 60; ++i) {
      const auto points = random_points(random, 3);
      expect_same(hard.function, points, nullptr, what);
      const Values modes = random_modes(hard.switches, random);
      expect_same(hard.function, points, &modes, what);
    }
  }
}

/// The interpreter of several points, which serves other processors.
TEST_P(BatchTest, InterpreterOfLanes) {
  Random random(97);
  const std::vector<Op> all = expr::random_tree::all_operations();
  for (int i = 0; i < 300; ++i) {
    Graph fresh;
    Switches own;
    const auto symbols = expr::random_tree::make_symbols(fresh, 4);
    const Expr e = expr::random_tree::build(fresh, expr::random_tree::make_tree(random, all, 4, 40), symbols);
    const Function function = compile({{symbols}, {e, partial(e, symbols[0])}}, own);
    const Batch batch(called_seldom(function), Elementary::exact, lanes);
    const auto points = random_points(random, 4);
    const Values modes = random_modes(own, random);
    Values together, scratch(lanes * function.tape().registers), outputs(2 * lanes);
    for (std::size_t k = 0; k < 4; ++k)
      for (const Values& point : points) together.push_back(point[k]);
    for (std::size_t c = 0; c < function.tape().constants.size(); ++c)
      std::fill_n(scratch.begin() + static_cast<std::ptrdiff_t>(c * lanes), lanes, function.tape().constants[c]);
    const double* inputs[] = {together.data()};
    interpret_lanes(lanes, function.tape(), inputs, outputs.data(), scratch.data(), modes.data());
    for (std::size_t k = 0; k < lanes; ++k) {
      const Values alone = call(function, points[k], &modes);
      EXPECT_TRUE(equal_bits(outputs[k], alone[0]) && equal_bits(outputs[lanes + k], alone[1])) << expr::to_text(e);
    }
  }
}

TEST_P(BatchTest, Powers) {
  Random random(98);
  const Function function = power_function().function;
  for (int i = 0; i < 50; ++i) expect_same(function, random_points(random, 2), nullptr, "powers");
}

/// Graphs with many values alive at once, several blocks of inputs, tables and held values.
TEST_P(BatchTest, RandomGraphs) {
  Random random(99);
  const int graphs = std::getenv("DAEDALUS_LONG") != nullptr ? 20000 : 600;
  for (int i = 0; i < graphs; ++i) {
    const HardFunction hard = random_function(random, 10 + expr::random_tree::below(random, i % 10 == 0 ? 400 : 60));
    const auto points = random_points(random, 7);
    expect_same(hard.function, points, nullptr, "graph " + std::to_string(i));
    const Values modes = random_modes(hard.switches, random);
    expect_same(hard.function, points, &modes, "graph " + std::to_string(i) + " with modes");
  }
}

/// More values alive than there are registers, with calls between them.
TEST_P(BatchTest, SpilledValues) {
  Random random(100);
  for (const std::size_t width : {13U, 14U, 29U, 30U, 200U}) {
    const Function function = crowded_function(random, width).function;
    for (int i = 0; i < 3; ++i) expect_same(function, random_points(random, 3), nullptr, std::to_string(width));
  }
}

/// Equal members, which become a loop of machine code.
TEST_P(BatchTest, Chains) {
  Random random(101);
  Graph fresh;
  Switches own;
  const auto symbols = expr::random_tree::make_symbols(fresh, 400);
  std::vector<Expr> outputs;
  Expr before = symbols[0] * 0.5;
  for (std::size_t i = 1; i < symbols.size(); ++i) {
    before = 1.0 / (before * before + symbols[i] * symbols[i - 1] + 1.5) + sqrt(symbols[i] * symbols[i]) - min(before, symbols[i]);
    outputs.push_back(before);
  }
  const Function function = compile({{symbols}, outputs}, own);
  EXPECT_GT(function.operation_count(), 3000U);
  for (int i = 0; i < 5; ++i) expect_same(function, random_points(random, symbols.size()), nullptr, "chain");
}

TEST_P(BatchTest, NoOutputsAndNoInputs) {
  const Batch nothing(compile({{{x}}, {}}, switches), Elementary::exact, lanes);
  auto scratch = nothing.make_scratch();
  const Values at(lanes, 1.0);
  const double* inputs[] = {at.data()};
  nothing(inputs, nullptr, scratch);
  const Batch constant(compile({{}, {graph.constant(2.5)}}, switches), Elementary::exact, lanes);
  auto constant_scratch = constant.make_scratch();
  Values outputs(lanes);
  constant(nullptr, outputs.data(), constant_scratch);
  EXPECT_EQ(outputs, Values(lanes, 2.5));
}

TEST_P(BatchTest, ACallAllocatesNothing) {
  for (const Elementary elementary : {Elementary::exact, Elementary::fast}) {
    const Batch batch(compile({{{x, y}}, {sin(x) * y, abs(x - y), max(x, y), pow(x, y), hypot(x, y)}}, switches), elementary, lanes);
    auto scratch = batch.make_scratch();
    const Values at(2 * lanes, 0.3), modes = switches.free_modes({});
    const double* inputs[] = {at.data()};
    Values outputs(5 * lanes);
    const std::size_t before = allocations::counted();
    for (int i = 0; i < 100; ++i) {
      batch(inputs, outputs.data(), scratch);
      batch(inputs, outputs.data(), scratch, modes.data());
    }
    EXPECT_EQ(allocations::counted(), before);
  }
}

TEST_P(BatchTest, ThreadsMayAskAtTheSameTime) {
  const Batch batch(compile({{{x, y}}, {sin(x) * y}}, switches), Elementary::exact, lanes);
  std::vector<std::thread> threads;
  std::vector<Values> results(8);
  for (Values& result : results)
    threads.emplace_back([&] {
      auto scratch = batch.make_scratch();
      result = call_batch(batch, scratch, std::vector<Values>(lanes, {0.3, 2.0}), nullptr);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Values& result : results) EXPECT_EQ(result[2 * (lanes - 1)], std::sin(0.3) * 2.0);
}

TEST_P(BatchTest, PagesAreNeverWritableAndExecutable) {
  const Batch batch(compile({{{x, y}}, {sin(x) * y}}, switches), Elementary::fast, lanes);
  batch.make_scratch();
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) EXPECT_NE(line.substr(line.find(' ') + 2, 2), "wx") << line;
}

// Fast functions

struct Elements {
  Op op;
  long double (*exact)(long double, long double);
  double low, high;           ///< of x, or of its logarithm to base 2
  enum { plain, by_size, positive } kind;
  double other_low = 0.0, other_high = 0.0;  ///< of y
};

template <long double (*f)(long double)>
long double of_one(long double x, long double) {
  return f(x);
}

const std::vector<Elements>& elements() {
  static const std::vector<Elements> all{
      {Op::sin, of_one<std::sin>, -40.0, 60.0, Elements::by_size},   {Op::cos, of_one<std::cos>, -40.0, 60.0, Elements::by_size},
      {Op::tan, of_one<std::tan>, -40.0, 60.0, Elements::by_size},   {Op::asin, of_one<std::asin>, -1.0, 1.0, Elements::plain},
      {Op::acos, of_one<std::acos>, -1.0, 1.0, Elements::plain},     {Op::atan, of_one<std::atan>, -60.0, 60.0, Elements::by_size},
      {Op::sinh, of_one<std::sinh>, -710.0, 710.0, Elements::plain}, {Op::cosh, of_one<std::cosh>, -710.0, 710.0, Elements::plain},
      {Op::tanh, of_one<std::tanh>, -40.0, 6.0, Elements::by_size},  {Op::asinh, of_one<std::asinh>, -60.0, 60.0, Elements::by_size},
      {Op::acosh, of_one<std::acosh>, 1.0, 50.0, Elements::plain},   {Op::atanh, of_one<std::atanh>, -1.0, 1.0, Elements::plain},
      {Op::exp, of_one<std::exp>, -744.0, 709.0, Elements::plain},   {Op::log, of_one<std::log>, 1e-3, 10.0, Elements::plain},
      {Op::log10, of_one<std::log10>, 1e-3, 10.0, Elements::plain},  {Op::cbrt, of_one<std::cbrt>, -60.0, 60.0, Elements::by_size},
      {Op::atan2, std::atan2, -30.0, 30.0, Elements::by_size, -5.0, 5.0},
      {Op::pow, std::pow, 1e-3, 50.0, Elements::plain, -80.3, 80.3},
      // subnormal and huge numbers, and both sides of 1
      {Op::acosh, of_one<std::acosh>, 1e-9, 1000.0, Elements::positive}, {Op::log, of_one<std::log>, -1074.0, 1023.0, Elements::positive},
      {Op::log, of_one<std::log>, -1e-6, 1e-6, Elements::positive},      {Op::log10, of_one<std::log10>, -1074.0, 1023.0, Elements::positive},
      {Op::log10, of_one<std::log10>, -1e-6, 1e-6, Elements::positive},  {Op::exp, of_one<std::exp>, -60.0, 9.0, Elements::by_size},
      {Op::sinh, of_one<std::sinh>, -60.0, 9.0, Elements::by_size},      {Op::asin, of_one<std::asin>, -60.0, 0.0, Elements::by_size},
      {Op::atanh, of_one<std::atanh>, -60.0, 0.0, Elements::by_size},    {Op::cbrt, of_one<std::cbrt>, -1074.0, 1023.0, Elements::by_size},
      {Op::pow, std::pow, -20.0, 20.0, Elements::positive, -51.0, 51.0}};
  return all;
}

/// In units of the last place of the exact value, or of the smallest normal number.
double error_in_ulps(double value, long double exact) {
  const int exponent = std::max(std::ilogb(exact), -1022);
  return static_cast<double>(std::abs(value - exact) / std::ldexp(1.0L, exponent - 52));
}

TEST_P(BatchTest, FastFunctionsAreWithinFourUnitsInTheLastPlace) {
  Random random(102);
  const int calls = std::getenv("DAEDALUS_LONG") != nullptr ? 200000 : 20000;
  for (const Elements& one : elements()) {
    Switches own;
    const Expr e = expr::arity(one.op) == 1 ? graph.make(one.op, x) : graph.make(one.op, x, y);
    const Batch batch(compile({{{x, y}}, {e}}, own), Elementary::fast, lanes);
    auto scratch = batch.make_scratch();
    Values at(2 * lanes), outputs(lanes);
    const double* inputs[] = {at.data()};
    double worst = 0.0;
    for (int i = 0; i < calls; ++i) {
      for (std::size_t k = 0; k < lanes; ++k) {
        const double first = std::uniform_real_distribution<double>(one.low, one.high)(random);
        at[k] = one.kind == Elements::plain ? first : std::exp2(first);
        if (one.kind == Elements::by_size && random() % 2 == 0) at[k] = -at[k];
        at[lanes + k] = std::uniform_real_distribution<double>(one.other_low, one.other_high)(random);
      }
      batch(inputs, outputs.data(), scratch);
      for (std::size_t k = 0; k < lanes; ++k) {
        const double error = error_in_ulps(outputs[k], one.exact(at[k], at[lanes + k]));
        ASSERT_LE(error, 4.0) << expr::to_text(e) << " at " << at[k] << ", " << at[lanes + k] << ": " << outputs[k];
        worst = std::max(worst, error);
      }
    }
    RecordProperty(expr::to_text(e), std::to_string(worst));
    if (std::getenv("DAEDALUS_LONG") != nullptr) std::printf("%-12s %zu lanes: %.2f\n", expr::to_text(e).c_str(), lanes, worst);
  }
}

/// Infinities, signed zeros, subnormal and huge numbers: what is not a number, infinite or zero is that here too.
TEST_P(BatchTest, FastFunctionsAtAwkwardPoints) {
  Random random(103);
  for (const Elements& one : elements()) {
    Switches own;
    const Expr e = expr::arity(one.op) == 1 ? graph.make(one.op, x) : graph.make(one.op, x, y);
    const Function function = compile({{{x, y}}, {e}}, own);
    const Batch batch(function, Elementary::fast, lanes);
    auto scratch = batch.make_scratch();
    for (int i = 0; i < 1000; ++i) {
      const auto points = random_points(random, 2);
      const Values together = call_batch(batch, scratch, points, nullptr);
      for (std::size_t k = 0; k < lanes; ++k) {
        // Whole powers are products there.
        const double fast = together[2 * k],
                     exact = one.op == Op::pow ? std::pow(points[k][0], points[k][1]) : call(function, points[k])[0];
        const bool special = std::isnan(exact) || std::isinf(exact) || exact == 0.0;
        ASSERT_TRUE(special ? equal_bits(fast, exact) : error_in_ulps(fast, exact) <= 5.0)
            << expr::to_text(e) << " at " << points[k][0] << ", " << points[k][1] << ": " << fast << ", exactly " << exact;
      }
    }
  }
}

/// A lane knows nothing of the others: not their values, not its own number.
TEST_P(BatchTest, LanesAreIndependent) {
  Random random(104);
  const std::vector<Op> all = expr::random_tree::all_operations();
  for (int i = 0; i < 300; ++i) {
    Graph fresh;
    Switches own;
    const auto symbols = expr::random_tree::make_symbols(fresh, 4);
    const Expr e = expr::random_tree::build(fresh, expr::random_tree::make_tree(random, all, 4, 40), symbols);
    const Batch batch(compile({{symbols}, {e}}, own), Elementary::fast, lanes);
    auto scratch = batch.make_scratch();
    std::vector<Values> points = random_points(random, 4);
    const Values first = call_batch(batch, scratch, points, nullptr);
    std::rotate(points.begin(), points.begin() + 1, points.end());
    points[2] = {any_value(random), any_value(random), any_value(random), any_value(random)};
    const Values second = call_batch(batch, scratch, points, nullptr);
    for (std::size_t k = 0; k < lanes; ++k)
      ASSERT_TRUE(k == 2 || equal_bits(first[2 * ((k + 1) % lanes)], second[2 * k])) << expr::to_text(e);
  }
}

/// A sine does not depend on whether the cosine is asked for as well.
TEST_P(BatchTest, FastSineAndCosineEqualThoseAlone) {
  Random random(106);
  const Batch together(compile({{{x}}, {sin(x), cos(x)}}, switches), Elementary::fast, lanes);
  const Batch sine(compile({{{x}}, {sin(x)}}, switches), Elementary::fast, lanes);
  const Batch cosine(compile({{{x}}, {cos(x)}}, switches), Elementary::fast, lanes);
  auto scratch = together.make_scratch(), of_sine = sine.make_scratch(), of_cosine = cosine.make_scratch();
  for (int i = 0; i < 2000; ++i) {
    const auto points = random_points(random, 1);
    const Values both = call_batch(together, scratch, points, nullptr);
    const Values first = call_batch(sine, of_sine, points, nullptr), second = call_batch(cosine, of_cosine, points, nullptr);
    for (std::size_t k = 0; k < lanes; ++k)
      ASSERT_TRUE(equal_bits(both[3 * k], first[2 * k]) && equal_bits(both[3 * k + 1], second[2 * k])) << points[k][0];
  }
}

/// Without functions of the C library both kinds are one.
TEST_P(BatchTest, FastMeansFunctionsOnly) {
  Random random(105);
  const std::vector<Op> plain{Op::add, Op::sub,  Op::mul, Op::div,  Op::neg,    Op::sqrt,        Op::min,         Op::max,
                              Op::abs, Op::sign, Op::less, Op::floor, Op::hypot, Op::choose, Op::logical_and, Op::logical_not};
  for (int i = 0; i < 300; ++i) {
    Graph fresh;
    Switches own;
    const auto symbols = expr::random_tree::make_symbols(fresh, 4);
    const Expr e = expr::random_tree::build(fresh, expr::random_tree::make_tree(random, plain, 4, 40), symbols);
    const Function function = compile({{symbols}, {e}}, own);
    const Values modes = random_modes(own, random);
    const auto difference = compare_lanes(Batch(function, Elementary::fast, lanes), random_points(random, 4), &modes);
    ASSERT_FALSE(difference) << expr::to_text(e);
  }
}

}  // namespace
}  // namespace daedalus::compile
