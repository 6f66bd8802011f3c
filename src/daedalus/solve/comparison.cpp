#include "daedalus/solve/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "daedalus/base/text.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/solve/choose.hpp"
#include "daedalus/solve/comparison_jobs.hpp"
#include "daedalus/solve/comparison_reference.hpp"

namespace daedalus::solve {

namespace {

const std::vector<double> usual_tolerances{1e-4, 1e-6, 1e-8, 1e-10};
/// One explicit, one implicit and one multistep method.
const std::vector<std::string> usual_methods{"dop853", "radau", "bdf"};

bool does_not_fit(const Error& error) { return error.faults().front().code.ends_with("-does-not-fit"); }

/// Formulations and methods that fit a model and each other.
class Pairing {
 public:
  struct Pair {
    std::string formulation, method;                ///< as asked for
    std::string chosen_formulation, chosen_method;  ///< what `auto` stands for put in
  };

  Pairing(const ComparisonPlan& plan, const Prepared& prepared, std::size_t number)
      : plan_(plan), prepared_(prepared), number_(number) {
    std::vector<std::string> formulations = plan.formulations;
    if (formulations.empty())
      for (const auto& entry : formulate::formulations()) {
        // A formula for the solution is the reference of linear models, and nothing to compare others with elsewhere.
        const bool formula = std::ranges::find(entry.views, integrate::View::flow) != entry.views.end();
        if (!formula || prepared.model->kind == model::Kind::linear) formulations.push_back(entry.name);
      }
    for (const std::string& formulation : formulations) {
      const std::size_t before = pairs.size();
      for (const std::string& method : plan.methods.empty() ? usual_methods : plan.methods)
        attempt(formulation, method);
      if (plan.methods.empty() && pairs.size() == before) attempt_all_methods(formulation);
      if (!plan.formulations.empty() && pairs.size() == before) name_left_out(formulation, "");
    }
    for (const std::string& method : plan.methods)
      if (std::ranges::none_of(pairs, [&](const Pair& pair) { return pair.method == method; }))
        name_left_out("", method);
  }

  std::vector<Pair> pairs;
  std::vector<LeftOut> left_out;
  std::optional<Error> refused;  ///< the first that did not fit

 private:
  bool attempt(const std::string& formulation, const std::string& method) {
    RunOptions options;
    options.formulation = formulation;
    options.method = method;
    try {
      const Chosen chosen = choose(prepared_, options);
      static_cast<void>(Options(chosen.formulation, chosen.form->options));
      static_cast<void>(Options(chosen.method, chosen.integrator->options));
      const Pair pair{formulation, method, chosen.formulation.text(), chosen.method.text()};
      const auto same = [&](const Pair& other) {
        return other.chosen_formulation == pair.chosen_formulation && other.chosen_method == pair.chosen_method;
      };
      if (std::ranges::none_of(pairs, same)) pairs.push_back(pair);
      return true;
    } catch (const Error& error) {
      if (!does_not_fit(error)) throw;
      if (!refused) refused = error;
      reason_ = error.faults().front().message;
      if (!plan_.formulations.empty() && !plan_.methods.empty())
        left_out.push_back({number_, formulation, method, reason_});
      return false;
    }
  }

  /// None of the usual methods takes it: the first that does.
  void attempt_all_methods(const std::string& formulation) {
    for (const auto& entry : integrate::integrators())
      if (attempt(formulation, entry.name)) return;
  }

  /// Says why nothing fits a name that was asked for.
  void name_left_out(const std::string& formulation, const std::string& method) {
    const auto named = [&](const LeftOut& one) {
      return (!formulation.empty() && one.formulation == formulation) || (!method.empty() && one.method == method);
    };
    if (std::ranges::none_of(left_out, named)) left_out.push_back({number_, formulation, method, reason_});
  }

