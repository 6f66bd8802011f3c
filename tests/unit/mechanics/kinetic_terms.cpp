// Kinetic energies beyond v^T M(q) v / 2, singular masses, and another road to the same equations.

#include <array>
#include <functional>

#include "daedalus/expr/print.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "folders.hpp"
#include "unit/mechanics/tools.hpp"

namespace daedalus::tests {
namespace {

using State = std::vector<double>;

/// The classical Runge-Kutta method, written out: an integrator that shares nothing with the library.
State runge_kutta(const std::function<State(double, const State&)>& f, State x, double t_end, int steps) {
  const double h = t_end / steps;
  const auto plus = [](State a, double s, const State& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += s * b[i];
    return a;
  };
  for (int k = 0; k < steps; ++k) {
    const double t = h * k;
    const State k1 = f(t, x), k2 = f(t + h / 2, plus(x, h / 2, k1)), k3 = f(t + h / 2, plus(x, h / 2, k2)),
                k4 = f(t + h, plus(x, h, k3));
    x = plus(plus(plus(plus(x, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
  }
  return x;
}

solve::Trajectory run(const model::Model& model, double t_end, double tolerance) {
  solve::RunOptions options;
  options.t_end = t_end;
  options.rtol = options.atol = tolerance;
  solve::Trajectory result = solve::simulate(model, options);
  EXPECT_TRUE(result.success()) << result.message;
  return result;
}

/// A mass on a spring seen from a frame that turns with W: T = m/2 ((x' - W y)^2 + (y' + W x)^2) has terms of degree 0,
/// 1 and 2. In the frame at rest it is two harmonic oscillators: X = R(W t) x.
TEST(KineticTerms, RotatingFrameIsTheTransformedInertialMotion) {
  const model::Model model = model::read_model_text(R"toml(
kind = "lagrangian"
[parameters]
m = 1.5
k = 6.0
W = 0.8
[variables]
x = 1.0
y = 0.2
"der(x)" = 0.3
"der(y)" = -0.5
[lagrangian]
kinetic = "m/2*((der(x) - W*y)^2 + (der(y) + W*x)^2)"
potential = "k/2*(x^2 + y^2)"
)toml",
                                                    "rotating");
  const double m = 1.5, k = 6.0, W = 0.8, t = 3.0, w = std::sqrt(k / m);
  const Equations equations = mechanics::derive(std::make_shared<const model::Model>(model));
  for (unsigned seed = 1; seed < 5; ++seed) {
    const Point at(equations, seed);
    // m x'' = 2 m W y' + m W^2 x - k x: Coriolis and centrifugal force
    expect_close(at(equations.f[0]), 2 * m * W * at["der(y)"] + (m * W * W - k) * at["x"], 10.0, 1e-15, "f1");
    expect_close(at(equations.f[1]), -2 * m * W * at["der(x)"] + (m * W * W - k) * at["y"], 10.0, 1e-15, "f2");
  }
  EXPECT_TRUE(equations.conservative);

  // inertial start: X = x, X' = x' + W x J with J x = (-y, x)
  const std::array<double, 2> X0{1.0, 0.2}, V0{0.3 - W * 0.2, -0.5 + W * 1.0};
  std::array<double, 2> X, V;
  for (std::size_t i = 0; i < 2; ++i) {
    X[i] = X0[i] * std::cos(w * t) + V0[i] / w * std::sin(w * t);
    V[i] = -X0[i] * w * std::sin(w * t) + V0[i] * std::cos(w * t);
  }
  const double c = std::cos(W * t), s = std::sin(W * t);
  const double x = c * X[0] + s * X[1], y = -s * X[0] + c * X[1];
  const solve::Trajectory result = run(model, t, 1e-12);
  // 20 to 40 steps, each with an error of the tolerance: oscillators do not magnify it
  EXPECT_NEAR(result.last("x"), x, 1e-10);
  EXPECT_NEAR(result.last("y"), y, 1e-10);
  EXPECT_NEAR(result.last("der(x)"), c * V[0] + s * V[1] + W * y, 1e-10);
  ASSERT_TRUE(result.energy.has_value());
  EXPECT_LT(*result.energy, 1e-10);
}

/// M(t): with nothing else the momentum m(t) x' is constant.
TEST(KineticTerms, TimeDependentMassKeepsTheMomentum) {
  const model::Model model = model::read_model_text(R"toml(
kind = "lagrangian"
[variables]
x = 0.0
"der(x)" = 1.0
[lagrangian]
kinetic = "(2 + sin(t))/2*der(x)^2"
)toml",
                                                    "mass");
  const solve::Trajectory result = run(model, 3.0, 1e-12);
  EXPECT_NEAR(result.last("der(x)") * (2.0 + std::sin(3.0)), 2.0, 1e-10);  // a few dozen steps of error 1e-12
  EXPECT_FALSE(result.energy.has_value());
}

/// Rigid body in quaternions, whose mass matrix has rank 3 of 4, against Euler's equations I w' = (I w) x w and
/// q' = q w / 2, integrated apart. RK4 with h = 1e-3: h^4 = 1e-12 times fifth derivatives of about 10; the run at 1e-12
/// has 50 steps.
TEST(KineticTerms, QuaternionLagrangianEqualsEulersEquations) {
  model::Overrides overrides;
  overrides.set = {{"w10", "0.4"}, {"w20", "1.0"}, {"w30", "-0.3"}};
  const model::Model model = model::read_model(tests::source_folder() + "/models/rigid_body.toml", overrides);
  const auto euler = [](double, const State& x) {
    const double I1 = 1, I2 = 2, I3 = 3, *q = x.data(), *w = x.data() + 4;
    return State{(-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]) / 2,
                 (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]) / 2,
                 (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]) / 2,
                 (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]) / 2,
                 (I2 - I3) / I1 * w[1] * w[2],
                 (I3 - I1) / I2 * w[2] * w[0],
                 (I1 - I2) / I3 * w[0] * w[1]};
  };
  const State expected = runge_kutta(euler, {1, 0, 0, 0, 0.4, 1.0, -0.3}, 5.0, 5000);
  const solve::Trajectory result = run(model, 5.0, 1e-12);
  const char* const names[] = {"q0", "q1", "q2", "q3", "omega1", "omega2", "omega3"};
  for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(result.last(names[i]), expected[i], 1e-9) << names[i];

