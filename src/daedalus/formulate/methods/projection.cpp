// Index reduction with projection: after every step the state goes back to the constraints, first the positions,
//     min |q - q~|_M  subject to  g(q, t) = 0,              (4.24) of the notes 000, in the mass norm
// then the velocities,
//     min |v - v~|_M  subject to  G v + g_t = 0.            (4.25)
// Optionally the error estimate loses the part that the projection removes (Eich 1993): fewer steps, but on the pendulum
// of the notes the error grows by 1.2 to 2.6, so it is not the default.

#include "daedalus/formulate/acceleration_level.hpp"
#include "daedalus/formulate/implicit_motion.hpp"
#include "daedalus/formulate/mechanical_view.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_projection() {
  FormulationEntry entry;
  entry.name = "projection";
  entry.summary = "positions and velocities are projected onto the constraints after every step, in the mass norm";
  entry.citation = "Eich 1993; Lubich 1991; Bertolazzi, Cocetti, Stocco: DAE notes, section 4.3";
  entry.kinds = {"lagrangian", "mechanical"};
  entry.index = 1;
  entry.views = {integrate::View::ode, integrate::View::second_order, integrate::View::implicit, integrate::View::automatic,
                 integrate::View::mechanical};
  entry.projects = true;
  entry.options = {{"error", "what the error test sees: the whole estimate, or its part tangent to the constraints",
                    std::nullopt, 0.0, 0.0, {"whole", "tangent"}}};
  entry.make = [](const Equations& equations, integrate::View view, const Options& options) {
    const bool constrained = equations.motion->m > 0;
    Formulated result = view == integrate::View::mechanical ? mechanical_motion(equations.motion)
                                                            : in_view(equations, view, {});
    if (!constrained) result.system.project = nullptr;
    if (!constrained || options.word("error") == "whole") result.system.project_error = nullptr;
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
