#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "daedalus/compile/tape.hpp"

// Part of native code; not part of this room's interface.
namespace daedalus::compile {

/// A tape whose values have names of their own in place of registers that are used again, with all later uses of each.
/// Values are numbered: constants, inputs, then one per instruction in order.
struct NativeProgram {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  NativeProgram() = default;
  explicit NativeProgram(const Function::Tape& tape);

  struct Step {
    Code code;
    std::uint32_t to = none;  ///< the value, or for a store the output
    std::uint32_t operand[4] = {none, none, none, none};  ///< the fourth where numbers are collected only
    std::uint32_t place = 0;         ///< among the frozen values, for switched and held codes
    std::uint32_t table = 0;         ///< for a table; for a held value the constant that is its start
    std::uint32_t partner = none;    ///< of a sine: the step with the cosine of the same argument; or vice versa
    /// What the step works on: one number, or all lanes of packs. Or it makes a pack, of one number or of four, and has no code.
    enum Kind : std::uint8_t { single, packed, spread, collect } kind = single;
  };
  std::vector<Step> steps;
  std::size_t constants = 0, inputs = 0, values = 0;
  bool calls = false;  ///< whether some step calls a function

  /// Values from this one on are packs of several numbers.
  std::size_t first_pack = none;
  static constexpr std::uint32_t pack_lanes = 4;
  using Lanes = std::array<std::uint32_t, pack_lanes>;
  struct Pack {
    Lanes single = {none, none, none, none};  ///< values that are needed by themselves too
    std::uint32_t input = none;               ///< or so many inputs from this one on, which stand side by side
  };
  std::vector<Pack> packs = {};
  bool is_pack(std::uint32_t value) const { return value >= first_pack; }

  /// Where the value is used, ascending; the uses of value v are those from use_start[v] to use_start[v + 1]. What the
  /// second of two partners uses is not counted: the first computes both.
  std::vector<std::uint32_t> use_start, uses;
  /// Fills these from the steps.
  void find_uses();
};

/// Whether an operation is a call of a function in native code.
bool is_call(const NativeProgram::Step& step, const Function::Tape& tape);

/// Whether a power is made of products, as expr::power does it.
bool is_small_power(const NativeProgram::Step& step, const Function::Tape& tape);

}  // namespace daedalus::compile
