#include "daedalus/formulate/first_order.hpp"

#include <algorithm>

#include "daedalus/formulate/dae_observation.hpp"
#include "daedalus/formulate/implicit_view.hpp"
#include "daedalus/formulate/solution_series.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;
using structure::DaeEvaluator;
using structure::DaeFunctions;

namespace {

std::vector<std::string> names_of(const DaeFunctions& fn, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fn.unknowns[i].name);
  return names;
}

std::shared_ptr<integrate::ImplicitSystem> shown(const std::shared_ptr<const DaeFunctions>& functions,
                                                 const std::shared_ptr<DaeEvaluator>& running,
                                                 const std::shared_ptr<const double*>& frozen) {
  const DaeFunctions& fn = *functions;
  auto view = std::make_shared<integrate::ImplicitSystem>(
      implicit_view(std::shared_ptr<const compile::ImplicitFunction>(functions, &fn.function), frozen));
  view->system_index = fn.differential == fn.dimension() && fn.algebraic_rows.empty() ? 0 : 1;
  view->derivative = [running](double t, const double* y, double* dy) {
    const auto outcome = static_cast<Evaluation>(running->derivatives(t, y));
    std::ranges::copy(running->dy(), dy);
    return outcome;
  };
  return view;
}

Formulated make(const Equations& equations, integrate::View view, RowFeedback feedback) {
  const std::shared_ptr<const DaeFunctions>& functions = equations.dae;
  const DaeFunctions& fn = *functions;
  Formulated result;
  integrate::System& system = result.system;
  auto running = std::make_shared<DaeEvaluator>(functions);
  auto frozen = std::make_shared<const double*>(nullptr);
  system.leading = fn.differential;
  const bool states_alone = view == integrate::View::ode || view == integrate::View::series;
  system.dimension = states_alone ? fn.differential : fn.dimension();
  system.names = names_of(fn, system.dimension);
  if (view == integrate::View::implicit) system.implicit = shown(functions, running, frozen);
  if (view == integrate::View::automatic)
    system.make_implicit = [functions, running, frozen] { return shown(functions, running, frozen); };
  if (!states_alone && equations.solvable)
    system.complete = [running, view](double t, double* y) {
      // An implicit method has solved for z before; an explicit one has left them to `running`.
      if (view == integrate::View::implicit) running->guess_unknowns(y);
      const auto outcome = static_cast<Evaluation>(running->solve(t, y));
      std::ranges::copy(running->y(), y);
      return outcome;
    };
  if (view == integrate::View::automatic)
    system.near = [running](const double* y) { running->guess_unknowns(y); };
  // Between steps the algebraic unknowns follow from the others, more exactly than a polynomial has them; where they do not,
  // that is what there is.
  if (view == integrate::View::implicit && equations.solvable && fn.dimension() > fn.differential)
    system.project_between = [running](double t, double* y) {
      running->guess_unknowns(y);
      if (running->solve(t, y) == structure::DaeOutcome::ok) std::ranges::copy(running->y(), y);
      return Evaluation::ok;
    };
  if (view == integrate::View::implicit && !equations.solvable)
    system.project_between = [running](double t, double* y) {
      running->meet_combinations(t, y);
      return Evaluation::ok;
    };
  const bool feeds_back = static_cast<bool>(feedback);
  const bool explicit_ode = view != integrate::View::implicit && equations.solvable;
  if (explicit_ode) {
    system.ode = [running, feedback = std::move(feedback), count = fn.differential](double t, const double* x, double* dx) {
      if (feedback) running->add_to_rows(feedback(t, x));
      const auto outcome = static_cast<Evaluation>(running->solve(t, x));
      std::copy_n(running->dy().begin(), count, dx);
      return outcome;
    };
  }
  system.explain = [running] { return running->explain(); };

  auto observation = std::make_shared<DaeObservation>(
      functions, explicit_ode ? DaeObservation::State::differential : DaeObservation::State::whole);
  result.observation = observation;
  result.guess = [running, observation, count = fn.dimension()](const std::vector<double>& y_dy) {
    const auto middle = y_dy.begin() + static_cast<std::ptrdiff_t>(count);
    const std::vector<double> y(y_dy.begin(), middle), dy(middle, y_dy.end());
    running->guess(y, dy);
    observation->evaluator().guess(y, dy);
  };
  result.freeze = [running, observation, frozen](const double* values) {
    running->freeze(values);
    observation->freeze(values);
    *frozen = values;
  };
  result.factorizations = [running] { return running->factorizations(); };
  if (explicit_ode && !feeds_back && view != integrate::View::ode)
    add_series(result, [functions, running] {
      SeriesEquations out{functions->equations, functions->model->numbers(), functions->switches};
      if (!functions->linear_in_solved)
        out.solve = [running](double t, const double* x, double* y, double* dy) {
          const auto outcome = static_cast<Evaluation>(running->solve(t, x));
          std::ranges::copy(running->y(), y);
          std::ranges::copy(running->dy(), dy);
          return outcome;
        };
      return out;
    });
  return result;
}

}  // namespace

Formulated first_order(const Equations& equations, integrate::View view) { return make(equations, view, {}); }

Formulated first_order_with(const Equations& equations, RowFeedback feedback) {
  return make(equations, integrate::View::ode, std::move(feedback));
}

}  // namespace daedalus::formulate
