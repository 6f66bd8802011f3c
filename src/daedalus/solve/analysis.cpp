#include "daedalus/solve/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/listed.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/expr/tidy.hpp"
#include "daedalus/solve/analysis_easy.hpp"
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
    start = consistent_start(functions, t_start, Initialize::project, Look::freedom);
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
  out.free = start.free;
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
  } else {
    judge_easiness(fn, start, out);
  }

  out.system_class = fn.m == 0 ? (fn.algebraic.empty() ? "ordinary differential equations of motion"
                                                       : "equations of motion with algebraic auxiliary equations")
                     : fn.holonomic == fn.m ? "mechanical system with holonomic constraints"
                     : fn.holonomic == 0    ? "mechanical system with nonholonomic constraints"
                                            : "mechanical system with holonomic and nonholonomic constraints";
  return out;
}

namespace {

/// Derivatives of the author's equations that hold besides these, and combinations of his equations.
std::vector<HiddenConstraint> hidden_constraints(const structure::DaeFunctions& fn, const structure::Converted* converted) {
  // Of thousands nobody reads more than the first.
  constexpr std::size_t most_tidied = 500;
  std::vector<HiddenConstraint> result;
  const auto add = [&](const structure::DaeFunctions::Row& row, expr::Expr residual) {
    const bool combined = converted != nullptr && std::ranges::find(converted->equations, row.of) != converted->equations.end();
    if (row.level == 0 && !combined) return;
    if (converted != nullptr) {
      if (row.of.starts_with(structure::definition_of)) return;
      residual = expr::substitute(residual, converted->meaning);
    }
    if (result.size() < most_tidied) residual = expr::tidy(residual);
    result.push_back({row.of, static_cast<int>(row.level), expr::to_text(residual) + " = 0"});
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

std::string note_on(const structure::Converted& converted) {
  std::string note = "the structure was repaired: ";
  if (!converted.equations.empty()) note += fmt::format("{} in place of equations", listed(converted.equations));
  if (!converted.unknowns.empty())
    note += fmt::format("{}{} as unknowns", converted.equations.empty() ? "" : ", ", listed(converted.unknowns));
  return note;
}

Analysis analyze_structure(const model::Model& model, const structure::EquationSet& system, double t_start) {
  Analysis out;
  out.model = model.name;
  out.kind = model::name_of(model.kind);
  out.structure = structure::structural_analysis(system);
  out.structural_index = out.structure.index();
  out.unknowns = out.structure.unknowns.size();
  out.equations = out.structure.equations.size();
  out.linear = linear_findings(model, t_start);
  if (out.linear) out.notes = out.linear->notes;
  return out;
}

/// Nothing that was given has to change: what nobody gave is as the start has it.
void take_start(const Start& start, LinearFindings& findings) {
  findings.nearest->distance = 0.0;
  for (const auto& [name, value] : start.values)
    for (std::size_t j = 0; j < findings.unknowns.size(); ++j)
      if (findings.unknowns[j] == name) findings.nearest->values[j] = value;
}

/// Whether the pencil tells the index.
bool pencil_decides(const Analysis& analysis) { return analysis.linear && analysis.linear->structure.decided; }

/// Lets the pencil of linear equations speak. Where it is not clear, its likeliest structure is what all else is told of.
Analysis with_pencil(Analysis out) {
  if (!out.linear) return out;
  const structure::KroneckerStructure& structure = out.linear->structure;
  out.system_class = class_of(*out.linear) + (structure.decided ? "" : ", as far as can be told");
  out.index = structure.index;
  if (structure.regular && out.invariants.empty()) out.free_initial_values = structure.differential_dimension;
  return out;
}

/// Adds to the structure of a DAE what its values tell.
Analysis analyze_values(Analysis out, const structure::EquationSet& system, const Prepared& prepared, double t_start) {
  const structure::DaeFunctions& fn = *prepared.solvable_dae();
  // Of linear equations whose structure was repaired the manifold says the same, without the numbers of the repair.
  const bool manifold = prepared.converted && pencil_decides(out) && !out.linear->manifold.empty();
  if (!manifold) out.hidden = hidden_constraints(fn, prepared.converted.get());
  Start start;
  try {
    start = consistent_start(prepared, t_start, Initialize::project, Look::freedom);
  } catch (const Error& error) {
    for (const Fault& fault : error.faults()) out.notes.push_back(fault.message);
    start.found = false;
    start.t = t_start;
  }
  out.consistent = out.runnable && start.found && start.consistent_as_given;
  if (out.consistent && out.linear && out.linear->nearest) take_start(start, *out.linear);
  if (!start.message.empty()) out.notes.push_back(start.message);
  out.structure_check = check_structure(system, out.structure, t_start, start.found ? start.values : NamedValues{});
  if (const std::string note = note_on(out.structure_check); !note.empty()) out.notes.push_back(note);
  judge_easiness(*prepared.dae, start, out);
  if (!start.found) {
    if (out.structure_check.verdict == StructureCheck::Verdict::regular)
      out.free_initial_values = out.structure.sigma->offsets.degrees_of_freedom();
    out.system_class = start.index_above_one ? "differential-algebraic equations of an index above 1" : "differential-algebraic equations";
    if ((start.index_above_one || prepared.array) && !pencil_decides(out)) judge_index(*prepared.dae, start, out);
    return out;
  }
  out.violations = start.violations;
  out.invariants = start.invariants;
  out.free = start.free;
  out.notes.insert(out.notes.end(), start.notes.begin(), start.notes.end());
  if (prepared.reduced) {
    out.index = prepared.converted ? prepared.converted->index : index_of(fn);
    if (prepared.converted && !manifold) out.notes.push_back(note_on(*prepared.converted));
    out.system_class = fmt::format("differential-algebraic equations of index {}", *out.index);
    out.free_initial_values = fn.differential - fn.hidden.size() - start.invariant_rank;
    if (!pencil_decides(out)) judge_index(*prepared.dae, start, out);
    return out;
  }
  if (prepared.array) {
    if (!pencil_decides(out)) judge_index(*prepared.dae, start, out);
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

void note_faults(const Error& error, Analysis& out) {
  out.runnable = out.consistent = false;
  for (const Fault& fault : error.faults())
    out.notes.push_back(fault.message + (fault.advice.empty() ? "" : "; " + fault.advice));
}

/// Mechanics that cannot be prepared: what follows from where its unknowns stand. Throws Error where the energies or matrices
/// themselves are at fault.
Analysis analyze_unprepared(const std::shared_ptr<const model::Model>& model, const Error& error) {
  Analysis out;
  out.model = model->name;
  out.kind = model::name_of(model->kind);
  out.system_class = "mechanical system that cannot be run as it is";
  note_faults(error, out);
  out.structure = structure::structural_analysis(equations_of(mechanics::derive(model)));
  out.structural_index = out.structure.index();
  out.unknowns = out.structure.unknowns.size();
  out.equations = out.structure.equations.size();
  return out;
}

}  // namespace

Analysis analyze(const std::shared_ptr<const model::Model>& model, double t_start) {
  std::optional<Prepared> prepared;
  if (model->kind != model::Kind::dae && model->kind != model::Kind::linear) {
    try {
      prepared = prepare(model);
    } catch (const Error& error) {
      return analyze_unprepared(model, error);
    }
    return analyze(*prepared, t_start);
  }
  const structure::EquationSet system = structure::equations_of(*model);
  Analysis out = analyze_structure(*model, system, t_start);
  const bool singular = out.linear && !out.linear->structure.regular;
  if (out.structure.regular() && !singular) {
    try {
      prepared = prepare(model);
    } catch (const Error& error) {
      note_faults(error, out);
      prepared.emplace();
      prepared->model = model;
      prepared->dae = structure::compile_dae(model);
    }
    return with_pencil(analyze_values(std::move(out), system, *prepared, t_start));
  }
  out.system_class = out.unknowns == out.equations ? "structurally singular equations"
                     : out.unknowns < out.equations ? "more equations than unknowns"
                                                    : "fewer equations than unknowns";
  out.consistent = false;
  return with_pencil(std::move(out));
}

Analysis analyze(const Prepared& prepared, double t_start) {
  if (!prepared.dae) return analyze(prepared.functions, t_start);
  const structure::EquationSet system = structure::equations_of(*prepared.model);
  return with_pencil(analyze_values(analyze_structure(*prepared.model, system, t_start), system, prepared, t_start));
}

}  // namespace daedalus::solve
