#include "daedalus/solve/event_port.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/formulate/dae_observation.hpp"
#include "daedalus/formulate/motion_observation.hpp"
#include "daedalus/solve/linear_leap.hpp"
#include "daedalus/solve/start_invariants.hpp"
#include "daedalus/solve/start_level.hpp"
#include "daedalus/solve/start_linear.hpp"
#include "daedalus/structure/array_solver.hpp"

namespace daedalus::solve {

using expr::Expr;
using integrate::Evaluation;
using mechanics::Functions;

namespace {

std::vector<Expr> discrete_symbols(const model::Model& model) {
  std::vector<Expr> symbols;
  for (const model::Parameter& value : model.discrete) symbols.push_back(value.symbol);
  return symbols;
}

/// Makes a state of constrained motion consistent after an event: the positions onto the constraints, then the
/// velocities, both with the least change in the mass norm, around the values that the event gave.
class MotionReset {
 public:
  MotionReset(std::shared_ptr<const Functions> functions, const double* discrete)
      : functions_(std::move(functions)), discrete_(discrete), names_(functions_->state_names()) {}

  std::string operator()(double t, double* x, const std::vector<std::pair<std::string, double>>& values) {
    const Functions& fn = *functions_;
    std::vector<bool> fixed(fn.dimension(), false);
    for (const auto& [name, value] : values) {
      const auto i = static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
      x[i] = value;
      fixed[i] = true;
    }
    if (fn.m == 0) return {};
    make_levels();
    std::string message;
    const auto move = [&](Level& level, std::size_t first, std::vector<const double*> known) {
      level.set_known(std::move(known));
      std::vector<double> y(x + first, x + first + fn.n);
      std::vector<Violation> violations;
      if (level.check(y.data(), 0, violations)) return true;
      const auto begin = fixed.begin() + static_cast<std::ptrdiff_t>(first);
      const std::vector<bool> bound(begin, begin + static_cast<std::ptrdiff_t>(fn.n));
      try {
        if (!level.solve(y, bound, fn.mass, weight(t, x), message)) return false;
      } catch (const Error& error) {
        message = "the new values contradict the constraints: " + error.faults().front().message;
        return false;
      }
      std::copy(y.begin(), y.end(), x + first);
      return true;
    };
    if (fn.holonomic > 0 && !move(*position_, 0, {&t, discrete_})) return message;
    if (!move(*velocity_, fn.n, {&t, discrete_, x})) return message;
    return {};
  }

 private:
  void make_levels() {
    if (velocity_) return;
    const mechanics::Equations& eq = functions_->equations;
    std::vector<Binding> positions, velocities;
    for (const mechanics::Constraint& constraint : eq.constraints) {
      if (constraint.holonomic) positions.push_back({constraint.name, constraint.position, constraint.place});
      velocities.push_back({constraint.name, constraint.velocity, constraint.place});
    }
    const std::vector<Expr> held = discrete_symbols(*eq.model);
    position_ = std::make_unique<Level>(*functions_, "position", eq.q, std::vector<std::vector<Expr>>{{eq.t}, held},
                                        std::move(positions));
    velocity_ = std::make_unique<Level>(*functions_, "velocity", eq.v,
                                        std::vector<std::vector<Expr>>{{eq.t}, held, eq.q}, std::move(velocities));
  }

  std::vector<double> weight(double t, const double* x) const {
    std::vector<double> geometry(functions_->geometry.output_count());
    auto scratch = functions_->geometry.make_scratch();
    const double* inputs[] = {&t, x};
    functions_->geometry(inputs, geometry.data(), scratch);
    geometry.resize(functions_->mass.nonzeros());
    return geometry;
  }

  std::shared_ptr<const Functions> functions_;
  const double* discrete_;
  std::vector<std::string> names_;
  std::unique_ptr<Level> position_, velocity_;
};

/// Makes a state meet the hidden constraints of a model around the new values, and its invariants where the formulation keeps
/// them.
class InvariantReset {
 public:
  InvariantReset(formulate::Kept kept, const formulate::Formulated& formulated, const double* frozen)
      : names_(formulated.system.names), frozen_(frozen) {
    if (!formulated.weigh && kept.hidden.empty()) return;
    if (kept.equations) rows_ = formulated.weigh ? kept.equations->rows() : kept.before() + kept.hidden.size();
    kept_ = std::move(kept);
  }

