#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/integrate/system.hpp"

namespace daedalus::integrate {

/// Weights of the error norm: |e_i| is compared with atol_i + rtol |x_i|.
struct Tolerance {
  double rtol = 1e-6;
  std::vector<double> atol;  ///< one per component
};

struct Stats {
  std::size_t steps = 0, rejected = 0, rhs = 0, jacobians = 0, factorizations = 0, newton_iterations = 0,
              projections = 0;
};

/// What one attempted step says.
struct Attempt {
  Evaluation outcome = Evaluation::ok;
  /// Error estimate in units of the tolerance: at most 1 is good. 0 for methods without an estimate.
  double error = 0.0;
  /// The component with the largest estimate in units of its tolerance, where there is an estimate.
  std::optional<std::size_t> worst = std::nullopt;
  /// Power beta with which the error of the step before counts in step control; 0: it does not.
  double memory = 0.0;
  /// The size of the next step as the method itself proposes it, after this one was accepted or rejected; the loop's own
  /// controller decides where there is none.
  std::optional<double> next_step = std::nullopt;
};

/// Writes a state near the current one, at its own time, in other coordinates.
using CoordinateChange = std::function<Evaluation(double t, const double* before, double* x)>;

/// One method on one trajectory. Owns all workspace and allocates nothing after construction. The loop decides about
/// step sizes, acceptance, projection, events and output.
class Stepper {
 public:
  virtual ~Stepper() = default;

  /// Sets the point from which the next attempt starts.
  virtual Evaluation start(double t, const double* x) = 0;
  /// Tries a step of size h from the current point. With a tolerance it estimates the error; without, it need not.
  virtual Attempt attempt(double h, const Tolerance* tolerance) = 0;
  /// The end point of the last attempt; the loop may project it in place before `accepted`.
  virtual double* candidate() = 0;
  /// Makes the candidate the current point, at time t_next: t + h up to round-off, given so that times carry no
  /// accumulated error. Where the system cannot be evaluated there, the current point stays as it was.
  virtual Evaluation accepted(double t_next) = 0;
  virtual void rejected() {}
  /// The step to take from the current point, where the method knows it before it tries; 0 where it does not.
  virtual double foreseen_step(const Tolerance&) { return 0.0; }
  /// Replaces the state at the current time (after an event); the history is forgotten.
  virtual Evaluation replace_state(const double* x) = 0;
  /// Goes on from the current state in other coordinates, in which it is x. A method that remembers more than the state
  /// takes that along.
  virtual Evaluation change_coordinates(const double* x, const CoordinateChange&) { return replace_state(x); }
  /// The system has changed off its solution at the current point, which is x: evaluations that were kept are stale.
  virtual Evaluation system_changed(const double* x) { return replace_state(x); }
  /// The solution inside the last accepted step, at t_old + theta h, 0 <= theta <= 1, until the next attempt. Ends at
  /// the state that was accepted. May evaluate the system.
  virtual Evaluation interpolate(double theta, double* x) = 0;
  /// The same at the time t that theta was made of, for a method that is exact beyond the rounding of theta.
  virtual Evaluation interpolate_at(double, double theta, double* x) { return interpolate(theta, x); }
  /// The derivative x' at the current point, of all components that the ODE view has at least, where the method has it, else
  /// nullptr.
  virtual const double* derivative() const { return nullptr; }
  /// |h lambda| for the fastest eigenvalue lambda seen in the last accepted step; 0 where the method does not say.
  virtual double stiffness() const { return 0.0; }

  /// Adds what a person should know about how the run went: for example which methods were used and why.
  virtual void remark(std::vector<std::string>&) const {}
  /// The methods that were at work, where the stepper chose among several; empty otherwise.
  virtual std::string used() const { return {}; }

  double time() const { return t_; }
  virtual const double* state() const = 0;
  /// Whether all of the state belongs together. Where a method moves its leading part alone, as the ODE view has it, what is
  /// behind that is of an earlier point.
  virtual bool moves_all() const { return true; }
  virtual Stats stats() const { return stats_; }

 protected:
  double t_ = 0.0;
  Stats stats_;
};

}  // namespace daedalus::integrate
