#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "daedalus/integrate/system.hpp"

namespace daedalus::integrate {

/// Two branches of the constraints at a position where some constraints depend on others.
struct Meeting {
  /// For each arrow that vanishes, by how much its constraint fails to follow from those it depends on: 0 where the
  /// branches meet.
  std::vector<double> gap;
  std::vector<std::string> constraints;  ///< those that depend on each other
};

/// Where the stages of a step are evaluated: where the method puts them, or at the nearest points on the constraints.
enum class Stages { as_they_are, on_constraints };

/// How the loop sees where constraints become dependent. Every constraint has an arrow: the part of its gradient
/// outside the gradients of those before it.
struct BranchHooks {
  std::size_t coordinates = 0;  ///< x begins with so many positions, and as many velocities follow
  std::size_t arrows = 0;
  /// Writes the arrows, one after the other, `coordinates` numbers each.
  std::function<Evaluation(double t, const double* q, double* arrows)> look;
  /// Whether evaluations of the system in a step show that no arrow came near to vanishing in it; empty where they do not
  /// tell. Arrows need then not be looked at.
  std::function<bool(double t_old, double t_new)> clear = {};
  /// What is where the given arrows, ascending, vanish.
  std::function<Meeting(double t, const double* q, const std::vector<std::size_t>& vanishing)> meeting;
  /// Chooses how the system is evaluated from here on; empty where there is no choice.
  std::function<void(Stages)> evaluate;
};

/// A position at which constraints are dependent and that a motion went over.
struct SingularPosition {
  double t = 0.0;
  std::vector<std::string> constraints;
};

}  // namespace daedalus::integrate
