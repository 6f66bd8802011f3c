// docs/errors.md explains every code that the sources use, and no other; every code has a test with its exact text.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "house/repository.hpp"

namespace daedalus::test {
namespace {
namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::string text;
  for (const std::string& line : lines_of(file)) text += line + "\n";
  return text;
}

void collect(const std::string& text, const std::regex& pattern, std::set<std::string>& codes) {
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    codes.insert((*match)[1]);
}

/// Codes are the first words given to Error(...), fault(...), fail(...), faults.add(...) or a Fault in braces, and the
/// names of the statuses with which a run may end.
std::set<std::string> used_codes() {
  static const std::regex pattern(
      R"re((?:\bError|\bfault|\bfail|[.>]add)\(\s*"([a-z0-9]+(?:-[a-z0-9]+)*)",)re");
  static const std::regex in_braces(R"re((?:return |Fault)\{\s*"([a-z0-9]+(?:-[a-z0-9]+)*)",)re");
  static const std::regex status(R"re(case integrate::Status::\w+:\s*return "([a-z-]+)")re");
  std::set<std::string> codes;
  for (const auto& entry : fs::recursive_directory_iterator(repository() / "src")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
    const std::string text = text_of(entry.path());
    collect(text, pattern, codes);
    if (entry.path().stem().string().ends_with("_fault")) collect(text, in_braces, codes);
    collect(text, status, codes);
  }
  for (const char* good : {"done", "stopped", "interrupted"}) codes.erase(good);  // no failures
  return codes;
}

/// Codes whose whole text a test compares: those in the .txt files of cases, and in .cpp files those in a comparison for
/// equality or in a call of a helper that makes one.
std::set<std::string> tested_codes() {
  static const std::regex pattern(R"re(error\[([a-z0-9-]+)\]: )re");
  static const std::regex comparison(R"re(\b(EXPECT|ASSERT)_\w+|\b(refused|bad|expect_bad_file)\()re");
  std::set<std::string> codes;
  for (const auto& entry : fs::recursive_directory_iterator(repository() / "tests")) {
    if (entry.path().extension() == ".txt") collect(text_of(entry.path()), pattern, codes);
    if (entry.path().extension() != ".cpp") continue;
    bool equality = false;
    for (const std::string& line : lines_of(entry.path())) {
      if (std::smatch match; std::regex_search(line, match, comparison))
        equality = !match[1].matched || match.str().ends_with("_EQ");
      if (equality) collect(line, pattern, codes);
    }
  }
  return codes;
}

std::set<std::string> explained_codes() {
  static const std::regex pattern("`([a-z0-9]+(?:-[a-z0-9]+)*)`");
  std::set<std::string> codes;
  for (const std::string& line : lines_of(repository() / "docs" / "errors.md")) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find(" | "));
    for (std::sregex_iterator match(cell.begin(), cell.end(), pattern), end; match != end; ++match)
      codes.insert((*match)[1]);
  }
  return codes;
}

TEST(ErrorCodes, AreAllExplained) {
  const std::set<std::string> used = used_codes(), explained = explained_codes();
  EXPECT_GT(used.size(), 40u) << "the pattern finds too few codes";
  for (const std::string& code : used)
    EXPECT_TRUE(explained.contains(code) || code == "internal" || code == "out-of-memory")
        << "docs/errors.md does not explain " << code;
}

TEST(ErrorCodes, AreAllTestedWithTheirText) {
  const std::set<std::string> tested = tested_codes();
  for (const std::string& code : used_codes())
    EXPECT_TRUE(tested.contains(code) || code == "internal" || code == "out-of-memory")
        << "no test compares the whole text of error[" << code << "]";
}

TEST(ErrorCodes, ExplainedOnesExist) {
  std::string sources;
  for (const auto& entry : fs::recursive_directory_iterator(repository() / "src"))
    if (entry.is_regular_file()) sources += text_of(entry.path());
  for (const std::string& code : explained_codes())
    EXPECT_NE(sources.find("\"" + code + "\""), std::string::npos)
        << "docs/errors.md explains " << code << ", which is not used";
}

}  // namespace
}  // namespace daedalus::test
