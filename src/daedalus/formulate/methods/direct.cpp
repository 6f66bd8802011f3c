// A DAE as its author wrote it, F(t, y, y') = 0. Of index 1 at most, any method can take it; of index 2 and 3, those that
// are made for it: errors of an unknown of index k appear divided by h^(k-1).

#include "daedalus/formulate/first_order.hpp"
#include "daedalus/formulate/unreduced.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_direct() {
  FormulationEntry entry;
  entry.name = "direct";
  entry.summary = "the equations of a DAE as they are given; above index 1 by implicit methods that take such systems";
  entry.citation = "Brenan, Campbell, Petzold: Numerical Solution of Initial-Value Problems in DAEs, 1996";
  entry.kinds = {"dae", "linear"};
  entry.takes_any_index = true;
  entry.index = 1;
  entry.views = {integrate::View::ode, integrate::View::implicit, integrate::View::automatic, integrate::View::series};
  entry.make = [](const Equations& equations, integrate::View view, const Options&) {
    return equations.written ? unreduced(equations) : first_order(equations, view);
  };
  return entry;
}

}  // namespace daedalus::formulate
