#include "daedalus/structure/dae_functions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/check.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/compile/native.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/model/checks.hpp"
#include "daedalus/structure/conversion.hpp"
#include "daedalus/structure/prolongation.hpp"

namespace daedalus::structure {

using expr::Expr;
using expr::NodeId;

namespace {

/// How often each variable is differentiated in the equations.
std::vector<std::size_t> highest_derivatives(const model::Model& model, const std::vector<Expr>& F) {
  std::unordered_map<NodeId, std::pair<std::size_t, std::size_t>> rate;
  for (std::size_t i = 0; i < model.variables.size(); ++i)
    for (std::size_t k = 0; k < model.variables[i].rates.size(); ++k)
      rate.emplace(model.variables[i].rates[k].id(), std::pair(i, k + 1));
  std::vector<std::size_t> highest(model.variables.size(), 0);
  for (const NodeId id : expr::symbols_of(F))
    if (const auto found = rate.find(id); found != rate.end())
      highest[found->second.first] = std::max(highest[found->second.first], found->second.second);
  return highest;
}

model::Start start_of(const model::Unknown& unknown, std::size_t times) {
  return times < unknown.start.size() ? unknown.start[times] : model::Start{};
}

/// Which variables stand in which equations.
model::Occurrences occurrences_in(const EquationSet& system) {
  const linalg::Sparsity pattern = signature_of(system).pattern;
  model::Occurrences occurrences;
  for (std::size_t i = 0; i < pattern.rows; ++i)
    occurrences.emplace_back(pattern.column.begin() + static_cast<std::ptrdiff_t>(pattern.row_start[i]),
                             pattern.column.begin() + static_cast<std::ptrdiff_t>(pattern.row_start[i + 1]));
  return occurrences;
}

/// The equations of which F consists and those that hold besides, and up to which derivative each variable is unknown.
struct Plan {
  std::vector<Expr> F, hidden;
  std::vector<std::size_t> highest;
};

/// Equations as their author wrote them.
Plan as_written(const EquationSet& system, DaeFunctions& out) {
  Plan plan;
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    plan.F.push_back(system.equations[i].residual);
    out.rows.push_back({system.equations[i].name, system.equations[i].place, system.equations[i].name, 0, i});
  }
  plan.highest = highest_derivatives(*out.model, plan.F);
  return plan;
}

/// Equations differentiated as the offsets say.
Plan differentiated(const EquationSet& system, const Offsets& offsets, DaeFunctions& out) {
  Plan plan;
  const std::vector<std::vector<Expr>> levels = prolong(system, offsets.c);
  for (std::size_t i = 0; i < levels.size(); ++i)
    for (std::size_t k = 0; k < levels[i].size(); ++k) {
      const EquationSet::Equation& equation = system.equations[i];
      const bool highest = k + 1 == levels[i].size();
      (highest ? plan.F : plan.hidden).push_back(levels[i][k]);
      (highest ? out.rows : out.hidden).push_back({model::derivative_name(equation.name, k), equation.place, equation.name, k, i});
    }
  for (const int d : offsets.d) plan.highest.push_back(static_cast<std::size_t>(d));
  // Derivatives above the offsets stand only where they count for nothing, as in k*der(x) with k = 0; so do those that the
  // offsets reach, in the levels below the highest.
  std::unordered_map<NodeId, Expr> nothing;
  const auto leave_out = [&](std::vector<Expr>& rows, std::size_t above) {
    for (std::size_t j = 0; j < system.unknowns.size(); ++j)
      for (std::size_t k = plan.highest[j] + above; k < system.unknowns[j].derivatives.size(); ++k)
        nothing.emplace(system.unknowns[j].derivatives[k].id(), out.model->graph->constant(0.0));
    if (!nothing.empty()) rows = expr::substitute(rows, nothing);
  };
  leave_out(plan.F, 1);
  leave_out(plan.hidden, 0);
  return plan;
}

std::shared_ptr<const DaeFunctions> compiled(std::shared_ptr<const model::Model> given, const Offsets* offsets,
                                             const model::Model* author = nullptr) {
  auto result = std::make_shared<DaeFunctions>();
  DaeFunctions& out = *result;
  out.model = std::move(given);
  const model::Model& model = *out.model;
  expr::Graph& graph = *model.graph;
  compile::ImplicitEquations& eq = out.equations;
  eq.t = model.time;
  const EquationSet system = equations_of(model);
  const Plan plan = offsets == nullptr ? as_written(system, out) : differentiated(system, *offsets, out);
  const std::vector<std::size_t>& highest = plan.highest;
  eq.F = plan.F;
  out.hidden_residuals = plan.hidden;

  // x, der(x), ... up to the last but one derivative are unknowns; each is the rate of the one before.
  std::vector<std::vector<std::size_t>> place(model.variables.size());
  for (const bool differential : {true, false})
    for (std::size_t i = 0; i < model.variables.size(); ++i) {
      const model::Unknown& variable = model.variables[i];
      if ((highest[i] > 0) != differential) continue;
      for (std::size_t k = 0; k < std::max<std::size_t>(highest[i], 1); ++k) {
        place[i].push_back(out.unknowns.size());
        out.unknowns.push_back({model::derivative_name(variable.name, k), &variable, k, start_of(variable, k)});
        out.rate_starts.push_back(start_of(variable, k + 1));
        eq.y.push_back(derivative_symbol(system.unknowns[i], k));
        const bool last = k + 1 >= highest[i];
        eq.dy.push_back(!differential ? Expr() : last ? derivative_symbol(system.unknowns[i], k + 1) : graph.symbol("rate." + out.unknowns.back().name));
        if (differential && !last) {
          eq.F.push_back(eq.dy.back() - derivative_symbol(system.unknowns[i], k + 1));
          const std::string name = "der(" + out.unknowns.back().name + ")";
          out.rows.push_back({name, variable.place, name, 0, eq.F.size() - 1});
        }
      }
      if (differential) out.differential = out.unknowns.size();
    }
  const std::size_t authors = author == nullptr ? model.variables.size() : author->variables.size();
  for (std::size_t i = 0; i < authors; ++i) out.columns.push_back({model.variables[i].name, place[i][0], false});
  std::vector<Expr> residuals;
  const std::vector<EquationSet::Equation> written = author == nullptr ? system.equations : equations_of(*author).equations;
  for (const EquationSet::Equation& equation : written) residuals.push_back(equation.residual);
  const std::vector<std::size_t> shown = offsets == nullptr ? highest : highest_derivatives(model, residuals);
  for (std::size_t i = 0; i < authors; ++i)
    for (std::size_t k = 1; k <= shown[i]; ++k)
      out.columns.push_back({model::derivative_name(model.variables[i].name, k), place[i][k - 1], true});
  if (model.kind == model::Kind::linear && model.E.rows != model.E.columns)
    throw Error("not-square", fmt::format("{} for {}", count(model.E.rows, "equation"), count(model.E.columns, "variable")),
                "to run a model, give E and A as many rows as there are variables",
                system.equations.empty() ? Place{model.source} : system.equations[0].place);
  Faults faults;
  if (offsets == nullptr) model::check_assignment(model, occurrences_in(system), faults);
  faults.throw_if_any();
  DAEDALUS_CHECK(eq.F.size() == eq.y.size(), "{} equations for {} unknowns", eq.F.size(), eq.y.size());

  const auto numbers = model.numbers();
  std::vector<Expr> discrete;
  for (const model::Parameter& value : model.discrete) discrete.push_back(value.symbol);
  out.switches.hold(discrete);
  out.function = compile::compile_implicit(eq, numbers, out.switches);

  std::unordered_set<NodeId> rates;
  for (const Expr& rate : eq.dy)
    if (rate.valid()) rates.insert(rate.id());
  const std::vector<bool> moving = expr::dependence(eq.F, rates);
  std::vector<Expr> terms;
  out.term_start.push_back(0);
  for (std::size_t i = 0; i < eq.F.size(); ++i) {
    if (moving[i]) continue;
    out.algebraic_rows.push_back(i);
    const std::vector<Expr> own = expr::terms_of(eq.F[i]);
    terms.insert(terms.end(), own.begin(), own.end());
    out.term_start.push_back(terms.size());
  }
  std::vector<std::vector<Expr>> inputs{{eq.t}, eq.y, {}};
  for (std::size_t i = 0; i < eq.dy.size(); ++i)
    inputs[2].push_back(eq.dy[i].valid() ? eq.dy[i] : graph.symbol("rate.none" + std::to_string(i)));
  // A step that a constraint takes is gone from its derivatives, and an event nevertheless.
  if (!plan.hidden.empty())
    static_cast<void>(compile::compile({inputs, plan.hidden, &numbers, compile::Request::NewSwitches::added}, out.switches));
  const auto make = [&](const std::vector<Expr>& outputs) {
    return outputs.empty() ? compile::Function{}
                           : compile::called_seldom(compile::compile(
                                 {inputs, outputs, &numbers, compile::Request::NewSwitches::none}, out.switches));
  };
  out.terms = make(terms);

  std::vector<Expr> kept = plan.hidden;
  for (const model::Equation& equation : model.invariants) kept.push_back(equation.residual);
  compile::ImplicitEquations initial{eq.t, eq.y, eq.dy, {}};
  for (const model::Equation& equation : model.initial) initial.F.push_back(equation.residual);
  initial.F.insert(initial.F.end(), kept.begin(), kept.end());
  if (!initial.F.empty()) out.initial = compile::compile_implicit(initial, numbers, out.switches, compile::Request::NewSwitches::none);
  const std::vector<Expr> state(eq.y.begin(), eq.y.begin() + static_cast<std::ptrdiff_t>(out.differential));
  if (!kept.empty()) out.kept = compile::compile_state_equations(kept, eq.t, state, numbers, out.switches);

  std::vector<Expr> outputs, pictures;
  for (const model::Named& output : model.outputs) outputs.push_back(output.value);
  for (const auto& [name, coordinates] : model.drawing.points) pictures.insert(pictures.end(), coordinates.begin(), coordinates.end());
  for (const model::Plot& plot : model.plots) {
    pictures.push_back(plot.x_value);
    pictures.insert(pictures.end(), plot.y_values.begin(), plot.y_values.end());
  }
  out.outputs = make(outputs);
  out.pictures = make(pictures);

  std::vector<Expr> solved;
  for (std::size_t i = 0; i < eq.y.size(); ++i) solved.push_back(eq.dy[i].valid() ? eq.dy[i] : eq.y[i]);
  std::unordered_set<NodeId> unknown;
  for (const Expr& e : solved) unknown.insert(e.id());
  const expr::SparseExpr by_solved = expr::jacobian(eq.F, solved);
  out.solved = {by_solved.rows, by_solved.columns, by_solved.row_start, by_solved.column};
  const auto free_of = [&](const std::unordered_set<NodeId>& symbols) {
    return std::ranges::none_of(expr::dependence(by_solved.value, symbols), [](bool depends) { return depends; });
  };
  out.linear_in_solved = free_of(unknown);
  out.solved_without_derivatives = free_of(rates);
  return result;
}

}  // namespace

