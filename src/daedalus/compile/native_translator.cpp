// One pass over the tape, one instruction of the processor for most of its instructions. A value that loses its register
// (native_registers.hpp) goes to the caller's buffer, never to the stack. Every operation is rounded once and in the order of
// the tape, so that results equal the interpreter's to the last bit; sine and cosine of one argument come from one call, which
// glibc computes with the same code as either. On several lanes functions are called lane after lane, with the same outcome, or
// those of libmvec are, which are less exact.
#include "daedalus/compile/native_translator.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "daedalus/base/check.hpp"
#include "daedalus/compile/native_functions.hpp"
#include "daedalus/compile/native_loops.hpp"
#include "daedalus/compile/native_packs.hpp"
#include "daedalus/compile/native_program.hpp"
#include "daedalus/compile/native_registers.hpp"

namespace daedalus::compile {

namespace {

using Step = NativeProgram::Step;
using Machine = NativeMachine;
using Register = Machine::Register;
using Mask = Machine::Mask;
using Number = Machine::Number;
using Predicate = Machine::Predicate;
constexpr std::uint32_t none = NativeProgram::none;

class Translator {
 public:
  Translator(const Function::Tape& tape, Elementary elementary, Machine& machine)
      : Translator(tape, elementary, machine, plan(tape, machine.lanes())) {}

  NativeTranslation operator()() {
    m_.begin(program_.calls, !loops_.runs().empty(), !program_.packs.empty());
    auto run = loops_.runs().begin();
    for (now_ = 0; now_ < program_.steps.size(); ++now_) {
      if (run != loops_.runs().end() && run->first == now_) {
        roll(*run++);
        if (now_ == program_.steps.size()) break;
      }
      translate(program_.steps[now_]);
    }
    m_.end();
    return {reads_modes_, whole_.slots()};
  }

  // What registers ask for.
  void load(int to, const NativeHome& from, bool pack) {
    if (from.spread) return m_.spread({to}, place(from));
    on_width_of(pack, [&] { m_.move({to}, place(from)); });
  }
  void store(const NativeHome& to, int from, bool pack) {
    on_width_of(pack, [&] { m_.store(place(to), {from}); });
  }

 private:
  struct Plan {
    NativeProgram program;
    std::vector<NativeRun> runs;  ///< to be loops
  };

  /// A program whose loops are much shorter than its line fits into the cache for instructions with them, which no pack does for
  /// it. All others are packed if that gains something; they have loops only if not.
  static Plan plan(const Function::Tape& tape, std::size_t lanes) {
    constexpr std::size_t too_long = 8000;  // for the cache
    Plan plan{NativeProgram(tape), {}};
    const bool is_long = plan.program.steps.size() > too_long;
    if (is_long) plan.runs = NativeLoops::runs_worth_rolling(plan.program, tape);
    if (lanes == 1 && Machine::has(NativeProgram::pack_lanes) && !NativeLoops::shorten(plan.program, plan.runs))
      if (auto with_packs = packed(plan.program, tape)) return {std::move(*with_packs), {}};
    if (!is_long) plan.runs = NativeLoops::runs_worth_rolling(plan.program, tape);
    return plan;
  }

  Translator(const Function::Tape& tape, Elementary elementary, Machine& machine, Plan plan)
      : tape_(tape),
        elementary_(elementary),
        program_(std::move(plan.program)),
        loops_(program_, tape, machine.lanes(), std::move(plan.runs)),
        m_(machine),
        whole_(program_, tape.blocks, *this, machine.register_count(), program_.constants),
        registers_(&whole_) {}

  /// A pack moves as a whole, a number alone, whatever the step works on that asks for it.
  template <class Act>
  void on_width_of(bool pack, Act&& act) {
    if (program_.packs.empty()) return act();
    m_.work_on(pack ? NativeProgram::pack_lanes : 1);
    act();
    m_.work_on(works_on_packs_ ? NativeProgram::pack_lanes : 1);
  }

  // Memory

  /// Notes stand right before the buffer.
  NativePlace place_of_output(std::uint32_t output) const {
    return output >= tape_.outputs - tape_.notes
               ? NativePlace{NativePlace::buffer, 0, static_cast<std::int64_t>(output) - static_cast<std::int64_t>(tape_.outputs)}
               : NativePlace{NativePlace::output, 0, output};
  }

