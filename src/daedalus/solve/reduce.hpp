#pragma once

#include <memory>
#include <optional>

#include "daedalus/solve/start.hpp"
#include "daedalus/structure/array_form.hpp"
#include "daedalus/structure/conversion.hpp"

namespace daedalus::solve {

/// The equations of a DAE with everything differentiated that must be.
struct Reduction {
  std::shared_ptr<const structure::DaeFunctions> functions;
  std::shared_ptr<const structure::Converted> converted = nullptr;  ///< null where the structure was good as it was
  bool stuck = false;  ///< the index is above 1, and the structure cannot be repaired
  std::optional<Start> start = {};  ///< consistent, from the values and at the time that the model gives
};

/// Differentiates the equations of a DAE as its structure asks for, after repairing the structure where it deceives. Empty
/// where the index is 1 at most, so that nothing need be differentiated, and where it is stuck. Throws
/// Error("table-not-smooth") where derivatives of a table are needed that it does not have.
Reduction reduced(const std::shared_ptr<const structure::DaeFunctions>& as_written);

/// More differentiations than any index that people meet; expressions would grow without sense.
inline constexpr int most_differentiations = 16;

/// How often some equation must be differentiated by its structure; 0 where the structure is singular.
int differentiations(const structure::DaeFunctions& as_written);

/// The derivative arrays of equations with more unknowns are too large for dense factorizations.
inline constexpr std::size_t most_array_unknowns = 150;

/// Whether the equations as written need derivatives of themselves, at a start of theirs.
bool index_above_one(const std::shared_ptr<const structure::DaeFunctions>& as_written);

/// Why a model cannot be run by its derivative array, "it has events"; empty where it can.
std::string array_obstacle(const structure::DaeFunctions& as_written);

/// The derivative array of a DAE of an index above 1 that reduced() cannot help, at the given start. The index may be undecided,
/// or none.
structure::ArrayForm array_at_start(const std::shared_ptr<const structure::DaeFunctions>& as_written);

/// The same, null where there is an obstacle or the index is not found.
std::shared_ptr<const structure::ArrayForm> array_form(const std::shared_ptr<const structure::DaeFunctions>& as_written);

/// The start of a DAE by its derivative array: the least change of the given values, in units of their nominal ones, that
/// satisfies all that the array says about them. Fixed values stay.
Start consistent_start(const structure::DaeFunctions& as_written, const structure::ArrayForm& form, double t, Initialize mode);

}  // namespace daedalus::solve