  const ComparisonPlan& plan_;
  const Prepared& prepared_;
  std::size_t number_;
  std::string reason_;
};

struct Control {
  std::optional<double> rtol, step;
};

/// From loose to tight.
std::vector<Control> controls(const ComparisonPlan& plan) {
  std::vector<Control> result;
  const auto add = [&](std::vector<double> values, std::optional<double> Control::*member) {
    std::ranges::sort(values, std::greater{});
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (const double value : values) {
      result.emplace_back();
      result.back().*member = value;
    }
  };
  add(plan.rtol.empty() && plan.steps.empty() ? usual_tolerances : plan.rtol, &Control::rtol);
  add(plan.steps, &Control::step);
  return result;
}

/// The columns that all models have.
std::vector<ComparedColumn> common_columns(const std::vector<Prepared>& models) {
  std::vector<ComparedColumn> columns = compared_columns(*models.front().model);
  for (const Prepared& other : models) {
    std::set<std::string> names;
    for (const ComparedColumn& column : compared_columns(*other.model)) names.insert(column.name);
    std::erase_if(columns, [&](const ComparedColumn& column) { return !names.contains(column.name); });
    if (columns.empty())
      throw Error("models-differ",
                  fmt::format("the models '{}' and '{}' have no unknown of the same name", models.front().model->name,
                              other.model->name),
                  "compare models of the same motion, with the same names for what is to be compared");
  }
  return columns;
}

/// The models of a comparison move over the same time.
void require_same_times(const std::vector<ComparedModel>& models) {
  for (const ComparedModel& other : models) {
    const ComparedModel& first = models.front();
    if (other.t_start != first.t_start || other.t_end != first.t_end)
      throw Error(
          "models-differ",
          fmt::format("'{}' goes from t = {} to t = {}, and '{}' from t = {} to t = {}", first.name,
                      brief(first.t_start), brief(first.t_end), other.name, brief(other.t_start), brief(other.t_end)),
          "give the same times to all with --t-start and --t-end");
  }
}

/// Where constraints are redundant, the motion is unique and the multipliers are not.
bool multipliers_unique(const Prepared& prepared, const RunOptions& options, std::vector<std::string>& notes) {
  if (prepared.dae || prepared.functions->m == 0) return true;
  const Start start =
      consistent_start(prepared, start_time(*prepared.model, options), initialize_mode(*prepared.model, options));
  if (start.redundant.empty()) return true;
  notes.push_back(
      fmt::format("multipliers are not compared: the constraint '{}' follows from others, so they are not unique",
                  start.redundant.front().constraint));
  return false;
}

ComparedModel described(const Prepared& prepared, const RunOptions& options) {
  ComparedModel model;
  model.name = prepared.model->name;
  model.mechanical = !prepared.dae;
  model.t_start = start_time(*prepared.model, options);
  model.t_end = options.t_end.value_or(prepared.model->simulation.t_end.value_or(model.t_start));
  return model;
}

ComparedRun finished(Job& job, const Pairing::Pair& pair, const Control& control) {
  ComparedRun run;
  run.model = job.model;
  run.formulation = pair.chosen_formulation;
  run.method = pair.chosen_method;
  run.rtol = control.rtol;
  run.step = control.step;
  run.success = job.success();
  if (job.fault)
    run.message = job.fault->faults().front().message;
  else if (!run.success)
    run.message = job.failure.empty() ? job.trajectory.message : job.failure;
  run.trajectory = std::move(job.trajectory);
  run.residuals = std::move(job.residuals);
  return run;
}

}  // namespace

std::size_t Comparison::succeeded() const {
  return static_cast<std::size_t>(std::ranges::count_if(runs, &ComparedRun::success));
}

Comparison compare(const ComparisonPlan& plan) {
  const auto begin = std::chrono::steady_clock::now();
  Comparison result;
  std::vector<Prepared> prepared;
  for (const auto& make : plan.models) {
    prepared.push_back(prepare(make()));
    result.models.push_back(described(prepared.back(), plan.run));
  }
  require_same_times(result.models);
  std::vector<ComparedColumn> columns = common_columns(prepared);
  for (std::size_t i = 0; i < prepared.size(); ++i)
    if (!multipliers_unique(prepared[i], plan.run, result.models[i].notes))
      std::erase_if(columns, [](const ComparedColumn& column) { return column.quantity == Quantity::multiplier; });

  // All runs, by model, formulation and method, from loose to tight.
  const std::vector<Control> steps = controls(plan);
  struct Planned {
    Pairing::Pair pair;
    Control control;
    Job job;
  };
  std::vector<Planned> planned;
  std::optional<Error> refused;
  References references(plan, prepared, columns);
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    const Pairing pairing(plan, prepared[i], i);
    result.left_out.insert(result.left_out.end(), pairing.left_out.begin(), pairing.left_out.end());
    if (!refused) refused = pairing.refused;
    for (const Pairing::Pair& pair : pairing.pairs)
      for (const Control& control : steps) {
        Planned one{pair, control, {}};
        one.job.model = i;
        one.job.options = references.run_options();
        one.job.options.formulation = pair.formulation;
        one.job.options.method = pair.method;
        one.job.options.rtol = control.rtol;
        one.job.options.step = control.step;
        planned.push_back(std::move(one));
      }
  }
  if (planned.empty() && refused) throw Error(*refused);

  // The loose ones first: an interruption leaves whole columns of the table.
  std::vector<Job*> queue = references.first_jobs();
  for (std::size_t i = 1; i < planned.size(); ++i)
    if (i % steps.size() != 0 && steps[i % steps.size()].rtol) planned[i].job.looser = &planned[i - 1].job;
  for (std::size_t k = 0; k < steps.size(); ++k)
    for (std::size_t i = k; i < planned.size(); i += steps.size()) queue.push_back(&planned[i].job);
  Workshop workshop(plan, prepared);
  workshop.progress.planned = queue.size();
  result.threads = workshop.threads();
  result.interrupted = !workshop.run(queue);
  references.finish(workshop, result);

  std::optional<Error> fault;
  for (Planned& one : planned) {
    if (one.job.undone()) {
      ++result.planned;
      continue;
    }
    if (one.job.fault && does_not_fit(*one.job.fault)) {
      refused = refused ? refused : one.job.fault;
      const LeftOut left{one.job.model, one.pair.chosen_formulation, one.pair.chosen_method,
                         one.job.fault->faults().front().message};
      const auto same = [&](const LeftOut& other) {
        return other.model == left.model && other.formulation == left.formulation && other.method == left.method;
      };
      if (std::ranges::none_of(result.left_out, same)) result.left_out.push_back(left);
      continue;
    }
    if (one.job.fault && !fault) fault = one.job.fault;
    ++result.planned;
    const Samples samples = taken_samples(one.job.trajectory);
    ComparedRun run = finished(one.job, one.pair, one.control);
    const Reference& reference = result.models[run.model].reference;
    if (run.success && !reference.samples.t.empty()) {
      const Errors errors = errors_against(reference.samples, samples, columns);
      run.error = errors.over_time;
      run.error_end = errors.end;
    }
    result.runs.push_back(std::move(run));
  }
  if (result.succeeded() == 0 && fault) throw Error(*fault);
  if (result.planned == 0 && refused) throw Error(*refused);
  for (std::size_t q = 0; q < quantity_count; ++q)
    if (std::ranges::any_of(columns,
                            [&](const ComparedColumn& column) { return column.quantity == static_cast<Quantity>(q); }))
      result.quantities.push_back(static_cast<Quantity>(q));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace daedalus::solve
