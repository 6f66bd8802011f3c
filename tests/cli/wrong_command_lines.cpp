// Every wrong command line of wrong_command_lines.txt is answered with exactly the text and the status that stand there.

#include <regex>
#include <set>
#include <vector>

#include "cli/run.hpp"
#include "folders.hpp"

namespace daedalus::tests {
namespace {

struct Case {
  std::string name, model;
  std::vector<std::string> commands;
  int status = 2;
  std::string answer;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

/// A case is a line '=== name', perhaps a model, commands after '$ ', a line '--- answer' with the status if it is not 2,
/// the answer on standard error. {folder} is a folder of its own, in which the model is model.toml.
std::vector<Case> cases() {
  std::ifstream file(tests::source_folder() + "/tests/cli/wrong_command_lines.txt");
  std::vector<Case> result;
  std::string line;
  bool answer = false;
  while (std::getline(file, line)) {
    if (line.starts_with("=== ")) {
      result.push_back({line.substr(4), {}, {}, 2, {}});
      answer = false;
    } else if (result.empty()) {
      continue;
    } else if (line.starts_with("$ ") && !answer) {
      result.back().commands.push_back(line.substr(2));
    } else if (line.starts_with("--- answer")) {
      answer = true;
      if (line.size() > 11) result.back().status = std::stoi(line.substr(11));
    } else {
      (answer ? result.back().answer : result.back().model) += line + "\n";
    }
  }
  for (Case& one : result)
    while (one.answer.ends_with('\n')) one.answer.pop_back();
  return result;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Methods and formulations come and go: {all} stands for a list of all names, {near} for names that are near.
std::string without_lists(std::string answer, const std::string& expected) {
  static const std::regex all(R"(known names: [^\n(]*[^\n( ](?: \(\d+ in all\))?)"), near(R"(did you mean [^?]*\?)");
  if (expected.find("{all}") != std::string::npos) answer = std::regex_replace(answer, all, "known names: {all}");
  if (expected.find("{near}") != std::string::npos) answer = std::regex_replace(answer, near, "did you mean {near}?");
  return answer;
}

class WrongCommandLine : public testing::TestWithParam<Case> {};

TEST_P(WrongCommandLine, IsAnsweredExactly) {
  const Case& one = GetParam();
  const Folder folder;
  const std::string path = std::filesystem::path(folder.file("x")).parent_path().string();
  if (!one.model.empty()) folder.write("model.toml", one.model);
  Call call;
  for (const std::string& command : one.commands) call = daedalus(replaced(command, "{folder}", path));
  std::string answer = without_lists(replaced(call.err, path, "{folder}"), one.answer);
  while (answer.ends_with('\n')) answer.pop_back();
  EXPECT_EQ(answer, one.answer);
  EXPECT_EQ(call.status, one.status) << call.out;
}

INSTANTIATE_TEST_SUITE_P(Errors, WrongCommandLine, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

TEST(WrongCommandLines, AreManyAndNamedOnce) {
  std::set<std::string> names;
  for (const Case& one : cases()) EXPECT_TRUE(names.insert(one.name).second) << one.name;
  EXPECT_GE(names.size(), 150U);
}

}  // namespace
}  // namespace daedalus::tests
