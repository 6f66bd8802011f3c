// Steps have shapes: the operation, and of each operand what does not change from one block to the next. Where a window of
// shapes comes again, the distance is tried as a period.
#include "daedalus/compile/native_runs.hpp"

#include <array>
#include <unordered_map>

namespace daedalus::compile {

namespace {

constexpr std::uint32_t none = NativeProgram::none;
constexpr std::uint32_t window = 12, shortest_period = 6, longest_period = 600, fewest_blocks = 8;
/// A value nearer than this is of the same block or the one before, for ever.
constexpr std::uint32_t near = 40;

class Search {
 public:
  Search(const NativeProgram& program, const Function::Tape& tape) : program_(program), tape_(tape) {
    for (std::uint32_t block = 0; block < tape.blocks.size(); ++block)
      block_of_.insert(block_of_.end(), tape.blocks[block], block);
    shapes_.reserve(program.steps.size());
    for (std::size_t i = 0; i < program.steps.size(); ++i) shapes_.push_back(shape_of(program.steps[i]));
  }

  std::vector<NativeRun> operator()() {
    std::vector<NativeRun> runs;
    std::unordered_map<std::uint64_t, std::uint32_t> last;
    const auto steps = static_cast<std::uint32_t>(shapes_.size());
    std::uint32_t untried = 0;
    for (std::uint32_t i = 0; i + window <= steps; ++i) {
      std::uint64_t hash = 0;
      for (std::uint32_t k = 0; k < window; ++k) hash = mix(hash, shapes_[i + k]);
      const auto [found, fresh] = last.try_emplace(hash, i);
      if (fresh) continue;
      const std::uint32_t from = found->second;
      found->second = i;
      if (from < untried) continue;
      const NativeRun run = longest_from(from, i - from);
      if (run.count < fewest_blocks) continue;
      runs.push_back(run);
      i = untried = run.first + run.period * run.count;  // windows before it are as good as forgotten
    }
    return runs;
  }

 private:
  using Step = NativeProgram::Step;

  static std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6U) + (hash >> 2U);
    return hash * 0xBF58476D1CE4E5B9ULL;
  }

  bool is_constant(std::uint32_t value) const { return value < program_.constants; }
  bool is_input(std::uint32_t value) const { return !is_constant(value) && value < program_.constants + program_.inputs; }

  /// Whether a step can stand in a loop: calls would take the registers that count.
  bool fits(const Step& step) const {
    return step.place == 0 && step.partner == none && step.code != Code::held && step.code != Code::pow && !is_call(step, tape_);
  }

  std::uint64_t shape_of(const Step& step) {
    std::uint64_t shape = static_cast<std::uint64_t>(step.code);
    if (step.code != Code::store) now_ = step.to;
    for (const std::uint32_t operand : step.operand) {
      if (operand == none) break;
      shape = mix(shape, is_constant(operand) ? 0x10000U + operand
                         : is_input(operand)  ? 0x100U + block_of_[operand - program_.constants]
                         : now_ - operand < near ? 0x200U + now_ - operand
                                                 : 0x300U);
    }
    return shape;
  }

  /// The longest run from a step with this period, or a small multiple of it where blocks of one shape alternate.
  NativeRun longest_from(std::uint32_t first, std::uint32_t distance) {
    NativeRun longest;
    for (std::uint32_t times = 1; times <= 4; ++times) {
      const std::uint32_t period = times * distance;
      if (period < shortest_period) continue;
      if (period > longest_period) break;
      if (first < broken_[period]) continue;
      const std::uint32_t count = blocks_from(first, period);
      if (count >= fewest_blocks) return {first, period, count};
    }
    return longest;
  }

  std::uint32_t blocks_from(std::uint32_t first, std::uint32_t period) {
    struct Shifts {
      std::array<std::uint32_t, 4> of;  // modulo 2^32
    };
    std::vector<Shifts> shifts(period);
    std::uint32_t length = 0;
    for (; first + length + period < program_.steps.size(); ++length) {
      const Step& one = program_.steps[first + length];
      const Step& next = program_.steps[first + length + period];
      if (one.code != next.code || !fits(one) || !fits(next)) break;
      Shifts shift{};
      bool same = true;
      for (int k = 0; k < 3; ++k) {
        const std::uint32_t a = one.operand[k], b = next.operand[k];
        if ((a == none) != (b == none)) same = false;
        if (!same || a == none) break;
        shift.of[k] = b - a;
        if (is_constant(a) || is_constant(b))
          same = a == b;
        else if (is_input(a) || is_input(b))
          same = is_input(a) && is_input(b) && block_of_[a - program_.constants] == block_of_[b - program_.constants];
      }
      if (one.code == Code::store) {
        const std::size_t told = tape_.outputs - tape_.notes;
        same = same && (one.to < told) == (next.to < told);
        shift.of[3] = next.to - one.to;
      }
      Shifts& expected = shifts[length % period];
      if (length < period) expected = shift;
      if (!same || expected.of != shift.of) break;
    }
    // A run that begins later, but still with the steps that this one breaks at or with their likes, breaks there too.
    broken_[period] = first + length - (length < period ? 0 : period);
    return length / period + 1;
  }

  const NativeProgram& program_;
  const Function::Tape& tape_;
  std::vector<std::uint32_t> block_of_;
  std::vector<std::uint64_t> shapes_;
  std::array<std::uint32_t, longest_period + 1> broken_{};  ///< by period: runs from before this step are too short
  std::uint32_t now_ = 0;  ///< the value that is computed
};

}  // namespace

std::vector<NativeRun> runs_of(const NativeProgram& program, const Function::Tape& tape) { return Search(program, tape)(); }

}  // namespace daedalus::compile
