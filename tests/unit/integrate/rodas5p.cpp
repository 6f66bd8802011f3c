// The coefficients of Rodas5P satisfy the conditions that the paper asks for: orders of the method, of its estimate and
// of its dense output on ODEs and on index 1, A- and L-stability. And the form for F(t, y, y') = 0 is the one for M y'
// = f.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>

#include "daedalus/integrate/methods/rodas5p_coefficients.hpp"
#include "unit/integrate/dae_problems.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using rodas5p::stages;
using Real = long double;
using Vector = std::array<Real, stages>;
using Matrix = std::array<Vector, stages>;

Vector multiply(const Matrix& a, const Vector& x) {
  Vector y{};
  for (std::size_t i = 0; i < stages; ++i)
    for (std::size_t j = 0; j < stages; ++j) y[i] += a[i][j] * x[j];
  return y;
}

Real dot(const Vector& a, const Vector& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < stages; ++i) sum += a[i] * b[i];
  return sum;
}

/// Inverse of a lower triangular matrix.
Matrix inverse(const Matrix& a) {
  Matrix x{};
  for (std::size_t j = 0; j < stages; ++j) {
    for (std::size_t i = j; i < stages; ++i) {
      Real sum = i == j ? 1 : 0;
      for (std::size_t k = j; k < i; ++k) sum -= a[i][k] * x[k][j];
      x[i][j] = sum / a[i][i];
    }
  }
  return x;
}

