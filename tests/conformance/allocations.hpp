#pragma once

#include <cstddef>

namespace daedalus::allocations {

/// How often this program has called operator new so far.
std::size_t counted();

}  // namespace daedalus::allocations
