// Index reduction by differentiation: the constraint is replaced by its second derivative,
//     [ M  G^T ] [ a      ]   [ f     ]
//     [ G   0  ] [ lambda ] = [ gamma ],        (4.7) of the notes 000, (B) of the slides 004,
// and nothing holds the solution on g = 0: g + c1 + c2 t has the same second derivative (004, "why there is the drift").
// The equations of a DAE are differentiated as often as their offsets say (structure/sigma_method.cpp).

#include "daedalus/formulate/acceleration_level.hpp"
#include "daedalus/formulate/first_order.hpp"
#include "daedalus/formulate/implicit_motion.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_index1() {
  FormulationEntry entry;
  entry.name = "index1";
  entry.summary = "constraints differentiated to accelerations, equations of a DAE to index 1, no stabilization: drifts";
  entry.citation = "Bertolazzi, Cocetti, Stocco: DAE notes, (4.7); Fuehrer, Leimkuhler 1991, (8)-(9)";
  entry.kinds = {"lagrangian", "mechanical", "dae", "linear"};
  entry.reduces = true;
  entry.index = 1;
  entry.views = {integrate::View::ode, integrate::View::second_order, integrate::View::implicit, integrate::View::automatic, integrate::View::series};
  entry.dae_views = {integrate::View::ode, integrate::View::implicit, integrate::View::automatic, integrate::View::series};
  entry.make = [](const Equations& equations, integrate::View view, const Options&) {
    if (equations.dae) return first_order(equations, view);
    Formulated result = in_view(equations, view, {});
    result.system.project = nullptr;
    result.system.project_error = nullptr;
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
