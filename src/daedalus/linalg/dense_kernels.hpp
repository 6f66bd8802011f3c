#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "daedalus/base/finite.hpp"

// Loops shared by the sources of this room; not part of its interface.
namespace daedalus::linalg {

/// Returns x^T y. Four partial sums let the compiler use vector instructions without changing the order per build.
inline double dot(const double* x, const double* y, std::size_t length) {
  double sum = 0.0;
  std::size_t i = 0;
  if (length >= 8) {
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    for (; i + 4 <= length; i += 4) {
      s0 += x[i] * y[i];
      s1 += x[i + 1] * y[i + 1];
      s2 += x[i + 2] * y[i + 2];
      s3 += x[i + 3] * y[i + 3];
    }
    sum = (s0 + s2) + (s1 + s3);
  }
  for (; i < length; ++i) sum += x[i] * y[i];
  return sum;
}

/// y += alpha x
inline void add_multiple(double alpha, const double* __restrict x, double* __restrict y, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) y[i] += alpha * x[i];
}

inline bool same_bits(const double* x, const double* y, std::size_t length) {
  if (length > 16) return std::memcmp(x, y, length * sizeof(double)) == 0;
  for (std::size_t i = 0; i < length; ++i) {
    if (std::bit_cast<std::uint64_t>(x[i]) != std::bit_cast<std::uint64_t>(y[i])) return false;
  }
  return true;
}

/// The power of two at or below a positive normal number: scaling by it rounds nothing.
inline double power_of_two_below(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7FF0000000000000ULL);
}

}  // namespace daedalus::linalg
