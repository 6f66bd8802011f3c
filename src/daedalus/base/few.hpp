#pragma once

// Machine code stores its results one by one. A wide load of several of them waits until all those stores have left for the
// cache, a narrow one does not: a few numbers are better taken one by one.

#include <algorithm>
#include <cstddef>

#include "daedalus/base/fours.hpp"

namespace daedalus {

/// Up to so many numbers a wait costs more than it saves.
constexpr std::size_t few = 8;

/// Keeps the compiler from taking what is before it and what is behind it at once.
[[gnu::always_inline]] inline void apart() { asm volatile("" ::: "memory"); }

/// to[i] = from[i]
inline void copy_numbers(const double* from, std::size_t count, double* to) {
  if (count > few) {
    std::copy_n(from, count, to);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = from[i];
    apart();
  }
}

/// True where numbers are the same.
inline bool same_numbers(const double* one, const double* other, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!(one[i] == other[i])) return false;
  return true;
}

/// to = four numbers, taken one by one.
[[gnu::always_inline]] inline void gather(const double* at, Four& to) {
  const volatile double* numbers = at;
  const double first = numbers[0], second = numbers[1], third = numbers[2], fourth = numbers[3];
  to = Four{first, second, third, fourth};
}

}  // namespace daedalus
