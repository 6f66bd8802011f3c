#pragma once

#include <vector>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/solve/run_options.hpp"
#include "daedalus/solve/trajectory.hpp"

namespace daedalus::solve {

/// Turns states into rows of a trajectory and watches constraints and energy on the way.
class Recorder {
 public:
  Recorder(formulate::Formulated& formulated, Trajectory& trajectory, const RunOptions& options);

  /// Takes notice of a state: residuals of every level, energy. False where the state has no finite details.
  bool watch(double t, const double* x);
  /// Watches, then appends a row.
  bool row(double t, const double* x);
  /// Writes the summary of everything watched into the trajectory.
  void finish();

 private:
  struct Largest {
    std::vector<double> residual, scale;
    void resize(std::size_t size) {
      residual.assign(size, 0.0);
      scale.assign(size, 0.0);
    }
  };
  void note(Largest& largest, const std::vector<double>& residual, const std::vector<double>& scale);

  formulate::Formulated& formulated_;
  Trajectory& trajectory_;
  const RunOptions& options_;
  Largest position_, velocity_, acceleration_;
  std::vector<double> position_residual_, velocity_residual_, position_scale_, velocity_scale_, outputs_;
  std::vector<double> row_;
  std::vector<bool> output_failed_;
  double t_watched_ = 0.0;
  std::vector<double> x_watched_;
  bool watched_ = false, good_ = true;
  mechanics::Evaluator::Energy energy_now_;
  bool energy_started_ = false;
  double energy_start_ = 0.0, potential_start_ = 0.0, energy_change_ = 0.0, kinetic_most_ = 0.0, potential_most_ = 0.0;
};

}  // namespace daedalus::solve
