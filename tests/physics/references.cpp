// Every reference solution against projection + dop853: accuracy at a tight tolerance, and errors that fall in proportion
// to the tolerance.

#include <functional>

#include "physics/reference.hpp"

namespace daedalus::tests {
namespace {

struct Case {
  std::string name, model;
  model::Overrides overrides;
  std::function<std::vector<Expected>()> expected;
  double t_proportional;  ///< times up to here serve the test of proportionality: later the motion amplifies too much
};

std::vector<Expected> pendulum() {
  std::vector<Expected> all;
  const Json file = reference("pendulum");
  for (const Json& at : file["reference_consistent"])
    all.push_back({number(at["t"]),
                   {{{"x", number(at["q"][0])}, {"y", number(at["q"][1])}},
                    {{"der(x)", number(at["p"][0])}, {"der(y)", number(at["p"][1])}},
                    {{"lambda.rod", -number(at["lambda"])}}}});  // the notes have the other sign
  return all;
}

std::vector<Expected> pendulum_slides() {
  std::vector<Expected> all;
  const Json file = reference("pendulum_slides");
  for (const Json& at : file["reference"]["g=9.81"]["values"])
    all.push_back({number(at["t"]),
                   {{{"x", number(at["x"])}, {"y", number(at["y"])}},
                    {{"der(x)", number(at["vx"])}, {"der(y)", number(at["vy"])}},
                    {{"lambda.rod", number(at["lambda"])}}}});
  return all;
}

std::vector<Expected> spherical() {
  std::vector<Expected> all;
  const Json file = reference("spherical_pendulum");
  for (const Json& at : file["values"])
    all.push_back({number(at["t"]),
                   {{{"x", number(at["p"][0])}, {"y", number(at["p"][1])}, {"z", number(at["p"][2])}},
                    {{"der(x)", number(at["v"][0])}, {"der(y)", number(at["v"][1])}, {"der(z)", number(at["v"][2])}},
                    {{"lambda.rod", number(at["z"])}}}});
  return all;
}

std::vector<Expected> slider_crank(const std::string& damping) {
  std::vector<Expected> all;
  const Json file = reference("slider_crank");
  for (const Json& at : file["results"][damping]["values"])
    all.push_back({number(at["t"]),
                   {{{"theta1", number(at["theta1"])}, {"theta2", number(at["theta2"])}},
                    {{"der(theta1)", number(at["theta1dot"])}, {"der(theta2)", number(at["theta2dot"])}},
                    {{"lambda.slide", number(at["lambda"])}}}});
  return all;
}

std::vector<Expected> delta_robot(const std::string& name) {
  std::vector<Expected> all;
  const Json file = reference("delta_robot");
  for (const Json& at : file["cases"][name]["values"]) {
    Expected one{number(at["t"]), {{}, {}, {}, {}, {}}};
    const std::vector<std::string> p{"px", "py", "pz"};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string alpha = "alpha[" + std::to_string(k + 1) + "]";
      one.groups[0][alpha] = number(at["alpha"][k]);
      one.groups[1]["der(" + alpha + ")"] = number(at["alphadot"][k]);
      one.groups[2][p[k]] = number(at["p"][k]);
      one.groups[3]["der(" + p[k] + ")"] = number(at["pdot"][k]);
      one.groups[4]["lambda.forearm[" + std::to_string(k + 1) + "]"] = number(at["z"][k]);
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<Expected> andrews() {
  std::vector<Expected> all;
  const std::vector<std::string> names{"beta", "theta", "gamma", "phi", "delta", "omega", "epsilon"};
  const Json file = reference("andrews");
  for (const Json& at : file["values"]) {
    Expected one{number(at["t"]), {{}, {}, {}}};
    for (std::size_t k = 0; k < names.size(); ++k) {
      one.groups[0][names[k]] = number(at["q"][k]);
      one.groups[1]["der(" + names[k] + ")"] = number(at["qdot"][k]);
    }
    for (std::size_t k = 0; k < 6; ++k) one.groups[2]["lambda.g" + std::to_string(k + 1)] = number(at["lambda"][k]);
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<Expected> car_axis() {
  const Json file = reference("car_axis");
  const std::vector<std::string> names{"xl", "yl", "xr", "yr"};
  Expected one{3.0, {{}, {}}};
  for (std::size_t k = 0; k < 4; ++k) one.groups[0][names[k]] = number(file["y"][k]);
  // the test set writes K q'' = f + G^T lambda
  one.groups[1]["lambda.upright"] = -number(file["lambda_better"][0]);
  one.groups[1]["lambda.axis"] = -number(file["lambda_better"][1]);
  return {one};
}

std::vector<Expected> chain(std::size_t N) {
  const Json file = reference("chain_" + std::to_string(N));
  Expected one{1.0, {{}}};
  for (std::size_t i = 0; i < N; ++i) {
    one.groups[0]["x[" + std::to_string(i + 1) + "]"] = number(file["y"][2 * i]);
    one.groups[0]["y[" + std::to_string(i + 1) + "]"] = number(file["y"][2 * i + 1]);
  }
  return {one};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"pendulum", "pendulum", {}, pendulum, 10.0},
      {"pendulum_slides", "pendulum_slides", {}, pendulum_slides, 10.0},
      {"spherical_pendulum", "spherical_pendulum", {}, spherical, 20.0},
      {"slider_crank", "slider_crank", {}, [] { return slider_crank("c=0"); }, 10.0},
      {"slider_crank_damped", "slider_crank", {{{"c", "3"}}, {}, {}}, [] { return slider_crank("c=3"); }, 10.0},
      {"delta_robot", "delta_robot", {}, [] { return delta_robot("A_slides_geometry"); }, 1.0},
      {"delta_robot_torque", "delta_robot",
       {{{"ma", "0.4"}, {"u[1]", "2"}, {"u[2]", "1.5"}, {"u[3]", "2.5"}, {"rate0[1]", "0"}, {"rate0[2]", "0"}, {"rate0[3]", "0"}}, {}, {}},
       [] { return delta_robot("B_slides_geometry_torque"); }, 1.0},
      {"andrews", "andrews", {}, andrews, 0.03},
      {"car_axis", "car_axis", {}, car_axis, 3.0},
      {"chain", "chain", {}, [] { return chain(10); }, 1.0},
  };
  return all;
}

class References : public testing::TestWithParam<Case> {};

TEST_P(References, AreMetAtATightTolerance) {
  const std::vector<Expected> expected = GetParam().expected();
  const double error = relative_error(run_at(prepared(GetParam().model, GetParam().overrides), expected, 1e-12), expected);
  EXPECT_LT(error, 1e-7);
  RecordProperty("error", std::to_string(error));
}

TEST_P(References, ErrorFallsInProportionToTheTolerance) {
  std::vector<Expected> expected = GetParam().expected();
  std::erase_if(expected, [&](const Expected& at) { return at.t > GetParam().t_proportional; });
  const solve::Prepared model = prepared(GetParam().model, GetParam().overrides);
  // Eight decades of tolerance. Single runs scatter by the luck of the last steps, and the references and round-off end
  // near 1e-12: so the slope of a line through all points in log-log coordinates, 1 in theory.
  double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  int n = 0;
  for (int digits = 4; digits <= 12; ++digits) {
    const double error = relative_error(run_at(model, expected, std::pow(10.0, -digits)), expected);
    if (error < 2e-11) continue;  // accuracy of references of the test set and round-off of long runs
    const double x = -digits, y = std::log10(error);
    sx += x, sy += y, sxx += x * x, sxy += x * y, ++n;
    std::printf("%s rtol 1e-%d error %.2e\n", GetParam().name.c_str(), digits, error);
  }
  ASSERT_GE(n, 5);
  const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  EXPECT_GT(slope, 0.8);
  EXPECT_LT(slope, 1.3);
}

INSTANTIATE_TEST_SUITE_P(Models, References, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& one) { return one.param.name; });

/// The numbers that the notes' pendulum must reach, absolute.
TEST(Pendulum, MeetsItsReferenceAtOneTenAndFiftySeconds) {
  const solve::Prepared model = prepared("pendulum");
  for (const auto& [times, tolerance] : {std::pair{std::vector<double>{1.0, 10.0}, 1e-10}, {std::vector<double>{50.0}, 1e-12}}) {
    std::vector<Expected> expected = pendulum();
    std::erase_if(expected, [&](const Expected& at) { return std::find(times.begin(), times.end(), at.t) == times.end(); });
    ASSERT_EQ(expected.size(), times.size());
    const solve::Trajectory run = run_at(model, expected, tolerance);
    for (std::size_t row = 0; row < expected.size(); ++row) {
      for (const auto& [name, value] : expected[row].groups[0]) EXPECT_NEAR(run.value(row, run.column(name)), value, 1e-8) << name;
      for (const auto& [name, value] : expected[row].groups[2]) EXPECT_NEAR(run.value(row, run.column(name)), value, 1e-7) << name;
    }
  }
}

TEST(Pendulum, BaumgarteFromThePrintedStartMeetsItsReference) {
  const Json values = reference("pendulum")["printed_start_baumgarte_xi0.8_wn2"]["values"];
  solve::RunOptions options;
  options.initialize = "off";
  options.formulation = "baumgarte:xi=0.8,omega=2";
  options.rtol = options.atol = 1e-13;
  for (const Json& at : values) options.at.push_back(number(at["t"]));
  options.t_end = options.at.back();
  const solve::Trajectory run = solve::simulate(prepared("pendulum"), options);
  ASSERT_TRUE(run.success());
  for (std::size_t row = 0; row < values.size(); ++row) {
    EXPECT_NEAR(run.value(row, run.column("x")), number(values[row]["q"][0]), 1e-8) << run.t[row];
    EXPECT_NEAR(run.value(row, run.column("y")), number(values[row]["q"][1]), 1e-8) << run.t[row];
    EXPECT_NEAR(run.value(row, run.column("lambda.rod")), -number(values[row]["lambda"]), 1e-7) << run.t[row];
  }
}

TEST(Pendulum, Index1FromThePrintedStartKeepsItsViolation) {
  const Json values = reference("pendulum")["printed_start_index1_ODE"]["values"];
  solve::RunOptions options;
  options.initialize = "off";
  options.formulation = "index1";
  options.rtol = options.atol = 1e-13;
  for (const Json& at : values)
    if (number(at["t"]) <= 10.0) options.at.push_back(number(at["t"]));
  options.t_end = options.at.back();
  const solve::Trajectory run = solve::simulate(prepared("pendulum"), options);
  ASSERT_TRUE(run.success());
  for (std::size_t row = 0; row < options.at.size(); ++row) {
    EXPECT_NEAR(run.value(row, run.column("x")), number(values[row]["q"][0]), 1e-8) << run.t[row];
    EXPECT_NEAR(run.value(row, run.column("y")), number(values[row]["q"][1]), 1e-8) << run.t[row];
  }
  EXPECT_NEAR(run.constraints.absolute[0], 0.0121, 1e-9);
}

/// The scheme of the slides 004, whose drift is documented to 15 digits. In double precision the sum of 4000 steps agrees
/// with the exact arithmetic to 2e-13 (the reference file gives both); a factor of ten for another order of operations.
TEST(Taylor2, ReproducesTheDriftOfTheSlides) {
  const Json file = reference("pendulum_slides");
  std::size_t found = 0;
  for (const Json& result : file["wrong_scheme"]["results"]) {
    solve::RunOptions options;
    options.formulation = "index1";
    options.method = "taylor2";
    options.step = number(result["dt"]);
    options.t_end = 10.0;
    const solve::Trajectory run =
        solve::simulate(prepared("pendulum_slides", {{{"g", std::to_string(number(result["g"]))}}, {}, {}}), options);
    ASSERT_TRUE(run.success());
    EXPECT_EQ(run.stats.steps, static_cast<std::size_t>(number(result["steps"])));
    const double x = run.last("x"), y = run.last("y");
    EXPECT_NEAR(x, number(result["x"]), 1e-11);
    EXPECT_NEAR(y, number(result["y"]), 1e-11);
    EXPECT_NEAR(run.last("der(x)"), number(result["vx"]), 1e-11);
    EXPECT_NEAR(run.last("der(y)"), number(result["vy"]), 1e-11);
    EXPECT_NEAR(x * x + y * y - 1.0, number(result["drift_x2+y2-1_at_t=10"]), 2e-12);
    EXPECT_NEAR(run.constraints.absolute[0], number(result["max_abs_drift_on_[0,10]"]), 2e-12);
    ++found;
  }
  EXPECT_GE(found, 4U);
}

/// Chaplygin's sleigh has an exact solution: der(phi) = w0/cosh(k t), speed V tanh(k t).
TEST(Sleigh, MeetsItsExactSolution) {
  const solve::Prepared model = prepared("sleigh");
  solve::RunOptions options;
  options.rtol = options.atol = 1e-11;
  options.samples = 21;
  const solve::Trajectory run = solve::simulate(model, options);
  ASSERT_TRUE(run.success());
  const double m = 1.0, J = 1.0, a = 0.5, w0 = 1.0, A = J + m * a * a, V = w0 * std::sqrt(A / m), k = m * a * V / A;
  for (std::size_t row = 0; row < run.t.size(); ++row) {
    EXPECT_NEAR(run.value(row, run.column("der(phi)")), w0 / std::cosh(k * run.t[row]), 1e-9);
    EXPECT_NEAR(run.value(row, run.column("speed")), V * std::tanh(k * run.t[row]), 1e-9);
  }
  EXPECT_LT(run.constraints.relative[1], 1e-12);
}

/// The torque-free body keeps its angular momentum in space and its energy.
TEST(RigidBody, KeepsAngularMomentum) {
  solve::RunOptions options;
  options.rtol = options.atol = 1e-11;
  options.samples = 101;
  const solve::Trajectory run = solve::simulate(prepared("rigid_body"), options);
  ASSERT_TRUE(run.success());
  for (const std::string name : {"hx", "hy", "hz"})
    for (std::size_t row = 0; row < run.t.size(); ++row)
      EXPECT_NEAR(run.value(row, run.column(name)), run.value(0, run.column(name)), 1e-8) << name;
  ASSERT_TRUE(run.energy);
  EXPECT_LT(*run.energy, 1e-8);
}

}  // namespace
}  // namespace daedalus::tests
