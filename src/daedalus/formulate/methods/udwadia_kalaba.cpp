// Gauss's principle in one formula: among all accelerations that the constraints allow, the one nearest to the free
// one,
//     a = a_free + M^-1/2 (G M^-1/2)^+ (gamma - G a_free),   a_free = M^-1 f,          Udwadia and Kalaba 1992
// and, where M is singular, a = [(I - G^+ G) M; G]^+ [f; gamma] (Udwadia and Phohomsiri 2006). The pseudoinverse takes
// dependent constraints as they come; multipliers of least norm are computed for output only. As published the equation
// drifts like `index1`; by default its solution is projected onto the constraints after every step.
//
// Off the constraints, in the stages of a step, rows that depend on others are independent by a little. So the rank of
// G is that of the start, where the constraints hold.

#include "daedalus/formulate/explicit_motion.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_udwadia_kalaba() {
  FormulationEntry entry;
  entry.name = "udwadia-kalaba";
  entry.summary = "accelerations by a pseudoinverse, nearest to the free motion; projected after every step";
  entry.citation = "Udwadia, Kalaba 1992; Udwadia, Phohomsiri 2006";
  entry.kinds = {"lagrangian", "mechanical"};
  entry.index = 0;
  entry.views = {integrate::View::ode, integrate::View::second_order, integrate::View::implicit,
                 integrate::View::automatic};
  entry.projects = true;
  entry.options = {{"stabilization",
                    "what holds the constraints: a projection after every step, or nothing, as published",
                    std::nullopt,
                    0.0,
                    0.0,
                    {"projection", "none"}}};
  entry.projects_with = [](const Options& options) { return options.word("stabilization") != "none"; };
  entry.make = [](const Equations& equations, integrate::View view, const Options& options) {
    Formulated result = explicit_motion(equations, view, {{}, {linalg::KktSolver::Backend::pseudoinverse}});
    if (equations.motion->m == 0 || options.word("stabilization") == "none") result.system.project = nullptr;
    result.system.project_error = nullptr;
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
