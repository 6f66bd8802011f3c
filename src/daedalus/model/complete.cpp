#include <algorithm>

#include "daedalus/model/elaborate.hpp"

namespace daedalus::model {

void complete_unknowns(Model& model, Elaborator& elaborator) {
  std::vector<NodeId> roots;
  const auto use = [&](Expr expression) {
    if (expression.valid()) roots.push_back(expression.id());
  };
  for (const auto* equations : {&model.equations, &model.constraints, &model.initial, &model.invariants})
    for (const Equation& equation : *equations) {
      use(equation.left);
      use(equation.right);
      use(equation.residual);
    }
  for (const auto& energy : {model.kinetic, model.potential, model.lagrangian, model.dissipation})
    if (energy) use(*energy);
  for (const auto* named : {&model.forces, &model.outputs})
    for (const Named& one : *named) use(one.value);
  for (const Expr force : model.force) use(force);
  for (const Event& event : model.events) {
    if (event.when) use(*event.when);
    for (const auto& [name, value] : event.reset) use(value);
  }
  for (const Plot& plot : model.plots) {
    use(plot.x_value);
    for (const Expr value : plot.y_values) use(value);
  }
  for (const auto& [name, coordinates] : model.drawing.points)
    for (const Expr value : coordinates) use(value);

  expr::Walk walk;
  std::unordered_map<ItemId, int> highest;
  for (const NodeId id : walk.from(elaborator.graph(), roots))
    if (const auto* symbol = elaborator.unknown_of(id))
      highest[symbol->item] = std::max(highest[symbol->item], symbol->order);
  const auto finish = [&](std::vector<Unknown>& unknowns, std::size_t least) {
    for (Unknown& unknown : unknowns) {
      const auto used = highest.find(elaborator.unknown_of(unknown.symbol.id())->item);
      std::size_t rates = std::max(least, used == highest.end() ? 0 : static_cast<std::size_t>(used->second));
      if (!unknown.start.empty()) rates = std::max(rates, unknown.start.size() - 1);
      for (std::size_t k = 1; k <= rates; ++k)
        unknown.rates.push_back(elaborator.rate(unknown.symbol, static_cast<int>(k)));
      unknown.start.resize(rates + 1);
    }
  };
  const bool mechanics = model.kind == Kind::lagrangian || model.kind == Kind::mechanical;
  finish(model.variables, mechanics ? 2 : model.kind == Kind::linear ? 1 : 0);
  finish(model.auxiliary, 0);
}

}  // namespace daedalus::model
