#include "daedalus/formulate/implicit_motion.hpp"

#include <algorithm>

#include "daedalus/formulate/acceleration_level.hpp"
#include "daedalus/formulate/implicit_view.hpp"
#include "daedalus/formulate/motion_observation.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

/// Makes the implicit view; `ode` gives the derivative of its leading part.
std::shared_ptr<integrate::ImplicitSystem> shown(mechanics::ImplicitMotion motion, const integrate::System& system,
                                                 std::shared_ptr<const double*> frozen) {
  auto view = std::make_shared<integrate::ImplicitSystem>(
      implicit_view(std::make_shared<const compile::ImplicitFunction>(std::move(motion.function)), std::move(frozen)));
  const std::size_t n = motion.names.size();
  view->index = std::move(motion.index);
  view->system_index = motion.system_index;
  view->row_power = std::move(motion.row_power);
  view->column_power = std::move(motion.column_power);
  // The accelerations of the KKT system are the ones that all derivatives of the constraints allow.
  view->derivative = [ode = system.ode, leading = system.leading, n](double t, const double* y, double* dy) {
    std::fill(dy + leading, dy + n, 0.0);
    return ode(t, y, dy);
  };
  return view;
}

/// Lets the implicit view read the same frozen values as everything else.
std::shared_ptr<const double*> share_frozen(Formulated& formulated) {
  auto frozen = std::make_shared<const double*>(nullptr);
  formulated.freeze = [inner = formulated.freeze, frozen](const double* values) {
    inner(values);
    *frozen = values;
  };
  return frozen;
}

/// The ODE with the algebraic unknowns behind its state, and the implicit view when it is asked for.
Formulated automatic_motion(const Equations& equations, const mechanics::Feedback& feedback) {
  const std::shared_ptr<const mechanics::Functions>& functions = equations.motion;
  Formulated result = acceleration_level(functions, {feedback});
  integrate::System& system = result.system;
  system.leading = system.dimension;
  for (const std::size_t i : functions->algebraic) system.names.push_back(functions->equations.z[i].name());
  for (const expr::Expr& lambda : functions->equations.lambda) system.names.push_back(lambda.name());
  system.dimension = system.names.size();
  system.make_implicit = [equations, feedback, shell = system, frozen = share_frozen(result)]() {
    return shown(mechanics::implicit_motion(*equations.motion, mechanics::Level::acceleration, feedback, equations.redundant),
                 shell, frozen);
  };
  system.complete = [functions, seen = std::static_pointer_cast<MotionObservation>(result.observation), leading = system.leading](
                        double t, double* y) {
    const Evaluation outcome = seen->at(t, y);
    if (outcome != Evaluation::ok) return outcome;
    double* next = y + leading;
    for (const std::size_t i : functions->algebraic) *next++ = seen->evaluator().w()[i];
    std::ranges::copy(seen->evaluator().lambda(), next);
    return outcome;
  };
  return result;
}

}  // namespace

Formulated implicit_motion(const Equations& equations, mechanics::Level level,
                           const mechanics::Feedback& feedback) {
  mechanics::ImplicitMotion motion = mechanics::implicit_motion(*equations.motion, level, feedback, equations.redundant);
  Formulated result = acceleration_level(equations.motion, {feedback});
  integrate::System& system = result.system;
  system.leading = system.dimension;
  system.dimension = motion.names.size();
  system.names = motion.names;
  system.implicit = shown(std::move(motion), system, share_frozen(result));
  system.ode = nullptr;
  system.project_error = nullptr;
  return result;
}

Formulated in_view(const Equations& equations, integrate::View view,
                   const mechanics::Feedback& feedback) {
  if (view == integrate::View::automatic) return automatic_motion(equations, feedback);
  return view == integrate::View::implicit
             ? implicit_motion(equations, mechanics::Level::acceleration, feedback)
             : acceleration_level(equations.motion, {feedback});
}

}  // namespace daedalus::formulate
