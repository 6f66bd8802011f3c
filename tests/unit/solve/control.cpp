#include "daedalus/solve/control.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "daedalus/base/error.hpp"
#include "daedalus/model/reader.hpp"
#include "folders.hpp"

namespace daedalus::solve {
namespace {

LinearModel read(const std::string& text) { return linear_model(model::read_model_text(text, "test.toml")); }

// A resistor, an inductor and a capacitor in a row behind a source u, every voltage an unknown: i, v_C, v_R, v_L.
constexpr double R = 0.4, L = 0.5, C = 0.02;
const std::string rlc = fmt::format(R"(
kind = "linear"
[linear]
E = [[{}, 0, 0, 0], [0, {}, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
A = [[0, 0, 0, 1], [1, 0, 0, 0], [{}, 0, -1, 0], [0, -1, -1, -1]]
B = [[0], [0], [0], [1]]
C = [[0, 1, 0, 0], [0, 0, 0, 1]]
)", L, C, R);

TEST(Control, FrequencyResponseOfACircuit) {
  const LinearModel model = read(rlc);
  const FrequencyResponse response = frequency_response(model, {0.1, 1.0, 10.0, 100.0});
  for (std::size_t k = 0; k < response.omega.size(); ++k) {
    const Complex s(0.0, response.omega[k]), denominator = L * C * s * s + R * C * s + 1.0;
    EXPECT_LT(std::abs(response.values[0][k] - 1.0 / denominator), 1e-14 * std::abs(1.0 / denominator));
    const Complex inductor = L * C * s * s / denominator;
    EXPECT_LT(std::abs(response.values[1][k] - inductor), 1e-13 * std::abs(inductor));
  }
}

TEST(Control, PolesZerosAndGainOfACircuit) {
  const LinearModel model = read(rlc);
  const Channel capacitor = channel(model, 0, 0), inductor = channel(model, 0, 1);
  const Complex root = std::sqrt(Complex(R * R / (4 * L * L) - 1 / (L * C), 0.0));
  ASSERT_EQ(capacitor.poles.size(), 2u);
  for (const Complex& pole : capacitor.poles)
    EXPECT_LT(std::min(std::abs(pole - (-R / (2 * L) + root)), std::abs(pole - (-R / (2 * L) - root))), 1e-12);
  EXPECT_TRUE(capacitor.zeros.empty());
  EXPECT_NEAR(capacitor.gain, 1 / (L * C), 1e-10);
  EXPECT_TRUE(capacitor.polynomial.empty());
  EXPECT_NEAR(*capacitor.steady, 1.0, 1e-14);
  EXPECT_EQ(inductor.zeros.size(), 2u);  // both at 0
  for (const Complex& zero : inductor.zeros) EXPECT_LT(std::abs(zero), 1e-7);
  ASSERT_EQ(inductor.polynomial.size(), 1u);
  EXPECT_NEAR(inductor.polynomial[0], 1.0, 1e-14);
  const ModeAnalysis modes = mode_analysis(model);
  EXPECT_EQ(modes.index, 1);
  EXPECT_EQ(modes.stability, Stability::asymptotic);
  for (const FiniteMode& mode : modes.finite) EXPECT_TRUE(mode.controllable && mode.observable);
}

TEST(Control, ADifferentiatorHasAPolynomialPart) {
  // x1 = u, x2 = x1': y = x2 + 3 u.
  const LinearModel model =
      read("kind = \"linear\"\n[linear]\nE = [[0, 0], [1, 0]]\nA = [[1, 0], [0, 1]]\nB = [[-1], [0]]\nC = [[0, 1]]\nD = [[3]]\n");
  const Channel one = channel(model, 0, 0);
  EXPECT_TRUE(one.poles.empty());
  ASSERT_EQ(one.polynomial.size(), 2u);
  EXPECT_NEAR(one.polynomial[0], 3.0, 1e-15);
  EXPECT_NEAR(one.polynomial[1], 1.0, 1e-15);
  ASSERT_EQ(one.zeros.size(), 1u);
  EXPECT_NEAR(one.zeros[0].real(), -3.0, 1e-12);
  EXPECT_NEAR(one.gain, 1.0, 1e-12);
  const ModeAnalysis modes = mode_analysis(model);
  EXPECT_EQ(modes.index, 2);
  EXPECT_TRUE(modes.impulse_controllable);
  EXPECT_TRUE(modes.impulse_observable);
}

TEST(Control, WhatInputsAndOutputsDoNotReach) {
  // -1 is not reached by u, -2 is not seen in y, and the impulses of the last pair are neither.
  const LinearModel model = read(R"(
kind = "linear"
[linear]
E = [[1,0,0,0,0], [0,1,0,0,0], [0,0,1,0,0], [0,0,0,0,1], [0,0,0,0,0]]
A = [[-1,0,0,0,0], [0,-2,0,0,0], [0,0,0.5,0,0], [0,0,0,1,0], [0,0,0,0,1]]
B = [[0], [1], [1], [0], [0]]
C = [[1, 0, 1, 0, 0]]
)");
  const ModeAnalysis modes = mode_analysis(model);
  ASSERT_EQ(modes.finite.size(), 3u);
  EXPECT_NEAR(modes.finite[0].value.real(), -2.0, 1e-12);
  EXPECT_TRUE(modes.finite[0].controllable);
  EXPECT_FALSE(modes.finite[0].observable);
  EXPECT_FALSE(modes.finite[1].controllable);
  EXPECT_TRUE(modes.finite[1].observable);
  EXPECT_TRUE(modes.finite[2].controllable && modes.finite[2].observable);
  EXPECT_FALSE(modes.impulse_controllable);
  EXPECT_FALSE(modes.impulse_observable);
  EXPECT_EQ(modes.stability, Stability::unstable);
  const Channel one = channel(model, 0, 0);  // 1/(s - 1/2)
  ASSERT_EQ(one.poles.size(), 1u);
  EXPECT_NEAR(one.poles[0].real(), 0.5, 1e-12);
  EXPECT_EQ(one.cancelled.size(), 2u);
  EXPECT_NEAR(one.gain, 1.0, 1e-10);
}

TEST(Control, AChannelThatShowsNothing) {
  const LinearModel model = read("kind = \"linear\"\n[linear]\nE = [[1, 0], [0, 1]]\nA = [[-1, 0], [0, -2]]\nB = [[1], [0]]\nC = [[0, 1]]\n");
  EXPECT_TRUE(channel(model, 0, 0).vanishes);
}

TEST(Control, ASingularPencilHasNoTransferFunction) {
  const LinearModel model = read("kind = \"linear\"\n[linear]\nE = [[1, 0], [0, 0]]\nA = [[0, 1], [0, 0]]\nB = [[1], [0]]\nC = [[0, 1]]\n");
  EXPECT_THROW(mode_analysis(model), Error);
  EXPECT_THROW(frequency_response(model, {1.0, 2.0}), Error);
}

/// C (s E - A)^-1 B + D by elimination with full pivoting, apart from all of the above.
Complex by_elimination(const LinearModel& model, Complex s) {
  const std::size_t n = model.size();
  std::vector<std::vector<Complex>> M(n, std::vector<Complex>(n + 1));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = model.pattern.row_start[i]; k < model.pattern.row_start[i + 1]; ++k)
      M[i][model.pattern.column[k]] = s * model.E[k] - model.A[k];
    M[i][n] = model.B(i, 0);
  }
  std::vector<std::size_t> column(n);
  std::vector<bool> used(n, false);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t row = k;
    double best = -1.0;
    for (std::size_t i = k; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (!used[j] && std::abs(M[i][j]) > best) {
          best = std::abs(M[i][j]);
          row = i;
          column[k] = j;
        }
    std::swap(M[k], M[row]);
    used[column[k]] = true;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Complex factor = M[i][column[k]] / M[k][column[k]];
      for (std::size_t j = 0; j <= n; ++j) M[i][j] -= factor * M[k][j];
    }
  }
  Complex y = model.D(0, 0);
  for (std::size_t k = 0; k < n; ++k) y += model.C(0, column[k]) * M[k][n] / M[k][column[k]];
  return y;
}

Complex product_of(const Channel& one, Complex s) {
  Complex product = one.gain;
  for (const Complex& zero : one.zeros) product *= s - zero;
  for (const Complex& pole : one.poles) product /= s - pole;
  return product;
}

/// The same transfer function from transposed matrices, where rounding takes other ways.
LinearModel transposed_model(const LinearModel& model) {
  LinearModel out = model;
  const std::size_t n = model.size();
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> rows(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = model.pattern.row_start[i]; k < model.pattern.row_start[i + 1]; ++k) rows[model.pattern.column[k]].push_back({i, k});
  out.pattern = {n, n, {0}, {}};
  out.E.clear();
  out.A.clear();
  for (const auto& row : rows) {
    for (const auto& [column, k] : row) {
      out.pattern.column.push_back(column);
      out.E.push_back(model.E[k]);
      out.A.push_back(model.A[k]);
    }
    out.pattern.row_start.push_back(out.pattern.column.size());
  }
  out.B = linalg::transposed(model.C);
  out.C = linalg::transposed(model.B);
  return out;
}

TEST(Control, RandomTransferFunctions) {
  std::mt19937 random(11);
  std::normal_distribution<double> number;
  for (int trial = 0; trial < 40; ++trial) {
    const std::size_t n = 2 + static_cast<std::size_t>(trial) % 7, rank = 1 + static_cast<std::size_t>(trial) % n;
    // E of a given rank: the last rows are combinations of the first.
    std::vector<std::vector<double>> E(n, std::vector<double>(n)), A = E;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        A[i][j] = std::round(8 * number(random)) / 4;
        E[i][j] = i < rank ? std::round(8 * number(random)) / 4 : 2 * E[i % rank][j];
      }
    std::vector<std::string> rows_E, rows_A, rows_B, row_C;
    for (std::size_t i = 0; i < n; ++i) {
      rows_E.push_back(fmt::format("[{}]", fmt::join(E[i], ",")));
      rows_A.push_back(fmt::format("[{}]", fmt::join(A[i], ",")));
      rows_B.push_back(fmt::format("[{}]", std::round(4 * number(random))));
      row_C.push_back(fmt::format("{}", std::round(4 * number(random))));
    }
    const LinearModel model = read(fmt::format("kind = \"linear\"\n[linear]\nE = [{}]\nA = [{}]\nB = [{}]\nC = [[{}]]\nD = [[{}]]\n",
                                               fmt::join(rows_E, ","), fmt::join(rows_A, ","), fmt::join(rows_B, ","),
                                               fmt::join(row_C, ","), std::round(number(random))));
    const Channel one = channel(model, 0, 0);
    if (one.vanishes) continue;
    const Channel other = channel(transposed_model(model), 0, 0);
    const std::vector<double> omega{0.03, 0.4, 5.0, 60.0};
    const FrequencyResponse response = frequency_response(model, omega);
    for (std::size_t k = 0; k < omega.size(); ++k) {
      const Complex s(0.0, omega[k]), exact = by_elimination(model, s);
      EXPECT_LT(std::abs(response.values[0][k] - exact), 1e-10 * std::max(1.0, std::abs(exact))) << trial;
      // Poles and zeros are as good as rounding lets them be, which the transposed matrices show.
      const double rounding = std::abs(product_of(one, s) - product_of(other, s));
      EXPECT_LT(rounding, 1e-4 * std::max(1.0, std::abs(exact))) << trial;
      EXPECT_LT(std::abs(product_of(one, s) - exact), 1e-9 * std::max(1.0, std::abs(exact)) + 100.0 * rounding) << trial;
    }
  }
}

