// What one operation of a model's functions costs at one point: interpreted, as machine code, and for 4 or 8 points at once, with
// exact and with fast functions of the C library. Nanoseconds per operation and point, least of many repetitions; before them
// what making the machine code takes per operation. The program fails where several points at once are not faster.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "daedalus/compile/batch.hpp"
#include "daedalus/compile/compile.hpp"
#include "daedalus/mechanics/functions.hpp"
#include "daedalus/model/reader.hpp"

using namespace daedalus;
using compile::Batch;
using compile::Elementary;
using compile::Function;

namespace {

/// Nanoseconds of one call.
double cost(const auto& call) {
  using Clock = std::chrono::steady_clock;
  const auto time = [&](int calls) {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / calls;
  };
  const int calls = std::max(1, static_cast<int>(2e5 / time(1)));
  double least = time(calls);
  for (int i = 0; i < 40; ++i) least = std::min(least, time(calls));
  return least;
}

std::vector<double> inputs_of(const Function& function, std::size_t lanes, std::vector<const double*>& blocks) {
  std::size_t count = 0;
  for (const std::size_t size : function.blocks()) count += size;
  std::vector<double> at(count * lanes);
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = 0.3 + 0.001 * static_cast<double>(i % 97);
  const double* next = at.data();
  for (const std::size_t size : function.blocks()) {
    blocks.push_back(next);
    next += size * lanes;
  }
  return at;
}

double alone(const Function& function) {
  std::vector<const double*> blocks;
  const std::vector<double> at = inputs_of(function, 1, blocks);
  std::vector<double> outputs(function.output_count());
  Function::Scratch scratch = function.make_scratch();
  return cost([&] { function(blocks.data(), outputs.data(), scratch); });
}

double together(const Function& function, std::size_t lanes, Elementary elementary) {
  const Batch batch(function, elementary, lanes);
  std::vector<const double*> blocks;
  const std::vector<double> at = inputs_of(function, lanes, blocks);
  std::vector<double> outputs(function.output_count() * lanes);
  Batch::Scratch scratch = batch.make_scratch();
  return cost([&] { batch(blocks.data(), outputs.data(), scratch); }) / static_cast<double>(lanes);
}

double translation(const Function& function, std::size_t lanes) {
  const auto begin = std::chrono::steady_clock::now();
  const Batch batch(function, Elementary::fast, lanes);
  batch.make_scratch();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

bool measure(const std::string& name, const auto& compile) {
  const Function function = compile();
  const auto operations = static_cast<double>(function.operation_count());
  const double native = alone(function);
  std::string line = fmt::format("{:28} {:7} {:7.0f} {:8.2f} {:8.2f}", name, function.operation_count(), translation(function, 4) / operations,
                                 alone(compile::called_seldom(compile())) / operations, native / operations);
  bool faster = true;
  for (const std::size_t lanes : {4U, 8U}) {
    if (!compile::makes_native_code(lanes)) continue;
    const double exact = together(function, lanes, Elementary::exact), fast = together(function, lanes, Elementary::fast);
    line += fmt::format(" {:8.3f} {:8.3f}", exact / operations, fast / operations);
    faster = faster && fast < native;
  }
  std::puts(line.c_str());
  std::fflush(stdout);
  return faster;
}

}  // namespace

int main() {
  fmt::print("{:28} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "", "opera-", "trans-", "inter-", "", "4 lanes", "", "8 lanes", "");
  fmt::print("{:28} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "function", "tions", "lation", "preted", "native", "exact", "fast", "exact", "fast");
  bool good = true;
  using Model = std::pair<const char*, int>;
  for (const auto& [file, links] :
       {Model{"andrews", 0}, Model{"car_axis", 0}, Model{"slider_crank", 0}, Model{"heavy_top", 0}, Model{"chain", 10}, Model{"chain", 100}}) {
    const auto motion = [&] {
      model::Overrides overrides;
      if (links != 0) overrides.set.emplace_back("N", std::to_string(links));
      const auto model = std::make_shared<const model::Model>(
          model::read_model(fmt::format("{}/models/{}.toml", DAEDALUS_SOURCE_DIR, file), overrides));
      return mechanics::compile_functions(mechanics::derive(model))->motion;
    };
    good = measure(fmt::format("{}{}, motion", file, links == 0 ? "" : fmt::format(" N = {}", links)), motion) && good;
  }
  expr::Graph graph;
  const expr::Expr x = graph.symbol("x");
  using Named = std::pair<const char*, expr::Expr>;
  for (const auto& [name, e] :
       {Named{"sin", sin(x)}, Named{"sin and cos", sin(x) + cos(x)}, Named{"exp", exp(x)}, Named{"log", log(x)}, Named{"atan", atan(x)}}) {
    const auto one = [&, output = e] {
      compile::Switches switches;
      return compile::compile({{{x}}, {output}}, switches);
    };
    good = measure(name, one) && good;
  }
  return good ? 0 : 1;
}
