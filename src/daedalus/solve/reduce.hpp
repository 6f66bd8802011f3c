#pragma once

#include <memory>

#include "daedalus/solve/start.hpp"
#include "daedalus/structure/array_form.hpp"
#include "daedalus/structure/conversion.hpp"

namespace daedalus::solve {

/// The equations of a DAE with everything differentiated that must be.
struct Reduction {
  std::shared_ptr<const structure::DaeFunctions> functions;
  std::shared_ptr<const structure::Converted> converted;  ///< null where the structure was good as it was
};

/// Differentiates the equations of a DAE as its structure asks for, after repairing the structure where it deceives. Empty
/// where the index is 1 at most, so that nothing need be differentiated, and where the structure cannot be repaired. Throws
/// Error("table-not-smooth") where derivatives of a table are needed that it does not have.
Reduction reduced(const std::shared_ptr<const structure::DaeFunctions>& as_written);

/// The derivative array of a DAE of an index above 1 that reduced() cannot help, with its index; null where the index is 1 at
/// most, where it is not found, and for models with events, conditions, [initial] or
/// [invariants], or too large for dense factorizations.
std::shared_ptr<const structure::ArrayForm> array_form(const std::shared_ptr<const structure::DaeFunctions>& as_written);

/// The start of a DAE by its derivative array: the least change of the given values, in units of their nominal ones, that
/// satisfies all that the array says about them. Fixed values stay.
Start consistent_start(const structure::DaeFunctions& as_written, const structure::ArrayForm& form, double t, Initialize mode);

}  // namespace daedalus::solve
