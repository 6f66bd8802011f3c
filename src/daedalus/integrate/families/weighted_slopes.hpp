#pragma once

// Sums of slopes with weights known at compile time: a row of a tableau with its non-zero terms, unrolled.

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "daedalus/base/fours.hpp"

namespace daedalus::integrate {

/// One non-zero coefficient: the weight of the slope of a stage, counted from 1.
struct Term {
  std::size_t stage;
  double weight;
};

/// sum_j weight_j k_j[i] over the terms of a row; `k` is indexed by stage.
template <const auto& row, class Slopes>
double weighted(const Slopes& k, std::size_t i) {
  return [&]<std::size_t... j>(std::index_sequence<j...>) { return (... + (row[j].weight * k[row[j].stage][i])); }
  (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(row)>>>{});
}

/// out = h sum_j weight_j k_j
template <const auto& row, class Slopes>
void sum_slopes(const Slopes& k, double h, std::size_t n, double* __restrict out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = h * weighted<row>(k, i);
}

#if defined(__x86_64__)
// The same operations in the same order, four components at a time where the processor can.
template <const auto& row, class Slopes>
[[gnu::target("avx2")]] void move_along_by_four(const double* x, const Slopes& k, double h, std::size_t n,
                                                double* __restrict out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = x[i] + h * weighted<row>(k, i);
}

#endif

/// out = x + h sum_j weight_j k_j
template <const auto& row, class Slopes>
void move_along(const double* x, const Slopes& k, double h, std::size_t n, double* __restrict out) {
#if defined(__x86_64__)
  if (n >= 16 && four_at_a_time) return move_along_by_four<row>(x, k, h, n, out);
#endif
  for (std::size_t i = 0; i < n; ++i) out[i] = x[i] + h * weighted<row>(k, i);
}

/// sum = sum_j weight_j k_j[i .. i + 3] over the terms of a row
template <const auto& row, class Slopes>
[[gnu::always_inline]] inline void weigh(const Slopes& k, std::size_t i, Four& sum) {
  [&]<std::size_t... j>(std::index_sequence<j...>) __attribute__((always_inline)) {
    sum = (... + (row[j].weight * *four(k[row[j].stage] + i)));
  }
  (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(row)>>>{});
}

/// x + h sum_j weight_j k_j in padded arrays
template <const auto& row, class Slopes>
struct MovePadded {
  [[gnu::always_inline]] static inline void run(const double* x, const Slopes& k, double h, std::size_t n, double* __restrict out) {
    for (std::size_t i = 0; i < n; i += 4) {
      Four sum;
      weigh<row>(k, i, sum);
      *four(out + i) = *four(x + i) + h * sum;
    }
  }
};

}  // namespace daedalus::integrate
