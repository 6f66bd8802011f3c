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
    // Four times the bound of a single restart, and forgetting helps.
    EXPECT_LE(difference(csv("end.csv").rows.back(), csv("whole.csv").rows.back()), 4e-11) << kind;
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
    // The same steps again; without projection a difference in the direction off the constraint is not forgotten but
    // grows with the time left, 20.
    EXPECT_LE(difference(csv("rest.csv").rows.back(), csv("whole.csv").rows.back()), 20 * 1e-11) << how;
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

/// Algebraic unknowns have no column of a derivative, higher derivatives are part of the state.
TEST_F(Restart, ContinuesDaes) {
  folder_.write("model.toml", R"toml(kind = "dae"
[variables]
x = 1
z = 0.1
[equations]
swing = "der(x,2) + z*der(x) + x = 0"
law = "z^3 + z = der(x)^2 + 0.1"
)toml");
  const std::string fine = " --rtol 1e-9 --method radau --at 40 --output ";
  ASSERT_EQ(run("--output " + file("part.csv") + " --rtol 1e-9 --method radau").status, 0);
  ASSERT_EQ(run(fine + file("whole.csv")).status, 0);
  const Call call = run("--restart " + file("part.csv") + "@20" + fine + file("rest.csv"));
  ASSERT_EQ(call.status, 0) << call.err;
  // Other steps after the restart; errors add up over 40 s but damping forgets them: a hundred tolerances.
  EXPECT_LE(difference(csv("rest.csv").rows.back(), csv("whole.csv").rows.back()), 1e-7);
}

TEST_F(Restart, RefusesWhatDoesNotFitAndChangesNothing) {
  ASSERT_EQ(run("--output " + file("a.csv")).status, 0);
  ASSERT_EQ(run("--output " + file("a.json")).status, 0);
  ASSERT_EQ(run("--output " + file("a.h5")).status, 0);
  const std::string before = slurp(file("a.csv"));
  folder_.write("torn.csv", "t,x,y,der(x),der(y)\n0,0.6");
  folder_.write("words.csv", "t,x\n0,far\n");
  folder_.write("gap.csv", "t,x,y,der(x),der(y)\n0,0.6,-0.8,nan,0\n");
  folder_.write("rubbish.h5", "rubbish");
  const auto refused = [&](const std::string& args, const std::string& text) {
    const Call call = daedalus("simulate " + args);
    EXPECT_EQ(call.status, 2) << args;
    EXPECT_EQ(call.err, text + "\n") << args;
  };
  const std::string restart = model() + " --restart ", wrote = "`daedalus simulate --output` wrote";
  const std::string output = "\n  -> give --output another name; --restart reads this file all the same";
  refused(restart + "none.csv",
          "error[file-not-found]: the result 'none.csv' cannot be read: No such file or directory\n"
          "  -> --restart takes a .csv, .json or .h5 file that " +
              wrote);
  refused(restart + file("model.toml"), "error[unknown-file-type]: the ending of '" + model() +
                                            "' does not say how to read it\n"
                                            "  -> --restart takes a .csv, .json or .h5 file that " +
                                            wrote);
  refused(restart + file("words.csv"),
          "error[bad-result-file]: '" + file("words.csv") +
              "' is no result to continue from: line 2 has 'far' where a number should be\n"
              "  -> give a .csv, .json or .h5 file that " +
              wrote);
  refused(restart + file("rubbish.h5"), "error[bad-result-file]: '" + file("rubbish.h5") +
                                            "' is no result to continue from: it is not HDF5\n"
                                            "  -> give a .csv, .json or .h5 file that " +
                                            wrote);
  refused(restart + file("torn.csv"),
          "error[no-such-row]: '" + file("torn.csv") +
              "' has no complete row\n  -> leave --restart out to start from the beginning");
  refused(restart + file("a.csv") + "@-1",
          "error[no-such-row]: '" + file("a.csv") +
              "' has no row at or before t = -1: it begins at t = 0\n  -> ask for a time from t = 0 on");
  refused(restart + "a.csv@noon",
          "error[bad-option-value]: --restart a.csv@noon: 'noon' after the @ is not a time\n  -> write for example "
          "--restart result.csv@12.5");
  refused(restart + file("gap.csv"), "error[restart-not-finite]: '" + file("gap.csv") +
                                         "' cannot be continued at t = 0: 'der(x)' is not a finite number there\n"
                                         "  -> continue from an earlier row with --restart FILE@T");
  refused(restart + file("a.csv") + " --t-end 30",
          "error[restart-after-end]: the row at t = 40 of '" + file("a.csv") +
              "' is after the end of the run, t_end = 30\n"
              "  -> give a later --t-end, or an earlier row with --restart FILE@T");
  refused("models/rotating_wire.toml --restart " + file("a.json"),
          "error[restart-other-model]: '" + file("a.json") +
              "' is a result of the model 'forgetful', not of 'rotating_wire'\n"
              "  -> continue from a result of the same model; a .csv file, which names no model, joins two that belong "
              "together");
  refused("models/cart_motor.toml --restart " + file("a.h5"),
          "error[restart-column]: '" + file("a.h5") +
              "' has no columns 's', 'der(s)', 'i_m', which the model 'cart_motor' needs; it is a result of the model "
              "'forgetful'\n  -> continue from a result of the same model");
  refused("models/cart_motor.toml --restart " + file("a.csv"),
          "error[restart-column]: '" + file("a.csv") +
              "' has no columns 's', 'der(s)', 'i_m', which the model 'cart_motor' needs\n"
              "  -> continue from a result of the same model");
  refused(restart + file("a.csv") + " --residuals --output " + file("a.csv"),
          "error[restart-columns]: '" + file("a.csv") +
              "' cannot be continued: it has no column 'energy' as this run has" + output);
  refused(restart + file("a.json") + " --residuals --output " + file("a.json"),
          "error[restart-columns]: '" + file("a.json") +
              "' cannot be continued: it has no column 'energy' as this run has" + output);
  refused(model() + " --output " + file("none/a.csv"), "error[cannot-write]: '" + file("none/a.csv") +
                                                           "' cannot be written: No such file or directory\n"
                                                           "  -> create the folder '" +
                                                           file("none") + "' or choose another");
  EXPECT_EQ(slurp(file("a.csv")), before);
}

}  // namespace
}  // namespace daedalus::tests
