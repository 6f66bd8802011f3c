// The way data takes: model -> equations -> functions -> start -> system -> trajectory. Nothing flows backwards.

#include "daedalus/solve/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_map>

#include "daedalus/base/processor_time.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/integrate/loop.hpp"
#include "daedalus/solve/branches.hpp"
#include "daedalus/solve/choose.hpp"
#include "daedalus/solve/culprit.hpp"
#include "daedalus/solve/events.hpp"
#include "daedalus/solve/lyapunov_function.hpp"
#include "daedalus/solve/recorder.hpp"
#include "daedalus/solve/reduce.hpp"
#include "daedalus/solve/regularity.hpp"
#include "daedalus/solve/start_linear.hpp"
#include "daedalus/solve/structure_check.hpp"

namespace daedalus::solve {

namespace {

using Stages = std::vector<std::pair<std::string, double>>;

/// Runs one stage of the pipeline and keeps how long it took.
template <class Stage>
auto timed(Stages& stages, const std::string& name, Stage&& stage) {
  const auto begin = std::chrono::steady_clock::now();
  auto result = stage();
  stages.emplace_back(name, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return result;
}

double sum_of(const Stages& stages) {
  double sum = 0.0;
  for (const auto& stage : stages) sum += stage.second;
  return sum;
}

struct Plan {
  double t_start, t_end, rtol, atol;
  Chosen chosen;
};

void require(bool good, const std::string& option, double value, const std::string& rule) {
  if (!good) throw Error("bad-option-value", fmt::format("{} = {} is not possible: {}", option, brief(value), rule));
}

/// Settles all options before anything is computed.
Plan settle(const Prepared& prepared, const RunOptions& options) {
  const model::Model& model = *prepared.model;
  const model::Simulation& given = model.simulation;
  Plan plan;
  plan.t_start = start_time(model, options);
  const std::optional<double> t_end = options.t_end ? options.t_end : given.t_end;
  if (!t_end)
    throw Error("missing-t-end", fmt::format("the model '{}' does not say when to stop", model.name),
                "write t_end in [simulation] or give --t-end", {model.source});
  plan.t_end = *t_end;
  require(std::isfinite(plan.t_end), "t_end", plan.t_end, "it must be finite");
  require(plan.t_end >= plan.t_start, "t_end", plan.t_end, fmt::format("it must not be before t_start = {}", brief(plan.t_start)));
  plan.rtol = options.rtol.value_or(given.rtol.value_or(1e-6));
  plan.atol = options.atol   ? *options.atol
              : options.rtol ? *options.rtol / 100.0
                             : given.atol.value_or(1e-8);
  require(plan.rtol > 0.0 && plan.rtol < 1.0, "rtol", plan.rtol, "it must be between 0 and 1");
  require(plan.atol > 0.0 && std::isfinite(plan.atol), "atol", plan.atol, "it must be positive");
  if (options.step) require(*options.step > 0.0 && std::isfinite(*options.step), "step", *options.step, "it must be positive");
  if (options.first_step) require(*options.first_step > 0.0, "first-step", *options.first_step, "it must be positive");
  if (options.max_step) require(*options.max_step > 0.0, "max-step", *options.max_step, "it must be positive");
  if (options.every) require(*options.every > 0.0, "every", *options.every, "it must be positive");

  plan.chosen = choose(prepared, options);
  // Faults of options are told before anything is computed.
  static_cast<void>(Options(plan.chosen.formulation, plan.chosen.form->options));
  static_cast<void>(Options(plan.chosen.method, plan.chosen.integrator->options));
  return plan;
}

std::vector<double> output_times(const Plan& plan, const RunOptions& options) {
  if (int(options.samples.has_value()) + int(options.every.has_value()) + int(!options.at.empty()) > 1)
    throw Error("bad-option-value", "--samples, --every and --at exclude each other", "give one of them");
  const double origin = options.output_start.value_or(plan.t_start), length = plan.t_end - origin;
  constexpr double most = 1e8;
  std::vector<double> times;
  if (options.samples) {
    const std::size_t count = *options.samples;
    require(count >= 2 && static_cast<double>(count) <= most, "samples", static_cast<double>(count),
            "it must be at least 2 (start and end) and at most 1e8");
    for (std::size_t k = 0; k < count; ++k)
      times.push_back(k + 1 == count ? plan.t_end
                                     : origin + length * static_cast<double>(k) / static_cast<double>(count - 1));
  } else if (options.every) {
    const double count = std::floor(length / *options.every * (1.0 + 4.0 * std::numeric_limits<double>::epsilon()));
    require(count <= most, "every", *options.every, "it asks for more than 1e8 rows");
    for (std::size_t k = 0; k <= static_cast<std::size_t>(count); ++k)
      times.push_back(std::min(plan.t_end, origin + static_cast<double>(k) * *options.every));
  } else {
    times = options.at;
    std::sort(times.begin(), times.end());
    for (const double t : times)
      require(t >= origin && t <= plan.t_end, "at", t,
              fmt::format("output times lie between {} and {}", brief(origin), brief(plan.t_end)));
  }
  std::erase_if(times, [&](double t) { return t < plan.t_start; });
  return times;
}

/// One absolute tolerance per component: that of the unknown of this name where its author gave one.
std::vector<double> tolerances(const model::Model& model, const std::vector<std::string>& names, double atol) {
  std::unordered_map<std::string_view, double> own;
  for (const auto* unknowns : {&model.variables, &model.auxiliary})
    for (const model::Unknown& unknown : *unknowns)
      if (unknown.atol) own.emplace(unknown.name, *unknown.atol);
  std::vector<double> result;
  for (const std::string& name : names) {
    const auto found = own.find(name);
    result.push_back(found == own.end() ? atol : found->second);
  }
  return result;
}

/// The rows of constraints that follow from others.
std::vector<std::size_t> redundant_rows(const Prepared& prepared, const Start& start) {
  std::vector<std::size_t> rows;
  for (const Redundancy& one : start.redundant) {
    const auto& constraints = prepared.functions->equations.constraints;
    const auto found = std::ranges::find(constraints, one.constraint, &mechanics::Constraint::name);
    rows.push_back(static_cast<std::size_t>(found - constraints.begin()));
  }
  return rows;
}

/// What rows show beside the unknowns.
Shown shown(const model::Model& model, const double* discrete) {
  Shown out;
  for (const model::Named& output : model.outputs) out.outputs.push_back(output.name);
  for (const model::Parameter& value : model.discrete) out.discrete.push_back(value.name);
  out.discrete_values = discrete;
  for (const model::Event& event : model.events) out.resets = out.resets || !event.reset.empty();
  return out;
}

/// The latest states of a run that shows its ends alone, each with the modes in which it was reached: at the last moment the
/// equations may have no solution, with the modes after it or at all.
class Latest {
 public:
  void take(double t, std::span<const double> x, const std::vector<double>* modes) {
    std::rotate(states_.begin(), states_.end() - 1, states_.end());
    State& now = states_.front();
    now.t = t;
    now.x.assign(x.begin(), x.end());
    if (modes != nullptr) now.modes = *modes;
  }
  void show(formulate::Formulated& formulated, Recorder& recorder) const {
    for (const State& state : states_) {
      if (state.x.empty()) return;
      if (!state.modes.empty()) formulated.freeze(state.modes.data());
      recorder.forget();
      if (recorder.row(state.t, state.x.data())) return;
    }
  }

 private:
  struct State {
    double t = 0.0;
    std::vector<double> x, modes;
  };
  std::array<State, 3> states_;  ///< before and after an event at the last moment, and one before that
};

}  // namespace

double start_time(const model::Model& model, const RunOptions& options) {
  return options.t_start.value_or(model.simulation.t_start.value_or(0.0));
}

Initialize initialize_mode(const model::Model& model, const RunOptions& options) {
  return parse_initialize(options.initialize.value_or(model.simulation.initialize.value_or("project")));
}

bool has_formula(const Prepared& prepared) {
  return prepared.linear && prepared.model->initial.empty() && prepared.model->invariants.empty();
}

Prepared prepare(model::Model model) { return prepare(std::make_shared<const model::Model>(std::move(model))); }

Prepared prepare(std::shared_ptr<const model::Model> model) {
  Prepared prepared;
  prepared.model = std::move(model);
  if (prepared.model->kind == model::Kind::dae || prepared.model->kind == model::Kind::linear) {
    prepared.dae = timed(prepared.stages, "compile", [&] { return structure::compile_dae(prepared.model); });
    prepared.linear = timed(prepared.stages, "decouple", [&] { return structure::linear_solution(prepared.dae); });
    try {
      Reduction reduction = timed(prepared.stages, "reduce", [&] { return reduced(prepared.dae); });
      prepared.reduced = std::move(reduction.functions);
      prepared.converted = std::move(reduction.converted);
      prepared.start = std::move(reduction.start);
      if (const int times = reduction.stuck && has_formula(prepared) ? differentiations(*prepared.dae) : 0; times > most_differentiations)
        prepared.only_formula = Error("formulation-does-not-fit",
                                      fmt::format("the equations must be differentiated {} times, and {} times is the most", times, most_differentiations),
                                      "leave --formulation and --method out: the formula of linear equations takes any index",
                                      {prepared.model->source});
      else if (reduction.stuck) prepared.array = timed(prepared.stages, "array", [&] { return array_form(prepared.dae); });
    } catch (const Error& error) {
      if (!has_formula(prepared) || error.faults().front().code != "table-not-smooth") throw;
      std::vector<Fault> faults = error.faults();
      for (const Fault& fault : faults)
        prepared.roughness.push_back(fmt::format("{}: the formula tells the impulses; if none are meant, {}", fault.message, fault.advice));
      for (Fault& fault : faults) fault.advice += ", or leave --formulation and --method out: the formula of linear equations tells the impulses";
      prepared.only_formula = Error(std::move(faults));
    }
    check_resets({nullptr, prepared.solvable_dae()});
    return prepared;
  }
  auto equations = timed(prepared.stages, "derive", [&] { return mechanics::derive(prepared.model); });
  prepared.functions =
      timed(prepared.stages, "compile", [&] { return mechanics::compile_functions(std::move(equations)); });
  check_resets({prepared.functions, nullptr});
  return prepared;
}

Start consistent_start(const Prepared& prepared, double t, Initialize mode, Look look) {
  const bool by_formula = prepared.model->kind == model::Kind::linear || prepared.only_formula;
  if (by_formula && has_formula(prepared)) return linear_start(prepared, t, mode, look);
  if (prepared.array) return consistent_start(*prepared.dae, *prepared.array, t, mode);
  if (!prepared.dae) return consistent_start(prepared.functions, t, mode, look);
  const bool known = prepared.start && mode == Initialize::project && prepared.start->t == t;
  Start start = known ? look_further(prepared.solvable_dae(), *prepared.start, look)
                      : consistent_start(prepared.solvable_dae(), t, mode, look);
  if (prepared.converted)  // what is said of unknowns that are combinations is said of the author's, too
    std::erase_if(start.moved, [&](const Moved& moved) {
      return std::ranges::find(prepared.converted->unknowns, moved.name) != prepared.converted->unknowns.end();
    });
  return start;
}

Trajectory simulate(const Prepared& prepared, const RunOptions& options) {
  const model::Model& model = *prepared.model;
  Plan plan = settle(prepared, options);

  Trajectory trajectory;
  trajectory.model = model.name;
  trajectory.constraints.mechanical = !prepared.dae;
  trajectory.formulation = plan.chosen.formulation.text();
  trajectory.t_start = plan.t_start;
  trajectory.t_end = plan.t_end;
  trajectory.rtol = plan.rtol;
  trajectory.atol = plan.atol;
  trajectory.step = options.step;
  trajectory.stages = prepared.stages;

  integrate::LoopOptions loop;
  loop.t_start = plan.t_start;
  loop.t_end = plan.t_end;
  loop.step = options.step;
  loop.first_step = options.first_step;
  loop.first_step_was_refused = options.first_step_was_refused;
  loop.max_step = options.max_step.value_or(loop.max_step);
  loop.max_steps = options.max_steps.value_or(loop.max_steps);
  loop.output_times = output_times(plan, options);

  const bool keep_point = options.continues && !options.initialize &&
                          (!holds_constraints(*plan.chosen.form, Options(plan.chosen.formulation, plan.chosen.form->options)) ||
                           model.simulation.initialize == "off");
  const Initialize mode = keep_point                                      ? Initialize::off
                          : options.continues && !options.initialize ? Initialize::project
                                                                     : initialize_mode(model, options);
  Start start = timed(trajectory.stages, "start",
                      [&] { return consistent_start(prepared, plan.t_start, mode); });
  const bool by_formula = plan.chosen.view == integrate::View::flow;
  if (start.index_above_one && !by_formula) refuse_index(model);
  if (!start.solvable && !by_formula) plan.chosen.without_ode();
  if (!start.solvable && (plan.chosen.view == integrate::View::ode || plan.chosen.view == integrate::View::series))
    throw Error("method-does-not-fit",
                fmt::format("the method '{}' needs an ODE, and the equations cannot be solved for the derivatives as they stand",
                            plan.chosen.integrator->name),
                "choose an implicit method, such as radau", {model.source});
  trajectory.method = plan.chosen.method.text();
  const std::vector<std::string> promised = follow_lyapunov_function(prepared, start, plan.t_start, plan.t_end, plan.chosen.formulation);
  const Options form_options(plan.chosen.formulation, plan.chosen.form->options);
  const Options method_options(plan.chosen.method, plan.chosen.integrator->options);
  trajectory.moved = start.moved;
  trajectory.notes = start.notes;
  trajectory.notes.insert(trajectory.notes.end(), promised.begin(), promised.end());
  trajectory.notes.insert(trajectory.notes.end(), prepared.roughness.begin(), prepared.roughness.end());
  if (prepared.dae && start.found && (prepared.array || !start.solvable) && !by_formula)
    if (std::string note = note_on_start(model, start.t, start.values); !note.empty()) trajectory.notes.push_back(std::move(note));
  const auto& keeps = plan.chosen.form->keeps_invariants_of;
  if (!model.invariants.empty() && std::ranges::find(keeps, model::name_of(model.kind)) == keeps.end())
    trajectory.notes.push_back(fmt::format("the formulation '{}' does not keep [invariants]: it shows how far they are from holding",
                                           plan.chosen.form->name));
  formulate::Formulated formulated = timed(trajectory.stages, "formulate", [&] {
    return plan.chosen.form->make({prepared.functions, prepared.solvable_dae(), redundant_rows(prepared, start), start.solvable,
                                   prepared.array, prepared.reduced ? prepared.dae : nullptr, prepared.linear},
                                  plan.chosen.view, form_options);
  });
  if (!start.guess.empty()) formulated.guess(start.guess);
  if (formulated.lasts) formulated.lasts(plan.t_start, plan.t_end);
  loop.tolerance = {plan.rtol, tolerances(model, formulated.system.names, plan.atol)};
  if (formulated.weigh) formulated.weigh(plan.rtol, loop.tolerance.atol);
  const bool at_times = options.samples || options.every || !options.at.empty();
  // Between output times nobody looks, and the formula needs no steps.
  if (by_formula && prepared.linear->forcing && at_times && options.rows != Rows::steps_and_times && model.events.empty())
    std::ranges::fill(loop.tolerance.atol, std::numeric_limits<double>::infinity());
  formulate::Equations equations{prepared.functions, by_formula ? prepared.dae : prepared.solvable_dae()};
  equations.array = prepared.array;
  equations.linear = prepared.linear;
  Events events(event_symbols(equations),
                {plan.t_start, plan.t_end, options.output_start.value_or(plan.t_start), options.continues, plan.rtol, plan.atol});
  if (events.any()) {
    formulated.freeze(events.frozen().data());
    events.connect(event_port(equations, formulated, {events.frozen().data(), events.discrete()}), formulated.system.dimension);
    loop.events = &events.hooks();
  }
  integrate::BranchHooks branches;
  if (prepared.functions) {
    branches = branches_of(prepared.functions, redundant_rows(prepared, start), events.any() ? events.frozen().data() : nullptr);
    branches.clear = formulated.clear;
    let_stages_be_projected(formulated.system, branches);
    loop.branches = &branches;
  }
  const integrate::RegularityHooks regularity =
      regularity_of(prepared, start, formulated, events.any() ? events.frozen().data() : nullptr);
  loop.regularity = &regularity;
  Recorder recorder(formulated, shown(model, events.discrete()), trajectory, options);
  if (!start.found) {
    trajectory.status = start.singular ? integrate::Status::singular : integrate::Status::no_convergence;
    trajectory.message = start.message;
    trajectory.culprit = place_of_culprit(trajectory.message, model);
    recorder.finish();
    return trajectory;
  }
  const auto stepper = integrate::make_stepper(*plan.chosen.integrator, formulated.system, method_options,
                                               options.step ? integrate::Control::fixed : integrate::Control::adaptive);
  trajectory.prepare_seconds = sum_of(trajectory.stages);

  const bool ends = !at_times && options.rows == Rows::ends;
  Latest latest;
  bool details_failed = false;
  integrate::Observer observer;
  observer.step = [&](double t, const double* x) {
    const bool event = !events.records.empty() && events.records.back().t == t;
    const bool keep = options.rows == Rows::steps_and_times ? trajectory.t.empty() || trajectory.t.back() != t || event
                                                            : !at_times && options.rows == Rows::steps;
    if (events.any()) recorder.forget();
    const bool good = keep ? recorder.row(t, x) : !options.watch || recorder.watch(t, x);
    details_failed = details_failed || !good;
    if (ends) latest.take(t, {x, formulated.system.dimension}, events.any() ? &events.frozen() : nullptr);
  };
  observer.output = [&](double t, const double* x) {
    if (events.any()) recorder.forget();
    details_failed = !recorder.row(t, x) || details_failed;
  };
  observer.interrupt = [&] { return details_failed || (options.interrupt && options.interrupt()); };
  if (options.progress) observer.progress = [&](double t, double h) { options.progress(t, plan.t_end, h); };

  std::vector<double> state = by_formula         ? whole_state(prepared, start)
                              : formulated.state ? formulated.state(start.guess)
                                                 : start.x;
  if (state.size() < formulated.system.dimension) {
    state.insert(state.end(), start.algebraic.begin(), start.algebraic.end());
    const bool whole = prepared.dae && state.size() == formulated.system.dimension;
    state.resize(formulated.system.dimension);
    if (!whole) formulated.system.complete(plan.t_start, state.data());
  }
  if (ends) recorder.row(plan.t_start, state.data());
  const double processor_before = processor_seconds();
  const auto run = timed(trajectory.stages, "integrate", [&] {
    return integrate::integrate(formulated.system, *plan.chosen.integrator, *stepper, loop, observer, state);
  });
  trajectory.processor_seconds = processor_seconds() - processor_before;
  if (events.any()) recorder.forget();
  if (ends && run.t != plan.t_start && !recorder.row(run.t, state.data())) latest.show(formulated, recorder);
  // A run that an event ended shows its end, whatever the output times.
  if (at_times && run.status == integrate::Status::stopped && (trajectory.t.empty() || trajectory.t.back() != run.t))
    recorder.row(run.t, state.data());
  trajectory.events = std::move(events.records);
  trajectory.notes.insert(trajectory.notes.end(), events.notes.begin(), events.notes.end());
  if (formulated.flow)
    trajectory.notes.insert(trajectory.notes.end(), formulated.flow->remarks.begin(), formulated.flow->remarks.end());
  trajectory.status = run.status;
  trajectory.message = run.message;
  if (const std::string used = stepper->used(); !used.empty()) trajectory.method = used;
  trajectory.chosen = plan.chosen.reason(trajectory.method);
  if (details_failed && run.status != integrate::Status::singular) {
    trajectory.status = recorder.outcome() == integrate::Evaluation::not_finite ? integrate::Status::not_finite
                                                                              : integrate::Status::singular;
    trajectory.message = fmt::format("{} at t = {}: {}", prepared.dae ? "the equations cannot be solved" : "no multipliers",
                                     brief(run.t), formulated.observation->explain());
  }
  if (!trajectory.success()) trajectory.culprit = place_of_culprit(trajectory.message, model);
  trajectory.notes.insert(trajectory.notes.end(), run.notes.begin(), run.notes.end());
  trajectory.singular_positions = run.singular_positions;
  if (!run.singular_positions.empty()) trajectory.notes.push_back(passed_text(run.singular_positions));
  trajectory.singular_points = run.singular_points;
  if (auto passed = run.singular_points; !passed.empty()) {
    if (run.status == integrate::Status::singular && passed.back().t == run.t) passed.pop_back();
    if (!passed.empty()) trajectory.notes.push_back(passed_text(passed));
  }
  trajectory.stats = run.stats;
  trajectory.stats.factorizations += formulated.factorizations();
  trajectory.seconds = trajectory.stages.back().second;
  recorder.finish();

  trajectory.options = {{"t_start", shortest(plan.t_start)}, {"t_end", shortest(plan.t_end)},
                        {"rtol", shortest(plan.rtol)},       {"atol", shortest(plan.atol)},
                        {"initialize", mode == Initialize::project ? "project" : mode == Initialize::check ? "check" : "off"}};
  for (const auto& [name, value] : form_options.in_force()) trajectory.options.emplace_back(plan.chosen.form->name + "." + name, value);
  for (const auto& [name, value] : method_options.in_force())
    trajectory.options.emplace_back(plan.chosen.integrator->name + "." + name, value);
  return trajectory;
}

Trajectory simulate(const model::Model& model, const RunOptions& options) { return simulate(prepare(model), options); }

}  // namespace daedalus::solve
