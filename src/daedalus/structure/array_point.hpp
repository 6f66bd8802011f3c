#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/structure/array_values.hpp"

namespace daedalus::structure {

/// A point of the derivative array.
struct ArrayPoint {
  double t = 0.0;
  std::vector<double> jets;  ///< y, y', ..., as many as there are
};

enum class ArrayPointOutcome { found, not_finite, no_convergence };

/// Moves u to a point with E(t, u) = 0 near it, y less than the higher coefficients. Where there is none,
/// `array.E()` is what is left at the best one.
ArrayPointOutcome satisfy(ArrayValues& array, double t, std::vector<double>& u);

}  // namespace daedalus::structure
