// Every model that the project ships names its source, is read without fault and says how long it runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "daedalus/model/reader.hpp"
#include "house/repository.hpp"

namespace daedalus::test {
namespace {
namespace fs = std::filesystem;

std::vector<fs::path> model_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(repository() / "models"))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class Models : public testing::TestWithParam<fs::path> {};

TEST_P(Models, NamesItsSource) {
  const std::vector<std::string> lines = lines_of(GetParam());
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(lines.front().starts_with("# Source: ")) << "the first line is: " << lines.front();
}

TEST_P(Models, IsReadAndSaysHowLongItRuns) {
  const model::Model model = model::read_model(GetParam().string());
  EXPECT_EQ(model.name, GetParam().stem().string());
  EXPECT_FALSE(model.description.empty());
  EXPECT_TRUE(model.simulation.t_end.has_value());
  // Mechanisms can be looked at.
  const bool moves = model.kind == model::Kind::lagrangian || model.kind == model::Kind::mechanical;
  EXPECT_TRUE(!moves || !model.drawing.points.empty());
}

TEST_P(Models, HasACommandOnThePageOfModels) {
  // What has no solution, or many, can only be analysed.
  const std::string path = " models/" + fs::relative(GetParam(), repository() / "models").string();
  const std::vector<std::string> lines = lines_of(repository() / "docs" / "models.md");
  EXPECT_TRUE(std::ranges::any_of(lines, [&](const std::string& line) {
    return line.starts_with("./daedalus simulate" + path) || line.starts_with("./daedalus analyze" + path);
  })) << path;
}

INSTANTIATE_TEST_SUITE_P(Shipped, Models, testing::ValuesIn(model_files()),
                         [](const auto& file) { return file.param.stem().string(); });

}  // namespace
}  // namespace daedalus::test
