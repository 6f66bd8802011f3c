// A DAE as its author wrote it, F(t, y, y') = 0, of index 1 at most; higher derivatives have become unknowns. Where
// [F_x', F_z] is regular, with x the unknowns whose derivatives occur and z the others, F = 0 is solved for (x', z) at every
// evaluation, and methods for ODEs see x' = f(t, x).

#include "daedalus/formulate/dae_observation.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/formulate/implicit_view.hpp"

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

Formulated direct(const std::shared_ptr<const DaeFunctions>& functions, integrate::View view) {
  const DaeFunctions& fn = *functions;
  Formulated result;
  integrate::System& system = result.system;
  auto running = std::make_shared<DaeEvaluator>(functions);
  auto frozen = std::make_shared<const double*>(nullptr);
  const bool implicit = view == integrate::View::implicit;
  system.dimension = implicit ? fn.dimension() : fn.differential;
  system.names = names_of(fn, system.dimension);
  if (implicit) {
    auto shown = std::make_shared<integrate::ImplicitSystem>(
        implicit_view(std::shared_ptr<const compile::ImplicitFunction>(functions, &fn.function), frozen));
    shown->system_index = fn.differential == fn.dimension() && fn.algebraic_rows.empty() ? 0 : 1;
    shown->derivative = [running](double t, const double* y, double* dy) {
      const auto outcome = static_cast<Evaluation>(running->derivatives(t, y));
      std::copy(running->dy().begin(), running->dy().end(), dy);
      return outcome;
    };
    system.implicit = std::move(shown);
  } else {
    system.ode = [running, count = fn.differential](double t, const double* x, double* dx) {
      const auto outcome = static_cast<Evaluation>(running->solve(t, x));
      std::copy_n(running->dy().begin(), count, dx);
      return outcome;
    };
  }
  system.explain = [running] { return running->explain(); };

  auto observation = std::make_shared<DaeObservation>(
      functions, implicit ? DaeObservation::State::whole : DaeObservation::State::differential);
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
  return result;
}

}  // namespace

FormulationEntry formulation_direct() {
  FormulationEntry entry;
  entry.name = "direct";
  entry.summary = "the equations of a DAE as they are given, of index 1 at most";
  entry.citation = "Brenan, Campbell, Petzold: Numerical Solution of Initial-Value Problems in DAEs, 1996";
  entry.kinds = {"dae", "linear"};
  entry.index = 1;
  entry.views = {integrate::View::ode, integrate::View::implicit};
  entry.make = [](const Equations& equations, integrate::View view, const Options&) { return direct(equations.dae, view); };
  return entry;
}

}  // namespace daedalus::formulate