  NativePlace place(const NativeHome& home) const {
    switch (home.kind) {
      case NativeHome::buffer:
      case NativeHome::lane:
      case NativeHome::array: return {NativePlace::buffer, 0, home.index};
      case NativeHome::strided: return (*places_)[home.index];
      case NativeHome::input: return {NativePlace::input, home.block, home.index};
      case NativeHome::mode: return {NativePlace::mode, 0, home.index};
      case NativeHome::output: return place_of_output(home.index);
      case NativeHome::nowhere: break;
    }
    DAEDALUS_CHECK(false, "a value is nowhere at step {}", now_);
  }
  NativePlace place(std::uint32_t value) const { return place(registers_->home(value)); }

  NativePlace mode(const Step& step) {
    reads_modes_ = true;
    return {NativePlace::mode, 0, step.place};
  }

  // Registers

  Register in_register(std::uint32_t value) { return {registers_->in_register(value)}; }
  Register result(const Step& step) { return {registers_->result(step)}; }
  Register temporary(int k) const { return m_.temporary(k); }

  /// Where an operand is read best: in memory, if it is used no more.
  Machine::Operand operand(std::uint32_t value) {
    if (registers_->read_in_place(value) && !registers_->home(value).spread)
      if (const NativePlace there = place(value); m_.reads(there)) return there;
    return in_register(value);
  }

  void copy(Register to, std::uint32_t value) {
    if (const int r = registers_->register_of(value); r >= 0)
      m_.move(to, Register{r});
    else
      load(to.number, registers_->home(value), program_.is_pack(value));
  }

  // Loops

  /// Translates a run, or the greatest part of it, as a loop, and moves now_ behind it, if that can be done.
  void roll(const NativeRun& run) {
    whole_.empty();
    const auto home = [this](std::uint32_t value) -> const NativeHome& { return whole_.home(value); };
    const std::optional<NativeLoop> loop = loops_.loop(run, home, program_.constants + whole_.slots());
    if (!loop) return;
    whole_.reserve(loop->room);
    for (const auto& [value, to] : loop->copies) {
      m_.move(temporary(0), place(value));
      m_.store(to, temporary(0));
    }
    m_.begin_loop(loop->strides, loop->blocks);
    const NativeProgram& turn = loop->turn;
    Registers registers(turn, {turn.inputs}, *this, m_.register_count(), program_.constants + whole_.slots());
    for (std::uint32_t i = 0; i < loop->outside.size(); ++i) {
      const auto [moves, number] = loop->outside[i];
      registers.set_home(i, moves ? NativeHome{NativeHome::strided, 0, number} : whole_.home(loop->fixed[number]));
    }
    registers_ = &registers;
    places_ = &loop->places;
    for (now_ = 0; now_ < turn.steps.size(); ++now_) {
      const Step& step = turn.steps[now_];
      translate(step);
      if (step.code == Code::store) continue;
      const std::uint32_t kept = loop->place_of_result[step.to - turn.inputs];
      if (kept == none) continue;
      m_.store(loop->places[kept], {registers.register_of(step.to)});
      registers.set_home(step.to, {NativeHome::strided, 0, kept});
    }
    registers_ = &whole_;
    whole_.reserve(registers.slots());
    m_.end_loop(loop->turns);

    for (now_ = loop->first; now_ < loop->last; ++now_)
      for (const std::uint32_t value : program_.steps[now_].operand)
        if (value != none) whole_.skip_uses(value, loop->last);
    for (const auto& [value, slot] : loop->kept) whole_.set_home(value, {NativeHome::array, 0, slot});
  }

  // Operations

  void translate(const Step& step) {
    if (step.partner != none && step.partner < now_) return;
    registers_->begin(step, now_);
    switch (step.kind) {
      case Step::single: return compute(step);
      case Step::spread: return spread(step);
      case Step::collect: return collect(step);
      case Step::packed: break;
    }
    works_on_packs_ = true;
    m_.work_on(NativeProgram::pack_lanes);
    compute(step);
    works_on_packs_ = false;
    m_.work_on(1);
    if (step.code != Code::store) registers_->leave_lanes(step.to);
  }

  /// A number that has a place of its own for ever is read from there again where the register is needed.
  void spread(const Step& step) {
    const std::uint32_t value = step.operand[0];
    NativeHome home = registers_->home(value);
    const int r = registers_->register_of(value);
    const Machine::Operand from = r >= 0 ? Machine::Operand(Register{r}) : Machine::Operand(place(value));
    m_.spread(result(step), from);
    if (value >= program_.constants + program_.inputs) return;
    if (value < program_.constants) home.kind = NativeHome::array;
    home.spread = true;
    registers_->set_home(step.to, home);
  }

