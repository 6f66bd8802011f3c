#pragma once

#include <memory>

#include "daedalus/compile/implicit_function.hpp"
#include "daedalus/mechanics/evaluator.hpp"

namespace daedalus::mechanics {

/// The level on which holonomic constraints stand in the equations. Nonholonomic ones start on the velocity level.
enum class Level { position, velocity, acceleration };

/// Equations of motion as F(t, y, y') = 0. The unknowns begin with (q, v, z_d, z_a, lambda), z_d and z_a the differential
/// and the algebraic auxiliary unknowns; accelerations and further multipliers may follow.
struct ImplicitMotion {
  compile::ImplicitFunction function;
  std::vector<std::string> names;
  std::vector<int> index;  ///< of each unknown: an error counts times h^(index - 1)
  std::vector<bool> ignored;  ///< unknowns that do not count at all; empty: none
  int system_index = 0;
  std::vector<int> row_power, column_power;  ///< see integrate::ImplicitSystem
  bool accelerations = false;  ///< whether these follow lambda; what comes behind vanishes in the exact solution
};

/// y = (q, v, z_d, z_a, lambda) and
///     q' - v,    M v' - f + G^T lambda,    the auxiliary equations,    the constraints on one level.
/// On the acceleration level they are G v' - gamma plus the feedback of lower levels. Multipliers of the `redundant`
/// constraints are 0 instead of a second solution of equations that follow from others.
ImplicitMotion implicit_motion(const Functions& functions, Level level, const Feedback& feedback = {},
                               const std::vector<std::size_t>& redundant = {});

/// The same equations in symbols.
compile::ImplicitEquations motion_symbols(const Functions& functions, Level level,
                                          const std::vector<std::size_t>& redundant = {});

}  // namespace daedalus::mechanics