Prepared model_named(const std::string& name, const model::Overrides& overrides = {}) {
  return prepare(model::read_model(tests::source_folder() + "/models/" + name + ".toml", overrides));
}

TEST(Linearize, ThePendulumSwingsBelowAndFallsAbove) {
  for (const bool below : {true, false}) {
    model::Overrides overrides;
    overrides.fix = {{"x", "0"}};
    overrides.set = {{"y", below ? "-2.5" : "2.5"}};
    const LinearModel linear = linearize(model_named("pendulum", overrides), 0.0, {}, {});
    EXPECT_EQ(linear.states, (std::vector<std::string>{"x", "y", "der(x)", "der(y)", "lambda.rod"}));
    EXPECT_LT(linear.fastest, 1e-12);
    const ModeAnalysis modes = mode_analysis(linear);
    EXPECT_EQ(modes.index, 3);
    ASSERT_EQ(modes.finite.size(), 2u);
    const double w = std::sqrt(9.81 / 2.5);
    for (const FiniteMode& mode : modes.finite)
      EXPECT_LT(std::abs(mode.value * mode.value - Complex(below ? -w * w : w * w)), 1e-9);
    EXPECT_EQ(modes.stability, below ? Stability::marginal : Stability::unstable);
  }
}

TEST(Linearize, SmallDeviationsAgreeToSecondOrder) {
  // At rest in y = -2.5 the deviation x = e swings; twice the deviation, four times the error.
  model::Overrides rest;
  rest.fix = {{"x", "0"}};
  rest.set = {{"y", "-2.5"}};
  const LinearModel linear = linearize(model_named("pendulum", rest), 0.0, {}, {});
  const std::string file = model_file(linear);
  const auto error = [&](double e) {
    model::Overrides moved;
    moved.fix = {{"x", fmt::format("{}", e)}};
    moved.set = {{"y", "-2.5"}};
    RunOptions options;
    options.t_end = 1.0;
    options.rtol = 1e-12;
    const Trajectory real = simulate(model_named("pendulum", moved), options);
    model::Overrides start;
    start.fix = {{"x", fmt::format("{}", e)}};
    const Trajectory deviation = simulate(prepare(model::read_model_text(file, "linear.toml", start)), options);
    EXPECT_TRUE(deviation.success()) << deviation.message;
    EXPECT_NEAR(deviation.last("x"), e * std::cos(std::sqrt(9.81 / 2.5)), 1e-12);
    return std::hypot(real.last("x") - deviation.last("x"), real.last("y") + 2.5 - deviation.last("y"));
  };
  const double large = error(0.04), small = error(0.02);
  EXPECT_GT(large, 1e-5);
  EXPECT_NEAR(large / small, 4.0, 0.2);
}