  std::string operator()(double t, double* x, const std::vector<std::pair<std::string, double>>& values) const {
    if (!kept_.equations) return {};
    std::vector<bool> fixed(kept_.equations->pattern.columns, false);
    for (const auto& [name, value] : values)
      fixed[static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin())] = true;
    return meet_invariants(kept_, rows_, t, x, fixed, frozen_);
  }

 private:
  formulate::Kept kept_;
  std::size_t rows_ = 0;
  std::vector<std::string> names_;
  const double* frozen_;
};

EventPort motion_port(const std::shared_ptr<const Functions>& functions, formulate::Formulated& formulated, const Held& held) {
  auto observation = std::static_pointer_cast<formulate::MotionObservation>(formulated.observation);
  mechanics::Evaluator* evaluator = &observation->evaluator();
  const std::size_t n = functions->n;
  EventPort port;
  port.look = [=](const double& t, const double* x, EventPort::Depth depth, std::vector<const double*>& inputs) {
    inputs = {&t, x, x + n, x + 2 * n, evaluator->w().data(), evaluator->a().data(), evaluator->lambda().data()};
    return depth == EventPort::Depth::all ? observation->at(t, x) : Evaluation::ok;
  };
  port.slope = [=, size = formulated.system.dimension](double t, const double* x, double* dx) {
    const Evaluation outcome = observation->at(t, x);
    const Functions& fn = *functions;
    std::fill_n(dx, size, 0.0);
    std::copy_n(x + n, n, dx);
    std::copy_n(evaluator->a().begin(), n, dx + n);
    for (std::size_t i = 0; i < fn.differential.size(); ++i) dx[2 * n + i] = evaluator->w()[fn.differential[i]];
    return outcome;
  };
  // In the implicit view algebraic unknowns and multipliers follow the rest of the state.
  const bool whole = formulated.system.dimension > functions->dimension();
  port.assign = [=, complete = formulated.system.complete,
                 reset = std::make_shared<MotionReset>(functions, held.discrete),
                 meet = InvariantReset(formulate::kept_by(functions), formulated, held.frozen)](
                    double t, double* x, const std::vector<std::pair<std::string, double>>& values) -> std::string {
    std::string message = (*reset)(t, x, values);
    if (message.empty()) message = meet(t, x, values);
    if (!message.empty() || !whole) return message;
    return complete(t, x) == Evaluation::ok ? std::string() : observation->explain();
  };
  port.explain = [observation] { return observation->explain(); };
  return port;
}

/// Lets a state that begins with `count` unknowns leap where f of linear equations does, before the rest is completed.
void let_leap(EventPort& port, const std::shared_ptr<LinearLeap>& leap, std::size_t count, formulate::Formulated& formulated) {
  formulated.flow = leap->flow();  // whose remarks are told
  port.begun = [=] { leap->begin(); };
  port.complete = [=, rest = port.complete](double t, double* x) {
    (*leap)(t, x, count);
    if (rest) rest(t, x);
  };
}

EventPort dae_port(const std::shared_ptr<const structure::DaeFunctions>& functions, formulate::Formulated& formulated,
                   const Held& held, const std::shared_ptr<LinearLeap>& leap) {
  auto observation = std::static_pointer_cast<formulate::DaeObservation>(formulated.observation);
  structure::DaeEvaluator* evaluator = &observation->evaluator();
  const std::size_t differential = functions->differential, size = formulated.system.dimension;
  // What stands behind the differential unknowns follows from them, in the order that the formulation has given it.
  std::function<Evaluation(double, double*)> complete = formulated.system.complete;
  std::function<std::string()> explain = formulated.system.explain;
  if (!complete) {
    complete = [=](double t, double* x) {
      if (size == differential) return Evaluation::ok;
      const auto outcome = static_cast<Evaluation>(evaluator->solve(t, x));
      std::copy(evaluator->y().begin() + static_cast<std::ptrdiff_t>(differential), evaluator->y().end(), x + differential);
      return outcome;
    };
    explain = [=] { return evaluator->explain(); };
  }
  EventPort port;
  // Where the state has all unknowns, only derivatives must be computed.
  const bool whole = observation->state() == formulate::DaeObservation::State::whole;
  if (whole) port.state_blocks = 2;
  port.look = [=](const double& t, const double* x, EventPort::Depth depth, std::vector<const double*>& inputs) {
    inputs = {&t, whole ? x : evaluator->y().data(), evaluator->dy().data()};
    return depth == EventPort::Depth::all ? observation->at(t, x) : Evaluation::ok;
  };
  port.slope = [=](double t, const double* x, double* dx) {
    const Evaluation outcome = observation->at(t, x);
    std::fill_n(dx, size, 0.0);
    if (const structure::JetLift* lift = observation->lift())
      lift->lower_rates(evaluator->y().data(), evaluator->dy().data(), dx);
    else
      std::copy_n(evaluator->dy().begin(), std::min(size, differential), dx);
    return outcome;
  };
  port.assign = [=, meet = InvariantReset(formulate::kept_by(functions), formulated, held.frozen)](
                    double t, double* x, const std::vector<std::pair<std::string, double>>& values) -> std::string {
    if (observation->lift() != nullptr) return {};  // takes no resets
    for (const auto& [name, value] : values)
      for (std::size_t i = 0; i < differential; ++i)
        if (functions->unknowns[i].name == name) x[i] = value;
    if (std::string message = meet(t, x, values); !message.empty()) return message;
    return complete(t, x) == Evaluation::ok ? std::string() : explain();
  };
  if (whole && size > differential)
    port.complete = [=](double t, double* x) {
      if (observation->at(t, x) == Evaluation::ok) static_cast<void>(complete(t, x));
    };
  if (leap && observation->lift() == nullptr) {
    if (!port.complete && size > differential) port.complete = [=](double t, double* x) { static_cast<void>(complete(t, x)); };
    let_leap(port, leap, whole ? functions->dimension() : std::min(size, differential), formulated);
  }
  port.explain = [observation] { return observation->explain(); };
  return port;
}

/// The state has all unknowns, and its derivative array binds them.
EventPort array_port(const formulate::Equations& equations, formulate::Formulated& formulated, const Held& held,
                     const std::shared_ptr<LinearLeap>& leap) {
  const std::shared_ptr<const structure::DaeFunctions>& functions = equations.dae;
  const structure::ArrayForm& form = *equations.array;
  auto solver = std::make_shared<structure::ArraySolver>(form.array, form.index);
  solver->freeze(held.frozen);
  const auto settle = [=](double t, double* x, const std::vector<std::pair<std::string, double>>& values) -> std::string {
    std::vector<double> sizes;
    for (std::size_t i = 0; i < functions->dimension(); ++i) {
      const auto bound = std::ranges::find(values, functions->unknowns[i].name, &std::pair<std::string, double>::first);
      if (bound != values.end()) x[i] = bound->second;
      sizes.push_back(bound != values.end() ? 0.0 : functions->unknowns[i].of->nominal);
    }
    return solver->project(t, x, sizes.data()) == structure::DaeOutcome::ok ? std::string() : solver->explain();
  };
  EventPort port;
  port.state_blocks = 2;
  port.look = [=](const double& t, const double* x, EventPort::Depth depth, std::vector<const double*>& inputs) {
    inputs = {&t, x, solver->dy().data()};
    return depth == EventPort::Depth::all ? static_cast<Evaluation>(solver->derivatives_on_manifold(t, x)) : Evaluation::ok;
  };
  port.slope = [=](double t, const double* x, double* dx) {
    const auto outcome = static_cast<Evaluation>(solver->derivatives_on_manifold(t, x));
    std::ranges::copy(solver->dy(), dx);
    return outcome;
  };
  port.assign = settle;
  port.complete = [=](double t, double* x) { static_cast<void>(settle(t, x, {})); };
  if (leap) let_leap(port, leap, functions->dimension(), formulated);
  port.explain = [solver] { return solver->explain(); };
  return port;
}

/// States are (y, y'). An event keeps x1, but for what it resets, and x2 follows f: where that leaps, it is said.
EventPort linear_port(const std::shared_ptr<const structure::DaeFunctions>& functions, formulate::Formulated& formulated) {
  const std::size_t n = functions->dimension();
  const std::shared_ptr<structure::LinearFlow> flow = formulated.flow;
  const auto settle = [=](double t, double* x, const std::vector<structure::LinearFlow::Number>& before) {
    std::vector<std::vector<double>> states;
    if (!flow->states(t, flow->differential_part(x), 1, states)) return std::string("f is not a finite number");
    const std::vector<double> was(x, x + n);
    for (const std::string& text : impulse_texts(*functions, t, was, flow->impulses(before, flow->consistent_part(t))))
      flow->remarks.push_back(text);
    std::ranges::copy(states[0], x);
    std::ranges::copy(states[1], x + n);
    return std::string();
  };
  EventPort port;
  port.state_blocks = 3;
  port.look = [=](const double& t, const double* x, EventPort::Depth, std::vector<const double*>& inputs) {
    inputs = {&t, x, x + n};
    return Evaluation::ok;
  };
  port.slope = [=](double, const double* x, double* dx) {
    std::copy_n(x + n, n, dx);
    std::fill_n(dx + n, n, 0.0);
    return Evaluation::ok;
  };
  port.assign = [=](double t, double* x, const std::vector<std::pair<std::string, double>>& values) {
    const auto before = flow->algebraic_part(x);
    for (const auto& [name, value] : values)
      for (std::size_t i = 0; i < n; ++i)
        if (functions->unknowns[i].name == name) x[i] = value;
    return settle(t, x, before);
  };
  port.complete = [=](double t, double* x) { static_cast<void>(settle(t, x, flow->algebraic_part(x))); };
  port.explain = [] { return std::string("f is not a finite number"); };
  return port;
}

}  // namespace

