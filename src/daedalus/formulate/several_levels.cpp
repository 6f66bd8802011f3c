#include "daedalus/formulate/several_levels.hpp"

#include "daedalus/formulate/implicit_motion.hpp"

namespace daedalus::formulate {

using integrate::Corrector;
using mechanics::SeveralLevels;

namespace {

SeveralLevels form_of(const Equations& equations, mechanics::Level highest, const Options& options) {
  SeveralLevels form;
  form.highest = highest;
  if (options.word("weight") == "mass") form.weight = SeveralLevels::Weight::mass;
  if (highest == mechanics::Level::acceleration) form.time = options.number("time");
  form.redundant = equations.redundant;
  return form;
}

Formulated shown(const Equations& equations, mechanics::ImplicitMotion motion) {
  Formulated result = with_unknowns(equations, std::move(motion));
  if (equations.motion->m > 0) result.system.project_between = std::move(result.system.project);
  result.system.project = nullptr;
  result.system.coordinates = 0;  // q' = v holds only where the multipliers vanish
  return result;
}

}  // namespace

std::vector<OptionSpec> level_options(mechanics::Level highest) {
  std::vector<OptionSpec> options = {{.name = "weight",
                                      .summary = "metric in which positions are corrected",
                                      .standard = std::nullopt,
                                      .words = {"euclidean", "mass"}}};
  if (highest == mechanics::Level::acceleration)
    options.push_back({.name = "time",
                       .summary = "time with which corrections of velocities are compared with those of positions",
                       .standard = 1.0,
                       .least = 1e-9,
                       .most = 1e9});
  return options;
}

Formulated stabilized_motion(const Equations& equations, mechanics::Level highest, const Options& options) {
  return shown(equations, mechanics::stabilized_motion(*equations.motion, form_of(equations, highest, options)));
}

OptionSpec corrector_option() {
  return {.name = "corrector",
          .summary = "what a solution of more equations than unknowns is",
          .standard = std::nullopt,
          .words = {"ssf", "gauss-newton", "least-squares"}};
}

Formulated overdetermined_motion(const Equations& equations, mechanics::Level highest, const Options& options) {
  const std::string& word = options.word("corrector");
  const Corrector corrector = word == "ssf"            ? Corrector::ssf
                              : word == "gauss-newton" ? Corrector::gauss_newton
                                                       : Corrector::least_squares;
  Formulated result =
      shown(equations, mechanics::overdetermined_motion(*equations.motion, form_of(equations, highest, options)));
  integrate::System& system = result.system;
  system.overdetermined = std::make_shared<const integrate::OverdeterminedSystem>(
      integrate::OverdeterminedSystem{*system.implicit, corrector});
  system.implicit = nullptr;
  return result;
}

}  // namespace daedalus::formulate
