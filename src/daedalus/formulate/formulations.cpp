#include "daedalus/base/error.hpp"
#include "daedalus/formulate/formulation_entry.hpp"

namespace daedalus::formulate {

const std::vector<integrate::View>& FormulationEntry::views_of(const model::Model& model) const {
  const bool dae = model.kind == model::Kind::dae || model.kind == model::Kind::linear;
  return dae && !dae_views.empty() ? dae_views : views;
}

bool holds_constraints(const FormulationEntry& entry, const Options& options) {
  return entry.projects && (!entry.projects_with || entry.projects_with(options));
}

const FormulationEntry& formulation(const std::string& name) {
  std::vector<std::string> known;
  for (const FormulationEntry& entry : formulations()) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  throw Error("unknown-formulation", "there is no formulation '" + name + "'",
              suggest(name, known) + " (`daedalus formulations` lists all)");
}

}  // namespace daedalus::formulate
