#pragma once

#include <memory>
#include <vector>

#include "daedalus/compile/function.hpp"
#include "daedalus/compile/native.hpp"

namespace daedalus::compile {

/// A function at several independent points at once, 4 or 8 as the processor has registers for. The numbers of all points for
/// one place stand side by side: input i of a block at point k is number i * lanes() + k of that block, and outputs likewise.
/// Whoever has fewer points repeats one. Const and shareable between threads; each caller brings a scratch buffer.
class Batch {
 public:
  /// As many lanes as the processor works on at once; 4 where there is no machine code for more than one, and the interpreter
  /// does the work.
  static std::size_t widest();

  explicit Batch(Function function, Elementary elementary = Elementary::exact, std::size_t lanes = widest());

  std::size_t lanes() const { return lanes_; }
  const Function& function() const { return function_; }

  /// Numbers that begin where registers are loaded fastest.
  class Scratch {
   public:
    explicit Scratch(std::size_t numbers = 0) : lines_((numbers + 7) / 8, Line{}) {}
    double* data() { return reinterpret_cast<double*>(lines_.data()); }
    std::size_t size() const { return 8 * lines_.size(); }

   private:
    struct alignas(64) Line {
      double number[8];
    };
    std::vector<Line> lines_;
  };
  /// A buffer for calls from one thread.
  Scratch make_scratch() const;

  /// Evaluates all outputs. The frozen values `modes` are the same at all points. Allocates nothing.
  void operator()(const double* const* inputs, double* outputs, Scratch& scratch, const double* modes = nullptr) const;

  /// Whether calls run as machine code, after a buffer was made.
  bool is_native() const { return native_->entry() != nullptr; }

 private:
  Function function_;
  Elementary elementary_;
  std::size_t lanes_;
  std::shared_ptr<const NativeCode> native_;
};

}  // namespace daedalus::compile
