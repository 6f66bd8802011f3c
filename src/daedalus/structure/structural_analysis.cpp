#include "daedalus/structure/structural_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"

namespace daedalus::structure {

std::optional<int> StructuralAnalysis::index() const {
  return sigma ? std::optional(sigma->offsets.structural_index()) : std::nullopt;
}

std::string StructuralAnalysis::highest_derivative(std::size_t unknown) const {
  return model::derivative_name(unknowns[unknown], sigma ? static_cast<std::size_t>(sigma->offsets.d[unknown]) : 0);
}

std::vector<std::string> StructuralAnalysis::equation_names(const std::vector<std::size_t>& which) const {
  std::vector<std::string> names;
  for (const std::size_t i : which) names.push_back(equations[i]);
  return names;
}

std::vector<std::string> StructuralAnalysis::unknown_names(const std::vector<std::size_t>& which) const {
  std::vector<std::string> names;
  for (const std::size_t j : which) names.push_back(unknowns[j]);
  return names;
}

std::string StructuralAnalysis::text_of(const Part& part) const {
  const auto counted = [](const std::vector<std::string>& names, const std::string& noun) {
    return names.empty() ? "no " + noun : fmt::format("{} ({})", count(names.size(), noun), listed(names));
  };
  return fmt::format("{} for {}", counted(equation_names(part.rows), "equation"), counted(unknown_names(part.columns), "unknown"));
}

StructuralAnalysis structural_analysis(const EquationSet& system) {
  StructuralAnalysis result;
  for (const EquationSet::Equation& equation : system.equations) result.equations.push_back(equation.name);
  for (const EquationSet::Unknown& unknown : system.unknowns) result.unknowns.push_back(unknown.name);
  result.signature = signature_of(system);
  result.sigma = sigma_method(result.signature);
  result.parts = coarse_parts(result.signature.pattern,
                              result.sigma ? result.sigma->transversal : maximum_matching(result.signature.pattern));
  if (result.sigma) {
    result.jacobian = jacobian_pattern(result.signature, result.sigma->offsets);
    result.blocks = solution_order(result.jacobian.pattern, result.sigma->transversal);
  }
  return result;
}

}  // namespace daedalus::structure
