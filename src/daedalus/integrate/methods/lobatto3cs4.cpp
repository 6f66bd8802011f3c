// The course notes "DAE notes", (1.46): Butcher's Lobatto III, the adjoint of III C in the sense of b_i a_ij + b_j
// a^_ji = b_i b_j. Its first stage and its last are explicit, so that its stability region is bounded. A is singular:
// on index 1 the algebraic unknowns of a stage follow from its differential ones, and a higher index is out of reach.
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_lobatto3cs4() {
  IntegratorEntry entry;
  entry.name = "lobatto3cs4";
  entry.summary = "Lobatto III C* with three stages: order 4, implicit in the middle stage only";
  entry.citation =
      "J. C. Butcher, Integration processes based on Radau quadrature formulas, Math. Comp. 18 (1964) 233-244";
  entry.order = 4;
  entry.properties = {};
  entry.highest_index = 1;
  entry.index1_orders = {4, 4};
  return implicit_runge_kutta(entry, exact_tableau({.a = {{"0", "0", "0"}, {"1/4", "1/4", "0"}, {"0", "1", "0"}},
                                                    .b = {"1/6", "2/3", "1/6"},
                                                    .c = {"0", "1/2", "1"}}));
}

}  // namespace daedalus::integrate
