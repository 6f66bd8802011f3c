#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_explicit_euler() {
  IntegratorEntry entry;
  entry.name = "explicit-euler";
  entry.summary = "Euler's explicit method: one evaluation per step";
  entry.citation = "L. Euler, Institutionum calculi integralis I (1768), section II, chapter VII";
  entry.order = 1;
  entry.stability_radius = 2.0;
  return explicit_runge_kutta(entry, exact_tableau({.a = {{}}, .b = {"1"}, .c = {"0"}}));
}

}  // namespace daedalus::integrate
