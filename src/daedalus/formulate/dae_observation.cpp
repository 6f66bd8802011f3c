#include "daedalus/formulate/dae_observation.hpp"

#include <algorithm>
#include <cmath>

namespace daedalus::formulate {

using integrate::Evaluation;
using structure::DaeFunctions;
using structure::DaeOutcome;

static_assert(static_cast<int>(Evaluation::singular) == static_cast<int>(DaeOutcome::singular) &&
              static_cast<int>(Evaluation::not_finite) == static_cast<int>(DaeOutcome::not_finite) &&
              static_cast<int>(Evaluation::no_convergence) == static_cast<int>(DaeOutcome::no_convergence));

DaeObservation::DaeObservation(std::shared_ptr<const DaeFunctions> functions, State state)
    : evaluator_(functions), state_(state) {
  const DaeFunctions& fn = evaluator_.functions();
  for (const DaeFunctions::Column& column : fn.columns) columns_.push_back(column.name);
  levels_.resize(1);
  const auto add = [&](const DaeFunctions::Row& row) {
    while (levels_.size() <= row.level) levels_.emplace_back();
    levels_[row.level].columns.push_back(model::derivative_name("residual." + row.of, row.level));
    return Entry{row.level, levels_[row.level].columns.size() - 1};
  };
  for (const DaeFunctions::Row& row : fn.hidden) hidden_.push_back(add(row));
  for (const std::size_t i : fn.algebraic_rows) algebraic_.push_back(add(fn.rows[i]));
  for (Level& level : levels_) {
    level.residual.resize(level.columns.size());
    level.scale.resize(level.columns.size());
  }
  if (const Kept kept = kept_by(functions); kept.equations) {
    kept_.emplace(kept.equations);
    for (const std::string& name : kept.invariants) invariants_.columns.push_back("residual." + name);
  }
  invariants_.residual.resize(invariants_.columns.size());
  invariants_.scale.resize(invariants_.columns.size());
  terms_.resize(fn.terms.output_count());
  terms_scratch_ = fn.terms.make_scratch();
  outputs_scratch_ = fn.outputs.make_scratch();
  pictures_scratch_ = fn.pictures.make_scratch();
  picture_count_ = fn.pictures.output_count();
}

DaeObservation::DaeObservation(std::shared_ptr<const DaeFunctions> functions, structure::JetLift lift)
    : DaeObservation(functions, State::differential) {
  lift_.emplace(std::move(lift));
  lifted_.resize(functions->differential);
}

Evaluation DaeObservation::at(double t, const double* state) {
  t_ = t;
  if (lift_) {
    const DaeOutcome outcome = lift_->lift(t, state, lifted_.data());
    if (outcome != DaeOutcome::ok) return static_cast<Evaluation>(outcome);
    state = lifted_.data();
  }
  const DaeOutcome outcome =
      state_ == State::differential ? evaluator_.solve(t, state) : evaluator_.derivatives(t, state);
  find_residuals(evaluator_.y().data());
  return static_cast<Evaluation>(outcome);
}

Evaluation DaeObservation::residuals_at(double t, const double* state) {
  if (state_ == State::differential) return at(t, state);
  t_ = t;
  find_residuals(state);
  return Evaluation::ok;
}

/// Of the equations without derivatives, of the hidden constraints and of the invariants.
void DaeObservation::find_residuals(const double* y) {
  const DaeFunctions& fn = evaluator_.functions();
  if (kept_) {
    kept_->residuals(t_, y);
    for (std::size_t i = 0; i < hidden_.size(); ++i) {
      levels_[hidden_[i].level].residual[hidden_[i].position] = kept_->residual()[i];
      levels_[hidden_[i].level].scale[hidden_[i].position] = kept_->scale()[i];
    }
    const auto first = static_cast<std::ptrdiff_t>(hidden_.size());
    std::copy(kept_->residual().begin() + first, kept_->residual().end(), invariants_.residual.begin());
    std::copy(kept_->scale().begin() + first, kept_->scale().end(), invariants_.scale.begin());
  }
  if (fn.algebraic_rows.empty()) return;
  const double* inputs[] = {&t_, y, evaluator_.dy().data()};
  fn.terms(inputs, terms_.data(), terms_scratch_, frozen_);
  for (std::size_t i = 0; i < fn.algebraic_rows.size(); ++i) {
    double sum = 0.0, largest = 0.0;
    for (std::size_t k = fn.term_start[i]; k < fn.term_start[i + 1]; ++k) {
      sum += terms_[k];
      largest = std::max(largest, std::abs(terms_[k]));
    }
    levels_[algebraic_[i].level].residual[algebraic_[i].position] = sum;
    levels_[algebraic_[i].level].scale[algebraic_[i].position] = largest;
  }
}

void DaeObservation::values(double* row) const {
  for (const DaeFunctions::Column& column : evaluator_.functions().columns)
    *row++ = (column.rate ? evaluator_.dy() : evaluator_.y())[column.unknown];
}

void DaeObservation::see(const compile::Function& function, compile::Function::Scratch& scratch, double* row) const {
  const double* inputs[] = {&t_, evaluator_.y().data(), evaluator_.dy().data()};
  if (function.output_count() > 0) function(inputs, row, scratch, frozen_);
}

}  // namespace daedalus::formulate
