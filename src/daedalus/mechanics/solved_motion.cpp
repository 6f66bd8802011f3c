#include "daedalus/mechanics/solved_motion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "daedalus/compile/compile_as_wished.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/mechanics/kkt_elimination.hpp"

namespace daedalus::mechanics {

namespace {

/// Operations up to which straight-line code is worth its length: chains and trees need some ten per coordinate and
/// constraint, small mechanisms with full matrices a few hundred. Where a net needs more than this many in all, full blocks of
/// its factors are as fast, and ready sooner.
std::size_t most_operations(std::size_t rows) {
  constexpr std::size_t of_chains = 60, of_small_mechanisms = 400, in_all = 100'000;
  return std::min(of_small_mechanisms * rows, std::max(of_chains * rows, in_all));
}

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
  const auto elimination = KktElimination::of(eq.M, eq.G, most_operations(fn.n + fn.m));
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
  const auto make = [&](const std::vector<std::vector<Expr>>& inputs, std::vector<Expr> outputs, const std::vector<Expr>& f,
                        const std::vector<Expr>& gamma, const std::vector<Expr>& constraints) {
    KktElimination::Solution solution = elimination->solve(f, gamma);
    outputs.insert(outputs.end(), solution.a.begin(), solution.a.end());
    Part part;
    part.positive = inverse_masses.size();
    part.cancellations = cancellations.size();
    part.constraints = constraints.size();
    for (const std::vector<Expr>* notes : {&std::as_const(inverse_masses), &std::as_const(cancellations), &constraints})
      outputs.insert(outputs.end(), notes->begin(), notes->end());
    part.function = compile::compile_as_wished(
        {inputs, outputs, &numbers, compile::Request::NewSwitches::none},
        {std::move(solution.order), part.positive + part.cancellations + part.constraints}, switches);
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
  const bool noted = fn.n * fn.m <= most_noted;
  out->slopes = make(moving, eq.v, eq.f, gamma, noted ? elimination->inverse_constraints() : std::vector<Expr>{});
  if (fn.holonomic == fn.m) out->position_step = make({{eq.t}, eq.q}, {}, nothing, position, {});
  out->velocity_step = make({{eq.t}, eq.q, eq.v}, {}, nothing, velocity, {});
  return out;
}

SolvedEvaluator::SolvedEvaluator(std::shared_ptr<const SolvedMotion> motion)
    : motion_(std::move(motion)),
      slopes_(motion_->slopes.function.make_scratch()),
      position_step_(motion_->position_step.function.make_scratch()),
      velocity_step_(motion_->velocity_step.function.make_scratch()) {}

bool SolvedEvaluator::call(const SolvedMotion::Part& part, compile::Function::Scratch& scratch, const double* const* inputs,
                           const double* frozen, double* outputs) {
  part.function(inputs, outputs, scratch, frozen);
  // Counted, not decided one by one: these loops run several at a time.
  const std::size_t count = part.function.output_count();
  std::size_t bad = count == 0;
  for (std::size_t i = 0; i < count; ++i) bad += !(std::abs(outputs[i]) <= std::numeric_limits<double>::max());
  const double* next = scratch.data();
  const double* end = next + part.positive;
  for (; next < end; ++next) bad += !(*next > 0.0);
  for (end += part.cancellations; next < end; ++next) bad += !(*next > 0.0) + !(*next <= most_cancellation);
  return bad == 0;
}

bool SolvedEvaluator::slopes(const double* const* inputs, const double* frozen, double* dx) {
  return call(motion_->slopes, slopes_, inputs, frozen, dx);
}

bool SolvedEvaluator::position_step(const double* const* inputs, const double* frozen, double* dq) {
  return call(motion_->position_step, position_step_, inputs, frozen, dq);
}

bool SolvedEvaluator::velocity_step(const double* const* inputs, const double* frozen, double* dv) {
  return call(motion_->velocity_step, velocity_step_, inputs, frozen, dv);
}

std::span<const double> SolvedEvaluator::inverse_constraints() const {
  const SolvedMotion::Part& part = motion_->slopes;
  return {slopes_.data() + part.positive + part.cancellations, part.constraints};
}

}  // namespace daedalus::mechanics
