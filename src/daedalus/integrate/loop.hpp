#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/integrate/branches.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/integrate/regularity_watch.hpp"

namespace daedalus::integrate {

enum class Status {
  done,
  interrupted,
  stopped,  ///< by an event, as the author wished
  step_too_small,
  too_many_steps,
  not_finite,
  singular,
  no_convergence,
  event_failed,     ///< an event could not be carried out
  too_many_events,  ///< without end in a finite time
};

/// What an event did.
struct Reaction {
  enum class Kind { changed, stop, failed } kind = Kind::changed;
  Status status = Status::done;  ///< of a failure
  std::string message = {};
};

/// A moment at which watched functions have left their room.
struct Happening {
  double t = 0.0;
  const double* x = nullptr;
  const std::vector<std::size_t>* left = nullptr;  ///< numbers of the functions
};

/// What remains of an accepted step after functions have left their room.
struct Rest {
  double t_end = 0.0;
  const double* x_end = nullptr;
  const std::function<Evaluation(double t, double* x)>* inside = nullptr;  ///< writes states in it
  const Tolerance* tolerance = nullptr;
};

/// What can happen beside the flow of a system. Watched functions hold the system in one mode as long as they have room:
/// a step never ends beyond the first point where one has none.
struct EventHooks {
  std::size_t count = 0;  ///< of watched functions
  /// Readies for a run that starts here. May change x.
  std::function<Reaction(double t, double* x)> begin;
  /// Writes for every function how far it is from where something happens: > 0 while nothing does.
  std::function<Evaluation(double t, const double* x, double* room)> room;
  /// The first moment after t at which a step must end; infinite where there is none.
  std::function<double(double t)> next_time;
  /// Takes notice that functions have left their room. False where that changes nothing, and the step goes on.
  std::function<bool(const Happening&)> notice;
  /// Asked before `react`, under step control: whether what was noticed makes so little of a difference to the rest of the step
  /// that the tolerance hides it. Then it has happened, the step stays, and the answer is from where on it is searched for more.
  std::function<std::optional<double>(const Happening&, const Rest&)> overlook = {};
  /// Does what is due at a moment of `notice` or `next_time`. May change x.
  std::function<Reaction(double t, double* x)> react;
};

struct LoopOptions {
  double t_start = 0.0, t_end = 0.0;
  Tolerance tolerance;
  std::optional<double> step;        ///< size of fixed steps
  std::optional<double> first_step;  ///< size of the first step under step control; none: chosen from the system
  bool first_step_was_refused = false;  ///< a longer one was refused before: the second step is not longer than the first
  double max_step = std::numeric_limits<double>::infinity();  ///< under step control
  std::size_t max_steps = 10'000'000;                         ///< accepted and rejected ones together
  /// Between t_start and t_end, ascending in the direction of integration; delivered by dense output.
  std::vector<double> output_times;
  const EventHooks* events = nullptr;
  const BranchHooks* branches = nullptr;  ///< where constraints may become dependent
  const RegularityHooks* regularity = nullptr;  ///< where equations may become singular
};

/// What the loop tells while it runs. Each may be empty.
struct Observer {
  /// Called at the start and after every accepted (and projected) step; at an event twice with the same time, before and
  /// after it.
  std::function<void(double t, const double* x)> step;
  /// Called for every output time, in order; those of a step come before `step` is called for its end. At an event it
  /// tells what is after it.
  std::function<void(double t, const double* x)> output;
  /// Asked once per step; true ends the run with Status::interrupted.
  std::function<bool()> interrupt;
  /// Called now and then with the time reached and the step size.
  std::function<void(double t, double h)> progress;
};

struct LoopResult {
  Status status = Status::done;
  std::string message;             ///< empty when done
  std::vector<std::string> notes;  ///< for example that the problem looks stiff
  std::vector<SingularPosition> singular_positions;  ///< that were passed, in order
  std::vector<SingularPoint> singular_points;        ///< the same of equations; where the run ended at one, it is the last
  double t = 0.0;                  ///< reached
  Stats stats;
};

/// Integrates from t_start (x is the start, then the end state) with step control, projection and output. A failure
/// keeps everything that was delivered before it; x and the result's t are then the last accepted point. Allocates
/// nothing per step.
LoopResult integrate(const System& system, const IntegratorEntry& method, Stepper& stepper, const LoopOptions& options,
                     const Observer& observer, std::vector<double>& x);

}  // namespace daedalus::integrate
