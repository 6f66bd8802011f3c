// Index reduction with projection: after every step the state goes back to the constraints, first the positions,
//     min |q - q~|_M  subject to  g(q, t) = 0,              (4.24) of the notes 000, in the mass norm
// then the velocities,
//     min |v - v~|_M  subject to  G v + g_t = 0.            (4.25)
// [invariants] of the model join them; a DAE has these alone (see invariant_projection.cpp).
// Optionally the error estimate loses the part that the projection removes (Eich 1993): fewer steps, but on the pendulum
// of the notes the error grows by 1.2 to 2.6, so it is not the default.

#include "daedalus/formulate/acceleration_level.hpp"
#include "daedalus/formulate/first_order.hpp"
#include "daedalus/formulate/implicit_motion.hpp"
#include "daedalus/formulate/invariant_projection.hpp"
#include "daedalus/formulate/mechanical_view.hpp"

namespace daedalus::formulate {

namespace {

Formulated projected_dae(const Equations& equations, integrate::View view) {
  Formulated result = first_order(equations, view);
  keep_invariants(result, equations);
  integrate::System& system = result.system;
  // The algebraic unknowns of the state follow.
  if (view == integrate::View::implicit && system.complete && system.dimension > system.leading)
    system.project = [project = system.project, complete = system.complete](double t, double* y) {
      const integrate::Evaluation outcome = project(t, y);
      return outcome == integrate::Evaluation::ok ? complete(t, y) : outcome;
    };
  return result;
}

}  // namespace

FormulationEntry formulation_projection() {
  FormulationEntry entry;
  entry.name = "projection";
  entry.summary = "positions and velocities are projected onto the constraints after every step, in the mass norm; states onto [invariants]";
  entry.citation = "Eich 1993; Lubich 1991; Bertolazzi, Cocetti, Stocco: DAE notes, section 4.3";
  entry.kinds = {"lagrangian", "mechanical", "dae", "linear"};
  entry.keeps_invariants_of = entry.kinds;
  entry.index = 1;
  entry.views = {integrate::View::ode, integrate::View::second_order, integrate::View::implicit, integrate::View::automatic,
                 integrate::View::mechanical};
  entry.dae_views = {integrate::View::ode, integrate::View::implicit, integrate::View::automatic};
  entry.projects = true;
  entry.options = {{"error", "what the error test sees: the whole estimate, or its part tangent to the constraints",
                    std::nullopt, 0.0, 0.0, {"whole", "tangent"}}};
  entry.make = [](const Equations& equations, integrate::View view, const Options& options) {
    if (equations.dae) return projected_dae(equations, view);
    const bool constrained = equations.motion->m > 0;
    Formulated result = view == integrate::View::mechanical ? mechanical_motion(equations.motion)
                                                            : in_view(equations, view, {});
    if (!constrained) result.system.project = nullptr;
    keep_invariants(result, equations);
    if (!constrained || options.word("error") == "whole") result.system.project_error = nullptr;
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
