// The course notes "DAE notes", (1.45).
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_lobatto3c4() {
  IntegratorEntry entry;
  entry.name = "lobatto3c4";
  entry.summary = "Lobatto IIIC with three stages: order 4, damps everything stiff";
  entry.citation = "F. H. Chipman, A-stable Runge-Kutta processes, BIT 11 (1971) 384-388";
  entry.order = 4;
  entry.properties = {"A-stable", "L-stable", "B-stable", "stiffly accurate"};
  entry.highest_index = 3;
  entry.index1_orders = {4, 4};
  entry.index2_orders = {4, 2};
  entry.index3_orders = {4, 2, 1};
  return implicit_runge_kutta(
      entry, exact_tableau({.a = {{"1/6", "-1/3", "1/6"}, {"1/6", "5/12", "-1/12"}, {"1/6", "2/3", "1/6"}},
                            .b = {"1/6", "2/3", "1/6"},
                            .c = {"0", "1/2", "1"}}));
}

}  // namespace daedalus::integrate
