// Index reduction by substitution, step by step: the index against those that are known, the equations it comes to against
// exact solutions.
#include "daedalus/structure/substitution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/structure/elimination.hpp"
#include "daedalus/structure/numerical_index.hpp"
#include "unit/structure/dae_examples.hpp"

namespace daedalus::structure {
namespace {

using testing::DaeExample;
using testing::Mixing;
using Values = std::vector<std::pair<std::string, double>>;

/// A consistent point by the names of unknowns and derivatives, found by the derivative array.
Values consistent_point(const std::shared_ptr<const DaeFunctions>& functions) {
  ArrayPoint start;
  for (const auto& unknown : functions->unknowns) start.jets.push_back(unknown.start.value);
  const ArrayPoint point = numerical_index(std::make_shared<DerivativeArray>(functions), start).point;
  Values values;
  const std::size_t n = functions->dimension();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 2 && k * n + i < point.jets.size(); ++k)
      values.emplace_back(model::derivative_name(functions->unknowns[i].of->name, functions->unknowns[i].times + k),
                          point.jets[k * n + i]);
  return values;
}

Derivation derived(const std::shared_ptr<const DaeFunctions>& functions) {
  return substitution(equations_of(*functions->model), 0.0, consistent_point(functions));
}

std::string last_words(const Derivation& derivation) { return derivation.steps.back().parts.back().text; }

std::string text_of(const Derivation::Equation& equation) {
  return expr::to_text(equation.left) + " = " + expr::to_text(equation.right);
}

TEST(Substitution, FindsTheIndexOfTheExamples) {
  for (const DaeExample& example : testing::dae_examples()) {
    SCOPED_TRACE(example.name);
    const Derivation found = derived(testing::compiled(example, Mixing::none));
    EXPECT_TRUE(found.complete) << last_words(found);
    EXPECT_EQ(found.index, example.index);
  }
}

TEST(Substitution, ComesToEquationsThatTheSolutionSatisfies) {
  std::size_t tried = 0;
  for (const DaeExample& example : testing::dae_examples()) {
    if (!example.solution) continue;
    SCOPED_TRACE(example.name);
    const auto functions = testing::compiled(example, Mixing::none);
    const EquationSet system = equations_of(*functions->model);
    const Derivation found = derived(functions);
    for (const double t : {0.1, 0.7}) {
      // Derivatives by central differences with h = 1e-4 are right to h^2/6 times the third ones, below 2e-6 of what is
      // there (Example 2.1 has numbers of size 200).
      constexpr double h = 1e-4;
      SymbolValues values = system.parameters;
      values[system.time.id()] = t;
      const auto at = example.solution(t), before = example.solution(t - h), after = example.solution(t + h);
      double size = 1.0;
      for (std::size_t i = 0; i < at.size(); ++i) {
        values[system.unknowns[i].derivatives[0].id()] = at[i];
        size = std::max(size, std::abs(at[i]));
        if (system.unknowns[i].derivatives.size() > 1)
          values[system.unknowns[i].derivatives[1].id()] = (after[i] - before[i]) / (2.0 * h);
      }
      for (const auto& condition : found.conditions)
        EXPECT_NEAR(expr::evaluate(condition.left, values), 0.0, 1e-12 * size) << text_of(condition);
      for (const auto& equation : found.reduced)
        EXPECT_NEAR(expr::evaluate(equation.left, values), 0.0, 2e-6 * size) << text_of(equation);
      tried += found.conditions.size() + found.reduced.size();
    }
  }
  EXPECT_GT(tried, 40u);
}

TEST(Substitution, FindsAsManyConditionsAsThereAreConstraints) {
  // An index above 1 with z in the easy system: the conditions and the rows that determine z are all constraints on y.
  for (const DaeExample& example : testing::dae_examples()) {
    SCOPED_TRACE(example.name);
    const auto functions = testing::compiled(example, Mixing::none);
    const Derivation found = derived(functions);
    EXPECT_EQ(found.conditions.size() + functions->dimension() - functions->differential, example.constraints);
  }
}

TEST(Substitution, SeesThroughMixedEquations) {
  for (const DaeExample& example : testing::dae_examples()) {
    SCOPED_TRACE(example.name);
    const Derivation found = derived(testing::compiled(example, Mixing::dense));
    if (found.complete) {
      EXPECT_EQ(found.index, example.index);
    } else {
      ADD_FAILURE() << last_words(found);
    }
  }
}

TEST(Substitution, FindsTheIndexOfRandomEquations) {
  const bool all = std::getenv("DAEDALUS_LONG") != nullptr;
  std::size_t complete = 0, tried = 0;
  for (std::uint64_t seed = 1; seed <= (all ? 300u : 20u); ++seed)
    for (const testing::Hiding hiding : {testing::Hiding::linear, testing::Hiding::nonlinear}) {
      SCOPED_TRACE(seed);
      const testing::KnownDae known = testing::random_dae(5 + seed % 6, seed % 5, seed, hiding);
      const Derivation found = derived(known.functions);
      ++tried;
      if (!found.complete) continue;
      ++complete;
      EXPECT_EQ(found.index, known.index);
    }
  EXPECT_GT(complete, tried / 2);
}

TEST(Substitution, SaysWhatItCannotSolve) {
  // The derivatives in `both` follow from x1' + x1'^5 = 1 + y, which no formula solves for x1'.
  model::Builder b("quintic", model::Kind::dae);
  const auto x1 = b.variable("x1", {.start = 0.0}), x2 = b.variable("x2", {.start = 0.0}), y = b.variable("y", {.start = 1.0});
  const auto implicit = b.der(x1) + pow(b.der(x1), 5.0);
  b.equation("first", implicit, 1.0 + y);
  b.equation("second", b.der(x2), x1);
  b.equation("both", implicit - y, cos(b.der(x2) - x1));
  const auto model = b.build();
  const Derivation found = substitution(equations_of(model), 0.0, {{"der(x1)", 0.7}});
  EXPECT_FALSE(found.complete);
  EXPECT_FALSE(found.index);
}

TEST(Substitution, SaysThatAnEquationFollowsFromOthers) {
  model::Builder b("twice", model::Kind::dae);
  const auto x = b.variable("x", {.start = 0.0}), y = b.variable("y", {.start = 0.0});
  b.equation("first", b.der(x) + b.der(y), x);
  b.equation("again", 2.0 * b.der(x) + 2.0 * b.der(y), 2.0 * x);
  const auto model = b.build();
  const Derivation found = substitution(equations_of(model), 0.0, {});
  EXPECT_FALSE(found.complete);
  EXPECT_NE(last_words(found).find("it follows from the others"), std::string::npos) << last_words(found);
}

TEST(Elimination, DropsWhatRoundOffLeaves) {
  // 0.1 (x + y) + 0.2 (x + y) - 0.3 (x + y) is zero but for the last digit of its coefficients.
  expr::Graph graph;
  const auto w = graph.symbol("w"), x = graph.symbol("x"), z = graph.symbol("z");
  const Elimination found =
      eliminate(0.1 * w + 0.2 * w + 0.1 * x + z, {0.3 * w + 0.1 * x}, {w.id()},
                {{{w.id(), 1.0}, {x.id(), 2.0}, {z.id(), 3.0}}, {{w.id(), 1.1}, {x.id(), 2.3}, {z.id(), 3.2}}});
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(expr::to_text(found.residual), "z");
}

}  // namespace
}  // namespace daedalus::structure