TEST(Linearize, AlongAMotionOfADae) {
  // x' = -x^3 + u, y = x^2 at x(t): A = -3 x^2, B = 1, C = 2 x.
  const std::string text = "kind = \"dae\"\n[inputs]\nu = \"0.5*t\"\n[variables]\nx = { start = 2, fixed = true }\n[equations]\ne = \"der(x) = -x^3 + u\"\n"
                           "[outputs]\ny = \"x^2\"\n";
  model::Overrides overrides;
  overrides.perturbed = {"u"};
  const Prepared prepared = prepare(model::read_model_text(text, "motion.toml", overrides));
  const LinearModel linear = linearize(prepared, 0.7, {{"u"}, {"y"}}, {});
  const double x = linear.point[0];
  EXPECT_NEAR(linear.A[0] / linear.E[0], -3 * x * x, 1e-12);
  EXPECT_NEAR(linear.B(0, 0) / linear.E[0], 1.0, 1e-14);
  EXPECT_NEAR(linear.C(0, 0), 2 * x, 1e-14);
  EXPECT_NEAR(linear.input_point[0], 0.35, 1e-15);
  EXPECT_NEAR(linear.output_point[0], x * x, 1e-13);
  EXPECT_GT(linear.fastest, 0.1);
}

TEST(Linearize, TheFileReadsBack) {
  model::Overrides overrides;
  overrides.fix = {{"x", "0"}};
  overrides.set = {{"y", "-2.5"}};
  const LinearModel linear = linearize(model_named("pendulum", overrides), 0.0, {{"g"}, {"y", "lambda.rod"}}, {});
  const model::Model again = model::read_model_text(model_file(linear), "again.toml");
  EXPECT_EQ(again.kind, model::Kind::linear);
  const LinearModel same = linear_model(again);
  EXPECT_EQ(same.B.entries, linear.B.entries);
  EXPECT_EQ(same.C.entries, linear.C.entries);
  const std::vector<double> omega{0.3, 2.0};
  const FrequencyResponse one = frequency_response(linear, omega), other = frequency_response(same, omega);
  for (std::size_t k = 0; k < omega.size(); ++k) EXPECT_EQ(one.values[1][k], other.values[1][k]);
  // More gravity pulls more: lambda l 2 = m g.
  EXPECT_NEAR(one.values[1][0].real(), 2.0 / (2.0 * 2.5), 1e-12);
}

