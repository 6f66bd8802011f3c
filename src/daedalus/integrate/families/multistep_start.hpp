#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "daedalus/integrate/families/radau_coefficients.hpp"
#include "daedalus/integrate/stepper.hpp"
#include "daedalus/linalg/shifted_lu.hpp"

namespace daedalus::integrate {

/// One step of collocation at the nodes of Radau II A, solved to round-off: fills the history of a multistep method
/// that runs with fixed steps, so that its first steps do not spoil its order.
class MultistepStart {
 public:
  /// Callers see the first `visible` unknowns; the others vanish in the exact solution.
  MultistepStart(std::shared_ptr<const ImplicitSystem> system, std::size_t stages, std::size_t visible);

  /// Steps from (t, y) over h to `end`; dy is a guess of the derivative.
  Evaluation step(double t, double h, const double* y, const double* dy, double* end, Stats& stats);
  /// The collocation polynomial of the last step at theta.
  void interpolate(double theta, double* y) const;
  /// Its derivative at the end.
  void end_slope(double* dy) const;
  const RadauCoefficients& coefficients() const { return radau_; }

 private:
  Evaluation correct(double t, double h, Stats& stats);

  std::shared_ptr<const ImplicitSystem> system_;
  std::size_t n_, visible_;
  const RadauCoefficients& radau_;
  linalg::ShiftedLu lu_;
  std::vector<double> matrix_, zero_, row_scale_, column_scale_;
  std::vector<double> F_y_, F_dy_, begin_, y_, dy_, Z_, change_;
  double h_ = 0.0;
};

}  // namespace daedalus::integrate
