#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "daedalus/compile/native_program.hpp"

// Part of native code; not part of this room's interface.
namespace daedalus::compile {

/// Where a value can be read from memory.
struct NativeHome {
  enum Kind : std::uint8_t {
    nowhere,
    buffer,
    array,  ///< in the buffer as well, in a place that is not given out again
    lane,   ///< in the buffer as well, among the lanes of a pack; `block` is its number
    input,
    mode,
    output,   ///< where a store put it
    strided  ///< moves from one turn of a loop to the next
  } kind = nowhere;
  std::uint32_t block = 0;  ///< of an input
  std::uint32_t index = 0;
  bool spread = false;  ///< one number there is the number of all lanes
};

/// Registers and places in the caller's buffer for the values of a straight line. When registers run out, the value
/// whose next use is farthest away gives its own up (L. A. Belady, IBM Systems Journal 5, 1966). `Machine` moves the
/// numbers:
///     void load(int to, NativeHome from, bool pack);     void store(NativeHome to, int from, bool pack);
template <class Machine>
class NativeRegisters {
 public:
  using Step = NativeProgram::Step;
  static constexpr std::uint32_t none = NativeProgram::none;

  static constexpr int most = 32;

  /// `count` registers are given out; `first_slot` is the first place in the buffer that is free.
  NativeRegisters(const NativeProgram& program, const std::vector<std::size_t>& blocks, Machine& machine, int count,
                  std::size_t first_slot)
      : program_(program),
        machine_(machine),
        count_(count),
        first_slot_(first_slot),
        register_of_(program.values, -1),
        home_(program.values),
        cursor_(program.use_start.begin(), program.use_start.end() - 1),
        in_memory_(program.packs.size()) {
    held_.fill(none);
    for (std::uint32_t c = 0; c < program_.constants; ++c) home_[c] = {NativeHome::buffer, 0, c};
    auto value = static_cast<std::uint32_t>(program_.constants);
    for (std::uint32_t block = 0; block < blocks.size(); ++block)
      for (std::uint32_t i = 0; i < blocks[block]; ++i) home_[value++] = {NativeHome::input, block, i};
    for (std::size_t p = 0; p < program.packs.size(); ++p)
      if (program.packs[p].input != none) home_[program.first_pack + p] = home_[program.packs[p].input];
  }

  /// Begins a step: its own uses of operands are past.
  void begin(const Step& step, std::uint32_t now) {
    free_slots_.insert(free_slots_.end(), left_slots_.begin(), left_slots_.end());
    left_slots_.clear();
    free_pack_slots_.insert(free_pack_slots_.end(), left_pack_slots_.begin(), left_pack_slots_.end());
    left_pack_slots_.clear();
    for (const std::uint32_t value : step.operand)
      if (value != none)
        while (next_use(value) == now) ++cursor_[value];
  }

  /// Whether nothing after this step uses a value.
  bool is_done(std::uint32_t value) const { return next_use(value) == none; }
  int register_of(std::uint32_t value) const { return register_of_[value]; }  ///< or -1
  const NativeHome& home(std::uint32_t value) const { return home_[value]; }
  void set_home(std::uint32_t value, NativeHome home) { home_[value] = home; }
  /// A place in the buffer for a value that is written there.
  NativeHome make_home(std::uint32_t value) {
    if (!program_.is_pack(value)) return home_[value] = {NativeHome::buffer, 0, take_slot()};
    const std::uint32_t pack = number_of(value);
    in_memory_[pack] = {take_pack_slot(), 1};
    return home_[value] = {NativeHome::lane, pack, in_memory_[pack].place};
  }
  /// Brings a pack that was just computed to memory if single numbers of it are needed, and gives its register up if it is not
  /// needed as a pack.
  void leave_lanes(std::uint32_t value) {
    const std::uint32_t pack = number_of(value);
    const int r = register_of_[value];
    for (std::uint32_t k = 0; k < NativeProgram::pack_lanes; ++k) {
      const std::uint32_t single = program_.packs[pack].single[k];
      if (single == none) continue;
      if (home_[value].kind == NativeHome::nowhere) machine_.store(make_home(value), r, true);
      ++in_memory_[pack].needed;
      home_[single] = {NativeHome::lane, pack, home_[value].index + k};
    }
    if (!is_done(value)) return;
    if (r >= 0) forget(r);
    if (home_[value].kind == NativeHome::lane) leave(pack);
  }
  std::size_t slots() const { return slots_; }  ///< so many places from the first one were needed
  /// Adjacent places that are not given out again; the first one.
  std::size_t reserve(std::size_t places) {
    slots_ += places;
    return first_slot_ + slots_ - places;
  }

