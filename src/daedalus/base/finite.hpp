#pragma once

#include <cstddef>
#include <vector>

namespace daedalus {

/// True where no value is NaN or infinite: either makes 0 * value NaN.
inline bool all_finite(const double* values, std::size_t count) {
  double even = 0.0, odd = 0.0;
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2) {
    even += 0.0 * values[i];
    odd += 0.0 * values[i + 1];
  }
  if (i < count) even += 0.0 * values[i];
  return even + odd == 0.0;
}

inline bool all_finite(const std::vector<double>& values) { return all_finite(values.data(), values.size()); }

}  // namespace daedalus
