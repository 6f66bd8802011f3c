#include "daedalus/linalg/rational_polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace daedalus::linalg {

namespace {

void trim(RationalPolynomial& p) {
  while (!p.empty() && p.back().sign() == 0) p.pop_back();
}
std::size_t degree(const RationalPolynomial& p) { return p.empty() ? 0 : p.size() - 1; }

RationalPolynomial monic(RationalPolynomial p) {
  if (p.empty()) return p;
  const Rational lead = p.back();
  for (Rational& c : p) c /= lead;
  return p;
}

RationalPolynomial derivative(const RationalPolynomial& p) {
  RationalPolynomial result;
  for (std::size_t k = 1; k < p.size(); ++k) result.push_back(Rational(static_cast<long>(k)) * p[k]);
  return result;
}

RationalPolynomial difference(RationalPolynomial p, const RationalPolynomial& q) {
  if (p.size() < q.size()) p.resize(q.size());
  for (std::size_t k = 0; k < q.size(); ++k) p[k] -= q[k];
  trim(p);
  return p;
}

/// p and p' at a point of the complex plane, exactly; the quotient p/p' as a number.
std::complex<double> newton_step(const RationalPolynomial& p, std::complex<double> at) {
  const Rational x = Rational::exactly(at.real()), y = Rational::exactly(at.imag());
  Rational pr, pi, dr, di;
  for (std::size_t k = p.size(); k-- > 0;) {
    Rational next = dr * x - di * y + pr;
    di = dr * y + di * x + pi;
    dr = std::move(next);
    next = pr * x - pi * y + p[k];
    pi = pr * y + pi * x;
    pr = std::move(next);
  }
  const Rational size = dr * dr + di * di;
  if (size.sign() == 0) return {0.0, 0.0};
  return {((pr * dr + pi * di) / size).value(), ((pi * dr - pr * di) / size).value()};
}

/// About how large the roots of p are, ascending, p(0) not 0: the slopes of the upper hull of the points (k, log |p_k|) (D. Bini,
/// Numer. Algorithms 13, 1996). From one circle for all, roots that are 1e300 times larger than others would not be found.
std::vector<double> radii_of_roots(const RationalPolynomial& p) {
  struct Corner {
    double k, log;
  };
  const auto slope = [](const Corner& a, const Corner& b) { return (b.log - a.log) / (b.k - a.k); };
  std::vector<Corner> hull;
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (p[k].sign() == 0) continue;
    const Corner next{static_cast<double>(k), p[k].log2()};
    while (hull.size() > 1 && slope(hull[hull.size() - 2], hull.back()) <= slope(hull.back(), next)) hull.pop_back();
    hull.push_back(next);
  }
  std::vector<double> radii;
  for (std::size_t i = 1; i < hull.size(); ++i)
    radii.insert(radii.end(), static_cast<std::size_t>(hull[i].k - hull[i - 1].k), std::exp2(-slope(hull[i - 1], hull[i])));
  return radii;
}

std::vector<std::complex<double>> sorted(std::vector<std::complex<double>> z) {
  std::sort(z.begin(), z.end(), [](const auto& a, const auto& b) {
    return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
  });
  return z;
}

/// Fractions of small denominators near a number, by continued fractions.
std::vector<Rational> fractions_near(double value) {
  std::vector<Rational> found;
  double rest = value;
  long p0 = 0, p1 = 1, q0 = 1, q1 = 0;
  for (int k = 0; k < 20 && std::abs(rest) < 1e9; ++k) {
    const long a = static_cast<long>(std::floor(rest));
    const long p = a * p1 + p0, q = a * q1 + q0;
    if (std::abs(p) > 1000000000L || q > 1000000000L) break;
    found.emplace_back(p, q);
    p0 = p1, p1 = p, q0 = q1, q1 = q;
    if (rest == static_cast<double>(a)) break;
    rest = 1.0 / (rest - static_cast<double>(a));
  }
  return found;
}

