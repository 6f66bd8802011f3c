#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {

enum class Status { done, interrupted, stopped, step_too_small, too_many_steps, not_finite, singular, no_convergence };

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
};

/// What the loop tells while it runs. Each may be empty.
struct Observer {
  /// Called at the start and after every accepted (and projected) step.
  std::function<void(double t, const double* x)> step;
  /// Called for every output time, in order; those of a step come before `step` is called for its end.
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
  double t = 0.0;                  ///< reached
  Stats stats;
};

/// Integrates from t_start (x is the start, then the end state) with step control, projection and output. A failure
/// keeps everything that was delivered before it; x and the result's t are then the last accepted point. Allocates
/// nothing per step.
LoopResult integrate(const System& system, const IntegratorEntry& method, Stepper& stepper, const LoopOptions& options,
                     const Observer& observer, std::vector<double>& x);

}  // namespace daedalus::integrate