  const Equations equations = mechanics::derive(std::make_shared<const model::Model>(model));
  const Point at(equations, 1);
  // q lies in the kernel of M: turning a unit quaternion along itself is no motion
  for (std::size_t i = 0; i < 4; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < 4; ++j) sum += at(equations.M.at(i, j)) * at(equations.q[j]);
    EXPECT_NEAR(sum, 0.0, 1e-14);
  }
}

/// Newton and Euler for a compound pendulum, free body: m x'' = R, J phi'' = moment of R about the centre, with the
/// joint as two constraints. By hand: phi'' = -m g a sin(phi) / (J + m a^2).
TEST(KineticTerms, CompoundPendulumEqualsNewtonEuler) {
  const model::Model model = model::read_model_text(R"toml(
kind = "lagrangian"
[parameters]
m = 2.0
J = 0.7
a = 0.9
g = 9.81
[variables]
phi = { start = 1.1, fixed = true }
x = 0.5
y = -0.5
"der(phi)" = { start = 0.4, fixed = true }
[lagrangian]
kinetic = "m/2*(der(x)^2 + der(y)^2) + J/2*der(phi)^2"
potential = "m*g*y"
[constraints]
joint_x = "x - a*sin(phi) = 0"
joint_y = "y + a*cos(phi) = 0"
)toml",
                                                    "compound");
  const double m = 2.0, J = 0.7, a = 0.9, g = 9.81;
  const auto newton = [&](double, const State& x) {
    return State{x[1], -m * g * a * std::sin(x[0]) / (J + m * a * a)};
  };
  const State expected = runge_kutta(newton, {1.1, 0.4}, 3.0, 6000);  // h = 5e-4: h^4 = 6e-14
  const solve::Trajectory result = run(model, 3.0, 1e-12);
  EXPECT_NEAR(result.last("phi"), expected[0], 1e-10);
  EXPECT_NEAR(result.last("der(phi)"), expected[1], 1e-10);
  // m x'' = -lambda.joint_x: the force at the joint
  const double phi = expected[0], rate = expected[1], acceleration = newton(0, expected)[1];
  const double ax = a * (std::cos(phi) * acceleration - std::sin(phi) * rate * rate);
  EXPECT_NEAR(result.last("lambda.joint_x"), -m * ax, 1e-9);
}

// Models built by hand, as a builder could: the reader has checks of its own.
struct Built {
  Built() {
    model.graph = std::make_shared<expr::Graph>();
    model.time = model.graph->symbol("t");
    for (const std::string name : {"x", "y"}) {
      model::Unknown unknown;
      unknown.name = name;
      unknown.symbol = model.graph->symbol(name);
      unknown.rates = {model.graph->symbol(model::derivative_name(name, 1)),
                       model.graph->symbol(model::derivative_name(name, 2))};
      unknown.start.resize(3);
      model.variables.push_back(unknown);
    }
    x = model.variables[0].symbol;
    y = model.variables[1].symbol;
    vx = model.variables[0].rates[0];
    vy = model.variables[1].rates[0];
  }
  void constrain(Expr residual) {
    model.constraints.push_back({"c", residual, model.graph->constant(0.0), residual, {}});
    model.multipliers.push_back(model.graph->symbol("lambda.c"));
  }
  Equations derive() const { return mechanics::derive(std::make_shared<const model::Model>(model)); }
  std::string code() const {
    try {
      derive();
    } catch (const Error& error) {
      return error.faults().front().code;
    }
    return "";
  }
  model::Model model;
  Expr x, y, vx, vy;
};

