#include "daedalus/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>

#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/report/linear_text.hpp"
#include "daedalus/report/text_parts.hpp"
#include "daedalus/report/text_start.hpp"

namespace daedalus::report {

using solve::StructureCheck;

namespace {

std::string small(double value) { return value == 0.0 ? "0" : fmt::format("{:.1e}", value); }

constexpr std::size_t most_lines = 12;

std::string moved_lines(const std::vector<solve::Moved>& moved) {
  std::string text;
  for (std::size_t i = 0; i < moved.size() && i < most_lines; ++i)
    text += line(i == 0 ? "start" : "", fmt::format("{} moved by {} to satisfy the constraints", moved[i].name, brief(moved[i].by)));
  if (moved.size() > most_lines) text += line("", fmt::format("... and {} further values", moved.size() - most_lines));
  return text;
}

std::string notes_lines(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += line("note", note);
  return text;
}

/// "bounce 8 times, the last at t = 4.69": one phrase per name, in the order of their first time.
std::string events_text(const std::vector<solve::EventRecord>& events) {
  std::vector<std::string> names, phrases;
  for (const solve::EventRecord& event : events)
    if (std::find(names.begin(), names.end(), event.name) == names.end()) names.push_back(event.name);
  for (const std::string& name : names) {
    std::size_t times = 0;
    double last = 0.0;
    for (const solve::EventRecord& event : events) {
      if (event.name != name) continue;
      ++times;
      last = event.t;
    }
    phrases.push_back(times == 1 ? fmt::format("{} at t = {}", name, brief(last, 9))
                                 : fmt::format("{} {} times, the last at t = {}", name, times, brief(last, 9)));
  }
  return fmt::format("{}", fmt::join(phrases, "; "));
}

std::string invariant_line(const std::vector<solve::InvariantResidual>& invariants) {
  if (invariants.empty()) return {};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < invariants.size() && i < most_lines; ++i)
    parts.push_back(fmt::format("{} {}", invariants[i].name, small(invariants[i].relative)));
  double rest = 0.0;
  for (std::size_t i = most_lines; i < invariants.size(); ++i) rest = std::max(rest, invariants[i].relative);
  if (invariants.size() > most_lines) parts.push_back(fmt::format("{} others {}", invariants.size() - most_lines, small(rest)));
  return line("invariant", joined(parts) + " (largest residuals, relative to their largest terms)");
}

/// "above 1 (structural index 3)".
std::string index_text(const solve::Analysis& analysis) {
  const std::string found = analysis.index                                 ? std::to_string(*analysis.index)
                            : analysis.system_class.ends_with("above 1") ? "above 1"
                                                                           : "not defined";
  if (analysis.linear && !analysis.linear->structure.regular) return "none: the pencil is singular";
  if (!analysis.structural_index) return found + " (structurally singular)";
  if (analysis.structure_check.verdict == StructureCheck::Verdict::singular)
    return fmt::format("{} (structural index {}, not valid here)", found, *analysis.structural_index);
  return fmt::format("{} (structural index {})", found, *analysis.structural_index);
}

std::string easy_line(const solve::Easiness& easy) {
  if (easy.easy()) return line("easy", fmt::format("yes: the equations determine x' and z, [dF/dx', dF/dz] has full rank {}", easy.rank));
  return line("easy", fmt::format("no: [dF/dx', dF/dz] has rank {} of {}; nothing new from {}", easy.rank, easy.size,
                                  listed(easy.dependent)));
}

/// The relative degrees, and whether they tell the index.
std::string degree_line(const solve::ConstraintDegrees& degrees, const std::optional<int>& index) {
  std::map<std::string, std::vector<std::string>> with;  // by degree
  for (std::size_t i = 0; i < degrees.constraints.size(); ++i)
    with[degrees.degree[i] ? std::to_string(*degrees.degree[i]) : "none here"].push_back(degrees.constraints[i]);
  std::vector<std::string> parts;
  for (const auto& [degree, names] : with) parts.push_back(fmt::format("{} of {}", degree, listed(names)));
  const std::string text = fmt::format("relative degree {}", joined(parts));
  if (!degrees.index)
    return line("degree", fmt::format("{}; no vector relative degree (rank {} of {}), so that they do not tell the index", text,
                                      degrees.rank, degrees.constraints.size()));
  const bool agrees = index && static_cast<std::size_t>(*index) == *degrees.index;
  return line("degree", fmt::format("{}; the largest + 1 is the index, {}{}", text, *degrees.index, agrees ? "" : ", which is not what was found otherwise"));
}

/// Which equations are differentiated and which derivatives they then determine, what must be solved together, and
/// what is over- or underdetermined.
std::string structure_lines(const structure::StructuralAnalysis& structure) {
  if (!structure.regular()) {
    std::string text;
    if (!structure.parts.over.rows.empty()) text += line("too many", structure.text_of(structure.parts.over));
    if (!structure.parts.under.columns.empty()) text += line("too few", structure.text_of(structure.parts.under));
    return text;
  }
  std::map<int, std::vector<std::string>, std::greater<>> differentiated;
  const std::vector<int>& c = structure.sigma->offsets.c;
  for (std::size_t i = 0; i < c.size(); ++i)
    if (c[i] > 0) differentiated[c[i]].push_back(structure.equations[i]);
  std::string text;
  std::size_t shown = 0;
  for (const auto& [times, names] : differentiated)
    if (++shown <= most_lines)
      text += line(shown == 1 ? "offsets" : "", fmt::format("differentiated {}: {}", count(static_cast<std::size_t>(times), "time"),
                                                            listed(names)));
  if (shown > most_lines) text += line("", fmt::format("... and {} (--json lists all)", count(shown - most_lines, "further line")));
  std::size_t loops = 0;
  for (const structure::Part& block : structure.blocks) {
    if (block.rows.size() == 1 || ++loops > most_lines) continue;
    std::vector<std::string> derivatives;
    for (const std::size_t j : block.columns) derivatives.push_back(structure.highest_derivative(j));
    text += line(loops == 1 ? "loop" : "", fmt::format("{} together determine {}", listed(structure.equation_names(block.rows)),
                                                       listed(derivatives)));
  }
  if (loops > most_lines) text += line("", fmt::format("... and {} (--json lists all)", count(loops - most_lines, "further loop")));
  return text;
}

std::string level_name(std::size_t level, bool mechanical) {
  if (!mechanical)
    return level == 0   ? "algebraic equations"
           : level == 1 ? "their derivatives"
           : level == 2 ? "second derivatives"
           : level == 3 ? "third derivatives"
                        : fmt::format("{}th derivatives", level);
  return level == 0 ? "position" : level == 1 ? "velocity" : "acceleration";
}

std::string hidden_name(const solve::HiddenConstraint& hidden, bool mechanical) {
  if (!mechanical) return model::derivative_name(hidden.of, static_cast<std::size_t>(hidden.level));
  return fmt::format("{}, {} level", hidden.of, level_name(static_cast<std::size_t>(hidden.level), true));
}

}  // namespace

