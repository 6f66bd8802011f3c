#include "daedalus/integrate/families/lyapunov_scheme.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_lyapunov_explicit() {
  IntegratorEntry entry;
  entry.name = "lyapunov-explicit";
  entry.summary = "the formulation lyapunov in its normal form: explicit steps of the violations, any one-step method for the rest";
  entry.notes = {"violations decay where every gain k and the step T have k T > -2, which is checked at every step"};
  return lyapunov_scheme(std::move(entry), XiStep::explicit_step);
}

}  // namespace daedalus::integrate
