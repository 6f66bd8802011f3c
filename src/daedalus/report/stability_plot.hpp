#pragma once

#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/report/plot_picture.hpp"

namespace daedalus::report {

/// Draws where a method is stable: the z = h lambda for which a step on x' = lambda x does not make x grow. Shaded for
/// Runge-Kutta methods; the edges for every order of a multistep method. Throws Error("no-stability-region") where the
/// entry has neither tableau nor formulas.
Picture stability_picture(const integrate::IntegratorEntry& method);

}  // namespace daedalus::report
