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

enum class ArrayMoves {
  jets_only,    ///< y is consistent already
  mostly_jets,  ///< y ten times less
  all,
  along_path,  ///< the same, with more patience
};

/// Moves u to a point near it with E(t, u) = 0. Where none is found, u and `array.E()` are what is left.
ArrayPointOutcome satisfy(ArrayValues& array, double t, std::vector<double>& u, ArrayMoves moves);

}  // namespace daedalus::structure
