#pragma once

#include <limits>
#include <vector>

#include "daedalus/compile/switches.hpp"
#include "unit/expr/random_tree.hpp"

namespace daedalus::compile {

/// Numbers at which operations behave in their own ways.
inline const std::vector<double>& awkward_numbers() {
  constexpr double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  static const std::vector<double> numbers{0.0,  -0.0, 1.0,    -1.0,   2.0,     0.5,     infinite, -infinite, nan,
                                           1e-310, 1e300, -1e300, 1e-300, 1e16, 0x1p-60, 1e5,      3.0,       -64.0};
  return numbers;
}

inline double any_value(expr::random_tree::Random& random) {
  const std::vector<double>& numbers = awkward_numbers();
  return expr::random_tree::below(random, 4) == 0 ? numbers[expr::random_tree::below(random, numbers.size())]
                                                  : expr::random_tree::random_value(random);
}

/// Every switch decided this way or that, or not at all.
inline std::vector<double> random_modes(const Switches& switches, expr::random_tree::Random& random) {
  std::vector<double> modes = switches.free_modes(std::vector<double>(switches.held_count(), 0.7));
  for (std::size_t i = 0; i < switches.size(); ++i) {
    constexpr double choices[] = {-1.0, 0.0, 1.0, 2.0, std::numeric_limits<double>::quiet_NaN()};
    modes[switches.place(i)] = choices[expr::random_tree::below(random, 5)];
  }
  return modes;
}

}  // namespace daedalus::compile
