// With w = (1, theta, theta^2, ...) and w' = S w / h, the flow of (x, w) over a time s is [E, X; 0, T], E = exp(J s),
// T = exp(S s / h), and the flow over 2 s its square (C. Van Loan: Computing integrals involving the matrix exponential, IEEE
// Trans. Automat. Control 23, 1978):
//     X(2 s) = E X + X T,    E(2 s) = E^2,    T of binomial coefficients.
// A quadrature would need a node for each time in which the fastest mode decays.

#include "daedalus/structure/driven_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "daedalus/linalg/exponential.hpp"
#include "daedalus/linalg/matrix_parts.hpp"
#include "daedalus/structure/kronrod.hpp"

namespace daedalus::structure {

using linalg::BasicMatrix;
using Number = linalg::DoubleDouble;

namespace {

/// Products of two such polynomials are integrated exactly by Kronrod's rule.
constexpr std::size_t degrees = 12;

double binomial(std::size_t n, std::size_t k) {
  double result = 1.0;
  for (std::size_t i = 1; i <= k; ++i) result = result * static_cast<double>(n - k + i) / static_cast<double>(i);
  return std::round(result);
}

/// Coefficient of theta^j in Legendre's polynomial of degree k on [0, 1], a whole number.
double legendre(std::size_t k, std::size_t j) {
  const double size = binomial(k, j) * binomial(k + j, j);
  return (k + j) % 2 == 0 ? size : -size;
}

/// What takes values at the nodes to coefficients of Legendre's polynomials.
std::array<std::array<double, kronrod_points>, degrees> projections() {
  std::array<std::array<double, kronrod_points>, degrees> result{};
  for (std::size_t i = 0; i < kronrod_points; ++i) {
    const double x = 2.0 * kronrod_node(i) - 1.0;
    double before = 0.0, P = 1.0;
    for (std::size_t k = 0; k < degrees; ++k) {
      const auto degree = static_cast<double>(k);
      result[k][i] = (2.0 * degree + 1.0) * kronrod_weight(i) * P;
      const double next = ((2.0 * degree + 1.0) * x * P - degree * before) / (degree + 1.0);
      before = P;
      P = next;
    }
  }
  return result;
}

/// exp(S part): powers of theta + part by those of theta.
BasicMatrix<Number> shifted_powers(std::size_t count, double part) {
  auto T = BasicMatrix<Number>::zero(count, count);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t j = 0; j <= k; ++j) T(k, j) = Number(binomial(k, j)) * Number(std::pow(part, static_cast<double>(k - j)));
  return T;
}

}  // namespace

PolynomialFit polynomial_fit(const BasicMatrix<Number>& values, double least) {
  static const auto projection = projections();
  const std::size_t n = values.rows, middle = kronrod_points / 2;
  auto part = BasicMatrix<Number>::zero(n, degrees);  // of Legendre's polynomials
  std::array<double, degrees> largest{};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < degrees; ++k) {
      // Beside the value in the middle, so that constants leave nothing.
      for (std::size_t node = 0; node < kronrod_points; ++node)
        part(i, k) += Number(projection[k][node]) * (values(i, node) - values(i, middle));
      largest[k] = std::max(largest[k], std::abs(double(part(i, k))));
      if (k == 0) part(i, k) += values(i, middle);
    }
  PolynomialFit fit;
  for (std::size_t k = 1; k < degrees; ++k) fit.slope += static_cast<double>(k * (k + 1)) * largest[k];
  fit.rest = largest[degrees - 2] + largest[degrees - 1];
  std::size_t count = degrees;
  while (count > 1 && !(largest[count - 1] > least)) --count;
  fit.powers = BasicMatrix<Number>::zero(n, count);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t j = 0; j <= k; ++j) fit.powers(i, j) += Number(legendre(k, j)) * part(i, k);
  return fit;
}

DrivenStep driven_step(const BasicMatrix<Number>& J, const BasicMatrix<Number>& powers, double h, const std::vector<Number>& x) {
  const std::size_t count = powers.columns;
  const double size = linalg::row_norm(J) * std::abs(h);
  const int halvings = size > 0.5 ? std::ilogb(size) + 2 : 0;
  double part = std::ldexp(1.0, -halvings);
  const Number s = Number(h) * Number(part);
  const BasicMatrix<Number> Js = s * J;
  auto S = BasicMatrix<Number>::zero(count, count);
  for (std::size_t k = 1; k < count; ++k) S(k, k - 1) = Number(static_cast<double>(k) * part);
  // X(s) = s sum_j R_j / (j + 1)!, R_j the sum of (J s)^i G S^(j - i).
  BasicMatrix<Number> GS = powers, R = powers, X = powers;
  for (int j = 1; j < 60; ++j) {
    GS = GS * S;
    const Number divisor = Number(1.0) / Number(static_cast<double>(j + 1));
    // R_j / (j + 1)! and G S^j / (j + 1)!
    R = divisor * (Js * R + GS);
    GS = divisor * GS;
    X = X + R;
    if (!(linalg::row_norm(R) > 0.1 * linalg::unit_roundoff(Number()) * linalg::row_norm(X))) break;
  }
  X = s * X;
  BasicMatrix<Number> E = linalg::exponential(Js);
  DrivenStep out;
  out.reach = 2.0 * std::abs(double(s));  // exp(1/2) < 2
  for (int k = 0; k < halvings; ++k, part *= 2.0) {
    X = E * X + X * shifted_powers(count, part);
    const double before = linalg::row_norm(E);
    E = E * E;
    out.reach += part * std::abs(h) * std::max(before, linalg::row_norm(E));
  }
  out.end = linalg::times(E, x);
  for (std::size_t i = 0; i < out.end.size(); ++i) out.end[i] += X(i, 0);
  return out;
}

}  // namespace daedalus::structure
