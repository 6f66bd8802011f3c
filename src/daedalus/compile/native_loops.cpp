#include "daedalus/compile/native_loops.hpp"

#include <algorithm>
#include <unordered_map>

namespace daedalus::compile {

namespace {

using Step = NativeProgram::Step;
constexpr std::uint32_t none = NativeProgram::none;

/// Shorter programs stay one straight line: they fit into the processor's cache for instructions.
constexpr std::size_t worth_rolling = 2000;
/// Steps in one turn of a loop: enough that counting costs little and values go from block to block in registers.
constexpr std::uint32_t worth_a_turn = 160;

}  // namespace

NativeLoops::NativeLoops(const NativeProgram& program, const Function::Tape& tape, std::size_t lanes, std::vector<NativeRun> runs)
    : program_(program),
      tape_(tape),
      farthest_((std::int64_t{1} << 27U) / static_cast<std::int64_t>(lanes)),
      runs_(std::move(runs)) {}

std::vector<NativeRun> NativeLoops::runs_worth_rolling(const NativeProgram& program, const Function::Tape& tape) {
  if (program.calls || program.steps.size() < worth_rolling) return {};
  return runs_of(program, tape);
}

bool NativeLoops::shorten(const NativeProgram& program, const std::vector<NativeRun>& runs) {
  std::size_t length = program.steps.size();
  for (const NativeRun& run : runs) {
    const std::size_t steps = std::size_t{run.period} * run.count;
    length -= steps - std::min<std::size_t>(steps, std::max(worth_a_turn, run.period));
  }
  return length < program.steps.size() / 2;
}

std::optional<NativeLoop> NativeLoops::loop(const NativeRun& run, const Homes& homes, std::size_t first_slot) {
  const std::uint32_t unrolled = std::clamp(worth_a_turn / run.period, 1U, run.count / 4);
  const std::uint32_t turns = run.count / unrolled, turn_steps = unrolled * run.period;
  NativeLoop loop;
  loop.first = run.first;
  loop.last = run.first + turns * turn_steps;
  loop.turns = turns;
  Array own;
  for (std::uint32_t i = 0; i < run.period; ++i)
    if (program_.steps[run.first + i].code != Code::store && own.values++ == 0) own.first_value = program_.steps[run.first + i].to;
  if (own.values == 0) return std::nullopt;
  own.blocks = static_cast<std::int64_t>(turns) * unrolled;
  own.room_before = own.room_behind = 2 * static_cast<std::int64_t>(unrolled) + 2;
  own.member.assign(own.values, none);
  const std::uint32_t turn_values = unrolled * own.values;
  for (std::uint32_t v = 0; v < turns * turn_values; ++v) {
    const std::uint32_t value = own.first_value + v, turn = v / turn_values;
    for (std::uint32_t u = program_.use_start[value]; u < program_.use_start[value + 1]; ++u) {
      const std::uint32_t use = program_.uses[u];
      if (use < loop.last && (use - run.first) / turn_steps == turn) continue;
      std::uint32_t& member = own.member[v % own.values];
      if (member == none) member = own.members++;
      break;
    }
  }
  own.slot = first_slot + static_cast<std::size_t>(own.room_before) * own.members;
  loop.room = static_cast<std::size_t>(own.room_before + own.blocks + own.room_behind) * own.members;

  std::vector<Moving> moving;
  std::unordered_map<std::uint64_t, std::uint32_t> number_of;
  bool possible = true;
  const auto external = [&](std::uint32_t value, std::uint32_t next) {
    const auto shift = static_cast<std::int32_t>(next - value);
    const auto [found, fresh] = number_of.try_emplace(std::uint64_t{value} << 32U | static_cast<std::uint32_t>(shift),
                                                      static_cast<std::uint32_t>(loop.outside.size()));
    if (!fresh) return found->second;
    if (shift == 0) {
      loop.outside.push_back({false, static_cast<std::uint32_t>(loop.fixed.size())});
      loop.fixed.push_back(value);
      return found->second;
    }
    loop.outside.push_back({true, static_cast<std::uint32_t>(moving.size())});
    if (const NativeHome& home = homes(value); home.kind == NativeHome::input)
      moving.push_back({{NativePlace::input, home.block, home.index}, shift});
    else
      possible = member_of_array(value, shift, own, homes, loop, moving) && possible;
    return found->second;
  };
  const auto inside = [&](std::uint32_t value) { return value >= own.first_value && value < own.first_value + turn_values; };
  const auto told = static_cast<std::int64_t>(tape_.outputs - tape_.notes);
  NativeProgram& turn = loop.turn;
  for (std::uint32_t i = 0; i < turn_steps && possible; ++i) {
    Step step = program_.steps[run.first + i];
    const Step& next = program_.steps[run.first + i + turn_steps];
    for (int k = 0; k < 3; ++k)
      if (step.operand[k] != none && !inside(step.operand[k])) step.operand[k] = external(step.operand[k], next.operand[k]);
      else if (step.operand[k] != none) step.operand[k] = none - 1 - (step.operand[k] - own.first_value);  // numbered below
    if (step.code == Code::store) {
      const auto stride = static_cast<std::int32_t>(next.to - step.to);
      if (step.to >= told)  // notes stand right before the buffer
        moving.push_back({{NativePlace::buffer, 0, step.to - static_cast<std::int64_t>(tape_.outputs)}, stride});
      else
        moving.push_back({{NativePlace::output, 0, step.to}, stride});
      step.to = static_cast<std::uint32_t>(moving.size() - 1);
    }
    turn.steps.push_back(step);
  }
  if (!possible) return std::nullopt;
  turn.inputs = loop.outside.size();
  turn.values = loop.outside.size() + turn_values;
  for (Step& step : turn.steps) {
    for (std::uint32_t& operand : step.operand)
      if (operand != none && operand > none - 1 - turn_values)
        operand = static_cast<std::uint32_t>(turn.inputs) + (none - 1 - operand);
    if (step.code != Code::store) step.to = static_cast<std::uint32_t>(turn.inputs) + step.to - own.first_value;
  }
  turn.find_uses();
  loop.place_of_result.assign(turn_values, none);
  for (std::uint32_t v = 0; v < turn_values; ++v) {
    if (own.member[v % own.values] == none) continue;
    loop.place_of_result[v] = static_cast<std::uint32_t>(moving.size());
    moving.push_back({{NativePlace::buffer, 0, own.place(v / own.values, v % own.values)},
                      static_cast<std::int64_t>(unrolled) * own.members});
  }
  if (!give_counters(moving, homes, loop)) return std::nullopt;
  for (std::uint32_t v = 0; v < turns * turn_values; ++v)
    if (own.member[v % own.values] != none)
      loop.kept.emplace_back(own.first_value + v, own.place(v / own.values, v % own.values));
  arrays_.push_back(std::move(own));
  return loop;
}

/// Where a value of other turns or of a loop before is found. What is at the ends of an array and was computed outside of
/// its loop must be copied to its place.
bool NativeLoops::member_of_array(std::uint32_t value, std::int64_t shift, const Array& own, const Homes& homes,
                                  NativeLoop& loop, std::vector<Moving>& moving) const {
  const std::int64_t middle = value + shift * (loop.turns / 2);
  const auto has = [&](const Array& array) {
    return middle >= array.first_value && middle < array.first_value + array.blocks * array.values;
  };
  const auto found = std::find_if(arrays_.begin(), arrays_.end(), has);
  if (found == arrays_.end() && !has(own)) return false;
  const Array& array = found == arrays_.end() ? own : *found;
  if (shift % array.values != 0) return false;
  const auto of_block = static_cast<std::uint32_t>((middle - array.first_value) % array.values);
  if (array.member[of_block] == none) return false;
  const std::int64_t blocks_per_turn = shift / array.values;
  const std::int64_t first = (middle - array.first_value) / array.values - blocks_per_turn * (loop.turns / 2);
  for (std::int64_t turn = 0; turn < loop.turns; ++turn) {
    const std::int64_t block = first + turn * blocks_per_turn;
    if (block >= 0 && block < array.blocks) continue;
    const auto outsider = static_cast<std::uint32_t>(value + turn * shift);
    if (block < -array.room_before || block >= array.blocks + array.room_behind) return false;
    if (homes(outsider).kind == NativeHome::nowhere) return false;
    loop.copies.emplace_back(outsider, NativePlace{NativePlace::buffer, 0, array.place(block, of_block)});
  }
  moving.push_back({{NativePlace::buffer, 0, array.place(first, of_block)}, blocks_per_turn * array.members});
  return true;
}

/// One counter for each stride, and the places of what moves.
bool NativeLoops::give_counters(const std::vector<Moving>& moving, const Homes& homes, NativeLoop& loop) const {
  const auto read = [&](std::uint32_t block) {
    if (std::ranges::find(loop.blocks, block) == loop.blocks.end()) loop.blocks.push_back(block);
  };
  for (const std::uint32_t value : loop.fixed)
    if (homes(value).kind == NativeHome::input) read(homes(value).block);
  for (const Moving& what : moving) {
    if (what.stride == 0 || std::abs(what.first.index) + std::abs(what.stride) * loop.turns > farthest_) return false;
    const auto counter = std::ranges::find(loop.strides, what.stride);
    NativePlace place = what.first;
    place.counter = static_cast<int>(counter - loop.strides.begin());
    if (counter == loop.strides.end()) loop.strides.push_back(what.stride);
    if (place.base == NativePlace::input) read(place.block);
    loop.places.push_back(place);
  }
  return !loop.strides.empty() && loop.strides.size() <= NativeMachine::most_counters &&
         loop.blocks.size() <= NativeMachine::most_blocks;
}

}  // namespace daedalus::compile
