#pragma once

#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {

/// How xi steps: with the gain at the old xi, (45), or at the new one, (52).
enum class XiStep { explicit_step, implicit_step };

/// Completes the entry of one of the two discretizations of Di Franco, Scarciotti, Astolfi.
IntegratorEntry lyapunov_scheme(IntegratorEntry entry, XiStep step);

}  // namespace daedalus::integrate
