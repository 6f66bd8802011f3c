// The course notes "DAE notes", (1.44). A is singular: on index 1 the algebraic unknowns of a stage follow from its
// differential ones, and a higher index is out of reach.
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_lobatto3b4() {
  IntegratorEntry entry;
  entry.name = "lobatto3b4";
  entry.summary = "Lobatto IIIB with three stages: order 4, symmetric";
  entry.citation =
      "B. L. Ehle, On Pade approximations to the exponential function and A-stable methods for the numerical solution "
      "of initial value problems, Report CSRR 2010, University of Waterloo (1969)";
  entry.order = 4;
  entry.properties = {"A-stable", "symmetric"};
  entry.highest_index = 1;
  entry.index1_orders = {4, 4};
  entry.notes.push_back("stiff components are badly served: errors of the stages are multiplied by h lambda");
  return implicit_runge_kutta(entry,
                              exact_tableau({.a = {{"1/6", "-1/6", "0"}, {"1/6", "1/3", "0"}, {"1/6", "5/6", "0"}},
                                             .b = {"1/6", "2/3", "1/6"},
                                             .c = {"0", "1/2", "1"}}));
}

}  // namespace daedalus::integrate
