// The derivation step by step and the analysis come to the same index, on every model that comes with the program.
#include "daedalus/solve/derivation.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/analysis.hpp"
#include "folders.hpp"

namespace daedalus {
namespace {

solve::Prepared prepared(const std::string& text) { return solve::prepare(model::read_model_text(text, "test")); }

TEST(Derivation, AgreesWithTheAnalysisOfEveryModel) {
  std::size_t complete = 0, all = 0;
  for (const auto& entry : std::filesystem::directory_iterator(tests::source_folder() + "/models")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".toml" || name == "two_bit_adder" || name == "fekete") continue;  // seconds each
    SCOPED_TRACE(name);
    const auto model = std::make_shared<const model::Model>(model::read_model(entry.path().string()));
    if (model->kind == model::Kind::linear) continue;  // has a way of its own
    const solve::Prepared ready = solve::prepare(model);
    const double t = solve::start_time(*model, {});
    const structure::Derivation steps = solve::derivation(ready, t);
    const solve::Analysis analysis = solve::analyze(ready, t);
    ++all;
    if (steps.complete) ++complete;
    ASSERT_EQ(steps.index.has_value(), analysis.index.has_value());
    if (!steps.index) continue;
    const auto index = static_cast<std::size_t>(*analysis.index);
    EXPECT_EQ(*steps.index, index);
    if (analysis.degrees) {
      EXPECT_EQ(analysis.degrees->index.value_or(index), index);
    }
    ASSERT_TRUE(analysis.easy);
    EXPECT_TRUE(!analysis.easy->easy() || index <= 1);
  }
  EXPECT_GE(all, 38u);
  // The redundant constraints of the parallelogram leave multipliers open, and the contacts of the wheelset's rims no unknown for which
  // they could be solved in symbols.
  EXPECT_EQ(complete, all - 2);
}

TEST(Derivation, OfMechanicsShowsTheConstraintOnEveryLevel) {
  const structure::Derivation steps = solve::derivation(
      prepared("kind = \"lagrangian\"\n[variables]\nx = 0.6\ny = 0.8\n[lagrangian]\nkinetic = \"(x'^2 + y'^2)/2\"\n"
               "potential = \"9.81*y\"\n[constraints]\nrod = \"x^2 + y^2 = 1\""),
      0.0);
  ASSERT_EQ(steps.conditions.size(), 2u);
  EXPECT_EQ(steps.conditions[0].name, "rod");
  EXPECT_EQ(steps.conditions[1].name, "der(rod)");
  ASSERT_EQ(steps.reduced.size(), 3u);
  EXPECT_EQ(steps.reduced[2].name, "der(rod,2)");
  EXPECT_EQ(steps.index, 3u);
}

TEST(Derivation, TellsTheIndexOfTheArrayWhereSymbolsFail) {
  // sinh(y) = x is hidden in two equations for x', of which none can be solved for it.
  const structure::Derivation steps = solve::derivation(
      prepared("kind = \"dae\"\n[variables]\nx = 1\ny = 1\nz = 0\n[equations]\nfirst = \"x' + x'^5 = y\"\n"
               "second = \"sinh(x' + x'^5) = x\"\nthird = \"y' = z\""),
      0.0);
  EXPECT_FALSE(steps.complete);
  EXPECT_EQ(steps.index, 2u);
  EXPECT_NE(steps.steps.back().parts.back().text.find("ranks of the derivative array"), std::string::npos);
}

TEST(Derivation, KnowsThatSingularMassesNeedFewerDifferentiations) {
  // 0 = lambda by the motion of b, whose mass is only in a + b; the constraint holds a - b, so that M is singular along it.
  const std::string text =
      "kind = \"lagrangian\"\n[variables]\na = 1\nb = 1\n[lagrangian]\nkinetic = \"(a' + b')^2/2\"\npotential = \"a*b\"\n"
      "[constraints]\ngap = \"a - b = 0\"";
  const solve::Prepared ready = prepared(text);
  EXPECT_EQ(solve::derivation(ready, 0.0).index, 2u);
  EXPECT_EQ(solve::analyze(ready, 0.0).index, 2);
  // The same as plain equations, by the definition of the index.
  const solve::Prepared plain =
      prepared("kind = \"dae\"\n[variables]\na = 1\nb = 1\nl = 0\n[equations]\nma = \"a'' + b'' + b + l = 0\"\n"
               "mb = \"a'' + b'' + a - l = 0\"\ngap = \"a - b = 0\"");
  EXPECT_EQ(solve::analyze(plain, 0.0).index, 2);
}

}  // namespace
}  // namespace daedalus
