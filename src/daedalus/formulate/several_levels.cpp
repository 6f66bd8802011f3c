#include "daedalus/formulate/several_levels.hpp"

#include "daedalus/formulate/implicit_motion.hpp"

namespace daedalus::formulate {

using mechanics::SeveralLevels;

namespace {

SeveralLevels form_of(const Equations& equations, mechanics::Level highest, const Options& options) {
  const bool mass = options.word("weight") == "mass";
  return {highest, mass ? SeveralLevels::Weight::mass : SeveralLevels::Weight::euclidean, equations.redundant};
}

Formulated shown(const Equations& equations, mechanics::ImplicitMotion motion) {
  Formulated result = with_unknowns(equations, std::move(motion));
  result.system.project = nullptr;
  result.system.coordinates = 0;  // q' = v holds only where the multipliers vanish
  return result;
}

}  // namespace

OptionSpec weight_option() {
  return {.name = "weight",
          .summary = "metric in which positions are corrected",
          .standard = std::nullopt,
          .words = {"euclidean", "mass"}};
}

Formulated stabilized_motion(const Equations& equations, mechanics::Level highest, const Options& options) {
  return shown(equations, mechanics::stabilized_motion(*equations.motion, form_of(equations, highest, options)));
}

}  // namespace daedalus::formulate
