#pragma once

#include <memory>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/mechanics/evaluator.hpp"

namespace daedalus::formulate {

/// How accelerations follow from a state.
struct AccelerationRule {
  mechanics::Feedback feedback = {};  ///< of the residuals of constraints
  mechanics::KktChoice how = {};      ///< the KKT system is solved
};

/// The ODE x' = (v, a, z_d') with accelerations from the KKT system: what `index1`, `baumgarte`, `projection` and
/// others have in common.
Formulated acceleration_level(std::shared_ptr<const mechanics::Functions> functions, const AccelerationRule& rule);

/// Replaces the ODE of a system by that of `running`, which has an evaluator() of its own.
template <class Running>
void evaluate_with(Formulated& formulated, const std::shared_ptr<Running>& running) {
  formulated.system.ode = [running](double t, const double* x, double* dx) { return running->ode(t, x, dx); };
  formulated.system.explain = [running, inner = formulated.system.explain] {
    const std::string own = running->evaluator().explain();
    return own.empty() ? inner() : own;
  };
  formulated.guess = [running, inner = formulated.guess](const std::vector<double>& auxiliary) {
    running->evaluator().guess_auxiliary(auxiliary);
    inner(auxiliary);
  };
  formulated.freeze = [running, inner = formulated.freeze](const double* frozen) {
    running->evaluator().freeze(frozen);
    inner(frozen);
  };
  formulated.factorizations = [running] { return running->evaluator().factorizations(); };
}

}  // namespace daedalus::formulate
