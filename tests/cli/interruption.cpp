// Runs that are stopped at random moments, by Ctrl-C or without warning; disks that take nothing; the line of progress.

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <regex>
#include <thread>

#include "cli/motion.hpp"
#include "cli/run.hpp"
#include "folders.hpp"

namespace daedalus::tests {
namespace {

using Seconds = std::chrono::duration<double>;

/// A run of the command in the background.
class Background {
 public:
  Background(const Folder& folder, std::vector<std::string> words)
      : out_(folder.file("background.out")), err_(folder.file("background.err")) {
    words.insert(words.begin(), tests::build_folder() + "/daedalus");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
      dup2(open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
  }
  void send(int signal) const { kill(pid_, signal); }
  /// Exit status, or 128 + signal.
  int wait() const {
    int raw = 0;
    waitpid(pid_, &raw, 0);
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  }
  std::string err() const { return slurp(err_); }

 private:
  std::string out_, err_;
  pid_t pid_ = 0;
};

bool long_tests() { return std::getenv("DAEDALUS_LONG") != nullptr; }

/// Stops runs at random moments and checks what they leave behind, then lets them go on, stops them once more, and lets
/// them reach the end.
void interrupt_at_random(const std::vector<std::string>& more, unsigned seed) {
  const Folder folder;
  std::vector<std::string> words{"simulate", folder.write("model.toml", forgetful_pendulum), "--quiet"};
  words.insert(words.end(), more.begin(), more.end());
  const auto with = [&](const std::vector<std::string>& others) {
    std::vector<std::string> all = words;
    all.insert(all.end(), others.begin(), others.end());
    return all;
  };
  const std::string whole_file = folder.file("whole.csv"), file = folder.file("part.csv");
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(Background(folder, with({"--output", whole_file})).wait(), 0);
  const double length = Seconds(std::chrono::steady_clock::now() - begin).count();
  const Csv whole(slurp(whole_file));
  ASSERT_TRUE(whole.good());
  ASSERT_GT(whole.rows.size(), 1000U);

  std::mt19937 random(seed);
  std::uniform_real_distribution<double> moment(0.0, length);
  const int times = long_tests() ? 25 : 5;
  int stopped = 0;
  for (int i = 0; i < times; ++i) {
    std::filesystem::remove(file);
    std::vector<std::string> continuation{"--output", file};
    std::string before;
    for (const double part : {1.0, 0.5}) {
      const int signal = random() % 2 == 0 ? SIGINT : SIGKILL;
      const Background run(folder, with(continuation));
      std::this_thread::sleep_for(Seconds(part * moment(random)));
      run.send(signal);
      const int status = run.wait();
      SCOPED_TRACE(testing::Message() << "run " << i << ", signal " << signal << ", status " << status << " "
                                      << run.err());
      EXPECT_TRUE(status == 0 || status == 128 + signal);
      stopped += status != 0;
      const Csv left(slurp(file));
      EXPECT_TRUE(left.good());
      // Everything from before is still there, and a first run is the beginning of the whole one to the last bit.
      EXPECT_TRUE(left.complete.starts_with(before));
      if (before.empty()) {
        EXPECT_TRUE(slurp(whole_file).starts_with(left.complete));
      }
      if (status == 128 + SIGINT && !left.rows.empty() && !run.err().empty()) {
        EXPECT_NE(run.err().find("has " + std::to_string(left.rows.size()) + " row"), std::string::npos);
        EXPECT_NE(run.err().find("--restart " + file), std::string::npos);
      }
      if (left.rows.empty()) continue;  // stopped before the first row: begin again
      before = left.complete;
      continuation = {"--output", file, "--restart", file};
    }
    const Background run(folder, with(continuation));
    ASSERT_EQ(run.wait(), 0) << run.err();
    const Csv complete(slurp(file));
    ASSERT_TRUE(complete.good());
    EXPECT_TRUE(complete.complete.starts_with(before));
    // What a restart changes is of the size of the error of one step, rtol, and is forgotten later on; the factor is
    // for the multiplier, which grows with the square of the velocities.
    EXPECT_LE(difference(complete.rows.back(), whole.rows.back()), 20 * 1e-8);
  }
  EXPECT_GE(2 * stopped, times) << "too few runs were stopped before their end";
}

TEST(Interruption, LeavesReadableStepsAndTheRestartReachesTheSameEnd) { interrupt_at_random({}, 1); }

TEST(Interruption, LeavesReadableSamplesAndTheRestartReachesTheSameEnd) { interrupt_at_random({"--every", "0.05"}, 2); }

TEST(Interruption, WritesJsonAndHdf5Whole) {
  for (const std::string name : {"r.json", "r.h5"}) {
    const Folder folder;
    const std::string model = folder.write("model.toml", forgetful_pendulum), file = folder.file(name);
    const auto run = [&](const std::vector<std::string>& more) {
      std::vector<std::string> words{"simulate", model, "--quiet", "--output", file};
      words.insert(words.end(), more.begin(), more.end());
      return Background(folder, words);
    };
    ASSERT_EQ(run({"--t-end", "10"}).wait(), 0);
    const std::string old = slurp(file);
    const Background killed = run({"--t-end", "1e9"});
    std::this_thread::sleep_for(Seconds(0.3));
    killed.send(SIGKILL);
    killed.wait();
    EXPECT_EQ(slurp(file), old) << "killed: the old file must stay";
    const Background interrupted = run({"--t-end", "1e9"});
    std::this_thread::sleep_for(Seconds(0.6));
    interrupted.send(SIGTERM);
    EXPECT_EQ(interrupted.wait(), 130);
    EXPECT_NE(slurp(file), old);
    EXPECT_EQ(daedalus("simulate " + model + " --quiet --t-end 1e9 --max-steps 5 --restart " + file + " --output " +
                       folder.file("next.csv"))
                  .status,
              3);
    EXPECT_GE(Csv(slurp(folder.file("next.csv"))).rows.size(), 2U);
  }
}

TEST(Interruption, ASecondSignalEndsAtOnce) {
  // While the first file is written nothing else is done; a pipe that nobody reads makes that last for ever.
  const Folder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe.csv").c_str(), 0600), 0);
  const Background run(folder, {"simulate", tests::source_folder() + "/models/pendulum.toml", "--t-end", "1e9", "--output",
                                folder.file("pipe.csv")});
  const int reader = open(folder.file("pipe.csv").c_str(), O_RDONLY);
  std::this_thread::sleep_for(Seconds(0.5));
  run.send(SIGINT);
  std::this_thread::sleep_for(Seconds(0.3));
  run.send(SIGINT);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(run.wait(), 130);
  EXPECT_LT(Seconds(std::chrono::steady_clock::now() - begin).count(), 5.0);
  close(reader);
}

TEST(Interruption, OfAComparisonKeepsTheRunsThatAreDone) {
  const Folder folder;
  // Fixed steps of 1e-9 take hours; they come after the tolerances.
  const Background run(folder, {"compare", tests::source_folder() + "/models/pendulum.toml", "--t-end", "2", "--rtol",
                                "1e-3,1e-4", "--step", "1e-9", "--time-limit", "1e9", "--output", folder.file("c.json"),
                                "--report", folder.file("c.html"), "--plot", folder.file("c.svg")});
  std::this_thread::sleep_for(Seconds(5.0));
  run.send(SIGINT);
  EXPECT_EQ(run.wait(), 130);
  const auto json = nlohmann::json::parse(slurp(folder.file("c.json")));
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_EQ(json["success"], true);
  EXPECT_GE(json["runs"].size(), 20U);
  EXPECT_LT(json["runs"].size(), json["planned"]);
  for (const auto& one : json["runs"]) {
    EXPECT_EQ(one["success"], true) << one["message"];
    EXPECT_TRUE(one["step"].is_null());
    EXPECT_TRUE(one["error"]["position"].is_number());
  }
  EXPECT_EQ(run.err(), "interrupted: " + std::to_string(json["runs"].size()) + " runs of " +
                           std::to_string(json["planned"].get<int>()) + " done\n");
  const std::string page = slurp(folder.file("c.html"));
  EXPECT_NE(page.find("Interrupted: " + std::to_string(json["planned"].get<int>()) + " were planned."),
            std::string::npos);
  EXPECT_NE(slurp(folder.file("c.svg"))
                .find(std::to_string(json["runs"].size()) + " of " + std::to_string(json["planned"].get<int>()) +
                      " runs reached the end"),
            std::string::npos);
}

TEST(Disk, AFullOneIsReportedWithTheRowsThatAreSafe) {
  const Folder folder;
  std::filesystem::create_symlink("/dev/full", folder.file("full.csv"));
  std::filesystem::create_symlink("/dev/full", folder.file("full.json"));
  std::filesystem::create_symlink("/dev/full", folder.file("full.svg"));
  for (const char* output : {"--output full.csv", "--output full.json", "--plot full.svg"}) {
    std::string option = output;
    option.insert(option.find("full"), folder.file(""));
    const Call call = daedalus("simulate models/pendulum.toml " + option);
    EXPECT_EQ(call.status, 3) << output;
    EXPECT_NE(call.err.find("error[cannot-write]"), std::string::npos) << call.err;
    EXPECT_NE(call.err.find("No space left on device"), std::string::npos) << call.err;
    EXPECT_EQ(call.out.find("wrote"), std::string::npos) << call.out;
    const Call json = daedalus("simulate models/pendulum.toml --json " + option);
    EXPECT_EQ(json.status, 3);
    EXPECT_EQ(json.json()["success"], false);
    EXPECT_EQ(json.json()["error"]["code"], "cannot-write");
    EXPECT_EQ(json.json()["t"].back(), 50.0) << "the run itself is complete";
  }
  EXPECT_NE(daedalus("simulate models/pendulum.toml --output " + folder.file("full.csv"))
                .err.find("none of the rows is in it"),
            std::string::npos);
  const Call out = daedalus("simulate models/pendulum.toml --json >/dev/full; test $? = 3 && echo good");
  EXPECT_EQ(out.out, "good\n") << out.err;
}

TEST(Disk, ALimitLeavesWholeRowsFromWhichTheRunContinues) {
  const Folder folder;
  const std::string file = folder.file("a.csv");
  const std::string run =
      "simulate " + folder.write("model.toml", forgetful_pendulum) + " --t-end 40 --quiet --output ";
  ASSERT_EQ(daedalus(run + folder.file("whole.csv")).status, 0);
  const Folder logs;
  const std::string command = "cd '" + tests::source_folder() + "' && ulimit -f 16 && '" + tests::build_folder() + "/daedalus' " +
                              run + file + " 2>'" + logs.file("err") + "' || exit 9";
  const int raw = std::system(("(" + command + ")").c_str());
  EXPECT_EQ(WEXITSTATUS(raw), 9);
  const std::string left = slurp(file), err = slurp(logs.file("err"));
  const Csv rows(left);
  EXPECT_EQ(rows.complete, left) << "the file ends with a whole row";
  EXPECT_GT(rows.rows.size(), 20U);
  EXPECT_NE(err.find("File too large; it has " + std::to_string(rows.rows.size()) + " rows up to t = "),
            std::string::npos)
      << err;
  EXPECT_EQ(daedalus(run + file + " --restart " + file).status, 0);
  // As above: the error of one step, which is forgotten later on.
  EXPECT_LE(difference(Csv(slurp(file)).rows.back(), Csv(slurp(folder.file("whole.csv"))).rows.back()), 20 * 1e-8);
}

TEST(Disk, WhatCannotBeWrittenIsRefusedBeforeTheRun) {
  const Folder folder;
  for (const std::string name : {"none/a.csv", "none/a.json", "none/a.h5"}) {
    const Call call = daedalus("simulate models/pendulum.toml --t-end 1e9 --output " + folder.file(name));
    EXPECT_EQ(call.status, 2) << name;
    EXPECT_NE(call.err.find("No such file or directory\n  -> create the folder"), std::string::npos) << call.err;
  }
  EXPECT_EQ(daedalus("simulate models/pendulum.toml --t-end 1e9 --plot " + folder.file("none/a.svg")).status, 2);
}

TEST(Disk, AnOldFileSurvivesAWrongCall) {
  const Folder folder;
  const std::string file = folder.write("a.csv", "precious\n");
  for (const std::string wrong : {"--rtol 7", "--method none", "--set nothing=1", "--fix y=2"}) {
    EXPECT_EQ(daedalus("simulate models/pendulum.toml " + wrong + " --output " + file).status, 2) << wrong;
    EXPECT_EQ(slurp(file), "precious\n") << wrong;
  }
}

TEST(Progress, IsShownOnATerminalOnly) {
  if (std::system("command -v script >/dev/null") != 0) GTEST_SKIP() << "needs the program 'script'";
  const Folder folder;
  const std::string model = folder.write("model.toml", forgetful_pendulum);
  const auto on_terminal = [&](const std::string& more) {
    const std::string command = "script -qec \"timeout -s INT 2 '" + tests::build_folder() + "/daedalus' simulate " + model +
                                " --t-end 1e7 " + more + "\" " + folder.file("log") + " >/dev/null </dev/null";
    EXPECT_GE(std::system(command.c_str()), 0);
    return slurp(folder.file("log"));
  };
  const std::string counted = [&] {
    const std::string command = "script -qec \"timeout -s INT 3 '" + tests::build_folder() + "/daedalus' compare " + model +
                                " --t-end 2 --step 1e-9 --method dop853\" " + folder.file("log") + " >/dev/null </dev/null";
    EXPECT_GE(std::system(command.c_str()), 0);
    return slurp(folder.file("log"));
  }();
  EXPECT_TRUE(std::regex_search(counted, std::regex(" %  [0-9]+ of [0-9]+ runs"))) << counted;
  // On a busy machine 'script' may lose the end of what it records.
  std::string shown;
  for (int attempt = 0; attempt < 3 && shown.find("model  ") == std::string::npos; ++attempt) shown = on_terminal("");
  EXPECT_NE(shown.find(" %  t = "), std::string::npos) << shown;
  EXPECT_NE(shown.find(" left"), std::string::npos) << shown;
  const std::size_t last = shown.rfind(" left"), cleared = shown.find("\r\033[K", last);
  EXPECT_NE(cleared, std::string::npos) << "the line is taken away at the end";
  EXPECT_LT(cleared, shown.find("model  ")) << "before the report";
  EXPECT_EQ(on_terminal("--quiet").find(" left"), std::string::npos);
  EXPECT_EQ(on_terminal("--json").find(" left"), std::string::npos);
}

}  // namespace
}  // namespace daedalus::tests
