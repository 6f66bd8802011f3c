#include "daedalus/compile/code_pages.hpp"

#include <sys/mman.h>

namespace daedalus::compile {

CodePages::~CodePages() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

void* CodePages::reserve(std::size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  memory_ = memory;
  size_ = size;
  return memory;
}

bool CodePages::seal() { return memory_ != nullptr && mprotect(memory_, size_, PROT_READ | PROT_EXEC) == 0; }

}  // namespace daedalus::compile
