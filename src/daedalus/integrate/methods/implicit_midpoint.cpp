// The course notes "DAE notes", (1.39); it has one stage, not two as said there. It is the one-stage Gauss method.
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_implicit_midpoint() {
  IntegratorEntry entry;
  entry.name = "implicit-midpoint";
  entry.summary = "The implicit midpoint rule: order 2, symplectic";
  entry.citation = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed. (2006), section VI.4";
  entry.order = 2;
  entry.properties = {"A-stable", "B-stable", "symplectic", "symmetric"};
  entry.highest_index = 2;
  entry.index1_orders = {2, 2};
  entry.index2_orders = {2, 0};
  entry.notes.push_back("the course notes (1.39) say two stages; it has one");
  entry.notes.push_back(
      "on index 2 take fixed steps: the algebraic unknowns do not converge, step control leaves them out and may "
      "stall");
  return implicit_runge_kutta(entry, exact_tableau({.a = {{"1/2"}}, .b = {"1"}, .c = {"1/2"}}));
}

}  // namespace daedalus::integrate
