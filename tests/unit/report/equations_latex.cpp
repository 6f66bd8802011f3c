// `derive --format latex` for every shipped model, with --steps for some: well nested, and where pdflatex is there, compiled without a line
// that runs off the page.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "daedalus/model/reader.hpp"
#include "daedalus/report/derivation.hpp"
#include "daedalus/report/equations.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "folders.hpp"

namespace daedalus::report {
namespace {
namespace fs = std::filesystem;

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(tests::source_folder()) / "models"))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string latex_of(const std::string& name, const model::Overrides& overrides = {}) {
  const std::string path = tests::source_folder() + "/models/" + name + ".toml";
  const solve::Prepared prepared = solve::prepare(model::read_model(path, overrides));
  return prepared.dae ? equations_latex(*prepared.dae) : equations_latex(prepared.functions->equations);
}

void expect_well_nested(const std::string& latex) {
  int depth = 0;
  for (std::size_t i = 0; i < latex.size(); ++i) {
    if (latex[i] == '\\') {
      ++i;
      continue;
    }
    depth += latex[i] == '{' ? 1 : latex[i] == '}' ? -1 : 0;
    ASSERT_GE(depth, 0) << latex.substr(0, i + 1);
  }
  EXPECT_EQ(depth, 0);
  std::vector<std::string> open;
  const std::regex pattern(R"(\\(begin|end)\{([a-z*]+)\})");
  for (std::sregex_iterator at(latex.begin(), latex.end(), pattern), end; at != end; ++at) {
    if ((*at)[1] == "begin") {
      open.push_back((*at)[2]);
      continue;
    }
    ASSERT_FALSE(open.empty());
    EXPECT_EQ(open.back(), (*at)[2]);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

class EquationsLatex : public testing::TestWithParam<std::string> {};

TEST_P(EquationsLatex, IsWellNested) { expect_well_nested(latex_of(GetParam())); }

bool has_pdflatex() { return std::system("command -v pdflatex >/dev/null 2>&1") == 0; }

void expect_compiles_within_the_page(const std::string& latex) {
  std::string folder = (fs::temp_directory_path() / "daedalus-latex-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/m.tex") << latex;
  const int status = std::system(
      ("cd '" + folder + "' && pdflatex -interaction=nonstopmode -halt-on-error m.tex >out 2>&1 </dev/null").c_str());
  std::stringstream out;
  out << std::ifstream(folder + "/out").rdbuf();
  fs::remove_all(folder);
  EXPECT_EQ(status, 0) << out.str();
  EXPECT_EQ(out.str().find("Overfull"), std::string::npos) << out.str();
}

TEST_P(EquationsLatex, CompilesWithinThePage) {
  if (!has_pdflatex()) GTEST_SKIP() << "no pdflatex";
  expect_compiles_within_the_page(latex_of(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Shipped, EquationsLatex, testing::ValuesIn(model_names()),
                         [](const auto& name) { return name.param; });

class StepsLatex : public testing::TestWithParam<std::string> {};

TEST_P(StepsLatex, CompilesWithinThePage) {
  const solve::Prepared prepared =
      solve::prepare(model::read_model(tests::source_folder() + "/models/" + GetParam() + ".toml", {}));
  const std::string latex = steps_latex(solve::derivation(prepared, 0.0));
  expect_well_nested(latex);
  if (has_pdflatex()) expect_compiles_within_the_page(latex);
}

INSTANTIATE_TEST_SUITE_P(Some, StepsLatex,
                         testing::Values("circle_dae", "pendulum_dae", "transistor_amplifier", "sleigh", "parallelogram"),
                         [](const auto& name) { return name.param; });

TEST(EquationsLatexLarge, AMatrixTooLargeForAPageIsAList) {
  model::Overrides overrides;
  overrides.set = {{"N", "40"}};
  const std::string latex = latex_of("chain", overrides);
  expect_well_nested(latex);
  EXPECT_NE(latex.find("has 80 rows and 80 columns"), std::string::npos);
  EXPECT_EQ(latex.find("M = \\begin{bmatrix}"), std::string::npos);
}

}  // namespace
}  // namespace daedalus::report
