#include "daedalus/model/builder.hpp"

#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "daedalus/model/checks.hpp"
#include "daedalus/model/elaborate.hpp"
#include "daedalus/model/syntax.hpp"

namespace daedalus::model {

struct Builder::Parts {
  Model model;
  Faults faults;
  Elaborator elaborator;
  std::unordered_map<NodeId, std::size_t> coordinate;  ///< position among the variables
  std::vector<std::vector<Expr>> mass;
  std::unordered_set<std::string> multipliers;  ///< of which lambda was asked

  explicit Parts(std::string name, Kind kind)
      : elaborator(*(model.graph = std::make_shared<expr::Graph>()),
                   [this](const Error& error) { faults.add(error); }) {
    model.name = std::move(name);
    model.kind = kind;
    model.time = elaborator.time();
  }

  void declare(Role role, const std::string& name) {
    if (!is_name(name.substr(0, name.find('['))))
      faults.add("bad-name", fmt::format("'{}' is not a name", name),
                 "names consist of letters, digits and '_'; x[1] is possible");
    elaborator.declare(role, name, Place{});
  }

  Expr unknown(Role role, const std::string& name, const UnknownOptions& options, std::vector<Unknown>& out) {
    declare(role, name);
    Item item;
    item.name = name;
    item.state = Item::State::done;
    item.expression = model.graph->symbol(name);
    elaborator.add_unknown(elaborator.add(item));
    Unknown unknown;
    unknown.name = name;
    unknown.symbol = item.expression;
    unknown.start = {{options.start, true, options.fixed, {}}};
    unknown.nominal = options.nominal;
    unknown.atol = options.atol;
    unknown.unit = options.unit;
    unknown.description = options.description;
    finite(options.start, name);
    out.push_back(std::move(unknown));
    return item.expression;
  }

  void finite(double value, const std::string& name) {
    if (!std::isfinite(value)) faults.add("not-finite", fmt::format("the value of '{}' is not a finite number", name));
  }

  void give_start(Expr symbol, double value, bool fixed) {
    const Elaborator::UnknownSymbol* which =
        symbol.valid() && symbol.is_symbol() ? elaborator.unknown_of(symbol.id()) : nullptr;
    if (which == nullptr) {
      faults.add("unknown-name", "a start value belongs to an unknown or a derivative of one",
                 "write start(x, 1.0) or start(b.der(x), 1.0)");
      return;
    }
    const std::string& name = elaborator.item(which->item).name;
    finite(value, name);
    for (auto* unknowns : {&model.variables, &model.auxiliary}) {
      for (Unknown& unknown : *unknowns) {
        if (unknown.name != name) continue;
        const auto order = static_cast<std::size_t>(which->order);
        if (unknown.start.size() <= order) unknown.start.resize(order + 1);
        unknown.start[order] = {value, true, fixed, {}};
      }
    }
  }

  std::size_t position(Expr coordinate_symbol, std::string_view what) {
    const auto found = coordinate_symbol.valid() ? coordinate.find(coordinate_symbol.id()) : coordinate.end();
    if (found != coordinate.end()) return found->second;
    faults.add("unknown-name", fmt::format("{} belongs to a variable", what), "give the variable itself");
    return model.variables.size();
  }

  Equation make(const std::string& name, Expr left, Expr right) const { return {name, left, right, left - right, {}}; }
};

Builder::Builder(std::string name, Kind kind) : parts_(std::make_unique<Parts>(std::move(name), kind)) {}
Builder::~Builder() = default;
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;

void Builder::description(std::string text) { parts_->model.description = std::move(text); }
Expr Builder::time() const { return parts_->model.time; }
Expr Builder::constant(double value) const { return parts_->model.graph->constant(value); }

Expr Builder::parameter(const std::string& name, double value) {
  parts_->declare(Role::parameter, name);
  parts_->finite(value, name);
  Parameter parameter;
  parameter.name = name;
  parameter.symbol = parts_->model.graph->symbol(name);
  parameter.value = value;
  parts_->model.parameters.push_back(parameter);
  return parameter.symbol;
}

Expr Builder::variable(const std::string& name, const UnknownOptions& options) {
  const Expr symbol = parts_->unknown(Role::variable, name, options, parts_->model.variables);
  parts_->coordinate.emplace(symbol.id(), parts_->coordinate.size());
  return symbol;
}

Expr Builder::auxiliary(const std::string& name, const UnknownOptions& options) {
  return parts_->unknown(Role::auxiliary, name, options, parts_->model.auxiliary);
}

Expr Builder::discrete(const std::string& name, double value) {
  parts_->declare(Role::discrete, name);
  parts_->finite(value, name);
  Parameter parameter;
  parameter.name = name;
  parameter.symbol = parts_->model.graph->symbol(name);
  parameter.value = value;
  parts_->model.discrete.push_back(parameter);
  return parameter.symbol;
}

Expr Builder::der(Expr expression, int times) { return parts_->elaborator.derivative(expression, times); }
void Builder::start(Expr unknown, double value) { parts_->give_start(unknown, value, false); }
void Builder::fix(Expr unknown, double value) { parts_->give_start(unknown, value, true); }

void Builder::kinetic(Expr energy) { parts_->model.kinetic = energy; }
void Builder::potential(Expr energy) { parts_->model.potential = energy; }
void Builder::lagrangian(Expr energy) { parts_->model.lagrangian = energy; }
void Builder::dissipation(Expr function) { parts_->model.dissipation = function; }

void Builder::force(Expr coordinate, Expr value) {
  Parts& parts = *parts_;
  const std::size_t at = parts.position(coordinate, "a force");
  if (at >= parts.model.variables.size()) return;
  if (parts.model.kind == Kind::mechanical) {
    if (parts.model.force.size() <= at) parts.model.force.resize(at + 1);
    parts.model.force[at] = value;
  } else {
    parts.model.forces.push_back({parts.model.variables[at].name, value, {}, {}, {}});
  }
}

void Builder::mass(Expr row, Expr column, Expr value) {
  Parts& parts = *parts_;
  const std::size_t i = parts.position(row, "a row of the mass matrix"),
                    j = parts.position(column, "a column of the mass matrix");
  const std::size_t n = parts.model.variables.size();
  if (i < n && j < n) parts.model.mass.entries.push_back({i, j, value});
}

void Builder::linear(const std::vector<std::vector<double>>& E, const std::vector<std::vector<double>>& A,
                     const std::vector<Expr>& f) {
  Parts& parts = *parts_;
  const auto matrix = [&](const std::vector<std::vector<double>>& given, std::string_view name) {
    Matrix result;
    result.rows = given.size();
    result.columns = given.empty() ? 0 : given[0].size();
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i].size() != result.columns)
        parts.faults.add("wrong-size", fmt::format("the rows of {} have different lengths", name));
      for (std::size_t j = 0; j < given[i].size(); ++j)
        if (given[i][j] != 0.0) result.entries.push_back({i, j, constant(given[i][j])});
    }
    return result;
  };
  parts.model.E = matrix(E, "E");
  parts.model.A = matrix(A, "A");
  parts.model.f = f.empty() ? std::vector<Expr>(parts.model.E.rows, constant(0.0)) : f;
}

