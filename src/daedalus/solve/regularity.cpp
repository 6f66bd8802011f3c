#include "daedalus/solve/regularity.hpp"

#include <fmt/format.h>

#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/formulate/dae_observation.hpp"
#include "daedalus/solve/start_level.hpp"
#include "daedalus/structure/jet_lift.hpp"
#include "daedalus/structure/regularity.hpp"

namespace daedalus::solve {

using integrate::Evaluation;
using structure::Regularity;

namespace {

std::string quoted_list(std::vector<std::string> names) {
  for (std::string& name : names) name = quoted(name);
  return listed(names);
}

integrate::SingularPoint point_of(const Regularity::Undetermined& found) {
  integrate::SingularPoint point;
  point.equations = found.equations;
  point.unknowns = found.unknowns;
  point.text = found.equations.size() == 1 ? "the equation " + quoted(found.equations[0]) + " does not determine "
                                           : "the equations " + quoted_list(found.equations) + " do not determine ";
  point.text += quoted_list(found.unknowns);
  return point;
}

}  // namespace

integrate::RegularityHooks regularity_of(const Prepared& prepared, const Start& start,
                                         const formulate::Formulated& formulated, const double* frozen) {
  integrate::RegularityHooks hooks;
  if (!prepared.dae || prepared.array || !start.solvable || !start.found) return hooks;
  // Nor in the exact solution of a linear model, which has matrices of its own: its pencil is regular at all times.
  auto* observation = dynamic_cast<formulate::DaeObservation*>(formulated.observation.get());
  if (observation == nullptr) return hooks;
  const std::shared_ptr<const structure::DaeFunctions>& functions = prepared.solvable_dae();
  auto regularity = std::make_shared<Regularity>(functions);
  const auto middle = start.guess.begin() + static_cast<std::ptrdiff_t>(functions->dimension());
  const std::vector<double> y(start.guess.begin(), middle), dy(middle, start.guess.end());
  regularity->guess(y, dy);
  regularity->freeze(frozen);
  hooks.count = regularity->count();
  hooks.describe = [regularity](std::size_t which) { return point_of(regularity->undetermined(which)); };
  if (observation->lift() != nullptr) {
    auto lift = std::make_shared<structure::JetLift>(*prepared.dae, functions);
    lift->guess(y.data());
    lift->freeze(frozen);
    hooks.look = [regularity, lift, x = std::vector<double>(functions->differential)](
                     double t, const double* state, integrate::RegularityHooks::Given, double* values) mutable {
      auto outcome = lift->lift(t, state, x.data());
      if (outcome == structure::DaeOutcome::ok) outcome = regularity->look(t, x.data(), Regularity::State::differential, values);
      return static_cast<Evaluation>(outcome);
    };
    return hooks;
  }
  const integrate::System& system = formulated.system;
  const bool whole = (system.implicit || system.make_implicit) && system.dimension == functions->dimension();
  // A method that changes its view may have left unknowns behind.
  using State = Regularity::State;
  const State near = whole && system.implicit ? State::guess : State::differential;
  hooks.look = [regularity, near, at = whole ? State::solution : near](
                   double t, const double* state, integrate::RegularityHooks::Given given, double* values) {
    const bool solves = given == integrate::RegularityHooks::Given::solution;
    return static_cast<Evaluation>(regularity->look(t, state, solves ? at : near, values));
  };
  return hooks;
}

std::string passed_text(const std::vector<integrate::SingularPoint>& passed) {
  const std::string where =
      passed.size() == 1 ? fmt::format("singular at t = {}", brief(passed.front().t))
                         : fmt::format("singular at {} points, the first at t = {}, the last at t = {}", passed.size(),
                                       brief(passed.front().t), brief(passed.back().t));
  return fmt::format("{}: there {}. More than one solution may go on from such a point; this one went straight on", where,
                     passed.front().text);
}

}  // namespace daedalus::solve
