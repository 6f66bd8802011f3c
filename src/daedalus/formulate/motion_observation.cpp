#include "daedalus/formulate/motion_observation.hpp"

#include <algorithm>

namespace daedalus::formulate {

using integrate::Evaluation;
using mechanics::Functions;

static_assert(static_cast<int>(Evaluation::singular) == static_cast<int>(mechanics::Outcome::singular) &&
              static_cast<int>(Evaluation::not_finite) == static_cast<int>(mechanics::Outcome::not_finite) &&
              static_cast<int>(Evaluation::no_convergence) == static_cast<int>(mechanics::Outcome::no_convergence));

MotionObservation::MotionObservation(std::shared_ptr<const Functions> functions, const AccelerationRule& rule)
    : evaluator_(functions, rule.how),
      watch_(kept_by(functions)),
      feedback_(rule.feedback),
      x_(evaluator_.functions().dimension()) {
  const Functions& fn = evaluator_.functions();
  const mechanics::Equations& eq = fn.equations;
  for (const auto* symbols : {&eq.q, &eq.v, &eq.z, &eq.lambda})
    for (const expr::Expr& symbol : *symbols) columns_.push_back(symbol.name());
  levels_.resize(3);
  levels_[2].written = false;
  for (const std::size_t i : fn.holonomic_rows) levels_[0].columns.push_back("residual." + eq.constraints[i].name);
  for (const mechanics::Constraint& constraint : eq.constraints)
    levels_[1].columns.push_back(constraint.holonomic ? "der(residual." + constraint.name + ")"
                                                      : "residual." + constraint.name);
  const std::size_t sizes[] = {fn.holonomic, fn.m, fn.m};
  for (std::size_t k = 0; k < 3; ++k) {
    levels_[k].residual.resize(sizes[k]);
    levels_[k].scale.resize(sizes[k]);
  }
  watch_.name(invariants_);
  picture_count_ = fn.pictures.output_count();
  has_energy_ = fn.has_energy();
  conservative_ = eq.conservative;
}

Evaluation MotionObservation::at(double t, const double* state) {
  t_ = t;
  std::copy_n(state, x_.size(), x_.begin());
  const auto outcome = evaluator_.accelerations(t, state, feedback_);
  evaluator_.residuals(t, state, levels_[0].residual.data(), levels_[1].residual.data());
  evaluator_.residual_scales(t, state, levels_[0].scale.data(), levels_[1].scale.data());
  watch_.look(t, state, invariants_);
  if (outcome == mechanics::Outcome::ok) {
    std::ranges::copy(evaluator_.acceleration_residual(), levels_[2].residual.begin());
    std::ranges::copy(evaluator_.acceleration_scale(), levels_[2].scale.begin());
  }
  return static_cast<Evaluation>(outcome);
}

Evaluation MotionObservation::residuals_at(double t, const double* state) {
  if (!evaluator_.functions().equations.z.empty()) return at(t, state);  // the energy may depend on all of them
  t_ = t;
  std::copy_n(state, x_.size(), x_.begin());
  evaluator_.residuals(t, state, levels_[0].residual.data(), levels_[1].residual.data());
  evaluator_.residual_scales(t, state, levels_[0].scale.data(), levels_[1].scale.data());
  watch_.look(t, state, invariants_);
  return Evaluation::ok;
}

void MotionObservation::values(double* row) const {
  const Functions& fn = evaluator_.functions();
  row = std::copy_n(x_.begin(), 2 * fn.n, row);
  for (std::size_t i = 0, d = 2 * fn.n; i < fn.equations.z.size(); ++i)
    *row++ = fn.equations.z_differential[i] ? x_[d++] : evaluator_.w()[i];
  row = std::ranges::copy(evaluator_.lambda(), row).out;
  if (further_) further_(t_, x_.data(), row);
}

void MotionObservation::show(const std::vector<std::string>& columns, Write write) {
  columns_.insert(columns_.end(), columns.begin(), columns.end());
  further_ = std::move(write);
}

std::optional<Observation::Energy> MotionObservation::energy() {
  if (!has_energy_) return std::nullopt;
  const auto [kinetic, potential] = evaluator_.energy(t_, x_.data());
  return Energy{kinetic, potential};
}

}  // namespace daedalus::formulate
