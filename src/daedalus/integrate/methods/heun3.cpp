#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_heun3() {
  IntegratorEntry entry;
  entry.name = "heun3";
  entry.summary = "Heun's method of order 3";
  entry.citation =
      "K. Heun, Neue Methoden zur approximativen Integration der Differentialgleichungen einer unabhaengigen "
      "Veraenderlichen, Z. Math. Phys. 45 (1900) 23-38";
  entry.order = 3;
  entry.stability_radius = 2.512;
  entry.notes = {
      "The course notes misprint c3 in (1.29): 1/3, where the row of A sums to 2/3. With 1/3 the order is 1 on systems "
      "that depend on time."};
  return explicit_runge_kutta(
      entry, exact_tableau({.a = {{}, {"1/3"}, {"0", "2/3"}}, .b = {"1/4", "0", "3/4"}, .c = {"0", "1/3", "2/3"}}));
}

}  // namespace daedalus::integrate
