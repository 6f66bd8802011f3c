#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/text.hpp"
#include "daedalus/report/comparison.hpp"
#include "daedalus/report/comparison_parts.hpp"
#include "daedalus/report/text_parts.hpp"

namespace daedalus::report {

using solve::ComparedModel;
using solve::ComparedRun;
using solve::Comparison;

namespace {

constexpr std::size_t longest_message = 100;

std::string small(double value) { return value == 0.0 ? "0" : fmt::format("{:.1e}", value); }

/// Two lines of heads over columns of numbers that stand below each other; the first columns are names.
class Table {
 public:
  explicit Table(std::vector<std::string> names) : names_(names.size()) {
    for (std::string& name : names) column("", std::move(name));
  }
  /// A column of numbers; equal groups beside each other are written once.
  void column(std::string group, std::string head) { heads_.push_back({std::move(group), std::move(head)}); }
  /// A row with fewer cells than columns ends in words.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string text() const {
    std::vector<std::size_t> width;
    for (const Head& head : heads_) width.push_back(head.name.size());
    for (const auto& cells : rows_)
      for (std::size_t j = 0; j < cells.size(); ++j)
        if (cells.size() == heads_.size() || j + 1 < cells.size()) width[j] = std::max(width[j], cells[j].size());
    std::string groups, text;
    for (std::size_t j = 0; j < heads_.size(); ++j) {
      const bool fresh = j == 0 || heads_[j].group != heads_[j - 1].group;
      const std::size_t at = place(width, j);
      if (fresh && !heads_[j].group.empty()) {
        groups.resize(std::max(groups.size(), at), ' ');
        groups += heads_[j].group;
      }
    }
    if (!groups.empty()) text += groups + "\n";
    std::vector<std::string> heads;
    for (const Head& head : heads_) heads.push_back(head.name);
    text += line_of(heads, width);
    for (const auto& cells : rows_) text += line_of(cells, width);
    return text;
  }

 private:
  struct Head {
    std::string group, name;
  };
  static std::size_t place(const std::vector<std::size_t>& width, std::size_t j) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < j; ++i) at += width[i] + 2;
    return at;
  }
  std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& width) const {
    std::string out;
    for (std::size_t j = 0; j < cells.size(); ++j) {
      const bool last = j + 1 == cells.size();
      // Names to the left, numbers to the right; the last column, of times that vary, to the left.
      out += last         ? cells[j]
             : j < names_ ? fmt::format("{:<{}}  ", cells[j], width[j])
                          : fmt::format("{:>{}}  ", cells[j], width[j]);
    }
    while (out.ends_with(' ')) out.pop_back();
    return out + "\n";
  }

  std::size_t names_;
  std::vector<Head> heads_;
  std::vector<std::vector<std::string>> rows_;
};

std::string reference_lines(const ComparedModel& model) {
  const solve::Reference& reference = model.reference;
  if (!reference.message.empty()) return line("reference", short_message(reference.message, 300));
  std::string text = line("reference", reference.origin);
  if (reference.computed) text += line("", agreement_text(reference.agreement) + "; errors below that are marked <");
  return text;
}

std::string cell_of(const RunColumn& column, const ComparedRun& run) {
  const std::optional<double> value = column.value(run);
  if (!value) return "-";
  if (column.kind == RunColumn::Kind::count) return fmt::format("{:.0f}", *value);
  if (column.kind == RunColumn::Kind::seconds) return fmt::format("{:.2g} s", *value);
  return column.below_least(run) ? "<" + small(*column.least(run)) : small(*value);
}

std::string runs_table(const Comparison& comparison) {
  const bool several = comparison.models.size() > 1;
  const bool steps = std::ranges::any_of(comparison.runs, [](const ComparedRun& run) { return run.step.has_value(); });
  const bool tolerances =
      std::ranges::any_of(comparison.runs, [](const ComparedRun& run) { return run.rtol.has_value(); });
  std::vector<std::string> names;
  if (several) names.emplace_back("model");
  names.insert(names.end(), {"formulation", "method"});
  if (tolerances) names.emplace_back("rtol");
  if (steps) names.emplace_back("step");
  Table table(names);
  const std::vector<RunColumn> columns = columns_of(comparison);
  for (const RunColumn& column : columns) table.column(column.group(), column.name);
  for (const ComparedRun& run : comparison.runs) {
    std::vector<std::string> cells;
    if (several) cells.push_back(comparison.models[run.model].name);
    cells.insert(cells.end(), {run.formulation, run.method});
    if (tolerances) cells.push_back(run.rtol ? tolerance_text(*run.rtol) : "");
    if (steps) cells.push_back(run.step ? brief(*run.step) : "");
    if (!run.success) {
      cells.push_back(short_message(run.message, longest_message));
      table.row(std::move(cells));
      continue;
    }
    for (const RunColumn& column : columns) cells.push_back(cell_of(column, run));
    table.row(std::move(cells));
  }
  return table.text();
}

std::string left_out_lines(const Comparison& comparison) {
  std::string text;
  for (const solve::LeftOut& one : comparison.left_out) {
    std::vector<std::string> names;
    if (comparison.models.size() > 1) names.push_back(comparison.models[one.model].name);
    if (!one.formulation.empty()) names.push_back(one.formulation);
    if (!one.method.empty()) names.push_back(one.method);
    text += line(text.empty() ? "left out" : "", joined(names, " + ") + ": " + short_message(one.reason, 300));
  }
  return text;
}

std::string fastest_lines(const Comparison& comparison) {
  std::string text;
  for (std::size_t i = 0; i < comparison.models.size(); ++i)
    for (const double error : {1e-3, 1e-6, 1e-9}) {
      const ComparedRun* run = fastest(comparison, i, error);
      if (run == nullptr) continue;
      const std::string model = comparison.models.size() > 1 ? comparison.models[i].name + ": " : "";
      text += line(text.empty() ? "fastest" : "",
                   fmt::format("{}with an error below {}: {}, {}, {:.2g} s", model, tolerance_text(error),
                               name_of(*run), control_of(*run), run->trajectory.processor_seconds));
    }
  return text;
}

}  // namespace

std::string to_text(const Comparison& comparison, const std::string& command) {
  std::string text;
  for (const ComparedModel& model : comparison.models) {
    text += line("model", fmt::format("{}, t = {} .. {}", model.name, brief(model.t_start), brief(model.t_end)));
    text += reference_lines(model);
    if (&model != &comparison.models.front() && solve::of_motion(model.from_first))
      text += line(
          "", fmt::format("it and that of {} {}", comparison.models.front().name, agreement_text(model.from_first)));
    for (const std::string& note : model.notes) text += line("note", note);
  }
  const std::size_t failed = comparison.runs.size() - comparison.succeeded();
  text += line("runs", fmt::format("{} of {}{} in {:.2g} s", comparison.runs.size(), comparison.planned,
                                   failed > 0 ? fmt::format(", {} failed,", failed) : "", comparison.seconds));
  if (!comparison.runs.empty()) text += "\n" + runs_table(comparison) + "\n";
  text += line("error", "largest |x - reference|/(1 + |reference|) over output times and components");
  if (!levels_of(comparison).empty()) text += line("drift", "largest residuals, relative to their largest terms");
  text += left_out_lines(comparison);
  text += fastest_lines(comparison);
  text += line("next", command);
  return text;
}

}  // namespace daedalus::report
