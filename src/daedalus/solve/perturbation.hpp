#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daedalus/solve/pipeline.hpp"

namespace daedalus::solve {

using StartValues = std::vector<std::pair<std::string, double>>;

/// A start off the constraints: every constraint is violated by `position` times its largest term, and its derivative by
/// `rate` times the same per unit of time; what the normal form calls eta, the rest of the state, is that of the consistent
/// start. Constraints on velocities and all derivatives of those of a DAE count as rates. None where no such state is found.
std::optional<StartValues> perturbed_start(const Prepared& prepared, double t, double position, double rate);

/// One run from such a start.
struct PerturbedRun {
  std::size_t formulation = 0;
  double position = 0.0, rate = 0.0;
  enum class Outcome {
    returned,     ///< the violation fell below a thousandth of its start and stayed there
    remained,     ///< it did not until the end
    stopped,      ///< the run did not reach the end
    no_start,     ///< there is no such start
  } outcome = Outcome::no_start;
  double time = 0.0;  ///< of return, or at which the run stopped
  std::string message;
};

struct PerturbationPlan {
  std::function<model::Model(const StartValues& start)> model;
  std::vector<std::string> formulations;
  double size = 0.1;        ///< largest violation, relative to the largest term
  std::size_t points = 7;   ///< from -size to size, in both directions
  RunOptions run;
  std::function<bool()> interrupt;
  std::function<void(std::size_t done, std::size_t planned)> progress;
};

/// How each formulation returns from violations of all sizes: a map over those of positions and rates.
struct PerturbationMap {
  std::string model;
  double t_end = 0.0;
  std::vector<std::string> formulations;
  std::vector<double> sizes;       ///< of positions and of rates
  std::vector<PerturbedRun> runs;  ///< by formulation, rate, position
  bool interrupted = false;

  std::size_t count(std::size_t formulation, PerturbedRun::Outcome outcome) const;
  /// Median of the times of return; none where nothing returned.
  std::optional<double> median_time(std::size_t formulation) const;
};
PerturbationMap perturbation_map(const PerturbationPlan& plan);

}  // namespace daedalus::solve
