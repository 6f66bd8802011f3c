// Invariants of ODEs and of DAEs of index 1, against exact solutions: Kepler's problem by Kepler's equation, the free
// asymmetric body by Jacobi's elliptic functions.
#include <gtest/gtest.h>

#include <cmath>

#include "physics/reference.hpp"

namespace daedalus::tests {
namespace {

constexpr double pi = 3.141592653589793238;

/// Position and velocity of the planet of models/kepler.toml: x = cos E - e, y = sqrt(1 - e^2) sin E with E - e sin E = t.
std::vector<double> kepler(double e, double t) {
  const double mean = std::remainder(t, 2.0 * pi);
  double E = mean;
  for (int k = 0; k < 50; ++k) E -= (E - e * std::sin(E) - mean) / (1.0 - e * std::cos(E));
  const double rate = 1.0 / (1.0 - e * std::cos(E)), b = std::sqrt(1.0 - e * e);
  return {std::cos(E) - e, b * std::sin(E), -std::sin(E) * rate, b * std::cos(E) * rate};
}

double kepler_error(const solve::Trajectory& run, double e) {
  const std::vector<double> exact = kepler(e, run.t.back());
  double worst = 0.0;
  const char* names[] = {"x", "y", "der(x)", "der(y)"};
  for (std::size_t i = 0; i < 4; ++i) worst = std::max(worst, std::abs(run.last(names[i]) - exact[i]));
  return worst;
}

/// Jacobi's sn, cn, dn by the arithmetic-geometric mean (Abramowitz and Stegun, 16.4).
std::vector<double> elliptic(double u, double m) {
  std::vector<double> a{1.0}, c{std::sqrt(m)};
  double b = std::sqrt(1.0 - m);
  while (std::abs(c.back()) > 1e-17 && a.size() < 40) {
    const double mean = 0.5 * (a.back() + b), half = 0.5 * (a.back() - b);
    b = std::sqrt(a.back() * b);
    a.push_back(mean);
    c.push_back(half);
  }
  double phi = std::ldexp(a.back() * u, static_cast<int>(a.size()) - 1), before = phi;
  for (std::size_t k = a.size() - 1; k > 0; --k) {
    before = phi;
    phi = 0.5 * (phi + std::asin(std::clamp(c[k] / a[k] * std::sin(phi), -1.0, 1.0)));
  }
  const double dn = a.size() > 1 ? std::cos(phi) / std::cos(before - phi) : 1.0;
  return {std::sin(phi), std::cos(phi), dn};
}

/// Angular velocities of a free body with I1 > I2 > I3 that starts at (w1, w2, 0) with
/// L^2 > 2 E I2, so that w1 keeps its sign: Landau and Lifshitz, Mechanics, (37.8) to (37.12).
std::vector<double> free_body(double I1, double I2, double I3, const std::vector<double>& start, double t) {
  const double twice = I1 * start[0] * start[0] + I2 * start[1] * start[1] + I3 * start[2] * start[2];
  const double square = std::pow(I1 * start[0], 2) + std::pow(I2 * start[1], 2) + std::pow(I3 * start[2], 2);
  // Landau and Lifshitz number the axes I3 > I2 > I1: our first axis is their third.
  const double w3 = std::sqrt((square - twice * I3) / (I1 * (I1 - I3))), w2 = std::sqrt((twice * I1 - square) / (I2 * (I1 - I2)));
  const double w1 = std::sqrt((twice * I1 - square) / (I3 * (I1 - I3)));
  const double speed = std::sqrt((I1 - I2) * (square - twice * I3) / (I1 * I2 * I3));
  const double m = (I2 - I3) * (twice * I1 - square) / ((I1 - I2) * (square - twice * I3));
  // Their solution is w1 cn, w2 sn, w3 dn; ours starts a quarter of a period later, where sn = 1, and runs backwards, as
  // axes in the opposite order are left-handed.
  double quarter = 0.0;
  for (double a = 1.0, b = std::sqrt(1.0 - m);;) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
    quarter = pi / (2.0 * a);
    if (std::abs(a - b) <= 1e-16 * a) break;
  }
  const std::vector<double> now = elliptic(quarter - speed * t, m);
  return {w3 * now[2], w2 * now[0], w1 * now[1]};
}

model::Overrides set(std::vector<std::pair<std::string, std::string>> values) {
  model::Overrides overrides;
  overrides.set = std::move(values);
  return overrides;
}

solve::RunOptions options_of(const std::string& formulation, const std::string& method, double rtol) {
  solve::RunOptions options;
  options.formulation = formulation;
  options.method = method;
  options.rtol = rtol;
  return options;
}

/// Every invariant holds to 1e-12 of its largest term, in every row, whatever the method and the tolerance.
TEST(Invariants, HoldInEveryRow) {
  for (const char* model : {"kepler", "rigid_body_euler"})
    for (const char* method : {"dop853", "dopri5", "radau", "bdf", "auto", "rodas5p"})
      for (const double rtol : {1e-3, 1e-6, 1e-10}) {
        if (rtol == 1e-10 && std::string(method) == "rodas5p") continue;
        SCOPED_TRACE(std::string(model) + ", " + method + ", rtol " + std::to_string(rtol));
        solve::RunOptions options = options_of("projection", method, rtol);
        options.t_end = 20.0;
        options.samples = 301;
        options.residuals = true;
        const solve::Trajectory run = solve::simulate(prepared(model), options);
        ASSERT_TRUE(run.success()) << run.message;
        ASSERT_EQ(run.t.size(), 301u);
        ASSERT_GE(run.invariants.size(), 2u);
        for (const solve::InvariantResidual& one : run.invariants) {
          EXPECT_LE(one.relative, 1e-12) << one.name;
          const std::size_t column = run.column("residual." + one.name);
          for (std::size_t row = 0; row < run.t.size(); ++row)
            ASSERT_LE(std::abs(run.value(row, column)), 1e-11) << one.name;  // terms of size 1 to 5
        }
      }
}

/// Projection keeps the order of a method. Halving the step divides the error of rk4 by 16; the bound leaves room for
/// terms of higher order at these steps. Errors of both formulations are of one size.
TEST(Invariants, ProjectionKeepsTheOrder) {
  const solve::Prepared model = prepared("kepler", set({{"e", "0.2"}}));
  const std::pair<std::string, double> methods[] = {{"midpoint", 4.0}, {"rk3", 8.0}, {"rk4", 16.0}};
  for (const auto& [method, factor] : methods) {
    double last = 0.0;
    for (const double steps : {100.0, 200.0, 400.0, 800.0}) {
      solve::RunOptions options = options_of("projection", method, 1e-6);
      options.t_end = 2.0;
      options.step = 2.0 / steps;
      options.rows = solve::Rows::ends;
      const double error = kepler_error(solve::simulate(model, options), 0.2);
      if (last > 0.0) {
        EXPECT_GT(last / error, 0.8 * factor) << method << ", " << steps;
        EXPECT_LT(last / error, 1.4 * factor) << method << ", " << steps;
      }
      last = error;
    }
  }
}

/// Over many orbits what is lost without projection is the phase: it goes with the energy error, which grows linearly, so
/// the error grows with t^2 without and with t with projection. At the end of 100 orbits that is a factor of about 100;
/// a third of it is asked for.
TEST(Invariants, KeepTheOrbitForLong) {
  const solve::Prepared model = prepared("kepler");
  const auto error = [&](const std::string& formulation) {
    solve::RunOptions options = options_of(formulation, "dopri5", 1e-7);
    options.rows = solve::Rows::ends;
    const solve::Trajectory run = solve::simulate(model, options);
    EXPECT_TRUE(run.success()) << run.message;
    return kepler_error(run, 0.6);
  };
  EXPECT_LT(error("projection"), error("direct") / 30.0);
}

/// The exact motion of a free body, and errors that fall with the tolerance.
TEST(Invariants, FreeBodyAgainstEllipticFunctions) {
  const solve::Prepared model = prepared("rigid_body_euler", set({{"w1_start", "1.2"}, {"w2_start", "0.7"}}));  // L^2 > 2 E I2
  for (const char* formulation : {"direct", "projection", "baumgarte"}) {
    double last = 1.0;
    for (const double rtol : {1e-5, 1e-8, 1e-11}) {
      SCOPED_TRACE(std::string(formulation) + " " + std::to_string(rtol));
      solve::RunOptions options = options_of(formulation, "dop853", rtol);
      options.t_end = 30.0;
      options.rows = solve::Rows::ends;
      const solve::Trajectory run = solve::simulate(model, options);
      ASSERT_TRUE(run.success()) << run.message;
      const std::vector<double> exact = free_body(2.0, 1.0, 0.5, {1.2, 0.7, 0.0}, 30.0);
      double error = 0.0;
      const char* names[] = {"w1", "w2", "w3"};
      for (std::size_t i = 0; i < 3; ++i) error = std::max(error, std::abs(run.last(names[i]) - exact[i]));
      EXPECT_LT(error, 3e3 * rtol);  // what DOP853 makes of a tolerance over a long run: see ACCURACY of the pendulum
      EXPECT_LT(error, last);
      last = error;
    }
  }
}

/// c' + alpha c = 0: a violation decays like exp(-alpha t). The length of the quaternion is an invariant on every sphere, so
/// the law is exact.
TEST(Invariants, StabilizationLetsViolationsDecay) {
  const solve::Prepared model = prepared("rigid_body_euler", set({{"q0", "1.1"}}));
  for (const double alpha : {0.5, 2.0, 7.0}) {
    solve::RunOptions options = options_of("baumgarte:alpha=" + std::to_string(alpha), "dop853", 1e-12);
    options.initialize = "off";
    options.t_end = 2.0;
    options.residuals = true;
    options.samples = 11;
    const solve::Trajectory run = solve::simulate(model, options);
    ASSERT_TRUE(run.success()) << run.message;
    const std::size_t column = run.column("residual.unit");
    for (std::size_t row = 0; row < run.t.size(); ++row)
      EXPECT_NEAR(run.value(row, column), 0.21 * std::exp(-alpha * run.t[row]), 1e-10);
  }
}

/// Algebraic unknowns follow the projected state: their equations hold in every row too. The total energy of two masses on
/// a spring whose force is an unknown.
TEST(Invariants, AlgebraicUnknownsFollow) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 1
v = 0
force = -1
power = 0
[equations]
position = "der(x) = v"
velocity = "der(v) = force"
spring = "force + force^3/10 = -x - x^3/10"
work = "power = force*v"
[invariants]
energy = "v^2 + x^2 = 1"
)toml", "test"));
  for (const char* method : {"dop853", "radau", "bdf", "auto"}) {
    SCOPED_TRACE(method);
    solve::RunOptions options = options_of("projection", method, 1e-5);
    options.t_end = 50.0;
    options.samples = 201;
    const solve::Trajectory run = solve::simulate(model, options);
    ASSERT_TRUE(run.success()) << run.message;
    EXPECT_LE(run.invariants.at(0).relative, 1e-12);
    EXPECT_LE(run.constraints.relative[0], 1e-12);
    // Only the phase is left to be wrong: after 50 s some hundred tolerances.
    EXPECT_NEAR(run.last("x"), std::cos(50.0), 3e3 * 1e-5);
  }
}

