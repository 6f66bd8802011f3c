#pragma once

// Four numbers at a time, with the operations and the order of one at a time: results do not depend on what the processor
// can do. Functions for arrays with room up to a multiple of four, as `padded` says, need no end of their own.

#include <cstddef>
#include <utility>

namespace daedalus {

/// Room for n numbers in whole fours.
constexpr std::size_t padded(std::size_t n) { return (n + 3) / 4 * 4; }

typedef double Four __attribute__((vector_size(32)));
typedef double FourInMemory __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long FourMasks __attribute__((vector_size(32)));

inline const FourInMemory* four(const double* at) { return reinterpret_cast<const FourInMemory*>(at); }
inline FourInMemory* four(double* at) { return reinterpret_cast<FourInMemory*>(at); }

/// to = |of|
[[gnu::always_inline]] inline void magnitude(const Four& of, Four& to) {
  constexpr long long all_but_sign = 0x7FFFFFFFFFFFFFFF;
  to = reinterpret_cast<Four>(reinterpret_cast<FourMasks>(of) & all_but_sign);
}

/// to = the larger ones of both
[[gnu::always_inline]] inline void larger(const Four& one, const Four& other, Four& to) { to = one > other ? one : other; }

inline double sum_of(const Four& lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

#if defined(__x86_64__)
inline const bool four_at_a_time = __builtin_cpu_supports("avx2") != 0;

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

}  // namespace daedalus
