#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace daedalus::expr {

/// Where squares may leave the range of numbers, both sides are first multiplied by a power of two.
inline constexpr double large_side = 0x1p500, small_side = 0x1p-500, shrinking = 0x1p-600, growing = 0x1p600;
/// Less the bits of a power of two, these are the bits of its inverse.
inline constexpr std::uint64_t bits_of_inverse = 0x7FE0000000000000ULL;

/// The length of (x, y), to 1.2 units in the last place, as machine code can do it in line: without a call, without a
/// branch.
inline double hypotenuse(double x, double y) {
  const double one = std::abs(x), other = std::abs(y), side = one > other ? one : other;
  double scale = side > large_side ? shrinking : 1.0;
  scale = side < small_side ? growing : scale;
  const double a = x * scale, b = y * scale;
  return std::sqrt(a * a + b * b) * std::bit_cast<double>(bits_of_inverse - std::bit_cast<std::uint64_t>(scale));
}

}  // namespace daedalus::expr
