// What --help lists is what the page of the command line and the man page describe: every command, every option, no
// others.

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "cli/run.hpp"
#include "house/repository.hpp"

namespace daedalus::test {
namespace {

using tests::slurp;

std::set<std::string> all(const std::string& text, const char* pattern) {
  const std::regex words(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), words), end; it != end; ++it) found.insert((*it)[1].str());
  return found;
}

std::set<std::string> read_commands() {
  const std::string help = tests::daedalus("--help").out;
  return all(help.substr(help.find("Subcommands:")), R"(\n  ([a-z][a-z-]*) )");
}

const std::set<std::string>& commands() {
  static const std::set<std::string> names = read_commands();
  return names;
}

std::set<std::string> read_options() {
  std::set<std::string> names = all(tests::daedalus("--help").out, R"(\n  (?:-h,)?(--[a-z-]+))");
  for (const std::string& command : commands())
    names.merge(all(tests::daedalus(command + " --help").out, R"(\n  (?:-h,)?(--[a-z-]+))"));
  return names;
}

const std::set<std::string>& options() {
  static const std::set<std::string> names = read_options();
  return names;
}

void expect_described(const std::string& text, const char* where) {
  ASSERT_GE(commands().size(), 6U);
  ASSERT_GE(options().size(), 25U);
  for (const std::string& command : commands())
    EXPECT_TRUE(std::regex_search(text, std::regex("\\b" + command + "\\b"))) << command << " is not in " << where;
  const std::set<std::string> described = all(text, R"((--[a-z][a-z-]*))");
  for (const std::string& option : options())
    EXPECT_TRUE(described.contains(option)) << option << " is not in " << where;
  for (const std::string& option : described)
    EXPECT_TRUE(options().contains(option)) << where << " describes " << option << ", which the program does not have";
}

TEST(Options, AreInThePageOfTheCommandLine) {
  expect_described(slurp(repository() / "docs/command-line.md"), "docs/command-line.md");
}

TEST(Options, AreInTheManPage) {
  const std::string source = slurp(repository() / "packaging/daedalus.1.in");
  expect_described(std::regex_replace(source, std::regex(R"(\\-)"), "-"), "packaging/daedalus.1.in");
}

}  // namespace
}  // namespace daedalus::test
