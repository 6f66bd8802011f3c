// The page of a comparison. Words and the table stand in it; the scripts of web/src/comparison.ts draw the rest.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/mathml.hpp"
#include "daedalus/report/comparison.hpp"
#include "daedalus/report/comparison_parts.hpp"
#include "daedalus/report/page_parts.hpp"
#include "daedalus/report/text_parts.hpp"

namespace daedalus::report {

using Json = nlohmann::ordered_json;
using expr::escape_markup;
using solve::ComparedModel;
using solve::ComparedRun;
using solve::Comparison;

namespace {

std::string names_of(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const ComparedModel& model : comparison.models) names.push_back(model.name);
  return joined(names);
}

std::string runs_tile(const Comparison& comparison) {
  std::set<std::string> formulations, methods;
  for (const ComparedRun& run : comparison.runs) {
    formulations.insert(run.formulation);
    methods.insert(run.method);
  }
  const std::size_t failed = comparison.runs.size() - comparison.succeeded();
  std::string words =
      fmt::format("{} with {}, in {} on {}.", count(formulations.size(), "formulation"),
                  count(methods.size(), "method"), time_text(comparison.seconds), count(comparison.threads, "thread"));
  if (failed > 0) words += fmt::format(" {} did not reach the end; <a href=\"#failed\">why</a>.", failed);
  if (comparison.interrupted) words += fmt::format(" Interrupted: {} were planned.", comparison.planned);
  const bool whole = failed == 0 && !comparison.interrupted;
  return page_tile(whole                        ? "good"
                   : comparison.succeeded() > 0 ? "fair"
                                                : "bad",
                   "Runs", std::to_string(comparison.runs.size()), words);
}

std::string reference_tile(const Comparison& comparison, const ComparedModel& model) {
  const solve::Reference& reference = model.reference;
  const std::string what = comparison.models.size() > 1 ? "Reference of " + escape_markup(model.name) : "Reference";
  if (!reference.message.empty())
    return page_tile("bad", what, "none", escape_markup(short_message(reference.message, 300)));
  if (!reference.computed)
    return page_tile("", what, "given", fmt::format("The rows of <code>{}</code>.", escape_markup(reference.origin)));
  const double agreement = solve::of_motion(reference.agreement).value_or(0.0);
  return page_tile(agreement <= 1e-9 ? "good" : "fair", what, power_of_ten(agreement),
                   escape_markup(reference.origin) + " " + agreement_text(reference.agreement) +
                       ". Smaller errors cannot be told from 0.");
}

std::string fastest_tile(const Comparison& comparison, std::size_t model) {
  for (const double error : {1e-6, 1e-3}) {
    const ComparedRun* run = fastest(comparison, model, error);
    if (run == nullptr) continue;
    const std::string of_model =
        comparison.models.size() > 1 ? " of " + escape_markup(comparison.models[model].name) : "";
    return page_tile("", fmt::format("Fastest{} with an error below {}", of_model, power_of_ten(error)),
                     time_text(run->trajectory.processor_seconds),
                     fmt::format("{}, {}.", escape_markup(name_of(*run)), control_of(*run)));
  }
  return {};
}

std::string cell_of(const RunColumn& column, const ComparedRun& run) {
  const std::optional<double> value = column.value(run);
  if (!value) return "<td class=\"n\">–</td>";
  std::string text = column.kind == RunColumn::Kind::count     ? fmt::format("{:.0f}", *value)
                     : column.kind == RunColumn::Kind::seconds ? time_text(*value)
                     : column.below_least(run)                 ? "&lt; " + power_of_ten(*column.least(run))
                                                               : power_of_ten(*value);
  return fmt::format("<td class=\"n\" data-value=\"{:.9g}\">{}</td>", *value, text);
}

std::string row_of(const Comparison& comparison, const ComparedRun& run, const std::vector<RunColumn>& columns) {
  const auto name = [](const std::string& text) {
    return fmt::format("<td data-value=\"{0}\">{0}</td>", escape_markup(text));
  };
  std::string text = "<tr>";
  if (comparison.models.size() > 1) text += name(comparison.models[run.model].name);
  text += name(run.formulation) + name(run.method);
  text += fmt::format("<td data-value=\"{:.9g}\">{}</td>", run.step ? *run.step : run.rtol.value_or(0.0),
                      run.step ? "h = " + brief(*run.step) : power_of_ten(run.rtol.value_or(0.0)));
  if (run.success)
    for (const RunColumn& column : columns) text += cell_of(column, run);
  else
    text += fmt::format("<td class=\"words\" colspan=\"{}\">{}</td>", columns.size(),
                        escape_markup(short_message(run.message, 160)));
  return text + "</tr>\n";
}

std::string runs_section(const Comparison& comparison) {
  const std::vector<RunColumn> columns = columns_of(comparison);
  std::string groups = fmt::format("<th colspan=\"{}\"></th>", comparison.models.size() > 1 ? 4 : 3), heads;
  if (comparison.models.size() > 1) heads += "<th>model</th>";
  heads += "<th>formulation</th><th>method</th><th>rtol</th>";
  for (std::size_t j = 0; j < columns.size();) {
    std::size_t end = j + 1;
    while (end < columns.size() && columns[end].group() == columns[j].group()) ++end;
    groups += fmt::format("<th{} colspan=\"{}\">{}</th>", columns[j].group().empty() ? "" : " class=\"group\"", end - j,
                          columns[j].group());
    j = end;
  }
  for (const RunColumn& column : columns)
    heads += fmt::format("<th class=\"n\" title=\"{}\">{}</th>", escape_markup(column.name),
                         column.kind == RunColumn::Kind::seconds ? "time" : escape_markup(column.short_name));
  std::string text =
      "<section class=\"long\">\n<h2>All runs</h2>\n<p class=\"quietly\">Click a head to sort. Error: the largest |x − "
      "reference|/(1 + |reference|) over output times and components. Drift: the largest residuals of the constraints, "
      "relative to their largest terms. Runs share the machine, so their times are those of the processor; short runs "
      "were repeated, and the fastest counts.</p>\n";
  text += fmt::format(
      "<div class=\"scroll\"><table class=\"plain runs\" id=\"runs\"><thead><tr>{}</tr><tr>{}</tr></thead><tbody>\n",
      groups, heads);
  for (const ComparedRun& run : comparison.runs) text += row_of(comparison, run, columns);
  return text + "</tbody></table></div>\n</section>\n";
}

std::string left_out_section(const Comparison& comparison) {
  std::string notes;
  for (const ComparedModel& model : comparison.models)
    for (const std::string& note : model.notes) notes += "<p>" + escape_markup(note) + "</p>\n";
  if (comparison.left_out.empty() && notes.empty()) return {};
  std::string text = "<section>\n<h2>Left out</h2>\n" + notes + "<table class=\"plain\"><tbody>\n";
  for (const solve::LeftOut& one : comparison.left_out)
    text += fmt::format(
        "<tr><th>{}</th><td>{}</td></tr>\n",
        escape_markup(one.formulation + (one.formulation.empty() || one.method.empty() ? "" : " + ") + one.method),
        escape_markup(short_message(one.reason, 300)));
  return text + "</tbody></table>\n</section>\n";
}

std::string failed_section(const Comparison& comparison) {
  if (comparison.succeeded() == comparison.runs.size()) return {};
  std::string text = "<section id=\"failed\">\n<h2>Did not reach the end</h2>\n<table class=\"plain\"><tbody>\n";
  for (const ComparedRun& run : comparison.runs)
    if (!run.success)
      text += fmt::format("<tr><th>{} + {}, {}</th><td>{}</td></tr>\n", escape_markup(series_of(comparison, run)),
                          escape_markup(run.method), control_of(run), escape_markup(short_message(run.message, 600)));
  return text + "</tbody></table>\n</section>\n";
}

/// A kind of work that diagrams show.
struct Work {
  const char* name;
  double (*of)(const ComparedRun&);
};
const std::array works{
    Work{"processor time (s)", [](const ComparedRun& run) { return run.trajectory.processor_seconds; }},
    Work{"right-hand sides", [](const ComparedRun& run) { return static_cast<double>(run.trajectory.stats.rhs); }},
    Work{"steps", [](const ComparedRun& run) { return static_cast<double>(run.trajectory.stats.steps); }},
    Work{"factorizations",
         [](const ComparedRun& run) { return static_cast<double>(run.trajectory.stats.factorizations); }},
};

/// What the scripts draw: of the runs that reached the end.
Json description_of(const Comparison& comparison, const std::vector<std::size_t>& levels) {
  const std::vector<std::string> series = series_of(comparison);
  Json runs = Json::array(), rows = Json::array(), level_names = Json::array(), work_names = Json::array(),
       quantities = Json::array(), agreement = Json::array();
  for (const solve::Quantity quantity : comparison.quantities) {
    double most = 0.0;
    for (const ComparedModel& model : comparison.models)
      most = std::max(most, of(model.reference.agreement, quantity).value_or(0.0));
    quantities.push_back(name_of(quantity));
    agreement.push_back(most);
  }
  for (const std::size_t level : levels) level_names.push_back(level_name(comparison, level));
  for (const Work& work : works) work_names.push_back(work.name);
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    const ComparedRun& run = comparison.runs[i];
    const auto own = std::ranges::find(series, series_of(comparison, run)) - series.begin();
    rows.push_back({own, run.method});
    if (!run.success) continue;
    Json errors = Json::array(), work = Json::array();
    for (const solve::Quantity quantity : comparison.quantities)
      errors.push_back(of(run.error, quantity) ? Json(*of(run.error, quantity)) : Json());
    for (const Work& kind : works) work.push_back(kind.of(run));
    runs.push_back({{"row", i},
                    {"series", own},
                    {"method", run.method},
                    {"rtol", run.rtol ? Json(*run.rtol) : Json()},
                    {"step", run.step ? Json(*run.step) : Json()},
                    {"error", errors},
                    {"work", work}});
  }
  return {{"series", series},
          {"shapes", mark_shapes},
          {"quantities", quantities},
          {"agreement", agreement},
          {"work", work_names},
          {"levels", level_names},
          {"parts", solve::ResidualHistory::parts},
          {"start", comparison.models.front().t_start},
          {"end", comparison.models.front().t_end},
          {"rows", rows},
          {"runs", runs}};
}

