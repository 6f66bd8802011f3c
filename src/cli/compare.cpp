#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/check_values.hpp"
#include "cli/command.hpp"
#include "cli/output_kinds.hpp"
#include "cli/perturb.hpp"
#include "cli/progress.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/report/comparison.hpp"
#include "daedalus/report/comparison_parts.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/report/output_file.hpp"
#include "daedalus/report/result_file.hpp"
#include "daedalus/solve/comparison.hpp"

namespace daedalus::cli {

namespace {

enum class TableKind { none, csv, json, tex };

TableKind table_kind_of(const std::string& path) {
  if (path.empty()) return TableKind::none;
  if (path.ends_with(".csv")) return TableKind::csv;
  if (path.ends_with(".json")) return TableKind::json;
  if (path.ends_with(".tex")) return TableKind::tex;
  throw Error("unknown-file-type", fmt::format("the ending of '{}' does not say what to write", path),
              "end the name in .csv, .json or .tex");
}

/// Checks every value of the lists as `simulate` checks its one.
void check_lists(const Command& command) {
  Command one = command;
  check_values(one);
  for (const double rtol : command.tolerances) {
    one.run.rtol = rtol;
    check_values(one);
  }
  for (const double step : command.steps) {
    one.run.step = step;
    check_values(one);
  }
  one = command;
  for (const std::string& method : command.methods) {
    one.run.method = method;
    check_values(one);
  }
  if (command.time_limit && !(*command.time_limit > 0.0))
    throw Error("bad-option-value",
                fmt::format("--time-limit {} is not possible: it must be positive", shortest(*command.time_limit)),
                "write for example --time-limit 60");
  if (command.threads == 0U)
    throw Error("bad-option-value", "--threads 0 is not possible: at least one thread is needed",
                "write for example --threads 1");
}

/// Reads the model once and makes it again from the same text, for every thread.
std::function<model::Model()> maker(const Command& command, const std::string& path) {
  const model::Overrides overrides = overrides_of(command);
  const model::Model model = model::read_model(path, overrides);
  check_times(command, model);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return [=, source = model.source] {
    return model::read_model_text(source->text, path, overrides, folder.empty() ? "." : folder);
  };
}

/// What a person would do next: look at the page, or at the fastest run that is good enough.
std::string next_command(const Command& command, const solve::Comparison& comparison) {
  if (command.page.empty())
    return fmt::format("daedalus compare {} --report comparison.html   (the same as diagrams)",
                       fmt::join(command.models, " "));
  for (const double error : {1e-6, 1e-3, 1.0})
    for (std::size_t i = 0; i < comparison.models.size(); ++i)
      if (const solve::ComparedRun* run = report::fastest(comparison, i, error); run != nullptr && run->rtol)
        return fmt::format("daedalus simulate {} --formulation {} --method {} --rtol {} --report motion.html",
                           command.models[i], run->formulation, run->method, report::tolerance_text(*run->rtol));
  return fmt::format("daedalus simulate {}", command.models.front());
}

}  // namespace

int compare(const Command& command) {
  check_lists(command);
  if (command.perturb) return compare_perturbed(command);
  refuse_folder(command.output, "table.csv");
  refuse_folder(command.plot, "diagram.svg");
  refuse_folder(command.page, "page.html");
  const TableKind kind = table_kind_of(command.output);
  const PlotKind plot = plot_kind_of(command.plot);
  const bool page = page_asked(command.page);
  for (const std::string& path : {command.output, command.plot, command.page})
    if (!path.empty()) report::check_writable(path);

  solve::ComparisonPlan plan;
  for (const std::string& path : command.models) plan.models.push_back(maker(command, path));
  plan.formulations = command.formulations;
  plan.methods = command.methods;
  plan.rtol = command.tolerances;
  plan.steps = command.steps;
  plan.run = command.run;
  plan.seconds_per_run = command.time_limit;
  plan.threads = command.threads.value_or(0);
  if (!command.reference.empty()) {
    report::ResultRow rows = report::read_result(command.reference, std::nullopt, report::ResultUse::reference);
    plan.reference = {std::move(rows.columns), std::move(rows.all_t), std::move(rows.all_values)};
    plan.reference_name = command.reference;
  }

  take_signals();
  solve::Comparison comparison;
  {
    ProgressLine line(command.quiet || command.json ? ProgressLine::Show::never : ProgressLine::Show::on_terminal);
    plan.interrupt = asked_to_stop;
    plan.progress = [&](const solve::ComparisonProgress& now) { line.count(now.done, now.planned, now.failed); };
    comparison = solve::compare(plan);
  }

  bool lost = false;
  std::string wrote;
  const auto attempt = [&](const std::string& path, const std::string& text, const std::string& line) {
    try {
      report::write_file(path, text);
      wrote += line + "\n";
    } catch (const Error& error) {
      lost = true;
      tell(std::string(error.what()) + "\n");
    }
  };
  if (kind != TableKind::none)
    attempt(command.output,
            kind == TableKind::json  ? report::to_json(comparison)
            : kind == TableKind::csv ? report::to_csv(comparison)
                                     : report::to_latex(comparison),
            fmt::format("{:<10}{} ({})", "wrote", command.output, count(comparison.runs.size(), "run")));
  if (plot != PlotKind::none) {
    const report::Picture picture = report::work_precision(comparison);
    attempt(command.plot, plot == PlotKind::svg ? report::picture_svg(picture) : report::picture_pdf(picture),
            fmt::format("{:<10}{}", "drew", command.plot));
  }
  if (page) {
    const std::string text = report::to_page(comparison);
    attempt(command.page, text,
            fmt::format("{:<10}{} ({:.1f} MB; open it in a browser)", "page", command.page,
                        1e-6 * static_cast<double>(text.size())));
  }
  if (command.json)
    print(report::to_json(comparison));
  else if (!command.quiet)
    print(report::to_text(comparison, next_command(command, comparison)) + wrote);
  if (comparison.interrupted) {
    tell(fmt::format("interrupted: {} of {} done\n", count(comparison.runs.size(), "run"), comparison.planned));
    return lost ? numerics_failed : interrupted;
  }
  if (comparison.succeeded() > 0) return lost ? numerics_failed : done;
  tell(fmt::format("error[all-runs-failed]: {}\n  -> look at one of them with `daedalus simulate`\n",
                   report::failure_of(comparison)));
  return numerics_failed;
}

}  // namespace daedalus::cli
