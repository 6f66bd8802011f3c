#pragma once

#include <cmath>
#include <limits>

namespace daedalus::formulate {

/// A gain alpha near 1/h for feedback of violated constraints, taken at the start of a step of size h and held to its
/// end. It changes by factors of two only, is 0 as long as steps grow from a first tiny one, falls at once and rises
/// slowly: in a short step at the start, at an event or at the end it would turn a small violation into a large
/// velocity.
///
/// Held feedback -2 alpha g' - alpha beta g, 0 <= beta <= alpha, moves (g, h g') by the matrix
///     [ 1 - b/2   1 - k  ]
///     [ -b        1 - 2k ],       k = alpha h,   b = k beta h,
/// whose eigenvalues lie inside the unit circle for 0 < b <= k^2, k < 1. In a multistep method, where it comes one step
/// late, they do for k <= 1/2: the characteristic equation s^2 + (2 k s + b) exp(-s) = 0 has its roots in the left half
/// plane then.
class StepGain {
 public:
  double value() const { return value_; }

  /// A step of size h from t; true where this changes the gain.
  bool follow(double t, double step) {
    const double h = std::abs(step), before = value_;
    while (value_ * h > most) value_ *= 0.5;
    // Tried again: the step was too long, which says nothing about the next ones.
    if (t != t_last_) look_ahead(h);
    t_last_ = t;
    return value_ != before;
  }

 private:
  static constexpr double most = 0.5, least = 0.12;  // more than a factor of four apart: the gain does not flutter
  static constexpr int patience = 4;

  void look_ahead(double h) {
    if (value_ == 0.0 && h <= 1.5 * h_last_) value_ = std::exp2(std::floor(std::log2(most / h)));
    h_last_ = h;
    short_steps_ = value_ * h < least ? short_steps_ + 1 : 0;
    if (short_steps_ < patience) return;
    value_ *= 2.0;
    short_steps_ = 0;
  }

  double value_ = 0.0;
  double t_last_ = std::numeric_limits<double>::quiet_NaN(), h_last_ = 0.0;
  int short_steps_ = 0;
};

}  // namespace daedalus::formulate
