#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daedalus/model/model.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::solve {

/// Values of a run at one moment, by the names of its columns.
struct Moment {
  double t = 0.0;
  std::span<const std::string> columns;
  std::span<const double> values;
  std::string source;  ///< the file they come from, for messages
  std::string model;   ///< of which they are, where known
};

/// The model with the values of a moment as its start. Fixed values and [initial] equations belong to the start of the
/// whole motion and are dropped. Throws Error("restart-column") that names all columns that are missing,
/// Error("restart-other-model") and Error("restart-not-finite").
model::Model continued(model::Model model, const Moment& moment);

/// A step that a run was about to take.
struct NextStep {
  double size = 0.0;
  bool was_refused = false;  ///< a longer one was refused before
};

/// Finds the step with which the earlier run would have gone on after the last of some moments that follow one another,
/// by repeating the steps between them. With it the continued run takes the same steps as one that was never
/// interrupted. Nothing where the moments are not steps of such a run: output times, another method, other tolerances.
std::optional<NextStep> next_step(const Prepared& prepared, const RunOptions& options,
                                  const std::vector<Moment>& moments);

}  // namespace daedalus::solve
