// The derivative array against derivatives along a known curve, against symbolic Jacobians, and how it grows.
#include "daedalus/structure/derivative_array.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "daedalus/expr/substitute.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/structure/array_values.hpp"
#include "unit/structure/dae_examples.hpp"

namespace daedalus::structure {
namespace {

std::shared_ptr<const DaeFunctions> functions_of(const std::string& text) {
  return compile_dae(std::make_shared<const model::Model>(model::read_model_text(text, "test")));
}

TEST(DerivativeArray, IsTheDerivativeAlongACurve) {
  // Along x = sin t, z = e^t the left sides are (1 + cos 2t)/2 + e^t sin t and e^(2t).
  const auto functions = functions_of(R"toml(
kind = "dae"
[variables]
x = 0
z = 1
[equations]
first = "der(x)^2 + x*z = 0"
second = "z^2 = 0"
)toml");
  DerivativeArray array(functions);
  ASSERT_TRUE(array.extend(6));
  const double t = 0.7;
  std::vector<double> jets;
  for (int k = 0; k <= 6; ++k) {
    jets.push_back(std::sin(t + k * std::numbers::pi / 2.0));
    jets.push_back(std::exp(t));
  }
  for (int k = 0; k < 6; ++k) {
    const compile::Function& function = array.level(static_cast<std::size_t>(k)).function;
    auto scratch = function.make_scratch();
    std::vector<double> values(function.output_count());
    const double* inputs[] = {&t, jets.data()};
    function(inputs, values.data(), scratch);
    const double cosine =
        std::pow(2.0, k) * std::cos(2.0 * t + k * std::numbers::pi / 2.0) / 2.0 + (k == 0 ? 0.5 : 0.0);
    const double product = std::pow(2.0, k / 2.0) * std::exp(t) * std::sin(t + k * std::numbers::pi / 4.0);
    // Some units of round-off of up to 2^k terms of size 10.
    EXPECT_NEAR(values[0], cosine + product, 1e-13 * std::pow(2.0, k)) << k;
    EXPECT_NEAR(values[1], std::pow(2.0, k) * std::exp(2.0 * t), 1e-13 * std::pow(2.0, k)) << k;
  }
}

// The blocks that ArrayValues puts together from D^i F_y and D^i F_y', against symbolic Jacobians of D^k F.
TEST(DerivativeArray, HasTheJacobiansOfItsLevels) {
  const testing::KnownDae dae = testing::random_dae(6, 3, 5, testing::Hiding::nonlinear);
  const auto array = std::make_shared<DerivativeArray>(dae.functions);
  ASSERT_TRUE(array->extend(4));
  const std::size_t n = 6, levels = 4;
  testing::Random random(3);
  const TaylorScale scale{0.7, std::vector<double>{1.0, 2.0, 0.5, 1.0, 3.0, 1.0}};
  ArrayValues values(array, levels, scale);
  std::vector<double> u(values.columns()), jets(values.columns()), column(values.rows());
  for (double& x : u) x = random.uniform(-1.0, 1.0);
  values.to_jets(u.data(), jets.data());
  const double t = 0.4;
  ASSERT_TRUE(values.evaluate(t, u.data()));

  std::unordered_map<expr::NodeId, double> numbers = dae.functions->model->numbers();
  numbers[dae.functions->equations.t.id()] = t;
  for (std::size_t j = 0; j <= levels; ++j)
    for (std::size_t i = 0; i < n; ++i) numbers[array->jet(j)[i].id()] = jets[j * n + i];
  const auto taylor = [&](std::size_t k) {
    return std::pow(scale.h, static_cast<double>(k)) / std::tgamma(static_cast<double>(k) + 1.0);
  };
  for (std::size_t j = 0; j <= levels; ++j)
    for (std::size_t i = 0; i < n; ++i) {
      values.column(j, i, column.data());
      for (std::size_t k = 0; k < levels; ++k)
        for (std::size_t r = 0; r < n; ++r) {
          const double exact = expr::evaluate(expr::partial(array->level(k).F[r], array->jet(j)[i]), numbers);
          const double expected = exact * taylor(k) / taylor(j) * scale.s[i];
          // Two ways to sum some hundred terms.
          EXPECT_NEAR(column[k * n + r], expected, 1e-12 * (1.0 + std::abs(expected))) << k << r << j << i;
        }
    }
  const linalg::Sparsity pattern = values.pattern();
  std::vector<double> entries(pattern.nonzeros());
  values.values(entries.data());
  for (std::size_t j = 0; j <= levels; ++j)
    for (std::size_t i = 0; i < n; ++i) {
      values.column(j, i, column.data());
      for (std::size_t r = 0; r < values.rows(); ++r) {
        double found = 0.0;
        for (std::size_t k = pattern.row_start[r]; k < pattern.row_start[r + 1]; ++k)
          if (pattern.column[k] == j * n + i) found = entries[k];
        EXPECT_EQ(found, column[r]);
      }
    }
}

TEST(DerivativeArray, FollowsTheSwitchesOfTheModel) {
  const auto functions = functions_of(R"toml(
kind = "dae"
[variables]
x = 1
z = 1
[equations]
rate = "der(x) = -z"
force = "z = if(x > 0, x^2, 3*x)"
)toml");
  DerivativeArray array(functions);
  ASSERT_TRUE(array.extend(2));
  ASSERT_EQ(functions->switches.size(), 1u);
  std::vector<double> frozen = functions->switches.free_modes({});
  const compile::Function& function = array.level(1).function;
  auto scratch = function.make_scratch();
  std::vector<double> values(function.output_count());
  const double t = 0.0, jets[] = {2.0, 0.0, 0.5, 0.0, 0.0, 0.0};
  const double* inputs[] = {&t, jets};
  function(inputs, values.data(), scratch, frozen.data());
  EXPECT_EQ(values[1], -2.0 * 2.0 * 0.5);  // D(z - x^2)
  const std::unordered_map<expr::NodeId, double> below{{array.jet(0)[0].id(), -2.0}};
  frozen[functions->switches.place(0)] =
      functions->switches[0].mode(expr::evaluate(functions->switches[0].function, below));
  function(inputs, values.data(), scratch, frozen.data());
  EXPECT_EQ(values[1], -3.0 * 0.5);  // D(z - 3 x), although x > 0
}

// Equal expressions are one node: D^k of products, powers and sines grows like a power of k. Quotients and roots double
// with every level, which for a sensible index is no matter.
TEST(DerivativeArray, GrowsLikeAPower) {
  const auto operations = [](const std::string& equation, std::size_t level) {
    DerivativeArray array(
        functions_of("kind = \"dae\"\n[variables]\nx = 1\nz = 1\n[equations]\nrate = \"der(x) = z\"\n" +
                     ("path = \"" + equation + "\"\n")));
    EXPECT_TRUE(array.extend(level + 1));
    return static_cast<double>(array.level(level).function.operation_count());
  };
  for (const char* equation : {"x*z + x^2*z = 1", "sin(x*z) + cos(x) = 1", "x^2.5*z^1.5 = 1", "exp(x*z) = 3"})
    EXPECT_LT(operations(equation, 8), std::pow(2.0, 4.0) * operations(equation, 4)) << equation;
  for (const char* equation : {"x/(1 + z^2) = 1", "sqrt(1 + x^2 + z^2) = 2", "exp(-x/z)/(1 + x) = 1"})
    EXPECT_LT(operations(equation, 8), std::pow(2.1, 4.0) * operations(equation, 4)) << equation;
}

TEST(DerivativeArray, RefusesTablesInTheWordsOfTheModel) {
  const auto functions = functions_of(R"toml(
kind = "dae"
[tables.u]
x = [0, 1, 2, 3]
y = [0, 1, 0, 1]
interpolation = "linear"
[variables]
x = 0
z = 1
[equations]
rate = "der(x) = z"
path = "x = u(t)"
)toml");
  DerivativeArray array(functions);
  ASSERT_TRUE(array.extend(3));
  EXPECT_TRUE(array.level(1).rough.empty());
  ASSERT_EQ(array.level(2).rough.size(), 1u);
  try {
    refuse_rough_tables(*functions, array.level(2).rough);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("the equation 'path' must be differentiated 2 times, and so needs the second "
                        "derivative of the table 'u'"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace daedalus::structure
