// Packs are written where the first of their steps stands, after all that their steps wait for.
#include "daedalus/compile/native_packs.hpp"

#include "daedalus/compile/native_pack_search.hpp"

namespace daedalus::compile {

namespace {

using Step = NativeProgram::Step;
using Lanes = NativeProgram::Lanes;
constexpr std::uint32_t none = NativeProgram::none, lanes = NativeProgram::pack_lanes;

class Writer {
 public:
  Writer(const NativeProgram& program, const Function::Tape& tape, const NativePacks& packs)
      : program_(program), packs_(packs), arrays_(program, tape) {}

  NativeProgram operator()() {
    out_.constants = program_.constants;
    out_.inputs = program_.inputs;
    out_.calls = program_.calls;
    out_.values = out_.first_pack = program_.values;
    new_place_.assign(program_.steps.size(), none);
    value_of_pack_.assign(packs_.steps.size(), none);
    spread_of_.assign(program_.values, none);
    array_at_.assign(arrays_.end(), none);
    step_of_.assign(program_.values, none);
    for (std::uint32_t i = 0; i < program_.steps.size(); ++i)
      if (program_.steps[i].code != Code::store) step_of_[program_.steps[i].to] = i;
    for (std::uint32_t i = 0; i < program_.steps.size(); ++i) write_with_operands(i);
    for (Step& step : out_.steps)
      if (step.kind == Step::single && step.partner != none) step.partner = new_place_[step.partner];
    out_.find_uses();
    return std::move(out_);
  }

 private:
  /// Writes a step, after what it waits for.
  void write_with_operands(std::uint32_t i) {
    std::vector<std::uint32_t>& waiting = waiting_;
    waiting.push_back(i);
    while (!waiting.empty()) {
      const std::uint32_t at = waiting.back();
      if (new_place_[at] == none) {
        const std::size_t before = waiting.size();
        const std::uint32_t pack = packs_.pack_of_step[at];
        if (pack == none)
          wait_for_operands(at);
        else
          for (const std::uint32_t p : {pack, pack < packs_.turned ? pack ^ 1U : pack})
            for (const std::uint32_t member : packs_.steps[p])
              if (member != none) wait_for_operands(member);
        if (waiting.size() > before) continue;
        if (pack == none)
          write_single(at);
        else if (pack < packs_.turned)
          write_turns(pack & ~1U);
        else
          write_pack(pack);
      }
      waiting.pop_back();
    }
  }

  void wait_for_operands(std::uint32_t i) {
    for (const std::uint32_t operand : program_.steps[i].operand)
      if (operand != none && operand >= arrays_.end() && new_place_[step_of_[operand]] == none) waiting_.push_back(step_of_[operand]);
  }

  void write_single(std::uint32_t i) {
    for (const std::uint32_t operand : program_.steps[i].operand) leave_lane(operand);
    new_place_[i] = static_cast<std::uint32_t>(out_.steps.size());
    out_.steps.push_back(program_.steps[i]);
  }

  void write_pack(std::uint32_t p) {
    const Lanes& members = packs_.steps[p];
    std::uint32_t one = 0;
    while (members[one] == none) ++one;
    Step step = program_.steps[members[one]];
    step.kind = Step::packed;
    for (unsigned k = 0; k < 3; ++k) {
      if (step.operand[k] == none || (step.code == Code::pow && k == 1)) continue;  // an exponent is read as it is
      Lanes values;
      for (std::uint32_t lane = 0; lane < lanes; ++lane)
        values[lane] = members[lane] == none ? none : program_.steps[members[lane]].operand[k];
      step.operand[k] = pack_with(values);
    }
    if (step.code == Code::store)
      step.to -= one;
    else
      step.to = value_of_pack_[p] = new_value();
    write(step, members);
  }

