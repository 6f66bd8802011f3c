// `daedalus compare` from outside: its table, JSON, CSV, LaTeX, references and exit statuses.

#include <sys/resource.h>

#include <cmath>
#include <map>
#include <regex>
#include <set>

#include "cli/run.hpp"

namespace daedalus::tests {
namespace {

const std::string quick = "models/pendulum.toml --t-end 2 ";

/// Cells of the lines of a CSV text without quotes.
std::vector<std::vector<std::string>> cells_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream rest(line + ",");
    for (std::string cell; std::getline(rest, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

TEST(Compare, PrintsOneTable) {
  const Call call = daedalus("compare " + quick + "--formulation projection --formulation index1 --rtol 1e-4,1e-6");
  ASSERT_EQ(call.status, 0) << call.err;
  EXPECT_EQ(call.err, "");
  EXPECT_NE(
      call.out.find("reference projection + dop853 (rtol 1e-13) and index2 + radau (rtol 1e-13)\n          agree to "),
      std::string::npos)
      << call.out;
  EXPECT_NE(call.out.find("runs      12 of 12 in "), std::string::npos) << call.out;
  for (const char* formulation : {"index1", "projection"})
    for (const char* method : {"dop853", "radau", "bdf"})
      for (const char* rtol : {"1e-4", "1e-6"})
        EXPECT_TRUE(std::regex_search(call.out, std::regex(std::string("\n") + formulation + " +" + method + " +" +
                                                           rtol + "( +[0-9.e+-]+)+ s\n")))
            << formulation << method << rtol << "\n"
            << call.out;
  EXPECT_NE(call.out.find("\nnext      daedalus "), std::string::npos);
  EXPECT_EQ(daedalus("compare " + quick + "--method dop853 --rtol 1e-4 --quiet").out, "");
}

TEST(Compare, JsonIsWhatTheContractSays) {
  const Call call = daedalus("compare " + quick + "--method dop853 --method radau --rtol 1e-6 --json");
  ASSERT_EQ(call.status, 0) << call.err;
  const auto json = call.json();
  EXPECT_TRUE(json["version"].is_string());
  EXPECT_EQ(json["reference"], "projection + dop853 (rtol 1e-13) and index2 + radau (rtol 1e-13)");
  EXPECT_EQ(json["success"], true);
  ASSERT_GE(json["runs"].size(), 8U);
  for (const auto& run : json["runs"]) {
    EXPECT_EQ(run["model"], "pendulum");
    EXPECT_TRUE(run["formulation"].is_string());
    EXPECT_TRUE(run["method"].is_string());
    EXPECT_EQ(run["rtol"], 1e-6);
    EXPECT_TRUE(run["step"].is_null());
    EXPECT_EQ(run["options"]["t_end"], "2");
    for (const char* which : {"error", "error_end"})
      for (const char* quantity : {"position", "velocity", "multiplier"})
        EXPECT_LT(run[which][quantity].get<double>(), 1e-2) << run["formulation"] << run["method"];
    EXPECT_LE(run["error_end"]["position"].get<double>(), run["error"]["position"].get<double>());
    for (const char* level : {"position", "velocity"}) EXPECT_TRUE(run["constraints"][level].is_number());
    EXPECT_TRUE(run["constraints"]["levels"].is_array());
    EXPECT_TRUE(run["invariants"]["energy"].is_number());
    for (const char* count : {"steps", "rejected", "rhs", "jacobians", "factorizations"})
      EXPECT_TRUE(run["stats"][count].is_number_unsigned());
    EXPECT_GT(run["stats"]["seconds"].get<double>(), 0.0);
    EXPECT_EQ(run["success"], true);
    EXPECT_EQ(run["message"], "");
  }
}

TEST(Compare, TheErrorIsThatAgainstTheSameRunsAlone) {
  const Folder folder;
  ASSERT_EQ(daedalus("simulate " + quick + "--rtol 1e-13 --method dop853 --samples 21 --quiet --output " +
                     folder.file("r.csv"))
                .status,
            0);
  ASSERT_EQ(daedalus("simulate " + quick + "--rtol 1e-13 --method dop853 --samples 21 --quiet --output " +
                     folder.file("r.json"))
                .status,
            0);
  ASSERT_EQ(daedalus("simulate " + quick + "--rtol 1e-13 --method dop853 --samples 21 --quiet --output " +
                     folder.file("r.h5"))
                .status,
            0);
  ASSERT_EQ(
      daedalus("simulate " + quick + "--rtol 1e-5 --formulation index1 --method radau --samples 21 --quiet --output " +
               folder.file("x.csv"))
          .status,
      0);
  const auto r = cells_of(slurp(folder.file("r.csv"))), x = cells_of(slurp(folder.file("x.csv")));
  ASSERT_EQ(r.size(), 22U);
  ASSERT_EQ(r[0], x[0]);
  double position = 0.0;
  for (std::size_t i = 1; i < r.size(); ++i)
    for (std::size_t j = 0; j < r[0].size(); ++j)
      if (r[0][j] == "x" || r[0][j] == "y")
        position = std::max(position,
                            std::abs(std::stod(x[i][j]) - std::stod(r[i][j])) / (1.0 + std::abs(std::stod(r[i][j]))));
  for (const char* name : {"r.csv", "r.json", "r.h5"}) {
    const Call call = daedalus(
        "compare " + quick + "--rtol 1e-5 --formulation index1 --method radau --json --reference " + folder.file(name));
    ASSERT_EQ(call.status, 0) << call.err;
    EXPECT_EQ(call.json()["reference"], folder.file(name));
    EXPECT_EQ(call.json()["runs"][0]["error"]["position"], position);
  }
  // Published end values, typed without an end of line.
  const std::string last = r.back()[0] + "," + r.back()[1];
  folder.write("end.csv", "t," + r[0][1] + "\n" + last);
  const Call end = daedalus("compare " + quick + "--rtol 1e-5 --formulation index1 --method radau --json --reference " +
                            folder.file("end.csv"));
  ASSERT_EQ(end.status, 0) << end.err;
  const auto run = end.json()["runs"][0];
  EXPECT_EQ(run["error"]["position"], run["error_end"]["position"]);
  EXPECT_TRUE(run["error"]["velocity"].is_null());
}

TEST(Compare, WritesCsvJsonAndLatex) {
  const Folder folder;
  const std::string call =
      "compare " + quick +
      "models/pendulum.toml --formulation baumgarte:omega=5,xi=1 --formulation projection --rtol 1e-4,1e-8 --output ";
  for (const char* name : {"t.csv", "t.json", "t.tex"}) {
    const Call one = daedalus(call + folder.file(name));
    ASSERT_EQ(one.status, 0) << one.err;
    EXPECT_TRUE(one.out.ends_with("wrote     " + folder.file(name) + " (24 runs)\n")) << one.out;
  }
  const std::string csv = slurp(folder.file("t.csv"));
  EXPECT_TRUE(
      csv.starts_with("model,formulation,method,rtol,step,success,error.position,error.velocity,error.multiplier,"
                      "error_end.position,"))
      << csv.substr(0, 200);
  EXPECT_NE(csv.find("\npendulum,\"baumgarte:omega=5,xi=1\",dop853,0.0001"), std::string::npos) << csv;
  EXPECT_EQ(std::ranges::count(csv, '\n'), 25);
  EXPECT_EQ(nlohmann::json::parse(slurp(folder.file("t.json")))["runs"].size(), 24U);

  if (std::system("command -v pdflatex >/dev/null 2>&1") != 0) GTEST_SKIP() << "no pdflatex";
  ASSERT_EQ(daedalus("compare models/andrews.toml --rtol 1e-3,1e-4,1e-5,1e-6 --time-limit 5 --quiet --output " +
                     folder.file("long.tex"))
                .status,
            0);
  EXPECT_NE(slurp(folder.file("long.tex")).find("longtable"), std::string::npos);
  folder.write("paper.tex",
               "\\documentclass{article}\n\\begin{document}\nA table:\n\n\\input{t.tex}\n\\end{document}\n");
  for (const char* name : {"t.tex", "long.tex", "paper.tex"}) {
    const int status =
        std::system(("cd '" + folder.file("") + "' && pdflatex -interaction=nonstopmode -halt-on-error " + name +
                     " >out 2>&1 </dev/null")
                        .c_str());
    EXPECT_EQ(status, 0) << name << slurp(folder.file("out"));
    if (std::string(name) == "paper.tex") continue;
    EXPECT_EQ(slurp(folder.file("out")).find("Overfull"), std::string::npos) << name << slurp(folder.file("out"));
  }
}

TEST(Compare, WritesAPageAndAFigure) {
  const Folder folder;
  const Call call = daedalus("compare " + quick + "--formulation projection --rtol 1e-4,1e-6 --output " +
                             folder.file("t.csv") + " --plot " + folder.file("t.pdf") + " --report " +
                             folder.file("t.html"));
  ASSERT_EQ(call.status, 0) << call.err;
  EXPECT_TRUE(std::regex_search(call.out, std::regex("\nwrote     .*t.csv \\(6 runs\\)\ndrew      .*t.pdf\npage      "
                                                     ".*t.html \\([0-9.]+ MB; open it in a browser\\)\n$")))
      << call.out;
  EXPECT_TRUE(slurp(folder.file("t.pdf")).starts_with("%PDF-1.4"));
  EXPECT_TRUE(slurp(folder.file("t.html")).starts_with("<!DOCTYPE html>"));
  // What cannot be written does not take the rest with it.
  std::filesystem::create_symlink("/dev/full", folder.file("full.svg"));
  const Call full = daedalus("compare " + quick + "--formulation projection --method dop853 --rtol 1e-4 --plot " +
                             folder.file("full.svg") + " --report " + folder.file("u.html"));
  EXPECT_EQ(full.status, 3);
  EXPECT_NE(full.err.find("error[cannot-write]"), std::string::npos) << full.err;
  EXPECT_EQ(full.out.find("\ndrew"), std::string::npos);
  EXPECT_NE(full.out.find("\npage "), std::string::npos);
  EXPECT_TRUE(slurp(folder.file("u.html")).ends_with("</html>\n"));
}

TEST(Compare, LeavesOutAndNamesWhatDoesNotFit) {
  const Call call =
      daedalus("compare " + quick + "--formulation index3 --formulation projection --method dop853 --rtol 1e-4");
  EXPECT_EQ(call.status, 0) << call.err;
  EXPECT_NE(call.out.find("\nleft out  index3 + dop853: the formulation 'index3' makes systems of the form "),
            std::string::npos)
      << call.out;
  const Call rheonomic = daedalus("compare models/transistor_amplifier.toml --t-end 0.01 --rtol 1e-4 --json");
  ASSERT_EQ(rheonomic.status, 0) << rheonomic.err;
  ASSERT_EQ(rheonomic.json()["left_out"].size(), 1U);
  EXPECT_EQ(rheonomic.json()["left_out"][0]["method"], "dop853");
}

TEST(Compare, SaysWhenAllRunsFail) {
  const Call call = daedalus("compare models/robertson.toml --method dop853 --rtol 1e-4 --time-limit 0.05");
  EXPECT_EQ(call.status, 3);
  EXPECT_NE(call.out.find("direct       dop853  1e-4  given up at t = "), std::string::npos) << call.out;
  EXPECT_TRUE(std::regex_search(
      call.err,
      std::regex(
          "^error\\[all-runs-failed\\]: none of the 1 run reached the end; direct \\+ dop853, rtol 1e-4: given up "
          "at t = [0-9.]+ after 0.05 s of processor time, the limit for one run\n"
          "  -> look at one of them with `daedalus simulate`\n$")))
      << call.err;
  const Call json = daedalus("compare models/robertson.toml --method dop853 --rtol 1e-4 --time-limit 0.05 --json");
  EXPECT_EQ(json.status, 3);
  EXPECT_EQ(json.json()["success"], false);
  EXPECT_EQ(json.json()["error"]["code"], "all-runs-failed");
  EXPECT_EQ(json.json()["runs"][0]["success"], false);
}

TEST(Compare, TakesAMechanismThroughAllFormulationsInTime) {
  // A minute on one idle core; the processor's own time, so that others on the machine do not count.
  const auto processor_seconds = [] {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
  };
  const double before = processor_seconds();
  const Call call = daedalus("compare models/andrews.toml --method radau --method bdf --method dop853 --json");
  ASSERT_EQ(call.status, 0) << call.err;
  EXPECT_LT(processor_seconds() - before, 60.0);
  const auto formulations = daedalus("formulations --json").json();
  std::set<std::string> seen;
  const auto json = call.json();
  for (const auto& run : json["runs"]) seen.insert(run["formulation"]);
  for (const auto& entry : formulations) {
    const auto& kinds = entry["kinds"];
    if (std::find(kinds.begin(), kinds.end(), "mechanical") == kinds.end()) continue;
    EXPECT_TRUE(seen.contains(entry["name"])) << entry["name"];
  }
}

}  // namespace
}  // namespace daedalus::tests
