#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "daedalus/compile/native_machine.hpp"
#include "daedalus/compile/native_registers.hpp"
#include "daedalus/compile/native_runs.hpp"

// Part of native code; not part of this room's interface.
namespace daedalus::compile {

/// A run, or the greatest part of it, as a loop of machine code.
struct NativeLoop {
  /// One turn as a program of its own: what comes from outside are its inputs.
  NativeProgram turn;
  std::uint32_t first = 0, last = 0;  ///< steps of the whole program that the loop stands for
  std::int64_t turns = 0;
  struct Outside {
    bool moves;
    std::uint32_t number;  ///< among the places that move, or the values that do not
  };
  std::vector<Outside> outside;      ///< the inputs of a turn
  std::vector<std::uint32_t> fixed;  ///< values that are the same in all turns
  std::vector<NativePlace> places;   ///< of what moves from turn to turn
  std::vector<std::uint32_t> place_of_result;  ///< of each value of a turn: where it is kept, or none
  std::vector<std::pair<std::uint32_t, NativePlace>> copies;  ///< values to be put into a place before the loop
  std::vector<std::int64_t> strides;
  std::vector<std::uint32_t> blocks;  ///< of inputs that a turn reads
  std::size_t room = 0;               ///< places in the buffer that the loop needs for values of its turns
  /// Values that the loop leaves in the buffer, and where.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> kept;
};

/// Finds loops in a program, from its beginning to its end.
class NativeLoops {
 public:
  using Homes = std::function<const NativeHome&(std::uint32_t value)>;

  NativeLoops(const NativeProgram& program, const Function::Tape& tape, std::size_t lanes, std::vector<NativeRun> runs);

  static std::vector<NativeRun> runs_worth_rolling(const NativeProgram& program, const Function::Tape& tape);
  /// Whether code with loops for these runs is less than half as long as that of the line.
  static bool shorten(const NativeProgram& program, const std::vector<NativeRun>& runs);

  const std::vector<NativeRun>& runs() const { return runs_; }
  /// The loop for a run, with `first_slot` as the first free place in the buffer; none where that cannot be done: the steps are
  /// then translated one by one. Nothing is in registers.
  std::optional<NativeLoop> loop(const NativeRun& run, const Homes& homes, std::size_t first_slot);

 private:
  /// Values of the blocks of a run that are needed outside of the turn that computes them, block after block in the buffer.
  /// There is room for some blocks before and behind those of the loop.
  struct Array {
    std::uint32_t first_value = 0, values = 0;  ///< so many values per block
    std::int64_t blocks = 0;                    ///< in the loop
    std::int64_t room_before = 0, room_behind = 0;
    std::vector<std::uint32_t> member;  ///< of each value of a block, or none
    std::uint32_t members = 0;
    std::size_t slot = 0;  ///< of the first member of block 0

    std::uint32_t place(std::int64_t block, std::uint32_t value) const {
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(slot) + block * members + member[value]);
    }
  };

  /// What a turn reads from memory or writes there: a place that moves by `stride` numbers from turn to turn.
  struct Moving {
    NativePlace first;  ///< in the first turn
    std::int64_t stride = 0;
  };

  bool member_of_array(std::uint32_t value, std::int64_t shift, const Array& own, const Homes& homes, NativeLoop& loop,
                       std::vector<Moving>& moving) const;
  bool give_counters(const std::vector<Moving>& moving, const Homes& homes, NativeLoop& loop) const;

  const NativeProgram& program_;
  const Function::Tape& tape_;
  const std::int64_t farthest_;  ///< numbers from the first that an address in a loop reaches
  std::vector<NativeRun> runs_;
  std::vector<Array> arrays_;  ///< of the loops so far
};

}  // namespace daedalus::compile
