#include "daedalus/formulate/implicit_motion.hpp"

#include "daedalus/formulate/acceleration_level.hpp"
#include "daedalus/formulate/implicit_view.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

Formulated implicit_motion(std::shared_ptr<const mechanics::Functions> functions, mechanics::Level level,
                           const mechanics::Feedback& feedback) {
  mechanics::ImplicitMotion motion = mechanics::implicit_motion(*functions, level, feedback);
  Formulated result = acceleration_level(functions, feedback);
  integrate::System& system = result.system;
  const std::size_t states = system.dimension;
  system.dimension = motion.names.size();
  system.names = motion.names;

  auto frozen = std::make_shared<const double*>(nullptr);
  result.freeze = [inner = result.freeze, frozen](const double* values) {
    inner(values);
    *frozen = values;
  };
  auto view = std::make_shared<integrate::ImplicitSystem>(
      implicit_view(std::make_shared<const compile::ImplicitFunction>(std::move(motion.function)), frozen));
  view->index = std::move(motion.index);
  view->system_index = motion.system_index;
  view->row_power = std::move(motion.row_power);
  view->column_power = std::move(motion.column_power);
  // The accelerations of the KKT system are the ones that all derivatives of the constraints allow.
  view->derivative = [ode = system.ode, states, n = system.dimension](double t, const double* y, double* dy) {
    std::fill(dy + states, dy + n, 0.0);
    return ode(t, y, dy);
  };
  system.implicit = std::move(view);
  system.ode = nullptr;
  system.project_error = nullptr;
  return result;
}

Formulated in_view(std::shared_ptr<const mechanics::Functions> functions, integrate::View view,
                   const mechanics::Feedback& feedback) {
  return view == integrate::View::implicit
             ? implicit_motion(std::move(functions), mechanics::Level::acceleration, feedback)
             : acceleration_level(std::move(functions), feedback);
}

}  // namespace daedalus::formulate
