#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "daedalus/linalg/lapack.hpp"
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

TEST(AnalysisLinear, UnitsDoNotHideWhatIsFreeOrDependent) {
  // x1' = sqrt(2) x2 and 0 = 0 in a second row of the sum of both, with x2 in units of 1e-12 and the second row in such
  // of 1e12.
  const solve::Analysis found = analysed_text(
      linear("[[1, 0], [1e12, 0]]", "[[0, \"sqrt(2)*1e-12\"], [0, \"sqrt(2)\"]]", "f = [\"sin(t)\", \"1e12*sin(t)\"]"));
  ASSERT_EQ(found.linear->free.size(), 1u);
  EXPECT_EQ(found.linear->free[0].unknowns, (std::vector<std::string>{"x1", "x2"}));
  EXPECT_EQ(found.linear->free[0].additions, (std::vector<std::string>{"1.414213562e-12*phi", "der(phi)"}));
  ASSERT_EQ(found.linear->dependences.size(), 1u);
  EXPECT_EQ(found.linear->dependences[0].equations.size(), 2u);
  EXPECT_TRUE(found.linear->dependences[0].holds) << found.linear->dependences[0].condition;
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

TEST(AnalysisLinear, ProjectorAndNearestConsistentValues) {
  // x1' = -x1 and 0 = x1 + 2 x2 - 5: the leap keeps x1 and moves x2, the least change is along (1, 2).
  const solve::Analysis found = analysed_text(
      linear("[[1, 0], [0, 0]]", "[[-1, 0], [1, 2]]", "f = [\"0\", \"-5\"]\n[variables]\nx1 = 0\nx2 = 0\n"));
  ASSERT_TRUE(found.linear->nearest);
  EXPECT_EQ(found.linear->projector_text, (std::vector<std::vector<std::string>>{{"1", "0"}, {"-1/2", "0"}}));
  EXPECT_NEAR(found.linear->nearest->values[0], 1.0, 1e-14);
  EXPECT_NEAR(found.linear->nearest->values[1], 2.0, 1e-14);
  EXPECT_NEAR(found.linear->nearest->distance, std::sqrt(5.0), 1e-14);
  // Of every pencil of the reference: a projector that keeps consistent values of f = 0, with the rank of the dimension.
  for (const std::string name : {"r1", "r2", "r3", "r4", "r5", "r6", "r7"}) {
    const solve::Analysis one = analysed_model("linear/" + name);
    const structure::DenseMatrix& P = one.linear->projector;
    double size = 1.0, trace = 0.0;
    for (const double entry : P.entries) size = std::max(size, std::abs(entry));
    const structure::DenseMatrix square = P * P;
    for (std::size_t k = 0; k < P.entries.size(); ++k)
      EXPECT_NEAR(square.entries[k], P.entries[k], 1e-14 * static_cast<double>(P.rows) * size * size) << name;
    for (std::size_t k = 0; k < P.rows; ++k) trace += P(k, k);
    EXPECT_NEAR(trace, static_cast<double>(one.linear->structure.differential_dimension), 1e-14 * size * size) << name;
    EXPECT_LT(one.linear->nearest->distance, 1e-9) << name;  // their starts are consistent
  }
}

TEST(AnalysisLinear, AStartThatIsConsistentIsItsNearestOne) {
  // Nobody gave der(x1): it is what the tie makes of der(x2), and nothing that was given has to move.
  const solve::Analysis found = analysed_text(R"toml(
kind = "dae"
[variables]
x1 = 0
x2 = 0
"der(x2)" = 0.5
F = 0
[equations]
a = "2*x1'' = F - 5*x1"
b = "3*x2'' = -F"
tie = "x1 - x2 = sin(t)"
)toml");
  EXPECT_TRUE(found.consistent);
  ASSERT_TRUE(found.linear->nearest);
  EXPECT_EQ(found.linear->nearest->distance, 0.0);
  const auto value = [&](const std::string& name) {
    const auto& names = found.linear->unknowns;
    return found.linear->nearest->values[static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin())];
  };
  EXPECT_NEAR(value("der(x1)"), 1.5, 1e-14);
  EXPECT_EQ(value("der(x2)"), 0.5);
}

