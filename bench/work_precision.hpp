#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace daedalus::bench {

/// One measured run, or the median of several: digits of its result and the seconds it took.
struct WorkPoint {
  double digits = 0.0, seconds = 0.0;
  bool good = false;
};

/// The least time at which some runs, ordered by tolerance, reach these digits: of a run that has as many, or between two
/// of them on the line log(time) over digits. None where they never do.
template <class Points>
std::optional<double> time_at(const Points& points, double digits) {
  std::optional<double> least;
  const auto offer = [&](double seconds) { least = std::min(least.value_or(seconds), seconds); };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].good) continue;
    if (points[i].digits >= digits) offer(points[i].seconds);
    if (i == 0 || !points[i - 1].good) continue;
    const WorkPoint &low = points[i - 1], &high = points[i];
    if (low.digits >= digits || high.digits < digits) continue;
    const double share = (digits - low.digits) / (high.digits - low.digits);
    offer(std::exp(std::log(low.seconds) + share * (std::log(high.seconds) - std::log(low.seconds))));
  }
  return least;
}

}  // namespace daedalus::bench