std::string to_text(const solve::Trajectory& run) {
  std::string text = line("model", run.model);
  text += moved_lines(run.moved);
  const std::string control = run.step ? fmt::format("step {}", brief(*run.step))
                                       : fmt::format("rtol {}, atol {}", brief(run.rtol), brief(run.atol));
  text += line("run", fmt::format("{} + {}, {}, t = {} .. {}", run.formulation, run.method, control, brief(run.t_start),
                                  brief(run.t_end)));
  if (!run.chosen.empty()) text += line("chosen", run.chosen);
  text += line("cost", fmt::format("{} ({} rejected), {} right-hand sides, {:.3g} s after {:.3g} s of preparation",
                                   count(run.stats.steps, "step"), run.stats.rejected, run.stats.rhs, run.seconds,
                                   run.prepare_seconds));
  if (!run.t.empty()) {
    std::vector<std::string> end;
    for (std::size_t j = 0; j < run.columns.size() && j < 8; ++j)
      end.push_back(fmt::format("{} = {}", run.columns[j], brief(run.value(run.t.size() - 1, j), 9)));
    if (run.columns.size() > 8) end.push_back("...");
    // With output times of one's own the last row need not be the end.
    const bool whole = run.t.back() >= run.t_end || run.status != integrate::Status::done;
    text += line(whole ? "end" : "last row", fmt::format("t = {}: {}", brief(run.t.back(), 9), joined(end)));
  }
  std::vector<std::string> drift;
  for (std::size_t level = 0; level < run.constraints.size(); ++level)
    if (run.constraints.present[level])
      drift.push_back(fmt::format("{} {}", level_name(level, run.constraints.mechanical), small(run.constraints.relative[level])));
  if (!drift.empty()) text += line("drift", joined(drift) + " (largest residuals, relative to their largest terms)");
  text += invariant_line(run.invariants);
  if (run.energy) text += line("energy", fmt::format("largest relative change {}", small(*run.energy)));
  if (!run.events.empty()) text += line("events", events_text(run.events));
  text += notes_lines(run.notes);
  if (run.status == integrate::Status::stopped) text += line("ended", run.message);
  if (!run.success()) text += line("stopped", run.message);
  return text;
}