EventSymbols event_symbols(const formulate::Equations& equations) {
  EventSymbols out;
  if (!equations.motion) {
    const structure::DaeFunctions& fn = *equations.dae;
    out.model = fn.model;
    out.t = fn.equations.t;
    out.switches = fn.switches;
    out.constraints = fn.hidden_residuals;
    std::vector<Expr> rates;
    for (std::size_t i = 0; i < fn.equations.dy.size(); ++i)
      rates.push_back(fn.equations.dy[i].valid() ? fn.equations.dy[i]
                                                 : out.t.graph().symbol("rate.none" + std::to_string(i)));
    out.blocks = {{out.t}, fn.equations.y, rates};
    out.state_blocks = 1;
    return out;
  }
  const mechanics::Equations& eq = equations.motion->equations;
  out.model = eq.model;
  out.t = eq.t;
  out.switches = equations.motion->switches;
  for (const mechanics::Constraint& constraint : eq.constraints) {
    if (constraint.holonomic) out.constraints.push_back(constraint.position);
    out.constraints.push_back(constraint.velocity);
  }
  std::vector<Expr> z_d, w;
  for (std::size_t i = 0; i < eq.z.size(); ++i) {
    if (eq.z_differential[i]) z_d.push_back(eq.z[i]);
    w.push_back(eq.z_differential[i] ? eq.z_rate[i] : eq.z[i]);
  }
  out.blocks = {{eq.t}, eq.q, eq.v, z_d, w, eq.a, eq.lambda};
  out.state_blocks = 4;
  std::vector<Expr> used;
  for (const model::Event& event : eq.model->events) {
    if (event.when) used.push_back(*event.when);
    for (const auto& [name, value] : event.reset) used.push_back(value);
  }
  if (!used.empty()) out.replacement = mechanics::reactions(eq, used);
  return out;
}

