// Machine code for x86-64 with AVX and FMA: one pass over the tape, one instruction of the processor for most of its
// instructions. A value that loses its register (native_registers.hpp) goes to the caller's buffer, never to the stack.
// Every operation is rounded once and in the order of the tape, so that results equal the interpreter's to the
// last bit; sine and cosine of one argument come from one call, which glibc computes with the same code as either.
#include "daedalus/compile/native.hpp"

#include <cstdlib>
#include <string_view>

#include "daedalus/compile/tape.hpp"

#if defined(DAEDALUS_ASMJIT)

#include <asmjit/x86.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "daedalus/compile/interpreter.hpp"
#include "daedalus/compile/native_program.hpp"
#include "daedalus/compile/native_registers.hpp"
#include "daedalus/compile/native_runs.hpp"
#include "daedalus/expr/hypotenuse.hpp"

namespace daedalus::compile {

namespace {

namespace x86 = asmjit::x86;
using Step = NativeProgram::Step;
constexpr std::uint32_t none = NativeProgram::none;

/// Predicates of vcmpsd; none of them raises a flag for a quiet NaN.
enum Predicate : int { equals = 0, unordered_or_differs = 4, ordered = 7, below = 17, at_most = 18, above = 30 };

constexpr int register_count = 13;  ///< given out; three more are for values inside one operation
const x86::Xmm temporary[] = {x86::xmm13, x86::xmm14, x86::xmm15};

/// Shorter programs stay one straight line: they fit into the processor's cache for instructions.
constexpr std::size_t worth_rolling = 2000;
/// Steps in one turn of a loop: enough that counting costs little and values go from block to block in registers.
constexpr std::uint32_t worth_a_turn = 160;
/// Numbers from the first that an address in a loop reaches.
constexpr std::int64_t farthest = std::int64_t{1} << 27U;

double table_value(const expr::Graph::TableUse* table, double x, const double* segment) noexcept {
  return look_up(*table, x, segment);
}

std::uint64_t function_of(Code code) {
  using Unary = double (*)(double);
  using Binary = double (*)(double, double);
  const auto unary = [](Unary f) { return reinterpret_cast<std::uint64_t>(f); };
  const auto binary = [](Binary f) { return reinterpret_cast<std::uint64_t>(f); };
  switch (code) {
    case Code::sin: return unary(std::sin);
    case Code::cos: return unary(std::cos);
    case Code::tan: return unary(std::tan);
    case Code::asin: return unary(std::asin);
    case Code::acos: return unary(std::acos);
    case Code::atan: return unary(std::atan);
    case Code::sinh: return unary(std::sinh);
    case Code::cosh: return unary(std::cosh);
    case Code::tanh: return unary(std::tanh);
    case Code::asinh: return unary(std::asinh);
    case Code::acosh: return unary(std::acosh);
    case Code::atanh: return unary(std::atanh);
    case Code::exp: return unary(std::exp);
    case Code::log: return unary(std::log);
    case Code::log10: return unary(std::log10);
    case Code::cbrt: return unary(std::cbrt);
    case Code::pow: return binary(expr::power);
    case Code::atan2: return binary(std::atan2);
    default: DAEDALUS_CHECK(false, "no function for instruction {}", static_cast<int>(code));
  }
}

class Translator {
 public:
  Translator(const Function::Tape& tape, asmjit::CodeHolder& code)
      : tape_(tape), program_(tape), a_(&code), whole_(program_, tape.blocks, *this, program_.constants), registers_(&whole_) {
    for (asmjit::Label& label : numbers_) label = a_.newLabel();
    if (!program_.calls && program_.steps.size() >= worth_rolling) runs_ = runs_of(program_, tape);
  }

  void operator()() {
    begin();
    auto run = runs_.begin();
    for (now_ = 0; now_ < program_.steps.size(); ++now_) {
      if (run != runs_.end() && run->first == now_) {
        roll(*run++);
        if (now_ == program_.steps.size()) break;
      }
      translate(program_.steps[now_]);
    }
    end();
  }

  std::size_t slots() const { return whole_.slots(); }
  bool reads_modes() const { return reads_modes_; }

  // What registers ask for.
  void load(int to, const NativeHome& from) { a_.vmovsd(xmm(to), memory(from)); }
  void store(const NativeHome& to, int from) { a_.vmovsd(memory(to), xmm(from)); }

 private:
  enum Number { zero, one, minus_one, large_side, small_side, shrinking, growing, sign_bit, all_but_sign, inverse_bits, number_count };