TEST(Linearize, DerivativesOfAnInputAreRefused) {
  const std::string text = "kind = \"dae\"\n[inputs]\nu = \"t\"\n[variables]\nx = 0\n[equations]\ne = \"der(x) = -x + der(u)\"\n";
  model::Overrides overrides;
  overrides.perturbed = {"u"};
  const Prepared prepared = prepare(model::read_model_text(text, "rate.toml", overrides));
  EXPECT_THROW(linearize(prepared, 0.0, {{"u"}, {"x"}}, {}), Error);
}

TEST(Control, FrequenciesGoADecadeBeyondPolesAndZeros) {
  const std::vector<double> omega = frequencies({}, {channel(read(rlc), 0, 0)});
  EXPECT_EQ(omega.front(), 1.0);
  EXPECT_EQ(omega.back(), 100.0);
  EXPECT_EQ(omega.size(), 21u);
  EXPECT_THROW(frequencies({10.0, 1.0, 5}, {}), Error);
  // A pole -0.001 +- 7i has its peak between frequencies a tenth of a decade apart; an undamped one has no value there.
  Channel sharp;
  sharp.poles = {{-0.001, 7.0}, {-0.001, -7.0}, {0.0, 3.0}, {0.0, -3.0}};
  const auto has = [](const std::vector<double>& list, double value) { return std::ranges::find(list, value) != list.end(); };
  EXPECT_TRUE(has(frequencies({}, {sharp}), 7.0));
  EXPECT_FALSE(has(frequencies({}, {sharp}), 3.0));
  EXPECT_EQ(frequencies({1.0, 10.0, 5}, {sharp}).size(), 5u);
  const std::vector<double> fine = frequencies({1.0, 10.0, 100, true}, {sharp});
  EXPECT_TRUE(std::ranges::is_sorted(fine));
  EXPECT_GE(std::ranges::count_if(fine, [](double w) { return std::abs(w - 7.0) < 0.005; }), 9);  // its form
}

TEST(Control, PhasesDoNotLeap) {
  std::vector<Complex> values;
  for (int k = 0; k < 40; ++k) values.push_back(std::polar(1.0, -0.3 * k));
  const std::vector<double> phase = phase_degrees(values);
  EXPECT_NEAR(phase.back(), -0.3 * 39 * 180.0 / std::numbers::pi, 1e-9);
}

}  // namespace
}  // namespace daedalus::solve
