// Index reduction with projection: after every step the state goes back to the constraints, first the positions,
//     min |q - q~|_M  subject to  g(q, t) = 0,              (4.24) of the notes 000, in the mass norm
// then the velocities,
//     min |v - v~|_M  subject to  G v + g_t = 0.            (4.25)
// Either of the two may be left out; |.| may be the Euclidean norm, as the notes have it; and a bound may say how large
// a residual is left alone. [invariants] of the model join them; a DAE has these alone (see invariant_projection.cpp).
// Optionally the error estimate loses the part that the projection removes (Eich 1993): fewer
// steps, but on the pendulum of the notes the error grows by 1.2 to 2.6, so it is not the default.

#include "daedalus/formulate/acceleration_level.hpp"
#include "daedalus/formulate/array_motion.hpp"
#include "daedalus/formulate/first_order.hpp"
#include "daedalus/formulate/implicit_motion.hpp"
#include "daedalus/formulate/invariant_projection.hpp"
#include "daedalus/formulate/mechanical_view.hpp"
#include "daedalus/formulate/solved_level.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

Formulated projected_dae(const Equations& equations, integrate::View view) {
  Formulated result = first_order(equations, view);
  keep_invariants(result, equations);
  return result;
}

/// Invariants are kept beside all constraints or not at all, and a DAE has nothing else.
void check_options(const Equations& equations, const Options& options) {
  const bool partial = options.word("what") != "both" || options.number("above") > 0.0;
  if (equations.dae && (partial || options.word("norm") != "mass"))
    throw Error("bad-option-value", "the options what, norm and above of projection are about motion, and the model is a DAE",
                "leave them out");
  if (equations.motion && partial && !equations.motion->equations.model->invariants.empty())
    throw Error("bad-option-value",
                "the model has [invariants], which projection keeps together with positions and velocities after every step",
                "leave the options what and above out");
}

bool projects_all(const Options& options) { return options.word("what") == "both" && options.number("above") == 0.0; }

void choose_projection(Formulated& formulated, const Options& options) {
  const std::string &what = options.word("what"), &norm = options.word("norm");
  const double bound = options.number("above");
  if (what == "both" && norm == "mass" && bound == 0.0) return;
  Projections parts = formulated.projections(norm == "mass" ? Metric::mass : Metric::euclidean);
  if (what == "velocity") parts.positions = nullptr;
  if (what == "position") parts.velocities = nullptr;
  formulated.system.project = [parts, bound](double t, double* x) {
    // A violation that is not a number goes to the projection, which can explain it.
    if (bound > 0.0 && parts.violation(t, x) <= bound) return Evaluation::ok;
    const Evaluation outcome = parts.positions ? parts.positions(t, x) : Evaluation::ok;
    return outcome == Evaluation::ok && parts.velocities ? parts.velocities(t, x) : outcome;
  };
  formulated.system.projects_seldom = bound > 0.0;
}

}  // namespace

FormulationEntry formulation_projection() {
  FormulationEntry entry;
  entry.name = "projection";
  entry.summary = "positions and velocities are projected onto the constraints after every step, in the mass norm; states onto [invariants]";
  entry.citation = "Eich 1993; Lubich 1991; Bertolazzi, Cocetti, Stocco: DAE notes, section 4.3";
  entry.kinds = {"lagrangian", "mechanical", "dae", "linear"};
  entry.reduces = true;
  entry.takes_arrays = true;
  entry.keeps_invariants_of = entry.kinds;
  entry.index = 1;
  entry.views = {integrate::View::ode, integrate::View::second_order, integrate::View::implicit, integrate::View::automatic,
                 integrate::View::mechanical, integrate::View::series};
  entry.dae_views = {integrate::View::ode, integrate::View::implicit, integrate::View::automatic, integrate::View::series};
  entry.projects = true;
  entry.options = {
      {"what",
       "what is projected: positions and velocities, or one of them",
       std::nullopt,
       0.0,
       0.0,
       {"both", "position", "velocity"}},
      {"norm", "in which a projection changes the state least", std::nullopt, 0.0, 0.0, {"mass", "euclidean"}},
      {"above", "projects only where a residual exceeds this part of its largest term; 0 projects always", 0.0, 0.0,
       1.0},
      {"error",
       "what the error test sees: the whole estimate, or its part tangent to the constraints",
       std::nullopt,
       0.0,
       0.0,
       {"whole", "tangent"}}};
  entry.projects_with = projects_all;
  entry.make = [](const Equations& equations, integrate::View view, const Options& options) {
    check_options(equations, options);
    if (equations.array) return array_motion(equations);
    if (equations.dae) return projected_dae(equations, view);
    const bool constrained = equations.motion->m > 0;
    Formulated result =
        view == integrate::View::mechanical ? mechanical_motion(equations.motion) : in_view(equations, view, {});
    if (constrained)
      choose_projection(result, options);
    else
      result.system.project = nullptr;
    const bool usual = options.word("norm") == "mass" && options.word("error") == "whole" && projects_all(options);
    if (constrained && usual) solve_in_line(result, equations.motion);
    keep_invariants(result, equations);
    if (!constrained || options.word("error") == "whole") result.system.project_error = nullptr;
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
