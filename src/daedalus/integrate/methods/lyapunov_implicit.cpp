#include "daedalus/integrate/families/lyapunov_scheme.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_lyapunov_implicit() {
  IntegratorEntry entry;
  entry.name = "lyapunov-implicit";
  entry.summary = "the formulation lyapunov in its normal form: implicit steps of the violations, any one-step method for the rest";
  entry.notes = {"violations decay for every step size, as long as the method for the zero dynamics does not overflow"};
  return lyapunov_scheme(std::move(entry), XiStep::implicit_step);
}

}  // namespace daedalus::integrate
