#pragma once

#include <vector>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/solve/run_options.hpp"
#include "daedalus/solve/trajectory.hpp"

namespace daedalus::solve {

/// What rows show beside the unknowns.
struct Shown {
  std::vector<std::string> outputs;
  std::vector<std::string> discrete;
  const double* discrete_values = nullptr;  ///< as they are at every moment
  bool resets = false;                      ///< events change the motion, and with it the energy
};

/// Turns states into rows of a trajectory and watches constraints and energy on the way.
class Recorder {
 public:
  Recorder(formulate::Formulated& formulated, Shown shown, Trajectory& trajectory, const RunOptions& options);

  /// Takes notice of a state: residuals of every level, energy. False where the state has no finite details.
  bool watch(double t, const double* x) { return look(t, x, Depth::residuals); }
  /// The next state is looked at afresh, even if it is the last one: the frozen values may have changed.
  void forget() { watched_ = false; }
  /// Watches, then appends a row.
  bool row(double t, const double* x);
  /// How the evaluation of the latest state went.
  integrate::Evaluation outcome() const { return outcome_; }
  /// Writes the summary of everything watched into the trajectory.
  void finish();

 private:
  enum class Depth { residuals, all };
  bool look(double t, const double* x, Depth depth);

  struct Largest {
    std::vector<double> residual, scale;
  };

  formulate::Formulated& formulated_;
  Shown shown_;
  Trajectory& trajectory_;
  const RunOptions& options_;
  std::vector<Largest> levels_;
  std::vector<double> largest_now_;  ///< of each level, at this state
  std::size_t output_count_;
  std::vector<double> invariant_scale_, row_;
  std::vector<bool> output_failed_;
  double t_watched_ = 0.0;
  std::vector<double> x_watched_;
  bool watched_ = false, good_ = true;
  integrate::Evaluation outcome_ = integrate::Evaluation::ok;
  Depth watched_depth_ = Depth::residuals;
  formulate::Observation::Energy energy_now_;
  bool energy_started_ = false;
  double energy_start_ = 0.0, potential_start_ = 0.0, energy_change_ = 0.0, kinetic_most_ = 0.0, potential_most_ = 0.0;
};

}  // namespace daedalus::solve
