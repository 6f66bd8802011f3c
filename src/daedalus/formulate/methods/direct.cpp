// A DAE as its author wrote it, F(t, y, y') = 0, of index 1 at most.

#include "daedalus/formulate/first_order.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_direct() {
  FormulationEntry entry;
  entry.name = "direct";
  entry.summary = "the equations of a DAE as they are given, of index 1 at most";
  entry.citation = "Brenan, Campbell, Petzold: Numerical Solution of Initial-Value Problems in DAEs, 1996";
  entry.kinds = {"dae", "linear"};
  entry.index = 1;
  entry.views = {integrate::View::ode, integrate::View::implicit, integrate::View::automatic};
  entry.make = [](const Equations& equations, integrate::View view, const Options&) { return first_order(equations, view); };
  return entry;
}

}  // namespace daedalus::formulate
