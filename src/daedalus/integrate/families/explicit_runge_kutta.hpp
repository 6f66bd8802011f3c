#pragma once

#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {

/// Completes the entry of an explicit Runge-Kutta method from its tableau: stages, adaptivity, views, dense order and
/// maker. Name, summary, citation and order are already set. A method with options has `choose`, which gives the
/// tableau for theirs and may throw Error; `tableau` is then that of the defaults.
IntegratorEntry explicit_runge_kutta(IntegratorEntry entry, Tableau tableau,
                                     std::function<Tableau(const Options&)> choose = {});

}  // namespace daedalus::integrate
