#include "daedalus/report/plot_reduce.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace daedalus::report {

namespace {

/// The distance of two times on the scale of the axis; 0 where one of them has no place there.
double distance(double from, double to, TimeScale scale) {
  if (scale == TimeScale::linear) return std::abs(to - from);
  return from > 0.0 && to > 0.0 ? std::abs(std::log(to / from)) : 0.0;
}

/// The part `s` of the way between two times, as a part of the time itself.
double part_of_time(double from, double to, double s, TimeScale scale) {
  if (scale == TimeScale::linear || !(from > 0.0 && to > from)) return s;
  return std::expm1(s * std::log(to / from)) / (to / from - 1.0);
}

/// Number of parts of each interval; 1 where rows are dense already.
std::vector<std::size_t> divisions(const std::vector<double>& t, std::size_t parts, TimeScale scale) {
  std::vector<std::size_t> counts;
  if (t.size() < 2) return counts;
  double whole = 0.0;
  for (std::size_t i = 0; i + 1 < t.size(); ++i) whole += distance(t[i], t[i + 1], scale);
  const double longest = whole / static_cast<double>(parts);
  for (std::size_t i = 0; i + 1 < t.size(); ++i) {
    const double length = distance(t[i], t[i + 1], scale);
    counts.push_back(
        longest > 0.0 ? std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(length / longest - 1e-9))) : 1);
  }
  return counts;
}

/// The derivative at t[i] of the parabola through three points, or of the line where one of them lies across a jump.
double slope_at(const std::vector<double>& t, const std::vector<double>& y, std::size_t i) {
  const bool left = i > 0 && t[i] != t[i - 1], right = i + 1 < t.size() && t[i + 1] != t[i];
  const auto secant = [&](std::size_t k) { return (y[k + 1] - y[k]) / (t[k + 1] - t[k]); };
  if (left && right) {
    const double before = t[i] - t[i - 1], after = t[i + 1] - t[i];
    return (secant(i - 1) * after + secant(i) * before) / (before + after);
  }
  if (right) {
    const bool more = i + 2 < t.size() && t[i + 2] != t[i + 1];
    return more ? 2.0 * secant(i) - slope_at(t, y, i + 1) : secant(i);
  }
  if (left) {
    const bool more = i > 1 && t[i - 1] != t[i - 2];
    return more ? 2.0 * secant(i - 1) - slope_at(t, y, i - 1) : secant(i - 1);
  }
  return 0.0;
}

std::vector<Spot> thin_once(const std::vector<Spot>& line, double distance) {
  // Seen from the last kept point, the directions that pass all later points within `distance` form a wedge; a point
  // outside it, or a turn back, makes the point before it a corner.
  std::vector<Spot> kept{line.front()};
  double low = 0.0, high = 0.0, far = 0.0;
  bool open = false;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const auto direction = [&](const Spot& s) { return std::atan2(s.y - kept.back().y, s.x - kept.back().x); };
    double reach = std::hypot(line[i].x - kept.back().x, line[i].y - kept.back().y);
    if (open) {
      const double middle = (low + high) / 2;
      const double turn = std::remainder(direction(line[i]) - middle, 2 * std::numbers::pi);
      if (reach < far - distance || std::abs(turn) > (high - low) / 2) {
        kept.push_back(line[i - 1]);
        open = false;
        far = 0.0;
        reach = std::hypot(line[i].x - kept.back().x, line[i].y - kept.back().y);
      }
    }
    if (reach <= distance) continue;
    const double half = std::asin(distance / reach);
    const double at = direction(line[i]);
    if (!open) {
      low = at - half;
      high = at + half;
      open = true;
    } else {
      const double shifted = low + (high - low) / 2 + std::remainder(at - (low + high) / 2, 2 * std::numbers::pi);
      low = std::max(low, shifted - half);
      high = std::min(high, shifted + half);
    }
    far = std::max(far, reach);
  }
  kept.push_back(line.back());
  return kept;
}

}  // namespace

std::vector<Spot> thin_by_columns(const std::vector<Spot>& line, double width) {
  if (line.size() < 3) return line;
  std::vector<Spot> thin{line.front()};
  for (std::size_t begin = 0; begin < line.size();) {
    const double column = std::floor(line[begin].x / width);
    std::size_t end = begin, lowest = begin, highest = begin;
    for (; end < line.size() && std::floor(line[end].x / width) == column; ++end) {
      if (line[end].y < line[lowest].y) lowest = end;
      if (line[end].y > line[highest].y) highest = end;
    }
    if (begin > 0 || lowest > 0) {
      const std::size_t first = std::min(lowest, highest), second = std::max(lowest, highest);
      if (first > 0) thin.push_back(line[first]);
      if (second != first) thin.push_back(line[second]);
    } else if (highest > 0) {
      thin.push_back(line[highest]);
    }
    begin = end;
  }
  const Spot& last = line.back();
  if (thin.back().x != last.x || thin.back().y != last.y) thin.push_back(last);
  return thin;
}

std::vector<Spot> thin_to_upper(const std::vector<Spot>& line, double width) {
  std::vector<Spot> thin;
  for (const Spot& spot : line) {
    if (thin.empty() || std::floor(thin.back().x / width) != std::floor(spot.x / width))
      thin.push_back(spot);
    else if (spot.y < thin.back().y)
      thin.back() = spot;
  }
  return thin;
}

std::vector<Spot> thin_by_distance(const std::vector<Spot>& line, double distance, std::size_t most) {
  if (line.size() < 3) return line;
  std::vector<Spot> thin = thin_once(line, distance);
  for (int doubling = 0; thin.size() > most && doubling < 12; ++doubling) thin = thin_once(line, distance *= 2);
  return thin;
}

std::vector<double> refined_times(const std::vector<double>& t, std::size_t parts, TimeScale scale) {
  std::vector<double> times;
  const std::vector<std::size_t> counts = divisions(t, parts, scale);
  for (std::size_t i = 0; i + 1 < t.size(); ++i)
    for (std::size_t k = 0; k < counts[i]; ++k)
      times.push_back(t[i] + (t[i + 1] - t[i]) * part_of_time(t[i], t[i + 1], static_cast<double>(k) / static_cast<double>(counts[i]), scale));
  if (!t.empty()) times.push_back(t.back());
  return times;
}

std::vector<double> refined_values(const std::vector<double>& t, const std::vector<double>& y,
                                   const std::vector<double>& slopes, std::size_t parts, TimeScale scale) {
  std::vector<double> values;
  const std::vector<std::size_t> counts = divisions(t, parts, scale);
  for (std::size_t i = 0; i + 1 < t.size(); ++i) {
    values.push_back(y[i]);
    if (counts[i] == 1) continue;
    const double h = t[i + 1] - t[i];
    const double left = slopes.empty() ? slope_at(t, y, i) : slopes[i];
    const double right = slopes.empty() ? slope_at(t, y, i + 1) : slopes[i + 1];
    for (std::size_t k = 1; k < counts[i]; ++k) {
      const double s = part_of_time(t[i], t[i + 1], static_cast<double>(k) / static_cast<double>(counts[i]), scale), r = 1.0 - s;
      values.push_back(r * r * (1.0 + 2.0 * s) * y[i] + s * s * (1.0 + 2.0 * r) * y[i + 1] +
                       s * r * h * (r * left - s * right));
    }
  }
  if (!t.empty()) values.push_back(y.back());
  return values;
}

}  // namespace daedalus::report
