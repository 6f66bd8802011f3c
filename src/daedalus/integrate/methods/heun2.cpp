#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_heun2() {
  IntegratorEntry entry;
  entry.name = "heun2";
  entry.summary = "Heun's method of order 2, the explicit trapezoidal rule";
  entry.citation =
      "K. Heun, Neue Methoden zur approximativen Integration der Differentialgleichungen einer unabhaengigen "
      "Veraenderlichen, Z. Math. Phys. 45 (1900) 23-38";
  entry.order = 2;
  entry.stability_radius = 2.0;
  return explicit_runge_kutta(entry, exact_tableau({.a = {{}, {"1"}}, .b = {"1/2", "1/2"}, .c = {"0", "1"}}));
}

}  // namespace daedalus::integrate