/// Residuals of the runs that reached the end, run by run, level by level.
std::string residuals_of(const Comparison& comparison, const std::vector<std::size_t>& levels) {
  std::vector<float> all;
  for (const ComparedRun& run : comparison.runs) {
    if (!run.success) continue;
    for (const std::size_t level : levels)
      for (std::size_t part = 0; part < solve::ResidualHistory::parts; ++part)
        all.push_back(level < run.residuals.levels.size() ? static_cast<float>(run.residuals.levels[level][part])
                                                          : 0.0F);
  }
  return base64(all.data(), all.size() * sizeof(float));
}

}  // namespace

std::string to_page(const Comparison& comparison) {
  const std::vector<std::size_t> levels = levels_of(comparison);
  PageFrame frame;
  frame.title = names_of(comparison);
  frame.lead = fmt::format("Formulations and methods side by side, t = {} to {}",
                           brief(comparison.models.front().t_start), brief(comparison.models.front().t_end));
  frame.head = "<div class=\"verdicts\">\n" + runs_tile(comparison);
  for (const ComparedModel& model : comparison.models) frame.head += reference_tile(comparison, model);
  for (std::size_t i = 0; i < comparison.models.size(); ++i) frame.head += fastest_tile(comparison, i);
  frame.head += "</div>\n";
  const bool errors = std::ranges::any_of(
      comparison.runs, [](const ComparedRun& run) { return solve::of_motion(run.error).has_value(); });
  frame.body =
      "<section class=\"legend\"><div class=\"filters\" id=\"filters\"></div><noscript>The diagrams need "
      "JavaScript.</noscript></section>\n";
  if (errors)
    frame.body +=
        "<section class=\"long\">\n<h2>Work and precision</h2>\n<div class=\"filters\" id=\"work-choices\"></div>\n"
        "<div class=\"charts\" id=\"work\"></div>\n<p class=\"hint\">A point per tolerance; lower and further left is "
        "better. Below the grey line errors cannot be told from 0: the reference is not known better. Click a name at "
        "the top to hide it, with Shift to see it alone.</p>\n</section>\n<section class=\"long\">\n<h2>Tolerance "
        "proportionality</h2>\n<div class=\"charts\" id=\"proportion\"></div>\n<p class=\"hint\">Error against what "
        "was asked for. The dashed line is error = rtol; a curve parallel to it loses ten times the error with ten "
        "times the tolerance.</p>\n</section>\n";
  if (!levels.empty())
    frame.body +=
        "<section class=\"long\">\n<h2>Residuals over time</h2>\n<div class=\"filters\" id=\"drift-choices\"></div>\n"
        "<div class=\"charts\" id=\"drift\"></div>\n<p class=\"hint\">The largest residual of the constraints in each "
        "part of the time, in their own units; exact zeros are not drawn.</p>\n</section>\n";
  frame.body += failed_section(comparison) + runs_section(comparison) + left_out_section(comparison);
  const Json description = description_of(comparison, levels);
  frame.json = {{"comparison", script_text(description.dump(-1, ' ', false, Json::error_handler_t::replace))}};
  frame.numbers = {{"residuals", residuals_of(comparison, levels)}};
  return page_of(frame);
}

}  // namespace daedalus::report
