// Models with known offsets and index, from their texts.
#include "daedalus/structure/structural_analysis.hpp"

#include <gtest/gtest.h>

#include "daedalus/model/reader.hpp"
#include "daedalus/structure/pantelides.hpp"
#include "daedalus/structure/system_jacobian.hpp"

namespace daedalus::structure {
namespace {

using Names = std::vector<std::string>;

EquationSet system_of(const std::string& text) { return equations_of(model::read_model_text(text, "test")); }

/// variables in order, then equations named e1, e2, ...
std::string dae(const Names& variables, const Names& equations, const std::string& more = "") {
  std::string text = "kind = \"dae\"\n" + more + "[variables]\n";
  for (const std::string& name : variables) text += name + " = 0.5\n";
  text += "[equations]\n";
  for (std::size_t i = 0; i < equations.size(); ++i)
    text += "e" + std::to_string(i + 1) + " = \"" + equations[i] + "\"\n";
  return text;
}

/// sigma_ij, -1 where the unknown does not occur.
std::vector<std::vector<int>> dense(const Signature& sigma) {
  std::vector<std::vector<int>> result(sigma.pattern.rows, std::vector<int>(sigma.pattern.columns, -1));
  for (std::size_t i = 0; i < sigma.pattern.rows; ++i)
    for (std::size_t k = sigma.pattern.row_start[i]; k < sigma.pattern.row_start[i + 1]; ++k)
      result[i][sigma.pattern.column[k]] = sigma.order[k];
  return result;
}

using Dense = std::vector<std::vector<int>>;

TEST(SignatureMatrix, HighestDerivativesOfTheAuthorsEquations) {
  const EquationSet pendulum =
      system_of(dae({"x", "y", "lam"}, {"x'' = -lam*x", "y'' = -lam*y - 9.81", "x^2 + y^2 = 1"}));
  EXPECT_EQ(dense(signature_of(pendulum)), (Dense{{2, -1, 0}, {-1, 2, 0}, {0, 0, -1}}));
}

TEST(SignatureMatrix, OnlyWhatAnEquationTrulyDependsOn) {
  struct Case {
    const char* equation;
    int x, y;
  };
  for (const Case& one : std::vector<Case>{
           {"x' - x' + x = y", 0, 0},
           {"(x + y)*x' - x*x' - y*x' = y", -1, 0},
           {"x*y' = y'*x + x + y", 0, 0},
           {"(sin(x)^2 + cos(x)^2 - 1)*y'' + y' = x", 0, 1},
           {"none*x'' + x' = y", 1, 0},
           {"(two - 2)*x' + x = y", 0, 0},
           {"(x + y + none)*x' - x*x' - y*x' = y", -1, 0},
           {"(two - twice)*(x'*y) + x = 1", 0, -1},
           {"mode*x' + x = y", 1, 0},
           {"if(t > 1, x', x) = y", 1, 0},
           {"if(x > 0, 1, 2)*y = 1", -1, 0},
           {"sign(x')*y = 1", -1, 0},
           {"der(x*y) = 0", 1, 1},
           {"(x')^2 = y + t", 1, 0},
       }) {
    const EquationSet system =
        system_of(dae({"x", "y"}, {one.equation, "x = y"},
                      "[parameters]\nnone = 0\ntwo = 2\ntwice = \"4/2\"\n[discrete]\nmode = 0\n"));
    EXPECT_EQ(dense(signature_of(system))[0], (std::vector<int>{one.x, one.y})) << one.equation;
  }
}

TEST(SignatureMatrix, LinearModelsMayBeRectangular) {
  const EquationSet system =
      system_of("kind = \"linear\"\n[linear]\nE = [[1, 0, 0], [0, 0, 0]]\nA = [[0, 1, 0], [1, 0, 0]]\n");
  const StructuralAnalysis analysis = structural_analysis(system);
  EXPECT_EQ(dense(analysis.signature), (Dense{{1, 0, -1}, {0, -1, -1}}));
  EXPECT_FALSE(analysis.regular());
  EXPECT_EQ(analysis.equation_names(analysis.parts.well.rows), (Names{"row 1", "row 2"}));
  EXPECT_EQ(analysis.unknown_names(analysis.parts.under.columns), (Names{"x3"}));
}

struct Known {
  const char* name;
  Names variables, equations;
  std::vector<int> c, d;
  int index;
  std::size_t free;
};

const std::vector<Known>& known() {
  static const std::vector<Known> all = {
      {"oscillator", {"x"}, {"x'' = -x"}, {0}, {2}, 0, 2},
      {"purely algebraic", {"x", "y"}, {"x + y = t", "x = y^3 + 2*y"}, {0, 0}, {0, 0}, 1, 0},
      {"pendulum",
       {"x", "y", "lam"},
       {"x'' = -lam*x", "y'' = -lam*y - 9.81", "x^2 + y^2 = 1"},
       {0, 0, 2},
       {2, 2, 0},
       3,
       2},
      {"pendulum of first order",
       {"x", "y", "u", "v", "lam"},
       {"x' = u", "y' = v", "u' = -lam*x", "v' = -lam*y - 9.81", "x^2 + y^2 = 1"},
       {1, 1, 0, 0, 2},
       {2, 2, 1, 1, 0},
       3,
       2},
      // Hessenberg: x1' = F(x1..xr), xi' = F(x(i-1)..x(r-1)), 0 = F(x(r-1)); the index is r
      {"Hessenberg 2", {"x1", "x2"}, {"x1' = x1*x2", "x1 = sin(t)"}, {0, 1}, {1, 0}, 2, 0},
      {"Hessenberg 3",
       {"x1", "x2", "x3"},
       {"x1' = x1*x2 + x3", "x2' = x1 - x2", "x2 = sin(t)"},
       {0, 1, 2},
       {1, 2, 0},
       3,
       0},
      {"Hessenberg 4",
       {"x1", "x2", "x3", "x4"},
       {"x1' = x4 - x3*x1", "x2' = x1*x3", "x3' = x2 + x3^2", "x3 = cos(t)"},
       {0, 1, 2, 3},
       {1, 2, 3, 0},
       4,
       0},
      {"Hessenberg 5",
       {"x1", "x2", "x3", "x4", "x5"},
       {"x1' = x5 + x1*x4", "x2' = x1 + x4", "x3' = x2*x3", "x4' = x3 + x4", "x4^3 + x4 = t"},
       {0, 1, 2, 3, 4},
       {1, 2, 3, 4, 0},
       5,
       0},
      {"chain of integrators",
       {"x1", "x2", "x3", "x4", "x5", "x6"},
       {"x1 = sin(t)", "x1' = x2", "x2' = x3", "x3' = x4", "x4' = x5", "x5' = x6"},
       {5, 4, 3, 2, 1, 0},
       {5, 4, 3, 2, 1, 0},
       6,
       0},
      // source - resistor - capacitor: node voltages u1, u2 and the current of the source
      {"RC circuit",
       {"u1", "u2", "i"},
       {"i = (u1 - u2)/100", "1e-6*u2' = (u1 - u2)/100", "u1 = sin(t)"},
       {0, 0, 0},
       {0, 1, 0},
       1,
       1},
      // a capacitor beside the source: its current follows from the derivative of the source
      {"C-V loop", {"u", "i"}, {"1e-6*u' + u/100 = i", "u = sin(t)"}, {0, 1}, {1, 0}, 2, 0},
      // a coil in series with a source of current
      {"L-I cutset", {"u", "i"}, {"1e-3*i' = u", "i = cos(t)"}, {0, 1}, {0, 1}, 2, 0},
  };
  return all;
}

TEST(StructuralAnalysis, KnownOffsets) {
  for (const Known& one : known()) {
    SCOPED_TRACE(one.name);
    const EquationSet system = system_of(dae(one.variables, one.equations));
    const StructuralAnalysis analysis = structural_analysis(system);
    ASSERT_TRUE(analysis.regular());
    EXPECT_EQ(analysis.sigma->offsets.c, one.c);
    EXPECT_EQ(analysis.sigma->offsets.d, one.d);
    EXPECT_EQ(analysis.index(), one.index);
    EXPECT_EQ(analysis.sigma->offsets.degrees_of_freedom(), one.free);
    EXPECT_EQ(*pantelides(analysis.signature), analysis.sigma->offsets);
    EXPECT_TRUE(analysis.parts.over.rows.empty() && analysis.parts.under.rows.empty());
    SystemJacobian jacobian(system, analysis);
    EXPECT_TRUE(jacobian.at(0.3, jacobian.guess()).regular);
  }
}

TEST(StructuralAnalysis, LoopsAndOrderOfSolution) {
  // b needs a; c and d need each other and b
  const StructuralAnalysis analysis = structural_analysis(
      system_of(dae({"d", "a", "c", "b"}, {"c + d^3 = b", "c - d = 2*b + t", "a' = -a", "b^3 + b = a"})));
  ASSERT_EQ(analysis.blocks.size(), 3u);
  // In the blocks stand highest derivatives: a' = -a needs nothing, and b does not need a'.
  std::vector<Names> equations;
  for (const Part& block : analysis.blocks) equations.push_back(analysis.equation_names(block.rows));
  EXPECT_EQ(equations, (std::vector<Names>{{"e4"}, {"e1", "e2"}, {"e3"}}));
  EXPECT_EQ(analysis.unknown_names(analysis.blocks[1].columns), (Names{"d", "c"}));
  EXPECT_EQ(analysis.highest_derivative(1), "der(a)");
  EXPECT_EQ(analysis.highest_derivative(2), "c");
}

TEST(StructuralAnalysis, SingularPartsAreNamed) {
  const StructuralAnalysis analysis =
      structural_analysis(system_of(dae({"x", "y", "z", "w"}, {"x' = -x", "x = sin(t)", "w' = z - w", "y + z = x"})));
  EXPECT_FALSE(analysis.regular());
  EXPECT_FALSE(analysis.index());
  EXPECT_EQ(analysis.equation_names(analysis.parts.over.rows), (Names{"e1", "e2"}));
  EXPECT_EQ(analysis.unknown_names(analysis.parts.over.columns), (Names{"x"}));
  EXPECT_EQ(analysis.equation_names(analysis.parts.under.rows), (Names{"e3", "e4"}));
  EXPECT_EQ(analysis.unknown_names(analysis.parts.under.columns), (Names{"y", "z", "w"}));
}

TEST(SystemJacobian, SaysWhereStructureDeceives) {
  // x' and y' occur only as x' + y': one equation without derivatives is hidden, whatever the values are.
  const EquationSet coupled = system_of(dae({"x", "y"}, {"x' + y' = -x", "x' + y' + x - 2*y = sin(t)"}));
  const StructuralAnalysis analysis = structural_analysis(coupled);
  ASSERT_EQ(analysis.index(), 0);
  SystemJacobian jacobian(coupled, analysis);
  for (int number = 1; number <= 3; ++number) {
    const auto verdict = jacobian.at(0.0, jacobian.near(jacobian.guess(), number));
    EXPECT_TRUE(verdict.finite);
    EXPECT_FALSE(verdict.regular);
    EXPECT_EQ(verdict.dependent, (std::vector<std::size_t>{1}));
  }
}

/// Masses in a row without inertia of their own: connected to the ground the matrix is regular, free it is not. One
/// block of 100 equations is too large for a rank decision at once.
TEST(SystemJacobian, LargeBlocks) {
  const auto chain = [](const std::string& ground) {
    return system_of(
        "kind = \"dae\"\n[variables]\n\"x[i]\" = { for = \"i in 1..100\" }\n[equations]\nfirst = \"x[1]' - x[2]' " +
        ground + " = t\"\n\"row[i]\" = { for = \"i in 2..99\", equation = \"2*x[i]' - x[i-1]' - x[i+1]' = x[i]\" }\n" +
        "last = \"x[100]' - x[99]' = 0\"\n");
  };
  for (const char* ground : {"+ x[1]'", ""}) {
    const EquationSet system = chain(ground);
    const StructuralAnalysis analysis = structural_analysis(system);
    ASSERT_EQ(analysis.blocks.size(), 1u);
    SystemJacobian jacobian(system, analysis);
    EXPECT_EQ(jacobian.at(0.0, jacobian.guess()).dependent.size(), *ground == '\0' ? 1u : 0u);
  }
}

TEST(SystemJacobian, ValuesAndSpecialPoints) {
  const EquationSet system = system_of(dae({"x", "z"}, {"(x')^2 + z = 1", "z = log(x - 1)"}));
  const StructuralAnalysis analysis = structural_analysis(system);
  SystemJacobian jacobian(system, analysis);
  // x, x', z: the second derivative by x of log is not in J, the first row is (2 x', 1), the second (0, 1)
  EXPECT_TRUE(jacobian.at(0.0, {3.0, 0.5, 0.0}).regular);
  EXPECT_EQ(jacobian.values(), (std::vector<double>{1.0, 1.0, 1.0}));
  EXPECT_EQ(jacobian.at(0.0, {3.0, 0.0, 0.0}).dependent, (std::vector<std::size_t>{0}));
  EXPECT_TRUE(jacobian.at(0.0, jacobian.near({3.0, 0.0, 0.0}, 1)).regular);
  const EquationSet root = system_of(dae({"x", "z"}, {"x' = z", "sqrt(z) = x"}));
  const StructuralAnalysis of_root = structural_analysis(root);
  SystemJacobian not_finite(root, of_root);
  EXPECT_FALSE(not_finite.at(0.0, {1.0, 0.0, 0.0}).finite);
}

}  // namespace
}  // namespace daedalus::structure
