// The course notes "DAE notes", (1.42). The second weight row printed there, (-5/6, 8/3, -5/6), is a formula of order
// 2; see gauss4.cpp for why it does not estimate the error.
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_gauss6() {
  IntegratorEntry entry;
  entry.name = "gauss6";
  entry.summary = "Gauss-Legendre with three stages: order 6, symplectic";
  entry.citation = "J. C. Butcher, Implicit Runge-Kutta processes, Math. Comp. 18 (1964) 50-64";
  entry.order = 6;
  entry.properties = {"A-stable", "B-stable", "symplectic", "symmetric"};
  entry.highest_index = 2;
  entry.index1_orders = {6, 6};
  entry.index2_orders = {4, 2};
  entry.notes.push_back("the second weight row of the course notes (1.42) is a formula of order 2 that is not used");
  entry.notes.push_back(
      "on index 2 take fixed steps: errors are kept from step to step, so that step control may stall");
  return implicit_runge_kutta(entry, exact_tableau({.a = {{"5/36", "2/9 - sqrt(15)/15", "5/36 - sqrt(15)/30"},
                                                          {"5/36 + sqrt(15)/24", "2/9", "5/36 - sqrt(15)/24"},
                                                          {"5/36 + sqrt(15)/30", "2/9 + sqrt(15)/15", "5/36"}},
                                                    .b = {"5/18", "4/9", "5/18"},
                                                    .c = {"1/2 - sqrt(15)/10", "1/2", "1/2 + sqrt(15)/10"}}));
}

}  // namespace daedalus::integrate
