#pragma once

#include <vector>

#include "daedalus/mechanics/functions.hpp"

namespace daedalus::formulate {

/// In which coordinates are compared when some of them are chosen: the diagonal of M + G^T S G. Masses alone may vanish,
/// as they do along a unit quaternion, where constraints hold a coordinate; S gives every constraint, of these rows, the
/// mass of what it binds.
void coordinate_metric(const mechanics::Functions& functions, const std::vector<std::size_t>& rows, const double* M,
                       const double* G, std::vector<double>& W);

}  // namespace daedalus::formulate
