#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_ssprk3() {
  IntegratorEntry entry;
  entry.name = "ssprk3";
  entry.summary = "Shu and Osher's method of order 3, strong-stability-preserving";
  entry.citation =
      "C.-W. Shu, S. Osher, Efficient implementation of essentially non-oscillatory shock-capturing schemes, J. "
      "Comput. Phys. 77 (1988) 439-471";
  entry.order = 3;
  entry.stability_radius = 2.512;
  entry.properties = {"strong-stability-preserving"};
  return explicit_runge_kutta(
      entry, exact_tableau({.a = {{}, {"1"}, {"1/4", "1/4"}}, .b = {"1/6", "1/6", "2/3"}, .c = {"0", "1", "1/2"}}));
}

}  // namespace daedalus::integrate
