// Radau II A: the conditions that define the method, and the transformation of A^-1.
#include "daedalus/integrate/families/radau_coefficients.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "daedalus/base/check.hpp"

namespace daedalus::integrate {
namespace {

class RadauCoefficientsOf : public testing::TestWithParam<std::size_t> {
 protected:
  const std::size_t s = GetParam();
  const RadauCoefficients method = radau_coefficients(s);

  double a(std::size_t i, std::size_t j) const { return method.a[i * s + j]; }
  double inverse(std::size_t i, std::size_t j) const { return method.inverse[i * s + j]; }
  double transform(std::size_t i, std::size_t j) const { return method.transform[i * s + j]; }
};

// Sums of up to 7 products of numbers below 1.
constexpr double few_roundings = 2e-15;

// b_j = a_sj: the method is stiffly accurate. B(2s-1): sum b_j c_j^(k-1) = 1/k; C(s): sum a_ij c_j^(k-1) = c_i^k / k.
TEST_P(RadauCoefficientsOf, SimplifyingConditions) {
  for (std::size_t k = 1; k < 2 * s; ++k) {
    double sum = 0.0;
    for (std::size_t j = 0; j < s; ++j) sum += a(s - 1, j) * std::pow(method.node[j], k - 1);
    EXPECT_NEAR(sum, 1.0 / static_cast<double>(k), few_roundings) << "B " << k;
  }
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t k = 1; k <= s; ++k) {
      double sum = 0.0;
      for (std::size_t j = 0; j < s; ++j) sum += a(i, j) * std::pow(method.node[j], k - 1);
      EXPECT_NEAR(sum, std::pow(method.node[i], k) / static_cast<double>(k), few_roundings) << "C " << k << " " << i;
    }
  }
  // Order 2s would make it a Gauss method: B(2s) must fail by more than round-off.
  double sum = 0.0;
  for (std::size_t j = 0; j < s; ++j) sum += a(s - 1, j) * std::pow(method.node[j], 2 * s - 1);
  EXPECT_GT(std::abs(sum - 1.0 / static_cast<double>(2 * s)), 1e-9);
}

TEST_P(RadauCoefficientsOf, InverseIsTheInverse) {
  double largest = 0.0;
  for (const double value : method.inverse) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t j = 0; j < s; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < s; ++k) sum += a(i, k) * inverse(k, j);
      EXPECT_NEAR(sum, i == j ? 1.0 : 0.0, 1e-15 * largest) << i << " " << j;
    }
  }
}

TEST_P(RadauCoefficientsOf, TransformationBringsBlocks) {
  ASSERT_EQ(method.mu.size(), s / 2);
  const double size = std::abs(method.mu[0]);  // the largest eigenvalue
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t j = 0; j < s; ++j) {
      double left = 0.0, right = method.gamma * transform(i, 0);
      for (std::size_t k = 0; k < s; ++k) left += inverse(i, k) * transform(k, j);
      if (j > 0) {
        const std::size_t first = j - (j - 1) % 2;
        const std::complex<double> mu = method.mu[(first - 1) / 2];
        EXPECT_LT(mu.imag(), 0.0);
        right = j == first ? transform(i, first) * mu.real() + transform(i, first + 1) * mu.imag()
                           : -transform(i, first) * mu.imag() + transform(i, first + 1) * mu.real();
      }
      EXPECT_NEAR(left, right, 1e-14 * size) << i << " " << j;
    }
  }
  // T^-1 has entries up to 300 (s = 7), so their rounding is 3e-14.
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t j = 0; j < s; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < s; ++k) sum += transform(i, k) * method.transform_inverse[k * s + j];
      EXPECT_NEAR(sum, i == j ? 1.0 : 0.0, 1e-13);
    }
  }
}

