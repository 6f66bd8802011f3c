#include "daedalus/report/json.hpp"

#include <nlohmann/json.hpp>

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/tidy.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/report/comparison.hpp"
#include "daedalus/report/methods.hpp"
#include "daedalus/report/modes.hpp"
#include "daedalus/report/version.hpp"
#include "daedalus/solve/culprit.hpp"
#include "daedalus/solve/start_search.hpp"
#include "daedalus/solve/tableau_method.hpp"

namespace daedalus::report {

using Json = nlohmann::ordered_json;

namespace {

/// What went wrong, and where in the author's text that is.
Json error_json(const std::string& code, const std::string& message, const Place& place = {}) {
  return {{"code", code},
          {"message", message},
          {"file", place.source ? Json(place.source->name) : Json()},
          {"line", place.line > 0 ? Json(place.line) : Json()},
          {"column", place.line > 0 ? Json(shown_column(place)) : Json()}};
}

Json with_version() { return {{"version", version()}}; }

std::string text_of(expr::Expr e) { return expr::to_text(expr::tidy(e)); }

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json levels_json(const std::vector<double>& levels, const solve::LevelResiduals& of) {
  static constexpr std::array names{"position", "velocity", "acceleration"};
  Json json = Json::object(), list = Json::array();
  for (std::size_t level = 0; level < levels.size(); ++level)
    if (of.present[level]) {
      if (of.mechanical) json[names[level]] = levels[level];
      list.push_back(levels[level]);
    }
  json["levels"] = list;
  return json;
}

Json stats_json(const integrate::Stats& stats) {
  return {{"steps", stats.steps},
          {"rejected", stats.rejected},
          {"rhs", stats.rhs},
          {"jacobians", stats.jacobians},
          {"factorizations", stats.factorizations},
          {"newton_iterations", stats.newton_iterations},
          {"projections", stats.projections}};
}

Json in_force(const solve::Trajectory& trajectory) {
  Json json = Json::object();
  for (const auto& [name, value] : trajectory.options) json[name] = value;
  return json;
}

Json invariants_json(const solve::Trajectory& trajectory) {
  Json json = Json::object();
  if (trajectory.energy) json["energy"] = *trajectory.energy;
  for (const solve::InvariantResidual& one : trajectory.invariants) json[one.name] = one.relative;
  return json;
}

/// Errors of the quantities that are compared; null where there is no number.
Json errors_json(const solve::ErrorBy& errors, const std::vector<solve::Quantity>& quantities) {
  Json json = Json::object();
  for (const solve::Quantity quantity : quantities)
    json[std::string(name_of(quantity))] = of(errors, quantity) ? Json(*of(errors, quantity)) : Json();
  return json;
}

Json run_json(const solve::Comparison& comparison, const solve::ComparedRun& run) {
  const solve::Trajectory& of = run.trajectory;
  Json json{{"model", comparison.models[run.model].name},
            {"formulation", run.formulation},
            {"method", run.method},
            {"rtol", run.rtol ? Json(*run.rtol) : Json()},
            {"step", run.step ? Json(*run.step) : Json()},
            {"options", in_force(of)},
            {"error", errors_json(run.error, comparison.quantities)},
            {"error_end", errors_json(run.error_end, comparison.quantities)},
            {"constraints", levels_json(of.constraints.absolute, of.constraints)},
            {"constraints_relative", levels_json(of.constraints.relative, of.constraints)},
            {"invariants", invariants_json(of)}};
  json["stats"] = stats_json(of.stats);
  json["stats"]["seconds"] = of.processor_seconds;
  json["stats"]["prepare_seconds"] = of.prepare_seconds;
  json["success"] = run.success;
  json["message"] = run.message;
  return json;
}

Json options_json(const std::vector<OptionSpec>& options) {
  Json list = Json::array();
  for (const OptionSpec& option : options) {
    Json json{{"name", option.name}, {"summary", option.summary}};
    json["default"] = option.standard ? Json(*option.standard) : option.words.empty() ? Json() : Json(option.words.front());
    if (!option.words.empty()) json["words"] = option.words;
    list.push_back(json);
  }
  return list;
}

Json matrix_json(const expr::SparseExpr& matrix) {
  constexpr std::size_t dense_up_to = 50;
  if (std::max(matrix.rows, matrix.columns) <= dense_up_to) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < matrix.rows; ++i) {
      Json row = Json::array();
      for (std::size_t j = 0; j < matrix.columns; ++j) {
        const expr::Expr entry = matrix.at(i, j);
        row.push_back(entry.valid() ? text_of(entry) : "0");
      }
      rows.push_back(row);
    }
    return rows;
  }
  Json entries = Json::array();
  for (std::size_t i = 0; i < matrix.rows; ++i)
    for (std::size_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
      entries.push_back(Json::array({i + 1, matrix.column[k] + 1, text_of(matrix.value[k])}));
  return {{"rows", matrix.rows}, {"columns", matrix.columns}, {"entries", entries}};
}

Json texts(const std::vector<expr::Expr>& values) {
  Json list = Json::array();
  for (const expr::Expr& value : values) list.push_back(text_of(value));
  return list;
}

Json redundancies(const std::vector<solve::Redundancy>& redundant) {
  Json list = Json::array();
  for (const solve::Redundancy& one : redundant)
    list.push_back({{"constraint", one.constraint}, {"follows_from", one.follows_from}});
  return list;
}

Json violations_json(const std::vector<solve::Violation>& violations) {
  Json list = Json::array();
  for (const solve::Violation& violation : violations)
    list.push_back({{"of", violation.of}, {"level", violation.level}, {"value", violation.value}});
  return list;
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json tableau_json(const integrate::Tableau& tableau) {
  Json json{{"A", tableau.a}, {"b", tableau.b}, {"c", tableau.c}};
  if (!tableau.embedded.empty()) json["embedded"] = tableau.embedded;
  if (!tableau.text.b.empty()) {
    json["exact"] = {{"A", tableau.text.a}, {"b", tableau.text.b}, {"c", tableau.text.c}};
    if (!tableau.text.embedded.empty()) json["exact"]["embedded"] = tableau.text.embedded;
  }
  return json;
}

Json entry_json(const integrate::IntegratorEntry& entry) {
  Json accepts = Json::array();
  for (const integrate::View view : entry.accepts) accepts.push_back(integrate::name_of(view));
  Json json{{"name", entry.name},          {"summary", entry.summary},   {"citation", entry.citation},
            {"group", name_of(group_of(entry))},
            {"order", entry.order},        {"stages", entry.stages},     {"dense_order", entry.dense_order},
            {"adaptive", entry.adaptive},  {"step_control", control_of(entry)},
            {"implicit", entry.implicit}, {"accepts", accepts},
            {"highest_index", entry.highest_index}, {"properties", entry.properties},
            {"index1_orders", entry.index1_orders}, {"index2_orders", entry.index2_orders},
            {"index3_orders", entry.index3_orders}, {"notes", entry.notes}, {"options", options_json(entry.options)}};
  if (entry.tableau) {
    json["tableau"] = tableau_json(*entry.tableau);
    // Where |R| <= 1 without end there is no number.
    json["stability"] = {{"real_axis", finite(integrate::stability_interval(*entry.tableau, -1.0))},
                         {"imaginary_axis", finite(integrate::stability_interval(*entry.tableau, {0.0, 1.0}))},
                         {"at_infinity", finite(integrate::stability_at_infinity(*entry.tableau))}};
  }
  return json;
}

Json entry_json(const formulate::FormulationEntry& entry) {
  return {{"name", entry.name},   {"summary", entry.summary}, {"citation", entry.citation},
          {"kinds", entry.kinds}, {"index", entry.index},     {"projects", entry.projects},
          {"options", options_json(entry.options)}};
}

}  // namespace

std::string to_json(const solve::Trajectory& trajectory, const std::string& write_fault) {
  Json json = with_version();
  json["model"] = trajectory.model;
  json["formulation"] = trajectory.formulation;
  json["method"] = trajectory.method;
  json["chosen"] = trajectory.chosen;
  json["rtol"] = trajectory.rtol;
  json["atol"] = trajectory.atol;
  if (trajectory.step) json["step"] = *trajectory.step;
  json["options"] = in_force(trajectory);
  const bool success = trajectory.success() && write_fault.empty();
  const std::string& message = trajectory.success() ? write_fault : trajectory.message;
  json["success"] = success;
  json["message"] = message;
  if (!success)
    json["error"] = error_json(trajectory.success() ? "cannot-write" : std::string(solve::name_of(trajectory.status)), message,
                               trajectory.success() ? Place{} : trajectory.culprit);
  json["notes"] = trajectory.notes;
  json["moved"] = Json::object();
  for (const solve::Moved& moved : trajectory.moved) json["moved"][moved.name] = moved.by;
  json["t"] = trajectory.t;
  Json values = Json::object();
  for (std::size_t column = 0; column < trajectory.columns.size(); ++column) {
    std::vector<double> series(trajectory.t.size());
    for (std::size_t row = 0; row < series.size(); ++row) series[row] = trajectory.value(row, column);
    values[trajectory.columns[column]] = std::move(series);
  }
  json["values"] = std::move(values);
  json["constraints"] = levels_json(trajectory.constraints.absolute, trajectory.constraints);
  json["constraints_relative"] = levels_json(trajectory.constraints.relative, trajectory.constraints);
  json["invariants"] = invariants_json(trajectory);
  json["events"] = Json::array();
  for (const solve::EventRecord& event : trajectory.events) json["events"].push_back({{"name", event.name}, {"t", event.t}});
  json["singular_positions"] = Json::array();
  for (const integrate::SingularPosition& passed : trajectory.singular_positions)
    json["singular_positions"].push_back({{"t", passed.t}, {"constraints", passed.constraints}});
  json["singular_points"] = Json::array();
  for (const integrate::SingularPoint& point : trajectory.singular_points)
    json["singular_points"].push_back({{"t", point.t}, {"equations", point.equations}, {"unknowns", point.unknowns}});
  json["stats"] = stats_json(trajectory.stats);
  json["stats"]["seconds"] = trajectory.seconds;
  json["stats"]["prepare_seconds"] = trajectory.prepare_seconds;
  json["stages"] = Json::object();
  for (const auto& [name, seconds] : trajectory.stages) json["stages"][name] = seconds;
  return text_of(json);
}

std::string to_json(const std::vector<Findings>& all) {
  Json json = with_version();
  json["experiments"] = Json::array();
  for (const Findings& one : all) {
    Json tables = Json::array();
    for (const FindingsTable& table : one.tables) tables.push_back({{"caption", table.caption}, {"rows", table.rows}});
    json["experiments"].push_back({{"name", one.name},
                                   {"title", one.title},
                                   {"source", one.source},
                                   {"setting", one.setting},
                                   {"commands", one.commands},
                                   {"tables", tables},
                                   {"verdict", one.verdict}});
  }
  return text_of(json);
}

std::string to_json(const solve::Comparison& comparison) {
  Json json = with_version();
  const solve::Reference& first = comparison.models.front().reference;
  json["reference"] = first.message.empty() ? first.origin : first.message;
  json["references"] = Json::array();
  for (const solve::ComparedModel& model : comparison.models)
    json["references"].push_back(
        {{"model", model.name},
         {"t_start", model.t_start},
         {"t_end", model.t_end},
         {"reference", model.reference.message.empty() ? model.reference.origin : model.reference.message},
         {"computed", model.reference.computed},
         {"found", !model.reference.samples.t.empty()},
         {"agreement", errors_json(model.reference.agreement, comparison.quantities)},
         {"from_first", errors_json(model.from_first, comparison.quantities)},
         {"notes", model.notes}});
  json["success"] = comparison.succeeded() > 0;
  if (comparison.succeeded() == 0)
    json["error"] = error_json(comparison.interrupted ? "interrupted" : "all-runs-failed", failure_of(comparison));
  json["interrupted"] = comparison.interrupted;
  json["planned"] = comparison.planned;
  json["seconds"] = comparison.seconds;
  json["threads"] = comparison.threads;
  json["left_out"] = Json::array();
  for (const solve::LeftOut& one : comparison.left_out)
    json["left_out"].push_back({{"model", comparison.models[one.model].name},
                                {"formulation", one.formulation},
                                {"method", one.method},
                                {"reason", one.reason}});
  json["runs"] = Json::array();
  for (const solve::ComparedRun& run : comparison.runs) json["runs"].push_back(run_json(comparison, run));
  return text_of(json);
}

namespace {

std::string_view name_of(solve::StructureCheck::Verdict verdict) {
  using Verdict = solve::StructureCheck::Verdict;
  switch (verdict) {
    case Verdict::not_tried: return "not tried";
    case Verdict::regular: return "regular";
    case Verdict::singular_at_start: return "singular at the start";
    case Verdict::singular: return "singular";
    case Verdict::not_finite: return "not finite";
  }
  return "";
}

Json part_json(const structure::StructuralAnalysis& structure, const structure::Part& part) {
  return {{"equations", structure.equation_names(part.rows)}, {"unknowns", structure.unknown_names(part.columns)}};
}

Json structure_json(const structure::StructuralAnalysis& structure, const solve::StructureCheck& check) {
  Json json{{"regular", structure.regular()},
            {"overdetermined", part_json(structure, structure.parts.over)},
            {"underdetermined", part_json(structure, structure.parts.under)}};
  if (!structure.regular()) return json;
  const structure::Offsets& offsets = structure.sigma->offsets;
  json["free_initial_values"] = offsets.degrees_of_freedom();
  json["equations"] = Json::array();
  for (std::size_t i = 0; i < structure.equations.size(); ++i)
    json["equations"].push_back({{"name", structure.equations[i]},
                                 {"offset", offsets.c[i]},
                                 {"unknown", structure.unknowns[structure.sigma->transversal.column_of[i]]}});
  json["unknowns"] = Json::array();
  for (std::size_t j = 0; j < structure.unknowns.size(); ++j)
    json["unknowns"].push_back({{"name", structure.unknowns[j]}, {"offset", offsets.d[j]}});
  json["blocks"] = Json::array();
  for (const structure::Part& block : structure.blocks) json["blocks"].push_back(part_json(structure, block));
  json["jacobian"] = name_of(check.verdict);
  json["dependent_equations"] = check.dependent;
  return json;
}

Json rows_json(const structure::DenseMatrix& matrix) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    Json& row = rows.emplace_back(Json::array());
    for (std::size_t j = 0; j < matrix.columns; ++j) row.push_back(matrix(i, j));
  }
  return rows;
}

