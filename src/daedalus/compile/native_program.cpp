#include "daedalus/compile/native_program.hpp"

namespace daedalus::compile {

bool is_small_power(const NativeProgram::Step& step, const Function::Tape& tape) {
  if (step.code != Code::pow || step.operand[1] >= tape.constants.size()) return false;
  return expr::is_power_of_products(tape.constants[step.operand[1]]);
}

bool is_call(const NativeProgram::Step& step, const Function::Tape& tape) {
  switch (step.code) {
    case Code::pow: return !is_small_power(step, tape);
    case Code::atan2:
    case Code::table: return true;
    default: return step.code >= Code::sin && step.code <= Code::cbrt && step.code != Code::sqrt;
  }
}

NativeProgram::NativeProgram(const Function::Tape& tape) : constants(tape.constants.size()) {
  for (const std::size_t block : tape.blocks) inputs += block;
  std::vector<std::uint32_t> value_in(tape.registers);
  for (std::uint32_t r = 0; r < constants + inputs; ++r) value_in[r] = r;
  values = constants + inputs;
  steps.reserve(tape.code.size());
  for (const Instruction& from : tape.code) {
    if (from.code == Code::end) break;
    Step step{from.code};
    const std::uint32_t registers[] = {from.a, from.b, from.c};
    for (int k = 0; k < operand_count(from.code); ++k) step.operand[k] = value_in[registers[k]];
    if (is_switched(from.code)) step.place = from.c;
    if (from.code == Code::table) step.table = from.b;
    if (from.code == Code::held) step.table = from.a;
    step.to = from.code == Code::store ? from.to : static_cast<std::uint32_t>(values);
    if (from.code != Code::store) value_in[from.to] = static_cast<std::uint32_t>(values++);
    steps.push_back(step);
    calls = calls || is_call(step, tape);
  }

  std::vector<std::uint32_t> turned(values, none);  // the first sine or cosine of a value
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    if (steps[i].code != Code::sin && steps[i].code != Code::cos) continue;
    std::uint32_t& first = turned[steps[i].operand[0]];
    if (first == none) {
      first = i;
    } else if (steps[first].code != steps[i].code && steps[first].partner == none) {
      steps[first].partner = i;
      steps[i].partner = first;
    }
  }

  find_uses();
}

void NativeProgram::find_uses() {
  use_start.assign(values + 1, 0);
  const auto each_use = [this](auto&& act) {
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
      if (steps[i].partner < i) continue;
      for (const std::uint32_t operand : steps[i].operand)
        if (operand != none) act(operand, i);
    }
  };
  each_use([&](std::uint32_t value, std::uint32_t) { ++use_start[value + 1]; });
  for (std::size_t v = 0; v < values; ++v) use_start[v + 1] += use_start[v];
  uses.resize(use_start.back());
  std::vector<std::uint32_t> next(use_start.begin(), use_start.end() - 1);
  each_use([&](std::uint32_t value, std::uint32_t at) { uses[next[value]++] = at; });
}

}  // namespace daedalus::compile
