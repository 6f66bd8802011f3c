#pragma once

#include <cstddef>

namespace daedalus::linalg::testing {

/// Calls of operator new in this program so far.
std::size_t allocations();

}  // namespace daedalus::linalg::testing
