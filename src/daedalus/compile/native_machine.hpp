#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "daedalus/compile/code_pages.hpp"

// Part of native code; not part of this room's interface.
namespace daedalus::compile {

/// Where numbers stand in memory.
struct NativePlace {
  enum Base : std::uint8_t { buffer, input, output, mode } base = buffer;
  std::uint32_t block = 0;  ///< of an input
  std::int64_t index = 0;   ///< what comes before the buffer has negative ones
  int counter = -1;         ///< of the loop that moves it; see begin_loop
};

/// Writes instructions of an x86-64 processor with AVX and FMA. A register holds one number, four (AVX2) or eight (AVX-512), the
/// lanes, and what is done is done to all of them. In memory the lanes of a place stand side by side, but for frozen values,
/// which are the same in all.
class NativeMachine {
 public:
  /// Whether this process may run code for so many lanes.
  static bool has(std::size_t lanes);

  explicit NativeMachine(std::size_t lanes);
  ~NativeMachine();

  std::size_t lanes() const { return lanes_; }

  struct Register {
    int number;
  };
  int register_count() const { return register_count_; }  ///< given out; three more are for values inside one operation
  Register temporary(int k) const { return {register_count_ + k}; }
  /// The outcome of a comparison. Mask k may stand in temporary k, which then holds no number.
  struct Mask {
    int number;
  };
  /// Numbers that operations need.
  enum class Number { zero, one, minus_one, large_side, small_side, shrinking, growing, sign_bit, all_but_sign, inverse_bits, count };
  using Operand = std::variant<Register, NativePlace, Number>;
  /// Whether an operation takes an operand from there; if not, move does.
  bool reads(const NativePlace& place) const { return width_ == 1 || place.base != NativePlace::mode; }

  /// Where a place holds one number, operations that follow work on so many: 1, or 4 that stand side by side.
  void work_on(std::size_t numbers);

  // The frame

  /// `packs`: whether work_on is called.
  void begin(bool calls, bool loops, bool packs);
  void end();
  /// Turns of a loop follow. Counter k adds strides[k] to the index of its places after every turn. The blocks of inputs are
  /// those that the loop reads. At most `most_counters` and `most_blocks`; no calls.
  static constexpr std::size_t most_counters = 6, most_blocks = 5;
  void begin_loop(const std::vector<std::int64_t>& strides, const std::vector<std::uint32_t>& blocks);
  void end_loop(std::int64_t turns);

  // Numbers

  void move(Register to, const Operand& from);
  void store(const NativePlace& to, Register from);
  void spread(Register to, const Operand& from);  ///< one number, to four
  void pair(Register to, const Operand& first, const Operand& second);
  void join(Register to, Register low, Register high);  ///< two pairs
  /// `largest` is left where it is above right, else right; `least` where it is below.
  enum class Arithmetic { add, sub, mul, div, largest, least };
  void compute(Arithmetic what, Register to, Register left, const Operand& right);
  void root(Register to, Register from);
  void floor(Register to, Register from);
  enum class Bits { both, differ, minus };
  void bits(Bits what, Register to, Register left, const Operand& right);
  enum class Fused { product_plus, product_minus, minus_product };
  /// a b + c, a b - c or c - a b: `sum` holds c and becomes the result.
  void fuse_into_sum(Fused what, Register sum, Register a, const Operand& b);
  /// The same: `factor` holds a and becomes the result.
  void fuse_into_factor(Fused what, Register factor, Register b, const Operand& c);

  // Masks

  enum class Predicate : int { equals = 0, unordered_or_differs = 4, ordered = 7, below = 17, at_most = 18, above = 30 };
  void compare(Mask to, Register left, const Operand& right, Predicate predicate);
  void both(Mask to, Mask one, Mask other);
  void either(Mask to, Mask one, Mask other);
  void select(Mask to, Mask no, Mask yes, Mask where);
  void select(Register to, Register no, const Operand& yes, Mask where);
  void truth(Register to, Mask from);  ///< 1 or 0

  // Calls. They may change every register of numbers. The first arguments that are numbers are passed in registers 0, 1, ...

  void pass_address(int argument, const NativePlace& place);
  void pass(int argument, std::uint64_t value);
  enum class Callee { scalar, lanes };  ///< a function of lanes uses registers as this code does
  void call(std::uint64_t function, Callee callee);

  /// Writes the code into pages that are then sealed; where it begins, or nullptr.
  void* finish(CodePages& pages);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::size_t lanes_, width_;  ///< of a place, and of operations
  int register_count_;
};

}  // namespace daedalus::compile