  void collect(const Step& step) {
    const auto operand_at = [&](int k) -> Machine::Operand {
      if (const int r = registers_->register_of(step.operand[k]); r >= 0) return Register{r};
      return place(step.operand[k]);
    };
    m_.pair(temporary(0), operand_at(0), operand_at(1));
    m_.pair(temporary(1), operand_at(2), operand_at(3));
    m_.join(result(step), temporary(0), temporary(1));
  }

  void compute(const Step& step) {
    using enum Machine::Arithmetic;
    const std::uint32_t a = step.operand[0], b = step.operand[1];
    switch (step.code) {
      case Code::add: return commutative(add, step);
      case Code::mul: return commutative(mul, step);
      case Code::sub: return binary(sub, step, a, b);
      case Code::div: return binary(div, step, a, b);
      case Code::square: {
        const Register base = in_register(a);
        return m_.compute(mul, result(step), base, base);
      }
      case Code::inverse: {
        m_.move(temporary(0), Number::one);
        const Register below_it = in_register(a);
        return m_.compute(div, result(step), temporary(0), below_it);
      }
      case Code::neg: {
        const Register from = in_register(a);
        return m_.bits(Machine::Bits::differ, result(step), from, Number::sign_bit);
      }
      case Code::sqrt: {
        const Register from = in_register(a);
        return m_.root(result(step), from);
      }
      case Code::logical_and:
      case Code::logical_or: {
        const Register first = in_register(a), second = in_register(b);
        m_.compare(Mask{0}, first, Number::zero, Predicate::unordered_or_differs);
        m_.compare(Mask{1}, second, Number::zero, Predicate::unordered_or_differs);
        if (step.code == Code::logical_and)
          m_.both(Mask{0}, Mask{0}, Mask{1});
        else
          m_.either(Mask{0}, Mask{0}, Mask{1});
        return m_.truth(result(step), Mask{0});
      }
      case Code::logical_not:
        m_.compare(Mask{0}, in_register(a), Number::zero, Predicate::equals);
        return m_.truth(result(step), Mask{0});
      case Code::abs: return absolute(step);
      case Code::sign: return sign(step);
      case Code::floor:
        m_.floor(temporary(0), in_register(a));
        return frozen_or(step, temporary(0));
      case Code::min: return step.place == 0 ? binary(least, step, b, a) : smaller(step, b, a);
      case Code::max: return step.place == 0 ? binary(largest, step, b, a) : smaller(step, a, b);
      case Code::less: return truth_of(step, Predicate::below);
      case Code::less_equal: return truth_of(step, Predicate::at_most);
      case Code::equal: return truth_of(step, Predicate::equals);
      case Code::not_equal: return truth_of(step, Predicate::unordered_or_differs);
      case Code::held:
        reads_modes_ = true;
        return registers_->set_home(step.to, {NativeHome::mode, 0, step.place});
      case Code::choose: {
        const Register condition = in_register(a), yes = in_register(b), no = in_register(step.operand[2]);
        m_.compare(Mask{0}, condition, Number::zero, Predicate::unordered_or_differs);
        return m_.select(result(step), no, yes, Mask{0});
      }
      case Code::hypot: return hypotenuse(step);
      case Code::multiply_add: return fuse(step, Machine::Fused::product_plus);
      case Code::multiply_sub: return fuse(step, Machine::Fused::product_minus);
      case Code::sub_product: return fuse(step, Machine::Fused::minus_product);
      case Code::store: return store(step);
      case Code::pow:
        if (is_small_power(step, tape_)) return power(step, tape_.constants[b]);
        [[fallthrough]];
      default: return call(step);
    }
  }

  void commutative(Machine::Arithmetic what, const Step& step) {
    const std::uint32_t a = step.operand[0], b = step.operand[1];
    return registers_->register_of(a) < 0 ? binary(what, step, b, a) : binary(what, step, a, b);
  }

  void binary(Machine::Arithmetic what, const Step& step, std::uint32_t first, std::uint32_t second) {
    const Register left = in_register(first);
    const Machine::Operand right = operand(second);
    m_.compute(what, result(step), left, right);
  }

