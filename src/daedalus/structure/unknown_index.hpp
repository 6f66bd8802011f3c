#pragma once

#include <vector>

#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::structure {

/// How a DAE F(t, y, y') = 0 of any index asks to be treated by implicit methods, unknown by unknown.
struct UnknownIndices {
  int system_index = 1;    ///< the largest
  std::vector<int> index;  ///< of every unknown: see integrate::ImplicitSystem
  /// Row i of F_y + F_y'/h times h^row_power[i], column j divided by h^column_power[j], tends to the system Jacobian.
  std::vector<int> row_power, column_power;
};

/// Derives them from the offsets of the first-order form. Needs equations of which a structural analysis is valid.
UnknownIndices unknown_indices(const DaeFunctions& written);

}  // namespace daedalus::structure
