#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_ralston3() {
  IntegratorEntry entry;
  entry.name = "ralston3";
  entry.summary = "Ralston's method of order 3, with the least bound of the error";
  entry.citation = "A. Ralston, Runge-Kutta methods with minimum error bounds, Math. Comp. 16 (1962) 431-437";
  entry.order = 3;
  entry.stability_radius = 2.512;
  return explicit_runge_kutta(
      entry, exact_tableau({.a = {{}, {"1/2"}, {"0", "3/4"}}, .b = {"2/9", "1/3", "4/9"}, .c = {"0", "1/2", "3/4"}}));
}

}  // namespace daedalus::integrate
