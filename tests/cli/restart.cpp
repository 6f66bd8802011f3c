// Runs that continue from results.

#include "cli/motion.hpp"
#include "cli/run.hpp"

namespace daedalus::tests {
namespace {

class Restart : public testing::Test {
 protected:
  std::string model() const { return folder_.file("model.toml"); }
  std::string file(const std::string& name) const { return folder_.file(name); }
  Call run(const std::string& more) const { return daedalus("simulate " + model() + " --t-end 40 " + more); }
  Csv csv(const std::string& name) const { return Csv(slurp(file(name))); }
  void SetUp() override { folder_.write("model.toml", forgetful_pendulum); }
  Folder folder_;
};

TEST_F(Restart, ContinuesFromEveryKindOfFile) {
  ASSERT_EQ(run("--output " + file("whole.csv")).status, 0);
  const Csv whole = csv("whole.csv");
  for (const std::string kind : {"csv", "json", "h5"}) {
    ASSERT_EQ(run("--output " + file("part." + kind)).status, 0);
    const Call call = run("--restart " + file("part." + kind) + "@20 --output " + file("rest.csv"));
    ASSERT_EQ(call.status, 0) << call.err;
    const Csv rest = csv("rest.csv");
    ASSERT_TRUE(rest.good());
    // The first row is the nearest one before the wanted time, and the output says so.
    std::size_t first = 0;
    while (whole.rows[first + 1][0] <= 20.0) ++first;
    EXPECT_LE(difference(rest.rows.front(), whole.rows[first]), 1e-14) << kind;
    EXPECT_NE(call.out.find("continued from row " + std::to_string(first + 1) + " of"), std::string::npos) << call.out;
    // The same steps: round-off of times near 20 and steps near 0.1 gives 1e-14 relative in the sizes.
    EXPECT_EQ(rest.rows.size(), whole.rows.size() - first) << kind;
    EXPECT_LE(difference(rest.rows.back(), whole.rows.back()), 1e-11) << kind;
  }
}

TEST_F(Restart, AppendsToItsOwnFile) {
  ASSERT_EQ(run("--output " + file("whole.csv")).status, 0);
  for (const std::string kind : {"csv", "json", "h5"}) {
    const std::string name = file("a." + kind);
    ASSERT_EQ(run("--output " + name).status, 0);
    for (const char* t : {"@30", "@10.5", "@22", ""}) {
      const Call call = run("--restart " + name + t + " --output " + name);
      ASSERT_EQ(call.status, 0) << call.err;
    }
    // A chain of restarts leaves the rows that one run would have left.
    ASSERT_EQ(run("--at 40 --restart " + name + "@0 --output " + file("from_start.csv")).status, 0);
    const Call last = run("--restart " + name + "@39.99 --output " + file("end.csv"));
    ASSERT_EQ(last.status, 0) << last.err;
    EXPECT_LE(difference(csv("end.csv").rows.back(), csv("whole.csv").rows.back()), 1e-10) << kind;
    if (kind == "csv") {
      EXPECT_TRUE(csv("a.csv").good());
      EXPECT_EQ(csv("a.csv").rows.size(), csv("whole.csv").rows.size());
    }
    if (kind == "json") {
      const auto json = nlohmann::json::parse(slurp(name));
      EXPECT_EQ(json["t"].size(), csv("whole.csv").rows.size());
      EXPECT_EQ(json["values"]["x"].size(), json["t"].size());
    }
  }
}

TEST_F(Restart, GivesTheOutputTimesOfTheWholeRun) {
  for (const std::string times : {"--every 0.3", "--samples 77", "--at 1,2,30,31,40"}) {
    ASSERT_EQ(run(times + " --output " + file("whole.csv")).status, 0);
    ASSERT_EQ(run(times + " --output " + file("a.csv")).status, 0);
    ASSERT_EQ(run(times + " --restart " + file("a.csv") + "@17.2 --output " + file("a.csv")).status, 0);
    const Csv whole = csv("whole.csv"), continued = csv("a.csv");
    ASSERT_EQ(continued.rows.size(), whole.rows.size()) << times;
    for (std::size_t i = 0; i < whole.rows.size(); ++i) EXPECT_EQ(continued.rows[i][0], whole.rows[i][0]) << times;
    // A row between two steps has the error of dense output, of the size of the tolerance; it is forgotten until the
    // end.
    EXPECT_LE(difference(continued.rows.back(), whole.rows.back()), 20 * 1e-8) << times;
  }
}

TEST_F(Restart, ContinuesFormulationsThatDriftWhereTheyWere) {
  for (const std::string how : {"--formulation index1", "--formulation baumgarte",
                                "--initialize off --formulation index1", "--method rk4 --step 0.01"}) {
    ASSERT_EQ(run(how + " --output " + file("whole.csv")).status, 0);
    ASSERT_EQ(run(how + " --restart " + file("whole.csv") + "@20 --output " + file("rest.csv")).status, 0);
    EXPECT_LE(difference(csv("rest.csv").rows.back(), csv("whole.csv").rows.back()), 1e-10) << how;
  }
}

TEST_F(Restart, GoesBeyondTheOldEnd) {
  ASSERT_EQ(run("--output " + file("a.csv")).status, 0);
  ASSERT_EQ(
      daedalus("simulate " + model() + " --t-end 60 --restart " + file("a.csv") + " --output " + file("a.csv")).status,
      0);
  ASSERT_EQ(daedalus("simulate " + model() + " --t-end 60 --output " + file("b.csv")).status, 0);
  EXPECT_TRUE(csv("a.csv").good());
  EXPECT_LE(difference(csv("a.csv").rows.back(), csv("b.csv").rows.back()), 20 * 1e-8);
  EXPECT_EQ(run("--restart " + file("a.csv") + "@50").status, 2);
}

TEST_F(Restart, RefusesWhatDoesNotFitAndChangesNothing) {
  ASSERT_EQ(run("--output " + file("a.csv")).status, 0);
  ASSERT_EQ(run("--output " + file("a.json")).status, 0);
  const std::string before = slurp(file("a.csv"));
  const auto refused = [&](const std::string& args, const std::string& text) {
    const Call call = daedalus("simulate " + args);
    EXPECT_EQ(call.status, 2) << args;
    EXPECT_NE(call.err.find(text), std::string::npos) << args << "\n" << call.err;
  };
  refused(model() + " --restart none.csv",
          "error[file-not-found]: the result 'none.csv' cannot be read: No such file or directory");
  refused(model() + " --restart " + file("a.csv") + "@-1", "has no row at or before t = -1: it begins at t = 0");
  refused(model() + " --restart " + file("a.csv") + "@noon", "'noon' after the @ is not a time");
  refused("models/double_pendulum.toml --restart " + file("a.csv"), "error[restart-column]");
  refused("models/double_pendulum.toml --restart " + file("a.json"), "it is a result of the model 'forgetful'");
  refused(model() + " --residuals --restart " + file("a.csv") + " --output " + file("a.csv"),
          "it has no column 'energy' as this run has");
  refused(model() + " --residuals --restart " + file("a.json") + " --output " + file("a.json"),
          "error[restart-columns]");
  EXPECT_EQ(slurp(file("a.csv")), before);
}

}  // namespace
}  // namespace daedalus::tests
