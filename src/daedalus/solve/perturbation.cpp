#include "daedalus/solve/perturbation.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/formulate/dae_normal_form.hpp"
#include "daedalus/formulate/mechanical_normal_form.hpp"

namespace daedalus::solve {

namespace {

using integrate::Evaluation;

/// A violation is gone when so much of it is left.
constexpr double gone = 1e-3;
constexpr std::size_t rows = 201;
/// So many parts lead from the consistent start to the violated one.
constexpr int parts = 8;

/// Moves x along the path of constant eta.
template <class Form>
bool violate(Form& form, double t, const std::vector<double>& scale, double position, double rate, std::vector<double>& x) {
  std::vector<double> xi(form.xi_count()), eta(form.eta_count());
  if (form.reduce(t, x.data(), xi.data(), eta.data()) != Evaluation::ok) return false;
  for (int k = 1; k <= parts; ++k) {
    for (std::size_t i = 0; i < xi.size(); ++i)
      xi[i] = (form.level()[i] == 0 ? position : rate) * scale[i] * k / parts;
    if (form.expand(t, xi.data(), eta.data(), x.data()) != Evaluation::ok) return false;
  }
  return true;
}

/// The largest term of the constraint behind each hidden row, at a start that satisfies it; 1 where that has none, 0 for rows
/// that are no constraints.
std::vector<double> constraint_scales(const structure::DaeFunctions& fn, double t, const std::vector<double>& x) {
  constexpr double nothing = 1e-12;
  compile::StateValues values({std::shared_ptr<void>(), &fn.kept});
  std::vector<double> discrete;
  for (const model::Parameter& value : fn.model->discrete) discrete.push_back(value.value);
  const std::vector<double> frozen = fn.switches.free_modes(discrete);
  values.freeze(frozen.data());
  values.residuals(t, x.data());
  const std::vector<bool> constraint = structure::hidden_constraints(fn);
  std::vector<double> scale(fn.hidden.size(), 0.0);
  for (std::size_t i = 0; i < scale.size(); ++i) {
    if (!constraint[i]) continue;
    const auto written = std::ranges::find_if(fn.hidden, [&](const auto& row) { return row.of == fn.hidden[i].of && row.level == 0; });
    const double largest = written == fn.hidden.end() ? 0.0 : values.scale()[static_cast<std::size_t>(written - fn.hidden.begin())];
    scale[i] = largest > nothing ? largest : 1.0;
  }
  return scale;
}

/// Whether such a start violates anything at all: of constraints on velocities there are rates alone, of some DAEs none.
bool violates(const Prepared& prepared, double position, double rate) {
  bool on_positions = prepared.functions && prepared.functions->holonomic > 0, on_rates = prepared.functions && prepared.functions->m > 0;
  if (!prepared.functions && prepared.reduced) {
    const structure::DaeFunctions& fn = *prepared.reduced;
    const std::vector<bool> constraint = structure::hidden_constraints(fn);
    for (std::size_t i = 0; i < constraint.size(); ++i)
      if (constraint[i]) (fn.hidden[i].level == 0 ? on_positions : on_rates) = true;
  }
  return (position != 0.0 && on_positions) || (rate != 0.0 && on_rates);
}

}  // namespace

std::optional<StartValues> perturbed_start(const Prepared& prepared, double t, double position, double rate) {
  const Start start = consistent_start(prepared, t, Initialize::project);
  if (!start.found) return std::nullopt;
  std::vector<double> x = start.x;
  std::vector<std::string> names;
  if (prepared.functions) {
    const mechanics::Functions& fn = *prepared.functions;
    if (fn.m == 0) return std::nullopt;
    names = fn.state_names();
    formulate::MechanicalNormalForm form(prepared.functions, mechanics::Completion::momentum);
    if (form.choose(t, x.data()) != Evaluation::ok) return std::nullopt;
    std::vector<double> positions(fn.holonomic), velocities(fn.m), of_row(fn.m, 1.0), scale;
    form.evaluator().residual_scales(t, x.data(), positions.data(), velocities.data());
    for (std::size_t h = 0; h < fn.holonomic; ++h)
      if (positions[h] > 0.0) of_row[fn.holonomic_rows[h]] = positions[h];
    for (const std::size_t row : form.evaluator().position_rows()) scale.push_back(of_row[row]);
    for (const std::size_t row : form.evaluator().rows()) scale.push_back(of_row[row]);
    if (!violate(form, t, scale, position, rate, x)) return std::nullopt;
  } else {
    if (!prepared.reduced) return std::nullopt;
    const structure::DaeFunctions& fn = *prepared.reduced;
    const std::vector<bool> said = structure::said_derivatives(fn);  // the equations give them, and no start may
    for (std::size_t i = 0; i < fn.differential; ++i) {
      const std::string& name = fn.unknowns[i].of->name;
      if (std::ranges::none_of(prepared.model->variables, [&](const model::Unknown& own) { return own.name == name; }))
        return std::nullopt;  // a combination of the author's unknowns, which no start gives
      names.push_back(said[i] ? "" : fn.unknowns[i].name);
    }
    formulate::DaeNormalForm form(prepared.reduced);
    if (form.choose(t, x.data()) != Evaluation::ok) return std::nullopt;
    if (!violate(form, t, constraint_scales(fn, t, x), position, rate, x)) return std::nullopt;
  }
  StartValues values;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty()) values.emplace_back(names[i], x[i]);
  return values;
}