/// Constrained motion with its energy: constraints and invariant hold together in every row, with every view of the
/// formulation, through the turning points, where the energy does not depend on the velocities.
TEST(Invariants, OfConstrainedMotion) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "lagrangian"
[variables]
x = { start = 1, fixed = true }
y = 0.1
z = 0
"der(z)" = 0.5
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2 + der(z)^2)/2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 + z^2 = 1"
[invariants]
energy = "(der(x)^2 + der(y)^2 + der(z)^2)/2 + 9.81*y = 1/8"
momentum = "x*der(z) - z*der(x) = 1/2"
)toml", "test"));
  solve::RunOptions fine = options_of("projection", "dop853", 1e-12);
  fine.t_end = 20.0;
  fine.rows = solve::Rows::ends;
  const solve::Trajectory reference = solve::simulate(model, fine);
  ASSERT_TRUE(reference.success()) << reference.message;
  for (const char* method : {"dop853", "radau", "bdf", "auto", "half-explicit", "gauss4"}) {
    SCOPED_TRACE(method);
    solve::RunOptions options = options_of("projection", method, 1e-6);
    options.t_end = 20.0;
    options.samples = 401;
    const solve::Trajectory run = solve::simulate(model, options);
    ASSERT_TRUE(run.success()) << run.message;
    EXPECT_LE(run.constraints.relative[0], 1e-12);
    EXPECT_LE(run.constraints.relative[1], 1e-12);
    for (const solve::InvariantResidual& one : run.invariants) EXPECT_LE(one.relative, 1e-12) << one.name;
    for (const char* name : {"x", "y", "z"}) EXPECT_NEAR(run.last(name), reference.last(name), 3.5e3 * 1e-6);
  }
}

