#pragma once

// Sums of slopes with weights known at compile time: a row of a tableau with its non-zero terms, unrolled.

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

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

/// out = x + h sum_j weight_j k_j
template <const auto& row, class Slopes>
void move_along(const double* x, const Slopes& k, double h, std::size_t n, double* __restrict out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = x[i] + h * weighted<row>(k, i);
}

}  // namespace daedalus::integrate
