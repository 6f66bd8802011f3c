// The coefficients of the order in work stand side by side in an array of their own, and only lower ones in rows: four
// numbers that are read at once just after one of them was written make the processor wait.
//
// For k > 0 coefficient k of every value is linear in coefficient k of the late inputs, with derivatives at order 0 for
// factors: what they change is added in O(1) per operation.
#include "daedalus/compile/jet.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "daedalus/base/check.hpp"
#include "daedalus/base/fours.hpp"
#include "daedalus/compile/interpreter.hpp"
#include "daedalus/compile/series_plan.hpp"
#include "daedalus/expr/hypotenuse.hpp"
#include "daedalus/expr/sine.hpp"

namespace daedalus::compile {

using namespace series;

namespace {

/// Adds a_j b_{k-j}, j = 0 to k, to four partial sums; b has `lead` zeros before it, so that what stands behind a_k
/// does not matter. `blocks` is k/4 + 1.
[[gnu::always_inline]] inline void convolve(const double* a, const double* b, std::size_t k, std::size_t blocks,
                                            Four& sum) {
  Four left, right;
  b += static_cast<std::ptrdiff_t>(k) - 3;
  for (std::size_t j = 0; j < blocks; ++j, a += 4, b -= 4) {
    std::memcpy(&left, a, sizeof left);
    std::memcpy(&right, b, sizeof right);
    sum += left * __builtin_shufflevector(right, right, 3, 2, 1, 0);
  }
}

[[gnu::always_inline]] inline double convolve(const double* a, const double* b, std::size_t k) {
  Four sum = {0.0, 0.0, 0.0, 0.0};
  convolve(a, b, k, k / 4 + 1, sum);
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/// Coefficients: of order 0, of the order in work, and of the lower ones by rows, in which that of the order in work is
/// 0.
struct Numbers {
  double *first, *now, *rows;
};

[[gnu::always_inline]] inline void run_sums(const Sum* at, const Sum* end, const Pair* terms, const Numbers& v,
                                            std::size_t k, std::size_t blocks) {
  const auto product = [&](const Pair& term, Four& sum) __attribute__((always_inline)) {
    convolve(v.rows + term.row_a, v.rows + term.row_b, k, blocks, sum);
    return v.first[term.a] * v.now[term.b] + v.now[term.a] * v.first[term.b];
  };
  for (; at != end; ++at) {
    const Pair* term = terms + at->begin;
    Four added = {0.0, 0.0, 0.0, 0.0}, taken = {0.0, 0.0, 0.0, 0.0};
    double sum = 0.0;
    for (std::uint32_t i = 0; i < at->count[0]; ++i, ++term) sum += product(*term, added);
    for (std::uint32_t i = 0; i < at->count[1]; ++i, ++term) sum -= product(*term, taken);
    added -= taken;
    sum += (added[0] + added[2]) + (added[1] + added[3]);
    for (std::uint32_t i = 0; i < at->count[2]; ++i, ++term) sum += v.now[term->a];
    for (std::uint32_t i = 0; i < at->count[3]; ++i, ++term) sum -= v.now[term->a];
    for (std::uint32_t i = 0; i < at->count[4]; ++i, ++term) sum += v.now[term->a] * v.first[term->b];
    for (std::uint32_t i = 0; i < at->count[5]; ++i, ++term) sum -= v.now[term->a] * v.first[term->b];
    v.now[at->to] = sum;
  }
}

[[gnu::always_inline]] inline void run_products(const Move* at, const Move* end, const Numbers& v, std::size_t k,
                                                std::size_t blocks) {
  for (; at != end; ++at) {
    Four sum = {0.0, 0.0, 0.0, 0.0};
    convolve(v.rows + at->row_a, v.rows + at->row_b, k, blocks, sum);
    const double ends = v.first[at->a] * v.now[at->b] + v.now[at->a] * v.first[at->b];
    v.now[at->to] = ((sum[0] + sum[2]) + (sum[1] + sum[3])) + ends;
  }
}

[[gnu::always_inline]] inline void run_moves(Rule rule, const Move* at, const Move* end, const Numbers& v,
                                             std::size_t k) {
  const auto order = static_cast<double>(k);
  switch (rule) {
    case Rule::scale:
      for (; at != end; ++at) v.now[at->to] = v.now[at->a] * v.first[at->b];
      return;
    case Rule::shrink:
      for (; at != end; ++at) v.now[at->to] = v.now[at->a] / v.first[at->b];
      return;
    case Rule::divide:
      for (; at != end; ++at) {
        const double known = convolve(v.rows + at->row_b, v.rows + at->row_to, k) + v.now[at->b] * v.first[at->to];
        v.now[at->to] = (v.now[at->a] - known) / v.first[at->b];
      }
      return;
    case Rule::root:
      for (; at != end; ++at)
        v.now[at->to] =
            (v.now[at->a] - convolve(v.rows + at->row_to, v.rows + at->row_to, k)) / (2.0 * v.first[at->to]);
      return;
    case Rule::rate:
      for (; at != end; ++at) v.now[at->to] = order * v.now[at->a];
      return;
    case Rule::chain:
      for (; at != end; ++at) {
        const double known = convolve(v.rows + at->row_a, v.rows + at->row_b, k - 1);
        v.now[at->to] = (known + v.now[at->a] * v.first[at->b]) / order;
      }
      return;
    default:
      return;
  }
}

/// A group of rules at order k.
struct Run {
  [[gnu::always_inline]] static inline void run(const Group& group, const Plan& plan, const Numbers& v, std::size_t k) {
    const Move* moves = plan.moves.data();
    const auto with = [&](std::size_t blocks) __attribute__((always_inline)) {
      if (group.rule == Rule::sum)
        run_sums(plan.sums.data() + group.begin, plan.sums.data() + group.end, plan.terms.data(), v, k, blocks);
      else
        run_products(moves + group.begin, moves + group.end, v, k, blocks);
    };
    if (group.rule != Rule::sum && group.rule != Rule::multiply)
      return run_moves(group.rule, moves + group.begin, moves + group.end, v, k);
    switch (k / 4) {  // loops of a length that is known are unrolled
      case 0:
        return with(1);
      case 1:
        return with(2);
      case 2:
        return with(3);
      case 3:
        return with(4);
      case 4:
        return with(5);
      default:
        return with(k / 4 + 1);
    }
  }
};

}  // namespace

struct Jet::Program {
  Program(const Function::Tape& tape, const std::vector<std::size_t>& late_inputs, std::size_t highest);

