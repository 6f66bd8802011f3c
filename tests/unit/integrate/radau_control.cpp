#include "daedalus/integrate/families/radau_control.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace daedalus::integrate {
namespace {

TEST(RadauControl, CalibrationIsThatOfHairerAndWanner) {
  // 0.1 tol^(2/3) / tol with 3 stages, 0.1 tol^(4/7) / tol with 7.
  EXPECT_NEAR(radau_calibration(1e-6, 3), 10.0, 1e-12);
  EXPECT_NEAR(radau_calibration(1e-6, 7), 0.1 * std::pow(10.0, 18.0 / 7.0), 1e-11);
  // A loose tolerance is not made tighter, a tight one not forgotten in dense output.
  EXPECT_EQ(radau_calibration(1e-1, 3), 1.0);
  EXPECT_EQ(radau_calibration(1e-14, 7), 300.0);
}

TEST(RadauControl, GrowthInvertsThePowerOfTheStep) {
  EXPECT_NEAR(radau_growth(1.0 / 16.0, 3), 2.0, 1e-15);
  EXPECT_NEAR(radau_growth(64.0, 5), 0.5, 1e-15);
  EXPECT_LT(radau_growth(std::numeric_limits<double>::quiet_NaN(), 3), 0.2);
  EXPECT_LE(radau_growth(0.0, 3), 1e3);
}

OrderQuestion question(std::size_t stages, double error, double lower_error) {
  return {.stages = stages,
          .least = 3,
          .most = 7,
          .relative_tolerance = 1e-6,
          .error = error,
          .lower_error = lower_error,
          .factor = 1.0,
          .most_growth = 5.0};
}

TEST(RadauControl, OrderRisesWhereDerivativesFallFast) {
  // The error falls by 10^4 for two more stages: by (10 * 10^-4 / 25)^(-1/6) = 5 grows the step, for 5/3 of the work.
  OrderQuestion smooth = question(3, 10.0, 1e5);
  EXPECT_EQ(choose_radau_order(smooth).stages, 5u);
  EXPECT_GT(choose_radau_order(smooth).factor, 3.0);
  // Not where the iteration does not let the step grow, nor above the bound, nor where higher derivatives are large.
  smooth.most_growth = 1.0;
  EXPECT_EQ(choose_radau_order(smooth).stages, 3u);
  smooth = question(7, 10.0, 1e5);
  EXPECT_EQ(choose_radau_order(smooth).stages, 7u);
  EXPECT_EQ(choose_radau_order(question(3, 10.0, 10.0)).stages, 3u);
}

TEST(RadauControl, OrderFallsWhereItGainsNothing) {
  EXPECT_EQ(choose_radau_order(question(7, 10.0, 10.0)).stages, 5u);
  EXPECT_EQ(choose_radau_order(question(5, 10.0, 10.0)).stages, 3u);
  EXPECT_EQ(choose_radau_order(question(3, 10.0, 1.0)).stages, 3u);
}

}  // namespace
}  // namespace daedalus::integrate
