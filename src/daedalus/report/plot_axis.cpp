#include "daedalus/report/plot_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace daedalus::report {

namespace {

const std::string minus = "\u2212";

/// A number with a true minus sign.
std::string decimal(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  return value < 0.0 && !zero ? minus + text : text;
}

/// 10 with its exponent.
Words decade(int k) { return {{"10"}, {k < 0 ? minus + std::to_string(-k) : std::to_string(k), true}}; }

}  // namespace

double Axis::place(double value) const {
  if (logarithmic) return (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
  return (value - low) / (high - low);
}

std::pair<double, double> widened(double low, double high, double part) {
  const double size = std::max(std::abs(low), std::abs(high));
  // Round-off around a constant is no motion to show.
  if (!(high - low > 1e-12 * size)) {
    const double half = size > 0.0 ? 0.1 * size : 1.0;
    const double middle = low + (high - low) / 2;
    return {middle - half, middle + half};
  }
  return {low - part * (high - low), high + part * (high - low)};
}

Axis linear_axis(double low, double high, int wanted) {
  Axis axis{low, high, false, {}, 0};
  const auto ticks_of = [&](double step) {
    return std::floor(high / step + 1e-9) - std::ceil(low / step - 1e-9) + 1.0;
  };
  const double rough = (high - low) / std::max(1, wanted);
  const double decade = std::pow(10.0, std::floor(std::log10(rough)));
  // The smallest step that is not below the rough one, unless that leaves fewer than three ticks.
  double step = 10.0 * decade;
  for (const double factor : {5.0, 2.0, 1.0, 0.5})
    if (factor * decade >= rough * (1.0 - 1e-9) || ticks_of(step) < 3.0) step = factor * decade;
  const double size = std::max(std::abs(low), std::abs(high));
  const int magnitude = static_cast<int>(std::floor(std::log10(size)));
  if (magnitude >= 5 || magnitude < -2) axis.exponent = 3 * static_cast<int>(std::floor(magnitude / 3.0));
  const double unit = std::pow(10.0, axis.exponent);
  const int decimals = std::clamp(-static_cast<int>(std::floor(std::log10(step / unit) + 1e-9)), 0, 12);
  const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
  for (double k = first; k <= last && axis.ticks.size() < 50; k += 1.0)
    axis.ticks.push_back({k * step, {{decimal(k * step / unit, decimals)}}});
  return axis;
}

Axis narrow_logarithmic_axis(double low, double high, int wanted) {
  Axis axis{low, high, true, {}, 0};
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9)),
            last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  const bool few = last - first < 1;
  int step = 1;
  while ((last - first) / step + 1 > std::max(2, wanted)) ++step;
  for (int k = first - 1; k <= last; ++k)
    for (int digit = 1; digit < 10; ++digit) {
      const double value = digit * std::pow(10.0, k);
      if (value < low * (1.0 - 1e-9) || value > high * (1.0 + 1e-9)) continue;
      Words words;
      if (digit == 1 && (last - k) % step == 0) words = decade(k);
      if (few && (digit == 2 || digit == 5)) {
        words = decade(k);
        words.front().text = fmt::format("{}\u00B710", digit);
      }
      // Over many decades ticks between them would only be a comb.
      if (digit == 1 || (step == 1 && last - first <= 4)) axis.ticks.push_back({value, words});
    }
  return axis;
}

Axis logarithmic_axis(double low, double high, int wanted) {
  int first = static_cast<int>(std::floor(std::log10(low) + 1e-9)),
      last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  if (last - first < 2) {
    if (last - first < 1) ++last;
    --first;
  }
  Axis axis{std::pow(10.0, first), std::pow(10.0, last), true, {}, 0};
  int step = 1;
  while ((last - first) / step + 1 > std::max(2, wanted)) ++step;
  for (int k = first; k <= last; ++k) {
    Words words;
    if ((last - k) % step == 0) words = decade(k);
    axis.ticks.push_back({std::pow(10.0, k), words});
  }
  return axis;
}

}  // namespace daedalus::report
