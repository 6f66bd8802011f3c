// The local state-space form (13)-(16) of Fuehrer and Leimkuhler 1991 by coordinate partitioning: some of the coordinates,
// q = (y, w), are integrated, and the others follow from the constraints,
//     g(y, w, t) = 0  for w,     G_y y' + G_w w' + g_t = 0  for w',
// so that every constraint holds to round-off. Which are the independent ones is decided by pivoting on G in the metric of
// the masses; where G_w becomes ill conditioned, others are chosen. Section 4.4 of the notes 000 leaves this open.

#include "daedalus/formulate/state_space.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_partition() {
  FormulationEntry entry;
  entry.name = "partition";
  entry.summary = "independent coordinates are integrated, the others follow from the constraints; chosen anew while running";
  entry.citation = "Wehage, Haug 1982; Fuehrer, Leimkuhler 1991, (13)-(16)";
  entry.kinds = {"lagrangian", "mechanical"};
  entry.index = 0;
  entry.projects = true;
  entry.views = {integrate::View::ode, integrate::View::automatic};
  entry.options = {{"show", "what rows show: the motion, or also which coordinates are independent (1 or 0)", std::nullopt, 0.0,
                    0.0, {"motion", "choice"}}};
  entry.make = [](const Equations& equations, integrate::View, const Options& options) {
    return state_space(equations, LocalBasis::Kind::coordinates,
                       options.word("show") == "choice" ? Shown::choice : Shown::motion);
  };
  return entry;
}

}  // namespace daedalus::formulate
