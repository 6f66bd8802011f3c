// DAEs of index 0 and 1: the first-order form, what can be solved as it stands, and derivatives that follow only from
// derivatives of the equations. Where no other tolerance is derived: some units of round-off of values of size 1.
#include <gtest/gtest.h>

#include <cmath>

#include "daedalus/model/reader.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::structure {
namespace {

constexpr double round_off = 1e-14;

std::shared_ptr<const DaeFunctions> functions_of(const std::string& text) {
  return compile_dae(std::make_shared<const model::Model>(model::read_model_text(text, "test")));
}

TEST(FirstOrder, HigherDerivativesBecomeUnknowns) {
  const auto fn = functions_of(R"toml(
kind = "dae"
[variables]
z = 0
x = 1
"der(x)" = 2
"der(x,2)" = 3
[equations]
third = "der(x,3) = -x + z"
algebraic = "z = der(x)^2"
)toml");
  ASSERT_EQ(fn->dimension(), 4u);
  EXPECT_EQ(fn->differential, 3u);
  const std::vector<std::string> names{"x", "der(x)", "der(x,2)", "z"};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(fn->unknowns[i].name, names[i]);
  EXPECT_EQ(fn->unknowns[2].start.value, 3.0);
  ASSERT_EQ(fn->algebraic_rows.size(), 1u);
  EXPECT_EQ(fn->rows[fn->algebraic_rows[0]].name, "algebraic");
  std::vector<std::string> columns;
  for (const auto& column : fn->columns) columns.push_back(column.name);
  EXPECT_EQ(columns, (std::vector<std::string>{"z", "x", "der(x)", "der(x,2)", "der(x,3)"}));

  DaeEvaluator evaluator(fn);
  const double x[] = {1.0, 2.0, 3.0};
  ASSERT_EQ(evaluator.solve(0.0, x), DaeOutcome::ok);
  EXPECT_NEAR(evaluator.y()[3], 4.0, round_off);   // z = der(x)^2
  EXPECT_NEAR(evaluator.dy()[0], 2.0, round_off);  // x' is der(x)
  EXPECT_NEAR(evaluator.dy()[1], 3.0, round_off);
  EXPECT_NEAR(evaluator.dy()[2], 3.0, round_off);  // -x + z
}

TEST(FirstOrder, LinearModelsAreTheSameEquations) {
  const auto fn = functions_of(R"toml(
kind = "linear"
[linear]
E = [[1, 0], [0, 0]]
A = [[-2, 1], [1, -4]]
f = ["t", "8"]
[variables]
x1 = 1
x2 = 0
)toml");
  DaeEvaluator evaluator(fn);
  const double x[] = {1.0};
  ASSERT_EQ(evaluator.solve(3.0, x), DaeOutcome::ok);
  EXPECT_NEAR(evaluator.y()[1], 2.25, round_off);                // 0 = x1 - 4 x2 + 8
  EXPECT_NEAR(evaluator.dy()[0], -2.0 + 2.25 + 3.0, round_off);  // x1' = -2 x1 + x2 + t
}

// x' and y' occur only as x' + y', so that the second equation is hidden: x - 2 y = sin t. Its derivative gives
// x' - 2 y' = cos t, and with x' + y' = -x both are known.
constexpr const char* coupled = R"toml(
kind = "dae"
[variables]
x = 1
y = 0.5
[equations]
rate = "der(x) + der(y) = -x"
both = "der(x) + der(y) + x - 2*y = -x + sin(t)"
)toml";

TEST(DaeEvaluator, FindsDerivativesThatFollowFromDerivatives) {
  DaeEvaluator evaluator(functions_of(coupled));
  const double t = 0.3, y = 0.4, state[] = {2.0 * y + std::sin(t), y}, none[] = {0.0, 0.0};
  EXPECT_FALSE(evaluator.easy(t, state, none));
  EXPECT_TRUE(evaluator.index_at_most_one(t, state, none));
  EXPECT_EQ(evaluator.hidden_equations(), 1u);
  ASSERT_EQ(evaluator.derivatives(t, state), DaeOutcome::ok);
  const double sum = -state[0], difference = std::cos(t);  // x' + y' and x' - 2 y'
  EXPECT_NEAR(evaluator.dy()[1], (sum - difference) / 3.0, round_off);
  EXPECT_NEAR(evaluator.dy()[0], sum - (sum - difference) / 3.0, round_off);
}

TEST(DaeEvaluator, KnowsAnIndexAboveOne) {
  // x' = z, 0 = x - sin t: z follows from the derivative of the second equation.
  DaeEvaluator evaluator(functions_of(R"toml(
kind = "dae"
[variables]
x = 0
z = 1
[equations]
motion = "der(x) = z"
path = "x = sin(t)"
)toml"));
  const double state[] = {0.0, 1.0}, rate[] = {1.0, 0.0};
  EXPECT_FALSE(evaluator.index_at_most_one(0.0, state, rate));
}

TEST(DaeEvaluator, KeepsItsGuessWhereNoSolutionIsFound) {
  DaeEvaluator evaluator(functions_of(R"toml(
kind = "dae"
[variables]
x = 1
z = 1
[equations]
rate = "der(x) = -z"
root = "z^2 = x"
)toml"));
  const double good[] = {4.0}, bad[] = {-1.0}, near[] = {4.41};
  evaluator.guess({1.0, 1.0}, {0.0, 0.0});
  ASSERT_EQ(evaluator.solve(0.0, good), DaeOutcome::ok);
  EXPECT_NEAR(evaluator.y()[1], 2.0, round_off);
  EXPECT_NE(evaluator.solve(0.0, bad), DaeOutcome::ok);  // no real root
  EXPECT_FALSE(evaluator.explain().empty());
  ASSERT_EQ(evaluator.solve(0.0, near), DaeOutcome::ok);
  EXPECT_NEAR(evaluator.y()[1], 2.1, round_off);  // on the branch it came on
}

}  // namespace
}  // namespace daedalus::structure
