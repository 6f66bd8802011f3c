#include "allocations.hpp"

#include <cstdlib>
#include <new>

namespace {
std::size_t count = 0;
}  // namespace

// In a file of their own, so that they are not inlined into callers, where the compiler would take malloc and delete
// for a mismatch.
void* operator new(std::size_t size) {
  ++count;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
// stable_sort asks for its buffer so
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++count;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace daedalus::linalg::testing {
std::size_t allocations() { return count; }
}  // namespace daedalus::linalg::testing
