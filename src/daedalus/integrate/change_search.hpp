#pragma once

#include "daedalus/integrate/system.hpp"

namespace daedalus::integrate {

/// Looks for the step that ends where a system changes, System::room being 0: by regula falsi for the size of the step
/// (Illinois), each try of which is a step that is good in itself.
class ChangeSearch {
 public:
  struct Step {
    double t_old, t_new;
    const double *x_old, *x_new;
  };
  /// How near the step must end: this part of itself, but no step is shorter than `shortest`.
  struct Aim {
    double close, shortest;
  };

  /// Whether a step ends beyond the place where the system changes, or, once one did, before it; then `instead` is what to
  /// try. Otherwise it is the one to take.
  bool passes(const System& system, const Step& step, const Aim& aim);
  /// Size of the step to try after one that passes.
  double instead() const { return instead_; }

  /// Whether a step went beyond the place and the one that ends there is not yet taken.
  bool begun() const { return begun_; }
  /// Size of the step that went beyond it.
  double first() const { return first_; }
  /// The step was taken, or another one is needed for other reasons.
  void end() { begun_ = false; }

 private:
  bool begun_ = false, last_was_before_ = false;
  double first_ = 0.0, instead_ = 0.0;
  double before_ = 0.0, room_before_ = 0.0;  ///< the longest step that ends before the place
  double behind_ = 0.0, room_behind_ = 0.0;  ///< the shortest that does not
};

}  // namespace daedalus::integrate
