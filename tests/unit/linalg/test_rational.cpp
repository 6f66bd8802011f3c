#include <gtest/gtest.h>

#include <complex>

#include "daedalus/linalg/elimination.hpp"
#include "daedalus/linalg/rational_polynomial.hpp"

namespace daedalus::linalg {
namespace {

TEST(Rational, NumbersAsSomebodyWroteThem) {
  EXPECT_EQ(short_rational(0.1)->text(), "1/10");
  EXPECT_EQ(short_rational(-12.5)->text(), "-25/2");
  EXPECT_EQ(short_rational(2.5e-3)->text(), "1/400");
  EXPECT_EQ(short_rational(1e20)->text(), "100000000000000000000");
  EXPECT_EQ(short_rational(0.0)->text(), "0");
  EXPECT_EQ(short_rational(1.0 / 3.0)->text(), "1/3");
  EXPECT_EQ(short_rational(-22.0 / 7.0)->text(), "-22/7");
  EXPECT_EQ(short_rational(53.0 / 131072.0)->text(), "53/131072");
  EXPECT_EQ(short_rational(-2444388.0 / 35.0)->text(), "-2444388/35");
  // The shortest decimals that are read as these doubles are not their values.
  EXPECT_EQ(short_rational(524289.0 / 524288.0)->text(), "524289/524288");
  EXPECT_EQ(short_rational(-0x1p-40)->text(), "-1/1099511627776");
  EXPECT_EQ(short_rational(9002521398123.0)->text(), "9002521398123");
  EXPECT_FALSE(short_rational(std::sqrt(2.0)));
  EXPECT_FALSE(short_rational(std::exp(1.0)));
  EXPECT_FALSE(short_rational(0.1 + 1e-15));
  EXPECT_FALSE(short_rational(std::numeric_limits<double>::quiet_NaN()));
}

TEST(Rational, ArithmeticIsExact) {
  Rational sum;
  for (long k = 1; k <= 50; ++k) sum += Rational(1, k * (k + 1));  // 1 - 1/51
  EXPECT_EQ(sum.text(), "50/51");
  EXPECT_TRUE((sum - sum).sign() == 0 && (sum - sum) == Rational());
  EXPECT_TRUE(Rational(-1, 2) < Rational() && Rational() < Rational(1, 3) && Rational(1, 3) < Rational(1, 2));
  EXPECT_EQ((Rational(2, 3) / Rational(-4, 9)).text(), "-3/2");
  EXPECT_EQ(Rational(7, 2).value(), 3.5);
}

TEST(Rational, ThirtyOneDigits) {
  // 1/3 = high + low to 2^-107 or so: three times it is 1 but for a rounding of the 31st digit.
  const DoubleDouble third = extended(Rational(1, 3));
  EXPECT_EQ(third.high(), 1.0 / 3.0);
  EXPECT_NE(third.low(), 0.0);
  EXPECT_LT(std::abs((third * DoubleDouble(3.0) - DoubleDouble(1.0)).high()), 1e-31);
}

RationalMatrix hilbert(std::size_t n) {
  RationalMatrix H = RationalMatrix::zero(n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) H(i, j) = Rational(1, static_cast<long>(i + j + 1));
  return H;
}

TEST(Elimination, InvertsWhatDoublesCannot) {
  // The condition of the Hilbert matrix of 15 rows is above 1e17.
  const RationalMatrix H = hilbert(15);
  const auto inverted = inverse(H);
  ASSERT_TRUE(inverted);
  EXPECT_EQ(*inverted * H, RationalMatrix::identity(15));
  EXPECT_EQ((*inverted)(0, 0).text(), "225");
  RationalMatrix singular = H;
  for (std::size_t j = 0; j < 15; ++j) singular(14, j) = H(0, j) + H(7, j);
  EXPECT_EQ(rank(singular), 14u);
  const RationalMatrix K = kernel(singular);
  EXPECT_EQ(K.columns, 1u);
  EXPECT_EQ(singular * K, RationalMatrix::zero(15, 1));
}

TEST(RationalPolynomials, FactorsAndRoots) {
  // (x - 1/2)^3 (x + 3)^2 (x^2 + 2 x + 5) (x^3 - 2)
  RationalPolynomial p{Rational(1)};
  const RationalPolynomial half{Rational(-1, 2), Rational(1)}, three{Rational(3), Rational(1)},
      pair{Rational(5), Rational(2), Rational(1)}, cube{Rational(-2), Rational(0), Rational(0), Rational(1)};
  for (const auto& [factor, times] : {std::pair{half, 3}, {three, 2}, {pair, 1}, {cube, 1}})
    for (int k = 0; k < times; ++k) p = product(p, factor);
  const std::vector<Factor> factors = rational_factors(p);
  ASSERT_EQ(factors.size(), 4u);
  EXPECT_EQ(factors[0].p, three);
  EXPECT_EQ(factors[0].multiplicity, 2u);
  EXPECT_EQ(factors[1].p, half);
  EXPECT_EQ(factors[1].multiplicity, 3u);
  EXPECT_TRUE((factors[2].p == pair && factors[3].p == cube) || (factors[3].p == pair && factors[2].p == cube));
  double nearest = 1.0;
  for (const auto& z : roots(cube)) nearest = std::min(nearest, std::abs(z - std::cbrt(2.0)));
  EXPECT_LT(nearest, 4e-16);
  EXPECT_EQ(to_text(pair, "s"), "s^2 + 2*s + 5");
}

TEST(RationalPolynomials, CayleyHamilton) {
  const RationalMatrix H = hilbert(6);
  const RationalPolynomial p = characteristic_polynomial(H);
  ASSERT_EQ(p.size(), 7u);
  EXPECT_EQ(evaluated(p, H), RationalMatrix::zero(6, 6));
}

TEST(RationalPolynomials, RootsFarApart) {
  RationalPolynomial p{Rational(1)};
  std::vector<double> expected;
  for (int k = -8; k <= 8; k += 2) {
    const Rational root = Rational::exactly(std::pow(2.0, 3 * k));
    expected.push_back(root.value());
    p = product(p, {-root, Rational(1)});
  }
  const auto found = roots(p);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k].real() / expected[k], 1.0, 1e-14);
}

TEST(RationalPolynomials, RootsAtTheEndsOfTheDoubles) {
  const std::vector<double> expected{0x1p-1000, 1.0, 0x1p1000};
  RationalPolynomial p{Rational(1)};
  for (const double root : expected) p = product(p, {-Rational::exactly(root), Rational(1)});
  const auto found = roots(p);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k].real() / expected[k], 1.0, 1e-14);
  // A root that is no double.
  EXPECT_TRUE(std::isinf(roots({-Rational::exactly(0x1p1000) * Rational::exactly(0x1p1000), Rational(1)}).front().real()));
}

}  // namespace
}  // namespace daedalus::linalg
