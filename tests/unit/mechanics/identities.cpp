// Identities that hold for every model, at random points.

#include "daedalus/expr/derivative.hpp"
#include "unit/mechanics/tools.hpp"

namespace daedalus::tests {
namespace {

/// Energies with terms of every degree, time-dependent masses, auxiliary unknowns and forces.
const char* const everything = R"toml(
kind = "lagrangian"
[parameters]
m = 1.3
[variables]
x = 0
y = 0
z = 0
[auxiliary]
i_m = 0
[lagrangian]
kinetic = """(2 + sin(x*y) + t^2)*der(x)^2/2 + m*(1 + z^2)*der(y)^2 + exp(x - t)*der(z)^2 + 0.3*cos(x + z)*der(x)*der(y)
  + 0.2*y*t*der(y)*der(z) + (x*z + t)*der(y) + y^2*sin(t)*der(x) + i_m*sin(x)*der(z) + x^2*t"""
potential = "cos(x)*y + z^4 - i_m^2*(1 + x)/2"
dissipation = "0.3*(der(x) - der(y))^2"
[lagrangian.forces]
x = "i_m - 0.1*der(x)^3"
[equations]
coil = "0.1*der(i_m) = sin(t) - i_m - 0.2*der(x)"
[constraints]
path = "x*y = t*sin(z)"
skate = "der(x)*cos(z) = der(y)*x + t"
)toml";

std::vector<std::pair<std::string, Equations>> all_models() {
  std::vector<std::pair<std::string, Equations>> models;
  for (const std::string& name : model_names()) models.emplace_back(name, derived_file(name));
  models.emplace_back("everything", derived(everything));
  return models;
}

/// (sum_k v_k dM/dq_k) - 2C is skew-symmetric for the C of Christoffel symbols. Each entry is a sum of at most 3n
/// products, rounded relative to its largest part: 3n units in the last place of the largest entry. Derivatives of M
/// may cancel, but their parts are of the size of M (sines and cosines): that counts as well.
TEST(Identities, RateOfMassMinusTwiceCoriolisIsSkew) {
  std::size_t with_coriolis = 0;
  for (const auto& [name, equations] : all_models()) {
    if (equations.model->kind != model::Kind::lagrangian) continue;
    SCOPED_TRACE(name);
    const mechanics::ForceTerms terms = mechanics::force_terms(equations);
    with_coriolis += terms.C.value.empty() ? 0 : 1;
    expr::Direction along;
    for (std::size_t i = 0; i < equations.q.size(); ++i) along.emplace(equations.q[i].id(), equations.v[i]);
    const std::vector<Expr> rates = expr::derivative_along(equations.M.value, along);
    expr::SparseExpr rate = equations.M;
    rate.value = rates;
    const std::size_t n = equations.q.size();
    for (unsigned seed = 1; seed < 4; ++seed) {
      const Point at(equations, seed);
      double size = 0.0, worst = 0.0;
      for (const expr::SparseExpr* matrix : {&std::as_const(rate), &terms.C, &equations.M})
        for (const Expr& entry : matrix->value) size = std::max(size, std::abs(at(entry)));
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i; j < n; ++j) {
          const double upper = at(rate.at(i, j)) - 2.0 * at(terms.C.at(i, j));
          const double lower = at(rate.at(j, i)) - 2.0 * at(terms.C.at(j, i));
          worst = std::max(worst, std::abs(upper + lower));
        }
      EXPECT_LE(worst, 3.0 * static_cast<double>(n) * 2.3e-16 * size);
    }
  }
  EXPECT_GE(with_coriolis, 5u);
}

/// f = Q - C v - dV/dq: the sweep along the motion against Christoffel symbols, two ways to the same numbers.
/// Tolerance: a hundred rounded operations on numbers of the size of the largest part; M counts with unit velocities,
/// because its derivatives may cancel.
TEST(Identities, ForceSideEqualsItsTextbookParts) {
  for (const auto& [name, equations] : all_models()) {
    SCOPED_TRACE(name);
    const mechanics::ForceTerms terms = mechanics::force_terms(equations);
    for (unsigned seed = 1; seed < 4; ++seed) {
      const Point at(equations, seed);
      double mass = 0.0;
      for (const Expr& entry : equations.M.value) mass = std::max(mass, std::abs(at(entry)));
      for (std::size_t i = 0; i < equations.q.size(); ++i) {
        double sum = at(terms.Q[i]) - at(terms.gradient[i]);
        double size = mass + std::abs(at(terms.Q[i])) + std::abs(at(terms.gradient[i])) + std::abs(at(equations.f[i]));
        for (std::size_t k = terms.C.row_start[i]; k < terms.C.row_start[i + 1]; ++k) {
          const double part = at(terms.C.value[k]) * at(equations.v[terms.C.column[k]]);
          sum -= part;
          size += std::abs(part);
        }
        expect_close(at(equations.f[i]), sum, size, 100 * 2.3e-16, equations.q[i].name());
      }
    }
  }
}