std::string next_text(const solve::Trajectory& run, const std::string& path, Seen seen) {
  if (!run.success()) return {};
  const solve::LevelResiduals& levels = run.constraints;
  // A DAE with one level has nothing but its own algebraic equations.
  const bool constrained = levels.mechanical ? levels.has(0) || levels.has(1) : levels.has(1);
  const bool drifts = std::max(levels.relative[0], levels.relative[1]) > 1e-12;
  const Choice choice = parse_choice(run.formulation);
  const formulate::FormulationEntry& form = formulate::formulation(choice.name);
  const std::string stem = std::filesystem::path(path).stem().string();
  std::string what;
  if (!run.invariants.empty() && !run.constraints.mechanical)
    what = run.formulation == "projection" ? "--formulation direct   (the same without keeping invariants)"
                                           : "--formulation projection   (every invariant kept)";
  else if (constrained && drifts && !holds_constraints(form, Options(choice, form.options)))
    what = "--formulation projection   (the same without drift)";
  else if (seen == Seen::numbers)
    what = fmt::format("--report {}.html   (plots, animation and equations on a page)", stem);
  else if (constrained)
    what = "--formulation index1   (the drift without projection)";
  else
    what = fmt::format("--plot {}.pdf   (a figure for a paper)", stem);
  return line("next", fmt::format("daedalus simulate {} {}", path, what));
}

