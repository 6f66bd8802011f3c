// The course notes "DAE notes", (1.41), which call it second-order; two stages of Gauss have order 4. The second weight
// row printed there, 1/2 +- sqrt(3)/2, is a formula of order 1: as an error estimate it would hold a method of order 4
// to the steps of one of order 1, and it grows without bound with the stiffness. Step control doubles steps instead.
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_gauss4() {
  IntegratorEntry entry;
  entry.name = "gauss4";
  entry.summary = "Gauss-Legendre with two stages: order 4, symplectic";
  entry.citation = "J. C. Butcher, Implicit Runge-Kutta processes, Math. Comp. 18 (1964) 50-64";
  entry.order = 4;
  entry.properties = {"A-stable", "B-stable", "symplectic", "symmetric"};
  entry.highest_index = 2;
  entry.index1_orders = {4, 4};
  entry.index2_orders = {2, 0};
  entry.notes.push_back(
      "the course notes (1.41) call it second-order; it has order 4, and the second weight row there is a formula of "
      "order 1 that is not used");
  entry.notes.push_back(
      "on index 2 take fixed steps: the algebraic unknowns do not converge, step control leaves them out and may "
      "stall");
  return implicit_runge_kutta(entry, exact_tableau({.a = {{"1/4", "1/4 - sqrt(3)/6"}, {"1/4 + sqrt(3)/6", "1/4"}},
                                                    .b = {"1/2", "1/2"},
                                                    .c = {"1/2 - sqrt(3)/6", "1/2 + sqrt(3)/6"}}));
}

}  // namespace daedalus::integrate