/// A factor x - r or x^2 - 2 re x + (re^2 + im^2) of p that belongs to the root z.
std::optional<RationalPolynomial> factor_near(const RationalPolynomial& p, std::complex<double> z) {
  if (z.imag() == 0.0) {
    for (const Rational& r : fractions_near(z.real()))
      if (evaluated(p, r).sign() == 0) return RationalPolynomial{-r, Rational(1)};
    return std::nullopt;
  }
  for (const Rational& twice : fractions_near(2.0 * z.real()))
    for (const Rational& square : fractions_near(std::norm(z))) {
      if (std::abs(twice.value() - 2.0 * z.real()) > 1e-9 * std::abs(z) ||
          std::abs(square.value() - std::norm(z)) > 1e-9 * std::norm(z))
        continue;
      RationalPolynomial q{square, -twice, Rational(1)};
      if (divided(p, q).remainder.empty()) return q;
    }
  return std::nullopt;
}

}  // namespace

/// By reduction to Hessenberg form with similarities, then Hyman's recursion (Cohen 1993, algorithm 2.2.9).
RationalPolynomial characteristic_polynomial(const RationalMatrix& matrix) {
  RationalMatrix h = matrix;
  const std::size_t n = h.rows;
  for (std::size_t m = 1; m + 1 < n; ++m) {
    std::size_t pivot = m;
    while (pivot < n && h(pivot, m - 1).sign() == 0) ++pivot;
    if (pivot == n) continue;
    if (pivot != m) {
      for (std::size_t j = 0; j < n; ++j) std::swap(h(pivot, j), h(m, j));
      for (std::size_t i = 0; i < n; ++i) std::swap(h(i, pivot), h(i, m));
    }
    for (std::size_t i = m + 1; i < n; ++i) {
      if (h(i, m - 1).sign() == 0) continue;
      const Rational u = h(i, m - 1) / h(m, m - 1);
      for (std::size_t j = 0; j < n; ++j) h(i, j) -= u * h(m, j);
      for (std::size_t k = 0; k < n; ++k) h(k, m) += u * h(k, i);
    }
  }
  std::vector<RationalPolynomial> p{{Rational(1)}};
  for (std::size_t m = 0; m < n; ++m) {
    RationalPolynomial next(p[m].size() + 1);
    for (std::size_t k = 0; k < p[m].size(); ++k) {
      next[k + 1] += p[m][k];
      next[k] -= h(m, m) * p[m][k];
    }
    Rational below(1);
    for (std::size_t i = 1; i <= m; ++i) {
      below *= h(m - i + 1, m - i);
      const Rational factor = below * h(m - i, m);
      for (std::size_t k = 0; k < p[m - i].size(); ++k) next[k] -= factor * p[m - i][k];
    }
    p.push_back(std::move(next));
  }
  return p.back();
}

RationalMatrix evaluated(const RationalPolynomial& p, const RationalMatrix& matrix) {
  RationalMatrix result = RationalMatrix::zero(matrix.rows, matrix.rows);
  for (std::size_t k = p.size(); k-- > 0;) {
    result = result * matrix;
    for (std::size_t i = 0; i < matrix.rows; ++i) result(i, i) += p[k];
  }
  return result;
}

Rational evaluated(const RationalPolynomial& p, const Rational& x) {
  Rational result;
  for (std::size_t k = p.size(); k-- > 0;) result = result * x + p[k];
  return result;
}

RationalPolynomial product(const RationalPolynomial& p, const RationalPolynomial& q) {
  if (p.empty() || q.empty()) return {};
  RationalPolynomial result(p.size() + q.size() - 1);
  for (std::size_t i = 0; i < p.size(); ++i)
    for (std::size_t j = 0; j < q.size(); ++j) result[i + j] += p[i] * q[j];
  return result;
}

Division divided(RationalPolynomial p, const RationalPolynomial& q) {
  Division out;
  if (p.size() < q.size()) return {{}, std::move(p)};
  out.quotient.resize(p.size() - q.size() + 1);
  for (std::size_t k = out.quotient.size(); k-- > 0;) {
    const Rational factor = p[k + q.size() - 1] / q.back();
    for (std::size_t j = 0; j < q.size(); ++j) p[k + j] -= factor * q[j];
    out.quotient[k] = factor;
  }
  trim(p);
  out.remainder = std::move(p);
  return out;
}

