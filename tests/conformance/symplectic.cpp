// What methods claim about structure and stability: symplectic, symmetric, A-, L- and B-stable, stiffly accurate. Each
// claim is checked on the tableau and, where a run can show it, on a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>

#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

using Matrix = std::vector<std::vector<double>>;

bool takes_ode(const IntegratorEntry& method) {
  return std::ranges::find(method.accepts, View::ode) != method.accepts.end();
}

std::vector<IntegratorEntry> with_property(const std::string& property) {
  std::vector<IntegratorEntry> result;
  for (const IntegratorEntry& method : integrators()) {
    if (has_property(method, property) && takes_ode(method)) result.push_back(method);
  }
  return result;
}

/// H = p1^2 (1 + q2^2/2)/2 + p2^2/2 + (q1^2 + q2^2)/2 + q1^2 q2 - q2^3/3, not separable, with x = (q1, q2, p1, p2).
void gradient(const double* x, double* g) {
  const double a = x[0], b = x[1], p = x[2], r = x[3];
  g[0] = a + 2.0 * a * b;
  g[1] = 0.5 * p * p * b + b + a * a - b * b;
  g[2] = p * (1.0 + 0.5 * b * b);
  g[3] = r;
}

void hessian(const double* x, double (*h)[4]) {
  const double a = x[0], b = x[1], p = x[2];
  const double values[4][4] = {{1.0 + 2.0 * b, 2.0 * a, 0.0, 0.0},
                               {2.0 * a, 0.5 * p * p + 1.0 - 2.0 * b, p * b, 0.0},
                               {0.0, p * b, 1.0 + 0.5 * b * b, 0.0},
                               {0.0, 0.0, 0.0, 1.0}};
  for (int i = 0; i < 4; ++i) std::copy_n(values[i], 4, h[i]);
}

/// x' = J grad H together with the equation of its derivative by the start, Psi' = J H'' Psi. A Runge-Kutta method
/// applied to both gives in Psi the exact derivative of its own map, as dual numbers through the method would.
System with_variations() {
  System system;
  system.dimension = 20;
  system.ode = [](double, const double* x, double* dx) {
    double g[4], h[4][4];
    gradient(x, g);
    hessian(x, h);
    dx[0] = g[2];
    dx[1] = g[3];
    dx[2] = -g[0];
    dx[3] = -g[1];
    for (int j = 0; j < 4; ++j) {
      double column[4];
      for (int i = 0; i < 4; ++i) {
        column[i] = 0.0;
        for (int k = 0; k < 4; ++k) column[i] += h[i][k] * x[4 + 4 * k + j];
      }
      dx[4 + j] = column[2];
      dx[8 + j] = column[3];
      dx[12 + j] = -column[0];
      dx[16 + j] = -column[1];
    }
    return Evaluation::ok;
  };
  return system;
}

System without_variations() {
  System system;
  system.dimension = 4;
  system.ode = [](double, const double* x, double* dx) {
    double g[4];
    gradient(x, g);
    dx[0] = g[2];
    dx[1] = g[3];
    dx[2] = -g[0];
    dx[3] = -g[1];
    return Evaluation::ok;
  };
  return system;
}

const std::vector<double> start{0.3, -0.2, 0.25, 0.3};
constexpr int two_form_steps = 100;

/// The largest entry of Psi^T J Psi - J after the steps, divided by the square of the largest entry of Psi.
double two_form_defect(const std::string& method) {
  std::vector<double> x = start;
  x.resize(20, 0.0);
  for (int i = 0; i < 4; ++i) x[4 + 5 * i] = 1.0;
  const LoopResult result = problems::run(method, with_variations(), problems::fixed(0.1 * two_form_steps, 0.1), x);
  EXPECT_EQ(result.status, Status::done) << method << ": " << result.message;
  const auto psi = [&](int i, int j) { return x[4 + 4 * i + j]; };
  double defect = 0.0, largest = 0.0;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      double form = 0.0;
      for (int k = 0; k < 2; ++k) form += psi(k, i) * psi(k + 2, j) - psi(k + 2, i) * psi(k, j);
      const double wanted = j == i + 2 ? 1.0 : i == j + 2 ? -1.0 : 0.0;
      defect = std::max(defect, std::abs(form - wanted));
      largest = std::max(largest, std::abs(psi(i, j)));
    }
  }
  return defect / (largest * largest);
}

