// The equations determine derivatives up to the highest that stands in them; coordinates have an acceleration. Nothing
// else in a model can use, or start with, a higher one.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "daedalus/expr/walk.hpp"
#include "daedalus/model/checks.hpp"

namespace daedalus::model {

namespace {

class DerivativeCheck {
 public:
  DerivativeCheck(const Model& model, Faults& faults)
      : model_(model), faults_(faults), mechanics_(model.kind == Kind::lagrangian || model.kind == Kind::mechanical) {
    for (const auto* unknowns : {&model.variables, &model.auxiliary})
      for (const Unknown& unknown : *unknowns) {
        known_[&unknown] = mechanics_ && unknowns == &model.variables ? 2 : 0;
        for (std::size_t k = 0; k < unknown.rates.size(); ++k) rates_[unknown.rates[k].id()] = {&unknown, k + 1};
      }
    std::vector<NodeId> roots;  // one walk for all: equations may share long definitions
    for (const Equation& equation : model.equations) roots.push_back(equation.residual.id());
    for (const NodeId id : walk_.from(*model.graph, roots))
      if (const auto found = rates_.find(id); found != rates_.end())
        known_[found->second.of] = std::max(known_[found->second.of], found->second.order);
    for (const Entry& entry : model.E.entries)
      if (!entry.value.is_constant(0.0)) known_[&model.variables[entry.column]] = 1;
  }

  void run() {
    if (!mechanics_)
      for (const Equation& equation : model_.initial)
        use(equation.residual, "the initial equation", equation.name, equation.place);
    for (const Named& output : model_.outputs) use(output.value, "the output", output.name, output.place);
    for (const Event& event : model_.events) {
      if (event.when) use(*event.when, "the event", event.name, event.place);
      for (const auto& [name, value] : event.reset) use(value, "the event", event.name, event.place);
    }
    for (const Plot& plot : model_.plots) {
      use(plot.x_value, "the plot", plot.name, plot.place);
      for (const Expr& value : plot.y_values) use(value, "the plot", plot.name, plot.place);
    }
    for (const auto& [name, coordinates] : model_.drawing.points)
      for (const Expr& value : coordinates) use(value, "the point", name, place_of("drawing"));
    if (mechanics_) return;
    for (const Unknown& unknown : model_.variables)
      for (std::size_t k = known_[&unknown] + 1; k < unknown.start.size(); ++k)
        if (unknown.start[k].given)
          faults_.add("not-allowed-here",
                      fmt::format("'{}' does not occur in the equations, so its start value says nothing",
                                  derivative_name(unknown.name, k)),
                      "remove it", unknown.start[k].place);
  }

 private:
  struct Rate {
    const Unknown* of;
    std::size_t order;
  };

  /// Visits the derivatives in an expression until `visit` answers false.
  template <class Visit>
  void each_rate(const Expr& expression, Visit&& visit) {
    const NodeId root[] = {expression.id()};
    for (const NodeId id : walk_.from(expression.graph(), root)) {
      const auto found = rates_.find(id);
      if (found != rates_.end() && !visit(found->second)) return;
    }
  }

  /// Reports the first derivative in an expression that the equations do not determine.
  void use(const Expr& expression, const char* what, const std::string& name, const Place& place) {
    if (!expression.valid()) return;
    each_rate(expression, [&](const Rate& rate) {
      const std::size_t highest = known_[rate.of];
      if (rate.order <= highest) return true;
      faults_.add(
          "not-allowed-here",
          fmt::format("{} '{}' needs {}, which the equations do not contain", what, name,
                      derivative_name(rate.of->name, rate.order)),
          highest == 0
              ? fmt::format("'{}' is algebraic: express its derivative by those of other unknowns", rate.of->name)
              : fmt::format("the highest derivative there is {}", derivative_name(rate.of->name, highest)),
          place);
      return false;
    });
  }

  Place place_of(const std::string& what) const {
    const auto found = model_.places.find(what);
    return found == model_.places.end() ? Place{model_.source} : found->second;
  }

  const Model& model_;
  Faults& faults_;
  bool mechanics_;
  expr::Walk walk_;
  std::unordered_map<NodeId, Rate> rates_;
  std::unordered_map<const Unknown*, std::size_t> known_;
};

}  // namespace

void check_derivatives(const Model& model, Faults& faults) { DerivativeCheck(model, faults).run(); }

}  // namespace daedalus::model
