// A penalty on violated constraints, and multipliers that take over what the penalty leaves:
//     (M + G^T alpha G) a = f + G^T alpha (gamma - 2 mu Omega (G v + g_t) - Omega^2 g) - G^T lambda,
//     lambda <- lambda + alpha (G a - gamma + 2 mu Omega (G v + g_t) + Omega^2 g)
// until nothing changes: Bayo, Garcia de Jalon, Serna 1988. The matrix is definite for dependent constraints and for
// masses that only the constraints make definite. After every step positions and velocities go back to the constraints
// by the same iteration, mass-orthogonal projections after Bayo and Ledesma 1996, and Omega has nothing left to do: it is 0
// then. Without them it is 10.

#include "daedalus/formulate/explicit_motion.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_augmented_lagrangian() {
  FormulationEntry entry;
  entry.name = "augmented-lagrangian";
  entry.summary = "a penalty with iterated multipliers; projected by the same iteration after every step";
  entry.citation = "Bayo, Garcia de Jalon, Serna 1988; Bayo, Ledesma 1996";
  entry.kinds = {"lagrangian", "mechanical"};
  entry.index = 0;
  entry.views = {integrate::View::ode, integrate::View::second_order, integrate::View::implicit,
                 integrate::View::automatic};
  entry.projects = true;
  entry.options = {
      {"penalty", "alpha, in units of the masses that a constraint moves", 1e6, 1.0, 1e12},
      {"omega", "natural frequency with which violations decay; default 10 without projections, 0 with them", std::nullopt, 0.0},
      {"mu", "its damping ratio; 1 is critical", 1.0, 0.0},
      {"projection",
       "what is projected after every step: positions and velocities, or nothing",
       std::nullopt,
       0.0,
       0.0,
       {"both", "none"}},
  };
  entry.projects_with = [](const Options& options) { return options.word("projection") != "none"; };
  entry.make = [](const Equations& equations, integrate::View view, const Options& options) {
    const bool projected = options.word("projection") != "none";
    const double omega = options.given("omega") ? options.number("omega") : projected ? 0.0 : 10.0;
    const double damping = options.number("mu") * omega;
    Formulated result = explicit_motion(
        equations, view,
        {{omega * omega, 2.0 * damping, damping}, {linalg::KktSolver::Backend::penalty, options.number("penalty")}});
    if (equations.motion->m == 0 || !projected) result.system.project = nullptr;
    result.system.project_error = nullptr;
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