// On the polynomial x^k, 1 <= k <= s, everything is exact.
TEST_P(RadauCoefficientsOf, CollocationPolynomial) {
  std::vector<double> weight(s), slope(s);
  for (std::size_t k = 1; k <= s; ++k) {
    std::vector<double> Z(s);
    for (std::size_t i = 0; i < s; ++i) Z[i] = std::pow(method.node[i], k);
    double start = 0.0;
    for (std::size_t i = 0; i < s; ++i) start += method.start_slope[i] * Z[i];
    EXPECT_NEAR(start, k == 1 ? 1.0 : 0.0, 1e-13);
    for (const double x : {0.0, 0.3, 1.0, 1.7}) {
      method.value_weights(x, weight.data());
      method.slope_weights(x, slope.data());
      double value = 0.0, rate = 0.0, sizes = 1.0;
      for (std::size_t i = 0; i < s; ++i) {
        value += weight[i] * Z[i];
        rate += slope[i] * Z[i];
        sizes += (std::abs(weight[i]) + std::abs(slope[i])) * Z[i];
      }
      EXPECT_NEAR(value, std::pow(x, k), 1e-15 * sizes);
      EXPECT_NEAR(rate, static_cast<double>(k) * std::pow(x, k - 1), 4e-15 * sizes);
    }
  }
}

TEST_P(RadauCoefficientsOf, BubbleChangesOnlyTheSlopeAtTheStart) {
  double sizes = 0.0;
  for (const double value : method.bubble) sizes += std::abs(value);
  EXPECT_EQ(method.bubble_value(0.0), 0.0);
  EXPECT_NEAR(method.bubble_value(1.0), 0.0, 1e-15 * sizes);
  const auto slope = [&](double x) {
    double value = 0.0;
    for (std::size_t k = method.bubble.size(); k-- > 0;)
      value = value * x + method.bubble[k] * static_cast<double>(k + 1);
    return value;
  };
  EXPECT_NEAR(slope(0.0), 1.0, 1e-15);
  for (const double x : method.node) EXPECT_NEAR(slope(x), 0.0, 1e-14 * sizes);
}

INSTANTIATE_TEST_SUITE_P(Stages, RadauCoefficientsOf, testing::Values(3u, 5u, 7u));

TEST(RadauCoefficients, ThreeStagesAsPrinted) {
  // Hairer, Wanner II, table IV.5.6 and section IV.8. Eigenvalues of A^-1 are the zeros of the denominator of the
  // stability function, 60 - 36 z + 9 z^2 - z^3; e = -(13 + 7 sqrt(6), 13 - 7 sqrt(6), 1) / 3.
  const RadauCoefficients method = radau_coefficients(3);
  const double root = std::sqrt(6.0), z = method.gamma;
  EXPECT_NEAR(60.0 - z * (36.0 - z * (9.0 - z)), 0.0, 1e-13);
  const std::complex<double> mu = method.mu[0];
  EXPECT_NEAR(std::abs(60.0 - mu * (36.0 - mu * (9.0 - mu))), 0.0, 1e-13);
  EXPECT_NEAR(method.node[0], (4.0 - root) / 10.0, 1e-16);
  EXPECT_NEAR(method.node[1], (4.0 + root) / 10.0, 1e-16);
  EXPECT_NEAR(method.a[0], (88.0 - 7.0 * root) / 360.0, 1e-15);
  EXPECT_NEAR(method.a[5], (-2.0 - 3.0 * root) / 225.0, 1e-15);
  EXPECT_NEAR(method.a[8], 1.0 / 9.0, 1e-15);
  EXPECT_NEAR(method.start_slope[0], (13.0 + 7.0 * root) / 3.0, 1e-14);
  EXPECT_NEAR(method.start_slope[1], (13.0 - 7.0 * root) / 3.0, 1e-14);
  EXPECT_NEAR(method.start_slope[2], 1.0 / 3.0, 1e-14);
}

TEST(RadauCoefficients, OtherNumbersOfStagesAreRefused) {
  EXPECT_THROW(radau_coefficients(2), InternalError);
  EXPECT_THROW(radau_coefficients(9), InternalError);
}

}  // namespace
}  // namespace daedalus::integrate