void add_linear(Json& json, const solve::LinearFindings& findings) {
  const structure::KroneckerStructure& s = findings.structure;
  json["regular"] = s.regular;
  json["decidable"] = s.decided;
  json["exact"] = s.exact;
  json["gap"] = s.exact ? Json() : Json(s.gap());
  json["kronecker_index"] = s.index ? Json(*s.index) : Json();
  json["differential_dimension"] = s.differential_dimension;
  json["nilpotent_blocks"] = s.nilpotent_blocks;
  json["column_minimal_indices"] = s.column_minimal_indices;
  json["row_minimal_indices"] = s.row_minimal_indices;
  json["finite_eigenvalues"] = s.spectrum_known ? Json::array() : Json();
  for (const std::complex<double>& value : s.spectrum())
    json["finite_eigenvalues"].push_back({value.real(), value.imag()});
  json["eigenvalue_clusters"] = Json::array();
  for (const structure::FiniteEigenvalue& one : s.finite)
    json["eigenvalue_clusters"].push_back({{"value", {one.value.real(), one.value.imag()}},
                                           {"multiplicity", one.multiplicity},
                                           {"error", one.error}});
  json["staircase"] = Json::array();
  for (const structure::StaircaseRank& rank : s.ranks)
    json["staircase"].push_back({{"matrix", std::string(1, rank.of)},
                                 {"sweep", rank.left ? "rows" : "columns"},
                                 {"step", rank.step},
                                 {"rows", rank.rows},
                                 {"columns", rank.columns},
                                 {"rank", rank.rank},
                                 {"kept", rank.kept},
                                 {"dropped", rank.dropped}});
  json["consistent_manifold"] = Json::array();
  for (const solve::LinearFindings::Equation& one : findings.manifold)
    json["consistent_manifold"].push_back({{"equation", one.equation}, {"with_f", one.with_f}});
  if (s.regular) {
    constexpr std::size_t most_projected = 50;
    if (findings.projector.rows > 0 && findings.projector.rows <= most_projected) {
      json["projector"] = rows_json(findings.projector);
      const auto& [finite, infinite] = findings.spaces;
      const auto space = [](const structure::DeflatingSpace& one) {
        return Json{{"right", rows_json(linalg::transposed(one.right))}, {"left", rows_json(linalg::transposed(one.left))}};
      };
      json["deflating_subspaces"] = {{"finite", space(finite)}, {"infinite", space(infinite)}};
    }
    json["nearest_consistent"] = Json();
    if (findings.nearest)
      for (std::size_t j = 0; j < findings.unknowns.size(); ++j)
        json["nearest_consistent"][findings.unknowns[j]] = findings.nearest->values[j];
    json["least_change"] = findings.nearest ? Json(findings.nearest->distance) : Json();
    if (findings.modes) json.update(Json::parse(modes_json(*findings.modes)));
  }
  json["free_unknowns"] = Json::array();
  for (const solve::LinearFindings::Freedom& one : findings.free)
    json["free_unknowns"].push_back({{"unknowns", one.unknowns}, {"additions", one.additions}});
  json["dependent_equations"] = Json::array();
  for (const solve::LinearFindings::Dependence& one : findings.dependences)
    json["dependent_equations"].push_back({{"equations", one.equations},
                                           {"combination", one.combination},
                                           {"condition", one.condition},
                                           {"value", one.left},
                                           {"holds", one.holds}});
}

}  // namespace