  /// a b + c and its like: the result takes the register of an operand that is used no more, where there is one.
  void fuse(const Step& step, Machine::Fused what) {
    std::uint32_t a = step.operand[0], b = step.operand[1];
    const std::uint32_t c = step.operand[2];
    const auto leaves = [this](std::uint32_t value) { return registers_->register_of(value) >= 0 && registers_->is_done(value); };
    if (!leaves(c) && !leaves(a) && leaves(b)) std::swap(a, b);
    if (leaves(c) || !leaves(a)) {
      if (registers_->register_of(a) < 0 && registers_->register_of(b) >= 0) std::swap(a, b);
      const bool in_place = leaves(c);
      Register sum = temporary(0);
      if (in_place)
        sum = in_register(c);
      else
        copy(sum, c);
      const Register first = in_register(a);
      m_.fuse_into_sum(what, sum, first, operand(b));
      if (in_place) return take_over(step, c);
      return m_.move(result(step), sum);
    }
    const Register first = in_register(a), second = in_register(b);
    m_.fuse_into_factor(what, first, second, operand(c));
    take_over(step, a);
  }

  /// The result of a step is in the register of an operand that is used no more.
  void take_over(const Step& step, std::uint32_t value) {
    const int r = registers_->register_of(value);
    registers_->release(step);
    registers_->hold(r, step.to);
  }

  void store(const Step& step) {
    const std::uint32_t value = step.operand[0];
    Register from = temporary(0);
    if (registers_->read_in_place(value))
      copy(from, value);
    else
      from = in_register(value);
    m_.store(registers_ == &whole_ ? place_of_output(step.to) : (*places_)[step.to], from);
    if (loops_.runs().empty() && registers_->home(value).kind == NativeHome::nowhere)
      registers_->set_home(value, {NativeHome::output, 0, step.to});
    registers_->release(step);
  }

  /// As expr::power: squares, and the product of those that the exponent names, with a root for half an exponent.
  void power(const Step& step, double exponent) {
    using enum Machine::Arithmetic;
    Register base = in_register(step.operand[0]);
    const Register to = temporary(0), square = temporary(1);
    const bool half = exponent != std::floor(exponent);
    if (half) {
      m_.compute(add, temporary(2), base, Number::zero);  // the root of -0 is 0
      base = temporary(2);
    }
    Register factor = base;
    bool begun = false;
    for (auto n = static_cast<unsigned>(std::abs(exponent)); n != 0;) {
      if (n & 1U) {
        if (begun)
          m_.compute(mul, to, to, factor);
        else
          m_.move(to, factor);
        begun = true;
      }
      if ((n >>= 1U) != 0) m_.compute(mul, square, factor, factor);
      factor = square;
    }
    if (half) {
      m_.root(square, base);
      if (begun)
        m_.compute(mul, to, to, square);
      else
        m_.move(to, square);
    } else if (!begun) {
      m_.move(to, Number::one);
    }
    if (exponent < 0.0) {
      m_.move(square, Number::one);
      m_.compute(div, result(step), square, to);
    } else {
      m_.move(result(step), to);
    }
  }

  /// As expr::hypotenuse.
  void hypotenuse(const Step& step) {
    using enum Machine::Arithmetic;
    using Bits = Machine::Bits;
    const Register x = in_register(step.operand[0]), y = in_register(step.operand[1]);
    const Register side = temporary(0), other = temporary(1), scale = temporary(2);
    const Mask mask{1};
    m_.bits(Bits::both, side, x, Number::all_but_sign);
    m_.bits(Bits::both, other, y, Number::all_but_sign);
    m_.compute(largest, side, side, other);
    m_.move(scale, Number::one);
    m_.compare(mask, side, Number::large_side, Predicate::above);
    m_.select(scale, scale, Number::shrinking, mask);
    m_.compare(mask, side, Number::small_side, Predicate::below);
    m_.select(scale, scale, Number::growing, mask);
    m_.compute(mul, side, x, scale);
    m_.compute(mul, other, y, scale);
    m_.compute(mul, side, side, side);
    m_.compute(mul, other, other, other);
    m_.compute(add, side, side, other);
    m_.root(side, side);
    m_.move(other, Number::inverse_bits);
    m_.bits(Bits::minus, other, other, scale);
    m_.compute(mul, result(step), side, other);
  }

  // Operations that a frozen value may decide. The mode at place 0 is free for ever.