Expr Builder::constraint(const std::string& name, Expr left, Expr right) {
  parts_->elaborator.add_constraint(name, name);
  parts_->model.constraints.push_back(parts_->make(name, left, right));
  const Expr multiplier = parts_->model.graph->symbol("lambda." + name);
  parts_->elaborator.add_multiplier(multiplier);
  parts_->model.multipliers.push_back(multiplier);
  return multiplier;
}

Expr Builder::constraint(const std::string& name, Expr residual) { return constraint(name, residual, constant(0.0)); }

void Builder::equation(const std::string& name, Expr left, Expr right) {
  parts_->model.equations.push_back(parts_->make(name, left, right));
}
void Builder::initial(const std::string& name, Expr left, Expr right) {
  parts_->model.initial.push_back(parts_->make(name, left, right));
}
void Builder::invariant(const std::string& name, Expr left, Expr right) {
  parts_->model.invariants.push_back(parts_->make(name, left, right));
}

void Builder::output(const std::string& name, Expr value) {
  parts_->declare(Role::output, name);
  parts_->model.outputs.push_back({name, value, {}, {}, {}});
}

void Builder::event(Event event) { parts_->model.events.push_back(std::move(event)); }
void Builder::simulation(Simulation simulation) { parts_->model.simulation = std::move(simulation); }

Expr Builder::multiplier(const std::string& constraint) {
  parts_->multipliers.insert(constraint);
  const Expr symbol = parts_->model.graph->symbol("lambda." + constraint);
  parts_->elaborator.add_multiplier(symbol);
  return symbol;
}

Expr Builder::reaction(const std::string& constraint, Expr coordinate) {
  parts_->multipliers.insert(constraint);
  const std::size_t at = parts_->position(coordinate, "a reaction");
  if (at >= parts_->model.variables.size()) return constant(0.0);
  const Expr symbol = parts_->model.graph->symbol(reaction_name(constraint, parts_->model.variables[at].name));
  parts_->elaborator.add_multiplier(symbol);
  return symbol;
}

Model Builder::build() const {
  Model model = parts_->model;
  Faults faults = parts_->faults;
  const std::size_t n = model.variables.size();
  if (n == 0) faults.add("no-variables", "the model has no variables", "call variable(name)");
  if (model.kind == Kind::lagrangian) {
    if (model.lagrangian && (model.kinetic || model.potential))
      faults.add("both-energies", "the model gives the Lagrangian and energies", "give one or the other");
    else if (!model.lagrangian && !model.kinetic)
      faults.add("missing-key", "the model has no kinetic energy", "call kinetic(...) or lagrangian(...)");
    if (model.kinetic && !model.potential) model.potential = model.graph->constant(0.0);
  }
  if (model.kind == Kind::mechanical) {
    model.mass.rows = model.mass.columns = n;
    if (model.mass.entries.empty()) faults.add("missing-key", "the model has no mass matrix", "call mass(x, x, m)");
    model.force.resize(n, Expr{});
    for (Expr& force : model.force)
      if (!force.valid()) force = model.graph->constant(0.0);
  }
  if (model.kind == Kind::linear) {
    if (model.E.columns != n || model.A.columns != n || model.A.rows != model.E.rows || model.f.size() != model.E.rows)
      faults.add("wrong-size",
                 fmt::format("E is {} by {}, A {} by {}, f has {} entries, and there are {} variables", model.E.rows,
                             model.E.columns, model.A.rows, model.A.columns, model.f.size(), n),
                 "give one column for every variable and one entry of f for every row");
  }
  for (const std::string& name : parts_->multipliers) {
    std::vector<std::string> known;
    bool found = false;
    for (const Equation& constraint : model.constraints) {
      known.push_back(constraint.name);
      found = found || constraint.name == name;
    }
    if (!found) faults.add("unknown-name", fmt::format("there is no constraint '{}'", name), suggest(name, known));
  }
  complete_unknowns(model, parts_->elaborator);
  check_balance(model, faults);
  if (faults.empty()) check_model(model, faults);
  faults.throw_if_any();
  return model;
}

}  // namespace daedalus::model