TEST(Structure, SymplecticMethodsKeepTheTwoForm) {
  ASSERT_FALSE(with_property("symplectic").empty());
  // Each step rounds every entry of Psi some ten times, which adds up as a square root; four products of entries make
  // one of the form.
  const double round_off = 2.0 * 4.0 * std::sqrt(10.0 * two_form_steps) * epsilon;
  for (const IntegratorEntry& method : with_property("symplectic")) {
    EXPECT_LT(two_form_defect(method.name), round_off) << method.name;
  }
  // The measure sees what is not symplectic: even a method of order 5 with this step, h^5 = 1e-5 and small constants.
  EXPECT_GT(two_form_defect("radau2a5"), 1e3 * round_off);
}

TEST(Structure, SymmetricMethodsReturn) {
  ASSERT_FALSE(with_property("symmetric").empty());
  constexpr int steps = 100;
  const auto distance_after_return = [&](const std::string& method) {
    std::vector<double> x = start;
    const System system = without_variations();
    EXPECT_EQ(problems::run(method, system, problems::fixed(10.0, 10.0 / steps), x).status, Status::done) << method;
    LoopOptions back = problems::fixed(0.0, 10.0 / steps);
    back.t_start = 10.0;
    EXPECT_EQ(problems::run(method, system, back, x).status, Status::done) << method;
    return problems::distance(x, start);
  };
  // Each of the steps rounds some ten times, which adds up as a square root, and near this quasi-periodic motion an
  // error grows no faster than time: by ten there, and back.
  const double round_off = 10.0 * std::sqrt(10.0 * 2.0 * steps) * epsilon;
  for (const IntegratorEntry& method : with_property("symmetric")) {
    EXPECT_LT(distance_after_return(method.name), round_off) << method.name;
  }
  EXPECT_GT(distance_after_return("radau2a5"), 1e3 * round_off);
}

TEST(Structure, SymplecticMethodsKeepTheEnergyBounded) {
  System pendulum;
  pendulum.dimension = 2;
  pendulum.ode = [](double, const double* x, double* dx) {
    dx[0] = x[1];
    dx[1] = -std::sin(x[0]);
    return Evaluation::ok;
  };
  pendulum.ode_jacobian = [](double, const double* x, double* jacobian) {
    jacobian[0] = 0.0;
    jacobian[1] = 1.0;
    jacobian[2] = -std::cos(x[0]);
    jacobian[3] = 0.0;
    return Evaluation::ok;
  };
  // The largest error of the energy in the first and in the last tenth of 10^5 steps.
  const auto errors = [&](const std::string& method) {
    constexpr double h = 0.1, end = 1e4;
    std::vector<double> x{1.5, 0.0};
    const double energy = -std::cos(1.5);
    std::pair<double, double> result{0.0, 0.0};
    Observer observer;
    observer.step = [&](double t, const double* state) {
      const double error = std::abs(0.5 * state[1] * state[1] - std::cos(state[0]) - energy);
      if (t < 0.1 * end) result.first = std::max(result.first, error);
      if (t > 0.9 * end) result.second = std::max(result.second, error);
    };
    EXPECT_EQ(problems::run(method, pendulum, problems::fixed(end, h), x, observer).status, Status::done) << method;
    return result;
  };
  for (const IntegratorEntry& method : with_property("symplectic")) {
    const auto [first, last] = errors(method.name);
    // A bounded error comes back to the same maximum, met more or less closely by the steps of 140 periods; 10^6
    // roundings of 1e-16 in random directions come on top.
    EXPECT_LT(last, 1.01 * first + 1e-12) << method.name;
  }
  const auto [first, last] = errors("radau2a5");
  EXPECT_GT(last, 5.0 * first);
}

/// A with full rows.
Matrix full(const Tableau& tableau) {
  Matrix a = tableau.a;
  for (std::vector<double>& row : a) row.resize(tableau.b.size(), 0.0);
  return a;
}

/// Coefficients of det(I - z A), by Faddeev and LeVerrier: c_0 = 1, M_k = A M_(k-1) + c_(k-1) I, c_k = -tr(A M_k)/k.
std::vector<double> determinant(const Matrix& a) {
  const std::size_t s = a.size();
  std::vector<double> c{1.0};
  Matrix m(s, std::vector<double>(s, 0.0));
  for (std::size_t k = 1; k <= s; ++k) {
    Matrix next(s, std::vector<double>(s, 0.0));
    for (std::size_t i = 0; i < s; ++i) {
      for (std::size_t j = 0; j < s; ++j) {
        for (std::size_t l = 0; l < s; ++l) next[i][j] += a[i][l] * m[l][j];
      }
      next[i][i] += c.back();
    }
    m = next;
    double trace = 0.0;
    for (std::size_t i = 0; i < s; ++i) {
      for (std::size_t l = 0; l < s; ++l) trace += a[i][l] * m[l][i];
    }
    c.push_back(-trace / static_cast<double>(k));
  }
  return c;
}

