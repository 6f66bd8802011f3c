// Every model of wrong_starts.cases has no start, or a doubtful one, and is answered with exactly the text below it: what
// `daedalus init` says.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "folders.hpp"

namespace daedalus::solve {
namespace {

struct Case {
  std::string name, model, answer;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

std::vector<Case> cases() {
  std::ifstream file(tests::source_folder() + "/tests/errors/wrong_starts.cases");
  std::vector<Case> result;
  std::string* part = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      result.push_back({line.substr(4), {}, {}});
      part = &result.back().model;
    } else if (line == "--- answer") {
      part = &result.back().answer;
    } else if (part != nullptr) {
      *part += line + "\n";
    }
  }
  for (Case& one : result)
    while (one.answer.ends_with('\n')) one.answer.pop_back();
  return result;
}

std::string answer_to(const std::string& text) {
  try {
    const Prepared prepared = prepare(model::read_model_text(text, "model.toml"));
    const Start start = consistent_start(prepared, 0.0, initialize_mode(*prepared.model, {}), Look::around);
    if (start.index_above_one) refuse_index(*prepared.model);
    std::string answer = start.message;
    for (const std::string& note : start.notes) answer += (answer.empty() ? "note: " : "\nnote: ") + note;
    return answer;
  } catch (const Error& error) {
    return error.what();
  }
}

class WrongStart : public testing::TestWithParam<Case> {};

TEST_P(WrongStart, IsAnsweredExactly) { EXPECT_EQ(answer_to(GetParam().model), GetParam().answer) << GetParam().model; }

INSTANTIATE_TEST_SUITE_P(Errors, WrongStart, testing::ValuesIn(cases()), [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace daedalus::solve
