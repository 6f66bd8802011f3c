#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::structure {

/// The easy test of 003: a DAE F(t, x, x', z) = 0 can be solved for x' and z near a point where [dF/dx', dF/dz] is
/// regular. Index 0 or 1 then needs no differentiation to be seen.
struct EasyTest {
  std::size_t rank = 0, size = 0;
  double kept = 1.0, dropped = 0.0;         ///< what the rank rests on (see linalg::RankDecision)
  std::vector<std::size_t> dependent_rows;  ///< of F: they follow from the others, or contain neither x' nor z
  bool easy() const { return rank == size; }
};

/// Tries a point; `frozen` are held values and modes (see compile/switches.hpp).
EasyTest easy_test(const DaeFunctions& functions, double t, const std::vector<double>& y, const std::vector<double>& dy,
                   const double* frozen = nullptr);

}  // namespace daedalus::structure
