#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace daedalus::integrate {

/// How an evaluation went. Nature's failures are data.
enum class Evaluation { ok, not_finite, singular, no_convergence };

/// A system of numbers. A formulation fills the views that it can; a method declares which ones it takes. The
/// callables own their workspace: one System serves one trajectory at a time.
struct System {
  std::size_t dimension = 0;

  /// x' = ode(t, x)
  std::function<Evaluation(double t, const double* x, double* dx)> ode;

  /// Second-order structure: x = (q, v, rest) with q' = v, both of this length; 0 where there is none.
  std::size_t coordinates = 0;

  /// Moves x onto all constraints (least change), where the formulation projects.
  std::function<Evaluation(double t, double* x)> project;
  /// Removes from an error estimate the part that `project` would remove, using what the last ode() call left.
  std::function<void(double* error)> project_error;

  /// Says in the user's names what went wrong in the last failed call.
  std::function<std::string()> explain;

  std::vector<std::string> names;  ///< of the components of x
};

}  // namespace daedalus::integrate
