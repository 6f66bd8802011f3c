// The equations determine derivatives up to the highest that stands in them; coordinates have an acceleration. Nothing
// else in a model can use, or start with, a higher one. What lies below the highest is the state: an invariant connects
// t and the state alone.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

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
        values_[unknown.symbol.id()] = &unknown;
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
    for (const Equation& invariant : model_.invariants) check_invariant(invariant);
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

  void check_invariant(const Equation& invariant) {
    bool unknowns = false;
    const NodeId root[] = {invariant.residual.id()};
    for (const NodeId id : walk_.from(invariant.residual.graph(), root)) {
      const auto value = values_.find(id);
      const auto rate = rates_.find(id);
      if (value == values_.end() && rate == rates_.end()) continue;
      unknowns = true;
      const Unknown& of = value != values_.end() ? *value->second : *rate->second.of;
      const std::size_t order = value != values_.end() ? 0 : rate->second.order, highest = known_[&of];
      if (order < highest) continue;
      faults_.add("not-allowed-here",
                  fmt::format("the invariant '{}' uses '{}', which is not part of the state", invariant.name,
                              derivative_name(of.name, order)),
                  highest == 0 ? fmt::format("'{}' is algebraic: write the invariant with t and unknowns that have a derivative",
                                             of.name)
                               : fmt::format("'{}' follows from the equations: write the invariant with t and {}",
                                             derivative_name(of.name, order),
                                             highest == 1 ? of.name : of.name + ", " + derivative_name(of.name, highest - 1)),
                  invariant.place);
      return;
    }
    if (!unknowns)
      faults_.add("invariant-without-unknown", fmt::format("the invariant '{}' contains no unknown", invariant.name),
                  "an invariant connects unknowns that have a derivative", invariant.place);
    if (names_.empty())
      for (const auto* equations : {&model_.equations, &model_.constraints})
        for (const Equation& equation : *equations) names_.insert(equation.name);
    if (names_.contains(invariant.name))
      faults_.add("duplicate-name",
                  fmt::format("the invariant '{}' has the name of {}", invariant.name,
                              mechanics_ ? "a constraint or an equation" : "an equation"),
                  "results show both under their names: choose another one", invariant.place);
  }

  Place place_of(const std::string& what) const {
    const auto found = model_.places.find(what);
    return found == model_.places.end() ? Place{model_.source} : found->second;
  }

  const Model& model_;
  Faults& faults_;
  bool mechanics_;
  expr::Walk walk_;
  std::unordered_set<std::string_view> names_;  ///< of equations and constraints
  std::unordered_map<NodeId, const Unknown*> values_;
  std::unordered_map<NodeId, Rate> rates_;
  std::unordered_map<const Unknown*, std::size_t> known_;
};

}  // namespace

void check_derivatives(const Model& model, Faults& faults) { DerivativeCheck(model, faults).run(); }

}  // namespace daedalus::model
