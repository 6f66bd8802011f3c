#include "daedalus/structure/combination_recipe.hpp"

#include <fmt/format.h>

#include <cmath>

#include "daedalus/base/text.hpp"
#include "daedalus/model/model.hpp"

namespace daedalus::structure {

void add(Recipe& recipe, double factor, const Recipe& other, std::size_t times) {
  for (const auto& [what, own] : other) {
    double& sum = recipe[{what.first, what.second + times}];
    const double before = sum;
    sum += factor * own;
    if (std::abs(sum) <= 1e-10 * (std::abs(before) + std::abs(factor * own))) sum = 0.0;
  }
  std::erase_if(recipe, [](const auto& term) { return term.second == 0.0; });
}

std::string text_of(const Recipe& recipe, const std::vector<std::string>& names) {
  constexpr std::size_t most = 4;
  std::string text;
  std::size_t count = 0;
  for (const auto& [what, factor] : recipe) {
    if (++count > most) break;
    text += count == 1 ? (factor < 0.0 ? "-" : "") : (factor < 0.0 ? " - " : " + ");
    if (const std::string size = brief(std::abs(factor), 4); size != "1") text += size + "*";
    text += model::derivative_name(names[what.first], what.second);
  }
  return recipe.size() > most ? fmt::format("{} + ... ({} terms)", text, recipe.size()) : text;
}

}  // namespace daedalus::structure
