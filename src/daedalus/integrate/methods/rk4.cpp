#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_rk4() {
  IntegratorEntry entry;
  entry.name = "rk4";
  entry.summary = "The classical Runge-Kutta method of order 4 with fixed steps";
  entry.citation =
      "W. Kutta, Beitrag zur naeherungsweisen Integration totaler Differentialgleichungen, Z. Math. Phys. 46 "
      "(1901) 435-453";
  entry.order = 4;
  entry.stability_radius = 2.785;
  return explicit_runge_kutta(entry, {.a = {{}, {0.5}, {0.0, 0.5}, {0.0, 0.0, 1.0}},
                                      .b = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0},
                                      .c = {0.0, 0.5, 0.5, 1.0}});
}

}  // namespace daedalus::integrate
