#include <fmt/format.h>
#include <gtest/gtest.h>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/analysis.hpp"
#include "folders.hpp"
#include "unit/solve/start_tools.hpp"

namespace daedalus::tests {
namespace {

using Sizes = std::vector<std::size_t>;

solve::Analysis analysed_model(const std::string& name) {
  return solve::analyze(
      std::make_shared<const model::Model>(model::read_model(source_folder() + "/models/" + name + ".toml")), 0.0);
}
solve::Analysis analysed_text(const std::string& text) {
  return solve::analyze(std::make_shared<const model::Model>(model::read_model_text(text, "model.toml")), 0.0);
}
std::string linear(const std::string& E, const std::string& A, const std::string& rest = "") {
  return fmt::format("kind = \"linear\"\n[linear]\nE = {}\nA = {}\n{}", E, A, rest);
}

TEST(AnalysisLinear, ExamplesOfTheNotes) {
  const solve::Analysis six = analysed_model("linear/example6");
  EXPECT_EQ(six.index, 2);
  EXPECT_EQ(six.free_initial_values, 0u);
  ASSERT_TRUE(six.linear);
  EXPECT_TRUE(six.linear->structure.exact);
  EXPECT_EQ(six.linear->structure.nilpotent_blocks, (Sizes{2, 1}));
  ASSERT_EQ(six.linear->manifold.size(), 3u);
  EXPECT_EQ(six.linear->manifold[0].with_f, "2*x1 + f1 + f2 - f3 + 2*der(f3) = 0");
  EXPECT_EQ(six.linear->manifold[2].equation, "x3 = t^3 - sin(t) + cos(t)");

  const solve::Analysis one = analysed_model("linear/example1");
  EXPECT_FALSE(one.index.has_value());
  EXPECT_FALSE(one.consistent);
  ASSERT_EQ(one.linear->free.size(), 1u);
  EXPECT_EQ(one.linear->free[0].additions, (std::vector<std::string>{"phi", "der(phi)"}));
  ASSERT_EQ(one.linear->dependences.size(), 1u);
  EXPECT_EQ(one.linear->dependences[0].condition, "f2 = 0");

  const solve::Analysis two = analysed_model("linear/example2");
  ASSERT_EQ(two.linear->dependences.size(), 1u);
  EXPECT_EQ(two.linear->dependences[0].condition, "4*der(f1,2) - 2*der(f2) + 2*der(f2,2) + f3 - der(f3) = 0");
  EXPECT_TRUE(two.linear->dependences[0].holds);
  EXPECT_EQ(two.linear->free[0].unknowns, (std::vector<std::string>{"x3"}));

  EXPECT_EQ(analysed_model("linear/example3").index, 3);
  const solve::Analysis five = analysed_model("linear/example5");
  EXPECT_EQ(five.linear->structure.column_minimal_indices, (Sizes{0, 0}));
  EXPECT_EQ(five.linear->structure.row_minimal_indices, (Sizes{0}));
  EXPECT_EQ(five.linear->structure.differential_dimension, 2u);
}

TEST(AnalysisLinear, AConditionThatDoesNotHoldIsShown) {
  const solve::Analysis found =
      analysed_text(linear("[[1, 1], [2, 2]]", "[[0, 1], [0, 2]]", "f = [\"sin(t)\", \"t\"]"));
  ASSERT_EQ(found.linear->dependences.size(), 1u);
  EXPECT_FALSE(found.linear->dependences[0].holds);
  EXPECT_EQ(found.linear->dependences[0].combination, "2*row 1 - row 2");
  EXPECT_EQ(found.linear->dependences[0].left, "2*sin(t) - t");
}

TEST(AnalysisLinear, PureCases) {
  const auto index = [](const std::string& E, const std::string& A) { return analysed_text(linear(E, A)).index; };
  EXPECT_EQ(index("[[1]]", "[[0]]"), 0);
  EXPECT_EQ(index("[[2]]", "[[-3]]"), 0);
  EXPECT_EQ(index("[[0]]", "[[5]]"), 1);
  EXPECT_EQ(index("[[0]]", "[[0]]"), std::nullopt);
  EXPECT_EQ(index("[[0, 0], [0, 0]]", "[[1, 2], [3, 4]]"), 1);
  EXPECT_EQ(index("[[1, 2], [3, 4]]", "[[0, 0], [0, 0]]"), 0);
  EXPECT_EQ(index("[[0, 0], [0, 0]]", "[[1, 2], [2, 4]]"), std::nullopt);
  EXPECT_EQ(index("[[1, 0], [0, 0]]", "[[0, 1], [1, 0]]"), 2);
  EXPECT_EQ(index("[[1, 0]]", "[[0, 1]]"), std::nullopt);      // more unknowns
  EXPECT_EQ(index("[[1], [0]]", "[[0], [1]]"), std::nullopt);  // more equations
  // As written, however small: decimals are fractions.
  EXPECT_EQ(index("[[1, 0], [0, 1e-10]]", "[[1, 0], [0, 1]]"), 0);
}

TEST(AnalysisLinear, DecimalsAreFractions) {
  // 0.1 + 0.2 = 0.3 as fractions, not as doubles: the rows of E depend on each other.
  const solve::Analysis found = analysed_text(linear("[[0.1, 0.2], [0.3, 0.6]]", "[[1, 0], [0, 1]]"));
  EXPECT_EQ(found.index, 1);
  EXPECT_TRUE(found.linear->structure.exact);
}

TEST(AnalysisLinear, ADaeThatIsLinearGetsTheSameAnswers) {
  const solve::Analysis found = analysed_text(R"toml(
kind = "dae"
[parameters]
m = 2
k = 8
[variables]
x = 1
y = 1
F = 0
[equations]
force = "m*x'' = F - k*x"
drive = "y' = -y + sin(t)"
tie = "x = y"
)toml");
  // A force that makes x follow y: x = y, x' = y' = -y + sin t, F from x''.
  EXPECT_EQ(found.index, 3);
  ASSERT_TRUE(found.linear);
  EXPECT_EQ(found.linear->structure.nilpotent_blocks, (Sizes{3}));
  EXPECT_EQ(found.free_initial_values, 1u);
  ASSERT_EQ(found.linear->structure.finite.size(), 1u);
  EXPECT_EQ(found.linear->structure.finite[0].value, -1.0);
  const solve::Analysis six = analysed_text(R"toml(
kind = "dae"
[variables]
x1 = -1
x2 = 0
x3 = 1
[equations]
a = "x1' + x2' + x3' = 2*x1 + x3 + t"
b = "x1' + x2' + x3' = x1 + x2 + t^3"
c = "0 = x1 + x2 + x3 + sin(t)"
)toml");
  ASSERT_TRUE(six.linear);
  EXPECT_EQ(six.index, 2);
  EXPECT_EQ(six.linear->structure.nilpotent_blocks, (Sizes{2, 1}));
  EXPECT_EQ(six.linear->manifold[2].equation, "x3 = t^3 - sin(t) + cos(t)");
  // Not linear, and not of constant coefficients.
  EXPECT_FALSE(analysed_text("kind = \"dae\"\n[variables]\nx = 1\n[equations]\na = \"x' = -x^2\"\n").linear);
  EXPECT_FALSE(analysed_text("kind = \"dae\"\n[variables]\nx = 1\n[equations]\na = \"x' = -t*x\"\n").linear);
}

}  // namespace
}  // namespace daedalus::tests
