#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_ralston2() {
  IntegratorEntry entry;
  entry.name = "ralston2";
  entry.summary = "Ralston's method of order 2, with the least bound of the error";
  entry.citation = "A. Ralston, Runge-Kutta methods with minimum error bounds, Math. Comp. 16 (1962) 431-437";
  entry.order = 2;
  entry.stability_radius = 2.0;
  return explicit_runge_kutta(entry, exact_tableau({.a = {{}, {"2/3"}}, .b = {"1/4", "3/4"}, .c = {"0", "2/3"}}));
}

}  // namespace daedalus::integrate
