#include "daedalus/model/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <unordered_set>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/expr/walk.hpp"
#include "daedalus/model/rules.hpp"

namespace daedalus::model {

namespace {

using expr::Op;

/// Degree of a polynomial in some symbols; more than any polynomial where it is none.
constexpr int no_polynomial = 1000;

class Checker {
 public:
  Checker(const Model& model, Faults& faults) : model_(model), faults_(faults) {
    for (const Unknown& unknown : model.variables) add(unknown, false);
    for (const Unknown& unknown : model.auxiliary) add(unknown, true);
    for (const Parameter& parameter : model.parameters) parameters_.insert(parameter.symbol.id());
  }

  void run() {
    if (model_.kind == Kind::lagrangian) {
      energy(model_.kinetic, rules::kinetic, "kinetic");
      energy(model_.potential, rules::potential, "potential");
      energy(model_.lagrangian, rules::lagrangian, "lagrangian");
      if (model_.dissipation)
        allowed(*model_.dissipation, rules::dissipation, place_of("dissipation"), "'dissipation'");
      for (const Named& force : model_.forces)
        allowed(force.value, rules::force, force.place, fmt::format("the force on '{}'", force.name));
    }
    if (model_.kind == Kind::mechanical) {
      for (const Entry& entry : model_.mass.entries)
        allowed(entry.value, rules::mass, place_of("mass"),
                fmt::format("the mass matrix in row {}, column {}", entry.row + 1, entry.column + 1));
      for (std::size_t i = 0; i < model_.force.size(); ++i)
        allowed(model_.force[i], rules::force, place_of("force"), fmt::format("entry {} of the force", i + 1));
    }
    if (model_.kind == Kind::lagrangian || model_.kind == Kind::mechanical) {
      for (const Equation& constraint : model_.constraints) check_constraint(constraint);
      for (const Equation& equation : model_.equations)
        allowed(equation.residual, rules::auxiliary_equation, equation.place, fmt::format("'{}'", equation.name));
    }
    if (model_.kind == Kind::linear) {
      for (const auto& [name, matrix] :
           {std::pair("E", &model_.E), std::pair("A", &model_.A), std::pair("B", &model_.B), std::pair("C", &model_.C),
            std::pair("D", &model_.D)})
        for (const Entry& entry : matrix->entries)
          allowed(entry.value, rules::matrix, place_of(name), fmt::format("'{}'", name));
      for (const Expr& entry : model_.f) allowed(entry, rules::linear_force, place_of("f"), "'f'");
    }
    for (const Equation& equation : model_.initial)
      allowed(equation.residual, rules::initial, equation.place, fmt::format("'{}'", equation.name));
    for (const Equation& equation : model_.invariants)
      allowed(equation.residual, rules::invariant, equation.place, fmt::format("'{}'", equation.name));
  }

 private:
  struct Symbol {
    int order;
    bool auxiliary;
  };

  void add(const Unknown& unknown, bool auxiliary) {
    symbols_[unknown.symbol.id()] = {0, auxiliary};
    for (std::size_t k = 0; k < unknown.rates.size(); ++k)
      symbols_[unknown.rates[k].id()] = {static_cast<int>(k) + 1, auxiliary};
  }

  Place place_of(const std::string& what) const {
    const auto found = model_.places.find(what);
    return found == model_.places.end() ? Place{} : found->second;
  }

