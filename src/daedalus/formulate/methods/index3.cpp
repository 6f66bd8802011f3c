// The equations of motion as they are,
//     q' = v,   M v' = f - G^T lambda,   g(q, t) = 0,
// of index 3 (nonholonomic constraints stand on the velocity level: index 2). Only methods that are made for it can take
// them: velocities and multipliers are the more sensitive to round-off the smaller the step is.

#include "daedalus/formulate/implicit_motion.hpp"
#include "daedalus/formulate/mechanical_view.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_index3() {
  FormulationEntry entry;
  entry.name = "index3";
  entry.summary = "constraints as they are given, on the position level: the unreduced equations of motion";
  entry.citation = "Fuehrer, Leimkuhler 1991, (1)-(3); Brenan, Campbell, Petzold 1996";
  entry.kinds = {"lagrangian", "mechanical"};
  entry.index = 3;
  entry.views = {integrate::View::implicit, integrate::View::mechanical};
  entry.make = [](const Equations& equations, integrate::View view, const Options&) {
    Formulated result = view == integrate::View::mechanical
                            ? mechanical_motion(equations.motion)
                            : implicit_motion(equations, mechanics::Level::position);
    result.system.project = nullptr;
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
