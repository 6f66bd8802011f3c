#pragma once

#include <vector>

#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::linalg {

/// Divides columns and rows of a matrix by their largest entries, so that the units of equations and unknowns do not
/// decide its rank. What is zero stays zero. Returns the factors of the rows.
std::vector<double> equilibrate(const Sparsity& pattern, std::vector<double>& values);

}  // namespace daedalus::linalg
