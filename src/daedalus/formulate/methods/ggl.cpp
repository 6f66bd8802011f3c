// The stabilized form of index 2 of Gear, Gupta and Leimkuhler: constraints on the position and on the velocity level,
//     q' = v - G^T mu,   M v' = f - G^T lambda,   g(q, t) = 0,   G v + g_t = 0,          (43)-(46) of 001
// with a second multiplier mu that vanishes in the exact solution. With weight=mass the first equation is
// M (q' - v) + G^T mu = 0. Nonholonomic constraints have no position level and no mu.

#include "daedalus/formulate/several_levels.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_ggl() {
  FormulationEntry entry;
  entry.name = "ggl";
  entry.summary = "constraints on position and velocity level, the former held by a second multiplier: no drift";
  entry.citation =
      "Gear, Gupta, Leimkuhler: Automatic integration of Euler-Lagrange equations with constraints, 1985; Fuehrer, "
      "Leimkuhler 1991, (43)-(46)";
  entry.kinds = {"lagrangian", "mechanical"};
  entry.index = 2;
  entry.views = {integrate::View::implicit};
  entry.options = level_options(mechanics::Level::velocity);
  entry.make = [](const Equations& equations, integrate::View, const Options& options) {
    return stabilized_motion(equations, mechanics::Level::velocity, options);
  };
  return entry;
}

}  // namespace daedalus::formulate