RationalPolynomial common_divisor(RationalPolynomial p, RationalPolynomial q) {
  while (!q.empty()) {
    RationalPolynomial remainder = monic(divided(std::move(p), q).remainder);
    p = std::move(q);
    q = std::move(remainder);
  }
  return monic(std::move(p));
}

std::vector<Factor> squarefree_factors(const RationalPolynomial& p) {
  std::vector<Factor> factors;
  if (degree(p) == 0) return factors;
  const RationalPolynomial dp = derivative(p), common = common_divisor(p, dp);
  RationalPolynomial b = divided(p, common).quotient;
  RationalPolynomial d = difference(divided(dp, common).quotient, derivative(b));
  for (std::size_t multiplicity = 1; degree(b) > 0; ++multiplicity) {
    const RationalPolynomial a = common_divisor(b, d);
    b = divided(b, a).quotient;
    d = difference(divided(d, a).quotient, derivative(b));
    if (degree(a) > 0) factors.push_back({a, multiplicity});
  }
  return factors;
}

std::vector<Factor> rational_factors(const RationalPolynomial& p) {
  std::vector<Factor> linear, others;
  for (const Factor& factor : squarefree_factors(p)) {
    RationalPolynomial rest = factor.p;
    for (const std::complex<double>& z : roots(factor.p)) {
      if (degree(rest) == 0 || z.imag() < 0.0) continue;
      const std::optional<RationalPolynomial> one = factor_near(rest, z);
      if (!one) continue;
      rest = divided(rest, *one).quotient;
      (degree(*one) == 1 ? linear : others).push_back({*one, factor.multiplicity});
    }
    if (degree(rest) > 0) others.push_back({monic(rest), factor.multiplicity});
  }
  std::sort(linear.begin(), linear.end(), [](const Factor& a, const Factor& b) { return b.p[0] < a.p[0]; });
  linear.insert(linear.end(), others.begin(), others.end());
  return linear;
}

std::vector<std::complex<double>> roots(const RationalPolynomial& p) {
  const std::size_t n = degree(p);
  if (n > 0 && p.front().sign() == 0) {
    std::vector<std::complex<double>> others = roots({p.begin() + 1, p.end()});
    others.emplace_back(0.0);
    return sorted(std::move(others));
  }
  std::vector<std::complex<double>> z(n);
  const std::vector<double> radii = radii_of_roots(p);
  for (std::size_t k = 0; k < n; ++k)  // turned out of symmetry
    z[k] = std::polar(radii[k], 2.0 * std::numbers::pi * (static_cast<double>(k) + 0.3) / static_cast<double>(n) + 0.1);
  for (int sweep = 0; sweep < 200; ++sweep) {
    double largest = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      if (!std::isfinite(radii[k])) continue;
      const std::complex<double> newton = newton_step(p, z[k]);
      std::complex<double> repulsion = 0.0;
      for (std::size_t j = 0; j < n; ++j)
        if (j != k && z[j] != z[k] && std::isfinite(radii[j])) repulsion += 1.0 / (z[k] - z[j]);
      const std::complex<double> step = newton / (1.0 - newton * repulsion);
      if (!std::isfinite(std::abs(step))) continue;  // it meets another one: that moves on
      z[k] -= step;
      largest = std::max(largest, std::abs(step) / std::max(std::abs(z[k]), 1e-300));
    }
    if (largest < 1e-15) break;
  }
  // A real polynomial has real roots and pairs: round-off in the other part is cut off.
  for (std::complex<double>& one : z) {
    if (std::abs(one.imag()) < 1e-13 * std::abs(one)) one = one.real();
    if (std::abs(one.real()) < 1e-15 * std::abs(one)) one = {0.0, one.imag()};
  }
  return sorted(std::move(z));
}

std::string to_text(const RationalPolynomial& p, const std::string& x) {
  std::string text;
  for (std::size_t k = p.size(); k-- > 0;) {
    if (p[k].sign() == 0) continue;
    const bool negative = p[k].sign() < 0;
    const Rational size = negative ? -p[k] : p[k];
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    const std::string power = k == 0 ? "" : k == 1 ? x : x + "^" + std::to_string(k);
    if (k == 0 || !(size == Rational(1))) text += size.text() + (k == 0 ? "" : "*");
    text += power;
  }
  return text.empty() ? "0" : text;
}

}  // namespace daedalus::linalg
