#include "daedalus/formulate/unreduced.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/formulate/dae_observation.hpp"
#include "daedalus/formulate/implicit_view.hpp"
#include "daedalus/structure/unknown_index.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;
using structure::DaeEvaluator;
using structure::DaeFunctions;
using structure::DaeOutcome;
using structure::JetLift;

namespace {

/// Solves the differentiated equations at states of those as written.
class Background {
 public:
  Background(const DaeFunctions& written, const std::shared_ptr<const DaeFunctions>& differentiated)
      : unknowns_(written.dimension()), lift_(written, differentiated), evaluator_(differentiated), x_(differentiated->differential) {}

  Evaluation solve(double t, const double* y) {
    DaeOutcome outcome = lift_.lift(t, y, x_.data());
    lifted_ = outcome == DaeOutcome::ok;
    if (lifted_) outcome = evaluator_.solve(t, x_.data());
    return static_cast<Evaluation>(outcome);
  }
  void write_rates(double* dy) const { lift_.lower_rates(evaluator_.y().data(), evaluator_.dy().data(), dy); }
  void complete(double* y) const { lift_.lower(evaluator_.y().data(), evaluator_.dy().data(), y); }
  void guess(const std::vector<double>& y, const std::vector<double>& dy) {
    lift_.guess(y.data());
    evaluator_.guess(y, dy);
  }
  std::vector<double> lowered(const std::vector<double>& y, const std::vector<double>& dy) const {
    std::vector<double> state(unknowns_);
    lift_.lower(y.data(), dy.data(), state.data());
    return state;
  }
  void freeze(const double* frozen) {
    lift_.freeze(frozen);
    evaluator_.freeze(frozen);
  }
  std::string explain() const {
    return lifted_ ? evaluator_.explain() : "the hidden constraints do not determine the derivatives that they are solved for";
  }
  std::size_t factorizations() const { return evaluator_.factorizations(); }

 private:
  std::size_t unknowns_;  ///< of the equations as written
  JetLift lift_;
  DaeEvaluator evaluator_;
  std::vector<double> x_;
  bool lifted_ = true;
};

/// Values that an event sets would have to satisfy hidden constraints, which this form does not keep.
void refuse_resets(const model::Model& model) {
  for (const model::Event& event : model.events)
    for (const auto& [name, value] : event.reset)
      if (std::ranges::find(model.discrete, name, &model::Parameter::name) == model.discrete.end())
        throw Error("formulation-does-not-fit",
                    fmt::format("the event '{}' resets '{}', which the formulation 'direct' does not take at an index above 1",
                                event.name, name),
                    "choose one that keeps hidden constraints, such as projection", event.place);
}

/// The two halves of (y, y').
std::pair<std::vector<double>, std::vector<double>> halves(const std::vector<double>& y_dy) {
  const auto middle = y_dy.begin() + static_cast<std::ptrdiff_t>(y_dy.size() / 2);
  return {{y_dy.begin(), middle}, {middle, y_dy.end()}};
}

}  // namespace

Formulated unreduced(const Equations& equations) {
  const std::shared_ptr<const DaeFunctions>&written = equations.written, &differentiated = equations.dae;
  refuse_resets(*written->model);
  auto background = std::make_shared<Background>(*written, differentiated);
  auto observation = std::make_shared<DaeObservation>(differentiated, JetLift(*written, differentiated));
  auto frozen = std::make_shared<const double*>(nullptr);
  structure::UnknownIndices indices = structure::unknown_indices(*written);
  auto view = std::make_shared<integrate::ImplicitSystem>(
      implicit_view(std::shared_ptr<const compile::ImplicitFunction>(written, &written->function), frozen));
  view->system_index = indices.system_index;
  view->index = std::move(indices.index);
  view->row_power = std::move(indices.row_power);
  view->column_power = std::move(indices.column_power);
  view->derivative = [background](double t, const double* y, double* dy) {
    const Evaluation outcome = background->solve(t, y);
    background->write_rates(dy);
    return outcome;
  };

  Formulated result;
  integrate::System& system = result.system;
  system.dimension = written->dimension();
  system.leading = written->differential;
  for (const DaeFunctions::Unknown& unknown : written->unknowns) system.names.push_back(unknown.name);
  system.implicit = view;
  system.complete = [background](double t, double* y) {
    const Evaluation outcome = background->solve(t, y);
    if (outcome == Evaluation::ok) background->complete(y);
    return outcome;
  };
  system.explain = [background] { return background->explain(); };
  result.observation = observation;
  result.state = [background](const std::vector<double>& y_dy) {
    const auto [y, dy] = halves(y_dy);
    return background->lowered(y, dy);
  };
  result.guess = [background, observation](const std::vector<double>& y_dy) {
    const auto [y, dy] = halves(y_dy);
    background->guess(y, dy);
    observation->lift()->guess(y.data());
    observation->evaluator().guess(y, dy);
  };
  result.freeze = [background, observation, frozen](const double* values) {
    background->freeze(values);
    observation->freeze(values);
    *frozen = values;
  };
  result.factorizations = [background] { return background->factorizations(); };
  return result;
}

}  // namespace daedalus::formulate
