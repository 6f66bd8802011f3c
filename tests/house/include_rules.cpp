// One include root means that the compiler cannot keep the rooms apart. This test does, by the table "Who may include
// whom" of docs/architecture.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "house/repository.hpp"

namespace daedalus::test {
namespace {
namespace fs = std::filesystem;

/// What one room may include besides `base` and itself: whole rooms, and single headers of others.
struct Rule {
  std::set<std::string> rooms;
  std::set<std::string> headers;
};

const std::map<std::string, Rule>& rules() {
  static const std::set<std::string> below_solve = {"expr",      "linalg",    "compile",   "model",
                                                    "structure", "mechanics", "integrate", "formulate"};
  static const std::map<std::string, Rule> table = {
      {"base", {{}, {}}},
      {"expr", {{}, {}}},
      {"linalg", {{}, {}}},
      {"compile", {{"expr", "linalg"}, {}}},
      {"model", {{"expr"}, {}}},
      {"structure", {{"model", "expr", "compile", "linalg"}, {}}},
      {"mechanics", {{"model", "expr", "compile", "linalg"}, {}}},
      {"integrate", {{"linalg"}, {"daedalus/compile/function.hpp"}}},
      {"formulate",
       {{"structure", "mechanics", "model", "expr", "compile", "linalg"}, {"daedalus/integrate/system.hpp"}}},
      {"solve", {below_solve, {}}},
      {"report", {{"solve", "expr"}, {}}},
      {"cli", {{"solve", "report"}, {"daedalus/model/reader.hpp"}}},
  };
  return table;
}

struct Include {
  fs::path file;  ///< relative to src
  std::size_t line;
  std::string header;  ///< as written between the quotes
  bool quoted;
};

std::vector<Include> includes_of(const fs::path& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*(["<])([^">]+)[">])");
  std::vector<Include> found;
  const std::vector<std::string> lines = lines_of(repository() / "src" / file);
  std::smatch match;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (std::regex_search(lines[i], match, pattern)) found.push_back({file, i + 1, match[2], match[1] == "\""});
  return found;
}

std::vector<fs::path> sources() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(repository() / "src")) {
    const fs::path extension = entry.path().extension();
    if (extension == ".hpp" || extension == ".cpp") files.push_back(fs::relative(entry.path(), repository() / "src"));
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The room of a path below src: daedalus/expr/graph.hpp -> expr, cli/main.cpp -> cli; none for daedalus/daedalus.hpp,
/// which gathers every room for users and may include them all.
std::optional<std::string> room_of(const fs::path& path) {
  const std::vector<fs::path> parts(path.begin(), path.end());
  if (parts.size() >= 2 && parts[0] == "cli") return "cli";
  if (parts.size() >= 3 && parts[0] == "daedalus") return parts[1].string();
  return std::nullopt;
}

/// Headers that the headers of `solve` bring along: who may include `solve` sees them anyway.
std::set<std::string> seen_through_solve() {
  std::set<std::string> seen;
  std::vector<fs::path> open;
  for (const fs::path& file : sources())
    if (room_of(file) == "solve" && file.extension() == ".hpp") open.push_back(file);
  while (!open.empty()) {
    const fs::path file = open.back();
    open.pop_back();
    for (const Include& include : includes_of(file))
      if (include.header.starts_with("daedalus/") && seen.insert(include.header).second)
        open.emplace_back(include.header);
  }
  return seen;
}

bool allowed(const std::string& from, const std::string& header, const std::set<std::string>& through_solve) {
  const std::optional<std::string> to = room_of(header);
  if (!to) return false;
  const Rule& rule = rules().at(from);
  if (*to == from || *to == "base" || rule.rooms.contains(*to) || rule.headers.contains(header)) return true;
  return rule.rooms.contains("solve") && through_solve.contains(header);
}

TEST(IncludeRules, EveryRoomHasARule) {
  for (const fs::path& file : sources()) {
    const std::optional<std::string> room = room_of(file);
    if (!room) {
      EXPECT_EQ(file, "daedalus/daedalus.hpp") << "belongs to no room: put it into a folder of src/daedalus or src/cli";
      continue;
    }
    EXPECT_TRUE(rules().contains(*room)) << file << ": room '" << *room << "' is not in the table of this test";
  }
}

TEST(IncludeRules, RoomsIncludeOnlyWhatTheTableAllows) {
  const std::set<std::string> through_solve = seen_through_solve();
  std::size_t checked = 0;
  for (const fs::path& file : sources()) {
    const std::optional<std::string> room = room_of(file);
    if (!room || !rules().contains(*room)) continue;
    for (const Include& include : includes_of(file)) {
      if (!include.quoted && !include.header.starts_with("daedalus/")) continue;
      ++checked;
      EXPECT_TRUE(allowed(*room, include.header, through_solve))
          << "src/" << file.string() << ":" << include.line << " includes " << include.header << ", which '" << *room
          << "' may not (docs/architecture.md, \"Who may include whom\"; paths start at src)";
    }
  }
  EXPECT_GT(checked, 50u) << "the pattern for #include lines finds too few of them";
}

TEST(IncludeRules, TheTableRefusesWhatItShould) {
  const std::set<std::string> none;
  EXPECT_FALSE(allowed("integrate", "daedalus/expr/graph.hpp", none));
  EXPECT_FALSE(allowed("integrate", "daedalus/compile/compile.hpp", none));
  EXPECT_TRUE(allowed("integrate", "daedalus/compile/function.hpp", none));
  EXPECT_FALSE(allowed("formulate", "daedalus/integrate/stepper.hpp", none));
  EXPECT_FALSE(allowed("expr", "daedalus/model/model.hpp", none));
  EXPECT_FALSE(allowed("cli", "daedalus/expr/graph.hpp", none));
  EXPECT_FALSE(allowed("solve", "daedalus/daedalus.hpp", none));
  EXPECT_FALSE(allowed("expr", "graph.hpp", none));
}

TEST(IncludeRules, HeavyLibrariesStayOutOfHeaders) {
  const std::vector<std::string> heavy = {"Eigen/", "toml++/",      "nlohmann/", "CLI/",
                                          "klu.h",  "suitesparse/", "gmp",       "asmjit/"};
  for (const fs::path& file : sources()) {
    if (file.extension() != ".hpp") continue;
    for (const Include& include : includes_of(file))
      for (const std::string& library : heavy)
        EXPECT_FALSE(include.header.starts_with(library))
            << "src/" << file.string() << ":" << include.line << " includes " << include.header
            << ": every file that includes this header would pay for it";
  }
}

}  // namespace
}  // namespace daedalus::test
