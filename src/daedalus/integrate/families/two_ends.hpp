#pragma once

#include <vector>

#include "daedalus/integrate/stepper.hpp"

namespace daedalus::integrate {

/// The two ends of the last accepted step with their slopes, the candidate for the next one, and the cubic polynomial
/// between the ends. The slope at the current end is evaluated when it is first asked for and then serves both the
/// polynomial and the next step.
class TwoEnds {
 public:
  explicit TwoEnds(const System& system);

  void start(const double* x);
  /// Makes the candidate the current state.
  void advance(double t_old, double t_now);
  /// Evaluates the slope at the current state if it is not known yet, counting in `stats`.
  Evaluation need_slope(double t, Stats& stats);
  /// The cubic Hermite polynomial of the last step at t_old + theta h.
  Evaluation interpolate(double theta, double* x, Stats& stats);

  const double* state() const { return now_.data(); }
  const double* slope() const { return slope_known_ ? slope_.data() : nullptr; }
  double* candidate() { return candidate_.data(); }

 private:
  const System& system_;
  std::vector<double> old_, now_, candidate_, old_slope_, slope_;
  double t_old_ = 0.0, t_now_ = 0.0;
  bool slope_known_ = false, stepped_ = false;
};

}  // namespace daedalus::integrate