  void begin() {
    if (!program_.calls && runs_.empty()) return;  // everything stays where the caller put it
    for (const x86::Gp& gp : counters) a_.push(gp);
    if (!program_.calls) return;
    a_.sub(x86::rsp, 8);  // the stack is aligned for calls
    a_.mov(x86::r13, x86::rdi);
    a_.mov(x86::rbp, x86::rsi);
    a_.mov(x86::rbx, x86::rdx);
    a_.mov(x86::r12, x86::rcx);
    inputs_ = x86::r13;
    outputs_ = x86::rbp;
    buffer_ = x86::rbx;
    modes_ = x86::r12;
    pointers_[0].gp = x86::r14;
    pointers_[1].gp = x86::r15;
  }

  void end() {
    if (program_.calls) a_.add(x86::rsp, 8);
    if (program_.calls || !runs_.empty())
      for (std::size_t i = counters.size(); i-- > 0;) a_.pop(counters[i]);
    a_.ret();
    a_.align(asmjit::AlignMode::kData, 16);
    const std::uint64_t sign = std::uint64_t{1} << 63U;
    const double plain[] = {0.0, 1.0, -1.0, expr::large_side, expr::small_side, expr::shrinking, expr::growing};
    for (int i = 0; i < sign_bit; ++i) {
      a_.bind(numbers_[i]);
      const double both[] = {plain[i], plain[i]};
      a_.embed(both, sizeof both);
    }
    for (const auto& [number, bits] :
         {std::pair{sign_bit, sign}, std::pair{all_but_sign, ~sign}, std::pair{inverse_bits, expr::bits_of_inverse}}) {
      a_.bind(numbers_[number]);
      const std::uint64_t both[] = {bits, bits};
      a_.embed(both, sizeof both);
    }
  }

  // Memory

  x86::Mem number(Number which) const { return x86::ptr(numbers_[which], 0, which < sign_bit ? 8U : 16U); }
  static std::int32_t bytes(std::size_t index) { return static_cast<std::int32_t>(8 * index); }

  /// Notes stand right before the buffer.
  bool is_note(std::uint32_t output) const { return output >= tape_.outputs - tape_.notes; }
  std::int64_t place_of_note(std::uint32_t output) const {
    return static_cast<std::int64_t>(output) - static_cast<std::int64_t>(tape_.outputs);
  }
  x86::Mem place_of_output(std::uint32_t output) const {
    return is_note(output) ? x86::ptr_64(buffer_, static_cast<std::int32_t>(8 * place_of_note(output)))
                           : x86::ptr_64(outputs_, bytes(output));
  }

  /// A register that points to a block of inputs, loaded where it is not there.
  x86::Gp pointer(std::uint32_t block) {
    for (Pointer& pointer : pointers_)
      if (pointer.block == block) return pointer.gp;
    Pointer& taken = pointers_[next_pointer_++ % pointers_.size()];
    taken.block = block;
    a_.mov(taken.gp, x86::ptr(inputs_, bytes(block)));
    return taken.gp;
  }

  x86::Mem memory(const NativeHome& home) {
    switch (home.kind) {
      case NativeHome::buffer:
      case NativeHome::array: return x86::ptr_64(buffer_, bytes(home.index));
      case NativeHome::strided: return places_[home.index];
      case NativeHome::input: return x86::ptr_64(pointer(home.block), bytes(home.index));
      case NativeHome::mode: return x86::ptr_64(modes_, bytes(home.index));
      case NativeHome::output: return place_of_output(home.index);
      case NativeHome::nowhere: break;
    }
    DAEDALUS_CHECK(false, "a value is nowhere at step {}", now_);
  }
  x86::Mem memory(std::uint32_t value) { return memory(registers_->home(value)); }

  x86::Mem mode(const Step& step) {
    reads_modes_ = true;
    return x86::ptr_64(modes_, bytes(step.place));
  }

  // Loops

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

  /// What a turn of a loop reads from memory or writes there: a place that moves by `stride` numbers from turn to turn.
  struct Moving {
    enum Kind { value, input, output } kind = value;
    std::uint32_t block = 0;  ///< of an input
    std::int64_t index = 0;   ///< in the first turn; of a value its slot
    std::int64_t stride = 0;
  };