  /// The register of an operand, loaded where it is not in one; stays until the step's result or release.
  int in_register(std::uint32_t value) {
    int r = register_of_[value];
    if (r < 0) {
      r = take_register();
      machine_.load(r, home_[value], program_.is_pack(value));
      hold(r, value);
    }
    pinned_[r] = true;
    return r;
  }

  /// Whether an operand is better read from memory than loaded: it is used no more, or later than all in registers.
  bool read_in_place(std::uint32_t value) const {
    if (register_of_[value] >= 0) return false;
    if (next_use(value) == none) return true;
    for (int r = 0; r < count_; ++r)
      if (held_[r] == none || (!pinned_[r] && next_use(held_[r]) > next_use(value))) return false;
    return true;
  }

  /// Ends this step's claim on its operands: those that are used no more leave their places. Slots are given out again
  /// after the step only, which may read them still.
  void release(const Step& step) {
    for (const std::uint32_t value : step.operand) {
      if (value == none) continue;
      if (register_of_[value] >= 0) pinned_[register_of_[value]] = false;
      if (next_use(value) != none) continue;
      if (register_of_[value] >= 0) forget(register_of_[value]);
      if (value >= program_.constants + program_.inputs && home_[value].kind == NativeHome::buffer) {
        left_slots_.push_back(home_[value].index);
        home_[value].kind = NativeHome::nowhere;
      } else if (home_[value].kind == NativeHome::lane) {
        leave(home_[value].block);
        home_[value].kind = NativeHome::nowhere;
      }
    }
  }

  /// Takes note that a value has no use before the step `next`, which was translated otherwise. No register holds it.
  void skip_uses(std::uint32_t value, std::uint32_t next) {
    while (next_use(value) < next) ++cursor_[value];
    if (next_use(value) != none || home_[value].kind != NativeHome::buffer || value < program_.constants) return;
    left_slots_.push_back(home_[value].index);
    home_[value].kind = NativeHome::nowhere;
  }

  /// The register for the result; the operands may have left theirs to it.
  int result(const Step& step) {
    release(step);
    const int r = take_register();
    hold(r, step.to);
    return r;
  }

  void hold(int r, std::uint32_t value) {
    held_[r] = value;
    register_of_[value] = static_cast<std::int8_t>(r);
  }

  /// Empties all registers, as a call does; what is needed later is in memory then.
  void empty() {
    for (int r = 0; r < count_; ++r) {
      if (held_[r] == none) continue;
      save(r);
      forget(r);
    }
  }

 private:
  std::uint32_t next_use(std::uint32_t value) const {
    return cursor_[value] < program_.use_start[value + 1] ? program_.uses[cursor_[value]] : none;
  }

  std::uint32_t take_slot() {
    if (free_slots_.empty()) return static_cast<std::uint32_t>(first_slot_ + slots_++);
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }

  std::uint32_t take_pack_slot() {
    if (free_pack_slots_.empty()) return static_cast<std::uint32_t>(reserve(NativeProgram::pack_lanes));
    const std::uint32_t slot = free_pack_slots_.back();
    free_pack_slots_.pop_back();
    return slot;
  }

  std::uint32_t number_of(std::uint32_t value) const { return value - static_cast<std::uint32_t>(program_.first_pack); }

  /// A pack in memory, or a lane of it there, is needed no more.
  void leave(std::uint32_t pack) {
    if (--in_memory_[pack].needed == 0) left_pack_slots_.push_back(in_memory_[pack].place);
  }

  void save(int r) {
    const std::uint32_t value = held_[r];
    if (home_[value].kind == NativeHome::nowhere) machine_.store(make_home(value), r, program_.is_pack(value));
  }

  void forget(int r) {
    register_of_[held_[r]] = -1;
    held_[r] = none;
  }

  /// A register that holds no operand of this step: a free one, or that of the value used last.
  int take_register() {
    int farthest = -1;
    for (int r = 0; r < count_; ++r) {
      if (held_[r] == none) return r;
      if (pinned_[r]) continue;
      if (farthest < 0 || next_use(held_[r]) > next_use(held_[farthest])) farthest = r;
    }
    save(farthest);
    forget(farthest);
    return farthest;
  }

  const NativeProgram& program_;
  Machine& machine_;
  const int count_;
  const std::size_t first_slot_;
  std::vector<std::int8_t> register_of_;
  std::vector<NativeHome> home_;
  std::vector<std::uint32_t> cursor_;  ///< the next use of each value
  std::array<std::uint32_t, most> held_;
  std::array<bool, most> pinned_ = {};  ///< operands of this step
  std::vector<std::uint32_t> free_slots_, left_slots_, free_pack_slots_, left_pack_slots_;
  struct InMemory {
    std::uint32_t place;
    std::uint32_t needed;  ///< the pack and its lanes, as far as they are
  };
  std::vector<InMemory> in_memory_;  ///< of each pack
  std::size_t slots_ = 0;
};

}  // namespace daedalus::compile
