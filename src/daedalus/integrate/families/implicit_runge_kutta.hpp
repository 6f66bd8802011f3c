#pragma once

#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {

/// Completes the entry of an implicit Runge-Kutta method from its tableau (full rows): stages, views, dense order and
/// maker. Name, summary, citation, order, properties, highest index and the orders on each index are already set.
IntegratorEntry implicit_runge_kutta(IntegratorEntry entry, Tableau tableau);

}  // namespace daedalus::integrate