  /// Translates a run, or the greatest part of it, as a loop, and moves now_ behind it. Where that cannot be done nothing
  /// happens: the steps are then translated one by one.
  void roll(const NativeRun& run) {
    const std::uint32_t unrolled = std::clamp(worth_a_turn / run.period, 1U, run.count / 4);
    const std::uint32_t turns = run.count / unrolled, turn_steps = unrolled * run.period;
    const std::uint32_t last = run.first + turns * turn_steps;
    Array own;
    for (std::uint32_t i = 0; i < run.period; ++i)
      if (program_.steps[run.first + i].code != Code::store && own.values++ == 0) own.first_value = program_.steps[run.first + i].to;
    if (own.values == 0) return;
    own.blocks = static_cast<std::int64_t>(turns) * unrolled;
    own.room_before = own.room_behind = 2 * static_cast<std::int64_t>(unrolled) + 2;
    own.member.assign(own.values, none);
    const std::uint32_t turn_values = unrolled * own.values;
    for (std::uint32_t v = 0; v < turns * turn_values; ++v) {
      const std::uint32_t value = own.first_value + v, turn = v / turn_values;
      for (std::uint32_t u = program_.use_start[value]; u < program_.use_start[value + 1]; ++u) {
        const std::uint32_t use = program_.uses[u];
        if (use < last && (use - run.first) / turn_steps == turn) continue;
        std::uint32_t& member = own.member[v % own.values];
        if (member == none) member = own.members++;
        break;
      }
    }
    whole_.empty();
    // Where the places will be if there is a loop.
    own.slot = program_.constants + whole_.slots() + static_cast<std::size_t>(own.room_before) * own.members;

    // One turn as a program of its own: what comes from outside are its inputs.
    NativeProgram turn;
    std::vector<Moving> moving;
    std::vector<std::uint32_t> fixed;  // values that are the same in all turns
    struct Outside {
      bool moves;
      std::uint32_t number;  // among those that move, or that do not
    };
    std::vector<Outside> outside;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> copies;  // of a value to a slot
    std::unordered_map<std::uint64_t, std::uint32_t> number_of;
    bool possible = true;
    const auto external = [&](std::uint32_t value, std::uint32_t next) {
      const auto shift = static_cast<std::int32_t>(next - value);
      const auto [found, fresh] = number_of.try_emplace(std::uint64_t{value} << 32U | static_cast<std::uint32_t>(shift),
                                                        static_cast<std::uint32_t>(outside.size()));
      if (!fresh) return found->second;
      if (shift == 0) {
        outside.push_back({false, static_cast<std::uint32_t>(fixed.size())});
        fixed.push_back(value);
        return found->second;
      }
      outside.push_back({true, static_cast<std::uint32_t>(moving.size())});
      if (const NativeHome& home = whole_.home(value); home.kind == NativeHome::input)
        moving.push_back({Moving::input, home.block, home.index, shift});
      else
        possible = member_of_array(value, shift, turns, own, moving, copies) && possible;
      return found->second;
    };
    const auto inside = [&](std::uint32_t value) { return value >= own.first_value && value < own.first_value + turn_values; };
    for (std::uint32_t i = 0; i < turn_steps && possible; ++i) {
      Step step = program_.steps[run.first + i];
      const Step& next = program_.steps[run.first + i + turn_steps];
      for (int k = 0; k < 3; ++k)
        if (step.operand[k] != none && !inside(step.operand[k])) step.operand[k] = external(step.operand[k], next.operand[k]);
        else if (step.operand[k] != none) step.operand[k] = none - 1 - (step.operand[k] - own.first_value);  // numbered below
      if (step.code == Code::store) {
        const auto stride = static_cast<std::int32_t>(next.to - step.to);
        if (is_note(step.to))
          moving.push_back({Moving::value, 0, place_of_note(step.to), stride});
        else
          moving.push_back({Moving::output, 0, step.to, stride});
        step.to = static_cast<std::uint32_t>(moving.size() - 1);
      }
      turn.steps.push_back(step);
    }
    if (!possible) return;
    turn.inputs = outside.size();
    turn.values = outside.size() + turn_values;
    for (Step& step : turn.steps) {
      for (std::uint32_t& operand : step.operand)
        if (operand != none && operand > none - 1 - turn_values)
          operand = static_cast<std::uint32_t>(turn.inputs) + (none - 1 - operand);
      if (step.code != Code::store) step.to = static_cast<std::uint32_t>(turn.inputs) + step.to - own.first_value;
    }
    turn.find_uses();
    std::vector<std::uint32_t> place_of_result(turn_values, none);
    for (std::uint32_t v = 0; v < turn_values; ++v) {
      if (own.member[v % own.values] == none) continue;
      place_of_result[v] = static_cast<std::uint32_t>(moving.size());
      moving.push_back({Moving::value, 0, own.place(v / own.values, v % own.values),
                        static_cast<std::int64_t>(unrolled) * own.members});
    }
    if (!give_counters(moving, fixed, turns)) return;

    whole_.reserve(static_cast<std::size_t>(own.room_before + own.blocks + own.room_behind) * own.members);
    for (const auto& [value, slot] : copies) {
      a_.vmovsd(temporary[0], memory(whole_.home(value)));
      a_.vmovsd(x86::ptr_64(buffer_, bytes(slot)), temporary[0]);
    }
    for (const Counter& counter : counters_in_use_) a_.xor_(counter.gp.r32(), counter.gp.r32());

    const asmjit::Label again = a_.newLabel();
    a_.align(asmjit::AlignMode::kCode, 32);
    a_.bind(again);
    Registers registers(turn, {turn.inputs}, *this, program_.constants + whole_.slots());
    for (std::uint32_t i = 0; i < outside.size(); ++i)
      registers.set_home(i, outside[i].moves ? NativeHome{NativeHome::strided, 0, outside[i].number} : whole_.home(fixed[outside[i].number]));
    registers_ = &registers;
    const std::uint32_t before = now_;
    for (now_ = 0; now_ < turn.steps.size(); ++now_) {
      const Step& step = turn.steps[now_];
      translate(step);
      if (step.code == Code::store) continue;
      const std::uint32_t place = place_of_result[step.to - turn.inputs];
      if (place == none) continue;
      a_.vmovsd(places_[place], xmm(registers.register_of(step.to)));
      registers.set_home(step.to, {NativeHome::strided, 0, place});
    }
    registers_ = &whole_;
    now_ = before;
    whole_.reserve(registers.slots());
    for (const Counter& counter : counters_in_use_) a_.add(counter.gp, static_cast<std::int32_t>(8 * counter.stride));
    a_.cmp(counters_in_use_.front().gp, static_cast<std::int32_t>(8 * counters_in_use_.front().stride * turns));
    a_.jne(again);

    for (now_ = run.first; now_ < last; ++now_)
      for (const std::uint32_t operand : program_.steps[now_].operand)
        if (operand != none) whole_.skip_uses(operand, last);
    for (std::uint32_t v = 0; v < turns * turn_values; ++v)
      if (own.member[v % own.values] != none)
        whole_.set_home(own.first_value + v, {NativeHome::array, 0, own.place(v / own.values, v % own.values)});
    arrays_.push_back(std::move(own));
  }

