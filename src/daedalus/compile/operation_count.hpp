#pragma once

#include <cstddef>

namespace daedalus::compile {

/// Counts the operations that functions execute on this thread while it lives: work that does not depend on the machine.
/// One at a time.
class OperationCount {
 public:
  OperationCount();
  ~OperationCount();
  OperationCount(const OperationCount&) = delete;
  OperationCount& operator=(const OperationCount&) = delete;

  std::size_t calls() const { return calls_; }
  std::size_t operations() const { return operations_; }

  /// Where one lives on this thread, it takes note.
  static void count(std::size_t operations);

  void add(std::size_t operations) {
    ++calls_;
    operations_ += operations;
  }

 private:
  std::size_t calls_ = 0, operations_ = 0;
};

}  // namespace daedalus::compile
