#pragma once

#include <cstddef>
#include <optional>

#include "daedalus/integrate/stepper.hpp"

namespace daedalus::integrate {

/// How many times the tolerance a projection may move the end of a step. On the regular motion of all models, at tolerances from
/// 1e-3 to 1e-10, it is below 4.
inline constexpr double farthest_projection = 20.0;

/// Whether no component was moved by as much as a projection may move it; then all of them are finite. Quick.
bool moved_little(const double* to, const double* from, const Tolerance& tolerance, std::size_t n);

/// From a point on the constraints a step leaves them by no more than its own error. A projection that moves the state further
/// has found another branch, or a direction in which the constraints are nearly dependent. The component that it moved farthest
/// where it moved the state, all in all, too far.
std::optional<std::size_t> moved_too_far(const double* to, const double* from, const Tolerance& tolerance, std::size_t n);

}  // namespace daedalus::integrate
