// The course notes "DAE notes", (1.47).
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_radau1a5() {
  IntegratorEntry entry;
  entry.name = "radau1a5";
  entry.summary = "Radau IA with three stages: order 5, damps everything stiff";
  entry.citation =
      "B. L. Ehle, On Pade approximations to the exponential function and A-stable methods for the numerical solution "
      "of initial value problems, Report CSRR 2010, University of Waterloo (1969)";
  entry.order = 5;
  entry.properties = {"A-stable", "L-stable", "B-stable"};
  entry.highest_index = 3;
  entry.index1_orders = {5, 5};
  entry.index2_orders = {3, 2};
  entry.index3_orders = {3, 2, 1};
  return implicit_runge_kutta(entry, exact_tableau({.a = {{"1/9", "(-1 - sqrt(6))/18", "(-1 + sqrt(6))/18"},
                                                          {"1/9", "11/45 + 7*sqrt(6)/360", "11/45 - 43*sqrt(6)/360"},
                                                          {"1/9", "11/45 + 43*sqrt(6)/360", "11/45 - 7*sqrt(6)/360"}},
                                                    .b = {"1/9", "4/9 + sqrt(6)/36", "4/9 - sqrt(6)/36"},
                                                    .c = {"0", "3/5 - sqrt(6)/10", "3/5 + sqrt(6)/10"}}));
}

}  // namespace daedalus::integrate
