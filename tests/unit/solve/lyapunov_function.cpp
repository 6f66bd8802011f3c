// Functions W that are given for the formulation lyapunov: what they promise, beside computations by hand.

#include "daedalus/solve/lyapunov_function.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "physics/reference.hpp"

namespace daedalus::tests {
namespace {

solve::LyapunovFunction asked(const solve::Prepared& model, const solve::LyapunovQuestion& question) {
  return solve::check_lyapunov_function(model, solve::consistent_start(model, 0.0, solve::Initialize::off), 0.0,
                                        question);
}

std::string refusal(const std::string& model, const solve::LyapunovQuestion& question) {
  try {
    asked(prepared(model), question);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// eta' = -eta: W = eta^2/2 has W_eta q0 = -eta^2 = -2 W and W_eta^2 = 2 W, all over the line.
TEST(LyapunovFunction, OfExample1IsAsByHand) {
  const solve::Prepared model = prepared("finite_escape");
  const solve::LyapunovFunction found = asked(model, {"eta^2/2", "eta in -5..5"});
  EXPECT_TRUE(found.decays);
  EXPECT_NEAR(found.gamma, -2.0, 1e-12);
  EXPECT_EQ(found.gamma0, 0.0);
  EXPECT_NEAR(found.W_bar, 2.0, 1e-12);
  EXPECT_NEAR(found.beta, 1.0, 1e-12);
  EXPECT_NEAR(found.delta_bar, 1.0, 1e-12);    // sqrt(W_bar/(2 beta))
  EXPECT_NEAR(found.epsilon_bar, 1.0, 1e-12);  // -gamma - beta
  EXPECT_NEAR(found.edge, 12.5, 1e-12);
  EXPECT_NEAR(found.start, 8.5, 1e-12);  // from xi = 1, eta = 4
  const solve::LyapunovFunction other = asked(model, {"eta^2/2", "eta in -5..5", {}, {}, 0.5});
  EXPECT_NEAR(other.delta_bar, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(other.epsilon_bar, 1.5, 1e-12);
}

/// Around a point that is no rest: W_eta q0 = 2 eta - 2 eta^2 does not vanish with W = (eta - 1)^2, and is 1/2 at most.
TEST(LyapunovFunction, NeedsAConstantWhereItVanishesOnTheWay) {
  const solve::LyapunovFunction found = asked(prepared("finite_escape"), {"(eta - 1)^2", "eta in -5..5"});
  EXPECT_FALSE(found.decays);
  EXPECT_EQ(found.gamma, 0.0);
  EXPECT_NEAR(found.gamma0, 0.5, 1e-9);
  EXPECT_NEAR(found.W_bar, 4.0, 1e-9);
  EXPECT_EQ(found.delta_bar, 0.0);
}

/// (72) and (73) of Di Franco, Scarciotti, Astolfi, with friction, in the angle and either its rate or its momentum.
struct SliderCrank {
  double a, b;  ///< in E* + a eta1 m eta2 + b eta1^2 with m = 3 + 2 cos(2 eta1)
  bool momentum;
  static constexpr double g = 9.81, c = 3.0;

  std::array<double, 2> quotients(double angle, double rate) const {
    const double m = 3.0 + 2.0 * std::cos(2.0 * angle), slope = -4.0 * std::sin(2.0 * angle);
    const double acceleration = (2.0 * rate * rate * std::sin(2.0 * angle) - g * std::sin(angle) - c * rate) / m;
    const double W = 0.5 * m * rate * rate + g * (1.0 - std::cos(angle)) + a * angle * m * rate + b * angle * angle;
    double by_angle =
        0.5 * slope * rate * rate + g * std::sin(angle) + a * rate * (m + angle * slope) + 2.0 * b * angle;
    double by_rate = m * rate + a * angle * m;
    const double growth = by_angle * rate + by_rate * acceleration;
    if (momentum) {  // rate = p/m
      by_angle -= by_rate * rate * slope / m;
      by_rate /= m;
    }
    return {growth / W, (by_angle * by_angle + by_rate * by_rate) / W};
  }
};

TEST(LyapunovFunction, OfTheSliderCrankIsAsByHand) {
  const solve::Prepared model = prepared("slider_crank", {{{"c", "3"}}, {}, {}});
  for (const bool momentum : {false, true}) {
    SCOPED_TRACE(momentum ? "momentum" : "velocity");
    const SliderCrank hand{0.2, 0.0, momentum};
    const solve::LyapunovFunction found =
        asked(model, {"(3 + 2*cos(2*theta1))*(der(theta1)^2/2 + 0.2*theta1*der(theta1)) + g_v*(1 - cos(theta1))",
                      "theta1 in -0.5..0.5 and der(theta1) in -1..1",
                      {},
                      {},
                      {},
                      momentum});
    double gamma = -INFINITY, W_bar = 0.0;
    constexpr int half = 400;
    for (int i = -half; i <= half; ++i)
      for (int j = -half; j <= half; ++j) {
        if (i == 0 && j == 0) continue;
        const auto [rate, square] = hand.quotients(0.5 * i / half, 1.0 * j / half);
        gamma = std::max(gamma, rate);
        W_bar = std::max(W_bar, square);
      }
    EXPECT_TRUE(found.decays);
    // A grid misses the largest value by about the square of its spacing.
    EXPECT_NEAR(found.gamma, gamma, 1e-4 * std::abs(gamma));
    EXPECT_NEAR(found.W_bar, W_bar, 1e-4 * W_bar);
    EXPECT_NEAR(found.delta_bar, std::sqrt(2.0 * found.W_bar / (2.0 * found.beta)),
                1e-12 * found.delta_bar);  // two violations
  }
}

/// (75) on the set (76) with friction: the paper says that gamma = -0.001 will do. At (pi, 1/2) W_eta q0 = pi/2 - 3/4 >
/// 0.
TEST(LyapunovFunction, FindsTheMistakeOfThePaper) {
  const std::string text = [] {
    try {
      asked(prepared("slider_crank", {{{"c", "3"}}, {}, {}}),
            {"(3 + 2*cos(2*theta1))*der(theta1)^2/2 + g_v*(1 - cos(theta1)) + theta1^2/2",
             "theta1 in -pi..pi and der(theta1) in -4..4",
             -0.001,
             0.0,
             {},
             false});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  }();
  EXPECT_NE(text.find("(25), does not hold with gamma = -0.001 and gamma0 = 0: at theta1 = "), std::string::npos)
      << text;
}

TEST(LyapunovFunction, SaysWhatIsWrongWithIt) {
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(refusal("finite_escape", {"eta", "eta in -5..5"}), "W is not positive definite: it is -5 at eta = -5");
  expect(refusal("finite_escape", {"abs(eta)", "eta in -5..5"}), "|W_eta|^2/W has no bound, (26) and (32)");
  expect(refusal("finite_escape", {"0*eta", "eta in -5..5"}), "W is 0 everywhere");
  expect(refusal("finite_escape", {"log(eta)", "eta in -5..5"}), "not a finite number at eta = ");
  expect(refusal("finite_escape", {"eta^2/2", "eta in -5..5", -3.0, 0.0, {}}),
         "(25), does not hold with gamma = -3 and gamma0 = 0: at eta = -5 the left side is -25, the right one -37.5");
  expect(refusal("finite_escape", {"eta^2/2", "eta in -5..5", {}, {}, 3.0}),
         "beta = 3 is not between 0 and -gamma = 2");
  expect(refusal("finite_escape", {"eta^2/2", "u in -5..5"}), "the box has an interval of 'u', which is no state");
  expect(refusal("finite_escape", {"eta^2/2 + u^2", "eta in -5..5"}), "W uses 'u', which is no state");
  expect(refusal("finite_escape", {"eta^2/2*(2 + sin(t))", "eta in -5..5"}), "leave the time out");
  expect(refusal("finite_escape", {"etta^2/2", "eta in -5..5"}), "there is no 'etta'");
  expect(refusal("finite_escape", {"eta^2/2", "eta in 5..-5"}), "is empty or not finite");
  expect(refusal("finite_escape", {"eta^2/2", "eta = 5"}), "is no interval");
  expect(refusal("finite_escape", {"eta^2/2", "eta^2 in 0..5"}), "is no unknown");
  expect(refusal("slider_crank", {"theta1^2 + der(theta1)^2", "theta1 in -1..1"}),
         "the box has 1 interval, and the motion on the constraints has 2");
  expect(refusal("slider_crank", {"theta1^2 + der(theta1)^2", "theta1 in -1..1 and theta2 in 2..4"}),
         "do not determine a state");
  expect(refusal("pendulum", {"x^2 + der(x)^2", "x in -3..3 and der(x) in -1..1"}), "the constraints cannot be solved");
  expect(refusal("kapitza_pendulum", {"x^2", "x in -1..1"}), "the motion depends on time");
}

TEST(LyapunovFunction, IsRefusedInTheseWords) {
  EXPECT_EQ(refusal("finite_escape", {"eta^2/2", "eta in -5..5", -3.0, 0.0, {}}),
            "error[bad-lyapunov-function]: W_eta q0 <= gamma W + gamma0, (25), does not hold with gamma = -3 and gamma0 = 0: at eta = -5 "
            "the left side is -25, the right one -37.5\n"
            "  -> leave gamma and gamma0 out: the least that hold on the box are found");
}

/// V = W + |xi|^2/2 falls as it is promised, from a start off the constraints.
TEST(LyapunovFunction, HoldsAlongTheRun) {
  solve::RunOptions options;
  options.initialize = "off";
  options.t_end = 4.0;
  options.rtol = 1e-9;
  options.samples = 101;
  options.formulation = "lyapunov:W=eta^2/2,box=eta in -5..5";
  const solve::Trajectory run = solve::simulate(prepared("finite_escape"), options);
  ASSERT_TRUE(run.success()) << run.message;
  for (std::size_t row = 0; row < run.t.size(); ++row) {
    const double xi = run.value(row, run.column("xi")), eta = run.value(row, run.column("eta"));
    EXPECT_LE(0.5 * (xi * xi + eta * eta), 8.5 * std::exp(-run.t[row]) * (1.0 + 1e-7)) << run.t[row];
  }
  const auto in_force = [&](const std::string& name) {
    for (const auto& [key, value] : run.options)
      if (key == "lyapunov." + name) return value;
    return std::string();
  };
  EXPECT_NEAR(std::stod(in_force("delta")), 1.0, 1e-12);
  EXPECT_NEAR(std::stod(in_force("epsilon")), 5.0, 1e-12);  // 20/4 is more than epsilon_bar

  options.formulation =
      "lyapunov:psi=velocity,W=(3 + 2*cos(2*theta1))*(der(theta1)^2/2 + 0.2*theta1*der(theta1)) + g_v*(1 - "
      "cos(theta1)),"
      "box=theta1 in -0.5..0.5 and der(theta1) in -1..1,epsilon=0.3";
  options.residuals = true;
  const solve::Prepared crank = prepared(
      "slider_crank", {{{"c", "3"}, {"theta1", "0.2"}, {"theta2", "pi - 0.1"}, {"der(theta1)", "0.3"}}, {}, {}});
  const solve::LyapunovFunction found =
      asked(crank, {"(3 + 2*cos(2*theta1))*(der(theta1)^2/2 + 0.2*theta1*der(theta1)) + g_v*(1 - cos(theta1))",
                    "theta1 in -0.5..0.5 and der(theta1) in -1..1",
                    {},
                    {},
                    {},
                    false});
  ASSERT_LT(found.start, found.edge);
  const solve::Trajectory motion = solve::simulate(crank, options);
  ASSERT_TRUE(motion.success()) << motion.message;
  for (std::size_t row = 0; row < motion.t.size(); ++row) {
    const auto value = [&](const char* column) { return motion.value(row, motion.column(column)); };
    const double angle = value("theta1"), rate = value("der(theta1)"), xi1 = value("residual.slide"),
                 xi2 = value("der(residual.slide)");
    const double W =
        (3.0 + 2.0 * std::cos(2.0 * angle)) * (0.5 * rate * rate + 0.2 * angle * rate) + 9.81 * (1.0 - std::cos(angle));
    EXPECT_LE(W + 0.5 * (xi1 * xi1 + xi2 * xi2),
              found.start * std::exp((found.gamma + found.beta) * motion.t[row]) * (1.0 + 1e-6))
        << motion.t[row];
  }
}

}  // namespace
}  // namespace daedalus::tests
