// Reading results back: the last complete row, or one at a time, from all three kinds of files.

#include "daedalus/report/result_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "daedalus/report/csv.hpp"
#include "daedalus/report/hdf5.hpp"
#include "daedalus/report/json.hpp"
#include "unit/report/tools.hpp"

namespace daedalus::tests {
namespace {

solve::Trajectory example() {
  solve::Trajectory run;
  run.model = "two names";
  run.formulation = "projection";
  run.method = "dop853";
  run.options = {{"rtol", "1e-06"}};
  run.columns = {"z", "a", "der(z)", "p[1,2]", "force/length", "50%"};
  run.t = {0.0, 0.1, 1.0 / 3.0};
  for (std::size_t i = 0; i < run.t.size() * run.columns.size(); ++i)
    run.values.push_back(std::sqrt(static_cast<double>(i)) - 2.0);
  run.values[7] = 4.9406564584124654e-324;
  run.values[8] = -1.7976931348623157e308;
  run.stats.steps = 12;
  run.message = "a message with \xC3\xA4";
  return run;
}

TEST(ResultFile, ReadsEveryKindBackToTheLastBit) {
  const Folder folder;
  const solve::Trajectory run = example();
  report::write_file(folder.file("r.csv"), report::to_csv(run));
  report::write_file(folder.file("r.json"), report::to_json(run));
  report::write_file(folder.file("r.h5"), report::to_hdf5(run));
  for (const char* name : {"r.csv", "r.json", "r.h5"})
    for (std::size_t row = 0; row < run.t.size(); ++row) {
      const auto read = report::read_result(folder.file(name), run.t[row] + 0.01);
      EXPECT_EQ(read.columns, run.columns) << name;
      EXPECT_EQ(read.t, run.t[row]) << name;
      EXPECT_EQ(read.rows, row + 1) << name;
      EXPECT_EQ(read.rows_after, run.t.size() - row - 1) << name;
      for (std::size_t column = 0; column < run.columns.size(); ++column)
        EXPECT_EQ(read.values[column], run.value(row, column)) << name << " " << row << " " << run.columns[column];
      if (std::string(name) != "r.csv") {
        EXPECT_EQ(read.model, "two names");
        EXPECT_EQ(read.all_t, std::vector<double>(run.t.begin(), run.t.begin() + static_cast<std::ptrdiff_t>(row + 1)));
        EXPECT_EQ(read.all_values.size(), (row + 1) * run.columns.size());
      }
    }
}

TEST(ResultFile, KeepsNumbersThatAreNotFinite) {
  const Folder folder;
  solve::Trajectory run = example();
  run.values.back() = std::numeric_limits<double>::quiet_NaN();
  report::write_file(folder.file("r.csv"), report::to_csv(run));
  report::write_file(folder.file("r.json"), report::to_json(run));
  report::write_file(folder.file("r.h5"), report::to_hdf5(run));
  for (const char* name : {"r.csv", "r.json", "r.h5"})
    EXPECT_TRUE(std::isnan(report::read_result(folder.file(name), std::nullopt).values.back())) << name;
}

TEST(ResultFile, LeavesOutAnIncompleteLastRow) {
  const Folder folder;
  const std::string whole = "t,x\n0,1\n1,2.5\n";
  for (const char* torn : {"", "2", "2,", "2,3.25", "2,3.25\r"}) {
    const auto read = report::read_result(folder.write("r.csv", whole + torn), std::nullopt);
    EXPECT_EQ(read.t, 1.0) << torn;
    EXPECT_EQ(read.values, std::vector{2.5}) << torn;
    EXPECT_EQ(read.bytes, whole.size()) << torn;
    EXPECT_EQ(read.torn, *torn != '\0') << torn;
  }
}

TEST(ResultFile, TakesLinesOfOtherSystems) {
  const Folder folder;
  const auto read = report::read_result(folder.write("r.csv", "t,\"a,\"\"b\"\r\n0,1\r\n"), std::nullopt);
  EXPECT_EQ(read.columns, std::vector<std::string>{"a,\"b"});
  EXPECT_EQ(read.values, std::vector{1.0});
}

TEST(ResultFile, RefusesWhatIsNoResult) {
  const Folder folder;
  const auto code = [&](const std::string& name, const std::string& text, std::optional<double> until = std::nullopt) {
    const std::string path = folder.write(name, text);
    return code_of([&] { report::read_result(path, until); });
  };
  EXPECT_EQ(code_of([&] { report::read_result(folder.file("none.csv"), std::nullopt); }), "file-not-found");
  EXPECT_EQ(code("a.txt", "t\n0\n"), "unknown-file-type");
  EXPECT_EQ(code("a.csv", ""), "no-such-row");
  EXPECT_EQ(code("a.csv", "t,x"), "no-such-row");
  EXPECT_EQ(code("a.csv", "t,x\n0,1"), "no-such-row");
  EXPECT_EQ(code("a.csv", "t,x\n1,1\n", 0.5), "no-such-row");
  EXPECT_EQ(code("a.csv", "x,y\n0,1\n"), "bad-result-file");
  EXPECT_EQ(code("a.csv", "t,x\nzero,1\n"), "bad-result-file");
  EXPECT_EQ(code("a.csv", "t,x\n0,one\n"), "bad-result-file");
  EXPECT_EQ(code("a.csv", "t,x\n0,1,2\n"), "bad-result-file");
  EXPECT_EQ(code("a.csv", std::string("\0\1\2\n", 4)), "bad-result-file");
  EXPECT_EQ(code("a.json", "{"), "bad-result-file");
  EXPECT_EQ(code("a.json", "[]"), "bad-result-file");
  EXPECT_EQ(code("a.json", R"({"t": [0, 1], "values": {"x": [1]}})"), "bad-result-file");
  EXPECT_EQ(code("a.json", R"({"t": ["0"], "values": {"x": [1]}})"), "bad-result-file");
  EXPECT_EQ(code("a.json", R"({"t": [], "values": {"x": []}})"), "no-such-row");
  EXPECT_EQ(code("a.h5", "not HDF5"), "bad-result-file");
  EXPECT_EQ(code("a.h5", report::to_hdf5(solve::Trajectory{})), "no-such-row");
}

TEST(ResultFile, SplitsTheTimeOff) {
  const Folder folder;
  EXPECT_EQ(report::split_restart("r.csv"), (std::pair<std::string, std::optional<double>>{"r.csv", std::nullopt}));
  EXPECT_EQ(report::split_restart("r.csv@2.5e1"), (std::pair<std::string, std::optional<double>>{"r.csv", 25.0}));
  EXPECT_EQ(report::split_restart("a@b/r.csv@0"), (std::pair<std::string, std::optional<double>>{"a@b/r.csv", 0.0}));
  EXPECT_EQ(code_of([] { report::split_restart("r.csv@noon"); }), "bad-option-value");
  const std::string odd = folder.write("r@1", "");
  EXPECT_EQ(report::split_restart(odd).first, odd);
}

}  // namespace
}  // namespace daedalus::tests
