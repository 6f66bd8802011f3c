// x' = f - gamma F h against a derivation by hand, differences, and its own promise: how violations decay.

#include <eigen3/Eigen/Dense>

#include "daedalus/mechanics/stacked_constraints.hpp"
#include "unit/formulate/tools.hpp"

namespace daedalus::tests {
namespace {

/// A point of masses 2 and 3 in x and y on a circle whose radius changes.
const char* const pendulum = R"toml(
kind = "lagrangian"
[variables]
x = 0.6
y = -0.8
"der(x)" = 0.4
[lagrangian]
kinetic = "der(x)^2 + 1.5*der(y)^2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = (1 + 0.1*sin(t))^2"
)toml";

/// By hand: g = x^2 + y^2 - r^2, c = 2 x v_x + 2 y v_y - 2 r r', C = [2x 2y 0 0; 2 v_x 2 v_y 2x 2y].
TEST(AscherChinReich, IsWhatAPersonDerivesForAPendulum) {
  const solve::Prepared model = prepared_text(pendulum);
  const double gamma = 7.0, t = 0.3;
  Ready free(model, "index1");
  for (const bool mass : {false, true}) {
    Ready stabilized(model, mass ? "ascher-chin-reich:gamma=7,metric=mass" : "ascher-chin-reich:gamma=7");
    free.slope(free.x);
    stabilized.slope(stabilized.x);
    for (unsigned seed = 1; seed <= 10; ++seed) {
      const std::vector<double> s = free.near(0.2, seed);
      const double x = s[0], y = s[1], vx = s[2], vy = s[3], r = 1.0 + 0.1 * std::sin(t), dr = 0.1 * std::cos(t);
      Eigen::Matrix<double, 2, 4> C;
      C << 2 * x, 2 * y, 0, 0, 2 * vx, 2 * vy, 2 * x, 2 * y;
      const Eigen::Vector2d h(x * x + y * y - r * r, 2 * x * vx + 2 * y * vy - 2 * r * dr);
      Eigen::Vector4d inverse = Eigen::Vector4d::Ones();
      if (mass) inverse << 1.0 / 2.0, 1.0 / 3.0, 1.0 / 2.0, 1.0 / 3.0;
      const Eigen::Matrix<double, 4, 2> D = inverse.asDiagonal() * C.transpose();
      const Eigen::Vector4d F_h = D * (C * D).inverse() * h;
      const std::vector<double> f = free.slope(s, t), found = stabilized.slope(s, t);
      for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(found[i], f[i] - gamma * F_h(static_cast<Eigen::Index>(i)), 1e-12 * size_of(f));
    }
  }
}

/// C is the derivative of h: central differences err by h^2/6 times third derivatives and by eps/h.
TEST(AscherChinReich, DifferentiatesTheConstraintsOfEveryModel) {
  for (const std::string& name : smooth_models()) {
    SCOPED_TRACE(name);
    const solve::Prepared model = prepared_model(name);
    const mechanics::Functions& fn = *model.functions;
    compile::StateValues values(mechanics::stack_constraints(fn));
    const linalg::Sparsity& C = values.equations().pattern;
    ASSERT_EQ(C.rows, fn.holonomic + fn.m);
    ASSERT_EQ(C.columns, 2 * fn.n);
    Ready ready(model, "index1");
    std::vector<double> x = ready.near(1e-2, 5);
    const double t = 0.1;
    ASSERT_TRUE(values.jacobian(t, x.data()));
    const auto residuals = [&] {
      EXPECT_TRUE(values.residuals(t, x.data()));
      return values.residual();
    };
    for (std::size_t j = 0; j < 2 * fn.n; ++j) {
      const double before = x[j], h = 1e-5 * std::max(1.0, std::abs(before));
      x[j] = before + h;
      const std::vector<double> more = residuals();
      x[j] = before - h;
      const std::vector<double> less = residuals();
      x[j] = before;
      for (std::size_t i = 0; i < C.rows; ++i) {
        double entry = 0.0;
        for (std::size_t k = C.row_start[i]; k < C.row_start[i + 1]; ++k)
          if (C.column[k] == j) entry = values.jacobian()[k];
        EXPECT_NEAR(entry, (more[i] - less[i]) / (2.0 * h), 1e-6 * std::max(1.0, std::abs(entry))) << i << ", " << j;
      }
    }
  }
}

/// From g0, c0 at the start: c = c0 exp(-gamma t), g = (g0 + c0 t) exp(-gamma t), whatever the motion does.
TEST(AscherChinReich, ViolationsDecayAsPromised) {
  for (const char* metric : {"euclidean", "mass"}) {
    const solve::Prepared model = prepared_text(R"toml(
kind = "lagrangian"
[variables]
x = 0.65
y = -0.8
"der(x)" = 0.4
"der(y)" = 0.1
[lagrangian]
kinetic = "der(x)^2 + 1.5*der(y)^2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = 1"
[outputs]
g = "x^2 + y^2 - 1"
c = "2*x*der(x) + 2*y*der(y)"
)toml");
    solve::RunOptions options;
    options.formulation = std::string("ascher-chin-reich:gamma=3,metric=") + metric;
    options.method = "dop853";
    options.initialize = "off";
    options.t_end = 2.0;
    options.rtol = 1e-11;
    options.samples = 9;
    const solve::Trajectory run = solve::simulate(model, options);
    ASSERT_TRUE(run.success()) << run.message;
    const double g0 = 0.65 * 0.65 + 0.64 - 1.0, c0 = 2.0 * (0.65 * 0.4 - 0.8 * 0.1);
    const auto column = [&](const std::string& name) {
      return static_cast<std::size_t>(std::ranges::find(run.columns, name) - run.columns.begin());
    };
    for (std::size_t row = 0; row < run.t.size(); ++row) {
      const double t = run.t[row], decay = std::exp(-3.0 * t);
      EXPECT_NEAR(run.value(row, column("c")), c0 * decay, 1e-8);
      EXPECT_NEAR(run.value(row, column("g")), (g0 + c0 * t) * decay, 1e-8);
    }
  }
}

}  // namespace
}  // namespace daedalus::tests