TEST(AnalysisLinear, StabilityAndWhatInputsReach) {
  const auto stability = [](const std::string& A) {
    return analysed_text(linear("[[1, 0], [0, 1]]", A)).linear->modes->stability;
  };
  EXPECT_EQ(stability("[[-1, 1], [0, -1]]"), solve::Stability::asymptotic);
  EXPECT_EQ(stability("[[0, 1], [-1, 0]]"), solve::Stability::marginal);
  EXPECT_EQ(stability("[[0, 0], [0, 0]]"), solve::Stability::marginal);
  EXPECT_EQ(stability("[[0, 1], [0, 0]]"), solve::Stability::resonant);
  EXPECT_EQ(stability("[[1, 0], [0, -1]]"), solve::Stability::unstable);
  // u reaches -1 and the impulse, not -2; y shows -2 and neither of the others.
  const solve::Analysis found = analysed_text(linear(
      "[[1,0,0,0], [0,1,0,0], [0,0,0,1], [0,0,0,0]]", "[[-1,0,0,0], [0,-2,0,0], [0,0,1,0], [0,0,0,1]]",
      "B = [[1], [0], [0], [1]]\nC = [[0, 1, 0, 0]]"));
  ASSERT_TRUE(found.linear->modes);
  const solve::ModeAnalysis& modes = *found.linear->modes;
  ASSERT_EQ(modes.finite.size(), 2u);
  EXPECT_TRUE(!modes.finite[0].controllable && modes.finite[0].observable);  // -2
  EXPECT_TRUE(modes.finite[1].controllable && !modes.finite[1].observable);  // -1
  EXPECT_TRUE(modes.impulse_controllable);
  EXPECT_FALSE(modes.impulse_observable);
}

TEST(AnalysisLinear, LargePencilsAreReducedSparsely) {
  // As many resistors as capacitors: their currents are solved for, and an ODE is left.
  const solve::Analysis found = analysed_text(R"toml(
kind = "dae"
[parameters]
N = 300
[variables]
"v[k]" = { for = "k in 1..N", start = 1 }
"i[k]" = { for = "k in 1..N", start = 0 }
[equations]
"node[k]" = { for = "k in 1..N", equation = "der(v[k]) = -i[k]" }
"resistor[1]" = "2*i[1] = v[1]"
"resistor[k]" = { for = "k in 2..N", equation = "2*i[k] = v[k] - v[k-1]" }
)toml");
  ASSERT_TRUE(found.linear);
  EXPECT_EQ(found.index, 1);
  EXPECT_EQ(found.linear->structure.eliminated, 300u);
  EXPECT_EQ(found.linear->structure.differential_dimension, 300u);
}

TEST(AnalysisLinear, WhatIsNotDecidedIsToldAsOneAnswer) {
  // A change of 1e-16 makes 40 finite eigenvalues of size 2.5 of the block of 40: no rank in doubles decides that.
  std::string E, A;
  for (int i = 1; i <= 40; ++i) {
    if (i < 40) E += fmt::format("[{}, {}, 1],", i, i + 1);
    A += fmt::format("[{}, {}, 1],", i, i);
  }
  const solve::Analysis found = analysed_text(linear(fmt::format("{{ rows = 40, columns = 40, entries = [{}] }}", E),
                                                     fmt::format("{{ rows = 40, columns = 40, entries = [{}] }}", A)));
  ASSERT_TRUE(found.linear);
  EXPECT_FALSE(found.linear->structure.decided);
  EXPECT_EQ(found.linear->structure.nilpotent_blocks, (Sizes{40}));
  EXPECT_EQ(found.index, 40);
  EXPECT_EQ(found.free_initial_values, 0u);
  EXPECT_EQ(found.system_class, "linear differential-algebraic equations of index 40, as far as can be told");
}

TEST(AnalysisLinear, DeflatingSubspaces) {
  // x1' = -x1 and the chain x3' = x2, 0 = x3 behind rows and unknowns that are mixed; once with fractions, once with sqrt(2).
  for (const std::string one : {"1", "sqrt(2)"}) {
    const auto row = [&](int a, int b, int c) { return fmt::format("[\"{}*{}\", {}, {}]", a, one, b, c); };
    const std::string E = fmt::format("[{}, {}, {}]", row(1, 0, 1), row(1, 1, 1), row(0, 1, 0));
    const std::string A = fmt::format("[{}, {}, {}]", row(-1, 1, 0), row(-1, 0, 1), row(0, 2, 1));
    const solve::Analysis found = analysed_text(linear(E, A));
    ASSERT_TRUE(found.linear->structure.regular);
    const structure::DenseMatrix e = structure::DenseMatrix{3, 3, {1, 0, 1, 1, 1, 1, 0, 1, 0}}, a = {3, 3, {-1, 1, 0, -1, 0, 1, 0, 2, 1}};
    const double unit = one == "1" ? 1.0 : std::sqrt(2.0);
    std::size_t dimension = 0;
    for (const structure::DeflatingSpace* space : {&found.linear->spaces.finite, &found.linear->spaces.infinite}) {
      ASSERT_EQ(space->right.columns, space->left.columns);
      dimension += space->right.columns;
      structure::DenseMatrix x = space->right;
      for (std::size_t j = 0; j < x.columns; ++j) x(0, j) *= unit;  // the first unknown in its own unit
      // Neither image leaves the span of the left basis: beside it, its columns add no direction.
      for (const structure::DenseMatrix& image : {e * x, a * x}) {
        auto both = structure::DenseMatrix::zero(3, 2 * x.columns);
        both.set_block(0, 0, space->left);
        both.set_block(0, x.columns, image);
        const std::vector<double> values = linalg::singular_values(both);
        for (std::size_t k = x.columns; k < values.size(); ++k) EXPECT_LT(values[k], 1e-13);
      }
    }
    EXPECT_EQ(dimension, 3u);
  }
}