  void write_turns(std::uint32_t sines) {
    Lanes values;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t sine = packs_.steps[sines][lane], step = sine != none ? sine : packs_.steps[sines + 1][lane];
      values[lane] = step == none ? none : program_.steps[step].operand[0];
    }
    Step sine{Code::sin};
    sine.kind = Step::packed;
    sine.operand[0] = pack_with(values);
    Step cosine = sine;
    cosine.code = Code::cos;
    sine.to = value_of_pack_[sines] = new_value();
    cosine.to = value_of_pack_[sines + 1] = new_value();
    cosine.partner = static_cast<std::uint32_t>(out_.steps.size());
    sine.partner = cosine.partner + 1;
    write(sine, packs_.steps[sines]);
    write(cosine, packs_.steps[sines + 1]);
  }

  void write(const Step& step, const Lanes& members) {
    for (const std::uint32_t member : members)
      if (member != none) new_place_[member] = static_cast<std::uint32_t>(out_.steps.size());
    out_.steps.push_back(step);
  }

  /// A pack with these values; lanes of none are idle.
  std::uint32_t pack_with(const Lanes& values) {
    std::uint32_t first = 0;
    while (values[first] == none) ++first;
    const auto all = [&](auto&& as_expected) {
      for (std::uint32_t lane = first; lane < lanes; ++lane)
        if (values[lane] != none && !as_expected(values[lane], lane)) return false;
      return true;
    };
    const std::uint32_t value = values[first];
    if (all([&](std::uint32_t v, std::uint32_t) { return v == value; })) return spread(value);
    if (packs_.pack_of[value] != none &&
        all([&](std::uint32_t v, std::uint32_t lane) { return packs_.pack_of[v] == packs_.pack_of[value] && packs_.lane_of[v] == lane; }))
      return value_of_pack_[packs_.pack_of[value]];
    if (arrays_.is_input(value) && arrays_.has_pack(std::int64_t{value} - first, value) &&
        all([&](std::uint32_t v, std::uint32_t lane) { return v - value == lane - first; }))
      return array(value - first);
    return collect(values, value);
  }

  std::uint32_t new_value() {
    out_.packs.emplace_back();
    return static_cast<std::uint32_t>(out_.values++);
  }

  /// A value in all lanes.
  std::uint32_t spread(std::uint32_t value) {
    if (spread_of_[value] != none) return spread_of_[value];
    leave_lane(value);
    Step step{Code::end};
    step.kind = Step::spread;
    step.operand[0] = value;
    step.to = spread_of_[value] = new_value();
    out_.steps.push_back(step);
    return step.to;
  }

  /// Values from wherever they are; `idle` is in lanes of none.
  std::uint32_t collect(const Lanes& values, std::uint32_t idle) {
    Step step{Code::end};
    step.kind = Step::collect;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      step.operand[lane] = values[lane] == none ? idle : values[lane];
      leave_lane(step.operand[lane]);
    }
    step.to = new_value();
    out_.steps.push_back(step);
    return step.to;
  }

  /// Inputs that stand side by side.
  std::uint32_t array(std::uint32_t first) {
    if (array_at_[first] == none) {
      array_at_[first] = new_value();
      out_.packs.back().input = first;
    }
    return array_at_[first];
  }

  /// A step asks for a value by itself, which a pack computes.
  void leave_lane(std::uint32_t value) {
    if (value == none || packs_.pack_of[value] == none) return;
    out_.packs[value_of_pack_[packs_.pack_of[value]] - out_.first_pack].single[packs_.lane_of[value]] = value;
  }

  const NativeProgram& program_;
  const NativePacks& packs_;
  const InputArrays arrays_;
  NativeProgram out_;
  std::vector<std::uint32_t> step_of_;        ///< that computes a value, or none
  std::vector<std::uint32_t> new_place_;      ///< of each step, or none
  std::vector<std::uint32_t> value_of_pack_;  ///< or none
  std::vector<std::uint32_t> spread_of_, array_at_;  ///< the pack of a value in all lanes, and that of inputs from one on
  std::vector<std::uint32_t> waiting_;
};

}  // namespace

std::optional<NativeProgram> packed(const NativeProgram& program, const Function::Tape& tape) {
  const std::optional<NativePacks> packs = packs_of(program, tape);
  if (!packs) return std::nullopt;
  return Writer(program, tape, *packs)();
}

}  // namespace daedalus::compile
