// The stabilized form of index 1: constraints on all three levels,
//     q' = v - G^T mu - (G v + g_t)_q^T eta,   M v' = f - G^T lambda - G^T eta,          (31), (32) of 001
//     g(q, t) = 0,   G v + g_t = 0,   G M^-1 (f - G^T lambda) = gamma,                   (33)-(35)
// with multipliers mu and eta that vanish in the exact solution. lambda is determined by (35), which does not contain
// v', as in equations of index 1; mu and eta make the index of the whole 2. The accelerations are unknowns of their
// own: mechanics/stabilized.cpp.

#include "daedalus/formulate/several_levels.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_stabilized_index1() {
  FormulationEntry entry;
  entry.name = "stabilized-index1";
  entry.summary =
      "constraints on position, velocity and acceleration level, the lower two held by multipliers: no drift";
  entry.citation = "Fuehrer, Leimkuhler 1991, (31)-(35)";
  entry.kinds = {"lagrangian", "mechanical"};
  entry.index = 2;
  entry.views = {integrate::View::implicit};
  entry.options = level_options(mechanics::Level::acceleration);
  entry.make = [](const Equations& equations, integrate::View, const Options& options) {
    return stabilized_motion(equations, mechanics::Level::acceleration, options);
  };
  return entry;
}

}  // namespace daedalus::formulate
