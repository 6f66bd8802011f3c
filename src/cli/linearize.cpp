#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/output_kinds.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/report/control.hpp"
#include "daedalus/report/output_file.hpp"

namespace daedalus::cli {

namespace {

/// The linear model that a command is about: one of kind linear with its own B and C, or a linearization.
solve::LinearModel linear_model_of(const Command& command) {
  model::Overrides overrides = overrides_of(command);
  overrides.perturbed = command.inputs;
  model::Model model = model::read_model(command.model, overrides);
  const bool own = model.kind == model::Kind::linear && command.inputs.empty() && command.targets.empty();
  if (own && !command.at) return solve::linear_model(model);
  solve::Ports ports{command.inputs, command.targets};
  if (ports.inputs.empty() && !model.inputs.empty()) {
    // All inputs of the model; they must be read as perturbed.
    for (const model::Named& input : model.inputs) ports.inputs.push_back(input.name);
    overrides.perturbed = ports.inputs;
    model = model::read_model(command.model, overrides);
  }
  if (ports.outputs.empty())
    for (const model::Named& output : model.outputs) ports.outputs.push_back(output.name);
  const double t = command.at.value_or(solve::start_time(model, command.run));
  return solve::linearize(solve::prepare(std::move(model)), t, ports, command.run);
}

report::ControlFindings findings_of(const solve::LinearModel& model) {
  report::ControlFindings findings;
  findings.model = &model;
  if (model.size() > solve::most_modes) return findings;
  findings.modes = solve::mode_analysis(model);
  for (std::size_t j = 0; j < model.inputs.size(); ++j)
    for (std::size_t i = 0; i < model.outputs.size(); ++i) findings.channels.push_back(solve::channel(model, j, i));
  return findings;
}

}  // namespace

int linearize(const Command& command) {
  refuse_folder(command.output, "linear.toml");
  if (!command.output.empty() && !command.output.ends_with(".toml") && !command.output.ends_with(".json"))
    throw Error("unknown-file-type", fmt::format("the ending of '{}' does not say what to write", command.output),
                "end the name in .toml (a model of kind linear) or .json");
  solve::LinearModel model = linear_model_of(command);
  // Redundant constraints leave their multipliers open: there are no modes then, but the matrices are right.
  const bool singular = model.size() <= solve::most_modes && !solve::has_transfer_function(model);
  if (singular)
    model.notes.push_back("the pencil is singular: there are no modes and no transfer function; `daedalus analyze` of the linear "
                          "model (--output FILE.toml) says which unknowns are free and which equations depend on others");
  const report::ControlFindings findings = singular ? report::ControlFindings{&model, {}, {}, {}} : findings_of(model);
  if (!command.output.empty())
    report::write_file(command.output, command.output.ends_with(".toml") ? solve::model_file(model) : report::to_json(findings));
  print(command.json ? report::to_json(findings) : report::to_text(findings, command.model));
  if (!command.output.empty() && !command.json && !command.quiet) print(fmt::format("{:<10}{}\n", "wrote", command.output));
  return done;
}

int bode(const Command& command) {
  refuse_folder(command.output, "bode.csv");
  const PlotKind plot = plot_kind_of(command.plot);
  if (!command.output.empty() && !command.output.ends_with(".csv") && !command.output.ends_with(".json"))
    throw Error("unknown-file-type", fmt::format("the ending of '{}' does not say what to write", command.output),
                "end the name in .csv or .json");
  solve::FrequencyRange range;
  range.points = command.points;
  if (!command.range.empty()) {
    if (command.range.size() != 2)
      throw Error("bad-option-value", "--range takes two frequencies", "write --range 0.01,100");
    range.low = command.range[0];
    range.high = command.range[1];
  }
  const solve::LinearModel model = linear_model_of(command);
  if (model.inputs.empty() || model.outputs.empty())
    throw Error("no-transfer",
                fmt::format("the model '{}' has no {}", model.name,
                            model.inputs.empty() && model.outputs.empty() ? "inputs and outputs"
                            : model.inputs.empty()                        ? "input"
                                                                          : "output"),
                "give B and C in [linear], or name an input and an output: --input u --to y");
  report::ControlFindings findings = findings_of(model);
  findings.response = solve::frequency_response(model, solve::frequencies(range, findings.channels));
  if (plot != PlotKind::none) {
    // Curves are smooth, however few rows the table has.
    constexpr std::size_t smooth = 400;
    const auto& omega = findings.response->omega;
    const solve::FrequencyRange fine{omega.front(), omega.back(), std::max(omega.size(), smooth), true};
    solve::FrequencyResponse rows = solve::frequency_response(model, solve::frequencies(fine, findings.channels));
    std::swap(*findings.response, rows);
    const report::PlotData data = report::bode_plot(findings);
    report::write_file(command.plot, plot == PlotKind::svg ? report::plot_svg(data) : report::plot_pdf(data));
    std::swap(*findings.response, rows);
  }
  if (!command.output.empty())
    report::write_file(command.output, command.output.ends_with(".csv") ? report::to_csv(findings) : report::to_json(findings));
  print(command.json ? report::to_json(findings) : report::to_text(findings, command.model));
  if (command.json || command.quiet) return done;
  if (!command.output.empty()) print(fmt::format("{:<10}{}\n", "wrote", command.output));
  if (plot != PlotKind::none) print(fmt::format("{:<10}{}\n", "drew", command.plot));
  return done;
}

}  // namespace daedalus::cli