  /// Reports the first symbol of an expression that the rules do not allow.
  bool allowed(Expr expression, const Rules& rules, const Place& place, const std::string& what) {
    const NodeId root[] = {expression.id()};
    for (const NodeId id : walk_.from(expression.graph(), root)) {
      if (expression.graph().node(id).op != Op::symbol) continue;
      const std::string& name = expression.graph().symbol_name(expression.graph().node(id).index);
      const auto found = symbols_.find(id);
      if ((rules.parameters_only && !parameters_.contains(id)) || (rules.signal && found != symbols_.end())) {
        faults_.add("not-constant", fmt::format("{} uses '{}', which may not be used in {}", what, name, rules.where),
                    rules.advice, place);
        return false;
      }
      if (found == symbols_.end()) {
        if (rules.multipliers || (!name.starts_with("lambda.") && !name.starts_with("reaction."))) continue;
        faults_.add("multiplier-not-allowed",
                    fmt::format("{} uses '{}', which may not be used in {}", what, name, rules.where),
                    "multipliers and reactions may appear in outputs, events, plots and drawing", place);
        return false;
      }
      const int highest = found->second.auxiliary ? rules.highest_auxiliary : rules.highest_variable;
      if (found->second.order <= highest) continue;
      faults_.add("not-allowed-here", fmt::format("{} uses '{}', which may not be used in {}", what, name, rules.where),
                  rules.advice, place);
      return false;
    }
    return true;
  }

  /// Degree of an expression in the velocities.
  int degree(Expr expression) {
    const NodeId root[] = {expression.id()};
    const expr::Graph& graph = expression.graph();
    const std::vector<NodeId>& order = walk_.from(graph, root);
    std::vector<int> degrees(order.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const expr::Node& node = graph.node(order[i]);
      const auto of = [&](NodeId id) { return degrees[walk_.position(id)]; };
      int result = 0;
      switch (node.op) {
        case Op::constant:
          break;
        case Op::symbol: {
          const auto found = symbols_.find(order[i]);
          result = found != symbols_.end() && found->second.order == 1 && !found->second.auxiliary ? 1 : 0;
          break;
        }
        case Op::add:
        case Op::sub:
          result = std::max(of(node.a), of(node.b));
          break;
        case Op::neg:
          result = of(node.a);
          break;
        case Op::mul:
          result = of(node.a) + of(node.b);
          break;
        case Op::div:
          result = of(node.b) == 0 ? of(node.a) : no_polynomial;
          break;
        case Op::choose:
          result = of(node.a) == 0 ? std::max(of(node.b), of(node.c)) : no_polynomial;
          break;
        case Op::pow: {
          const expr::Node& exponent = graph.node(node.b);
          const bool whole = exponent.op == Op::constant && exponent.value >= 0.0 && exponent.value <= 100.0 &&
                             exponent.value == std::floor(exponent.value);
          if (of(node.a) == 0 && of(node.b) == 0)
            result = 0;
          else
            result = whole ? of(node.a) * static_cast<int>(exponent.value) : no_polynomial;
          break;
        }
        default:
          for (int k = 0; k < expr::arity(node.op); ++k)
            if (of(k == 0 ? node.a : k == 1 ? node.b : node.c) > 0) result = no_polynomial;
          if (result > 0 && (node.op == Op::lookup || node.op == Op::floor || node.op == Op::sign)) by_pieces_ = true;
      }
      degrees[i] = std::min(result, no_polynomial);
    }
    return degrees.back();
  }

  /// Whether an expression has a higher degree in the velocities than `most` after differentiating: what cancels does
  /// not count.
  bool exceeds(Expr expression, int most) {
    by_pieces_ = false;
    if (degree(expression) <= most) return false;
    if (by_pieces_) return true;
    std::vector<Expr> rest{expression};
    for (int k = 0; k < most; ++k) {
      std::vector<Expr> next;
      for (const Expr& one : rest) {
        std::vector<Expr> velocities;
        const NodeId root[] = {one.id()};
        for (const NodeId id : walk_.from(one.graph(), root)) {
          const auto found = symbols_.find(id);
          if (found != symbols_.end() && found->second.order == 1 && !found->second.auxiliary)
            velocities.emplace_back(&one.graph(), id);
        }
        try {
          for (const Expr& part : expr::gradient(one, velocities)) next.push_back(part);
        } catch (const Error&) {
          return true;  // a table of a velocity is no polynomial
        }
      }
      rest = std::move(next);
    }
    std::erase_if(rest, [&](Expr part) { return degree(part) == 0; });
    return !rest.empty() && varies(rest);
  }

