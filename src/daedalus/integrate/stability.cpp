// E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., (IV.3.2), and for multistep formulas
// sum_j alpha_j x_(n+j) = h sum_j beta_j f_(n+j), section V.1: the roots of sum_j (alpha_j - z beta_j) zeta^j.
#include "daedalus/integrate/stability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/check.hpp"

namespace daedalus::integrate {
namespace {

using Complex = std::complex<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Solves m x = right by elimination with pivots, both overwritten. False where m is singular.
bool solve(std::vector<std::vector<Complex>>& m, std::vector<Complex>& right) {
  const std::size_t n = right.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::abs(m[i][k]) > std::abs(m[pivot][k])) pivot = i;
    }
    if (m[pivot][k] == 0.0) return false;
    std::swap(m[k], m[pivot]);
    std::swap(right[k], right[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Complex factor = m[i][k] / m[k][k];
      if (factor == 0.0) continue;
      for (std::size_t j = k; j < n; ++j) m[i][j] -= factor * m[k][j];
      right[i] -= factor * right[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) right[k] -= m[k][j] * right[j];
    right[k] /= m[k][k];
  }
  return true;
}

/// The largest modulus of a root of sum_j coefficient_j zeta^j, by Durand and Kerner's simultaneous iteration.
double largest_root(std::vector<Complex> coefficient) {
  double size = 0.0;
  for (const Complex& c : coefficient) size = std::max(size, std::abs(c));
  if (std::abs(coefficient.back()) <= 1e-14 * size) return infinity;
  for (Complex& c : coefficient) c /= coefficient.back();
  const std::size_t degree = coefficient.size() - 1;
  std::vector<Complex> root(degree);
  double bound = 0.0;
  for (std::size_t j = 0; j < degree; ++j) bound = std::max(bound, std::abs(coefficient[j]));
  for (std::size_t i = 0; i < degree; ++i) {
    root[i] = std::polar(std::min(1.0 + bound, 2.0),
                         0.4 + 6.283185307179586 * static_cast<double>(i) / static_cast<double>(degree));
  }
  for (int sweep = 0; sweep < 200; ++sweep) {
    double change = 0.0;
    for (std::size_t i = 0; i < degree; ++i) {
      Complex value = 1.0, product = 1.0;
      for (std::size_t j = degree; j-- > 0;) value = value * root[i] + coefficient[j];
      for (std::size_t j = 0; j < degree; ++j) {
        if (j != i) product *= root[i] - root[j];
      }
      if (product == 0.0) continue;
      root[i] -= value / product;
      change = std::max(change, std::abs(value / product));
    }
    if (change < 1e-12) break;
  }
  double largest = 0.0;
  for (const Complex& r : root) largest = std::max(largest, std::abs(r));
  return largest;
}

}  // namespace

Complex stability_function(const Tableau& tableau, Complex z) {
  const std::size_t stages = tableau.b.size();
  std::vector<std::vector<Complex>> m(stages, std::vector<Complex>(stages));
  std::vector<Complex> stage(stages, 1.0);
  for (std::size_t i = 0; i < stages; ++i) {
    for (std::size_t j = 0; j < tableau.a[i].size(); ++j) m[i][j] = -z * tableau.a[i][j];
    m[i][i] += 1.0;
  }
  if (!solve(m, stage)) return infinity;
  Complex sum = 0.0;
  for (std::size_t i = 0; i < stages; ++i) sum += tableau.b[i] * stage[i];
  return 1.0 + z * sum;
}

double stability_at_infinity(const Tableau& tableau) {
  // R is rational: along the axis it tends to its limit like 1/|z|. Two places tell a limit from growth.
  const double near = std::abs(stability_function(tableau, {0.0, 1e5})),
               far = std::abs(stability_function(tableau, {0.0, 1e7}));
  return far > 10.0 * std::max(near, 1.0) ? infinity : far;
}