/// A pendulum that is let go at rest: at its turning points v = 0 and only positions can correct the energy. Projection
/// costs no steps, and the period is right.
TEST(Invariants, EnergyAtTurningPoints) {
  const std::string text = R"toml(
kind = "lagrangian"
[variables]
x = 1
y = 0
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2)/2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = 1"
)toml";
  const solve::Prepared plain = solve::prepare(model::read_model_text(text, "test"));
  const solve::Prepared kept = solve::prepare(
      model::read_model_text(text + "[invariants]\nenergy = \"(der(x)^2 + der(y)^2)/2 + 9.81*y = 0\"\n", "test"));
  solve::RunOptions options = options_of("projection", "dop853", 1e-7);
  options.t_end = 100.0;
  options.rows = solve::Rows::ends;
  const solve::Trajectory without = solve::simulate(plain, options), with = solve::simulate(kept, options);
  ASSERT_TRUE(without.success() && with.success()) << with.message;
  EXPECT_LE(with.stats.steps, without.stats.steps + without.stats.steps / 50);
  EXPECT_LE(with.energy.value(), 1e-13);
  // theta'' = -g sin(theta) from a quarter turn: the period is 4 K(1/2)/sqrt(g), K(1/2) = 1.85407467730137192
  const double period = 4.0 * 1.85407467730137192 / std::sqrt(9.81);
  options.t_end = 40.0 * period;
  const solve::Trajectory back = solve::simulate(kept, options);
  EXPECT_NEAR(back.last("y"), 0.0, 3.5e3 * 1e-7);
  EXPECT_NEAR(back.last("x"), 1.0, 3.5e3 * 1e-7);
}

}  // namespace
}  // namespace daedalus::tests
