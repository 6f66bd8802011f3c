#pragma once

#include <cstddef>

namespace daedalus::integrate {

/// By how much the error estimate of the method with s stages may exceed the tolerance (relative to the solution): the
/// estimate is of order s, the method itself of order 2s-1.
double radau_calibration(double relative_tolerance, std::size_t stages);

/// The factor by which a step with this error, in units of what is allowed, could grow.
double radau_growth(double error, std::size_t stages);

/// What is known at the end of a good step. Errors are estimates in units of the tolerance.
struct OrderQuestion {
  std::size_t stages, least, most;  ///< now, and the bounds
  double relative_tolerance;
  double error;        ///< with this number of stages
  double lower_error;  ///< with two stages less
  double factor;       ///< by which the step will grow if the order stays
  double most_growth;  ///< bound of any growth
};

struct OrderChoice {
  std::size_t stages;
  double factor;
};

/// Chooses the number of stages with the least work per time, and by how much the step then grows.
OrderChoice choose_radau_order(const OrderQuestion& question);

}  // namespace daedalus::integrate
