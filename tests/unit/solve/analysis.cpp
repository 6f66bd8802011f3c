#include "daedalus/solve/analysis.hpp"

#include "unit/solve/start_tools.hpp"

namespace daedalus::tests {
namespace {

solve::Analysis analysed(const std::string& text) { return solve::analyze(functions_of(text), 0.0); }

struct Expected {
  std::string name, text;
  int index;
  std::size_t freedom, free_values, unknowns, redundant;
};

TEST(Analysis, IndexFreedomAndFreeValues) {
  const std::string at_rest = "x = 0.6\ny = 0.8";
  const std::vector<Expected> all = {
      {"free", planar(at_rest, ""), 0, 2, 4, 2, 0},
      {"holonomic", planar(at_rest, "rod = \"x^2 + y^2 = 1\""), 3, 1, 2, 3, 0},
      {"nonholonomic", planar(at_rest, "skate = \"der(x) = y*der(y)\""), 2, 1, 3, 3, 0},
      {"mixed",
       planar(at_rest + "\nz = 0", "rod = \"x^2 + y^2 = 1\"\nskate = \"der(z) = y*der(y)\"",
              "(der(x)^2 + der(y)^2 + der(z)^2)/2"),
       3, 1, 3, 5, 0},
      {"algebraic",
       planar(at_rest, "", "(der(x)^2 + der(y)^2)/2", "[auxiliary]\nw = 1\n[equations]\nloop = \"w^3 + w = x\"\n"), 1,
       2, 4, 3, 0},
      {"differential",
       planar(at_rest, "", "(der(x)^2 + der(y)^2)/2", "[auxiliary]\nw = 1\n[equations]\ncoil = \"der(w) = x - w\"\n"),
       0, 2, 5, 3, 0},
      {"redundant", planar(at_rest, "rod = \"x^2 + y^2 = 1\"\nagain = \"x^2 + y^2 = 1\""), 3, 1, 2, 4, 1},
      {"holonomic and its own derivative",
       planar(at_rest, "skate = \"x*der(x) + y*der(y) = 0\"\nrod = \"x^2 + y^2 = 1\""), 3, 1, 2, 4, 1},
  };
  for (const Expected& expected : all) {
    SCOPED_TRACE(expected.name);
    const solve::Analysis analysis = analysed(expected.text);
    EXPECT_EQ(analysis.index, expected.index);
    EXPECT_EQ(analysis.degrees_of_freedom, expected.freedom);
    EXPECT_EQ(analysis.free_initial_values, expected.free_values);
    EXPECT_EQ(analysis.unknowns, expected.unknowns);
    EXPECT_EQ(analysis.equations, expected.unknowns);
    EXPECT_EQ(analysis.redundant.size(), expected.redundant);
    EXPECT_TRUE(analysis.consistent);
    if (expected.redundant == 0) {
      EXPECT_EQ(analysis.structural_index, expected.index);
    }
  }
}

TEST(Analysis, HiddenConstraintsHaveLevelsAndText) {
  const solve::Analysis analysis = analysed(planar("x = 0.6\ny = 0.8", "rod = \"x^2 + y^2 = 1\""));
  ASSERT_EQ(analysis.hidden.size(), 2u);
  EXPECT_EQ(analysis.hidden[0].of, "rod");
  EXPECT_EQ(analysis.hidden[0].level, 1);
  EXPECT_EQ(analysis.hidden[0].equation, "2*x*der(x) + 2*y*der(y) = 0");
  EXPECT_EQ(analysis.hidden[1].level, 2);
}

/// More constraints than coordinates: no assignment exists, and that is said; three rods to one point can even hold.
TEST(Analysis, StructurallySingularIsSaid) {
  const solve::Analysis analysis = analysed(planar("x = 0\ny = 0", "a = \"x = 0\"\nb = \"y = 0\"\nc = \"x + y = 0\""));
  EXPECT_FALSE(analysis.structural_index.has_value());
  EXPECT_EQ(analysis.degrees_of_freedom, 0u);
  EXPECT_TRUE(std::any_of(analysis.notes.begin(), analysis.notes.end(),
                          [](const std::string& note) { return contains(note, "structurally singular"); }));
}

TEST(Analysis, AnInconsistentOrContradictedStartIsARemark) {
  const solve::Analysis off = analysed(planar("x = 0.6\ny = 0.9", "rod = \"x^2 + y^2 = 1\""));
  EXPECT_FALSE(off.consistent);
  ASSERT_EQ(off.violations.size(), 1u);
  EXPECT_EQ(off.index, 3);
  const solve::Analysis fixed =
      analysed(planar("x = { start = 1, fixed = true }\ny = { start = 1, fixed = true }", "rod = \"x^2 + y^2 = 1\""));
  EXPECT_FALSE(fixed.consistent);
  ASSERT_FALSE(fixed.notes.empty());
  EXPECT_TRUE(contains(fixed.notes[0], "x = 1"));
}

TEST(Analysis, UndeterminedAuxiliaryUnknownsHaveNoIndex) {
  const solve::Analysis analysis =
      analysed(planar("x = 0.6\ny = 0.8", "", "(der(x)^2 + der(y)^2)/2",
                      "[auxiliary]\nu = 0\nw = 0\n[equations]\ne1 = \"u + w = x\"\ne2 = \"2*u + 2*w = 2*x\"\n"));
  EXPECT_FALSE(analysis.index.has_value());
}

solve::Analysis analysed_model(const std::string& text) {
  return solve::analyze(std::make_shared<const model::Model>(model::read_model_text(text, "test")), 0.0);
}

std::string plain(const std::string& variables, const std::string& equations) {
  return "kind = \"dae\"\n[variables]\n" + variables + "\n[equations]\n" + equations;
}

using Verdict = solve::StructureCheck::Verdict;

TEST(Analysis, OfADaeHasItsStructure) {
  const solve::Analysis pendulum = analysed_model(
      plain("x = 0.6\ny = -0.8\nlam = 0", "fx = \"x'' = -lam*x\"\nfy = \"y'' = -lam*y - 9.81\"\nrod = \"x^2 + y^2 = 1\""));
  EXPECT_EQ(pendulum.index, 3);
  EXPECT_EQ(pendulum.structural_index, 3);
  EXPECT_EQ(pendulum.free_initial_values, 2u);
  EXPECT_EQ(pendulum.structure_check.verdict, Verdict::regular);
  ASSERT_EQ(pendulum.structure.blocks.size(), 1u);
  EXPECT_EQ(pendulum.structure.highest_derivative(0), "der(x,2)");

  const solve::Analysis easy = analysed_model(plain("x = 1\nz = 0", "rate = \"x' = -z\"\nroot = \"z^3 + z = x\""));
  EXPECT_EQ(easy.index, 1);
  EXPECT_EQ(easy.structural_index, 1);
  EXPECT_EQ(easy.free_initial_values, 1u);
  EXPECT_EQ(easy.structure_check.verdict, Verdict::regular);
}

/// The examples of 003 and 002: which are easy, what relative degree their constraints have, and Lemma 1.
TEST(Analysis, TellsEasyEquationsAndRelativeDegrees) {
  const solve::Analysis easy =
      analysed_model(plain("x = 0\nz = -2", "first = \"x - x' + 1 = 0\"\nsecond = \"x'*z + 2 = 0\""));
  ASSERT_TRUE(easy.easy);
  EXPECT_TRUE(easy.easy->easy());
  EXPECT_EQ(easy.easy->rank, 2u);
  EXPECT_FALSE(easy.degrees);  // x' stands in both equations: not semi-explicit

  const solve::Analysis hard = analysed_model(
      plain("x1 = 1\nx2 = 0\nz = 0", "first = \"x1' = z\"\nsecond = \"x2' = x1\"\npath = \"x2 = sin(t)\""));
  ASSERT_TRUE(hard.easy);
  EXPECT_EQ(hard.easy->rank, 2u);
  EXPECT_EQ(hard.easy->size, 3u);
  EXPECT_EQ(hard.easy->dependent, std::vector<std::string>{"path"});
  ASSERT_TRUE(hard.degrees);
  EXPECT_EQ(hard.degrees->degree[0], 2u);
  EXPECT_EQ(hard.degrees->index, 3u);
  EXPECT_EQ(hard.index, 3);

  // Both constraints have degree 1 by the same input; the index is not 2.
  const solve::Analysis same = analysed_model(
      plain("x = 0\ny = 1\nw = 0\nu = 0\nv = 0",
            "fx = \"x' = u\"\nfy = \"y' = w + u\"\nfw = \"w' = v\"\ngx = \"x = sin(t)\"\ngy = \"y = cos(t)\""));
  ASSERT_TRUE(same.degrees);
  EXPECT_EQ(same.degrees->rank, 1u);
  EXPECT_FALSE(same.degrees->index);
  EXPECT_EQ(same.index, 3);

  // 002's own class: mechanics, whose multipliers show in the second derivative of the constraint.
  const solve::Analysis pendulum = analysed(planar("x = 0.6\ny = 0.8", "rod = \"x^2 + y^2 = 1\""));
  ASSERT_TRUE(pendulum.degrees);
  EXPECT_EQ(pendulum.degrees->degree[0], 2u);
  EXPECT_EQ(pendulum.degrees->index, 3u);
}

TEST(Analysis, OfWhatCannotBeRunHasAVerdict) {
  const solve::Analysis rough = analysed_model(
      "kind = \"dae\"\n[tables]\nroad = { x = [0, 1, 2], y = [0, 1, 0], interpolation = \"linear\" }\n[variables]\nx = 0\n"
      "v = 0\nz = 0\n[equations]\na = \"x' = v\"\nb = \"v' = z + x^2\"\nfollow = \"x = road(t)\"");
  EXPECT_FALSE(rough.runnable);
  EXPECT_FALSE(rough.consistent);
  EXPECT_EQ(rough.structural_index, 3);
  ASSERT_FALSE(rough.notes.empty());
  EXPECT_NE(rough.notes[0].find("'road'"), std::string::npos);

  const solve::Analysis driven = analysed_model(
      "kind = \"lagrangian\"\n[tables]\npath = { x = [0, 1, 2], y = [0, 1, 0], interpolation = \"linear\" }\n[variables]\n"
      "x = 0\ny = 0\n[lagrangian]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"y\"\n[constraints]\ndrive = \"x = path(t)\"");
  EXPECT_FALSE(driven.runnable);
  EXPECT_EQ(driven.structural_index, 3);
}

/// The same pendulum by its Lagrangian: multipliers are unknowns, equations of motion have the names of coordinates.
TEST(Analysis, OfMechanicsHasTheStructureOfItsEquations) {
  const solve::Analysis pendulum = analysed(planar("x = 0.6\ny = 0.8", "rod = \"x^2 + y^2 = 1\""));
  const structure::StructuralAnalysis& structure = pendulum.structure;
  EXPECT_EQ(structure.equations, (std::vector<std::string>{"motion of x", "motion of y", "rod"}));
  EXPECT_EQ(structure.unknowns, (std::vector<std::string>{"x", "y", "lambda.rod"}));
  EXPECT_EQ(structure.sigma->offsets.c, (std::vector<int>{0, 0, 2}));
  EXPECT_EQ(structure.sigma->offsets.d, (std::vector<int>{2, 2, 0}));
}

TEST(Analysis, SaysWhereStructureDeceives) {
  const solve::Analysis coupled = analysed_model(
      plain("x = 1\ny = 0.5", "rate = \"x' + y' = -x\"\nboth = \"x' + y' + x - 2*y = -x + sin(t)\""));
  EXPECT_EQ(coupled.index, 1);
  EXPECT_EQ(coupled.structural_index, 0);
  EXPECT_EQ(coupled.structure_check.verdict, Verdict::singular);
  EXPECT_EQ(coupled.structure_check.dependent, (std::vector<std::string>{"both"}));
  EXPECT_EQ(coupled.free_initial_values, 1u);
  EXPECT_TRUE(std::any_of(coupled.notes.begin(), coupled.notes.end(),
                          [](const std::string& note) { return contains(note, "does not tell the index"); }));
}

TEST(Analysis, OfSingularEquationsNamesTheParts) {
  const solve::Analysis wrong = analysed_model(
      plain("x = 1\ny = 0\nz = 0", "a = \"x' = -x\"\nb = \"x = exp(-t)\"\nc = \"y + z = x\""));
  EXPECT_FALSE(wrong.index);
  EXPECT_FALSE(wrong.structural_index);
  EXPECT_FALSE(wrong.consistent);
  EXPECT_EQ(wrong.structure.text_of(wrong.structure.parts.over), "2 equations (a and b) for 1 unknown (x)");
  EXPECT_EQ(wrong.structure.text_of(wrong.structure.parts.under), "1 equation (c) for 2 unknowns (y and z)");
  const solve::Analysis wide = analysed_model("kind = \"linear\"\n[linear]\nE = [[1, 0]]\nA = [[0, 1]]\n");
  EXPECT_EQ(wide.system_class, "fewer equations than unknowns");
}

}  // namespace
}  // namespace daedalus::tests
