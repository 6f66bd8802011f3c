// The course notes "DAE notes", (1.40): the two-stage Lobatto IIIA method.
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_crank_nicolson() {
  IntegratorEntry entry;
  entry.name = "crank-nicolson";
  entry.summary = "The implicit trapezoidal rule of Crank and Nicolson: order 2, symmetric";
  entry.citation =
      "J. Crank, P. Nicolson, A practical method for numerical evaluation of solutions of partial differential "
      "equations of the heat-conduction type, Proc. Cambridge Phil. Soc. 43 (1947) 50-67";
  entry.order = 2;
  entry.properties = {"A-stable", "symmetric", "stiffly accurate"};
  entry.highest_index = 2;
  entry.index1_orders = {2, 2};
  entry.index2_orders = {2, 2};
  return implicit_runge_kutta(entry,
                              exact_tableau({.a = {{"0", "0"}, {"1/2", "1/2"}}, .b = {"1/2", "1/2"}, .c = {"0", "1"}}));
}

}  // namespace daedalus::integrate