TEST(AnalysisLinear, WhatCancelsInTheManifoldIsNotShown) {
  // Rows of the semi-explicit x' = y + t, 0 = x - sin(t), mixed by sqrt(2) and pi: x = sin(t) and y = cos(t) - t come back.
  const solve::Analysis found = analysed_text(
      linear("[[\"sqrt(2)\", 0], [\"pi\", 0]]", "[[\"7.1*pi\", \"sqrt(2)\"], [\"sqrt(3)\", \"pi\"]]",
             "f = [\"sqrt(2)*t - 7.1*pi*sin(t)\", \"pi*t - sqrt(3)*sin(t)\"]"));
  ASSERT_EQ(found.linear->manifold.size(), 2u);
  EXPECT_EQ(found.linear->manifold[0].equation, "x1 = sin(t)");
  EXPECT_EQ(found.linear->manifold[1].equation, "x2 = cos(t) - t");
}

TEST(AnalysisLinear, UnitsDoNotHideTheManifold) {
  // The same with unknowns and rows in units of 1e9 and 1e-12: every coefficient stays.
  const solve::Analysis found = analysed_text(
      linear("[[\"sqrt(2)*1e9\", 0], [\"pi*1e-3\", 0]]", "[[0, \"sqrt(2)*1e-3\"], [\"sqrt(3)*1e-3\", \"pi*1e-15\"]]"));
  ASSERT_EQ(found.linear->manifold.size(), 2u);
  EXPECT_EQ(found.linear->manifold[0].equation, "x1 = 0");
  EXPECT_EQ(found.linear->manifold[1].equation, "x2 = 0");
  EXPECT_EQ(found.index, 2);
}

TEST(AnalysisLinear, NumbersThatRoundingTouchedAreShort) {
  const solve::Analysis found = analysed_text(linear("[[\"sqrt(2)\", \"2*sqrt(2)\"], [\"pi\", \"2*pi\"]]", "[[1, 0], [0, 1]]",
                                                     "f = [\"sin(t)\", \"0\"]"));
  ASSERT_EQ(found.linear->manifold.size(), 1u);
  for (const std::string& text : {found.linear->manifold[0].equation, found.linear->manifold[0].with_f}) {
    EXPECT_EQ(text.find("00000"), std::string::npos) << text;
    EXPECT_EQ(text.find("99999"), std::string::npos) << text;
  }
}

/// A lag after the other, y = x of the next one, the last prescribed, and one equation too many at the head: the combination
/// that shows it has a degree as large as the chain is long, and says something only while its coefficients are exact.
TEST(AnalysisLinear, CombinationsOfHighDegreeAreLeftOut) {
  const auto chain = [](int length) {
    return analysed_text(fmt::format(R"toml(
kind = "dae"
[parameters]
N = {}
[variables]
"x[i]" = {{ for = "i in 1..N" }}
"y[i]" = {{ for = "i in 1..N" }}
z = 0
[equations]
"lag[i]" = {{ for = "i in 1..N", equation = "x[i]' = y[i] - x[i]" }}
"link[i]" = {{ for = "i in 1..N-1", equation = "y[i] = x[i+1]" }}
last = "y[N] = 1"
extra = "y[1] = 2*x[2]"
)toml",
                                     length));
  };
  const solve::Analysis brief = chain(10), long_one = chain(50);
  ASSERT_TRUE(brief.linear && long_one.linear);
  EXPECT_EQ(brief.linear->structure.row_minimal_indices, (Sizes{9}));
  EXPECT_EQ(long_one.linear->structure.row_minimal_indices, (Sizes{49}));
  ASSERT_EQ(brief.linear->dependences.size(), 1u);
  EXPECT_EQ(brief.linear->dependences[0].equations.size(), 20u);
  EXPECT_FALSE(brief.linear->dependences[0].holds);  // 1 = 0 is what it comes to
  EXPECT_TRUE(long_one.linear->dependences.empty());
  for (const solve::Analysis* one : {&brief, &long_one}) {
    ASSERT_EQ(one->linear->free.size(), 1u);
    EXPECT_EQ(one->linear->free[0].unknowns, (std::vector<std::string>{"z"}));
    EXPECT_EQ(one->structure.parts.under.columns.size(), 1u);
  }
}

}  // namespace
}  // namespace daedalus::tests