std::size_t PerturbationMap::count(std::size_t formulation, PerturbedRun::Outcome outcome) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      runs, [&](const PerturbedRun& run) { return run.formulation == formulation && run.outcome == outcome; }));
}

std::optional<double> PerturbationMap::median_time(std::size_t formulation) const {
  std::vector<double> times;
  for (const PerturbedRun& run : runs)
    if (run.formulation == formulation && run.outcome == PerturbedRun::Outcome::returned) times.push_back(run.time);
  if (times.empty()) return std::nullopt;
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

PerturbationMap perturbation_map(const PerturbationPlan& plan) {
  PerturbationMap map;
  const Prepared prepared = prepare(plan.model({}));
  map.model = prepared.model->name;
  map.formulations = plan.formulations;
  for (std::size_t k = 0; k < plan.points; ++k)
    map.sizes.push_back(plan.points == 1 ? plan.size
                                         : plan.size * (2.0 * static_cast<double>(k) / static_cast<double>(plan.points - 1) - 1.0));
  const double t = start_time(*prepared.model, plan.run);
  const std::size_t planned = plan.formulations.size() * plan.points * plan.points;
  for (std::size_t f = 0; f < plan.formulations.size(); ++f)
    for (const double rate : map.sizes)
      for (const double position : map.sizes) {
        if (plan.interrupt && plan.interrupt()) {
          map.interrupted = true;
          return map;
        }
        PerturbedRun run{f, position, rate, PerturbedRun::Outcome::no_start, 0.0, {}};
        if (const auto start = perturbed_start(prepared, t, position, rate)) {
          std::vector<double> times, sizes;
          RunOptions options = plan.run;
          options.formulation = plan.formulations[f];
          options.initialize = "off";
          options.samples = rows;
          options.at.clear();
          options.every.reset();
          options.interrupt = plan.interrupt;
          options.on_residuals = [&](double now, std::span<const double> levels) {
            double size = 0.0;
            // of mechanics the third level is that of accelerations, which no start violates
            for (std::size_t k = 0; k < (prepared.functions ? std::min<std::size_t>(levels.size(), 2) : levels.size()); ++k)
              size = std::max(size, std::abs(levels[k]));
            times.push_back(now);
            sizes.push_back(size);
          };
          const Trajectory trajectory = simulate(prepare(plan.model(*start)), options);
          map.t_end = trajectory.t_end;
          run.message = trajectory.message;
          std::size_t last = sizes.size();  // behind the last time at which it was not gone
          while (last > 0 && sizes[last - 1] <= gone * sizes.front()) --last;
          const bool on_constraints = sizes.empty() || sizes.front() == 0.0 || !violates(prepared, position, rate);
          if (!trajectory.success()) {
            run.outcome = PerturbedRun::Outcome::stopped;
            run.time = times.empty() ? t : times.back();
          } else if (on_constraints || last < sizes.size()) {
            run.outcome = PerturbedRun::Outcome::returned;
            run.time = on_constraints ? t : times[last];
          } else {
            run.outcome = PerturbedRun::Outcome::remained;
            run.time = trajectory.t_end;
          }
        }
        map.runs.push_back(std::move(run));
        if (plan.progress) plan.progress(map.runs.size(), planned);
      }
  return map;
}

}  // namespace daedalus::solve
