#pragma once

#include <optional>

#include "daedalus/structure/sigma_method.hpp"

namespace daedalus::structure {

/// How often Pantelides' algorithm differentiates each equation, and the highest derivative of each unknown after that.
/// Equal to the canonical offsets of the Sigma-method, found in another way; quadratic in bad cases, where that is not.
/// Nothing for a structurally singular system, on which the algorithm would not end.
std::optional<Offsets> pantelides(const Signature& signature);

}  // namespace daedalus::structure
