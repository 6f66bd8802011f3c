#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <string>

#include "cli/command.hpp"
#include "cli/parse_fault.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/report/version.hpp"

namespace daedalus::cli {

namespace {

/// CLI11 takes an empty text for a number that was not given.
void refuse_empty_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& value : option->results())
      if (value.empty())
        throw Error("bad-option-value",
                    option->get_positional() ? "the name after '" + command.get_name() + "' is empty"
                                             : option->get_name() + " has an empty value",
                    !option->get_positional()      ? "write a value after it, or leave the option out"
                    : option->get_name() == "NAME" ? "leave it out, or write a name"
                                                   : "write daedalus " + command.get_name() + " model.toml");
}

}  // namespace

std::optional<int> parse(int argc, const char* const* argv, Command& command) {
  CLI::App app{"Daedalus: differential-algebraic equations of high index, solved without drift", "daedalus"};
  app.require_subcommand(1);
  app.set_version_flag("--version", report::version_text());
  app.footer("A first model and everything else: docs/index.md");

  auto& run = command.run;

  const auto add = [&](const char* name, const char* summary) {
    CLI::App* sub = app.add_subcommand(name, summary);
    sub->callback([&command, name] { command.name = name; });
    sub->add_flag("--json", command.json, "print one JSON object and nothing else on standard output");
    sub->add_flag("--quiet", command.quiet, "print nothing but results and errors");
    return sub;
  };
  const auto add_overrides = [&](CLI::App* sub) {
    sub->add_option("--set", command.set, "NAME=VALUE: parameter, input or start guess (VALUE may be an expression)")
        ->expected(1)->allow_extra_args(false)->take_all();
    sub->add_option("--fix", command.fix, "NAME=VALUE: start value that binds")->expected(1)->allow_extra_args(false)->take_all();
    sub->add_option("--t-start", run.t_start, "time at which the model starts");
  };
  const auto add_model = [&](CLI::App* sub) {
    sub->add_option("MODEL", command.model, "the model file")->required();
    add_overrides(sub);
  };

  CLI::App* analyze = add("analyze", "class, index, degrees of freedom, hidden constraints, consistency");
  add_model(analyze);
  analyze->add_option("--plot", command.plot, "picture of the signature matrix and its blocks: .svg or .pdf");
  analyze->add_flag("--zero-dynamics", command.zero_dynamics, "the motion on the constraints: its dimension, where it rests, and whether that is stable");
  CLI::App* derive = add("derive", "the equations: M, C, dV/dq, Q, G and the hidden constraints");
  add_model(derive);
  derive->add_option("--format", command.format, "text, latex or json")->check(CLI::IsMember({"text", "latex", "json"}));
  derive->add_flag("--steps", command.derivation, "the derivation step by step");
  CLI::App* init = add("init", "consistent initial values, what was moved and by how much");
  add_model(init);
  init->add_option("--initialize", run.initialize, "project, check or off");

  const auto add_run = [&](CLI::App* sub) {
    sub->add_option("--atol", run.atol, "absolute tolerance");
    sub->add_option("--first-step", run.first_step, "size of the first step");
    sub->add_option("--max-step", run.max_step, "largest step size");
    sub->add_option("--max-steps", run.max_steps, "largest number of steps")->check(CLI::NonNegativeNumber);
    sub->add_option("--t-end", run.t_end, "time at which to stop");
    sub->add_option("--initialize", run.initialize, "project, check or off");
    sub->add_option("--samples", run.samples, "number of output rows, evenly spaced")->check(CLI::NonNegativeNumber);
    sub->add_option("--every", run.every, "distance of output rows in time");
    sub->add_option("--at", run.at, "output times, separated by commas")->delimiter(',');
    sub->add_option("--perturb", command.perturb,
                    "a start that violates the constraints by this part of their largest terms; compare maps all up to it");
  };
  const auto repeated = [](CLI::Option* option) { option->expected(1)->allow_extra_args(false)->take_all(); };
  const auto add_way = [&](CLI::App* sub) {
    sub->add_option("--formulation", run.formulation, "name or name:option=value,... (`daedalus formulations`)");
    sub->add_option("--method", run.method, "name or name:option=value,... (`daedalus methods`)");
    sub->add_option("--rtol", run.rtol, "relative tolerance (without --atol: atol = rtol/100)");
  };
  CLI::App* simulate = add("simulate", "a trajectory");
  add_model(simulate);
  add_way(simulate);
  simulate->add_option("--step", run.step, "fixed step size");
  add_run(simulate);
  simulate->add_option("--output", command.output, "file for the rows: .csv (written while they are computed), .json or .h5");
  simulate->add_flag("--residuals", run.residuals, "add residual.*, der(residual.*) and energy as columns");
  simulate->add_option("--plot", command.plot, "figure for papers and slides: .svg or .pdf");
  repeated(simulate->add_option("--curves", command.curves,
                                "what --plot draws: columns and entries of [plots], separated by commas")->delimiter(','));
  simulate->add_option("--report", command.page, "self-contained page with plots and animation: .html");
  simulate->add_option("--restart", command.restart, "FILE[@T]: continue from the last row of a result, or from that at T");

  CLI::App* compare = add("compare", "formulations, methods and tolerances side by side: errors, drift, energy, cost");
  compare->add_option("MODEL", command.models, "one or several model files")->required();
  add_overrides(compare);
  repeated(compare->add_option("--formulation", command.formulations, "as in simulate; may be repeated (default: all that fit)"));
  repeated(compare->add_option("--method", command.methods, "as in simulate; may be repeated (default: dop853, radau, bdf)"));
  repeated(compare->add_option("--rtol", command.tolerances,
                               "relative tolerances, separated by commas (default: 1e-4,1e-6,1e-8,1e-10)")->delimiter(','));
  repeated(compare->add_option("--step", command.steps, "fixed step sizes, separated by commas")->delimiter(','));
  add_run(compare);
  compare->add_option("--reference", command.reference, "result to compare with: .csv, .json or .h5 (default: two tight runs that agree)");
  compare->add_option("--time-limit", command.time_limit, "seconds of processor time after which a run is given up (default: 300 times the median of the others, from 1 to 10)");
  compare->add_option("--threads", command.threads, "runs at the same time (default: one per processor)")->check(CLI::NonNegativeNumber);
  compare->add_option("--output", command.output, "file for the table: .csv, .json or .tex");
  compare->add_option("--report", command.page, "self-contained page with work-precision diagrams: .html");
  compare->add_option("--plot", command.plot, "work-precision diagram: .svg or .pdf");

  const auto add_ports = [&](CLI::App* sub) {
    sub->add_option("--at", command.at, "time of the point on the trajectory (default: the start)");
    add_way(sub);
    sub->add_option("--atol", run.atol, "absolute tolerance");
    repeated(sub->add_option("--input", command.inputs, "inputs or parameters, separated by commas (default: all inputs)")->delimiter(','));
    repeated(sub->add_option("--to", command.targets, "outputs or variables, separated by commas (default: all outputs)")->delimiter(','));
    sub->add_option("--initialize", run.initialize, "project, check or off");
  };
  CLI::App* linearize = add("linearize", "the linear model at a point of the trajectory");
  add_model(linearize);
  add_ports(linearize);
  linearize->add_option("--output", command.output, "file for the linear model: .toml (of kind linear) or .json");
  CLI::App* bode = add("bode", "frequency response of a linear model, or of any model at a point: table and picture");
  add_model(bode);
  add_ports(bode);
  bode->add_option("--range", command.range, "LOW,HIGH: angular frequencies (default: a decade around poles and zeros)")->delimiter(',');
  bode->add_option("--points", command.points, "number of frequencies (default: 10 per decade)")->check(CLI::NonNegativeNumber);
  bode->add_option("--output", command.output, "file for the table: .csv or .json");
  bode->add_option("--plot", command.plot, "picture of magnitude and phase: .svg or .pdf");

  CLI::App* reproduce = add("reproduce", "the experiments of the documents done again, beside the printed numbers");
  reproduce->add_option("NAME", command.models, "some of them (default: all)");
  reproduce->add_option("--output", command.output, "page with tables, and its pictures in a folder beside it: .md");
  reproduce->add_flag("--list", command.list, "only say which there are");

  CLI::App* methods = add("methods", "the catalogue of integration methods");
  methods->add_option("NAME", command.model, "one of them, or a file with a tableau (.toml)");
  methods->add_option("--plot", command.plot, "picture of its stability region: .svg or .pdf");
  methods->add_option("--format", command.format, "text, markdown or json")->check(CLI::IsMember({"text", "markdown", "json"}));
  CLI::App* formulations = add("formulations", "the catalogue of formulations");
  formulations->add_option("NAME", command.model, "one of them");

  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return wrong_input;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    app.exit(help);
    return done;
  } catch (const CLI::CallForAllHelp& help) {
    app.exit(help);
    return done;
  } catch (const CLI::CallForVersion& version) {
    app.exit(version);
    return done;
  } catch (const CLI::ParseError& error) {
    throw parse_fault(app, error, argc, argv);
  }
  for (const CLI::App* sub : app.get_subcommands()) refuse_empty_values(*sub);
  if (command.format == "json") command.json = true;
  return std::nullopt;
}

}  // namespace daedalus::cli