namespace {

Json easiness_json(const std::optional<solve::Easiness>& easy) {
  if (!easy) return {};
  return {{"easy", easy->easy()}, {"rank", easy->rank}, {"size", easy->size}, {"dependent", easy->dependent}};
}

Json degrees_json(const std::optional<solve::ConstraintDegrees>& degrees) {
  if (!degrees) return {};
  Json constraints = Json::array();
  for (std::size_t i = 0; i < degrees->constraints.size(); ++i)
    constraints.push_back({{"name", degrees->constraints[i]},
                           {"degree", degrees->degree[i] ? Json(*degrees->degree[i]) : Json()}});
  return {{"constraints", constraints},
          {"rank", degrees->rank},
          {"size", degrees->constraints.size()},
          {"index", degrees->index ? Json(*degrees->index) : Json()}};
}

Json free_values_json(const solve::FreeValues& free) {
  if (!free.known) return {};
  Json groups = Json::array();
  for (const solve::FreeValues::Group& group : free.groups)
    groups.push_back({{"choose", group.choose}, {"of", group.of}, {"any", group.any}, {"sets", group.sets}, {"sets_complete", group.listed}});
  bool complete = true;
  const auto sets = free.sets(complete);
  return {{"count", free.count},           {"groups", groups},          {"sets", sets},
          {"sets_complete", complete},     {"determined", free.determined}, {"instead", free.instead},
          {"fixed", free.fixed},           {"surplus", free.surplus}};
}

}  // namespace

