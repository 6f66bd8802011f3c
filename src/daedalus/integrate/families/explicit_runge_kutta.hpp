#pragma once

#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {

/// Completes the entry of an explicit Runge-Kutta method from its tableau: stages, adaptivity, views, dense order and
/// maker. Name, summary, citation and order are already set.
IntegratorEntry explicit_runge_kutta(IntegratorEntry entry, Tableau tableau);

}  // namespace daedalus::integrate
