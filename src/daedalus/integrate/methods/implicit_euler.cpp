// The course notes "DAE notes", (1.38): the one-stage Radau IIA method. On index 3 the multiplier is wrong by O(1) in
// the first two steps and after every change of the step size, and converges with constant steps after them.
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_implicit_euler() {
  IntegratorEntry entry;
  entry.name = "implicit-euler";
  entry.summary = "Euler's implicit method: order 1, damps everything stiff";
  entry.citation = "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), section IV.3";
  entry.order = 1;
  entry.properties = {"A-stable", "L-stable", "B-stable", "stiffly accurate"};
  entry.highest_index = 3;
  entry.index1_orders = {1, 1};
  entry.index2_orders = {1, 1};
  entry.index3_orders = {1, 1, 1};
  return implicit_runge_kutta(entry, exact_tableau({.a = {{"1"}}, .b = {"1"}, .c = {"1"}}));
}

}  // namespace daedalus::integrate