std::string to_json(const solve::Analysis& analysis) {
  Json json = with_version();
  json["model"] = analysis.model;
  json["kind"] = analysis.kind;
  json["class"] = analysis.system_class;
  json["unknowns"] = analysis.unknowns;
  json["equations"] = analysis.equations;
  json["degrees_of_freedom"] = analysis.degrees_of_freedom;
  json["free_initial_values"] = analysis.free_initial_values;
  json["free_values"] = free_values_json(analysis.free);
  json["index"] = analysis.index ? Json(*analysis.index) : Json();
  if (analysis.linear) add_linear(json, *analysis.linear);
  json["ranks"] = Json::array();
  for (const structure::ArrayRanks& ranks : analysis.ranks)
    json["ranks"].push_back({{"derivatives", ranks.mu},
                             {"rows", ranks.rows},
                             {"rank", ranks.rank},
                             {"constraints", ranks.constraints},
                             {"determined", ranks.determined.size()},
                             {"kept", ranks.kept},
                             {"dropped", ranks.dropped}});
  json["structural_index"] = analysis.structural_index ? Json(*analysis.structural_index) : Json();
  json["easy"] = easiness_json(analysis.easy);
  json["relative_degrees"] = degrees_json(analysis.degrees);
  json["hidden_constraints"] = Json::array();
  for (const solve::HiddenConstraint& hidden : analysis.hidden)
    json["hidden_constraints"].push_back({{"of", hidden.of}, {"level", hidden.level}, {"equation", hidden.equation}});
  json["redundant_constraints"] = redundancies(analysis.redundant);
  json["multipliers_not_unique"] = analysis.open_multipliers;
  json["invariants"] = Json::array();
  for (const solve::InvariantCheck& check : analysis.invariants)
    json["invariants"].push_back({{"name", check.name}, {"rate", check.rate}, {"relative_rate", check.relative}});
  json["runnable"] = analysis.runnable;
  json["consistent"] = analysis.consistent;
  json["violations"] = violations_json(analysis.violations);
  json["notes"] = analysis.notes;
  json["structure"] = structure_json(analysis.structure, analysis.structure_check);
  return text_of(json);
}

