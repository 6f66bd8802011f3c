#include "daedalus/mechanics/solved_motion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "daedalus/base/finite.hpp"
#include "daedalus/base/fours.hpp"
#include "daedalus/base/kept.hpp"
#include "daedalus/compile/compile_as_wished.hpp"
#include "daedalus/compile/straight_line.hpp"
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

/// The same function, with products that become part of the sums that they are used in: fewer operations, and shorter waits in
/// recursions along a chain.
compile::Function contracted(const compile::Function& function) {
  compile::StraightLine line(function.blocks());
  std::vector<compile::StraightLine::Values> inputs;
  for (std::size_t block = 0; block < function.blocks().size(); ++block) inputs.push_back(line.block(block));
  const auto [outputs, notes] = line.call(function, inputs);
  line.contract(outputs, notes);
  return line.finish(outputs, notes);
}

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
  const std::vector<Expr> no_forces(fn.n, eq.t.graph().constant(0.0));
  const auto make = [&](const std::vector<std::vector<Expr>>& inputs, const std::vector<Expr>& f, const std::vector<Expr>& gamma,
                        const std::vector<Expr>& constraints) {
    KktElimination::Solution solution = elimination->solve(f, gamma);
    std::vector<Expr> outputs = std::move(solution.a);
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

  std::vector<Expr> gamma, position, violation, correction;
  for (std::size_t i = 0; i < fn.m; ++i) {
    gamma.push_back(eq.constraints[i].gamma);
    if (eq.constraints[i].holonomic) position.push_back(eq.constraints[i].position);
    violation.push_back(eq.t.graph().symbol("violation " + std::to_string(i + 1)));  // no name in a model has a space
    correction.push_back(-violation.back());
  }
  auto out = std::make_shared<SolvedMotion>();
  const bool noted = fn.n * fn.m <= most_noted;
  out->accelerations = make(moving, eq.f, gamma, noted ? elimination->inverse_constraints() : std::vector<Expr>{});
  out->correction = make({{eq.t}, eq.q, violation}, no_forces, correction, {});
  const bool all = fn.holonomic == fn.m;
  if (all || fn.holonomic == 0) {
    compile::Function positions;
    if (all) positions = compile::compile({{{eq.t}, eq.q}, position, &numbers, compile::Request::NewSwitches::none}, switches);
    out->landing = landing_of(*out, positions, fn);
  }
  // Behind the landing, in which both parts share what they compute alike.
  for (Part* part : {&out->accelerations, &out->correction}) part->function = contracted(part->function);
  return out;
}

std::shared_ptr<const SolvedMotion> SolvedMotion::kept(const std::shared_ptr<const Functions>& functions) {
  static Kept<Functions, SolvedMotion> kept;
  return kept.of(functions, [&] { return of(*functions); });
}

SolvedMotion::Part SolvedMotion::landing_of(const SolvedMotion& motion, const compile::Function& positions, const Functions& fn) {
  compile::StraightLine line({1, fn.n, fn.n});
  using Values = compile::StraightLine::Values;
  const Values t = line.block(0), v = line.block(2);
  Values q = line.block(1), last(fn.n, line.constant(0.0));
  Part part = motion.accelerations;
  // Inverse masses come first, measures of cancellation behind them.
  Values positive, cancellations, constraints;
  const auto keep = [&](const Part& of, const Values& notes) {
    const auto middle = notes.begin() + static_cast<std::ptrdiff_t>(of.positive);
    const auto end = middle + static_cast<std::ptrdiff_t>(of.cancellations);
    positive.insert(positive.end(), notes.begin(), middle);
    cancellations.insert(cancellations.end(), middle, end);
    constraints.assign(end, notes.end());
  };
  if (positions.output_count() > 0) {
    const Values begin = q;
    for (int iteration = 0; iteration < 2; ++iteration) {
      const auto found = line.call(motion.correction.function, {t, begin, line.call(positions, {t, q}).outputs});
      if (iteration == 0) keep(motion.correction, found.notes);
      last = found.outputs;
      q = line.sum(q, last);
    }
  }
  const auto back = line.call(motion.correction.function, {t, q, line.call(fn.velocity, {t, q, v}).outputs});
  const Values velocities = line.sum(v, back.outputs);
  const auto there = line.call(motion.accelerations.function, {t, q, velocities});
  keep(motion.accelerations, there.notes);
  Values outputs = std::move(last), notes = std::move(positive);
  for (const Values* more : {&std::as_const(q), &velocities, &there.outputs}) outputs.insert(outputs.end(), more->begin(), more->end());
  part.positive = notes.size();
  part.cancellations = cancellations.size();
  for (const Values* more : {&cancellations, &constraints}) notes.insert(notes.end(), more->begin(), more->end());
  line.contract(outputs, notes);
  part.function = line.finish(outputs, notes);
  return part;
}

namespace {

/// Whether all numbers are above 0 and at most `most`, of which there may be none.
struct Bounded {
  [[gnu::always_inline]] static inline void run(const double* numbers, std::size_t count, double most, bool& result) {
    FourMasks good = {-1, -1, -1, -1};
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) good &= (*four(numbers + i) > 0.0) & (*four(numbers + i) <= most);
    result = (good[0] & good[1] & good[2] & good[3]) != 0;
    for (; i < count; ++i) result = result && numbers[i] > 0.0 && numbers[i] <= most;
  }
};

bool bounded(const double* numbers, std::size_t count, double most) {
  bool result = true;
  if (count > 0) in_fours<Bounded>(numbers, count, most, result);
  return result;
}

}  // namespace

bool SolvedMotion::Part::trusts(const double* notes) const {
  if (positive + cancellations == 0) return true;  // constant masses
  return bounded(notes, positive, std::numeric_limits<double>::infinity()) &&
         bounded(notes + positive, cancellations, most_cancellation);
}

SolvedEvaluator::SolvedEvaluator(std::shared_ptr<const SolvedMotion> motion)
    : motion_(std::move(motion)),
      accelerations_(motion_->accelerations.function.make_scratch()),
      landing_(motion_->landing.function.make_scratch()) {}

bool SolvedEvaluator::call(const SolvedMotion::Part& part, compile::Function::Scratch& scratch, const double* const* inputs,
                           const double* frozen, double* outputs) {
  const std::size_t count = part.function.output_count();
  if (count == 0) return false;
  part.function(inputs, outputs, scratch, frozen);
  last_ = {scratch.data() + part.positive + part.cancellations, part.constraints};
  return all_finite(outputs, count) && part.trusts(scratch.data());
}

bool SolvedEvaluator::accelerations(const double* const* inputs, const double* frozen, double* a) {
  return call(motion_->accelerations, accelerations_, inputs, frozen, a);
}

bool SolvedEvaluator::land(const double* const* inputs, const double* frozen, double* landed) {
  return call(motion_->landing, landing_, inputs, frozen, landed);
}

bool SolvedEvaluator::has_landed(const double* notes) {
  const SolvedMotion::Part& part = motion_->landing;
  last_ = {notes + part.positive + part.cancellations, part.constraints};
  return part.trusts(notes);
}

}  // namespace daedalus::mechanics