  /// Where a value of other turns or of a loop before is found. What is at the ends of an array and was computed outside of
  /// its loop must be copied to its place.
  bool member_of_array(std::uint32_t value, std::int64_t shift, std::int64_t turns, const Array& own, std::vector<Moving>& moving,
                       std::vector<std::pair<std::uint32_t, std::uint32_t>>& copies) const {
    const std::int64_t middle = value + shift * (turns / 2);
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
    const std::int64_t first = (middle - array.first_value) / array.values - blocks_per_turn * (turns / 2);
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      const std::int64_t block = first + turn * blocks_per_turn;
      if (block >= 0 && block < array.blocks) continue;
      const auto outsider = static_cast<std::uint32_t>(value + turn * shift);
      if (block < -array.room_before || block >= array.blocks + array.room_behind) return false;
      if (whole_.home(outsider).kind == NativeHome::nowhere) return false;
      copies.emplace_back(outsider, array.place(block, of_block));
    }
    moving.push_back({Moving::value, 0, array.place(first, of_block), blocks_per_turn * array.members});
    return true;
  }

  /// Registers that hold 8 times the stride times the turn, one for each stride, and the places of what moves.
  bool give_counters(const std::vector<Moving>& moving, const std::vector<std::uint32_t>& fixed, std::int64_t turns) {
    counters_in_use_.clear();
    std::vector<std::uint32_t> blocks;
    const auto read = [&](std::uint32_t block) {
      if (std::ranges::find(blocks, block) == blocks.end()) blocks.push_back(block);
    };
    for (const std::uint32_t value : fixed)
      if (whole_.home(value).kind == NativeHome::input) read(whole_.home(value).block);
    for (const Moving& what : moving) {
      if (what.stride == 0 || std::abs(what.index) + std::abs(what.stride) * turns > farthest) return false;
      if (std::ranges::find(counters_in_use_, what.stride, &Counter::stride) == counters_in_use_.end()) {
        if (counters_in_use_.size() == counters.size()) return false;
        counters_in_use_.push_back({counters[counters_in_use_.size()], what.stride});
      }
      if (what.kind == Moving::input) read(what.block);
    }
    if (counters_in_use_.empty() || blocks.size() > pointers_.size()) return false;
    // All pointers that the loop needs are there before it, so that none is loaded in it.
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      pointers_[i].block = blocks[i];
      a_.mov(pointers_[i].gp, x86::ptr(inputs_, bytes(blocks[i])));
    }
    for (std::size_t i = blocks.size(); i < pointers_.size(); ++i) pointers_[i].block = none;
    places_.clear();
    for (const Moving& what : moving) {
      const x86::Gp base = what.kind == Moving::input ? pointer(what.block) : what.kind == Moving::output ? outputs_ : buffer_;
      const x86::Gp counter = std::ranges::find(counters_in_use_, what.stride, &Counter::stride)->gp;
      places_.push_back(x86::ptr(base, counter, 0, static_cast<std::int32_t>(8 * what.index), 8));
    }
    return true;
  }

