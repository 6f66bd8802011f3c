#pragma once

#include <cstddef>

namespace daedalus::model::limits {

// Sizes beyond which a model is refused: a slip in a bound must be answered before it fills the memory, and everything
// that follows reading takes some four times as much of it. Fuzzers use smaller ones.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
inline constexpr std::size_t members = 1'000, terms = 1'000, steps = 20'000, nodes = 10'000, items = 5'000, values = 100'000;
#else
inline constexpr std::size_t values = 400'000;    // in the file
inline constexpr std::size_t members = 200'000;   // of one family
inline constexpr std::size_t terms = 10'000'000;  // of one sum or product
inline constexpr std::size_t steps = 8'000'000;   // parts of expressions that are written out
inline constexpr std::size_t nodes = 2'000'000;   // of the graph
inline constexpr std::size_t items = 500'000;     // parameters, unknowns, definitions and starts
#endif

}  // namespace daedalus::model::limits
