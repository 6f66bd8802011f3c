#pragma once

#include <cstddef>

#include "daedalus/integrate/stepper.hpp"

namespace daedalus::integrate {

/// Where a run starts and what bounds its first step.
struct FirstStepProblem {
  const System& system;
  const Tolerance& tolerance;
  double t;
  const double* x;
  const double* slope;  ///< f(t, x) where it is known, else nullptr
  double direction;     ///< 1 forwards, -1 backwards in time
  int order;            ///< of the error estimate
  double least, most;   ///< bounds of the answer; least <= most
};

struct FirstStep {
  double h;         ///< > 0
  std::size_t rhs;  ///< evaluations spent
};

/// Guesses a first step for which an explicit step of the given order errs by about a hundredth of the tolerance.
/// Answers the lower bound where the system cannot be evaluated at the start.
FirstStep choose_first_step(const FirstStepProblem& problem);

}  // namespace daedalus::integrate