std::shared_ptr<const DaeFunctions> compile_dae(std::shared_ptr<const model::Model> model) {
  return compiled(std::move(model), nullptr);
}

std::shared_ptr<const DaeFunctions> compile_dae(std::shared_ptr<const model::Model> model, const Offsets& offsets) {
  return compiled(std::move(model), &offsets);
}

std::shared_ptr<const DaeFunctions> compile_dae(const Converted& converted) {
  return compiled(converted.model, &converted.offsets, converted.author.get());
}

std::vector<bool> said_derivatives(const DaeFunctions& functions) {
  std::unordered_map<const model::Unknown*, std::size_t> written;  // the highest derivatives in the equations
  for (const DaeFunctions::Column& column : functions.columns) {
    const DaeFunctions::Unknown& unknown = functions.unknowns[column.unknown];
    if (std::size_t& highest = written[unknown.of]; column.rate) highest = std::max(highest, unknown.times + 1);
  }
  std::vector<bool> result;
  for (const DaeFunctions::Unknown& unknown : functions.unknowns)
    result.push_back(unknown.times > 0 && unknown.times >= written[unknown.of]);
  return result;
}

std::vector<bool> hidden_constraints(const DaeFunctions& functions) {
  const std::vector<bool> said = said_derivatives(functions);
  const linalg::Sparsity& pattern = functions.kept.pattern;
  std::unordered_set<std::string> others;
  for (std::size_t j = 0; j < functions.hidden.size(); ++j)
    for (std::size_t k = pattern.row_start[j]; functions.hidden[j].level == 0 && k < pattern.row_start[j + 1]; ++k)
      if (said[pattern.column[k]]) others.insert(functions.hidden[j].of);
  std::vector<bool> result;
  for (const DaeFunctions::Row& row : functions.hidden) result.push_back(!others.contains(row.of));
  return result;
}

int index_of_differentiated(const DaeFunctions& differentiated) {
  std::size_t most = 0;
  for (const DaeFunctions::Row& row : differentiated.rows) most = std::max(most, row.level);
  return static_cast<int>(most) + (differentiated.differential < differentiated.dimension() ? 1 : 0);
}

}  // namespace daedalus::structure