std::string to_text(const solve::Analysis& analysis, const std::string& path) {
  std::string text = line("model", fmt::format("{} ({})", analysis.model, analysis.kind));
  text += line("class", analysis.system_class);
  text += line("size", fmt::format("{}, {}", count(analysis.unknowns, "unknown"), count(analysis.equations, "equation")));
  const bool mechanical = analysis.kind == "lagrangian" || analysis.kind == "mechanical";
  text += line("index", index_text(analysis));
  if (analysis.easy) text += easy_line(*analysis.easy);
  if (analysis.degrees) text += degree_line(*analysis.degrees, analysis.index);
  const std::string free = count(analysis.free_initial_values, "initial value") + " free";
  if (mechanical)
    text += line("freedom", count(analysis.degrees_of_freedom, "degree") + " of freedom, " + free);
  else if (analysis.index)
    text += line("freedom", free);
  else if (analysis.structure_check.verdict == StructureCheck::Verdict::regular)
    text += line("freedom", free + ", by the structure");
  text += choice_lines(analysis.free);
  if (analysis.linear) text += linear_lines(*analysis.linear);
  if (!mechanical) text += structure_lines(analysis.structure);
  for (std::size_t i = 0; i < analysis.hidden.size() && i < most_lines; ++i)
    text += line(i == 0 ? "hidden" : "",
                 fmt::format("{}: {}", hidden_name(analysis.hidden[i], mechanical), analysis.hidden[i].equation));
  if (analysis.hidden.size() > most_lines)
    text += line("", fmt::format("... and {} further ones (--json lists all)", analysis.hidden.size() - most_lines));
  for (const solve::Redundancy& one : analysis.redundant)
    text += line("redundant", fmt::format("{} follows from {}", one.constraint,
                                          one.follows_from.empty() ? "the other constraints" : joined(one.follows_from)));
  for (std::size_t i = 0; i < analysis.invariants.size() && i < most_lines; ++i)
    text += line(i == 0 ? "invariant" : "", fmt::format("{} changes at {} of what its terms do", analysis.invariants[i].name,
                                                        small(analysis.invariants[i].relative)));
  if (analysis.consistent) text += line("start", "consistent as given");
  if (!analysis.consistent && analysis.violations.empty() && analysis.index) text += line("start", "not consistent as given");
  for (std::size_t i = 0; i < analysis.violations.size() && i < most_lines; ++i)
    text += line(i == 0 ? "start" : "", fmt::format("not consistent: {} is violated by {}{}", mechanical ? analysis.violations[i].of : model::derivative_name(analysis.violations[i].of, static_cast<std::size_t>(analysis.violations[i].level)),
                                                    brief(analysis.violations[i].value),
                                                    mechanical ? " on " + level_name(static_cast<std::size_t>(analysis.violations[i].level), true) + " level" : ""));
  if (analysis.violations.size() > most_lines)
    text += line("", fmt::format("... and {} further violations", analysis.violations.size() - most_lines));
  text += notes_lines(analysis.notes);
  if (analysis.linear && !analysis.linear->structure.regular)
    return text + line("next", "correct the equations or unknowns that are named: no f and no start make the solution unique");
  if (!mechanical && !analysis.structure.regular())
    return text + line("next", "correct the equations that are named: every unknown needs an equation of its own");
  if (!analysis.runnable) return text + line("next", "correct what the note names, then analyze again");
  if (!mechanical && !analysis.index && !analysis.notes.empty())
    return text + line("next", "mend what the note names; daedalus init shows where it stands");
  text += line("next", analysis.consistent ? fmt::format("daedalus simulate {}", path)
                                           : fmt::format("daedalus init {}   (what a consistent start looks like)", path));
  return text;
}

namespace {

std::string bound_by(const std::vector<model::Equation>& initial) {
  std::vector<std::string> names;
  for (const model::Equation& equation : initial) names.push_back(equation.name);
  return names.empty() ? "" : ", [initial]: " + joined(names);
}

}  // namespace

std::string to_text(const solve::Start& start, const model::Model& model, const std::string& path) {
  std::string text = line("model", model.name);
  if (!start.found) return text + line("failed", start.message);
  text += start.moved.empty() ? line("start", start.consistent_as_given ? "consistent as given" : "kept as given, not consistent")
                              : moved_lines(start.moved);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : start.values) rows.push_back({"", name, shortest(value)});
  for (auto& row : rows) row.front() = std::string(&row == &rows.front() ? "values  " : "        ");
  text += table(rows);
  text += line("residual", small(start.residual) + " (largest, relative)");
  if (start.free.known) {
    text += line("freedom", count(start.free.count, "initial value") + " free" +
                                (start.free.fixed.empty() ? "" : ", fixed: " + joined(start.free.fixed)) + bound_by(model.initial));
    text += choice_lines(start.free);
  }
  text += branch_lines(start);
  for (const solve::Redundancy& one : start.redundant)
    text += line("redundant", fmt::format("{} follows from {}", one.constraint,
                                          one.follows_from.empty() ? "the other constraints" : joined(one.follows_from)));
  text += notes_lines(start.notes);
  text += line("next", fmt::format("daedalus simulate {}", path));
  return text;
}

std::string formulations_text(const std::string& name) {
  if (!name.empty()) {
    const formulate::FormulationEntry& entry = formulate::formulation(name);
    std::string text = fmt::format("{:<12}{}\n{:<12}{}\n", "formulation", entry.name, "", entry.summary);
    text += line("index", std::to_string(entry.index) + " (of the system it produces)");
    text += line("kinds", joined(entry.kinds));
    text += option_lines(entry.options);
    text += line("source", entry.citation);
    return text;
  }
  std::vector<std::vector<std::string>> rows{{"formulation", "index", "summary"}};
  for (const auto& entry : formulate::formulations()) rows.push_back({entry.name, std::to_string(entry.index), entry.summary});
  return table(rows) + "\ndaedalus formulations NAME says more about one of them\n";
}

}  // namespace daedalus::report
