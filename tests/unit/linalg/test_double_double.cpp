#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "daedalus/linalg/double_double.hpp"
#include "daedalus/linalg/exponential.hpp"
#include "daedalus/linalg/orthogonal_split.hpp"

namespace daedalus::linalg {
namespace {

// One operation is good to 2^-104; a handful of them to this.
constexpr double roundoff = 1e-30;

double apart(DoubleDouble a, DoubleDouble b) { return std::abs(double(a - b)); }

TEST(DoubleDouble, KeepsWhatADoubleLoses) {
  const DoubleDouble one = 1.0, tiny = 1e-25;
  EXPECT_EQ(double((one + tiny) - one), 1e-25);
  EXPECT_LT(apart((one + tiny) * (one - tiny) - one, DoubleDouble(-1e-50)), roundoff);
  EXPECT_LT(apart(DoubleDouble(1.0) / DoubleDouble(3.0) * DoubleDouble(3.0), one), roundoff);
  EXPECT_LT(apart(sqrt(DoubleDouble(2.0)) * sqrt(DoubleDouble(2.0)), DoubleDouble(2.0)), 4 * roundoff);
  EXPECT_TRUE(DoubleDouble(1.0) < one + tiny);
  EXPECT_FALSE(one + tiny < one);
  EXPECT_TRUE(std::isinf((one / DoubleDouble(0.0)).high()));
}

TEST(DoubleDouble, ElementaryFunctionsMeetTheirTheorems) {
  // e to 33 digits, rounded into two doubles by hand: 2.71828182845904523536028747135266250
  const DoubleDouble e(2.718281828459045091, 1.445646891729250158e-16);
  EXPECT_LT(apart(exp(DoubleDouble(1.0)), e), 4 * roundoff);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> number(-20.0, 20.0);
  for (int k = 0; k < 100; ++k) {
    const DoubleDouble x(number(random), 1e-17 * number(random)), y(number(random));
    const SineCosine at_x = sincos(x), at_y = sincos(y), at_sum = sincos(x + y);
    EXPECT_LT(apart(at_x.sine * at_x.sine + at_x.cosine * at_x.cosine, 1.0), 10 * roundoff);
    // Arguments of size 40 have an absolute error of 40 units.
    EXPECT_LT(apart(at_sum.sine, at_x.sine * at_y.cosine + at_x.cosine * at_y.sine), 100 * roundoff);
    EXPECT_NEAR(at_x.cosine.high(), std::cos(x.high()), 1e-15);
    EXPECT_LT(apart(exp(x) * exp(-x), 1.0), 200 * roundoff);
    EXPECT_NEAR(exp(x).high() / std::exp(x.high()), 1.0, 1e-14);
  }
}

TEST(Exponential, OfARotationIsARotation) {
  // exp([0, w; -w, 0] h) turns by w h; the other routes are the series on a vector and squaring of a matrix.
  const double w = 3.0;
  auto M = BasicMatrix<DoubleDouble>::zero(2, 2);
  M(0, 1) = w;
  M(1, 0) = -w;
  for (const double h : {0.01, 1.0, 40.0}) {
    Exponential<DoubleDouble> exponential(M);
    std::vector<DoubleDouble> first{1.0, 0.0}, again{1.0, 0.0};
    exponential.apply(h, first);
    exponential.apply(h, again);  // from the matrix that is kept
    const SineCosine exact = sincos(DoubleDouble(w) * DoubleDouble(h));
    // The error of the angle: as many parts as |w h|, each with some roundings.
    const double bound = 100.0 * (1.0 + w * h) * roundoff;
    EXPECT_LT(apart(first[0], exact.cosine), bound) << h;
    EXPECT_LT(apart(first[1], -exact.sine), bound) << h;
    EXPECT_LT(apart(again[0], exact.cosine), bound) << h;
    EXPECT_LT(apart(again[0], exact.cosine), exponential.error());
  }
}

TEST(OrthogonalSplit, SeesThroughRoundingOfTheEntries) {
  // A matrix of rank 3 whose entries are rounded to doubles has further pivots of size 1e-17: they do not count. Where the
  // product is exact, a pivot of 1e-12 counts, as round-off lies far below.
  std::mt19937 random(3);
  std::normal_distribution<double> number;
  auto left = BasicMatrix<DoubleDouble>::zero(8, 3), right = BasicMatrix<DoubleDouble>::zero(3, 6);
  for (auto* M : {&left, &right})
    for (DoubleDouble& value : M->entries) value = number(random);
  BasicMatrix<DoubleDouble> product = left * right, rounded = product;
  for (DoubleDouble& value : rounded.entries) value = value.high();
  EXPECT_EQ(orthogonal_split(product).rank(), 3u);
  EXPECT_EQ(orthogonal_split(rounded).rank(), 3u);
  for (std::size_t i = 0; i < 8; ++i) left(i, 2) *= DoubleDouble(1e-12);
  EXPECT_EQ(orthogonal_split(left * right).rank(), 3u);
  const auto split = orthogonal_split(product);
  const BasicMatrix<DoubleDouble> zero = transposed(split.rest) * product;
  for (const DoubleDouble& value : zero.entries) EXPECT_LT(std::abs(value.high()), 1e-29);
}

TEST(OrthogonalSplit, InverseOfASingularMatrixIsEmpty) {
  auto M = BasicMatrix<double>::zero(2, 2);
  EXPECT_EQ(inverse(M).rows, 0u);
  M(0, 1) = M(1, 0) = 2.0;
  EXPECT_EQ(inverse(M)(0, 1), 0.5);
}

}  // namespace
}  // namespace daedalus::linalg
