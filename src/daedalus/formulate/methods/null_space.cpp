// The state-space form in coordinates of the tangent space, after Potra and Rheinboldt 1991, Yen 1993: with an orthonormal
// basis N_0 of ker G at the point q_0 and the metric W of the masses,
//     q = q_0 + N_0 y + W^-1 G_0^T mu,   g(q, t) = 0  for mu,     v = N_0 y' + W^-1 G_0^T nu,   G v + g_t = 0  for nu,
// is a parametrization of the constraints near q_0 whatever the coordinates are. Where the tangent space has turned away
// from N_0 it is taken anew.

#include "daedalus/formulate/state_space.hpp"

namespace daedalus::formulate {

FormulationEntry formulation_null_space() {
  FormulationEntry entry;
  entry.name = "null-space";
  entry.summary = "motions along an orthonormal basis of the tangent space are integrated; taken anew while running";
  entry.citation =
      "Potra, Rheinboldt 1991; Yen 1993: Constrained equations of motion in multibody dynamics as ODEs on manifolds, SIAM J. "
      "Numer. Anal. 30";
  entry.kinds = {"lagrangian", "mechanical"};
  entry.index = 0;
  entry.projects = true;
  entry.views = {integrate::View::ode, integrate::View::automatic};
  entry.make = [](const Equations& equations, integrate::View, const Options&) {
    return state_space(equations, LocalBasis::Kind::tangent);
  };
  return entry;
}

}  // namespace daedalus::formulate
