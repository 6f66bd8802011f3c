#include "daedalus/formulate/acceleration_level.hpp"

#include "daedalus/formulate/motion_observation.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;
using mechanics::Evaluator;

namespace {

Projections projections_of(const std::shared_ptr<Evaluator>& running) {
  Projections result;
  result.positions = [running](double t, double* x) {
    return static_cast<Evaluation>(running->project_positions(t, x));
  };
  result.velocities = [running](double t, double* x) {
    return static_cast<Evaluation>(running->project_velocities(t, x));
  };
  result.violation = [running](double t, const double* x) { return running->violation(t, x); };
  return result;
}

/// The same mechanism with unit masses, for projections in the Euclidean norm, where these are asked for.
struct UnitMasses {
  std::shared_ptr<Evaluator> evaluator;
  bool failed = false;
};

Projections euclidean(const std::shared_ptr<Evaluator>& running, const std::shared_ptr<UnitMasses>& unit) {
  Projections parts = projections_of(unit->evaluator);
  for (auto* part : {&parts.positions, &parts.velocities})
    *part = [running, unit, inner = *part](double t, double* x) {
      unit->evaluator->choose_like(*running);
      const Evaluation outcome = inner(t, x);
      unit->failed = outcome != Evaluation::ok;
      return outcome;
    };
  return parts;
}

}  // namespace

Formulated acceleration_level(std::shared_ptr<const mechanics::Functions> functions, const AccelerationRule& rule) {
  Formulated result;
  auto running = std::make_shared<Evaluator>(functions, rule.how);
  integrate::System& system = result.system;
  system.dimension = functions->dimension();
  system.coordinates = functions->n;
  system.names = functions->state_names();
  system.ode = [running, feedback = rule.feedback](double t, const double* x, double* dx) {
    return static_cast<Evaluation>(running->ode(t, x, dx, feedback));
  };
  system.project = [running](double t, double* x) { return static_cast<Evaluation>(running->project(t, x)); };
  system.project_error = [running](double* error) { running->project_error(error); };

  auto unit = std::make_shared<UnitMasses>();
  system.explain = [running, unit] { return unit->failed ? unit->evaluator->explain() : running->explain(); };
  result.projections = [running, unit, functions](Metric metric) {
    if (metric == Metric::mass) return projections_of(running);
    unit->evaluator = std::make_shared<Evaluator>(mechanics::with_unit_masses(*functions));
    return euclidean(running, unit);
  };

  auto observation = std::make_shared<MotionObservation>(functions, rule);
  result.observation = observation;
  result.guess = [running, observation](const std::vector<double>& auxiliary) {
    running->guess_auxiliary(auxiliary);
    observation->evaluator().guess_auxiliary(auxiliary);
  };
  result.freeze = [running, unit, observation](const double* frozen) {
    running->freeze(frozen);
    if (unit->evaluator) unit->evaluator->freeze(frozen);
    observation->freeze(frozen);
  };
  result.independent = [running] { return !running->leaves_rows_out(); };
  result.factorizations = [running, unit] {
    return running->factorizations() + (unit->evaluator ? unit->evaluator->factorizations() : 0);
  };
  return result;
}

}  // namespace daedalus::formulate
