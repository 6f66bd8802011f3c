#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace daedalus::compile {

/// A compiled function of numbers. Const and shareable between threads; each caller brings a scratch buffer.
///
/// Inputs come in blocks (t | q | v | ...), outputs are one array. `modes` are the frozen values (see switches.hpp): what
/// is constant between events. With nullptr every condition follows its own values, and held values are at their start.
class Function {
 public:
  using Scratch = std::vector<double>;

  Function();
  ~Function();
  Function(Function&&) noexcept;
  Function(const Function&);
  Function& operator=(Function&&) noexcept;
  Function& operator=(const Function&);

  std::size_t output_count() const;
  std::size_t operation_count() const;
  /// Sizes of the input blocks.
  const std::vector<std::size_t>& blocks() const;

  /// A buffer for calls from one thread.
  Scratch make_scratch() const;

  /// Evaluates all outputs. Allocates nothing.
  void operator()(const double* const* inputs, double* outputs, Scratch& scratch, const double* modes = nullptr) const;

  struct Tape;
  explicit Function(std::shared_ptr<const Tape> tape);
  const Tape& tape() const { return *tape_; }

 private:
  std::shared_ptr<const Tape> tape_;
};

}  // namespace daedalus::compile
