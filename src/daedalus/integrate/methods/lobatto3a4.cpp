// The course notes "DAE notes", (1.43): collocation at the ends and the middle.
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_lobatto3a4() {
  IntegratorEntry entry;
  entry.name = "lobatto3a4";
  entry.summary = "Lobatto IIIA with three stages: order 4, symmetric";
  entry.citation =
      "B. L. Ehle, On Pade approximations to the exponential function and A-stable methods for the numerical solution "
      "of initial value problems, Report CSRR 2010, University of Waterloo (1969)";
  entry.order = 4;
  entry.properties = {"A-stable", "symmetric", "stiffly accurate"};
  entry.highest_index = 2;
  entry.index1_orders = {4, 4};
  entry.index2_orders = {4, 2};
  return implicit_runge_kutta(entry,
                              exact_tableau({.a = {{"0", "0", "0"}, {"5/24", "1/3", "-1/24"}, {"1/6", "2/3", "1/6"}},
                                             .b = {"1/6", "2/3", "1/6"},
                                             .c = {"0", "1/2", "1"}}));
}

}  // namespace daedalus::integrate
