#include "daedalus/formulate/implicit_motion.hpp"

#include <algorithm>
#include <utility>

#include "daedalus/formulate/acceleration_level.hpp"
#include "daedalus/formulate/implicit_view.hpp"
#include "daedalus/formulate/motion_observation.hpp"
#include "daedalus/formulate/solution_series.hpp"
#include "daedalus/mechanics/row_solver.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

/// Makes the equations; `ode` gives the derivative of the leading unknowns.
integrate::ImplicitSystem shown(mechanics::ImplicitMotion motion, const integrate::System& system,
                                std::shared_ptr<const double*> frozen) {
  integrate::ImplicitSystem view =
      implicit_view(std::make_shared<const compile::ImplicitFunction>(std::move(motion.function)), std::move(frozen));
  const std::size_t n = motion.names.size();
  view.index = std::move(motion.index);
  view.ignored = std::move(motion.ignored);
  view.system_index = motion.system_index;
  view.row_power = std::move(motion.row_power);
  view.column_power = std::move(motion.column_power);
  // The accelerations of the KKT system are the ones that all derivatives of the constraints allow.
  view.derivative = [ode = system.ode, leading = system.leading, n](double t, const double* y, double* dy) {
    std::fill(dy + leading, dy + n, 0.0);
    return ode(t, y, dy);
  };
  return view;
}

/// What follows the algebraic auxiliary unknowns.
enum class Behind { multipliers, multipliers_and_accelerations };

/// Replaces the least multipliers by those that are 0 for redundant constraints.
class IndependentMultipliers {
 public:
  explicit IndependentMultipliers(const Equations& equations)
      : functions_(equations.motion), solver_(functions_->mass, functions_->jacobian, kept_rows(equations)) {}

  void operator()(mechanics::Evaluator& evaluator, double t, const double* x, double* lambda) {
    const mechanics::Functions& fn = *functions_;
    if (evaluator.motion(t, x) != mechanics::Outcome::ok) return;
    const double *M = std::as_const(evaluator).motion().data(), *f = M + fn.mass.nonzeros(), *G = f + fn.n;
    if (solver_.factor(M, G) != linalg::KktOutcome::regular) return;
    solver_.solve(f, G + fn.jacobian.nonzeros(), a_.data(), lambda, fn.m);
  }

 private:
  static std::vector<std::size_t> kept_rows(const Equations& equations) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < equations.motion->m; ++i)
      if (std::ranges::find(equations.redundant, i) == equations.redundant.end()) rows.push_back(i);
    return rows;
  }

  std::shared_ptr<const mechanics::Functions> functions_;
  mechanics::RowSolver solver_;
  std::vector<double> a_ = std::vector<double>(functions_->n);
};

/// Lets the system write what follows from the leading unknowns. Further multipliers behind that are 0.
void add_completion(Formulated& formulated, const Equations& equations, Behind behind) {
  auto seen = std::static_pointer_cast<MotionObservation>(formulated.observation);
  std::shared_ptr<IndependentMultipliers> independent;
  if (!equations.redundant.empty()) independent = std::make_shared<IndependentMultipliers>(equations);
  formulated.system.complete = [=, functions = equations.motion, leading = formulated.system.leading,
                                dimension = formulated.system.dimension](double t, double* y) {
    mechanics::Evaluator& evaluator = seen->evaluator();
    const Evaluation outcome = seen->at(t, y);
    if (outcome != Evaluation::ok) return outcome;
    double* next = y + leading;
    for (const std::size_t i : functions->algebraic) *next++ = evaluator.w()[i];
    double* const lambda = next;
    next = std::ranges::copy(evaluator.lambda(), next).out;
    if (behind == Behind::multipliers_and_accelerations) next = std::ranges::copy(evaluator.a(), next).out;
    std::fill(next, y + dimension, 0.0);
    if (independent) (*independent)(evaluator, t, y, lambda);
    return outcome;
  };
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
    return std::make_shared<const integrate::ImplicitSystem>(shown(
        mechanics::implicit_motion(*equations.motion, mechanics::Level::acceleration, feedback, equations.redundant), shell,
        frozen));
  };
  add_completion(result, equations, Behind::multipliers);
  return result;
}

}  // namespace

Formulated with_unknowns(const Equations& equations, mechanics::ImplicitMotion motion,
                         const mechanics::Feedback& feedback) {
  Formulated result = acceleration_level(equations.motion, {feedback});
  integrate::System& system = result.system;
  system.leading = system.dimension;
  system.dimension = motion.names.size();
  system.names = motion.names;
  add_completion(result, equations,
                 motion.accelerations ? Behind::multipliers_and_accelerations : Behind::multipliers);
  system.implicit =
      std::make_shared<const integrate::ImplicitSystem>(shown(std::move(motion), system, share_frozen(result)));
  system.ode = nullptr;
  system.project_error = nullptr;
  return result;
}

Formulated implicit_motion(const Equations& equations, mechanics::Level level,
                           const mechanics::Feedback& feedback) {
  return with_unknowns(equations, mechanics::implicit_motion(*equations.motion, level, feedback, equations.redundant),
                       feedback);
}

Formulated in_view(const Equations& equations, integrate::View view,
                   const mechanics::Feedback& feedback) {
  if (view == integrate::View::implicit) return implicit_motion(equations, mechanics::Level::acceleration, feedback);
  Formulated result = view == integrate::View::automatic ? automatic_motion(equations, feedback)
                                                         : acceleration_level(equations.motion, {feedback});
  const bool free = feedback.position == 0.0 && feedback.velocity == 0.0 && feedback.nonholonomic == 0.0 && feedback.held.empty();
  if (free && (view == integrate::View::automatic || view == integrate::View::series)) add_motion_series(result, equations);
  return result;
}

}  // namespace daedalus::formulate
