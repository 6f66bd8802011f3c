#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daedalus/base/options.hpp"
#include "daedalus/formulate/observation.hpp"
#include "daedalus/integrate/system.hpp"
#include "daedalus/mechanics/functions.hpp"
#include "daedalus/structure/array_form.hpp"
#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::structure {
struct LinearSolution;
class LinearFlow;
}  // namespace daedalus::structure

namespace daedalus::formulate {

/// The equations of a model, compiled: one of the two.
struct Equations {
  std::shared_ptr<const mechanics::Functions> motion;
  std::shared_ptr<const structure::DaeFunctions> dae;  ///< as written, or differentiated for a formulation that reduces
  /// Constraints that follow from others at the start, by their rows: where multipliers are unknowns, theirs are 0.
  std::vector<std::size_t> redundant = {};
  bool solvable = true;  ///< a DAE can be solved for (x', z) as it stands: it has an ODE view
  std::shared_ptr<const structure::ArrayForm> array = {};  ///< where the structure of a DAE misleads
  std::shared_ptr<const structure::DaeFunctions> written = {};  ///< as written, where `dae` is differentiated
  std::shared_ptr<const structure::LinearSolution> linear = {};  ///< of a DAE that is linear with constant coefficients
};

/// The ways back to the constraints.
struct Projections {
  std::function<integrate::Evaluation(double t, double* x)> positions, velocities;
  /// Largest residual of positions and velocities, relative to its largest term.
  std::function<double(double t, const double* x)> violation;
};
enum class Metric { mass, euclidean };

/// What a formulation makes of a model: a system for an integrator, and the way back to what the author asked for.
struct Formulated {
  integrate::System system;
  std::shared_ptr<Observation> observation;
  /// The halves of System::project, with the least change in a metric; only mechanics has them.
  std::function<Projections(Metric)> projections = {};
  /// Sets the first guess of the unknowns that evaluations solve for; `algebraic` as in solve::Start.
  std::function<void(const std::vector<double>& auxiliary)> guess;
  /// The state of the system for a consistent (y, y') of Equations::dae, where it is another than (x, z) of these.
  std::function<std::vector<double>(const std::vector<double>& y_dy)> state = {};
  /// Lets every evaluation read these frozen values (see compile/switches.hpp), which must outlive it.
  std::function<void(const double* frozen)> freeze;
  /// Sets the norm in which projections onto invariants change a state least: component i of it counts in units of
  /// atol_i + rtol |x_i|. Empty where nothing is projected so.
  std::function<void(double rtol, const std::vector<double>& atol)> weigh;
  /// Told from when to when the run goes, where something depends on it.
  std::function<void(double t_start, double t_end)> lasts = {};
  /// Whether the evaluations since the last call lay close enough between two times, and none of them was where a constraint
  /// nearly depends on others. Empty where evaluations do not tell.
  std::function<bool(double t_old, double t_new)> clear = {};
  /// Whether no constraint depends on others, as the first evaluation has seen it. Empty where it does not look.
  std::function<bool()> independent = {};
  /// Factorizations that the system has needed so far, beside those of the method.
  std::function<std::size_t()> factorizations;
  /// The solution of a linear DAE by its formula, where the system is one.
  std::shared_ptr<structure::LinearFlow> flow = {};
};

/// One formulation, as the tables know it.
struct FormulationEntry {
  std::string name;
  std::string summary;
  std::string citation;
  std::vector<std::string> kinds;  ///< of models that it takes
  /// Takes a DAE of an index above 1, its equations differentiated; the others take it as it is written.
  bool reduces = false;
  /// Takes it as it is written, for methods that take systems of its index.
  bool takes_any_index = false;
  /// Takes one whose structure does not show what must be differentiated, by its derivative array.
  bool takes_arrays = false;
  /// Of which it keeps [invariants], not only watches them. A DAE of index 1 at most must have some: there is nothing else
  /// to keep.
  std::vector<std::string> keeps_invariants_of = {};
  int index = 0;                   ///< of the system that it produces
  bool projects = false;           ///< whether the constraints hold to round-off after every step
  bool stiffens = false;           ///< whether its feedback makes constrained motion stiff, as a rule
  std::vector<OptionSpec> options;
  std::function<bool(const Options&)> projects_with = {};  ///< the same for given options, where these decide it
  std::vector<integrate::View> views = {};  ///< that it can show
  std::vector<integrate::View> dae_views = {};  ///< of general DAEs, where it takes motion too
  const std::vector<integrate::View>& views_of(const model::Model& model) const;
  /// Makes the system in one of its views.
  std::function<Formulated(const Equations&, integrate::View, const Options&)> make;
};

/// Whether a formulation with these options holds the constraints to round-off after every step.
bool holds_constraints(const FormulationEntry& entry, const Options& options);

/// All formulations, ordered by name. Written by CMake from the files in formulate/methods.
const std::vector<FormulationEntry>& formulations();
/// Throws Error("unknown-formulation") that names the nearest.
const FormulationEntry& formulation(const std::string& name);

}  // namespace daedalus::formulate
