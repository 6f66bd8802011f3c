// The course notes "DAE notes", (1.48), where it is called Radau II. Variable order and step size: method radau.
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_radau2a5() {
  IntegratorEntry entry;
  entry.name = "radau2a5";
  entry.summary = "Radau IIA with three stages: order 5, damps everything stiff, takes index 3";
  entry.citation = "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), section IV.5";
  entry.order = 5;
  entry.properties = {"A-stable", "L-stable", "B-stable", "stiffly accurate"};
  entry.highest_index = 3;
  entry.index1_orders = {5, 5};
  entry.index2_orders = {5, 3};
  entry.index3_orders = {5, 3, 2};
  entry.notes.push_back("the course notes (1.48) call it Radau II");
  return implicit_runge_kutta(
      entry, exact_tableau({.a = {{"11/45 - 7*sqrt(6)/360", "37/225 - 169*sqrt(6)/1800", "-2/225 + sqrt(6)/75"},
                                  {"37/225 + 169*sqrt(6)/1800", "11/45 + 7*sqrt(6)/360", "-2/225 - sqrt(6)/75"},
                                  {"4/9 - sqrt(6)/36", "4/9 + sqrt(6)/36", "1/9"}},
                            .b = {"4/9 - sqrt(6)/36", "4/9 + sqrt(6)/36", "1/9"},
                            .c = {"2/5 - sqrt(6)/10", "2/5 + sqrt(6)/10", "1"}}));
}

}  // namespace daedalus::integrate
