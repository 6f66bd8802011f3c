#include "cli/perturb.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output_kinds.hpp"
#include "cli/progress.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/report/output_file.hpp"
#include "daedalus/report/perturbation.hpp"

namespace daedalus::cli {

namespace {

constexpr const char* advice = "choose a model of mechanics or a DAE of an index above 1, with constraints that can be violated";

double size_of(const Command& command) {
  if (!(*command.perturb > 0.0 && *command.perturb < 1e6))
    throw Error("bad-option-value", fmt::format("--perturb {} is not possible: it must be positive", shortest(*command.perturb)),
                "give the largest violation relative to the largest term of a constraint, as in --perturb 0.3");
  return *command.perturb;
}

/// Whether what was given on the command line is a value of that variable, "der(x)" or "x'" written with or without blanks.
bool is_value_of(std::string given, const std::string& variable) {
  std::erase(given, ' ');
  if (given.ends_with("'") && !given.ends_with("''")) given = "der(" + given.substr(0, given.size() - 1) + ")";
  return given == variable;
}

}  // namespace

Command with_perturbed_start(Command command) {
  const double size = size_of(command);
  const model::Model model = read(command);
  const double t = solve::start_time(model, command.run);
  const std::string name = model.name;
  const solve::Prepared prepared = solve::prepare(model::read_model(command.model, overrides_of(command)));
  const auto start = solve::perturbed_start(prepared, t, size, size);
  if (!start)
    throw Error("no-perturbed-start", fmt::format("'{}' has no start with every constraint violated by {}", name, shortest(size)),
                solve::perturbed_start(prepared, t, 0.0, 0.0) ? "give a smaller --perturb: so far off the constraints no state was found" : advice);
  for (const auto& [variable, value] : *start) {
    const auto is_replaced = [&name = variable](const std::string& given) { return is_value_of(given.substr(0, given.find('=')), name); };
    std::erase_if(command.set, is_replaced);
    std::erase_if(command.fix, is_replaced);
    command.set.push_back(fmt::format("{}={}", variable, shortest(value)));
  }
  command.run.initialize = "off";
  command.perturb.reset();
  return command;
}

int compare_perturbed(const Command& command) {
  if (command.models.size() != 1)
    throw Error("bad-option-value", "--perturb makes the map of one model", "give one model file");
  if (!command.page.empty() || command.output.ends_with(".csv") || command.output.ends_with(".tex"))
    throw Error("bad-option-value", "--perturb writes --output map.json and --plot map.svg, no page and no other table",
                "leave --report out, and end the name of --output in .json");
  const PlotKind plot = plot_kind_of(command.plot);
  for (const std::string& path : {command.output, command.plot})
    if (!path.empty()) report::check_writable(path);
  solve::PerturbationPlan plan;
  plan.size = size_of(command);
  plan.formulations = command.formulations;
  if (plan.formulations.empty()) plan.formulations = {"baumgarte", "ascher-chin-reich", "lyapunov"};
  plan.run = command.run;
  if (!command.tolerances.empty()) plan.run.rtol = command.tolerances.front();
  if (!command.methods.empty()) plan.run.method = command.methods.front();
  if (!command.steps.empty()) plan.run.step = command.steps.front();
  const model::Overrides overrides = overrides_of(command);
  plan.model = [&](const solve::StartValues& start) {
    model::Overrides all = overrides;
    for (const auto& [name, value] : start) {
      const auto same = [&own = name](const auto& one) { return is_value_of(one.first, own); };
      std::erase_if(all.set, same);
      std::erase_if(all.fix, same);
      all.set.emplace_back(name, shortest(value));
    }
    return model::read_model(command.models.front(), all);
  };
  take_signals();
  solve::PerturbationMap map;
  {
    ProgressLine line(command.quiet || command.json ? ProgressLine::Show::never : ProgressLine::Show::on_terminal);
    plan.interrupt = asked_to_stop;
    plan.progress = [&](std::size_t done, std::size_t planned) { line.count(done, planned, 0); };
    map = solve::perturbation_map(plan);
  }
  if (std::ranges::all_of(map.runs, [](const solve::PerturbedRun& run) { return run.outcome == solve::PerturbedRun::Outcome::no_start; }) &&
      !map.interrupted)
    throw Error("no-perturbed-start", fmt::format("'{}' has no start that violates its constraints", map.model), advice);
  std::string wrote;
  if (!command.output.empty()) {
    report::write_file(command.output, report::to_json(map));
    wrote += fmt::format("{:<10}{}\n", "wrote", command.output);
  }
  if (plot != PlotKind::none) {
    const report::Picture picture = report::perturbation_picture(map);
    report::write_file(command.plot, plot == PlotKind::svg ? report::picture_svg(picture) : report::picture_pdf(picture));
    wrote += fmt::format("{:<10}{}\n", "drew", command.plot);
  }
  if (command.json)
    print(report::to_json(map));
  else if (!command.quiet)
    print(report::to_text(map) + (wrote.empty() ? "" : "\n" + wrote));
  return map.interrupted ? interrupted : done;
}

}  // namespace daedalus::cli
