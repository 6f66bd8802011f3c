// The overdetermined system of index 1: constraints on all three levels, no further multiplier,
//     q' = v,   M v' = f - G^T lambda,                                                   (17) of 001
//     g(q, t) = 0,   G v + g_t = 0,   G M^-1 (f - G^T lambda) = gamma,
// more equations than unknowns. In every Newton step A_1 is the part with the acceleration level and A_2 the other two.

#include "daedalus/formulate/several_levels.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_overdetermined_index1() {
  constexpr mechanics::Level highest = mechanics::Level::acceleration;
  FormulationEntry entry;
  entry.name = "overdetermined-index1";
  entry.summary = "constraints on all three levels as more equations than unknowns: no drift";
  entry.citation = "Fuehrer 1988; Fuehrer, Leimkuhler 1991, (17)";
  entry.kinds = {"lagrangian", "mechanical"};
  entry.index = 1;
  entry.views = {integrate::View::overdetermined};
  entry.options = level_options(highest);
  entry.options.push_back(corrector_option());
  entry.make = [](const Equations& equations, integrate::View, const Options& options) {
    return overdetermined_motion(equations, highest, options);
  };
  return entry;
}

}  // namespace daedalus::formulate