TEST(KineticTerms, RefusesEnergiesThatAreNotQuadratic) {
  Built built;
  built.model.kinetic = pow(built.vx, 2.0) + pow(built.vy, 3.0);
  EXPECT_EQ(built.code(), "not-quadratic");
  built.model.kinetic = pow(built.vx, 2.0) + built.vy * abs(built.vy);  // quadratic on each side of zero only
  EXPECT_EQ(built.code(), "not-quadratic");
  built.model.kinetic = pow(built.vx, 2.0) + cos(built.vy);
  EXPECT_EQ(built.code(), "not-quadratic");
  built.model.kinetic =
      pow(built.vx, 2.0) + sqrt(built.x - 5.0) * pow(built.vy, 4.0);  // outside its domain at most points
  EXPECT_EQ(built.code(), "not-quadratic");
  built.model.kinetic = pow(built.vx, 2.0) + pow(built.vy, 2.0) + built.x * built.vy;
  EXPECT_EQ(built.code(), "");
}

/// m(x)/2 hypot(x', y')^2 is quadratic, though not by the letter; its derivatives are 0/0 at rest.
TEST(KineticTerms, FindsTheQuadraticFormBehindHypot) {
  Built plain, hidden;
  plain.model.kinetic = (2.0 + sin(plain.x)) / 2.0 * (pow(plain.vx, 2.0) + pow(plain.vy, 2.0)) + plain.y * plain.vx;
  hidden.model.kinetic = (2.0 + sin(hidden.x)) / 2.0 * pow(hypot(hidden.vx, hidden.vy), 2.0) + hidden.y * hidden.vx;
  const Equations expected = plain.derive(), actual = hidden.derive();
  for (const double speed : {0.7, 0.0}) {
    Point at(expected, 5), there(actual, 5);
    for (Point* point : {&at, &there})
      for (const char* name : {"der(x)", "der(y)"}) point->set(name, speed);
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j)
        expect_close(there(actual.M.at(i, j)), at(expected.M.at(i, j)), 3.0, 1e-15, "M");
      expect_close(there(actual.f[i]), at(expected.f[i]), 3.0, 1e-15, "f");
    }
    expect_close(there(*actual.kinetic), at(*expected.kinetic), 3.0, 1e-15, "energy");
    const mechanics::ForceTerms terms = mechanics::force_terms(actual);
    EXPECT_TRUE(std::isfinite(there(terms.Q[0])));
  }
}

TEST(KineticTerms, RefusesConstraintsThatAreNotLinearInVelocities) {
  Built built;
  built.model.kinetic = pow(built.vx, 2.0) + pow(built.vy, 2.0);
  built.constrain(pow(built.vx, 2.0) + pow(built.vy, 2.0) - 1.0);
  EXPECT_EQ(built.code(), "constraint-not-linear");
  built.model.constraints.clear();
  built.model.multipliers.clear();
  built.constrain((pow(built.vx, 2.0) - pow(built.vy, 2.0)) / (built.vx - built.vy) - built.x);  // vx + vy in disguise
  EXPECT_EQ(built.code(), "");
}

TEST(KineticTerms, RefusesMassMatricesThatAreNotSymmetric) {
  Built built;
  model::Model& model = built.model;
  model.kind = model::Kind::mechanical;
  model.mass.rows = model.mass.columns = 2;
  const Expr one = model.graph->constant(1.0);
  model.force = {one, one};
  const auto with = [&](Expr upper, Expr lower) {
    model.mass.entries = {{0, 0, 2.0 * one}, {0, 1, upper}, {1, 0, lower}, {1, 1, 2.0 * one}};
    return built.code();
  };
  EXPECT_EQ(with(built.x, built.y), "mass-not-symmetric");
  EXPECT_EQ(with(built.x, model.graph->constant(0.0)), "mass-not-symmetric");
  EXPECT_EQ(with(sin(2.0 * built.x), 2.0 * sin(built.x) * cos(built.x)), "");
  EXPECT_EQ(with(built.vx, built.vx), "mass-depends-on-velocity");
  // not a number at the point where the two are compared first
  EXPECT_EQ(with(sqrt(0.5 - built.x) * built.y, built.y * sqrt(0.5 - built.x)), "");
}

TEST(KineticTerms, RefusesWhatAuxiliaryUnknownsCannotCarry) {
  Built built;
  model::Unknown current;
  current.name = "i";
  current.symbol = built.model.graph->symbol("i");
  current.rates = {built.model.graph->symbol("der(i)")};
  current.start.resize(2);
  built.model.auxiliary.push_back(current);
  built.model.equations.push_back({"e", current.symbol, built.x, current.symbol - built.x, {}});
  const Expr free = pow(built.vx, 2.0) + pow(built.vy, 2.0);
  built.model.kinetic = free * current.symbol;
  EXPECT_EQ(built.code(), "mass-depends-on-auxiliary");
  built.model.kinetic = free + current.symbol * built.vx;  // needs the rate of an algebraic unknown
  EXPECT_EQ(built.code(), "momentum-of-algebraic");
  built.model.equations.front().residual = current.rates[0] - built.x;
  EXPECT_EQ(built.code(), "");
}

}  // namespace
}  // namespace daedalus::tests