  Rules rules;
  Plan plan;
  std::vector<double> inputs;  ///< their coefficients of the order that comes next or is in work
  std::vector<double> first, now, rows;
  std::vector<double> change;  ///< of each value: what late inputs have changed
  std::vector<Id> picked;      ///< of each value that a condition picks: the one it goes on with
  std::vector<double> sign;    ///< and the sign with which

  void evaluate(const Step& step, const double* modes);
  void keep(std::size_t k);
  void higher(const std::vector<Group>& which, std::size_t k);
  void add_change(std::size_t k);
  void clear();
};

Jet::Program::Program(const Function::Tape& tape, const std::vector<std::size_t>& late_inputs, std::size_t highest)
    : rules(tape),
      plan(rules, late_inputs, highest),
      inputs(rules.inputs),
      first(rules.steady.size()),
      now(first.size()),
      rows(plan.row_room),
      change(first.size()),
      picked(first.size()),
      sign(first.size()) {
  clear();
}

void Jet::Program::clear() {
  for (auto* numbers : {&first, &now, &change, &rows}) std::ranges::fill(*numbers, 0.0);
  for (const auto& [id, number] : rules.constants) first[id] = number;
}

void Jet::Program::evaluate(const Step& step, const double* modes) {
  const auto value = [&](int k) { return first[step.operand[k]]; };
  const double mode = modes != nullptr ? modes[step.place] : std::nan("");
  const bool frozen = !std::isnan(mode);
  double& to = first[step.to];
  const auto pick = [&](int k, double with_sign = 1.0) {
    picked[step.to] = step.operand[k];
    sign[step.to] = with_sign;
    to = with_sign * value(k);
  };
  switch (step.code) {
    case Code::add:
      to = value(0) + value(1);
      return;
    case Code::sub:
      to = value(0) - value(1);
      return;
    case Code::mul:
      to = value(0) * value(1);
      return;
    case Code::div:
      to = value(0) / value(1);
      return;
    case Code::neg:
      to = -value(0);
      return;
    case Code::pow:
      to = std::pow(value(0), value(1));
      return;
    case Code::square:
      to = value(0) * value(0);
      return;
    case Code::inverse:
      to = 1.0 / value(0);
      return;
    case Code::sin:
      to = expr::sine(value(0));
      return;
    case Code::cos:
      to = expr::cosine(value(0));
      return;
    case Code::tan:
      to = std::tan(value(0));
      return;
    case Code::asin:
      to = std::asin(value(0));
      return;
    case Code::acos:
      to = std::acos(value(0));
      return;
    case Code::atan:
      to = std::atan(value(0));
      return;
    case Code::sinh:
      to = std::sinh(value(0));
      return;
    case Code::cosh:
      to = std::cosh(value(0));
      return;
    case Code::tanh:
      to = std::tanh(value(0));
      return;
    case Code::asinh:
      to = std::asinh(value(0));
      return;
    case Code::acosh:
      to = std::acosh(value(0));
      return;
    case Code::atanh:
      to = std::atanh(value(0));
      return;
    case Code::exp:
      to = std::exp(value(0));
      return;
    case Code::log:
      to = std::log(value(0));
      return;
    case Code::log10:
      to = std::log10(value(0));
      return;
    case Code::sqrt:
      to = std::sqrt(value(0));
      return;
    case Code::cbrt:
      to = std::cbrt(value(0));
      return;
    case Code::atan2:
      to = std::atan2(value(0), value(1));
      return;
    case Code::hypot:
      to = expr::hypotenuse(value(0), value(1));
      return;
    case Code::logical_and:
      to = value(0) != 0.0 && value(1) != 0.0 ? 1.0 : 0.0;
      return;
    case Code::logical_or:
      to = value(0) != 0.0 || value(1) != 0.0 ? 1.0 : 0.0;
      return;
    case Code::logical_not:
      to = value(0) == 0.0 ? 1.0 : 0.0;
      return;
    case Code::abs:
      pick(0, (frozen ? mode : value(0)) < 0.0 ? -1.0 : 1.0);
      return;
    case Code::sign:
      to = frozen ? mode : value(0) > 0.0 ? 1.0 : value(0) < 0.0 ? -1.0 : value(0);
      return;
    case Code::floor:
      to = frozen ? mode : std::floor(value(0));
      return;
    case Code::min:
      pick((frozen ? mode < 0.0 : value(1) < value(0)) ? 1 : 0);
      return;
    case Code::max:
      pick((frozen ? mode < 0.0 : value(0) < value(1)) ? 1 : 0);
      return;
    case Code::less:
      to = (frozen ? mode < 0.0 : value(0) < value(1)) ? 1.0 : 0.0;
      return;
    case Code::less_equal:
      to = (frozen ? mode <= 0.0 : value(0) <= value(1)) ? 1.0 : 0.0;
      return;
    case Code::equal:
      to = (frozen ? mode == 0.0 : value(0) == value(1)) ? 1.0 : 0.0;
      return;
    case Code::not_equal:
      to = (frozen ? mode != 0.0 : value(0) != value(1)) ? 1.0 : 0.0;
      return;
    case Code::table:
      to = look_up(rules.tables[step.table], value(0), frozen ? &mode : nullptr);
      return;
    case Code::held:
      to = modes != nullptr ? mode : value(0);
      return;
    case Code::choose:
      pick(value(0) != 0.0 ? 1 : 2);
      return;
    case Code::multiply_add:  // made of two
    case Code::multiply_sub:
    case Code::sub_product:
    case Code::store:
    case Code::end:
      return;
  }
}

/// Puts the coefficients of order k into the rows, and a 0 where the next ones belong.
void Jet::Program::keep(std::size_t k) {
  for (const Plan::Row& row : plan.kept) {
    double* at = rows.data() + row.at + k;
    if (row.rate) {
      if (k > 0) at[-1] = now[row.value];
    } else {
      at[0] = k == 0 ? first[row.value] : now[row.value];
    }
    at[row.rate ? 0 : 1] = 0.0;
  }
}

void Jet::Program::higher(const std::vector<Group>& which, std::size_t k) {
  const Numbers numbers{first.data(), now.data(), rows.data()};
  for (const Group& group : which) {
    if (group.rule != Rule::pick) {
      in_fours<Run>(group, plan, numbers, k);
      continue;
    }
    for (std::uint32_t i = group.begin; i < group.end; ++i) {
      const Id to = plan.moves[i].to;
      now[to] = sign[to] * now[picked[to]];
    }
  }
}

/// Adds to coefficient k what the late inputs have changed of it. What does not depend on them has no change.
void Jet::Program::add_change(std::size_t k) {
  double* d = change.data();
  const double* v = first.data();
  for (const Id id : plan.late) {
    d[id] = inputs[id - rules.first_input] - now[id];
    now[id] = inputs[id - rules.first_input];
  }
  const auto order = static_cast<double>(k);
  const auto set = [&](Id to, double by) {
    d[to] = by;
    now[to] += by;
  };
  for (const Group& group : plan.late_groups) {
    if (group.rule == Rule::sum) {
      for (std::uint32_t s = group.begin; s < group.end; ++s) {
        const Sum& sum = plan.sums[s];
        const Pair* term = plan.terms.data() + sum.begin;
        double by[2] = {0.0, 0.0};
        for (int kind = 0; kind < 6; ++kind)
          for (std::uint32_t i = 0; i < sum.count[kind]; ++i, ++term)
            by[kind % 2] += kind < 2   ? d[term->a] * v[term->b] + v[term->a] * d[term->b]
                            : kind < 4 ? d[term->a]
                                       : d[term->a] * v[term->b];
        set(sum.to, by[0] - by[1]);
      }
      continue;
    }
    for (std::uint32_t i = group.begin; i < group.end; ++i) {
      const Move& move = plan.moves[i];
      const Id to = move.to, a = move.a, b = move.b;
      switch (group.rule) {
        case Rule::scale:
          set(to, d[a] * v[b]);
          break;
        case Rule::shrink:
          set(to, d[a] / v[b]);
          break;
        case Rule::divide:
          set(to, (d[a] - v[to] * d[b]) / v[b]);
          break;
        case Rule::root:
          set(to, d[a] / (2.0 * v[to]));
          break;
        case Rule::rate:
          set(to, order * d[a]);
          break;
        case Rule::chain:
          set(to, d[a] * v[b] / order);
          break;
        case Rule::pick:
          set(to, sign[to] * d[picked[to]]);
          break;
        case Rule::multiply:
          set(to, d[a] * v[b] + v[a] * d[b]);
          break;
        default:
          break;  // sums were seen to
      }
    }
  }
}

Jet::Jet(const Function& function, std::size_t highest, const std::vector<std::size_t>& late)
    : program_(std::make_unique<Program>(function.tape(), late, highest)),
      highest_(highest),
      inputs_(program_->inputs.data()),
      values_{program_->first.data(), program_->now.data()},
      outputs_(program_->rules.outputs.begin(), program_->rules.outputs.end()) {}

Jet::~Jet() = default;
Jet::Jet(Jet&&) noexcept = default;
Jet& Jet::operator=(Jet&&) noexcept = default;

void Jet::clear() { program_->clear(); }

void Jet::advance(std::size_t k, const double* modes) {
  DAEDALUS_CHECK(k <= highest_, "order {} of {}", k, highest_);
  Program& program = *program_;
  if (k > 0) program.keep(k - 1);
  std::ranges::copy(program.inputs, (k == 0 ? program.first : program.now).begin() + program.rules.first_input);
  if (k == 0) {
    for (const Step& step : program.rules.steps) program.evaluate(step, modes);
  } else {
    program.higher(program.plan.groups, k);
    program.higher(program.plan.late_groups, k);
  }
}

void Jet::correct(std::size_t k, const double* modes) {
  Program& program = *program_;
  if (k > 0) return program.add_change(k);
  for (const Id id : program.plan.late) program.first[id] = program.inputs[id - program.rules.first_input];
  for (const std::uint32_t i : program.plan.late_steps) program.evaluate(program.rules.steps[i], modes);
}

}  // namespace daedalus::compile
