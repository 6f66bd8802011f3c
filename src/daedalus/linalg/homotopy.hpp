#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/linalg/gauss_newton.hpp"

namespace daedalus::linalg {

struct HomotopyOptions {
  std::size_t most_steps = 400;
};

struct HomotopyResult {
  bool reached = false;   ///< s = 1
  std::vector<double> x;  ///< where the path ended; at s = 1 near a solution, which Gauss-Newton then finds
  double s = 0.0;
  std::size_t steps = 0;
  bool turned = false;  ///< the path went back in s for a while
};

/// Follows the path c(x) = (1 - s) c(x0) from x0 at s = 0 towards s = 1, through turning points too. Fixed entries stay;
/// the others are measured by their positive `sizes`. The path never leaves the domain of c.
HomotopyResult follow_homotopy(const LeastChangeProblem& problem, const double* x0, const std::vector<double>& sizes,
                               const HomotopyOptions& options = {});

}  // namespace daedalus::linalg
