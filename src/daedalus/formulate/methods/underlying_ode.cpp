// The multipliers are eliminated,
//     lambda = H^-1 (G M^-1 f - gamma),   H = G M^-1 G^T,                  (8) of Fuehrer and Leimkuhler 1991
// and what is left is an ordinary differential equation,
//     q' = v,   v' = M^-1 (f - G^T lambda),   z' = r(t, x).                (9)
// It is the equation of `index1` in exact arithmetic, so that explicit methods compute the same; to implicit methods it
// is an ODE, where index1 keeps multipliers among the unknowns. Like index1 it drifts. (8) needs a regular M: where M
// is singular, M + G^T S G takes its place, which changes nothing where G a = gamma.

#include "daedalus/formulate/explicit_motion.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_underlying_ode() {
  FormulationEntry entry;
  entry.name = "underlying-ode";
  entry.summary = "multipliers eliminated through G M^-1 G^T: an ODE, to implicit methods too; drifts";
  entry.citation = "Fuehrer, Leimkuhler 1991, (8)-(9); Bertolazzi, Cocetti, Stocco: DAE notes, appendix A";
  entry.kinds = {"lagrangian", "mechanical"};
  entry.index = 0;
  entry.views = {integrate::View::ode, integrate::View::second_order, integrate::View::implicit,
                 integrate::View::automatic};
  entry.make = [](const Equations& equations, integrate::View view, const Options&) {
    Formulated result = explicit_motion(equations, view, {{}, {linalg::KktSolver::Backend::schur}});
    result.system.project = nullptr;
    result.system.project_error = nullptr;
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
