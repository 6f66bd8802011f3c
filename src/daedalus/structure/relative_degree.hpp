#pragma once

#include <optional>
#include <vector>

#include "daedalus/structure/array_point.hpp"
#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::structure {

/// Relative degrees of the constraints of a semi-explicit DAE x' = f(t, x, z), 0 = g(t, x, z) at a point (002,
/// Definition 2, with several constraints and without linearity in z).
struct RelativeDegrees {
  /// Every row with derivatives has one, linearly, and each derivative one row.
  bool semi_explicit = false;
  std::vector<std::size_t> rows;  ///< the constraints, rows of F
  /// How often each must be differentiated until z occurs; none where that differs between the point and its
  /// neighbours, or never happens.
  std::vector<std::optional<std::size_t>> degree;
  /// The matrix of the derivatives of those by z: where it is regular, z follows from them.
  std::size_t rank = 0;
  double kept = 1.0, dropped = 0.0;  ///< what its rank rests on
  /// The largest degree + 1 (Lemma 1), where every degree exists and the matrix is regular.
  std::optional<std::size_t> index;
};

/// Examines a DAE at a point, of which t and y are used, and at neighbours that need not be consistent.
RelativeDegrees relative_degrees(const DaeFunctions& functions, const ArrayPoint& point,
                                 const double* frozen = nullptr);

}  // namespace daedalus::structure
