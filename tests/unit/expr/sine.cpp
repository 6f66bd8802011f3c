#include "daedalus/expr/sine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <random>

namespace daedalus::expr {
namespace {

/// How far a number is from what it should be, in units of its last place.
double distance(double found, long double expected) {
  int exponent = 0;
  std::frexp(static_cast<double>(expected), &exponent);
  return static_cast<double>(std::abs(static_cast<long double>(found) - expected) / std::ldexp(1.0L, std::max(exponent - 53, -1074)));
}

/// Sizes from 2^-40 to 2^25, and neighbours of multiples of pi/2, where the remainder is small.
double angle(std::mt19937_64& random, int i) {
  if (i % 2 == 0)
    return std::uniform_real_distribution<double>(-1.0, 1.0)(random) * std::exp2(std::uniform_real_distribution<double>(-40.0, 25.0)(random));
  const double multiple = static_cast<double>(random() % 700000) * (std::numbers::pi / 2.0);
  return multiple * (1.0 + (static_cast<double>(random() % 9) - 4.0) * std::ldexp(1.0, -static_cast<int>(30 + random() % 24)));
}

TEST(Sine, IsWithinAUnitInTheLastPlace) {
  std::mt19937_64 random(7);
  double largest = 0.0;
  const int points = std::getenv("DAEDALUS_LONG") != nullptr ? 20'000'000 : 500'000;
  for (int i = 0; i < points; ++i) {
    const double x = angle(random, i);
    double s, c;
    sine_and_cosine(x, &s, &c);
    largest = std::max({largest, distance(s, std::sin(static_cast<long double>(x))), distance(c, std::cos(static_cast<long double>(x)))});
  }
  // Of fdlibm's polynomials 0.5 of the last rounding, and up to 0.3 of those before it.
  EXPECT_LT(largest, 0.8);
  EXPECT_GT(largest, 0.5);
}

TEST(Sine, IsTheSameAloneTogetherAndInEveryLane) {
  std::mt19937_64 random(8);
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  for (int i = 0; i < 100'000; ++i) {
    double x[4], s[4], c[4];
    for (double& one : x) one = angle(random, static_cast<int>(random() % 2));
    if (i % 100 == 0) x[i / 100 % 4] = i % 300 == 0 ? std::numeric_limits<double>::infinity() : -0.0;
    sine_and_cosine_of_four(x, s, c);
    for (int k = 0; k < 4; ++k) {
      if (std::isinf(x[k])) {
        EXPECT_TRUE(std::isnan(s[k]) && std::isnan(c[k]));
        continue;
      }
      double alone, other;
      sine_and_cosine(x[k], &alone, &other);
      ASSERT_TRUE(bits(s[k]) == bits(alone) && bits(c[k]) == bits(other) && bits(s[k]) == bits(sine(x[k])) && bits(c[k]) == bits(cosine(x[k])))
          << x[k];
    }
  }
}

TEST(Sine, OfWhatIsNoCommonNumber) {
  EXPECT_TRUE(std::signbit(sine(-0.0)) && sine(-0.0) == 0.0 && !std::signbit(sine(0.0)));
  EXPECT_EQ(cosine(-0.0), 1.0);
  EXPECT_EQ(sine(std::numeric_limits<double>::denorm_min()), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(sine(1e300), std::sin(1e300));
  EXPECT_EQ(cosine(-1e22), std::cos(1e22));
  EXPECT_TRUE(std::isnan(sine(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace
}  // namespace daedalus::expr
