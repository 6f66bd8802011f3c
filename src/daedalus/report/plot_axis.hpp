#pragma once

#include <vector>

#include "daedalus/report/plot_picture.hpp"

namespace daedalus::report {

struct Tick {
  double value;
  Words words;  ///< empty for a small tick between decades
};

/// A range with its ticks, mapped to points of the picture by `place`.
struct Axis {
  double low = 0.0, high = 1.0;
  bool logarithmic = false;
  std::vector<Tick> ticks;
  int exponent = 0;  ///< the tick texts are in units of 10^exponent

  /// 0 at the low end, 1 at the high end.
  double place(double value) const;
};

/// An axis over [low, high] with about `wanted` ticks at 1, 2 or 5 times a power of ten. The ends stay where they are.
Axis linear_axis(double low, double high, int wanted);

/// An axis over whole decades around [low, high], both positive, with at most `wanted` texts.
Axis logarithmic_axis(double low, double high, int wanted);

/// An axis over [low, high], both positive and a little apart, with small ticks between decades; where less than two
/// decades lie inside, 2 and 5 times a decade have texts too. The ends stay where they are.
Axis narrow_logarithmic_axis(double low, double high, int wanted);

/// The range widened by a part of its length on either side; a range without length becomes one around its value.
std::pair<double, double> widened(double low, double high, double part);

}  // namespace daedalus::report
