#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daedalus/base/options.hpp"
#include "daedalus/integrate/system.hpp"
#include "daedalus/mechanics/evaluator.hpp"
#include "daedalus/mechanics/functions.hpp"

namespace daedalus::formulate {

/// What a formulation makes of a model: a system for an integrator, and the way back to what the author asked for.
struct Formulated {
  integrate::System system;
  /// Accelerations, multipliers and auxiliary unknowns at a state, as this formulation defines them. The evaluator keeps
  /// them; it is not the one that `system` uses.
  std::function<mechanics::Outcome(double t, const double* x)> details;
  std::shared_ptr<mechanics::Evaluator> evaluator;
  /// Factorizations that the system has needed so far.
  std::function<std::size_t()> factorizations;
};

/// One formulation, as the tables know it.
struct FormulationEntry {
  std::string name;
  std::string summary;
  std::string citation;
  std::vector<std::string> kinds;  ///< of models that it takes
  int index = 0;                   ///< of the system that it produces
  bool projects = false;           ///< whether the constraints hold to round-off after every step
  std::vector<OptionSpec> options;
  std::vector<integrate::View> views = {};  ///< that it can show
  /// Makes the system in one of its views.
  std::function<Formulated(std::shared_ptr<const mechanics::Functions>, integrate::View, const Options&)> make;
};

/// All formulations, ordered by name. Written by CMake from the files in formulate/methods.
const std::vector<FormulationEntry>& formulations();
/// Throws Error("unknown-formulation") that names the nearest.
const FormulationEntry& formulation(const std::string& name);

}  // namespace daedalus::formulate
