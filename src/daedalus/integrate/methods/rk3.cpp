#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_rk3() {
  IntegratorEntry entry;
  entry.name = "rk3";
  entry.summary = "Kutta's method of order 3";
  entry.citation =
      "W. Kutta, Beitrag zur naeherungsweisen Integration totaler Differentialgleichungen, Z. Math. Phys. 46 (1901) "
      "435-453";
  entry.order = 3;
  entry.stability_radius = 2.512;
  return explicit_runge_kutta(
      entry, exact_tableau({.a = {{}, {"1/2"}, {"-1", "2"}}, .b = {"1/6", "2/3", "1/6"}, .c = {"0", "1/2", "1"}}));
}

}  // namespace daedalus::integrate