Matrix multiply(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (std::size_t i = 0; i < stages; ++i)
    for (std::size_t j = 0; j < stages; ++j)
      for (std::size_t k = 0; k < stages; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

/// alpha, Gamma and weights of the classical form, from the transformed coefficients.
struct Classical {
  Matrix alpha, gamma, beta, beta_inverse;
  Vector b{}, estimate{};
  Vector one;

  Classical() {
    one.fill(1);
    Matrix gamma_inverse{}, a{};
    for (std::size_t i = 0; i < stages; ++i) {
      gamma_inverse[i][i] = 1 / static_cast<Real>(rodas5p::gamma);
      for (std::size_t j = 0; j < i; ++j) {
        gamma_inverse[i][j] = -static_cast<Real>(rodas5p::c[i][j]);
        a[i][j] = rodas5p::a[i][j];
      }
    }
    gamma = inverse(gamma_inverse);
    alpha = multiply(a, gamma);
    beta = alpha;
    for (std::size_t i = 0; i < stages; ++i)
      for (std::size_t j = 0; j < stages; ++j) beta[i][j] += gamma[i][j];
    beta_inverse = inverse(beta);
    Vector m = a[stages - 1];
    estimate = row(m);
    m[stages - 1] = 1;
    b = row(m);
  }

  /// m^T Gamma
  Vector row(const Vector& m) const {
    Vector result{};
    for (std::size_t i = 0; i < stages; ++i)
      for (std::size_t j = 0; j < stages; ++j) result[j] += m[i] * gamma[i][j];
    return result;
  }
};

/// A rooted tree; the children are ordered, so that some trees occur more than once, which does no harm.
struct Tree {
  std::vector<Tree> children;

  int size() const {
    int sum = 1;
    for (const Tree& child : children) sum += child.size();
    return sum;
  }
  Real density() const {
    Real product = size();
    for (const Tree& child : children) product *= child.density();
    return product;
  }
};

/// All trees of a number of nodes.
std::vector<Tree> trees(int nodes) {
  if (nodes == 1) return {Tree{}};
  std::vector<Tree> result;
  // The first child has k nodes, the root with the others has the rest.
  for (int k = 1; k < nodes; ++k) {
    for (const Tree& child : trees(k)) {
      for (Tree rest : trees(nodes - k)) {
        rest.children.push_back(child);
        result.push_back(std::move(rest));
      }
    }
  }
  return result;
}

/// Elementary weights of a Rosenbrock method: a node with one child has beta, one with more has alpha (Hairer, Wanner,
/// section IV.7).
Vector weight(const Classical& method, const Tree& tree) {
  if (tree.children.empty()) return method.one;
  if (tree.children.size() == 1) return multiply(method.beta, weight(method, tree.children[0]));
  Vector product = method.one;
  for (const Tree& child : tree.children) {
    const Vector factor = multiply(method.alpha, weight(method, child));
    for (std::size_t i = 0; i < stages; ++i) product[i] *= factor[i];
  }
  return product;
}

/// Largest residual of b^T weight(tree) = theta^order / density over the trees of an order.
Real defect(const Classical& method, const Vector& b, int order, Real theta = 1) {
  Real largest = 0;
  for (const Tree& tree : trees(order)) {
    const Real wanted = std::pow(theta, static_cast<Real>(order)) / tree.density();
    largest = std::max(largest, std::abs(dot(b, weight(method, tree)) - wanted));
  }
  return largest;
}

// Coefficients up to 165 are given to 16 digits, and conditions are sums of some dozens of products of them with
// cancellation: 1e-12 leaves a factor of 10 beyond 165 * 64 * 1e-16.
constexpr Real exact = 1e-12L, wrong = 1e-5L;

TEST(Rodas5p, NodesAreTheSumsOfTheRows) {
  const Classical method;
  const Vector node = multiply(method.alpha, method.one), time = multiply(method.gamma, method.one);
  for (std::size_t i = 0; i < stages; ++i) {
    EXPECT_NEAR(static_cast<double>(node[i]), rodas5p::node[i], 1e-13) << i;
    EXPECT_NEAR(static_cast<double>(time[i]), rodas5p::time_weight[i], 1e-13) << i;
  }
}

TEST(Rodas5p, OrderConditionsHold) {
  const Classical method;
  for (int order = 1; order <= 5; ++order) EXPECT_LT(defect(method, method.b, order), exact) << order;
  EXPECT_GT(defect(method, method.b, 6), wrong);
  for (int order = 1; order <= 4; ++order) EXPECT_LT(defect(method, method.estimate, order), exact) << order;
  EXPECT_GT(defect(method, method.estimate, 5), wrong);
}

// Roche's conditions for the algebraic unknowns begin with sum_ij b_i omega_ij alpha_j^k = 1, omega the inverse of
// beta.
TEST(Rodas5p, AlgebraicOrderConditionsHold) {
  const Classical method;
  const Vector node = multiply(method.alpha, method.one);
  for (int k = 2; k <= 5; ++k) {
    Vector power = method.one;
    for (std::size_t i = 0; i < stages; ++i)
      for (int e = 0; e < k; ++e) power[i] *= node[i];
    EXPECT_NEAR(static_cast<double>(dot(method.b, multiply(method.beta_inverse, power))), 1.0, 1e-12) << k;
  }
}

TEST(Rodas5p, DenseOutputIsOfOrderFour) {
  const Classical method;
  for (const Real theta : {0.2L, 0.5L, 0.9L}) {
    Vector m{};
    for (std::size_t i = 0; i < stages; ++i) {
      const Real end = i + 1 < stages ? static_cast<Real>(rodas5p::a[stages - 1][i]) : 1.0L;
      const Real inner = rodas5p::dense[0][i] + theta * (rodas5p::dense[1][i] + theta * rodas5p::dense[2][i]);
      m[i] = theta * (end + (1 - theta) * inner);
    }
    for (int order = 1; order <= 4; ++order) EXPECT_LT(defect(method, method.row(m), order, theta), exact) << order;
    EXPECT_GT(defect(method, method.row(m), 5, theta), wrong);
  }
}

// R(z) = 1 + z b^T (I - z beta)^-1 1, beta lower triangular.
std::complex<Real> stability(const Classical& method, const Vector& b, std::complex<Real> z) {
  std::array<std::complex<Real>, stages> g;
  std::complex<Real> result = 1;
  for (std::size_t i = 0; i < stages; ++i) {
    std::complex<Real> sum = 1;
    for (std::size_t j = 0; j < i; ++j) sum += z * method.beta[i][j] * g[j];
    g[i] = sum / (Real(1) - z * method.beta[i][i]);
    result += z * b[i] * g[i];
  }
  return result;
}

TEST(Rodas5p, IsAStableAndLStable) {
  // R has its only pole at 1/gamma > 0: |R| <= 1 on the imaginary axis is enough.
  const Classical method;
  for (const Vector& b : {method.b, method.estimate}) {
    for (Real y = 1e-3L; y < 1e7L; y *= 1.02L) {
      EXPECT_LE(std::abs(stability(method, b, {0, y})), 1 + 1e-13L) << static_cast<double>(y);
    }
    EXPECT_LT(std::abs(stability(method, b, {-1e9L, 0})), 1e-6L);
  }
}

/// The same problem, not said to have a constant leading matrix: the derivatives take part in the stages.
TEST(Rodas5p, FullyImplicitFormIsTheSameMethod) {
  problems::DaeProblem problem = problems::index1_problem();
  const auto end = [&] {
    std::vector<double> y = problem.exact(0.0);
    EXPECT_EQ(problems::run("rodas5p", problem.system, problems::fixed(problem.t_end, 0.1), y).status, Status::done);
    return y;
  };
  const std::vector<double> first = end();
  auto other = std::make_shared<ImplicitSystem>(problem.implicit());
  other->constant_leading = false;
  problem.system.implicit = other;
  // Twenty steps of round-off in sums of products with coefficients of about 100.
  EXPECT_LT(problems::distance(first, end()), 20 * 100 * 1e-15);
}

TEST(Rodas5p, StaysOnAStiffSolution) {
  // Prothero and Robinson: x' = -1e6 (x - cos t) - sin t.
  System system;
  system.dimension = 1;
  system.names = {"x"};
  system.ode = [](double t, const double* x, double* dx) {
    dx[0] = -1e6 * (x[0] - std::cos(t)) - std::sin(t);
    return Evaluation::ok;
  };
  system.ode_jacobian = [](double, const double*, double* jacobian) {
    jacobian[0] = -1e6;
    return Evaluation::ok;
  };
  std::vector<double> x{1.0};
  const LoopResult result = problems::run("rodas5p", system, problems::controlled(system, 10.0, 1e-8), x);
  EXPECT_EQ(result.status, Status::done);
  EXPECT_NEAR(x[0], std::cos(10.0), 1e-7);
  EXPECT_LT(result.stats.steps, 200u);
}

}  // namespace
}  // namespace daedalus::integrate