  // Registers

  static x86::Xmm xmm(int r) { return x86::xmm(static_cast<std::uint32_t>(r)); }
  x86::Xmm in_register(std::uint32_t value) { return xmm(registers_->in_register(value)); }
  x86::Xmm result(const Step& step) { return xmm(registers_->result(step)); }

  // Operations

  void translate(const Step& step) {
    if (step.partner != none && step.partner < now_) return;
    registers_->begin(step, now_);
    const auto [a, b, c] = step.operand;
    switch (step.code) {
      case Code::add:
      case Code::mul: return registers_->register_of(a) < 0 ? binary(step, b, a) : binary(step, a, b);
      case Code::sub:
      case Code::div: return binary(step, a, b);
      case Code::square: {
        const x86::Xmm base = in_register(a);
        a_.vmulsd(result(step), base, base);
        return;
      }
      case Code::inverse:
        a_.vmovsd(temporary[0], number(one));
        return divide_one(step, a);
      case Code::neg: {
        const x86::Xmm from = in_register(a);
        a_.vxorpd(result(step), from, number(sign_bit));
        return;
      }
      case Code::sqrt: {
        const x86::Xmm from = in_register(a);
        a_.vsqrtsd(result(step), from, from);
        return;
      }
      case Code::logical_and:
      case Code::logical_or: {
        const x86::Xmm first = in_register(a), second = in_register(b);
        a_.vcmpsd(temporary[0], first, number(zero), unordered_or_differs);
        a_.vcmpsd(temporary[1], second, number(zero), unordered_or_differs);
        if (step.code == Code::logical_and)
          a_.vandpd(temporary[0], temporary[0], temporary[1]);
        else
          a_.vorpd(temporary[0], temporary[0], temporary[1]);
        return truth(step, temporary[0]);
      }
      case Code::logical_not:
        a_.vcmpsd(temporary[0], in_register(a), number(zero), equals);
        return truth(step, temporary[0]);
      case Code::abs: return absolute(step);
      case Code::sign: return sign(step);
      case Code::floor: {
        const x86::Xmm from = in_register(a);
        a_.vroundsd(temporary[0], from, from, 9);  // down, without a flag
        return frozen_or(step, temporary[0]);
      }
      case Code::min: return smaller(step, b, a);
      case Code::max: return smaller(step, a, b);
      case Code::less: return truth(step, decide(step, a, b, below));
      case Code::less_equal: return truth(step, decide(step, a, b, at_most));
      case Code::equal: return truth(step, decide(step, a, b, equals));
      case Code::not_equal: return truth(step, decide(step, a, b, unordered_or_differs));
      case Code::held:
        reads_modes_ = true;
        registers_->set_home(step.to, {NativeHome::mode, 0, step.place});
        return;
      case Code::choose: {
        const x86::Xmm condition = in_register(a), yes = in_register(b), no = in_register(c);
        a_.vcmpsd(temporary[0], condition, number(zero), unordered_or_differs);
        a_.vblendvpd(result(step), no, yes, temporary[0]);
        return;
      }
      case Code::hypot: return hypotenuse(step);
      case Code::multiply_add: return multiply_add(step, x86::Inst::kIdVfmadd231sd, x86::Inst::kIdVfmadd213sd);
      case Code::multiply_sub: return multiply_add(step, x86::Inst::kIdVfmsub231sd, x86::Inst::kIdVfmsub213sd);
      case Code::sub_product: return multiply_add(step, x86::Inst::kIdVfnmadd231sd, x86::Inst::kIdVfnmadd213sd);
      case Code::store: return store(step);
      case Code::pow:
        if (is_small_power(step, tape_)) return power(step, tape_.constants[b]);
        [[fallthrough]];
      default: return call(step);
    }
  }

