#include "daedalus/compile/straight_line.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "daedalus/base/check.hpp"
#include "daedalus/compile/tape.hpp"

namespace daedalus::compile {

namespace {

/// Constants are numbered from here on.
constexpr StraightLine::Value first_constant = 0x80000000U;
constexpr std::uint32_t none = 0xFFFFFFFFU;

}  // namespace

struct StraightLine::Parts {
  struct Same {
    std::size_t operator()(const Instruction& instruction) const {
      std::uint64_t hash = static_cast<std::uint64_t>(instruction.code);
      for (const std::uint32_t part : {instruction.a, instruction.b, instruction.c}) {
        hash = (hash ^ part) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 32U;
      }
      return hash;
    }
    bool operator()(const Instruction& one, const Instruction& other) const {
      return one.code == other.code && one.a == other.a && one.b == other.b && one.c == other.c;
    }
  };
  std::vector<double> constants;
  std::unordered_map<std::uint64_t, Value> constant_of;
  std::vector<Instruction> code;  ///< over values; the result of the first is numbered after the inputs
  std::unordered_map<Instruction, Value, Same, Same> known;
  std::vector<expr::Graph::TableUse> tables;
};

StraightLine::StraightLine(const std::vector<std::size_t>& blocks)
    : blocks_(blocks), parts_(std::make_unique<Parts>()) {
  for (const std::size_t size : blocks) {
    first_of_block_.push_back(inputs_);
    inputs_ += static_cast<Value>(size);
  }
}

StraightLine::~StraightLine() = default;

StraightLine::Values StraightLine::block(std::size_t number) const {
  Values values(blocks_[number]);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = input(number, i);
  return values;
}

StraightLine::Value StraightLine::constant(double number) {
  const auto [found, fresh] = parts_->constant_of.try_emplace(
      std::bit_cast<std::uint64_t>(number), first_constant + static_cast<Value>(parts_->constants.size()));
  if (fresh) parts_->constants.push_back(number);
  return found->second;
}

StraightLine::Value StraightLine::compute(const Instruction& instruction) {
  const auto [found, fresh] = parts_->known.try_emplace(instruction, inputs_ + static_cast<Value>(parts_->code.size()));
  if (fresh) parts_->code.push_back(instruction);
  return found->second;
}

StraightLine::Value StraightLine::sum(Value a, Value b) { return compute({Code::add, 0, a, b}); }
StraightLine::Value StraightLine::product(Value a, Value b) { return compute({Code::mul, 0, a, b}); }
StraightLine::Value StraightLine::multiply_add(Value a, Value b, Value c) {
  return compute({Code::multiply_add, 0, a, b, c});
}

StraightLine::Value StraightLine::difference(Value a, Value b) { return compute({Code::sub, 0, a, b}); }
StraightLine::Value StraightLine::magnitude(Value a) { return compute({Code::abs, 0, a}); }
StraightLine::Value StraightLine::larger(Value a, Value b) { return compute({Code::max, 0, a, b}); }

StraightLine::Values StraightLine::sum(const Values& a, const Values& b) {
  Values result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = sum(a[i], b[i]);
  return result;
}

StraightLine::Called StraightLine::call(const Function& function, const std::vector<Values>& inputs) {
  const Function::Tape& tape = function.tape();
  std::vector<Value> in(tape.registers, none);  // the value of each register of the tape
  auto next = in.begin();
  for (const double number : tape.constants) *next++ = constant(number);
  for (std::size_t block = 0; block < inputs.size(); ++block) {
    DAEDALUS_CHECK(inputs[block].size() == tape.blocks[block], "{} values for block {}", inputs[block].size(), block);
    next = std::copy(inputs[block].begin(), inputs[block].end(), next);
  }
  const std::size_t told = tape.outputs - tape.notes;
  Called called{Values(told), Values(tape.notes)};
  for (Instruction instruction : tape.code) {
    if (instruction.code == Code::end) break;
    if (instruction.code == Code::store) {
      (instruction.to < told ? called.outputs[instruction.to] : called.notes[instruction.to - told]) =
          in[instruction.a];
      continue;
    }
    const std::uint32_t to = instruction.to;
    instruction.to = 0;
    const int operands = operand_count(instruction.code);
    if (operands > 0 || instruction.code == Code::held) instruction.a = in[instruction.a];
    if (operands > 1) instruction.b = in[instruction.b];
    if (operands > 2) instruction.c = in[instruction.c];
    if (operands < 3 && !is_switched(instruction.code)) instruction.c = 0;
    if (instruction.code == Code::table) {
      const expr::Graph::TableUse& table = tape.tables[instruction.b];
      const auto same = [&](const expr::Graph::TableUse& one) {
        return one.data == table.data && one.times == table.times;
      };
      const auto found = std::find_if(parts_->tables.begin(), parts_->tables.end(), same);
      instruction.b = static_cast<std::uint32_t>(found - parts_->tables.begin());
      if (found == parts_->tables.end()) parts_->tables.push_back(table);
    }
    in[to] = compute(instruction);
  }
  return called;
}

void StraightLine::contract(const Values& outputs, const Values& notes) {
  std::vector<Instruction>& code = parts_->code;
  const auto computed = [&](Value value) { return value >= inputs_ && value < first_constant; };
  // Users are counted from the end, so that those that nobody needs do not count.
  std::vector<std::uint32_t> uses(code.size(), 0);
  const auto use = [&](Value value) {
    if (computed(value)) ++uses[value - inputs_];
  };
  for (const Values* list : {&outputs, &notes})
    for (const Value value : *list) {
      use(value);
      use(value);  // an output is there by itself
    }
  for (std::size_t i = code.size(); i-- > 0;) {
    if (uses[i] == 0) continue;
    const Instruction& at = code[i];
    const int count = at.code == Code::held ? 1 : operand_count(at.code);
    if (count > 0) use(at.a);
    if (count > 1) use(at.b);
    if (count > 2) use(at.c);
  }
  const auto is_product = [&](Value value) {
    return computed(value) && uses[value - inputs_] == 1 &&
           (code[value - inputs_].code == Code::mul || code[value - inputs_].code == Code::square);
  };
  for (Instruction& at : code) {
    if (at.code != Code::add && at.code != Code::sub) continue;
    // Of two products the later one, for which the sum waits.
    const bool first = is_product(at.a) && !(is_product(at.b) && at.b > at.a);
    if (!first && !is_product(at.b)) continue;
    const Instruction& product = code[(first ? at.a : at.b) - inputs_];
    const Value factor = product.code == Code::square ? product.a : product.b;
    const Code fused = at.code == Code::add ? Code::multiply_add : first ? Code::multiply_sub : Code::sub_product;
    at = {fused, 0, product.a, factor, first ? at.b : at.a};
  }
  parts_->known.clear();  // what it knew is otherwise now
}

Function StraightLine::finish(const Values& outputs, const Values& notes) const {
  auto tape = std::make_shared<Function::Tape>();
  tape->constants = parts_->constants;
  tape->blocks = blocks_;
  tape->outputs = outputs.size() + notes.size();
  tape->notes = notes.size();
  tape->tables = parts_->tables;
  const auto constants = static_cast<std::uint32_t>(parts_->constants.size()), first = constants + inputs_;

  // Each value is kept in a register until its last use; the first so many are those of constants and inputs.
  std::vector<std::uint32_t> last_use(parts_->code.size(), none), in(parts_->code.size(), none);
  const auto computed = [&](Value value) { return value >= inputs_ && value < first_constant; };
  const auto operands_of = [&](const Instruction& of, auto&& act) {
    const int count = of.code == Code::held ? 1 : operand_count(of.code);
    if (count > 0) act(of.a);
    if (count > 1) act(of.b);
    if (count > 2) act(of.c);
  };
  std::vector<std::uint32_t> first_store(parts_->code.size(), none),
      next_store(tape->outputs, none);  // of a value, chained
  std::vector<std::pair<std::uint32_t, Value>> stored_at_first;
  std::uint32_t output = 0;
  for (const Values* list : {&outputs, &notes})
    for (const Value value : *list) {
      if (computed(value)) {
        last_use[value - inputs_] = value - inputs_;
        next_store[output] = first_store[value - inputs_];
        first_store[value - inputs_] = output++;
      } else {
        stored_at_first.emplace_back(output++, value);
      }
    }
  for (std::uint32_t i = static_cast<std::uint32_t>(parts_->code.size()); i-- > 0;)
    if (last_use[i] != none)
      operands_of(parts_->code[i], [&](Value value) {
        if (computed(value) && (last_use[value - inputs_] == none || last_use[value - inputs_] < i))
          last_use[value - inputs_] = i;
      });
  std::uint32_t registers = first;
  std::vector<std::uint32_t> free;
  const auto place = [&](Value value) {
    return value >= first_constant ? value - first_constant : value < inputs_ ? constants + value : in[value - inputs_];
  };
  for (const auto& [to, value] : stored_at_first) tape->code.push_back({Code::store, to, place(value)});
  for (std::uint32_t i = 0; i < parts_->code.size(); ++i) {
    if (last_use[i] == none) continue;
    Instruction instruction = parts_->code[i];
    const int count = instruction.code == Code::held ? 1 : operand_count(instruction.code);
    if (count > 0) instruction.a = place(instruction.a);
    if (count > 1) instruction.b = place(instruction.b);
    if (count > 2) instruction.c = place(instruction.c);
    operands_of(parts_->code[i], [&](Value value) {
      if (!computed(value) || last_use[value - inputs_] != i || in[value - inputs_] == none) return;
      free.push_back(in[value - inputs_]);
      in[value - inputs_] = none;
    });
    if (free.empty()) {
      in[i] = registers++;
    } else {
      in[i] = free.back();
      free.pop_back();
    }
    instruction.to = in[i];
    tape->code.push_back(instruction);
    for (std::uint32_t to = first_store[i]; to != none; to = next_store[to])
      tape->code.push_back({Code::store, to, in[i]});
    if (last_use[i] == i) free.push_back(in[i]);
  }
  tape->registers = registers;
  tape->code.push_back({Code::end});
  return Function(std::move(tape));
}

}  // namespace daedalus::compile
