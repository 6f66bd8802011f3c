#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include "daedalus/compile/code_pages.hpp"
#include "daedalus/compile/function.hpp"

namespace daedalus::compile {

/// How the functions of the C library are computed where there are several points at once: one point after the other, with the
/// same results to the last bit, or by a library of vector functions, within 4 units in the last place.
enum class Elementary { exact, fast };

/// Machine code of one tape, for one point or for several lanes. Where it cannot be made (another processor, no AVX or FMA, pages that may not be executed,
/// switched off by DAEDALUS_NATIVE=0) there is no entry, and the interpreter does the work.
class NativeCode {
 public:
  /// As Function::operator(); the buffer holds the constants of the tape, then room for slots() numbers, each in all lanes.
  using Entry = void (*)(const double* const* inputs, double* outputs, double* scratch, const double* modes);

  /// Translates the tape that owns this, at the first call. Threads may call it at the same time.
  void make(const Function::Tape& tape, std::size_t lanes = 1, Elementary elementary = Elementary::exact) const;
  /// Lets make() do nothing: translating takes as long as some hundred calls of the interpreter.
  void leave() const;

  Entry entry() const { return entry_.load(std::memory_order_acquire); }
  /// Whether the code must be given frozen values: where there are none the interpreter does the work.
  bool reads_modes() const { return reads_modes_; }
  std::size_t slots() const { return slots_; }
  std::size_t size() const { return pages_.size(); }  ///< in bytes

 private:
  mutable std::once_flag once_;
  mutable std::atomic<Entry> entry_ = nullptr;
  mutable bool reads_modes_ = false;
  mutable std::size_t slots_ = 0;
  mutable CodePages pages_;
};

/// Whether this process makes native code, for 1, 4 or 8 lanes.
bool makes_native_code(std::size_t lanes = 1);
/// Whether calls of a function run as machine code.
bool is_native(const Function& function);
/// Leaves a function to the interpreter that is called now and then only, and for which no buffer was made yet.
Function called_seldom(Function function);

}  // namespace daedalus::compile
