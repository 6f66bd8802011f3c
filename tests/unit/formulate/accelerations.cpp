// Four ways to the same accelerations: the KKT system, its elimination through G M^-1 G^T, the pseudoinverse, and the
// penalty with iterated multipliers.

#include "unit/formulate/tools.hpp"

namespace daedalus::tests {
namespace {

void expect_same(const std::string& name, const std::string& one, const std::string& other, double displacement) {
  SCOPED_TRACE(name + ", " + one + " and " + other);
  const solve::Prepared model = prepared_model(name);
  Ready first(model, one), second(model, other);
  first.slope(first.x);  // where the constraints hold: ranks are decided here
  second.slope(second.x);
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const std::vector<double> x = first.near(displacement, seed);
    const std::vector<double> a = first.slope(x), b = second.slope(x);
    // Conditions of the KKT matrices of the models are below 1e8; observed differences are below 1e-11.
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-9 * size_of(a)) << i;
  }
}

/// Redundant constraints are another matter: see below.
TEST(Accelerations, AgreeOnEveryModel) {
  for (const std::string& name : smooth_models()) {
    if (!solve::consistent_start(prepared_model(name), 0.0, solve::Initialize::project).redundant.empty()) continue;
    expect_same(name, "index1", "underlying-ode", 1e-3);
    expect_same(name, "index1", "udwadia-kalaba", 1e-3);
    expect_same(name, "index1", "augmented-lagrangian", 1e-3);
    expect_same(name, "baumgarte", "augmented-lagrangian:projection=none", 1e-3);
  }
}

/// Three cranks of a parallelogram: one follows from the others where they hold. A little off, the formulas choose
/// different compromises, as far apart as the violation is large.
TEST(Accelerations, AgreeOnRedundantConstraints) {
  const solve::Prepared model = prepared_text(R"toml(
kind = "lagrangian"
[variables]
x = 0.6
y = -0.8
phi = 0.0
"der(x)" = 0.4
[lagrangian]
kinetic = "der(x)^2 + der(y)^2 + der(phi)^2/4"
potential = "9.81*y"
[constraints]
crank1 = "x^2 + y^2 = 1"
crank2 = "(x + cos(phi) - 1)^2 + (y + sin(phi))^2 = 1"
crank3 = "(x + 2*cos(phi) - 2)^2 + (y + 2*sin(phi))^2 = 1"
)toml");
  Ready kkt(model, "index1");
  const std::vector<double> at_start = kkt.slope(kkt.x);
  for (const char* choice : {"underlying-ode", "udwadia-kalaba", "augmented-lagrangian"}) {
    SCOPED_TRACE(choice);
    Ready other(model, choice);
    const std::vector<double> dx = other.slope(other.x);
    for (std::size_t i = 0; i < dx.size(); ++i) EXPECT_NEAR(dx[i], at_start[i], 1e-11);
    for (const double displacement : {1e-4, 1e-8}) {
      const std::vector<double> x = other.near(displacement, 3);
      const std::vector<double> expected = kkt.slope(x), found = other.slope(x);
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e2 * displacement) << displacement;
    }
  }
}

/// A sphere of a free body in quaternion coordinates has a mass matrix that is singular along the quaternion.
TEST(Accelerations, ASingularMassNeedsTheExtendedPseudoinverse) {
  expect_same("rigid_body", "index1", "udwadia-kalaba", 1e-6);
  expect_same("rigid_body", "index1", "underlying-ode", 1e-6);
  expect_same("rigid_body", "index1", "augmented-lagrangian", 1e-6);
}

/// df/dx by differentiating the KKT system, against differences of fourth order: error h^4 f^(5)/30 + eps |f|/h.
TEST(Accelerations, HaveTheDerivativesThatDifferencesFind) {
  for (const std::string& name : smooth_models())
    for (const char* choice : {"underlying-ode", "udwadia-kalaba", "augmented-lagrangian", "ascher-chin-reich"}) {
      SCOPED_TRACE(name + ", " + choice);
      const solve::Prepared model = prepared_model(name);
      Ready explicit_view(model, choice), implicit_view(model, choice, View::implicit);
      const std::vector<double>& x = explicit_view.x;  // on the constraints
      const std::size_t n = x.size();
      const integrate::ImplicitSystem& system = *implicit_view.formulated.system.implicit;
      ASSERT_EQ(system.pattern.nonzeros(), n * n);
      const std::vector<double> dx = explicit_view.slope(x);
      std::vector<double> F_y(n * n), F_dy(n * n);
      ASSERT_EQ(system.jacobian(0.0, x.data(), dx.data(), F_y.data(), F_dy.data()), Evaluation::ok);
      for (std::size_t j = 0; j < n; ++j) {
        const double h = 1e-3 * std::max(0.1, std::abs(x[j]));
        std::vector<double> sum(n, 0.0);
        for (const auto& [steps, weight] : {std::pair{-2.0, 1.0}, {-1.0, -8.0}, {1.0, 8.0}, {2.0, -1.0}}) {
          std::vector<double> moved = x;
          moved[j] += steps * h;
          const std::vector<double> slope = explicit_view.slope(moved);
          for (std::size_t i = 0; i < n; ++i) sum[i] += weight * slope[i] / (12.0 * h);
        }
        double largest = 1.0;
        for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(sum[i]));
        for (std::size_t i = 0; i < n; ++i)
          EXPECT_NEAR(-F_y[i * n + j], sum[i], 1e-4 * largest) << "row " << i << ", column " << j;
      }
    }
}

}  // namespace
}  // namespace daedalus::tests
