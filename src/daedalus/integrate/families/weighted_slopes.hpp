#pragma once

// Sums of slopes with weights known at compile time: a row of a tableau with its non-zero terms, unrolled.
//
// Four numbers are computed at a time, with the operations and the order of one at a time: results do not depend on what the
// processor can do. Functions for arrays with room up to a multiple of four, as `padded` says, need no end of their own.

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

#if defined(__x86_64__)
// The same operations in the same order, four components at a time where the processor can.
inline const bool four_at_a_time = __builtin_cpu_supports("avx2") != 0;

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

/// Room for n numbers in whole fours.
constexpr std::size_t padded(std::size_t n) { return (n + 3) / 4 * 4; }

typedef double Four __attribute__((vector_size(32)));
typedef double FourInMemory __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long FourMasks __attribute__((vector_size(32)));

inline const FourInMemory* four(const double* at) { return reinterpret_cast<const FourInMemory*>(at); }
inline FourInMemory* four(double* at) { return reinterpret_cast<FourInMemory*>(at); }

/// sum = sum_j weight_j k_j[i .. i + 3] over the terms of a row
template <const auto& row, class Slopes>
[[gnu::always_inline]] inline void weigh(const Slopes& k, std::size_t i, Four& sum) {
  [&]<std::size_t... j>(std::index_sequence<j...>) __attribute__((always_inline)) {
    sum = (... + (row[j].weight * *four(k[row[j].stage] + i)));
  }
  (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(row)>>>{});
}

/// to = |of|
[[gnu::always_inline]] inline void magnitude(const Four& of, Four& to) {
  constexpr long long all_but_sign = 0x7FFFFFFFFFFFFFFF;
  to = reinterpret_cast<Four>(reinterpret_cast<FourMasks>(of) & all_but_sign);
}

/// to = the larger ones of both
[[gnu::always_inline]] inline void larger(const Four& one, const Four& other, Four& to) { to = one > other ? one : other; }

inline double sum_of(const Four& lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

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

#if defined(__x86_64__)
template <class Work, class... Arguments>
[[gnu::target("avx2")]] void run_wide(Arguments&&... arguments) {
  Work::run(std::forward<Arguments>(arguments)...);
}
#endif

/// Runs Work::run, which must be inlined always, with the widest instructions there are.
template <class Work, class... Arguments>
void in_fours(Arguments&&... arguments) {
#if defined(__x86_64__)
  if (four_at_a_time) return run_wide<Work>(std::forward<Arguments>(arguments)...);
#endif
  Work::run(std::forward<Arguments>(arguments)...);
}

}  // namespace daedalus::integrate
