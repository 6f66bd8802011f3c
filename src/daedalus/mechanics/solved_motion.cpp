#include "daedalus/mechanics/solved_motion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "daedalus/compile/compile_in_order.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/mechanics/kkt_elimination.hpp"

namespace daedalus::mechanics {

namespace {

/// Operations per coordinate and constraint up to which straight-line code is worth its length: chains and trees need
/// some ten, small mechanisms with full matrices a few hundred.
constexpr std::size_t most_per_row = 400;

/// Cancellation in a pivot up to which the elimination keeps ten digits.
constexpr double most_cancellation = 1e5;

/// Leaves out what does not depend on any input, if it is as it should be.
bool drop_constants(std::vector<Expr>& values, const std::unordered_set<expr::NodeId>& varying,
                    const std::unordered_map<expr::NodeId, double>& numbers, compile::Switches& switches) {
  const std::vector<bool> depends = expr::dependence(values, varying);
  std::vector<Expr> constant, kept;
  for (std::size_t i = 0; i < values.size(); ++i) (depends[i] ? kept : constant).push_back(values[i]);
  const compile::Function function =
      compile::compile({{}, constant, &numbers, compile::Request::NewSwitches::none}, switches);
  std::vector<double> found(constant.size());
  auto scratch = function.make_scratch();
  function(nullptr, found.data(), scratch);
  values = kept;
  return std::ranges::all_of(found, [](double value) { return value > 0.0 && std::isfinite(value); });
}

}  // namespace

std::shared_ptr<const SolvedMotion> SolvedMotion::of(const Functions& fn) {
  const Equations& eq = fn.equations;
  if (!eq.z.empty()) return nullptr;
  const auto elimination = KktElimination::of(eq.M, eq.G, most_per_row * (fn.n + fn.m));
  if (!elimination) return nullptr;
  const std::vector<std::vector<Expr>> moving{{eq.t}, eq.q, eq.v};
  std::unordered_set<expr::NodeId> varying;
  for (const auto& block : moving)
    for (const Expr& symbol : block) varying.insert(symbol.id());
  for (const model::Parameter& value : eq.model->discrete) varying.insert(value.symbol.id());

  const auto numbers = eq.model->numbers();
  compile::Switches switches = fn.switches;
  std::vector<Expr> inverse_masses = elimination->inverse_masses(), cancellations = elimination->cancellations();
  if (!drop_constants(inverse_masses, varying, numbers, switches)) return nullptr;
  if (!drop_constants(cancellations, varying, numbers, switches)) return nullptr;
  const auto make = [&](const std::vector<std::vector<Expr>>& inputs, const std::vector<Expr>& f,
                        const std::vector<Expr>& gamma) {
    Part part;
    KktElimination::Solution solution = elimination->solve(f, gamma);
    std::vector<Expr>& outputs = solution.a;
    part.outputs = outputs.size();
    part.positive = inverse_masses.size();
    outputs.insert(outputs.end(), inverse_masses.begin(), inverse_masses.end());
    outputs.insert(outputs.end(), cancellations.begin(), cancellations.end());
    part.function = compile::compile_in_order({inputs, outputs, &numbers, compile::Request::NewSwitches::none}, solution.order, switches);
    return part;
  };

  const Expr zero = eq.t.graph().constant(0.0);
  const std::vector<Expr> nothing(fn.n, zero);
  std::vector<Expr> gamma, position, velocity;
  for (const Constraint& constraint : eq.constraints) {
    gamma.push_back(constraint.gamma);
    position.push_back(constraint.holonomic ? -constraint.position : zero);
    velocity.push_back(-constraint.velocity);
  }
  auto out = std::make_shared<SolvedMotion>();
  out->accelerations = make(moving, eq.f, gamma);
  if (fn.holonomic == fn.m) out->position_step = make({{eq.t}, eq.q}, nothing, position);
  out->velocity_step = make({{eq.t}, eq.q, eq.v}, nothing, velocity);
  return out;
}

SolvedEvaluator::SolvedEvaluator(std::shared_ptr<const SolvedMotion> motion)
    : motion_(std::move(motion)),
      accelerations_(workspace_of(motion_->accelerations)),
      position_step_(workspace_of(motion_->position_step)),
      velocity_step_(workspace_of(motion_->velocity_step)) {}

SolvedEvaluator::Workspace SolvedEvaluator::workspace_of(const SolvedMotion::Part& part) {
  return {part.function.make_scratch(), std::vector<double>(part.function.output_count())};
}

bool SolvedEvaluator::call(const SolvedMotion::Part& part, Workspace& workspace, const double* const* inputs,
                           const double* frozen, double* outputs) {
  std::vector<double>& values = workspace.values;
  part.function(inputs, values.data(), workspace.scratch, frozen);
  // Counted, not decided one by one: these loops run several at a time.
  const double* next = values.data();
  const double* end = next + part.outputs;
  std::size_t bad = values.empty() ? 1 : 0;
  for (; next < end; ++next) bad += !(std::abs(*next) <= std::numeric_limits<double>::max());
  for (end += part.positive; next < end; ++next) bad += !(*next > 0.0);
  for (end = values.data() + values.size(); next < end; ++next) bad += !(*next > 0.0) + !(*next <= most_cancellation);
  std::copy_n(values.data(), part.outputs, outputs);
  return bad == 0;
}

bool SolvedEvaluator::accelerations(const double* const* inputs, const double* frozen, double* a) {
  return call(motion_->accelerations, accelerations_, inputs, frozen, a);
}

bool SolvedEvaluator::position_step(const double* const* inputs, const double* frozen, double* dq) {
  return call(motion_->position_step, position_step_, inputs, frozen, dq);
}

bool SolvedEvaluator::velocity_step(const double* const* inputs, const double* frozen, double* dv) {
  return call(motion_->velocity_step, velocity_step_, inputs, frozen, dv);
}

}  // namespace daedalus::mechanics
