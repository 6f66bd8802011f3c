#pragma once

#include <optional>
#include <vector>

#include "daedalus/compile/native_program.hpp"

// Part of native code; not part of this room's interface.
namespace daedalus::compile {

/// Inputs that stand side by side in memory: those of one block.
class InputArrays {
 public:
  InputArrays(const NativeProgram& program, const Function::Tape& tape);

  bool is_input(std::uint32_t value) const { return value >= first_ && value < end_; }
  std::uint32_t block(std::uint32_t input) const { return block_of_[input - first_]; }
  /// Values from this one on are neither constants nor inputs.
  std::uint32_t end() const { return end_; }
  /// Whether as many inputs as a pack has lanes, from `first` on, are of the block of one of them. `first` may be any number.
  bool has_pack(std::int64_t first, std::uint32_t member) const;

 private:
  std::uint32_t first_, end_;
  std::vector<std::uint32_t> block_of_;
};

/// Which steps of a program are taken together.
struct NativePacks {
  std::vector<NativeProgram::Lanes> steps;  ///< of each pack; lanes without a step are idle
  /// So many packs, the first ones, are of sines, each with that of the cosines of the same arguments behind it.
  std::uint32_t turned = 0;
  std::vector<std::uint32_t> pack_of;       ///< of each value, or none
  std::vector<std::uint32_t> pack_of_step;  ///< or none
  std::vector<std::uint8_t> lane_of;        ///< of each value of a pack
};

/// None where too little would be gained.
std::optional<NativePacks> packs_of(const NativeProgram& program, const Function::Tape& tape);

}  // namespace daedalus::compile
