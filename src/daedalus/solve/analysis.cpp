#include "daedalus/solve/analysis.hpp"

#include <fmt/format.h>

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/tidy.hpp"
#include "daedalus/solve/analysis_index.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::solve {

using mechanics::Functions;

namespace {

/// Index of constrained motion: 3 with holonomic constraints, 2 with nonholonomic ones alone, 1 with algebraic auxiliary
/// unknowns, 0 for an ODE.
int index_of(const Functions& fn) {
  if (fn.holonomic > 0) return 3;
  if (fn.m > 0) return 2;
  return fn.algebraic.empty() ? 0 : 1;
}

std::string singular_note(const structure::StructuralAnalysis& structure) {
  std::string note = "structurally singular: no assignment of equations to unknowns exists";
  if (!structure.parts.over.rows.empty()) note += "; too many: " + structure.text_of(structure.parts.over);
  if (!structure.parts.under.columns.empty()) note += "; too few: " + structure.text_of(structure.parts.under);
  return note;
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
  out.structure = structure::structural_analysis(equations_of(eq));
  out.structural_index = out.structure.index();
  if (!out.structure.regular()) out.notes.push_back(singular_note(out.structure));
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

/// Derivatives of the author's equations that hold besides these.
std::vector<HiddenConstraint> hidden_constraints(const structure::DaeFunctions& fn) {
  std::vector<HiddenConstraint> result;
  const auto add = [&](const structure::DaeFunctions::Row& row, const expr::Expr& residual) {
    if (row.level > 0)
      result.push_back({row.of, static_cast<int>(row.level), expr::to_text(expr::tidy(residual)) + " = 0"});
  };
  for (std::size_t i = 0; i < fn.hidden.size(); ++i) add(fn.hidden[i], fn.hidden_residuals[i]);
  for (std::size_t i = 0; i < fn.rows.size(); ++i) add(fn.rows[i], fn.equations.F[i]);
  return result;
}

/// How often equations were differentiated at most; once more would give the derivatives of algebraic unknowns.
int index_of(const structure::DaeFunctions& fn) {
  std::size_t level = fn.differential < fn.dimension() ? 1 : 0;
  for (const structure::DaeFunctions::Row& row : fn.rows) level = std::max(level, row.level + (fn.differential < fn.dimension() ? 1 : 0));
  return static_cast<int>(level);
}

/// Says what the system Jacobian means for the structural index.
std::string note_on(const StructureCheck& check) {
  using Verdict = StructureCheck::Verdict;
  switch (check.verdict) {
    case Verdict::singular:
      return fmt::format(
          "the structure does not tell the index: the system Jacobian is singular wherever it was tried, its rows for {} "
          "follow from others",
          structure::listed(check.dependent));
    case Verdict::singular_at_start:
      return fmt::format("the system Jacobian is singular at the start, its rows for {} follow from others; nearby it is not",
                         structure::listed(check.dependent));
    case Verdict::not_finite: return "the system Jacobian has no finite values at the start nor nearby";
    default: return {};
  }
}

Analysis analyze_structure(const model::Model& model, const structure::EquationSet& system) {
  Analysis out;
  out.model = model.name;
  out.kind = model::name_of(model.kind);
  out.structure = structure::structural_analysis(system);
  out.structural_index = out.structure.index();
  out.unknowns = out.structure.unknowns.size();
  out.equations = out.structure.equations.size();
  return out;
}

/// Adds to the structure of a DAE what its values tell.
Analysis analyze_values(Analysis out, const structure::EquationSet& system, const Prepared& prepared, double t_start) {
  const structure::DaeFunctions& fn = *prepared.solvable_dae();
  out.hidden = hidden_constraints(fn);
  Start start;
  try {
    start = consistent_start(prepared, t_start, Initialize::project);
  } catch (const Error& error) {
    for (const Fault& fault : error.faults()) out.notes.push_back(fault.message);
    start.found = false;
  }
  out.consistent = start.found && start.consistent_as_given;
  if (!start.message.empty()) out.notes.push_back(start.message);
  out.structure_check = check_structure(system, out.structure, t_start, start.found ? start.values : NamedValues{});
  if (const std::string note = note_on(out.structure_check); !note.empty()) out.notes.push_back(note);
  if (!start.found) {
    if (out.structure_check.verdict == StructureCheck::Verdict::regular)
      out.free_initial_values = out.structure.sigma->offsets.degrees_of_freedom();
    out.system_class = start.index_above_one ? "differential-algebraic equations of an index above 1" : "differential-algebraic equations";
    if (start.index_above_one) judge_index(*prepared.dae, start, out);
    return out;
  }
  out.violations = start.violations;
  out.invariants = start.invariants;
  out.notes.insert(out.notes.end(), start.notes.begin(), start.notes.end());
  if (prepared.reduced) {
    out.index = index_of(fn);
    out.system_class = fmt::format("differential-algebraic equations of index {}", *out.index);
    out.free_initial_values = fn.differential - fn.hidden.size() - start.invariant_rank;
    judge_index(*prepared.dae, start, out);
    return out;
  }
  if (prepared.array) {
    judge_index(*prepared.dae, start, out);
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
  return out;
}

}  // namespace

Analysis analyze(const std::shared_ptr<const model::Model>& model, double t_start) {
  if (model->kind != model::Kind::dae && model->kind != model::Kind::linear) return analyze(prepare(model), t_start);
  const structure::EquationSet system = structure::equations_of(*model);
  Analysis out = analyze_structure(*model, system);
  if (out.structure.regular()) return analyze_values(std::move(out), system, prepare(model), t_start);
  out.system_class = out.unknowns == out.equations ? "structurally singular equations"
                     : out.unknowns < out.equations ? "more equations than unknowns"
                                                    : "fewer equations than unknowns";
  out.consistent = false;
  return out;
}

Analysis analyze(const Prepared& prepared, double t_start) {
  if (!prepared.dae) return analyze(prepared.functions, t_start);
  const structure::EquationSet system = structure::equations_of(*prepared.model);
  return analyze_values(analyze_structure(*prepared.model, system), system, prepared, t_start);
}

}  // namespace daedalus::solve
