#include "daedalus/formulate/acceleration_level.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;
using mechanics::Evaluator;
using mechanics::Outcome;

Formulated acceleration_level(std::shared_ptr<const mechanics::Functions> functions,
                              const mechanics::Feedback& feedback) {
  Formulated result;
  auto running = std::make_shared<Evaluator>(functions);
  integrate::System& system = result.system;
  system.dimension = functions->dimension();
  system.coordinates = functions->n;
  system.names = functions->state_names();
  system.ode = [running, feedback](double t, const double* x, double* dx) {
    return static_cast<Evaluation>(running->ode(t, x, dx, feedback));
  };
  static_assert(static_cast<int>(Evaluation::singular) == static_cast<int>(Outcome::singular) &&
                static_cast<int>(Evaluation::not_finite) == static_cast<int>(Outcome::not_finite) &&
                static_cast<int>(Evaluation::no_convergence) == static_cast<int>(Outcome::no_convergence));
  system.explain = [running] { return running->explain(); };

  result.evaluator = std::make_shared<Evaluator>(std::move(functions));
  result.details = [evaluator = result.evaluator, feedback](double t, const double* x) {
    return evaluator->accelerations(t, x, feedback);
  };
  result.factorizations = [running] { return running->factorizations(); };
  system.project = [running](double t, double* x) { return static_cast<Evaluation>(running->project(t, x)); };
  system.project_error = [running](double* error) { running->project_error(error); };
  return result;
}

}  // namespace daedalus::formulate