  /// Leaves in mask 1 the outcome of a comparison, or of that of the mode with 0 unless this is free.
  void decide(const Step& step, std::uint32_t left, std::uint32_t right, Predicate predicate) {
    const Register first = in_register(left), second = in_register(right);
    m_.compare(Mask{1}, first, second, predicate);
    if (step.place == 0) return;
    m_.move(temporary(2), mode(step));
    m_.compare(Mask{0}, temporary(2), Number::zero, predicate);
    m_.compare(Mask{2}, temporary(2), temporary(2), Predicate::ordered);
    m_.select(Mask{1}, Mask{1}, Mask{0}, Mask{2});
  }

  void truth_of(const Step& step, Predicate predicate) {
    decide(step, step.operand[0], step.operand[1], predicate);
    m_.truth(result(step), Mask{1});
  }

  /// b where `left` is below `right`, else a
  void smaller(const Step& step, std::uint32_t left, std::uint32_t right) {
    decide(step, left, right, Predicate::below);
    const Register first = in_register(step.operand[0]), second = in_register(step.operand[1]);
    m_.select(result(step), first, second, Mask{1});
  }

  /// The mode itself, or what is given, not in temporaries 1 and 2, where the mode is free.
  void frozen_or(const Step& step, Register free) {
    if (step.place == 0) return m_.move(result(step), free);
    m_.move(temporary(2), mode(step));
    m_.compare(Mask{1}, temporary(2), temporary(2), Predicate::ordered);
    m_.select(result(step), free, temporary(2), Mask{1});
  }

  void sign(const Step& step) {
    const Register from = in_register(step.operand[0]);
    m_.compare(Mask{1}, from, Number::zero, Predicate::below);
    m_.select(temporary(0), from, Number::minus_one, Mask{1});
    m_.compare(Mask{1}, from, Number::zero, Predicate::above);
    m_.select(temporary(0), temporary(0), Number::one, Mask{1});
    frozen_or(step, temporary(0));
  }

  void absolute(const Step& step) {
    using Bits = Machine::Bits;
    const Register from = in_register(step.operand[0]);
    if (step.place == 0) return m_.bits(Bits::both, result(step), from, Number::all_but_sign);
    m_.bits(Bits::differ, temporary(0), from, Number::sign_bit);
    m_.move(temporary(1), mode(step));
    m_.compare(Mask{2}, temporary(1), Number::zero, Predicate::below);
    m_.select(temporary(0), from, temporary(0), Mask{2});
    m_.compare(Mask{2}, temporary(1), temporary(1), Predicate::ordered);
    m_.bits(Bits::both, temporary(1), from, Number::all_but_sign);
    m_.select(result(step), temporary(1), temporary(0), Mask{2});
  }

  // Calls. They may change every register of numbers: what is needed later goes to memory first.

  void call(const Step& step) {
    const std::size_t lanes = m_.lanes();
    if (step.kind == Step::packed) return turn_pack(step);
    if (lanes == 1) return call_scalar(step);
    if (elementary_ == Elementary::exact || step.code == Code::table) return call_each(step);
    const bool both = step.partner != none;
    for (const Code code : {step.code, both ? program_.steps[step.partner].code : step.code})
      if (NativeFunctions::of_lanes(code, lanes) == 0) return call_each(step);
    both ? call_both_of_lanes(step) : call_of_lanes(step);
  }

  void call_scalar(const Step& step) {
    const bool both = step.partner != none, table = step.code == Code::table;
    take_arguments(step);
    if (both) {
      const auto [sine, cosine] = partners(step);
      m_.pass_address(0, sine);
      m_.pass_address(1, cosine);
    } else if (table) {
      pass_table(step);
    }
    m_.call(both    ? NativeFunctions::sine_and_cosine()
            : table ? NativeFunctions::table()
                    : NativeFunctions::scalar(step.code),
            Machine::Callee::scalar);
    if (!both) registers_->hold(0, step.to);
  }

  /// Sines and cosines of a pack, which is read from memory.
  void turn_pack(const Step& step) {
    const std::uint32_t argument = step.operand[0];
    NativePlace from = exchange(0);
    if (registers_->register_of(argument) < 0 && !registers_->home(argument).spread) {
      from = place(argument);
    } else {
      copy(temporary(0), argument);
      m_.store(from, temporary(0));
    }
    registers_->release(step);
    registers_->empty();
    const auto [sine, cosine] = partners(step);
    m_.pass_address(0, from);
    m_.pass_address(1, sine);
    m_.pass_address(2, cosine);
    m_.call(NativeFunctions::sine_and_cosine_of_four(), Machine::Callee::scalar);
    registers_->leave_lanes(program_.steps[step.partner].to);
  }

