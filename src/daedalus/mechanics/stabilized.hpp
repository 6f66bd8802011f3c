#pragma once

#include "daedalus/mechanics/implicit.hpp"

namespace daedalus::mechanics {

/// Equations of motion with the constraints on several levels at once.
struct SeveralLevels {
  /// The highest level, which determines lambda: velocity, (47) of 001, or acceleration, (17).
  Level highest = Level::velocity;
  /// What a violation of a constraint is removed by: q' - v, or its product with the mass matrix.
  enum class Weight { euclidean, mass } weight = Weight::euclidean;
  /// The time whose square multiplies M (v' - a) = 0: with it velocities are compared with positions where both can
  /// remove a violation.
  double time = 1.0;
  /// Constraints that follow from others: their multipliers are 0, and they stand on no level.
  std::vector<std::size_t> redundant = {};
};

/// More equations than unknowns: a square system with the constraints on the highest level, row i beside unknown i, and
/// behind it the rows of the lower levels.
ImplicitMotion overdetermined_motion(const Functions& functions, const SeveralLevels& form);

/// The same with one multiplier for each row of the lower levels: mu for positions, eta for velocities.
ImplicitMotion stabilized_motion(const Functions& functions, const SeveralLevels& form);

}  // namespace daedalus::mechanics
