#pragma once

#include <vector>

namespace daedalus::linalg {

/// The rows of a square pattern in compressed columns, with those of a largest transversal in front of their columns; as given
/// where the pattern is small.
std::vector<int> transversal_first(const std::vector<int>& column_start, const std::vector<int>& row);

}  // namespace daedalus::linalg
