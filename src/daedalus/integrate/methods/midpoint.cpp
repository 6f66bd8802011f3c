#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_midpoint() {
  IntegratorEntry entry;
  entry.name = "midpoint";
  entry.summary = "The explicit midpoint rule: Runge's method of order 2";
  entry.citation =
      "C. Runge, Ueber die numerische Aufloesung von Differentialgleichungen, Math. Ann. 46 (1895) 167-178";
  entry.order = 2;
  entry.stability_radius = 2.0;
  return explicit_runge_kutta(entry, exact_tableau({.a = {{}, {"1/2"}}, .b = {"0", "1"}, .c = {"0", "1/2"}}));
}

}  // namespace daedalus::integrate