EventPort event_port(const formulate::Equations& equations, formulate::Formulated& formulated, const Held& held) {
  if (formulated.flow) return linear_port(equations.dae, formulated);
  if (equations.motion) return motion_port(equations.motion, formulated, held);
  const auto leap = LinearLeap::make(equations.linear, *equations.dae, held.frozen);
  return equations.array ? array_port(equations, formulated, held, leap) : dae_port(equations.dae, formulated, held, leap);
}

void check_resets(const formulate::Equations& equations) {
  std::vector<std::string> names;
  const model::Model* model = nullptr;
  if (equations.motion) {
    names = equations.motion->state_names();
    model = equations.motion->equations.model.get();
  } else {
    for (std::size_t i = 0; i < equations.dae->differential; ++i) names.push_back(equations.dae->unknowns[i].name);
    model = equations.dae->model.get();
  }
  for (const model::Parameter& value : model->discrete) names.push_back(value.name);
  Faults faults;
  for (const model::Event& event : model->events)
    for (const auto& [name, value] : event.reset)
      if (std::find(names.begin(), names.end(), name) == names.end())
        faults.add("reset-follows",
                   fmt::format("'{}' follows from the equations, so the event '{}' cannot reset it", name, event.name),
                   "reset an unknown whose derivative occurs in the equations, or a value of [discrete]", event.place);
  faults.throw_if_any();
}

}  // namespace daedalus::solve