std::string to_json(const solve::Start& start, const model::Model& model) {
  Json json = with_version();
  json["model"] = model.name;
  json["success"] = start.found;
  json["message"] = start.message;
  if (!start.found)
    json["error"] = error_json("no-convergence", start.message, solve::place_of_culprit(start.message, model));
  json["consistent"] = start.found;
  json["consistent_as_given"] = start.consistent_as_given;
  Json values = Json::object();
  for (const auto& [name, value] : start.values) values[name] = value;
  json["values"] = values;
  json["moved"] = Json::object();
  for (const solve::Moved& moved : start.moved) json["moved"][moved.name] = moved.by;
  json["residual"] = start.residual;
  json["violations"] = violations_json(start.violations);
  json["redundant_constraints"] = redundancies(start.redundant);
  json["multipliers_not_unique"] = start.open_multipliers;
  json["free_values"] = free_values_json(start.free);
  json["branches"] = Json::array();
  for (const solve::Branch& branch : start.branches) {
    Json one = Json::object();
    for (const auto& [name, value] : branch.values) one[name] = value;
    json["branches"].push_back({{"values", one}, {"distance", branch.distance}, {"taken", &branch == &start.branches.front()}});
  }
  json["branch_search"] = {{"starts", start.branch_starts}, {"seed", solve::start_seed}};
  json["notes"] = start.notes;
  return text_of(json);
}

