#include "daedalus/solve/analysis.hpp"

#include <fmt/format.h>

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/tidy.hpp"
#include "daedalus/linalg/rank.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::solve {

using mechanics::Functions;

namespace {

/// The pattern of [M G^T; G 0], which is the system Jacobian of the signature method for the offsets c = (0 for the
/// equations of motion, 2 for holonomic, 1 for nonholonomic constraints), d = (2 for q, 0 for lambda).
linalg::Sparsity kkt_pattern(const Functions& fn) {
  std::vector<std::vector<std::size_t>> rows(fn.n + fn.m);
  for (std::size_t i = 0; i < fn.n; ++i)
    for (std::size_t k = fn.mass.row_start[i]; k < fn.mass.row_start[i + 1]; ++k) rows[i].push_back(fn.mass.column[k]);
  for (std::size_t i = 0; i < fn.m; ++i)
    for (std::size_t k = fn.jacobian.row_start[i]; k < fn.jacobian.row_start[i + 1]; ++k) {
      rows[fn.jacobian.column[k]].push_back(fn.n + i);
      rows[fn.n + i].push_back(fn.jacobian.column[k]);
    }
  linalg::Sparsity pattern{fn.n + fn.m, fn.n + fn.m, {0}, {}};
  for (const auto& row : rows) {
    pattern.column.insert(pattern.column.end(), row.begin(), row.end());
    pattern.row_start.push_back(pattern.column.size());
  }
  return pattern;
}

/// Index of constrained motion: 3 with holonomic constraints, 2 with nonholonomic ones alone, 1 with algebraic auxiliary
/// unknowns, 0 for an ODE.
int index_of(const Functions& fn) {
  if (fn.holonomic > 0) return 3;
  if (fn.m > 0) return 2;
  return fn.algebraic.empty() ? 0 : 1;
}

}  // namespace

Analysis analyze(const std::shared_ptr<const Functions>& functions, double t_start) {
  const Functions& fn = *functions;
  const mechanics::Equations& eq = fn.equations;
  Analysis out;
  out.model = eq.model->name;
  out.kind = model::name_of(eq.model->kind);
  out.unknowns = out.equations = fn.n + fn.m + eq.z.size();

  for (const mechanics::Constraint& constraint : eq.constraints) {
    if (constraint.holonomic) out.hidden.push_back({constraint.name, 1, expr::to_text(expr::tidy(constraint.velocity)) + " = 0"});
  }
  for (std::size_t i = 0; i < fn.m; ++i) {
    const mechanics::Constraint& constraint = eq.constraints[i];
    expr::Expr level = -constraint.gamma;
    expr::Expr product = eq.model->graph->constant(0.0);
    for (std::size_t k = eq.G.row_start[i]; k < eq.G.row_start[i + 1]; ++k)
      product = product + eq.G.value[k] * eq.a[eq.G.column[k]];
    out.hidden.push_back({constraint.name, constraint.holonomic ? 2 : 1, expr::to_text(expr::tidy(product + level)) + " = 0"});
  }

  // The start tells rank and consistency; an analysis is given for every model, so a start that is contradicted by fixed
  // values is a remark here, not an error.
  Start start;
  try {
    start = consistent_start(functions, t_start, Initialize::project);
    if (!start.found) {
      out.notes.push_back(start.message);
      const std::string why = start.message;
      start = consistent_start(functions, t_start, Initialize::off);
      start.consistent_as_given = false;
    }
  } catch (const Error& error) {
    for (const Fault& fault : error.faults()) out.notes.push_back(fault.message);
    start = consistent_start(functions, t_start, Initialize::off);
    start.consistent_as_given = false;
  }
  out.consistent = start.consistent_as_given;
  out.violations = start.violations;
  out.redundant = start.redundant;
  out.open_multipliers = start.open_multipliers;
  out.notes.insert(out.notes.end(), start.notes.begin(), start.notes.end());
  out.degrees_of_freedom = fn.n - start.rank;
  out.invariants = start.invariants;
  out.free_initial_values =
      (fn.n - start.holonomic_rank) + (fn.n - start.rank) + fn.differential.size() - start.invariant_rank;

  out.index = index_of(fn);
  if (linalg::structural_rank(kkt_pattern(fn)) == fn.n + fn.m)
    out.structural_index = out.index;
  else
    out.notes.push_back(
        "structurally singular: no assignment of equations to unknowns exists, so some constraint or coordinate is "
        "not determined");
  mechanics::Evaluator evaluator(functions);
  if (!start.w.empty()) evaluator.guess_auxiliary(start.w);
  if (const auto outcome = evaluator.accelerations(t_start, start.x.data()); outcome != mechanics::Outcome::ok) {
    out.index.reset();
    out.notes.push_back(evaluator.explain());
  }

  out.system_class = fn.m == 0 ? (fn.algebraic.empty() ? "ordinary differential equations of motion"
                                                       : "equations of motion with algebraic auxiliary equations")
                     : fn.holonomic == fn.m ? "mechanical system with holonomic constraints"
                     : fn.holonomic == 0    ? "mechanical system with nonholonomic constraints"
                                            : "mechanical system with holonomic and nonholonomic constraints";
  return out;
}

namespace {

Analysis analyze_dae(const Prepared& prepared, double t_start) {
  const structure::DaeFunctions& fn = *prepared.dae;
  Analysis out;
  out.model = fn.model->name;
  out.kind = model::name_of(fn.model->kind);
  out.unknowns = out.equations = fn.dimension();
  Start start;
  try {
    start = consistent_start(prepared.dae, t_start, Initialize::project);
  } catch (const Error& error) {
    for (const Fault& fault : error.faults()) out.notes.push_back(fault.message);
    start.found = false;
  }
  out.consistent = start.found && start.consistent_as_given;
  if (!start.message.empty()) out.notes.push_back(start.message);
  if (!start.found) {
    out.system_class = start.index_above_one ? "differential-algebraic equations of an index above 1" : "differential-algebraic equations";
    return out;
  }
  structure::DaeEvaluator evaluator(prepared.dae);
  const auto middle = start.guess.begin() + static_cast<std::ptrdiff_t>(fn.dimension());
  const std::vector<double> y(start.guess.begin(), middle), dy(middle, start.guess.end());
  const bool easy = evaluator.easy(t_start, y.data(), dy.data());
  if (!easy) evaluator.index_at_most_one(t_start, y.data(), dy.data());
  const bool ode = easy && fn.differential == fn.dimension();
  out.index = ode ? 0 : 1;
  out.system_class = ode    ? "ordinary differential equations"
                     : easy ? "differential-algebraic equations of index 1"
                            : "differential-algebraic equations of index 1 with a singular matrix of derivatives";
  out.free_initial_values = (easy ? fn.differential : fn.dimension() - evaluator.hidden_equations()) - start.invariant_rank;
  out.violations = start.violations;
  out.invariants = start.invariants;
  out.notes.insert(out.notes.end(), start.notes.begin(), start.notes.end());
  return out;
}

}  // namespace

Analysis analyze(const Prepared& prepared, double t_start) {
  return prepared.dae ? analyze_dae(prepared, t_start) : analyze(prepared.functions, t_start);
}

}  // namespace daedalus::solve
