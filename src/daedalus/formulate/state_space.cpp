// y' = (D v, D a, z_d') with x = (q, v, z_d) from y by the constraints and a from the KKT system at x. The accelerations of
// the KKT system satisfy G a = gamma, so that D a alone says what the motion does: (15), (16) of Fuehrer and Leimkuhler
// 1991, where V_1^T M V_1 y'' = V_1^T f~ is the same system after elimination.
#include "daedalus/formulate/state_space.hpp"

#include "daedalus/expr/substitute.hpp"
#include "daedalus/formulate/acceleration_level.hpp"
#include "daedalus/formulate/local_chart.hpp"
#include "daedalus/formulate/local_motion.hpp"
#include "daedalus/formulate/motion_observation.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;
using mechanics::Evaluator;
using StateSpace = LocalMotion<LocalChart>;

namespace {

/// Beyond this tilt in the step ahead other coordinates are looked for. A pendulum whose x is the coordinate has the tilt 1
/// at 45 degrees from the place where x is best. Measured on the pendulum of the notes 000 over 50 s, with steps that turn it
/// by up to 40 degrees: limits from 1.05 to 1.5 and from 0 to 0.3 are equally good, larger ones let single steps err.
constexpr double coordinate_limit = 1.2, tangent_limit = 0.2;

/// Whether some constraint depends on time by itself.
bool driven(const mechanics::Equations& eq) {
  std::vector<expr::Expr> constraints;
  for (const mechanics::Constraint& constraint : eq.constraints)
    constraints.push_back(constraint.holonomic ? constraint.position : constraint.velocity);
  const std::vector<bool> depends = expr::dependence(constraints, {eq.t.id()});
  return std::ranges::find(depends, true) != depends.end();
}

Dynamics dynamics_of(const std::shared_ptr<Evaluator>& evaluator) {
  Dynamics dynamics;
  dynamics.dimension = evaluator->functions().dimension();
  dynamics.ode = [evaluator](double t, const double* x, double* dx) {
    return static_cast<Evaluation>(evaluator->ode(t, x, dx));
  };
  dynamics.explain = [evaluator] { return evaluator->explain(); };
  dynamics.factorizations = [evaluator] { return evaluator->factorizations(); };
  dynamics.freeze = [evaluator](const double* frozen) { evaluator->freeze(frozen); };
  return dynamics;
}

void show_choice(MotionObservation& observation, const mechanics::Equations& equations,
                 const std::shared_ptr<StateSpace>& space) {
  std::vector<std::string> columns;
  for (const expr::Expr& q : equations.q) columns.push_back("independent." + q.name());
  observation.show(columns, [space](double t, const double* x, double* row) { space->independent(t, x, row); });
}

}  // namespace

Formulated state_space(const Equations& equations, LocalBasis::Kind kind, Shown shown) {
  Formulated result = acceleration_level(equations.motion, {});
  integrate::System& system = result.system;
  system.project = nullptr;
  system.project_error = nullptr;
  if (equations.motion->m == 0) return result;  // every state is allowed
  const std::shared_ptr<const mechanics::Functions>& functions = equations.motion;
  auto evaluator = std::make_shared<Evaluator>(functions);
  const StateSpace::Manner manner{kind == LocalBasis::Kind::tangent ? tangent_limit : coordinate_limit,
                                  driven(functions->equations) ? functions->n : 0};
  auto space = std::make_shared<StateSpace>(dynamics_of(evaluator), [&] { return LocalChart(functions, kind); }, manner);
  system.coordinates = 0;
  system.ode = [space](double t, const double* x, double* dx) { return space->whole_ode(t, x, dx); };
  system.explain = [space] { return space->explain(); };
  system.local = std::make_shared<const integrate::LocalCoordinates>(coordinates_of(space));
  result.guess = [evaluator, inner = result.guess](const std::vector<double>& auxiliary) {
    evaluator->guess_auxiliary(auxiliary);
    inner(auxiliary);
  };
  result.freeze = [space, inner = result.freeze](const double* frozen) {
    space->freeze(frozen);
    inner(frozen);
  };
  if (shown == Shown::choice) 
    show_choice(*std::static_pointer_cast<MotionObservation>(result.observation), functions->equations, space);
  result.factorizations = [space] { return space->factorizations(); };
  return result;
}

}  // namespace daedalus::formulate
