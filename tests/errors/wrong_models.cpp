// Every wrong model of the .txt files here is answered with exactly the text that stands there below it.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "daedalus/model/reader.hpp"
#include "folders.hpp"

namespace daedalus::model {
namespace {

struct Case {
  std::string name, model, answer;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

void read_cases(const std::filesystem::path& path, std::vector<Case>& result) {
  std::ifstream file(path);
  std::string line;
  std::string* part = nullptr;
  while (std::getline(file, line)) {
    if (line.starts_with("=== ")) {
      result.push_back({line.substr(4), {}, {}});
      part = &result.back().model;
    } else if (line == "--- answer") {
      part = &result.back().answer;
    } else if (part != nullptr) {
      *part += line + "\n";
    }
  }
}

std::vector<Case> cases() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(tests::source_folder() + "/tests/errors"))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Case> result;
  for (const std::filesystem::path& file : files) read_cases(file, result);
  for (Case& one : result)
    while (one.answer.ends_with('\n')) one.answer.pop_back();
  return result;
}

class WrongModel : public testing::TestWithParam<Case> {};

TEST_P(WrongModel, IsAnsweredExactly) {
  try {
    read_model_text(GetParam().model, "model.toml");
    FAIL() << "the model was accepted:\n" << GetParam().model;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), GetParam().answer) << GetParam().model;
  }
}

INSTANTIATE_TEST_SUITE_P(Errors, WrongModel, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

TEST(WrongModels, AreManyAndNamedOnce) {
  std::set<std::string> names;
  for (const Case& one : cases()) EXPECT_TRUE(names.insert(one.name).second) << one.name;
  EXPECT_GE(names.size(), 500U);
}

TEST(WrongModels, EveryFaultSaysWhereItStands) {
  for (const Case& one : cases()) {
    try {
      read_model_text(one.model, "model.toml");
    } catch (const Error& error) {
      for (const Fault& fault : error.faults()) {
        EXPECT_FALSE(fault.code.empty()) << one.name;
        EXPECT_GT(fault.place.line, 0U) << one.name;
        EXPECT_GT(fault.place.column, 0U) << one.name;
      }
    }
  }
}

}  // namespace
}  // namespace daedalus::model