  void binary(const Step& step, std::uint32_t first, std::uint32_t second) {
    const x86::Xmm left = in_register(first);
    const asmjit::InstId instruction = step.code == Code::add   ? x86::Inst::kIdVaddsd
                                       : step.code == Code::sub ? x86::Inst::kIdVsubsd
                                       : step.code == Code::mul ? x86::Inst::kIdVmulsd
                                                                : x86::Inst::kIdVdivsd;
    if (registers_->read_in_place(second)) {
      const x86::Mem right = memory(second);
      a_.emit(instruction, result(step), left, right);
    } else {
      const x86::Xmm right = in_register(second);
      a_.emit(instruction, result(step), left, right);
    }
  }

  /// a b + c and its like: the result takes the register of an operand that is used no more, where there is one. `to_sum`
  /// puts it in the place of c, `to_factor` in that of a.
  void multiply_add(const Step& step, asmjit::InstId to_sum, asmjit::InstId to_factor) {
    std::uint32_t a = step.operand[0], b = step.operand[1];
    const std::uint32_t c = step.operand[2];
    const auto leaves = [this](std::uint32_t value) { return registers_->register_of(value) >= 0 && registers_->is_done(value); };
    if (!leaves(c) && !leaves(a) && leaves(b)) std::swap(a, b);
    if (leaves(c) || !leaves(a)) {
      if (registers_->register_of(a) < 0 && registers_->register_of(b) >= 0) std::swap(a, b);
      const bool in_place = leaves(c);
      x86::Xmm sum = temporary[0];
      if (in_place)
        sum = in_register(c);
      else
        copy(sum, c);
      const x86::Xmm first = in_register(a);
      emit_last(to_sum, sum, first, b);
      if (in_place) return take_over(step, c);
      a_.vmovapd(result(step), sum);
      return;
    }
    const x86::Xmm first = in_register(a), second = in_register(b);
    emit_last(to_factor, first, second, c);
    take_over(step, a);
  }

  /// An instruction whose last operand may be read from memory.
  void emit_last(asmjit::InstId instruction, const x86::Xmm& to, const x86::Xmm& middle, std::uint32_t last) {
    if (registers_->read_in_place(last)) {
      const x86::Mem place = memory(last);
      a_.emit(instruction, to, middle, place);
    } else {
      const x86::Xmm in = in_register(last);
      a_.emit(instruction, to, middle, in);
    }
  }

  /// The result of a step is in the register of an operand that is used no more.
  void take_over(const Step& step, std::uint32_t operand) {
    const int r = registers_->register_of(operand);
    registers_->release(step);
    registers_->hold(r, step.to);
  }

  /// temporary[0] over the operand
  void divide_one(const Step& step, std::uint32_t below_it) {
    const x86::Xmm denominator = in_register(below_it);
    a_.vdivsd(result(step), temporary[0], denominator);
  }

  void store(const Step& step) {
    const std::uint32_t value = step.operand[0];
    x86::Xmm from = temporary[0];
    if (registers_->read_in_place(value))
      a_.vmovsd(from, memory(value));
    else
      from = in_register(value);
    a_.vmovsd(registers_ == &whole_ ? place_of_output(step.to) : places_[step.to], from);
    if (runs_.empty() && registers_->home(value).kind == NativeHome::nowhere)
      registers_->set_home(value, {NativeHome::output, 0, step.to});
    registers_->release(step);
  }

  /// As expr::power: squares, and the product of those that the exponent names.
  void power(const Step& step, double exponent) {
    const x86::Xmm base = in_register(step.operand[0]);
    const x86::Xmm to = temporary[0], square = temporary[1];
    x86::Xmm factor = base;
    bool begun = false;
    for (auto n = static_cast<unsigned>(std::abs(exponent)); n != 0;) {
      if (n & 1U) {
        if (begun)
          a_.vmulsd(to, to, factor);
        else
          a_.vmovapd(to, factor);
        begun = true;
      }
      if ((n >>= 1U) != 0) a_.vmulsd(square, factor, factor);
      factor = square;
    }
    if (!begun) a_.vmovsd(to, number(one));
    if (exponent < 0.0) {
      a_.vmovsd(square, number(one));
      a_.vdivsd(result(step), square, to);
    } else {
      a_.vmovapd(result(step), to);
    }
  }

