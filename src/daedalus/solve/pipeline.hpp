#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daedalus/base/error.hpp"
#include "daedalus/mechanics/functions.hpp"
#include "daedalus/model/model.hpp"
#include "daedalus/solve/run_options.hpp"
#include "daedalus/solve/start.hpp"
#include "daedalus/solve/trajectory.hpp"
#include "daedalus/structure/array_form.hpp"
#include "daedalus/structure/conversion.hpp"
#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::structure {
struct LinearSolution;
}  // namespace daedalus::structure

namespace daedalus::solve {

/// A model that is ready to run: derived and compiled.
struct Prepared {
  std::shared_ptr<const model::Model> model;
  std::shared_ptr<const mechanics::Functions> functions;    ///< of the kinds lagrangian and mechanical
  std::shared_ptr<const structure::DaeFunctions> dae = nullptr;  ///< of the kinds dae and linear, as written
  /// The same with equations differentiated; null where the index is 1 at most, or where differentiating does not help.
  std::shared_ptr<const structure::DaeFunctions> reduced = nullptr;
  /// How the structure of the equations was repaired before; null where it was good as it was.
  std::shared_ptr<const structure::Converted> converted = nullptr;
  /// What a DAE of an index above 1 is run by where differentiating by its structure does not help; null elsewhere.
  std::shared_ptr<const structure::ArrayForm> array = nullptr;
  /// Of `reduced`, where finding it has found one: consistent, from the values and at the time that the model gives.
  std::optional<Start> start = {};
  /// What the formula for the solution rests on, where a DAE is linear with constant coefficients and not too large.
  std::shared_ptr<const structure::LinearSolution> linear = nullptr;
  /// Why nothing but that formula will do: a table would have to be differentiated where it leaps. The formula tells the impulses.
  std::optional<Error> only_formula = {};
  /// The same as remarks on a run by the formula.
  std::vector<std::string> roughness = {};
  /// What all but formulations of the equations as they are written take.
  const std::shared_ptr<const structure::DaeFunctions>& solvable_dae() const { return reduced ? reduced : dae; }
  std::vector<std::pair<std::string, double>> stages;  ///< seconds per stage
};

/// Whether the solution of a model is computed by its formula where that is asked for: see `linear`.
bool has_formula(const Prepared& prepared);

/// Derives and compiles. Throws Error for what a model asks that is not available.
Prepared prepare(model::Model model);
Prepared prepare(std::shared_ptr<const model::Model> model);

/// Time at which runs start: from the options, the model, or 0.
double start_time(const model::Model& model, const RunOptions& options);
/// How to initialize: from the options, the model, or "project".
Initialize initialize_mode(const model::Model& model, const RunOptions& options);

/// Throws Error: the model needs more than this version does.
[[noreturn]] void refuse_index(const model::Model& model);

/// Finds a consistent start of a prepared model near the given one.
Start consistent_start(const Prepared& prepared, double t, Initialize mode, Look look = Look::at_start);

/// Runs a prepared model: consistent start, formulation, integration, rows. Numerical failure is a status of the
/// trajectory, which keeps everything up to it.
Trajectory simulate(const Prepared& prepared, const RunOptions& options);
Trajectory simulate(const model::Model& model, const RunOptions& options);

}  // namespace daedalus::solve
