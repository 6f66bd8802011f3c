#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/base/options.hpp"
#include "daedalus/integrate/stepper.hpp"

namespace daedalus::integrate {

/// Coefficients of a Runge-Kutta method: stages g_i = x + h sum_j a_ij f(t + c_j h, g_j), then x + h sum_i b_i f(g_i).
struct Tableau {
  std::vector<std::vector<double>> a;  ///< one row per stage; in explicit methods row i has its first i entries
  std::vector<double> b, c;
  std::vector<double> embedded = {};  ///< weights of the formula that the error is estimated with; empty: none
};

/// One integration method, as the tables know it.
struct IntegratorEntry {
  std::string name;
  std::string summary;
  std::string citation;
  int order = 0;
  int stages = 0;
  bool adaptive = false;  ///< has an error estimate
  bool implicit = false;
  std::vector<std::string> accepts;  ///< views it takes: "ode", "second-order", ...
  int highest_index = 0;
  int dense_order = 0;  ///< of interpolate(): inside one step from an exact start the error is O(h^(dense_order + 1))
  std::vector<OptionSpec> options;
  /// Power of h with which the error estimate shrinks; step control uses 1/estimate_order.
  int estimate_order = 0;
  /// Where the step multiplied by a pure imaginary or negative eigenvalue leaves the stability region: for the
  /// stiffness detector; 0 where unknown.
  double stability_radius = 0.0;
  std::optional<Tableau> tableau;  ///< where it is a Runge-Kutta method
  std::function<std::unique_ptr<Stepper>(const System&, const Options&)> make;
};

/// All methods, ordered by name. Written by CMake from the files in integrate/methods.
const std::vector<IntegratorEntry>& integrators();
/// Throws Error("unknown-method") that names the nearest.
const IntegratorEntry& integrator(const std::string& name);
/// Says whether the system has a view that the method takes.
bool takes(const IntegratorEntry& method, const System& system);

}  // namespace daedalus::integrate