  /// As expr::hypotenuse.
  void hypotenuse(const Step& step) {
    const x86::Xmm x = in_register(step.operand[0]), y = in_register(step.operand[1]);
    const x86::Xmm side = temporary[0], mask = temporary[1], scale = temporary[2];
    a_.vandpd(side, x, number(all_but_sign));
    a_.vandpd(mask, y, number(all_but_sign));
    a_.vmaxsd(side, side, mask);
    a_.vmovapd(scale, x86::ptr(numbers_[one], 0, 16));
    a_.vcmpsd(mask, side, number(large_side), above);
    a_.vblendvpd(scale, scale, x86::ptr(numbers_[shrinking], 0, 16), mask);
    a_.vcmpsd(mask, side, number(small_side), below);
    a_.vblendvpd(scale, scale, x86::ptr(numbers_[growing], 0, 16), mask);
    a_.vmulsd(side, x, scale);
    a_.vmulsd(mask, y, scale);
    a_.vmulsd(side, side, side);
    a_.vmulsd(mask, mask, mask);
    a_.vaddsd(side, side, mask);
    a_.vsqrtsd(side, side, side);
    a_.vmovapd(mask, number(inverse_bits));
    a_.vpsubq(mask, mask, scale);
    a_.vmulsd(result(step), side, mask);
  }

  // Operations that a frozen value may decide. The mode at place 0 is free for ever.

  /// The mask of a comparison in temporary[1], or of the mode with 0 unless that is free.
  x86::Xmm decide(const Step& step, std::uint32_t left, std::uint32_t right, Predicate predicate) {
    const x86::Xmm first = in_register(left), second = in_register(right);
    a_.vcmpsd(temporary[1], first, second, predicate);
    if (step.place != 0) {
      a_.vmovsd(temporary[2], mode(step));
      a_.vcmpsd(temporary[0], temporary[2], number(zero), predicate);
      a_.vcmpsd(temporary[2], temporary[2], temporary[2], ordered);
      a_.vblendvpd(temporary[1], temporary[1], temporary[0], temporary[2]);
    }
    return temporary[1];
  }

  /// b where `left` is below `right`, else a
  void smaller(const Step& step, std::uint32_t left, std::uint32_t right) {
    decide(step, left, right, below);
    const x86::Xmm first = in_register(step.operand[0]), second = in_register(step.operand[1]);
    a_.vblendvpd(result(step), first, second, temporary[1]);
  }

  void truth(const Step& step, const x86::Xmm& mask) { a_.vandpd(result(step), mask, x86::ptr(numbers_[one], 0, 16)); }

  /// The mode itself, or what is given where the mode is free.
  void frozen_or(const Step& step, const x86::Xmm& free) {
    if (step.place == 0) {
      a_.vmovapd(result(step), free);
      return;
    }
    a_.vmovsd(temporary[2], mode(step));
    a_.vcmpsd(temporary[1], temporary[2], temporary[2], ordered);
    a_.vblendvpd(result(step), free, temporary[2], temporary[1]);
  }

  void sign(const Step& step) {
    const x86::Xmm from = in_register(step.operand[0]);
    a_.vcmpsd(temporary[1], from, number(zero), below);
    a_.vmovsd(temporary[2], number(minus_one));
    a_.vblendvpd(temporary[0], from, temporary[2], temporary[1]);
    a_.vcmpsd(temporary[1], from, number(zero), above);
    a_.vmovsd(temporary[2], number(one));
    a_.vblendvpd(temporary[0], temporary[0], temporary[2], temporary[1]);
    frozen_or(step, temporary[0]);
  }

  void absolute(const Step& step) {
    const x86::Xmm from = in_register(step.operand[0]);
    a_.vandpd(temporary[0], from, number(all_but_sign));
    if (step.place == 0) {
      a_.vmovapd(result(step), temporary[0]);
      return;
    }
    a_.vmovsd(temporary[1], mode(step));
    a_.vcmpsd(temporary[2], temporary[1], number(zero), below);
    a_.vandpd(temporary[2], temporary[2], number(sign_bit));
    a_.vxorpd(temporary[2], temporary[2], from);
    a_.vcmpsd(temporary[1], temporary[1], temporary[1], ordered);
    a_.vblendvpd(result(step), temporary[0], temporary[2], temporary[1]);
  }

  // Calls. They may change every register of numbers: what is needed later goes to memory first.

  void call(const Step& step) {
    const auto [a, b, c] = step.operand;
    const bool both = step.partner != none;
    if (b != none) copy(x86::xmm15, b);
    copy(x86::xmm14, a);
    registers_->release(step);
    registers_->empty();
    a_.vmovapd(x86::xmm0, x86::xmm14);
    if (b != none) a_.vmovapd(x86::xmm1, x86::xmm15);
    std::uint64_t function = 0;
    if (both) {
      const std::uint32_t other = program_.steps[step.partner].to;
      const bool is_sine = step.code == Code::sin;
      const std::uint32_t sine = is_sine ? step.to : other, cosine = is_sine ? other : step.to;
      for (const auto& [value, pointer] : {std::pair{sine, x86::rdi}, std::pair{cosine, x86::rsi}}) {
        a_.lea(pointer, memory(registers_->make_home(value)));
      }
      function = reinterpret_cast<std::uint64_t>(&::sincos);
    } else if (step.code == Code::table) {
      a_.mov(x86::rdi, reinterpret_cast<std::uint64_t>(&tape_.tables[step.table]));
      if (step.place == 0)
        a_.xor_(x86::esi, x86::esi);
      else
        a_.lea(x86::rsi, mode(step));
      function = reinterpret_cast<std::uint64_t>(&table_value);
    } else {
      function = function_of(step.code);
    }
    a_.mov(x86::rax, function);
    a_.call(x86::rax);
    for (std::size_t i = 2; i < pointers_.size(); ++i) pointers_[i].block = none;  // the first two are kept by a call
    if (!both) registers_->hold(0, step.to);
  }

