// Baumgarte's stabilization: g'' = 0 is replaced by
//     g'' + 2 alpha g' + beta^2 g = 0,     with alpha = xi omega, beta = omega as in (4.17) of the notes 000,
// so that a violation decays. A nonholonomic constraint c = 0 is replaced by c' + alpha c = 0. ((4.21), (4.22) of the notes
// drop one of the two mixed terms of rheonomic constraints; gamma here has both.) [invariants] of a DAE are replaced by
// c' + alpha c = 0 too: see invariant_feedback.cpp.

#include "daedalus/formulate/acceleration_level.hpp"
#include "daedalus/formulate/implicit_motion.hpp"
#include "daedalus/formulate/invariant_feedback.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_baumgarte() {
  FormulationEntry entry;
  entry.name = "baumgarte";
  entry.summary = "constraint violations decay like a damped oscillator: g'' + 2 alpha g' + beta^2 g = 0";
  entry.citation = "Baumgarte 1972; Bertolazzi, Cocetti, Stocco: DAE notes, (4.17)-(4.23)";
  entry.kinds = {"lagrangian", "mechanical", "dae", "linear"};
  entry.keeps_invariants_of = {"dae", "linear"};
  entry.index = 1;
  entry.views = {integrate::View::ode, integrate::View::second_order, integrate::View::implicit, integrate::View::automatic};
  entry.dae_views = {integrate::View::ode};
  entry.options = {
      {"alpha", "half the damping of the constraint equation; default xi*omega", std::nullopt, 0.0},
      {"beta", "its natural frequency; default omega", std::nullopt, 0.0},
      {"omega", "natural frequency of the constraint equation", 10.0, 0.0},
      {"xi", "damping ratio of the constraint equation; 1 is critical", 1.0, 0.0},
  };
  entry.make = [](const Equations& equations, integrate::View view, const Options& options) {
    const bool poles = options.given("omega") || options.given("xi");
    if (poles && (options.given("alpha") || options.given("beta")))
      throw Error("bad-option-value", "baumgarte takes alpha and beta, or omega and xi, not both pairs",
                  "write baumgarte:alpha=5,beta=5 or baumgarte:omega=5,xi=1");
    double beta = options.number("omega"), alpha = options.number("xi") * beta;
    if (options.given("alpha") && options.given("beta")) {
      alpha = options.number("alpha");
      beta = options.number("beta");
    } else if (options.given("alpha")) {
      alpha = beta = options.number("alpha");  // the critically damped partner
    } else if (options.given("beta")) {
      alpha = beta = options.number("beta");
    }
    if (equations.dae) return invariant_feedback(equations, alpha);
    Formulated result = in_view(equations, view, {beta * beta, 2.0 * alpha, alpha});
    result.system.project = nullptr;
    result.system.project_error = nullptr;
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
