#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daedalus/base/error.hpp"
#include "daedalus/integrate/loop.hpp"

namespace daedalus::solve {

/// "done", "step-too-small", ...: the code of a failure in messages and JSON.
std::string name_of(integrate::Status status);

/// Largest residuals over a run by constraint level: position, velocity, acceleration; of a DAE the algebraic equations,
/// then their first derivatives, and so on. At least three, not all of which need be present.
struct LevelResiduals {
  std::vector<double> absolute = std::vector<double>(3, 0.0);
  std::vector<double> relative = std::vector<double>(3, 0.0);  ///< divided by the largest term of the residual
  std::vector<bool> present = std::vector<bool>(3, false);
  bool mechanical = true;  ///< the levels are position, velocity, acceleration

  std::size_t size() const { return present.size(); }
  bool has(std::size_t level) const { return level < size() && present[level]; }
  void make_room(std::size_t levels) {
    if (levels <= size()) return;
    absolute.resize(levels, 0.0);
    relative.resize(levels, 0.0);
    present.resize(levels, false);
  }
};

/// How well a run kept an invariant of its model.
struct InvariantResidual {
  std::string name;
  double absolute = 0.0;  ///< largest residual
  double relative = 0.0;  ///< the same divided by the largest term of all
};

/// A value of the start that the initializer changed.
struct Moved {
  std::string name;
  double by = 0.0;
};

struct EventRecord {
  std::string name;
  double t = 0.0;
};

/// What a run produced, whether it reached the end or not.
struct Trajectory {
  std::string model, formulation, method;
  std::string chosen;  ///< why these, where "auto" left a choice
  double t_start = 0.0, t_end = 0.0, rtol = 0.0, atol = 0.0;
  std::optional<double> step;
  std::vector<std::pair<std::string, std::string>> options;  ///< all options in force, as text

  integrate::Status status = integrate::Status::done;
  std::string message;
  Place culprit;  ///< of a run that failed: where what the message names stands in the author's text
  std::vector<std::string> notes;
  std::vector<Moved> moved;
  bool success() const { return status == integrate::Status::done || status == integrate::Status::stopped; }

  std::vector<std::string> columns;  ///< beside t
  std::vector<double> t;
  std::vector<double> values;  ///< row-major, one row per t
  std::size_t picture_count = 0;  ///< numbers per row in `pictures`
  std::vector<double> pictures;   ///< what [drawing] and [plots] show, row by row in the order of mechanics::Functions::pictures
  double value(std::size_t row, std::size_t column) const { return values[row * columns.size() + column]; }
  /// Position of a column. Throws Error("unknown-column") that names the nearest.
  std::size_t column(const std::string& name) const;
  /// Value of a column in the last row.
  double last(const std::string& name) const;

  std::vector<EventRecord> events;  ///< that happened, in order
  std::vector<integrate::SingularPosition> singular_positions;  ///< that were passed, in order
  std::vector<integrate::SingularPoint> singular_points;        ///< of a DAE; see integrate::LoopResult

  LevelResiduals constraints;
  std::optional<double> energy;  ///< largest relative change, where the model is conservative
  std::vector<InvariantResidual> invariants;  ///< of the model, in its order
  integrate::Stats stats;
  double seconds = 0.0, prepare_seconds = 0.0;
  double processor_seconds = 0.0;  ///< of the integration, as the thread used them: other work on the machine does not count
  std::vector<std::pair<std::string, double>> stages;  ///< seconds per stage of the pipeline
};

}  // namespace daedalus::solve
