#pragma once

#include <array>
#include <cmath>

namespace daedalus::tests {

/// The slider-crank of section V of Di Franco, Scarciotti, Astolfi with unit masses and rods, as the paper derives it, with
/// its misprints corrected: xi = (theta1 + theta2 - pi, its rate), eta = (theta1, its rate), and
///     q(xi, eta) = q0(eta) + q1(xi1, eta) xi1 + q2(xi, eta) xi2.
/// Of every vector the first component is eta2 for q and q0 and 0 for q1 and q2; here are the second ones.
struct SliderCrankByHand {
  double c = 0.0, g = 9.81;

  double denominator(double xi1, double eta1) const { return 2.0 * std::cos(xi1 - 2.0 * eta1) + 3.0; }
  /// (71)
  double q(double xi1, double xi2, double eta1, double eta2) const {
    return ((-2.0 * eta2 * eta2 + 2.0 * eta2 * xi2 - xi2 * xi2) * std::sin(xi1 - 2.0 * eta1) - c * eta2 -
            2.0 * g * std::sin(eta1) - g * std::sin(xi1 - eta1)) /
           denominator(xi1, eta1);
  }
  double q0(double eta1, double eta2) const { return q(0.0, 0.0, eta1, eta2); }
  /// As printed it is 0/0 at xi1 = 0. With differences of sines and cosines as products, sin(a + b) - sin(a - b) =
  /// 2 cos a sin b, it is not.
  double q1(double xi1, double eta1, double eta2) const {
    const double half = 0.5 * xi1, share = half == 0.0 ? 1.0 : std::sin(half) / half;
    const double N0 = 2.0 * eta2 * eta2 * std::sin(2.0 * eta1) - c * eta2 - g * std::sin(eta1);
    const double dN = (-2.0 * eta2 * eta2 * std::cos(half - 2.0 * eta1) - g * std::cos(half - eta1)) * share;
    const double dD = -2.0 * std::sin(half - 2.0 * eta1) * share;
    const double D0 = denominator(0.0, eta1);
    return (dN * D0 - N0 * dD) / (D0 * denominator(xi1, eta1));
  }
  double q2(double xi1, double xi2, double eta1, double eta2) const {
    return (2.0 * eta2 - xi2) * std::sin(xi1 - 2.0 * eta1) / denominator(xi1, eta1);
  }
};

}  // namespace daedalus::tests
