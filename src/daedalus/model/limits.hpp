#pragma once

#include <cstddef>

namespace daedalus::model::limits {

// Sizes beyond which a model is refused: a slip in a bound must be answered before it fills the memory. Eight million
// nodes take half a gigabyte; the steps of writing a model out take less than two seconds. Fuzzers use smaller ones.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
inline constexpr std::size_t members = 2'000, terms = 2'000, steps = 100'000, nodes = 50'000;
#else
inline constexpr std::size_t members = 1'000'000, terms = 10'000'000, steps = 40'000'000, nodes = 8'000'000;
#endif

}  // namespace daedalus::model::limits
