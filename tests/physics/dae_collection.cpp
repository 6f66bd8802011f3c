// DAEs of many kinds, as people write them: circuits with ideal amplifiers, reactors, prescribed paths, equations in implicit
// forms. Each is a file of the folder `daes`. Its first line says what is known of it, "# index 2, 1 initial values free", and
// outputs whose names begin with "err" are differences from its exact solution.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/analysis.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "folders.hpp"

namespace daedalus::tests {
namespace {
namespace fs = std::filesystem;

struct Known {
  fs::path file;
  int index = -1;
  std::size_t free = 0;  ///< initial values

  std::string name() const { return file.stem().string(); }
};
std::ostream& operator<<(std::ostream& out, const Known& one) { return out << one.name(); }

std::vector<Known> collection() {
  std::vector<Known> all;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "tests" / "physics" / "daes")) {
    Known one{.file = entry.path()};
    std::string line;
    std::getline(std::ifstream(one.file), line);
    if (std::sscanf(line.c_str(), "# index %d, %zu initial values free", &one.index, &one.free) != 2) one.index = -1;
    all.push_back(one);
  }
  std::ranges::sort(all, {}, &Known::file);
  return all;
}

/// Errors of a thousand tolerances (1e-7) are far from a wrong solution and allow for growth of errors.
void expect_solved(const model::Model& model, const solve::Trajectory& run) {
  for (const model::Named& output : model.outputs) {
    if (!output.name.starts_with("err")) continue;
    for (std::size_t row = 0; row < run.t.size(); ++row)
      ASSERT_LE(std::abs(run.value(row, run.column(output.name))), 1e-4) << output.name << " at " << run.t[row];
  }
}

class DaeCollection : public testing::TestWithParam<Known> {};

/// With the default options.
TEST_P(DaeCollection, IsUnderstoodAndSolved) {
  const Known& one = GetParam();
  ASSERT_GE(one.index, 0) << "the first line of " << one.file << " does not say the index";
  const solve::Prepared model = solve::prepare(model::read_model(one.file.string()));
  const solve::Analysis analysis = solve::analyze(model, 0.0);
  EXPECT_EQ(analysis.index, one.index);
  EXPECT_EQ(analysis.free_initial_values, one.free);
  solve::RunOptions options;
  options.samples = 51;
  options.rtol = 1e-7;
  const solve::Trajectory run = solve::simulate(model, options);
  ASSERT_TRUE(run.success()) << run.message;
  expect_solved(*model.model, run);
  if (one.index > 1) {
    for (const double residual : run.constraints.relative) EXPECT_LE(residual, 1e-11);
  }
}

/// Every way that takes a model leads to the same solution; one that does not says why.
TEST_P(DaeCollection, IsSolvedInEveryWay) {
  const Known& one = GetParam();
  const solve::Prepared model = solve::prepare(model::read_model(one.file.string()));
  std::size_t ways = 0;
  for (const std::string formulation : {"direct", "projection", "index1", "baumgarte", "dummy-derivatives", "overdetermined"}) {
    SCOPED_TRACE(formulation);
    solve::RunOptions options;
    options.formulation = formulation;
    options.samples = 21;
    options.rtol = 1e-7;
    solve::Trajectory run;
    try {
      run = solve::simulate(model, options);
    } catch (const Error& error) {
      EXPECT_TRUE(error.faults()[0].code == "formulation-does-not-fit" || error.faults()[0].code == "method-does-not-fit") << error.what();
      continue;
    }
    ++ways;
    ASSERT_TRUE(run.success()) << run.message;
    expect_solved(*model.model, run);
  }
  EXPECT_GE(ways, one.index == 1 || model.array ? 1u : 5u);
}

INSTANTIATE_TEST_SUITE_P(All, DaeCollection, testing::ValuesIn(collection()), [](const auto& one) { return one.param.name(); });

}  // namespace
}  // namespace daedalus::tests
