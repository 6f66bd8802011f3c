// With p = M v the equations of motion M v' = f - G^T lambda are
//   p' = F - G^T lambda,   F = f + (dM/dt) v,   dM/dt along q' = v.
// For L = v^T M v / 2 - V they are Hamilton's: F = dL/dq.
#include "daedalus/formulate/mechanical_view.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "daedalus/base/finite.hpp"
#include "daedalus/compile/compile.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/formulate/acceleration_level.hpp"

namespace daedalus::formulate {

using expr::Expr;
using expr::NodeId;
using integrate::Evaluation;
using mechanics::Evaluator;

namespace {

std::unordered_set<NodeId> set_of(const std::vector<Expr>& symbols) {
  std::unordered_set<NodeId> result;
  for (const Expr& symbol : symbols) result.insert(symbol.id());
  return result;
}

bool any_depends(const std::vector<Expr>& values, const std::vector<Expr>& symbols) {
  return std::ranges::any_of(expr::dependence(values, set_of(symbols)), [](bool depends) { return depends; });
}

std::vector<Expr> momentum_rate(const mechanics::Equations& eq) {
  const std::size_t n = eq.q.size();
  std::vector<Expr> momentum(n, eq.model->graph->constant(0.0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = eq.M.row_start[i]; k < eq.M.row_start[i + 1]; ++k)
      momentum[i] = momentum[i] + eq.M.value[k] * eq.v[eq.M.column[k]];
  expr::Direction along;
  for (std::size_t i = 0; i < n; ++i) along.emplace(eq.q[i].id(), eq.v[i]);
  along.emplace(eq.t.id(), eq.model->graph->constant(1.0));
  std::vector<Expr> result = expr::derivative_along(momentum, along);
  for (std::size_t i = 0; i < n; ++i) result[i] = eq.f[i] + result[i];
  return result;
}

/// Whether the kinetic energy alone makes forces depend on velocities. Terms of L that are linear in v count as forces:
/// p is not their momentum.
bool is_hamiltonian(const mechanics::Equations& eq, const std::vector<Expr>& rate, bool constant_mass) {
  if (!eq.z.empty()) return false;
  if (constant_mass) return !any_depends(rate, eq.v);
  if (!eq.lagrangian.valid() || eq.model->dissipation) return false;
  std::vector<Expr> forces;
  for (const model::Named& force : eq.model->forces) forces.push_back(force.value);
  if (any_depends(forces, eq.v)) return false;
  std::unordered_map<NodeId, Expr> rest;
  for (const Expr& v : eq.v) rest.emplace(v.id(), eq.model->graph->constant(0.0));
  const std::vector<Expr> at_rest = expr::substitute(expr::gradient(eq.lagrangian, eq.v), rest);
  return std::ranges::all_of(at_rest, [](const Expr& p) { return p.is_constant(0.0); });
}

/// Everything that evaluates motion for one trajectory.
struct Running {
  explicit Running(std::shared_ptr<const mechanics::Functions> given)
      : functions(std::move(given)),
        evaluator(functions),
        geometry_scratch(functions->geometry.make_scratch()),
        velocity_scratch(functions->velocity.make_scratch()),
        values(functions->geometry.output_count()) {}

  std::shared_ptr<const mechanics::Functions> functions;
  Evaluator evaluator;
  compile::Function rate;
  compile::Function::Scratch rate_scratch, geometry_scratch, velocity_scratch;
  std::vector<double> values;
  const double* frozen = nullptr;
};

void copy_part(const double*& from, std::size_t count, double* to) {
  if (to != nullptr) std::copy_n(from, count, to);
  from += count;
}

integrate::MechanicalSystem mechanical_system(const std::shared_ptr<Running>& running) {
  const mechanics::Functions& fn = *running->functions;
  const mechanics::Equations& eq = fn.equations;
  integrate::MechanicalSystem view;
  view.n = fn.n;
  view.m = fn.m;
  view.mass = fn.mass;
  view.jacobian = fn.jacobian;
  view.holonomic_rows = fn.holonomic_rows;
  for (const mechanics::Constraint& constraint : eq.constraints) view.constraint_names.push_back(constraint.name);

  std::vector<Expr> place = eq.q;
  place.push_back(eq.t);
  view.constant_mass = !any_depends(eq.M.value, place);
  const std::vector<Expr> rate = momentum_rate(eq);
  view.hamiltonian = is_hamiltonian(eq, rate, view.constant_mass);
  std::vector<Expr> z_d, w;
  for (const std::size_t i : fn.differential) z_d.push_back(eq.z[i]);
  for (std::size_t i = 0; i < eq.z.size(); ++i) w.push_back(eq.z_differential[i] ? eq.z_rate[i] : eq.z[i]);
  const auto numbers = eq.model->numbers();
  compile::Switches switches = fn.switches;
  running->rate =
      compile::compile({{{eq.t}, eq.q, eq.v, z_d, w}, rate, &numbers, compile::Request::NewSwitches::none}, switches);
  running->rate_scratch = running->rate.make_scratch();

  view.motion = [running](double t, const double* x, double* M, double* f, double* G, double* gamma, double* dz) {
    const mechanics::Functions& functions = *running->functions;
    const auto outcome = static_cast<Evaluation>(running->evaluator.motion(t, x));
    if (outcome != Evaluation::ok) return outcome;
    const double* from = std::as_const(running->evaluator).motion().data();
    copy_part(from, functions.mass.nonzeros(), M);
    copy_part(from, functions.n, f);
    copy_part(from, functions.jacobian.nonzeros(), G);
    copy_part(from, functions.m, gamma);
    if (dz != nullptr)
      for (const std::size_t i : functions.differential) *dz++ = running->evaluator.w()[i];
    return outcome;
  };
  view.geometry = [running](double t, const double* q, double* M, double* G, double* g) {
    const mechanics::Functions& functions = *running->functions;
    const double* inputs[] = {&t, q};
    functions.geometry(inputs, running->values.data(), running->geometry_scratch, running->frozen);
    const double* from = running->values.data();
    copy_part(from, functions.mass.nonzeros(), M);
    copy_part(from, functions.jacobian.nonzeros(), G);
    copy_part(from, functions.holonomic, g);
    return all_finite(running->values.data(), running->values.size()) ? Evaluation::ok : Evaluation::not_finite;
  };
  view.velocity_residual = [running](double t, const double* q, const double* v, double* c) {
    const mechanics::Functions& functions = *running->functions;
    const double* inputs[] = {&t, q, v};
    functions.velocity(inputs, c, running->velocity_scratch, running->frozen);
    return all_finite(c, functions.m) ? Evaluation::ok : Evaluation::not_finite;
  };
  view.momentum_rate = [running](double t, const double* x, double* force) {
    const std::size_t n = running->functions->n;
    const auto outcome = static_cast<Evaluation>(running->evaluator.auxiliary(t, x));
    if (outcome != Evaluation::ok) return outcome;
    const double* inputs[] = {&t, x, x + n, x + 2 * n, running->evaluator.w().data()};
    running->rate(inputs, force, running->rate_scratch, running->frozen);
    return all_finite(force, n) ? Evaluation::ok : Evaluation::not_finite;
  };
  return view;
}

}  // namespace

Formulated mechanical_motion(std::shared_ptr<const mechanics::Functions> functions) {
  Formulated result = acceleration_level(functions, {});
  auto running = std::make_shared<Running>(std::move(functions));
  result.system.mechanical = std::make_shared<const integrate::MechanicalSystem>(mechanical_system(running));
  result.system.ode = nullptr;
  result.system.project_error = nullptr;
  result.system.explain = [running, project = result.system.explain] {
    const std::string own = running->evaluator.explain();
    return own.empty() ? project() : own;
  };
  result.guess = [running, inner = result.guess](const std::vector<double>& auxiliary) {
    running->evaluator.guess_auxiliary(auxiliary);
    inner(auxiliary);
  };
  result.freeze = [running, inner = result.freeze](const double* frozen) {
    running->evaluator.freeze(frozen);
    running->frozen = frozen;
    inner(frozen);
  };
  return result;
}

}  // namespace daedalus::formulate
