#include "daedalus/formulate/acceleration_level.hpp"

#include "daedalus/formulate/motion_observation.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;
using mechanics::Evaluator;

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
  system.explain = [running] { return running->explain(); };
  system.project = [running](double t, double* x) { return static_cast<Evaluation>(running->project(t, x)); };
  system.project_error = [running](double* error) { running->project_error(error); };

  auto observation = std::make_shared<MotionObservation>(std::move(functions), feedback);
  result.observation = observation;
  result.guess = [running, observation](const std::vector<double>& auxiliary) {
    running->guess_auxiliary(auxiliary);
    observation->evaluator().guess_auxiliary(auxiliary);
  };
  result.freeze = [running, observation](const double* frozen) {
    running->freeze(frozen);
    observation->freeze(frozen);
  };
  result.factorizations = [running] { return running->factorizations(); };
  return result;
}

}  // namespace daedalus::formulate
