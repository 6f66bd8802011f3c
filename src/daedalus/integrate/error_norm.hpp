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

/// Size of an error in units of the tolerance: the root of the mean square over the components (WRMS), and the component
/// that is worst. `ratio(i)` is the error of component i in units of what it may have, 0 for those that are not counted.
template <class Ratio>
void set_error(Attempt& result, std::size_t n, std::size_t counted, Ratio ratio) {
  double sum = 0.0, largest = -1.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double size = std::abs(ratio(i));
    sum += size * size;
    if (size > largest) {
      largest = size;
      result.worst = i;
    }
  }
  if (counted > 0) result.error = std::sqrt(sum / static_cast<double>(counted));
}

template <class Ratio>
void set_error(Attempt& result, std::size_t n, Ratio ratio) {
  set_error(result, n, n, ratio);
}

}  // namespace daedalus::integrate