/// Degree of a polynomial whose coefficients are sums of a few numbers below 10.
std::size_t trim(std::vector<double>& polynomial) {
  while (polynomial.size() > 1 && std::abs(polynomial.back()) < 1e-12) polynomial.pop_back();
  return polynomial.size() - 1;
}

std::complex<double> value(const std::vector<double>& polynomial, std::complex<double> z) {
  std::complex<double> result = 0.0;
  for (std::size_t i = polynomial.size(); i-- > 0;) result = result * z + polynomial[i];
  return result;
}

/// Whether all roots have a negative real part, by Routh's scheme.
bool hurwitz(std::vector<double> polynomial) {
  if (polynomial.back() < 0.0) {
    for (double& c : polynomial) c = -c;
  }
  // Rows of the scheme: every second coefficient from the leading one on.
  std::vector<double> upper, lower;
  for (std::size_t i = polynomial.size(); i-- > 0;) {
    ((polynomial.size() - 1 - i) % 2 == 0 ? upper : lower).push_back(polynomial[i]);
  }
  while (!lower.empty()) {
    if (!(lower[0] > 0.0)) return false;
    lower.resize(upper.size(), 0.0);
    std::vector<double> next;
    for (std::size_t i = 1; i < upper.size(); ++i) next.push_back(upper[i] - upper[0] / lower[0] * lower[i]);
    while (!lower.empty() && lower.back() == 0.0) lower.pop_back();
    upper = lower;
    lower = next;
    lower.resize(std::min(lower.size(), polynomial.size()));
    polynomial.pop_back();
    if (polynomial.size() <= 1) break;
  }
  return true;
}

/// R(z) = det(I - z A + z 1 b^T) / det(I - z A).
struct StabilityFunction {
  std::vector<double> numerator, denominator;

  explicit StabilityFunction(const Tableau& tableau) {
    Matrix a = full(tableau);
    denominator = determinant(a);
    for (std::vector<double>& row : a) {
      for (std::size_t j = 0; j < row.size(); ++j) row[j] -= tableau.b[j];
    }
    numerator = determinant(a);
    trim(numerator);
    trim(denominator);
  }

  /// No pole with a real part of 0 or less, and |R| <= 1 on the imaginary axis.
  bool a_stable() const {
    if (numerator.size() > denominator.size()) return false;
    std::vector<double> mirrored = denominator;
    for (std::size_t i = 1; i < mirrored.size(); i += 2) mirrored[i] = -mirrored[i];
    if (mirrored.size() > 1 && !hurwitz(mirrored)) return false;
    for (double y = 1e-3; y < 1e6; y *= 1.05) {
      const std::complex<double> z(0.0, y);
      if (std::abs(value(numerator, z)) > (1.0 + 1e-12) * std::abs(value(denominator, z))) return false;
    }
    return true;
  }

  bool l_stable() const { return a_stable() && numerator.size() < denominator.size(); }
};

TEST(Stability, TheSchemeOfRouthIsRight) {
  EXPECT_TRUE(hurwitz({1.0, 1.0}));
  EXPECT_FALSE(hurwitz({-1.0, 1.0}));
  EXPECT_TRUE(hurwitz({6.0, 11.0, 6.0, 1.0}));     // -1, -2, -3
  EXPECT_FALSE(hurwitz({-6.0, 11.0, -6.0, 1.0}));  // 1, 2, 3
  EXPECT_FALSE(hurwitz({10.0, 1.0, 1.0, 1.0}));    // a complex pair on the right
  EXPECT_TRUE(hurwitz({24.0, 50.0, 35.0, 10.0, 1.0}));
  EXPECT_FALSE(hurwitz({24.0, -2.0, 35.0, 10.0, 1.0}));
}

TEST(Stability, IsAsClaimed) {
  std::size_t l_stable = 0;
  for (const IntegratorEntry& method : integrators()) {
    if (!method.tableau) continue;
    const StabilityFunction R(*method.tableau);
    EXPECT_EQ(R.a_stable(), has_property(method, "A-stable")) << method.name;
    EXPECT_EQ(R.l_stable(), has_property(method, "L-stable")) << method.name;
    l_stable += R.l_stable();
  }
  EXPECT_GE(l_stable, 4u);
}

