#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daedalus/integrate/system.hpp"

namespace daedalus::formulate {

/// What can be seen of a state: the way back from the numbers of an integrator to what the author of the model asked for.
/// Owns its workspace, apart from that of the system, and allocates nothing after construction.
class Observation {
 public:
  virtual ~Observation() = default;

  /// Evaluates everything at a state of the system; what the other functions say is about this point.
  virtual integrate::Evaluation at(double t, const double* state) = 0;
  /// Evaluates only what levels() and energy() say, where that is less work.
  virtual integrate::Evaluation residuals_at(double t, const double* state) { return at(t, state); }
  virtual std::string explain() const = 0;

  /// Names of variables, derivatives, auxiliary unknowns and multipliers.
  const std::vector<std::string>& columns() const { return columns_; }
  /// Writes their values.
  virtual void values(double* row) const = 0;
  /// Writes the [outputs] of the model.
  virtual void outputs(double* row) = 0;
  /// Writes the coordinates of [drawing.points] in order, then x and y of [plots].
  virtual void pictures(double* row) = 0;
  std::size_t picture_count() const { return picture_count_; }

  /// Equations that hold at every moment, on one level: how often the author's own were differentiated.
  struct Level {
    std::vector<std::string> columns;  ///< under which their residuals are written
    std::vector<double> residual, scale;  ///< at this point; the scale is the largest term
    /// Whether rows show it. Otherwise it says how well a linear system was solved, and is watched.
    bool written = true;
  };
  /// Levels are known even where at() fails, as far as they can be evaluated.
  const std::vector<Level>& levels() const { return levels_; }
  /// The [invariants] of the model, in their order.
  const Level& invariants() const { return invariants_; }

  struct Energy {
    double kinetic = 0.0, potential = 0.0;
  };
  /// Absent where the model has no energy.
  virtual std::optional<Energy> energy() { return std::nullopt; }
  bool has_energy() const { return has_energy_; }
  bool conservative() const { return conservative_; }

 protected:
  std::vector<std::string> columns_;
  std::vector<Level> levels_;
  Level invariants_;
  std::size_t picture_count_ = 0;
  bool has_energy_ = false, conservative_ = false;
};

}  // namespace daedalus::formulate