double stability_interval(const Tableau& tableau, Complex direction) {
  // R(z) = exp(z) + O(z^(p+1)): near 0 on the imaginary axis |R| differs from 1 by less than round-off.
  constexpr double slack = 1e-10, farthest = 1e6;
  const auto stable = [&](double r) { return std::abs(stability_function(tableau, r * direction)) <= 1.0 + slack; };
  double inside = 0.0, outside = 0.0;
  for (double r = 0.01; outside == 0.0 && r <= farthest; r += std::max(0.01, 0.01 * r)) {
    if (stable(r))
      inside = r;
    else
      outside = r;
  }
  if (outside == 0.0) return infinity;
  if (inside == 0.0) return 0.0;
  while (outside - inside > 1e-12 * outside) {
    const double middle = 0.5 * (inside + outside);
    (stable(middle) ? inside : outside) = middle;
    if (middle == inside && middle == outside) break;
  }
  return inside;
}

std::vector<std::string> properties_of(const Tableau& tableau) {
  const std::size_t stages = tableau.b.size();
  const auto a = [&](std::size_t i, std::size_t j) { return j < tableau.a[i].size() ? tableau.a[i][j] : 0.0; };
  const std::vector<double>& b = tableau.b;
  constexpr double slack = 1e-13;
  bool symplectic = true, symmetric = true, last_row = true, implicit = false;
  for (std::size_t i = 0; i < stages; ++i) {
    last_row = last_row && std::abs(a(stages - 1, i) - b[i]) <= slack;
    for (std::size_t j = 0; j < stages; ++j) {
      implicit = implicit || (j >= i && a(i, j) != 0.0);
      symplectic = symplectic && std::abs(b[i] * a(i, j) + b[j] * a(j, i) - b[i] * b[j]) <= slack;
      symmetric = symmetric && std::abs(a(i, j) + a(stages - 1 - i, stages - 1 - j) - b[j]) <= slack;
    }
  }
  // |R| <= 1 on the imaginary axis and no poles on its left, which would show along a ray: the maximum principle.
  const double far = stability_at_infinity(tableau);
  bool stable = far <= 1.0 + 1e-6;
  for (double angle = 1.5707963267948966; stable && angle <= 3.15; angle += 0.05) {
    for (double r = 1e-2; stable && r < 1e6; r *= 1.05) {
      stable = std::abs(stability_function(tableau, std::polar(r, angle))) <= 1.0 + 1e-10;
    }
  }
  std::vector<std::string> result;
  if (stable) result.push_back("A-stable");
  if (stable && far < 1e-6) result.push_back("L-stable");
  if (symplectic) result.push_back("symplectic");
  if (symmetric) result.push_back("symmetric");
  if (implicit && last_row) result.push_back("stiffly accurate");
  return result;
}

Multistep bdf_formula(int order) {
  const auto k = static_cast<std::size_t>(order);
  Multistep formula{std::vector<double>(k + 1, 0.0), std::vector<double>(k + 1, 0.0)};
  formula.beta.back() = 1.0;
  for (int j = 1; j <= order; ++j) {
    double binomial = 1.0;  // nabla^j x_n = sum_i (-1)^i (j over i) x_(n-i)
    for (int i = 0; i <= j; ++i) {
      formula.alpha[k - static_cast<std::size_t>(i)] += (i % 2 == 0 ? 1.0 : -1.0) * binomial / j;
      binomial *= static_cast<double>(j - i) / (i + 1);
    }
  }
  return formula;
}

std::size_t stability_regions(const IntegratorEntry& method) { return method.tableau ? 1 : method.multistep.size(); }

double amplification(const IntegratorEntry& method, std::size_t formula, Complex z) {
  DAEDALUS_CHECK(formula < stability_regions(method), "{} has no formula {}", method.name, formula);
  if (method.tableau) return std::abs(stability_function(*method.tableau, z));
  const Multistep& given = method.multistep[formula];
  std::vector<Complex> coefficient(given.alpha.size());
  for (std::size_t j = 0; j < coefficient.size(); ++j) coefficient[j] = given.alpha[j] - z * given.beta[j];
  return largest_root(std::move(coefficient));
}

}  // namespace daedalus::integrate
