// Stages of a step in one call, beside evaluations one by one; and the slopes that a projection leaves behind.
#include "unit/formulate/tools.hpp"

namespace daedalus::tests {
namespace {

/// The classical method of Runge, with a second sum that has a weight of 0.
integrate::ExplicitStages classical(std::size_t stride) {
  return {{0.5, 0.5, 1.0},
          {{0.5, 0.0, 0.0, 0.0}, {0.0, 0.5, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}},
          {{1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0}, {1.0, 0.0, -2.0, 1.0}},
          stride};
}

/// Both ways differ by round-off, which the KKT matrices of the models (conditions below 1e8) do not make larger than 1e-9 of
/// the slopes.
TEST(StageLine, EqualsEvaluationsOneByOne) {
  std::size_t short_ones = 0, long_ones = 0;
  for (const std::string& name : smooth_models()) {
    SCOPED_TRACE(name);
    const solve::Prepared model = prepared_model(name);
    if (!solve::consistent_start(model, 0.0, solve::Initialize::project).redundant.empty()) continue;
    Ready ready(model, "projection");
    const integrate::System& system = ready.formulated.system;
    if (!system.stages_in_line) continue;
    const std::size_t n = system.dimension, stride = (n + 3) / 4 * 4;
    const integrate::ExplicitStages stages = classical(stride);
    const integrate::StagesInLine line = system.stages_in_line(stages);
    std::vector<double> x = ready.x, k1 = ready.slope(x);
    x.resize(stride);
    k1.resize(stride);
    const double t = 0.0, h = 1e-4;
    std::vector<double> results(6 * stride, 7.0);
    if (!line(t, h, x.data(), k1.data(), results.data())) continue;
    ++(n <= 8 ? short_ones : long_ones);

    std::vector<std::vector<double>> k{ready.slope(ready.x)};
    const auto sum = [&](const std::vector<double>& weights, std::size_t i) {
      double total = 0.0;
      for (std::size_t j = 0; j < k.size(); ++j) total += weights[j] * k[j][i];
      return total;
    };
    const auto expect = [&](std::size_t row, const std::vector<double>& values) {
      const double size = size_of(values);
      for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(results[row * stride + i], values[i], 1e-9 * size) << "row " << row;
      for (std::size_t i = n; i < stride; ++i) EXPECT_EQ(results[row * stride + i], 0.0);
    };
    std::vector<double> at(n);
    for (std::size_t stage = 0; stage < 3; ++stage) {
      for (std::size_t i = 0; i < n; ++i) at[i] = ready.x[i] + h * sum(stages.rows[stage], i);
      k.push_back(ready.slope(at, t + stages.nodes[stage] * h));
      expect(stage, k.back());
    }
    expect(3, at);
    std::vector<double> second(n);
    for (std::size_t i = 0; i < n; ++i) {
      at[i] = ready.x[i] + h * sum(stages.sums[0], i);
      second[i] = sum(stages.sums[1], i);
    }
    expect(4, at);
    const double size = size_of(k[0]);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(results[5 * stride + i], second[i], 1e-9 * size);
  }
  EXPECT_GE(short_ones, 3U);
  EXPECT_GE(long_ones, 2U);
}

/// The slopes after a projection are known from it; those at any other point are not.
TEST(StageLine, ProjectionLeavesSlopes) {
  for (const char* name : {"pendulum", "car_axis", "andrews", "chain"}) {
    SCOPED_TRACE(name);
    const solve::Prepared model = prepared_model(name);
    Ready projected(model, "projection"), other(model, "index1");
    projected.slope(projected.x);
    other.slope(other.x);
    std::vector<double> x = projected.near(1e-7, 5);
    ASSERT_EQ(projected.formulated.system.project(0.0, x.data()), Evaluation::ok);
    for (const double moved : {0.0, 1e-3}) {
      x[0] += moved;
      const std::vector<double> a = projected.slope(x), b = other.slope(x);
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-9 * size_of(b));
      ASSERT_EQ(projected.formulated.system.project(0.0, x.data()), Evaluation::ok);
    }
  }
}

}  // namespace
}  // namespace daedalus::tests
