#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "daedalus/integrate/stepper.hpp"

namespace daedalus::integrate {

/// The error that component i may have, atol_i + rtol |x_i|; never 0, so that it can divide.
inline double error_weight(const Tolerance& tolerance, std::size_t i, double magnitude) {
  return std::max(tolerance.atol[i] + tolerance.rtol * magnitude, std::numeric_limits<double>::min());
}

/// The same for a step between two values: the larger one counts.
inline double error_weight(const Tolerance& tolerance, std::size_t i, double before, double after) {
  return error_weight(tolerance, i, std::max(std::abs(before), std::abs(after)));
}

}  // namespace daedalus::integrate