  void call_of_lanes(const Step& step) {
    take_arguments(step);
    m_.call(NativeFunctions::of_lanes(step.code, m_.lanes()), Machine::Callee::lanes);
    registers_->hold(0, step.to);
  }

  /// One after the other: together they would be no faster, and not quite the same as each alone.
  void call_both_of_lanes(const Step& step) {
    const NativePlace x = exchange(0);
    take_arguments(step);
    m_.store(x, {0});
    const auto [sine, cosine] = partners(step);
    m_.call(NativeFunctions::of_lanes(Code::sin, m_.lanes()), Machine::Callee::lanes);
    m_.store(sine, {0});
    m_.move({0}, x);
    m_.call(NativeFunctions::of_lanes(Code::cos, m_.lanes()), Machine::Callee::lanes);
    m_.store(cosine, {0});
  }

  /// Brings the operands into registers 0 and 1, and all that is needed later to memory.
  void take_arguments(const Step& step) {
    const std::uint32_t a = step.operand[0], b = step.operand[1];
    if (b != none) copy(temporary(2), b);
    copy(temporary(1), a);
    registers_->release(step);
    registers_->empty();
    m_.move({0}, temporary(1));
    if (b != none) m_.move({1}, temporary(2));
  }

  /// Lane after lane, through memory.
  void call_each(const Step& step) {
    const std::uint32_t a = step.operand[0], b = step.operand[1];
    const NativePlace x = exchange(0), y = exchange(1);
    const auto leave = [&](std::uint32_t value, const NativePlace& to) {
      copy(temporary(0), value);
      m_.store(to, temporary(0));
    };
    leave(a, x);
    if (b != none) leave(b, y);
    registers_->release(step);
    registers_->empty();
    const std::size_t lanes = m_.lanes();
    std::uint64_t function = 0;
    if (step.partner != none) {
      const auto [sine, cosine] = partners(step);
      m_.pass_address(0, x);
      m_.pass_address(1, sine);
      m_.pass_address(2, cosine);
      function = NativeFunctions::each_sine_and_cosine(lanes);
    } else if (step.code == Code::table) {
      pass_table(step);
      m_.pass_address(2, x);
      function = NativeFunctions::each_table(lanes);
    } else {
      m_.pass(0, NativeFunctions::scalar(step.code));
      m_.pass_address(1, x);
      m_.pass_address(2, y);
      function = NativeFunctions::each_lane(lanes, b == none ? 1 : 2);
    }
    m_.call(function, Machine::Callee::scalar);
    if (step.partner != none) return;
    m_.move({0}, x);
    registers_->hold(0, step.to);
  }

  /// Places for arguments of calls, the same for all of them.
  NativePlace exchange(int number) {
    if (!exchange_) exchange_ = static_cast<std::int64_t>(whole_.reserve(program_.packs.empty() ? 2 : NativeProgram::pack_lanes));
    return {NativePlace::buffer, 0, *exchange_ + number};
  }

  void pass_table(const Step& step) {
    m_.pass(0, reinterpret_cast<std::uint64_t>(&tape_.tables[step.table]));
    if (step.place == 0)
      m_.pass(1, 0);
    else
      m_.pass_address(1, mode(step));
  }

  /// Where a call leaves the sine and the cosine of one argument.
  std::pair<NativePlace, NativePlace> partners(const Step& step) {
    const std::uint32_t other = program_.steps[step.partner].to;
    const bool is_sine = step.code == Code::sin;
    const NativePlace sine = place(registers_->make_home(is_sine ? step.to : other));
    return {sine, place(registers_->make_home(is_sine ? other : step.to))};
  }

  const Function::Tape& tape_;
  const Elementary elementary_;
  const NativeProgram program_;
  NativeLoops loops_;
  Machine& m_;
  std::uint32_t now_ = 0;  ///< the step being translated
  bool works_on_packs_ = false;

  using Registers = NativeRegisters<Translator>;
  Registers whole_;       ///< of the whole program
  Registers* registers_;  ///< these, or those of the turn of a loop
  const std::vector<NativePlace>* places_ = nullptr;  ///< of what moves in the loop that is translated
  std::optional<std::int64_t> exchange_;
  bool reads_modes_ = false;
};

}  // namespace

NativeTranslation translate(const Function::Tape& tape, Elementary elementary, NativeMachine& machine) {
  return Translator(tape, elementary, machine)();
}

}  // namespace daedalus::compile
