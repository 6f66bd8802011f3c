#pragma once

#include <cstddef>

namespace daedalus::compile {

/// Memory for machine code: written first, then executed, never both at once.
class CodePages {
 public:
  CodePages() = default;
  ~CodePages();
  CodePages(const CodePages&) = delete;
  CodePages& operator=(const CodePages&) = delete;

  /// Room for so many bytes, to be written; nullptr where the system gives none. To be called once.
  void* reserve(std::size_t size);
  /// From here on the pages are executed and cannot be written. False where the system forbids that.
  bool seal();

  std::size_t size() const { return size_; }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace daedalus::compile
