#include "daedalus/solve/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/base/text.hpp"

namespace daedalus::solve {

using formulate::Observation;
using integrate::Evaluation;

Recorder::Recorder(formulate::Formulated& formulated, Shown shown, Trajectory& trajectory, const RunOptions& options)
    : formulated_(formulated),
      shown_(std::move(shown)),
      trajectory_(trajectory),
      options_(options),
      output_count_(shown_.outputs.size()),
      output_failed_(shown_.outputs.size()),
      x_watched_(formulated.system.dimension) {
  const Observation& seen = *formulated.observation;
  for (const Observation::Level& level : seen.levels())
    levels_.push_back({std::vector<double>(level.residual.size()), std::vector<double>(level.residual.size())});
  largest_now_.resize(levels_.size());
  auto& columns = trajectory_.columns;
  columns = seen.columns();
  columns.insert(columns.end(), shown_.discrete.begin(), shown_.discrete.end());
  columns.insert(columns.end(), shown_.outputs.begin(), shown_.outputs.end());
  if (options_.residuals) {
    for (const Observation::Level& level : seen.levels())
      if (level.written) columns.insert(columns.end(), level.columns.begin(), level.columns.end());
    columns.insert(columns.end(), seen.invariants().columns.begin(), seen.invariants().columns.end());
    if (seen.has_energy()) columns.push_back("energy");
  }
  for (const std::string& column : seen.invariants().columns)
    trajectory_.invariants.push_back({column.substr(std::string_view("residual.").size())});
  invariant_scale_.resize(seen.invariants().columns.size());
  row_.resize(columns.size());
  if (options_.pictures) trajectory_.picture_count = seen.picture_count();
  if (options_.on_columns) options_.on_columns(columns);
}

bool Recorder::look(double t, const double* x, Depth depth) {
  Observation& seen = *formulated_.observation;
  if (watched_ && depth <= watched_depth_ && t == t_watched_ && std::equal(x_watched_.begin(), x_watched_.end(), x))
    return good_;
  watched_ = true;
  watched_depth_ = depth;
  t_watched_ = t;
  std::copy(x, x + x_watched_.size(), x_watched_.begin());
  good_ = (depth == Depth::all ? seen.at(t, x) : seen.residuals_at(t, x)) == Evaluation::ok;
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    largest_now_[k] = 0.0;
    const Observation::Level& now = seen.levels()[k];
    if (!good_ && !now.written) continue;
    for (std::size_t i = 0; i < now.residual.size(); ++i) {
      largest_now_[k] = std::max(largest_now_[k], std::abs(now.residual[i]));
      levels_[k].residual[i] = std::max(levels_[k].residual[i], std::abs(now.residual[i]));
      levels_[k].scale[i] = std::max(levels_[k].scale[i], now.scale[i]);
    }
  }
  if (options_.on_residuals) options_.on_residuals(t, largest_now_);
  const Observation::Level& invariants = seen.invariants();
  for (std::size_t i = 0; i < invariants.residual.size(); ++i) {
    InvariantResidual& most = trajectory_.invariants[i];
    most.absolute = std::max(most.absolute, std::abs(invariants.residual[i]));
    invariant_scale_[i] = std::max(invariant_scale_[i], invariants.scale[i]);
  }
  if (!good_) return false;
  if (const auto energy = seen.energy()) {
    energy_now_ = *energy;
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
  if (!look(t, x, Depth::all)) return false;
  Observation& seen = *formulated_.observation;
  double* next = row_.data();
  seen.values(next);
  next += seen.columns().size();
  next = std::copy_n(shown_.discrete_values, shown_.discrete.size(), next);
  if (output_count_ > 0) {
    seen.outputs(next);
    for (std::size_t k = 0; k < output_count_; ++k)
      if (!std::isfinite(next[k]) && !output_failed_[k]) {
        output_failed_[k] = true;
        trajectory_.notes.push_back(fmt::format("the output '{}' is not a finite number at t = {}",
                                                shown_.outputs[k], brief(t)));
      }
    next += output_count_;
  }
  if (options_.residuals) {
    for (const Observation::Level& level : seen.levels())
      if (level.written) next = std::ranges::copy(level.residual, next).out;
    next = std::ranges::copy(seen.invariants().residual, next).out;
    if (seen.has_energy()) *next = energy_now_.kinetic + energy_now_.potential;
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
    seen.pictures(trajectory_.pictures.data() + (trajectory_.pictures.size() - trajectory_.picture_count));
  }
  return true;
}

void Recorder::finish() {
  for (std::size_t i = 0; i < invariant_scale_.size(); ++i)
    if (InvariantResidual& most = trajectory_.invariants[i]; most.absolute > 0.0)
      most.relative = most.absolute / invariant_scale_[i];
  LevelResiduals& levels = trajectory_.constraints;
  levels.make_room(levels_.size());
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    const Largest& largest = levels_[k];
    levels.present[k] = !largest.residual.empty();
    for (std::size_t i = 0; i < largest.residual.size(); ++i) {
      levels.absolute[k] = std::max(levels.absolute[k], largest.residual[i]);
      if (largest.residual[i] == 0.0) continue;
      // A residual that is a single vanishing term (z = 0) has no size to compare with but the tolerance.
      const double scale = std::max(largest.scale[i], trajectory_.atol);
      levels.relative[k] = std::max(levels.relative[k], largest.residual[i] / scale);
    }
  }
  if (formulated_.observation->conservative() && energy_started_ && !shown_.resets) {
    const double size = kinetic_most_ + potential_most_;
    trajectory_.energy = size > 0.0 ? energy_change_ / size : 0.0;
  }
}

}  // namespace daedalus::solve
