// Native code against the interpreter, to the last bit.
#include "daedalus/compile/native.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/sine.hpp"
#include "unit/compile/awkward.hpp"
#include "unit/compile/both_paths.hpp"
#include "unit/compile/call.hpp"
#include "unit/compile/hard_functions.hpp"
#include "unit/expr/random_tree.hpp"

namespace daedalus::compile {
namespace {

using expr::Expr;
using expr::Graph;
using expr::Interpolant;
using expr::Op;
using expr::random_tree::Random;
using Values = std::vector<double>;

struct NativeTest : testing::Test {
  Graph graph;
  Expr x = graph.symbol("x"), y = graph.symbol("y");
  Switches switches;

  void SetUp() override {
    if (!makes_native_code()) GTEST_SKIP() << "this process makes no native code";
  }
};

void expect_same(const Function& function, const Values& at, const Values* modes, const std::string& what) {
  ASSERT_TRUE(function.make_scratch().size() == 0 || is_native(function)) << what;
  const std::optional<Difference> difference = compare_paths(function, at, modes);
  ASSERT_FALSE(difference) << what << ": output " << difference->output << " is " << difference->native
                           << ", interpreted " << difference->interpreted;
}

TEST_F(NativeTest, EveryOperationAtAwkwardPoints) {
  Random random(90);
  for (const Op op : expr::random_tree::all_operations()) {
    const HardFunction hard = operation_function(op);
    const std::string what(expr::name_of(op));
    for (int i = 0; i < 400; ++i) {
      const Values at{any_value(random), any_value(random), any_value(random)};
      expect_same(hard.function, at, nullptr, what);
      const Values modes = random_modes(hard.switches, random);
      expect_same(hard.function, at, &modes, what);
    }
  }
}

TEST_F(NativeTest, Powers) {
  Random random(91);
  const Function function = power_function().function;
  for (int i = 0; i < 300; ++i) expect_same(function, {any_value(random), 0.0}, nullptr, "powers");
}

/// Graphs with many values alive at once, several blocks of inputs, tables and held values.
TEST_F(NativeTest, RandomGraphs) {
  Random random(92);
  const int graphs = std::getenv("DAEDALUS_LONG") != nullptr ? 40000 : 1500;
  for (int i = 0; i < graphs; ++i) {
    const HardFunction hard = random_function(random, 10 + expr::random_tree::below(random, i % 10 == 0 ? 400 : 60));
    for (int point = 0; point < 3; ++point) {
      Values at;
      for (int k = 0; k < 7; ++k) at.push_back(any_value(random));
      expect_same(hard.function, at, nullptr, "graph " + std::to_string(i));
      const Values modes = random_modes(hard.switches, random);
      expect_same(hard.function, at, &modes, "graph " + std::to_string(i) + " with modes");
    }
  }
}

/// More values alive than there are registers by far, read again in another order.
TEST_F(NativeTest, SpilledValues) {
  Random random(93);
  for (const std::size_t width : {10U, 13U, 14U, 50U, 500U}) {
    const Function function = crowded_function(random, width).function;
    for (int point = 0; point < 5; ++point)
      expect_same(function, {any_value(random), any_value(random), any_value(random)}, nullptr, std::to_string(width));
  }
}

/// What equal members compute is packed: numbers of members side by side in inputs and outputs, packs that are not full, lanes
/// that are needed by themselves, and values that are collected from elsewhere.
TEST_F(NativeTest, EqualMembers) {
  Random random(96);
  const int functions = std::getenv("DAEDALUS_LONG") != nullptr ? 20000 : 600;
  for (int i = 0; i < functions; ++i) {
    const HardFunction hard =
        members_function(random, 2 + expr::random_tree::below(random, 22), 5 + expr::random_tree::below(random, i % 10 == 0 ? 200 : 40));
    std::size_t inputs = 0;
    for (const std::size_t block : hard.function.blocks()) inputs += block;
    for (int point = 0; point < 3; ++point) {
      Values at;
      for (std::size_t k = 0; k < inputs; ++k) at.push_back(point == 0 ? 0.5 + 0.01 * static_cast<double>(k) : any_value(random));
      expect_same(hard.function, at, nullptr, "members " + std::to_string(i));
      const Values modes = random_modes(hard.switches, random);
      expect_same(hard.function, at, &modes, "members " + std::to_string(i) + " with modes");
    }
  }
}

/// Notes stand elsewhere than outputs, however well they would go on from them.
TEST_F(NativeTest, OutputsAndNotesAreTwoArrays) {
  std::vector<Expr> inputs, outputs;
  for (int i = 0; i < 50; ++i) {
    inputs.push_back(graph.symbol("i" + std::to_string(i)));
    outputs.push_back((inputs.back() * x + x) * inputs.back() - x);
  }
  for (const std::size_t notes : {0U, 1U, 22U, 27U, 50U}) {
    const Function function = compile_as_wished({{{x}, inputs}, outputs}, {{}, notes}, switches);
    Values at{3.0};
    for (int i = 0; i < 50; ++i) at.push_back(0.1 * i);
    expect_same(function, at, nullptr, std::to_string(notes) + " notes");
  }
}

/// Values that go from step to step in two ways, so that what follows from one is counted without bound.
TEST_F(NativeTest, PacksUsedInManyWays) {
  std::vector<Expr> inputs, outputs;
  for (int i = 0; i < 12; ++i) inputs.push_back(graph.symbol("i" + std::to_string(i)));
  for (int i = 0; i < 4; ++i) {
    Expr before = inputs[static_cast<std::size_t>(i)], now = before - inputs[static_cast<std::size_t>(i) + 4];
    for (int k = 0; k < 200; ++k) before = std::exchange(now, now - before * 0.5);
    outputs.push_back(now + sqrt(inputs[static_cast<std::size_t>(11 - i)]));
  }
  Values at;
  for (int i = 0; i < 12; ++i) at.push_back(1.0 + 0.1 * i);
  expect_same(compile({{inputs}, outputs}, switches), at, nullptr, "many ways");
}

/// Arguments of sines from packs that are kept and from packs that are dropped, of two to five members, with and without cosines.
TEST_F(NativeTest, SinesOfPacks) {
  for (std::size_t members = 2; members <= 5; ++members)
    for (const int length : {1, 2, 6}) {
      std::vector<Expr> inputs, outputs;
      for (std::size_t i = 0; i < 2 * members; ++i) inputs.push_back(graph.symbol("i" + std::to_string(i)));
      for (std::size_t i = 0; i < members; ++i) {
        Expr argument = inputs[i];
        for (int k = 0; k < length; ++k) argument = argument * inputs[members + i] - inputs[i];
        argument = argument * exp(inputs[members + i]);  // collected in vain
        outputs.push_back(cos(argument));
        if (i % 2 == 1) outputs.push_back(sin(argument) + x);
        outputs.push_back(sin(outputs.back() * x));
        for (int k = 0; k < 8; ++k) outputs.push_back(outputs.back() * x - exp(outputs.back()));
      }
      Values at{0.7};
      for (std::size_t i = 0; i < 2 * members; ++i) at.push_back(1.0 + 0.1 * static_cast<double>(i));
      expect_same(compile({{{x}, inputs}, outputs}, switches), at, nullptr, std::to_string(members) + " members");
    }
}

/// The same forces take much less code where the coordinates of the points stand side by side.
TEST_F(NativeTest, PairsOfPoints) {
  if (!makes_native_code(4)) GTEST_SKIP() << "no registers for several numbers";
  Random random(97);
  for (const std::size_t points : {5U, 8U, 20U, 21U}) {
    const HardFunction side_by_side = pairs_function(points, Coordinates::side_by_side);
    const HardFunction apart = pairs_function(points, Coordinates::by_point);
    for (const HardFunction* hard : {&side_by_side, &apart})
      for (int point = 0; point < 5; ++point) {
        Values at;
        for (std::size_t k = 0; k < 2 * points; ++k) at.push_back(any_value(random));
        expect_same(hard->function, at, nullptr, std::to_string(points) + " points");
      }
    if (points < 20) continue;
    EXPECT_LT(1.3 * static_cast<double>(side_by_side.function.tape().native.size()),
              static_cast<double>(apart.function.tape().native.size()));
  }
}

TEST_F(NativeTest, SineAndCosineTogetherEqualThoseAlone) {
  Random random(94);
  const Function function = compile({{{x, y}}, {sin(x), cos(x), cos(y) * sin(y)}}, switches);
  auto scratch = function.make_scratch();
  const int points = std::getenv("DAEDALUS_LONG") != nullptr ? 20000000 : 300000;
  for (int i = 0; i < points; ++i) {
    // All sizes up to where the reduction by pi/2 needs many digits, and its neighbourhood of multiples of pi/4.
    const double scale = std::exp2(std::uniform_real_distribution<double>(-40.0, 60.0)(random));
    const double near = 0.7853981633974483 * static_cast<double>(expr::random_tree::below(random, 4000));
    const double at[] = {std::uniform_real_distribution<double>(-1.0, 1.0)(random) * scale,
                         near * (1.0 + 1e-15 * static_cast<double>(expr::random_tree::below(random, 9)))};
    const double* inputs[] = {at};
    double outputs[3];
    function(inputs, outputs, scratch);
    ASSERT_TRUE(equal_bits(outputs[0], expr::sine(at[0])) && equal_bits(outputs[1], expr::cosine(at[0])) &&
                equal_bits(outputs[2], expr::cosine(at[1]) * expr::sine(at[1])))
        << at[0] << " " << at[1];
  }
}

TEST_F(NativeTest, PagesAreNeverWritableAndExecutable) {
  const Function function = compile({{{x, y}}, {x * y}}, switches);
  call(function, {1.0, 2.0});
  std::ifstream maps("/proc/self/maps");
  std::string line;
  bool found = false;
  const auto entry = reinterpret_cast<std::uintptr_t>(function.tape().native.entry());
  while (std::getline(maps, line)) {
    const std::string rights = line.substr(line.find(' ') + 1, 3);
    EXPECT_NE(rights.substr(1), "wx") << line;
    const auto first = std::stoull(line, nullptr, 16), last = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
    if (first <= entry && entry < last) {
      found = true;
      EXPECT_EQ(rights, "r-x") << line;
    }
  }
  EXPECT_TRUE(found || !maps.eof());
}

TEST_F(NativeTest, ManyFunctionsComeAndGo) {
  for (int i = 0; i < 2000; ++i) {
    Graph fresh;
    Switches own;
    const Expr z = fresh.symbol("z");
    EXPECT_EQ(call(compile({{{z}}, {z * z + static_cast<double>(i)}}, own), {3.0})[0], 9.0 + i);
  }
}

TEST_F(NativeTest, ThreadsMayAskAtTheSameTime) {
  const Function function = compile({{{x, y}}, {sin(x) * y}}, switches);
  std::vector<std::thread> threads;
  std::vector<double> results(8);
  for (std::size_t k = 0; k < results.size(); ++k)
    threads.emplace_back([&, k] { results[k] = call(function, {0.3, 2.0})[0]; });
  for (std::thread& thread : threads) thread.join();
  for (const double result : results) EXPECT_EQ(result, std::sin(0.3) * 2.0);
}

TEST_F(NativeTest, FunctionsCalledSeldomStayInterpreted) {
  const Function function = called_seldom(compile({{{x, y}}, {x * y}}, switches));
  EXPECT_EQ(call(function, {3.0, 2.0}), Values{6.0});
  EXPECT_FALSE(is_native(function));
}

/// Long functions: the time to translate and the buffer grow with the size, the stack does not.
TEST_F(NativeTest, LongFunctions) {
  Random random(95);
  std::vector<Expr> recent{x, y};
  for (int i = 0; i < 60000; ++i) {
    const Expr a = recent[expr::random_tree::below(random, recent.size())], b = recent.back();
    recent.push_back(i % 50 == 0 ? sin(a * b) : i % 3 == 0 ? a - b * 0.9 : 0.5 * a + 0.25 * b);
    if (recent.size() > 40) recent.erase(recent.begin());
  }
  const Function function = compile({{{x, y}}, recent}, switches);
  EXPECT_GT(function.operation_count(), 60000U);
  expect_same(function, {0.3, 0.7}, nullptr, "long");
  EXPECT_LT(function.tape().native.slots(), 200U);
}

}  // namespace
}  // namespace daedalus::compile
