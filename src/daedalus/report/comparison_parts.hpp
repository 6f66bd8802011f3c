#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/solve/comparison.hpp"

namespace daedalus::report {

// What text, CSV, LaTeX and page of a comparison share.

/// A column of numbers of the table.
struct RunColumn {
  enum class Kind { error, drift, invariant, count, seconds } kind = Kind::count;
  std::string name;        ///< "position", "energy", "steps"
  std::string short_name;  ///< where there is little room
  std::function<std::optional<double>(const solve::ComparedRun&)> value;
  /// A smaller value cannot be told from 0: the agreement of the reference.
  std::function<std::optional<double>(const solve::ComparedRun&)> least = {};

  /// "error" or "drift" over columns of these kinds.
  std::string group() const { return kind == Kind::error ? "error" : kind == Kind::drift ? "drift" : ""; }
  bool below_least(const solve::ComparedRun& run) const;
};
/// Errors by quantity, drift by level relative to the largest term, invariants, counts, seconds of processor time. Of
/// the accelerations, which most formulations keep by solving for them, the drift is shown only where some does not.
std::vector<RunColumn> columns_of(const solve::Comparison& comparison);

/// The levels of constraints that any run has.
std::vector<std::size_t> levels_of(const solve::Comparison& comparison);
/// As the tables name them: "position", "velocity", "acceleration"; "algebraic" of a DAE.
std::string level_name(const solve::Comparison& comparison, std::size_t level);
/// "energy" where any run has one, and the invariants of the models.
std::vector<std::string> invariants_of(const solve::Comparison& comparison);
/// How far a run changed an invariant, relative to its size; absent where it has none of that name.
std::optional<double> change_of(const solve::ComparedRun& run, const std::string& invariant);

/// What has a colour of its own in diagrams: "projection", with several models "pendulum: projection". By appearance.
std::vector<std::string> series_of(const solve::Comparison& comparison);
std::string series_of(const solve::Comparison& comparison, const solve::ComparedRun& run);
/// Marks of diagrams have this many shapes; with eight colours that is no common divisor.
inline constexpr std::size_t mark_shapes = 5;
/// "error of positions and velocities": what diagrams show.
std::string error_title(const solve::Comparison& comparison);

/// "projection + dop853".
std::string name_of(const solve::ComparedRun& run);
/// A tolerance as people write it: "1e-6", "2.5e-4".
std::string tolerance_text(double value);
/// "rtol 1e-6" or "step 0.01".
std::string control_of(const solve::ComparedRun& run);
/// The first line of a message, cut where it is long.
std::string short_message(const std::string& message, std::size_t most);

/// "agree to 1e-13 in positions, 2e-12 in velocities", or nothing.
std::string agreement_text(const solve::ErrorBy& agreement);

}  // namespace daedalus::report