TEST(Stability, StabilityFunctionsAreThePadeApproximations) {
  // R = P_kj / P_jk(-z): the degrees tell which.
  const auto degrees = [](const std::string& name) {
    const StabilityFunction R(*integrator(name).tableau);
    return std::pair(R.numerator.size() - 1, R.denominator.size() - 1);
  };
  using Degrees = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(degrees("implicit-euler"), Degrees(0, 1));
  EXPECT_EQ(degrees("implicit-midpoint"), Degrees(1, 1));
  EXPECT_EQ(degrees("crank-nicolson"), Degrees(1, 1));
  EXPECT_EQ(degrees("gauss4"), Degrees(2, 2));
  EXPECT_EQ(degrees("gauss6"), Degrees(3, 3));
  EXPECT_EQ(degrees("lobatto3a4"), Degrees(2, 2));
  EXPECT_EQ(degrees("lobatto3b4"), Degrees(2, 2));
  EXPECT_EQ(degrees("lobatto3c4"), Degrees(1, 3));
  EXPECT_EQ(degrees("lobatto3cs4"), Degrees(3, 1));
  EXPECT_EQ(degrees("radau1a5"), Degrees(2, 3));
  EXPECT_EQ(degrees("radau2a5"), Degrees(2, 3));
}

/// m_ij = b_i a_ij + b_j a_ji - b_i b_j: 0 for a symplectic method, not negative for an algebraically stable one (K.
/// Burrage, J. C. Butcher, SIAM J. Numer. Anal. 16 (1979) 46-57; J. M. Sanz-Serna, BIT 28 (1988) 877-883).
Matrix quadratic_invariant(const Tableau& tableau) {
  const Matrix a = full(tableau);
  const std::size_t s = a.size();
  Matrix m(s, std::vector<double>(s));
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t j = 0; j < s; ++j) {
      m[i][j] = tableau.b[i] * a[i][j] + tableau.b[j] * a[j][i] - tableau.b[i] * tableau.b[j];
    }
  }
  return m;
}

/// Whether all principal minors are at least -round-off.
bool positive_semidefinite(const Matrix& m) {
  const std::size_t s = m.size();
  for (unsigned mask = 1; mask < 1u << s; ++mask) {
    Matrix minor;
    for (std::size_t i = 0; i < s; ++i) {
      if ((mask >> i & 1u) == 0) continue;
      minor.emplace_back();
      for (std::size_t j = 0; j < s; ++j) {
        if ((mask >> j & 1u) != 0) minor.back().push_back(m[i][j]);
      }
    }
    // det(I - z A) has (-1)^n det A as its last coefficient.
    const double last = determinant(minor).back();
    if ((std::popcount(mask) % 2 == 0 ? last : -last) < -1e-14) return false;
  }
  return true;
}

TEST(Structure, TableauxShowWhatIsClaimed) {
  for (const IntegratorEntry& method : integrators()) {
    if (!method.tableau || !method.implicit) continue;
    const Tableau& tableau = *method.tableau;
    const Matrix a = full(tableau), m = quadratic_invariant(tableau);
    const std::size_t s = a.size();
    double largest = 0.0, asymmetry = 0.0;
    for (std::size_t i = 0; i < s; ++i) {
      for (std::size_t j = 0; j < s; ++j) {
        largest = std::max(largest, std::abs(m[i][j]));
        asymmetry = std::max(asymmetry, std::abs(a[s - 1 - i][s - 1 - j] + a[i][j] - tableau.b[j]));
      }
    }
    EXPECT_EQ(largest < 1e-15, has_property(method, "symplectic")) << method.name;
    EXPECT_EQ(asymmetry < 1e-15, has_property(method, "symmetric")) << method.name;
    const bool algebraically_stable =
        std::ranges::all_of(tableau.b, [](double b) { return b >= 0.0; }) && positive_semidefinite(m);
    EXPECT_EQ(algebraically_stable, has_property(method, "B-stable")) << method.name;
    EXPECT_EQ(a[s - 1] == tableau.b && tableau.c[s - 1] == 1.0, has_property(method, "stiffly accurate"))
        << method.name;
  }
}

}  // namespace
}  // namespace daedalus::integrate