  /// Whether one of the expressions changes with the velocities, by numbers: hypot(x', y')^2 is quadratic, but no degree
  /// says so. Compares at points that differ in the velocities alone; round-off is far below the bound, and what is no
  /// polynomial of the degree differs by far more at one of the points.
  bool varies(const std::vector<Expr>& parts) {
    constexpr int trials = 12, needed = 4;
    constexpr double bound = 1e-7;
    std::mt19937_64 random(20240601);
    std::uniform_real_distribution<double> positive(0.5, 1.5), any(-1.5, 1.5);
    int judged = 0;
    for (int trial = 0; trial < trials; ++trial) {
      std::unordered_map<NodeId, double> one = model_.numbers();
      for (const NodeId id : expr::symbols_of(parts)) one.emplace(id, positive(random));
      std::unordered_map<NodeId, double> other = one;
      for (auto& [id, value] : other)
        if (const auto found = symbols_.find(id); found != symbols_.end() && found->second.order == 1) value = any(random);
      double size = 0.0, change = 0.0;
      try {
        for (const Expr& part : parts) {
          const double a = expr::evaluate(part, one), b = expr::evaluate(part, other);
          size = std::max({size, std::abs(a), std::abs(b)});
          change = std::isfinite(a) && std::isfinite(b) ? std::max(change, std::abs(a - b))
                                                        : std::numeric_limits<double>::infinity();
        }
      } catch (const Error&) {
        return true;  // a table of a velocity is no polynomial
      }
      if (!std::isfinite(change)) continue;
      if (change > bound * size) return true;
      ++judged;
    }
    return judged < needed;
  }

  void energy(const std::optional<Expr>& expression, const Rules& rules, const std::string& key) {
    if (!expression || !allowed(*expression, rules, place_of(key), fmt::format("'{}'", key))) return;
    if (exceeds(*expression, 2))
      faults_.add("not-quadratic", fmt::format("{} is more than quadratic in the velocities", rules.where),
                  "energies are at most quadratic in velocities", place_of(key));
  }

  void check_constraint(const Equation& constraint) {
    if (!allowed(constraint.residual, rules::constraint, constraint.place, fmt::format("'{}'", constraint.name)))
      return;
    bool unknowns = false;
    const NodeId root[] = {constraint.residual.id()};
    for (const NodeId id : walk_.from(constraint.residual.graph(), root)) unknowns = unknowns || symbols_.contains(id);
    const expr::Node& node = constraint.residual.graph().node(constraint.residual.id());
    if (node.op == Op::constant)
      faults_.add("constraint-without-unknown",
                  fmt::format("the constraint '{}' {}: its two sides {}", constraint.name,
                              node.value == 0.0 ? "says nothing" : "can never hold",
                              node.value == 0.0 ? "are the same" : fmt::format("always differ by {}", std::abs(node.value))),
                  "a constraint connects coordinates or velocities", constraint.place);
    else if (!unknowns)
      faults_.add("constraint-without-unknown",
                  fmt::format("the constraint '{}' contains no coordinate and no velocity", constraint.name),
                  "a constraint connects coordinates or velocities", constraint.place);
    else if (exceeds(constraint.residual, 1))
      faults_.add("constraint-not-linear",
                  fmt::format("the constraint '{}' is not linear in the velocities", constraint.name),
                  "a nonholonomic constraint is linear in der(x), der(y), ...", constraint.place);
  }

  const Model& model_;
  Faults& faults_;
  expr::Walk walk_;
  bool by_pieces_ = false;  ///< a table, a floor or a sign of velocities: derivatives would hide what it is
  std::unordered_map<NodeId, Symbol> symbols_;
  std::unordered_set<NodeId> parameters_;
};

}  // namespace

void check_model(const Model& model, Faults& faults) {
  Checker(model, faults).run();
  check_derivatives(model, faults);
}

}  // namespace daedalus::model
