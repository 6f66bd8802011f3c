#include "daedalus/structure/driven_step.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "daedalus/structure/kronrod.hpp"

namespace daedalus::structure {
namespace {

using Matrix = linalg::BasicMatrix<linalg::DoubleDouble>;
using Number = linalg::DoubleDouble;

Matrix diagonal(const std::vector<double>& values) {
  Matrix M = Matrix::zero(values.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) M(i, i) = values[i];
  return M;
}

TEST(DrivenStep, ModesOfAnySpeed) {
  // x' = a x + 1 + 2 theta + 3 theta^2, theta = t / h: the polynomial p with p' = a p + g and the mode beside it, or, for a = 0,
  // the integral.
  const double h = 0.75;
  const std::vector<double> speeds{-1e9, -1e3, -1.0, 0.0, 2.0, 40.0};
  Matrix powers = Matrix::zero(speeds.size(), 3);
  for (std::size_t i = 0; i < speeds.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) powers(i, k) = static_cast<double>(k + 1);
  const DrivenStep step = driven_step(diagonal(speeds), powers, h, std::vector<Number>(speeds.size(), Number(0.5)));
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    const long double a = speeds[i];
    long double exact = 0.5L + h * (1.0L + 1.0L + 1.0L);
    if (a != 0.0L) {
      const long double p2 = -3.0L / a, p1 = (2.0L * p2 / h - 2.0L) / a, p0 = (p1 / h - 1.0L) / a;
      exact = p0 + p1 + p2 + std::exp(a * h) * (0.5L - p0);
    }
    EXPECT_NEAR(double(step.end[i]) / static_cast<double>(exact), 1.0, 1e-15) << speeds[i];
  }
  // The fastest growing mode tells how far an error of g reaches: (exp(30) - 1)/40.
  EXPECT_GT(step.reach, std::expm1(30.0) / 40.0);
  EXPECT_LT(driven_step(diagonal({-1e9}), Matrix::zero(1, 1), h, {Number(1.0)}).reach, 1e-8);
}

TEST(DrivenStep, ModesThatActOnEachOther) {
  // A double mode at -2 and an oscillation: x1' = -2 x1 + x2, x2' = -2 x2 + 1; x3' = 7 x4, x4' = -7 x3 + theta.
  const double h = 3.0;
  Matrix J = diagonal({-2.0, -2.0, 0.0, 0.0}), powers = Matrix::zero(4, 2);
  J(0, 1) = 1.0;
  J(2, 3) = 7.0;
  J(3, 2) = -7.0;
  powers(1, 0) = 1.0;
  powers(3, 1) = 1.0;
  const DrivenStep step = driven_step(J, powers, h, std::vector<Number>(4, Number(0.0)));
  const double e = std::exp(-2.0 * h), phase = 7.0 * h;
  EXPECT_NEAR(double(step.end[0]), 0.25 - e * (0.25 + 0.5 * h), 1e-16);
  EXPECT_NEAR(double(step.end[1]), 0.5 * (1.0 - e), 1e-16);
  EXPECT_NEAR(double(step.end[2]), (h - std::sin(phase) / 7.0) / (7.0 * h), 1e-16);
  EXPECT_NEAR(double(step.end[3]), (1.0 - std::cos(phase)) / (49.0 * h), 1e-16);
}

TEST(PolynomialFit, PolynomialsComeBackAndOthersAreToldApart) {
  const auto fit_of = [](const auto& f) {
    Matrix values = Matrix::zero(1, kronrod_points);
    for (std::size_t i = 0; i < kronrod_points; ++i) values(0, i) = f(kronrod_node(i));
    return polynomial_fit(values, 1e-13);
  };
  const PolynomialFit constant = fit_of([](double) { return 0.1; });
  ASSERT_EQ(constant.powers.columns, 1u);
  EXPECT_EQ(double(constant.powers(0, 0)), 0.1);
  EXPECT_EQ(constant.rest, 0.0);
  const PolynomialFit cubic = fit_of([](double x) { return 1.0 - 2.0 * x + 5.0 * x * x * x; });
  ASSERT_EQ(cubic.powers.columns, 4u);
  const double expected[] = {1.0, -2.0, 0.0, 5.0};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(double(cubic.powers(0, k)), expected[k], 1e-13) << k;  // values are rounded
  EXPECT_LT(cubic.rest, 1e-13);
  EXPECT_GE(cubic.slope, 13.0);
  EXPECT_GT(fit_of([](double x) { return std::abs(x - 0.4); }).rest, 1e-3);
}

}  // namespace
}  // namespace daedalus::structure