/// Velocity level and gamma are the first and second derivative of g along any motion q(t): along the parabola
/// q + v s + a s^2/2, t + s they are compared with differences of g (or, nonholonomic, of the constraint itself).
/// Central differences with s = 1e-3 and Richardson's extrapolation: error s^4/120 times a sixth derivative, which is
/// below 1e3 for unit-size models with frequencies of a few units, and 1e-16/s^2 of round-off: 1e-8 in all.
TEST(Identities, GammaIsTheSecondDerivativeAlongTheMotion) {
  std::size_t checked = 0;
  for (const auto& [name, equations] : all_models()) {
    if (name == "kapitza_pendulum") continue;  // W = 100 is too fast for these differences
    SCOPED_TRACE(name);
    for (unsigned seed = 1; seed < 4; ++seed) {
      const Point base(equations, seed);
      for (std::size_t c = 0; c < equations.constraints.size() && c < 10; ++c) {
        const mechanics::Constraint& constraint = equations.constraints[c];
        const auto along = [&base, &equations = equations](Expr e, double s) {
          Point at = base;
          at.set(equations.t, base(equations.t) + s);
          for (std::size_t i = 0; i < equations.q.size(); ++i) {
            const double q = base(equations.q[i]), v = base(equations.v[i]), a = base(equations.a[i]);
            at.set(equations.q[i], q + s * (v + 0.5 * s * a));
            at.set(equations.v[i], v + s * a);
          }
          return at(e);
        };
        const auto first = [&](Expr e, double s) { return (along(e, s) - along(e, -s)) / (2.0 * s); };
        const auto derivative = [&](Expr e) { return (4.0 * first(e, 5e-4) - first(e, 1e-3)) / 3.0; };
        double acceleration = -base(constraint.gamma), size = 1.0 + std::abs(acceleration);
        for (std::size_t k = equations.G.row_start[c]; k < equations.G.row_start[c + 1]; ++k)
          acceleration += base(equations.G.value[k]) * base(equations.a[equations.G.column[k]]);
        expect_close(derivative(constraint.velocity), acceleration, size, 1e-8, constraint.name + " acceleration");
        if (constraint.holonomic)
          expect_close(derivative(constraint.position), base(constraint.velocity),
                       1.0 + std::abs(base(constraint.velocity)), 1e-8, constraint.name + " velocity");
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 60u);
}

/// x sin(W t) - y cos(W t) by hand: gamma = -(2 W (x' cos + y' sin) + W^2 (y cos - x sin)), both mixed terms in the 2.
TEST(Identities, RheonomicGammaHasBothMixedTerms) {
  const Equations equations = derived_file("rotating_wire");
  for (unsigned seed = 1; seed < 5; ++seed) {
    Point at(equations, seed);
    at.set("W", 1.7);
    const double W = 1.7, s = std::sin(W * at["t"]), c = std::cos(W * at["t"]);
    const double expected = -(2.0 * W * (at["der(x)"] * c + at["der(y)"] * s) + W * W * (at["y"] * c - at["x"] * s));
    expect_close(at(equations.constraints[0].gamma), expected, 10.0, 1e-15, "gamma");
  }
}

/// Energy v^T dL/dv - L against its definition.
TEST(Identities, EnergyIsTheJacobiFunction) {
  for (const auto& [name, equations] : all_models()) {
    if (!equations.kinetic) continue;
    SCOPED_TRACE(name);
    const model::Model& model = *equations.model;
    const Expr L = model.lagrangian ? *model.lagrangian : *model.kinetic - *model.potential;
    const std::vector<Expr> p = expr::gradient(L, equations.v);
    const Point at(equations, 3);
    double energy = -at(L), size = std::abs(energy);
    for (std::size_t i = 0; i < p.size(); ++i) {
      energy += at(p[i]) * at(equations.v[i]);
      size += std::abs(at(p[i]) * at(equations.v[i]));
    }
    expect_close(at(*equations.kinetic) + at(*equations.potential), energy, size, 1e-14, "energy");
  }
}

}  // namespace
}  // namespace daedalus::tests
