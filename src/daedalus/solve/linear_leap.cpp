#include "daedalus/solve/linear_leap.hpp"

#include <algorithm>

#include "daedalus/solve/start_linear.hpp"

namespace daedalus::solve {

using compile::Switches;
using structure::DaeFunctions;

LinearLeap::LinearLeap(std::shared_ptr<const structure::LinearSolution> solution, const Unknowns& unknowns, const double* frozen)
    : solution_(std::move(solution)), flow_(std::make_shared<structure::LinearFlow>(solution_)), frozen_(frozen) {
  const Unknowns& own = solution_->functions->unknowns;
  taken_.resize(own.size());
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    for (std::size_t j = 0; j < own.size(); ++j)
      if (own[j].name == unknowns[i].name) taken_[j] = i;
    const auto plain = std::ranges::find_if(
        own, [&](const DaeFunctions::Unknown& one) { return one.of->name == unknowns[i].of->name && one.times == 0; });
    if (plain == own.end()) break;  // what follows is a combination of unknowns
    sources_.push_back({static_cast<std::size_t>(plain - own.begin()), unknowns[i].times});
    highest_ = std::max(highest_, unknowns[i].times);
  }
}

/// Where the values that f freezes are among those of another form.
bool LinearLeap::find_places(const DaeFunctions& functions) {
  const DaeFunctions& own = *solution_->functions;
  std::vector<double> held;
  for (const model::Parameter& value : own.model->discrete) held.push_back(value.value);
  modes_ = own.switches.free_modes(held);
  for (std::size_t k = 0; k < held.size(); ++k) places_.emplace_back(1 + k, 1 + k);
  for (std::size_t i = 0; i < own.switches.size(); ++i) {
    const Switches::Switch& one = own.switches[i];
    std::size_t j = 0;
    while (j < functions.switches.size() && !(functions.switches[j].kind == one.kind && functions.switches[j].function.id() == one.function.id() &&
                                              functions.switches[j].table == one.table))
      ++j;
    if (j == functions.switches.size()) return false;
    places_.emplace_back(own.switches.place(i), functions.switches.place(j));
  }
  return true;
}

void LinearLeap::read_modes() {
  for (const auto& [to, from] : places_) modes_[to] = frozen_[from];
}

void LinearLeap::begin() {
  read_modes();
  before_ = modes_;
}

std::shared_ptr<LinearLeap> LinearLeap::make(const std::shared_ptr<const structure::LinearSolution>& solution,
                                             const DaeFunctions& functions, const double* frozen) {
  if (!solution || solution->parts.index == 0 || !solution->parts.decided) return nullptr;
  std::shared_ptr<LinearLeap> leap(new LinearLeap(solution, functions.unknowns, frozen));
  for (std::size_t j = 0; j < solution->functions->differential; ++j)
    if (!leap->taken_[j] || *leap->taken_[j] >= functions.differential) return nullptr;
  const bool known = leap->sources_.size() >= functions.differential && leap->highest_ < solution->highest;
  return known && leap->find_places(functions) ? leap : nullptr;
}

void LinearLeap::operator()(double t, double* y, std::size_t count) {
  read_modes();
  if (modes_ == before_) return;
  flow_->freeze(before_.data());
  const auto before = flow_->consistent_part(t);
  flow_->freeze(modes_.data());
  const auto after = flow_->consistent_part(t);
  before_ = modes_;

  const DaeFunctions& own = *solution_->functions;
  std::vector<double> was(own.dimension(), 0.0);
  for (std::size_t j = 0; j < own.differential; ++j) was[j] = y[*taken_[j]];
  const auto x1 = flow_->differential_part(was.data());
  std::vector<std::vector<double>> states;
  if (!flow_->states(t, x1, highest_, states)) return;
  const std::vector<structure::Impulse> impulses = flow_->impulses(before, after);
  for (const structure::Impulse& one : impulses) was[one.unknown] = states[0][one.unknown] - one.jump;
  for (std::string& text : impulse_texts(own, t, was, impulses)) flow_->remarks.push_back(std::move(text));
  for (std::size_t i = 0; i < std::min(count, sources_.size()); ++i) y[i] = states[sources_[i].times][sources_[i].unknown];
}

}  // namespace daedalus::solve