std::string to_json(const structure::DaeFunctions& dae) {
  Json json = with_version();
  json["model"] = dae.model->name;
  json["kind"] = model::name_of(dae.model->kind);
  Json unknowns = Json::array(), equations = Json::array();
  for (const auto& unknown : dae.unknowns) unknowns.push_back(unknown.name);
  for (std::size_t i = 0; i < dae.rows.size(); ++i)
    equations.push_back({{"name", dae.rows[i].name}, {"equation", text_of(dae.equations.F[i]) + " = 0"}});
  json["unknowns"] = unknowns;
  json["differential"] = dae.differential;
  json["equations"] = equations;
  return text_of(json);
}

std::string to_json(const mechanics::Equations& eq) {
  const mechanics::ForceTerms terms = mechanics::force_terms(eq);
  Json json = with_version();
  json["model"] = eq.model->name;
  json["kind"] = model::name_of(eq.model->kind);
  json["coordinates"] = texts(eq.q);
  json["M"] = matrix_json(eq.M);
  json["C"] = matrix_json(terms.C);
  json["g"] = texts(terms.gradient);
  json["Q"] = texts(terms.Q);
  json["f"] = texts(eq.f);
  json["G"] = matrix_json(eq.G);
  Json constraints = Json::array();
  std::vector<expr::Expr> gamma;
  for (const mechanics::Constraint& constraint : eq.constraints) {
    Json one{{"name", constraint.name}, {"type", constraint.holonomic ? "holonomic" : "nonholonomic"}};
    if (constraint.holonomic) one["position"] = expr::to_text(constraint.position) + " = 0";
    one["velocity"] = text_of(constraint.velocity) + " = 0";
    constraints.push_back(one);
    gamma.push_back(constraint.gamma);
  }
  json["constraints"] = constraints;
  json["gamma"] = texts(gamma);
  if (!eq.auxiliary.empty()) json["auxiliary"] = texts(eq.auxiliary);
  if (eq.kinetic) json["energy"] = {{"kinetic", text_of(*eq.kinetic)}, {"potential", text_of(*eq.potential)}};
  json["conservative"] = eq.conservative;
  return text_of(json);
}

std::string to_json(const Error& error) {
  Json json = with_version();
  json["success"] = false;
  Json all = Json::array();
  for (const Fault& fault : error.faults()) {
    Json one = error_json(fault.code, fault.message, fault.place);
    if (!fault.advice.empty()) one["advice"] = fault.advice;
    all.push_back(one);
  }
  json["error"] = all.empty() ? Json::object() : all.front();
  json["errors"] = all;
  return text_of(json);
}

std::string failure_json(const std::string& code, const std::string& message) {
  Json json = with_version();
  json["success"] = false;
  json["error"] = error_json(code, message);
  return text_of(json);
}

std::string methods_json(const std::string& name) {
  if (!name.empty()) return text_of(entry_json(*solve::method_named(name)));
  Json list = Json::array();
  for (const auto& entry : integrate::integrators()) list.push_back(entry_json(entry));
  return text_of(list);
}

std::string formulations_json(const std::string& name) {
  if (!name.empty()) return text_of(entry_json(formulate::formulation(name)));
  Json list = Json::array();
  for (const auto& entry : formulate::formulations()) list.push_back(entry_json(entry));
  return text_of(list);
}

}  // namespace daedalus::report
