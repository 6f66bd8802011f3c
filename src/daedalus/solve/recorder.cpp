#include "daedalus/solve/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/base/text.hpp"

namespace daedalus::solve {

using mechanics::Evaluator;
using mechanics::Functions;

Recorder::Recorder(formulate::Formulated& formulated, Trajectory& trajectory, const RunOptions& options)
    : formulated_(formulated), trajectory_(trajectory), options_(options) {
  const Functions& fn = formulated.evaluator->functions();
  const model::Model& model = *fn.equations.model;
  position_.resize(fn.holonomic);
  velocity_.resize(fn.m);
  acceleration_.resize(fn.m);
  position_residual_.resize(fn.holonomic);
  position_scale_.resize(fn.holonomic);
  velocity_residual_.resize(fn.m);
  velocity_scale_.resize(fn.m);
  outputs_.resize(model.outputs.size());
  output_failed_.resize(model.outputs.size());
  x_watched_.resize(fn.dimension());

  auto& columns = trajectory_.columns;
  for (const auto& q : fn.equations.q) columns.push_back(q.name());
  for (const auto& v : fn.equations.v) columns.push_back(v.name());
  for (const auto& z : fn.equations.z) columns.push_back(z.name());
  for (const auto& lambda : fn.equations.lambda) columns.push_back(lambda.name());
  for (const auto& output : model.outputs) columns.push_back(output.name);
  if (options_.residuals) {
    for (const std::size_t i : fn.holonomic_rows) columns.push_back("residual." + fn.equations.constraints[i].name);
    for (const auto& constraint : fn.equations.constraints)
      columns.push_back(constraint.holonomic ? "der(residual." + constraint.name + ")" : "residual." + constraint.name);
    if (fn.has_energy()) columns.push_back("energy");
  }
  if (options_.pictures) trajectory_.picture_count = fn.pictures.output_count();
  if (options_.on_columns) options_.on_columns(columns);
}

void Recorder::note(Largest& largest, const std::vector<double>& residual, const std::vector<double>& scale) {
  for (std::size_t i = 0; i < residual.size(); ++i) {
    largest.residual[i] = std::max(largest.residual[i], std::abs(residual[i]));
    largest.scale[i] = std::max(largest.scale[i], scale[i]);
  }
}

bool Recorder::watch(double t, const double* x) {
  Evaluator& evaluator = *formulated_.evaluator;
  const Functions& fn = evaluator.functions();
  if (watched_ && t == t_watched_ && std::equal(x_watched_.begin(), x_watched_.end(), x)) return good_;
  watched_ = true;
  t_watched_ = t;
  std::copy(x, x + x_watched_.size(), x_watched_.begin());
  good_ = formulated_.details(t, x) == mechanics::Outcome::ok;
  evaluator.residuals(t, x, position_residual_.data(), velocity_residual_.data());
  evaluator.residual_scales(t, x, position_scale_.data(), velocity_scale_.data());
  note(position_, position_residual_, position_scale_);
  note(velocity_, velocity_residual_, velocity_scale_);
  if (!good_) return false;
  note(acceleration_, evaluator.acceleration_residual(), evaluator.acceleration_scale());
  if (fn.has_energy()) {
    energy_now_ = evaluator.energy(t, x);
    const double total = energy_now_.kinetic + energy_now_.potential;
    if (!energy_started_) {
      energy_started_ = true;
      energy_start_ = total;
      potential_start_ = energy_now_.potential;
    }
    energy_change_ = std::max(energy_change_, std::abs(total - energy_start_));
    kinetic_most_ = std::max(kinetic_most_, energy_now_.kinetic);
    potential_most_ = std::max(potential_most_, std::abs(energy_now_.potential - potential_start_));
  }
  return true;
}

bool Recorder::row(double t, const double* x) {
  if (!watch(t, x)) return false;
  Evaluator& evaluator = *formulated_.evaluator;
  const Functions& fn = evaluator.functions();
  std::vector<double>& values = row_;
  values.clear();
  values.insert(values.end(), x, x + 2 * fn.n);
  for (std::size_t i = 0, d = 0; i < fn.equations.z.size(); ++i)
    values.push_back(fn.equations.z_differential[i] ? x[2 * fn.n + d++] : evaluator.w()[i]);
  values.insert(values.end(), evaluator.lambda().begin(), evaluator.lambda().end());
  if (!outputs_.empty()) {
    evaluator.outputs(t, x, outputs_.data());
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      if (!std::isfinite(outputs_[k]) && !output_failed_[k]) {
        output_failed_[k] = true;
        trajectory_.notes.push_back(fmt::format("the output '{}' is not a finite number at t = {}",
                                                fn.equations.model->outputs[k].name, brief(t)));
      }
  }
  values.insert(values.end(), outputs_.begin(), outputs_.end());
  if (options_.residuals) {
    values.insert(values.end(), position_residual_.begin(), position_residual_.end());
    values.insert(values.end(), velocity_residual_.begin(), velocity_residual_.end());
    if (fn.has_energy()) values.push_back(energy_now_.kinetic + energy_now_.potential);
  }
  if (options_.on_row) options_.on_row(t, row_);
  // A streamed run keeps its first and its latest row.
  if (!options_.keep_rows && trajectory_.t.size() == 2) {
    trajectory_.t.pop_back();
    trajectory_.values.resize(row_.size());
    trajectory_.pictures.resize(trajectory_.picture_count);
  }
  trajectory_.t.push_back(t);
  trajectory_.values.insert(trajectory_.values.end(), row_.begin(), row_.end());
  if (trajectory_.picture_count > 0) {
    trajectory_.pictures.resize(trajectory_.pictures.size() + trajectory_.picture_count);
    evaluator.pictures(t, x, trajectory_.pictures.data() + (trajectory_.pictures.size() - trajectory_.picture_count));
  }
  return true;
}

void Recorder::finish() {
  const Functions& fn = formulated_.evaluator->functions();
  LevelResiduals& levels = trajectory_.constraints;
  const auto sum_up = [&](std::size_t level, const Largest& largest) {
    levels.present[level] = !largest.residual.empty();
    for (std::size_t i = 0; i < largest.residual.size(); ++i) {
      levels.absolute[level] = std::max(levels.absolute[level], largest.residual[i]);
      if (largest.residual[i] == 0.0) continue;
      // A residual that is a single vanishing term (z = 0) has no size to compare with but the tolerance.
      const double scale = std::max(largest.scale[i], trajectory_.atol);
      levels.relative[level] = std::max(levels.relative[level], largest.residual[i] / scale);
    }
  };
  sum_up(0, position_);
  sum_up(1, velocity_);
  sum_up(2, acceleration_);
  if (fn.equations.conservative && energy_started_) {
    const double size = kinetic_most_ + potential_most_;
    trajectory_.energy = size > 0.0 ? energy_change_ / size : 0.0;
  }
}

}  // namespace daedalus::solve
