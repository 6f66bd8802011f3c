#pragma once

#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {

/// Makes a stepper that estimates the error of a one-step method by comparing one step with two halves. It carries on
/// the result of the halves; extrapolated where the method is explicit, takes an ODE and is not symplectic.
std::unique_ptr<Stepper> step_doubling(const IntegratorEntry& method, const System& system, const Options& options);

}  // namespace daedalus::integrate
