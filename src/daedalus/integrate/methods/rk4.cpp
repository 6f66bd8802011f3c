#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_rk4() {
  IntegratorEntry entry;
  entry.name = "rk4";
  entry.summary = "The classical Runge-Kutta method of order 4";
  entry.citation =
      "W. Kutta, Beitrag zur naeherungsweisen Integration totaler Differentialgleichungen, Z. Math. Phys. 46 (1901) "
      "435-453";
  entry.order = 4;
  entry.stability_radius = 2.785;
  return explicit_runge_kutta(entry, exact_tableau({.a = {{}, {"1/2"}, {"0", "1/2"}, {"0", "0", "1"}},
                                                    .b = {"1/6", "1/3", "1/3", "1/6"},
                                                    .c = {"0", "1/2", "1/2", "1"}}));
}

}  // namespace daedalus::integrate
