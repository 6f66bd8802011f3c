// The overdetermined system of index 2: constraints on the position and on the velocity level, no further multiplier,
//     q' = v,   M v' = f - G^T lambda,   g(q, t) = 0,   G v + g_t = 0,          (47) of 001
// more equations than unknowns. In every Newton step A_1 is the part with the velocity level and A_2 the position
// level. (48) of 001 omits Gamma = (G v + g_t)_q in the third row of A_1, which costs iterations and changes nothing
// else; here it is there.

#include "daedalus/formulate/several_levels.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_overdetermined_index2() {
  constexpr mechanics::Level highest = mechanics::Level::velocity;
  FormulationEntry entry;
  entry.name = "overdetermined-index2";
  entry.summary = "constraints on position and velocity level as more equations than unknowns: no drift";
  entry.citation = "Fuehrer, Leimkuhler 1991, (47)";
  entry.kinds = {"lagrangian", "mechanical"};
  entry.index = 2;
  entry.views = {integrate::View::overdetermined};
  entry.options = level_options(highest);
  entry.options.push_back(corrector_option());
  entry.make = [](const Equations& equations, integrate::View, const Options& options) {
    return overdetermined_motion(equations, highest, options);
  };
  return entry;
}

}  // namespace daedalus::formulate
