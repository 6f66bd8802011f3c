#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/base/few.hpp"
#include "daedalus/base/fours.hpp"

namespace daedalus {

/// Either NaN or infinity makes 0 * value NaN.
struct ZeroTimes {
  [[gnu::always_inline]] static inline void run(const double* values, std::size_t count, double& sum) {
    Four zeros = {}, more = {};
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
      zeros += 0.0 * *four(values + i);
      more += 0.0 * *four(values + i + 4);
    }
    if (i + 4 <= count) {
      zeros += 0.0 * *four(values + i);
      i += 4;
    }
    zeros += more;
    sum = sum_of(zeros);
    for (; i < count; ++i) sum += 0.0 * values[i];
  }
};

/// True where no value is NaN or infinite.
inline bool all_finite(const double* values, std::size_t count) {
  double sum = 0.0;
  if (count <= few) {
    for (std::size_t i = 0; i < count; ++i) {
      sum += 0.0 * values[i];
      apart();
    }
  } else {
    in_fours<ZeroTimes>(values, count, sum);
  }
  return sum == 0.0;
}

inline bool all_finite(const std::vector<double>& values) { return all_finite(values.data(), values.size()); }

}  // namespace daedalus
