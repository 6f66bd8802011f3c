#pragma once

#include <complex>
#include <string>
#include <vector>

#include "daedalus/linalg/rational.hpp"

namespace daedalus::linalg {

/// Coefficients, that of x^k at k; the last one is not 0. Empty: the zero polynomial.
using RationalPolynomial = std::vector<Rational>;

/// det(x I - matrix)
RationalPolynomial characteristic_polynomial(const RationalMatrix& matrix);
/// p(matrix)
RationalMatrix evaluated(const RationalPolynomial& p, const RationalMatrix& matrix);
Rational evaluated(const RationalPolynomial& p, const Rational& x);
RationalPolynomial product(const RationalPolynomial& p, const RationalPolynomial& q);
/// p = quotient * q + remainder
struct Division {
  RationalPolynomial quotient, remainder;
};
Division divided(RationalPolynomial p, const RationalPolynomial& q);
/// The monic greatest common divisor.
RationalPolynomial common_divisor(RationalPolynomial p, RationalPolynomial q);

struct Factor {
  RationalPolynomial p;  ///< monic
  std::size_t multiplicity = 1;
};
/// p as a product of powers of polynomials without multiple or common roots (Yun).
std::vector<Factor> squarefree_factors(const RationalPolynomial& p);
/// The same with linear factors of rational roots, and quadratic ones of pairs of rational real part and square of the
/// imaginary part, split off; real roots ascending, then the others.
std::vector<Factor> rational_factors(const RationalPolynomial& p);
/// Roots of a polynomial without multiple ones, to the last digits of double: Aberth's iteration, with values of p that
/// are exact.
std::vector<std::complex<double>> roots(const RationalPolynomial& p);

/// "x^2 + 3/2*x - 1"
std::string to_text(const RationalPolynomial& p, const std::string& x);

}  // namespace daedalus::linalg
