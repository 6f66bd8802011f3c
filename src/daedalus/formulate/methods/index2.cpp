// The constraints differentiated once,
//     q' = v,   M v' = f - G^T lambda,   G v + g_t = 0,
// of index 2. Velocities hold their constraint; positions drift linearly with the errors of the steps.

#include "daedalus/formulate/implicit_motion.hpp"
#include "daedalus/formulate/mechanical_view.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_index2() {
  FormulationEntry entry;
  entry.name = "index2";
  entry.summary = "constraints differentiated once, to the velocity level: positions drift slowly";
  entry.citation = "Fuehrer, Leimkuhler 1991, (5); Hairer, Lubich, Roche 1989";
  entry.kinds = {"lagrangian", "mechanical"};
  entry.index = 2;
  entry.views = {integrate::View::implicit, integrate::View::mechanical};
  entry.make = [](const Equations& equations, integrate::View view, const Options&) {
    Formulated result = view == integrate::View::mechanical
                            ? mechanical_motion(equations.motion)
                            : implicit_motion(equations, mechanics::Level::velocity);
    result.system.project = nullptr;
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