  void copy(const x86::Xmm& to, std::uint32_t value) {
    if (const int r = registers_->register_of(value); r >= 0)
      a_.vmovapd(to, xmm(r));
    else
      a_.vmovsd(to, memory(value));
  }

  const Function::Tape& tape_;
  const NativeProgram program_;
  x86::Assembler a_;
  std::uint32_t now_ = 0;  ///< the step being translated

  using Registers = NativeRegisters<register_count, Translator>;
  Registers whole_;      ///< of the whole program
  Registers* registers_;  ///< these, or those of the turn of a loop
  bool reads_modes_ = false;

  std::vector<NativeRun> runs_;
  std::vector<Array> arrays_;  ///< of the loops so far
  static constexpr std::array counters{x86::rbx, x86::rbp, x86::r12, x86::r13, x86::r14, x86::r15};
  struct Counter {
    x86::Gp gp;
    std::int64_t stride;
  };
  std::vector<Counter> counters_in_use_;
  std::vector<x86::Mem> places_;  ///< of what moves in the loop that is translated

  x86::Gp inputs_ = x86::rdi, outputs_ = x86::rsi, buffer_ = x86::rdx, modes_ = x86::rcx;
  struct Pointer {
    x86::Gp gp;
    std::uint32_t block = none;
  };
  std::array<Pointer, 5> pointers_{Pointer{x86::rax}, Pointer{x86::r8}, Pointer{x86::r9}, Pointer{x86::r10},
                                   Pointer{x86::r11}};
  std::size_t next_pointer_ = 0;
  std::array<asmjit::Label, number_count> numbers_;
};

/// Remembers that something could not be encoded.
class Faults final : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error, const char*, asmjit::BaseEmitter*) override { any = true; }
  bool any = false;
};

}  // namespace

void NativeCode::translate(const Function::Tape& tape) const {
  asmjit::CodeHolder code;
  Faults faults;
  if (code.init(asmjit::Environment::host()) != asmjit::kErrorOk) return;
  code.setErrorHandler(&faults);
  Translator translator(tape, code);
  translator();
  if (faults.any || code.flatten() != asmjit::kErrorOk || code.resolveUnresolvedLinks() != asmjit::kErrorOk) return;
  void* memory = pages_.reserve(code.codeSize());
  if (memory == nullptr || code.relocateToBase(reinterpret_cast<std::uint64_t>(memory)) != asmjit::kErrorOk ||
      code.copyFlattenedData(memory, code.codeSize()) != asmjit::kErrorOk || !pages_.seal())
    return;
  slots_ = translator.slots();
  reads_modes_ = translator.reads_modes();
  entry_.store(reinterpret_cast<Entry>(memory), std::memory_order_release);
}

bool makes_native_code() {
  static const bool able = [] {
    const char* wish = std::getenv("DAEDALUS_NATIVE");
    const bool off = wish != nullptr && std::string_view(wish) == "0";
    const asmjit::CpuInfo& processor = asmjit::CpuInfo::host();
    return !off && processor.hasFeature(asmjit::CpuFeatures::X86::kAVX) && processor.hasFeature(asmjit::CpuFeatures::X86::kFMA);
  }();
  return able;
}

}  // namespace daedalus::compile

#else

namespace daedalus::compile {

void NativeCode::translate(const Function::Tape&) const {}
bool makes_native_code() { return false; }

}  // namespace daedalus::compile

#endif

namespace daedalus::compile {

void NativeCode::make(const Function::Tape& tape) const {
  std::call_once(once_, [&] {
    if (makes_native_code() && tape.outputs > 0) translate(tape);
  });
}

void NativeCode::leave() const {
  std::call_once(once_, [] {});
}

bool is_native(const Function& function) { return function.tape().native.entry() != nullptr; }

Function called_seldom(Function function) {
  function.tape().native.leave();
  return function;
}

}  // namespace daedalus::compile
