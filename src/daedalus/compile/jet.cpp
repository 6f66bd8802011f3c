// Arithmetic of truncated power series (L. B. Rall, Automatic Differentiation, LNCS 120, 1981; A. Jorba, M. Zou, A
// software package for the numerical integration of ODEs by means of high-order Taylor methods, Exp. Math. 14, 2005):
//   product    c_k = sum_{j=0}^k a_j b_{k-j}
//   quotient   c_k = (a_k - sum_{j=1}^k b_j c_{k-j}) / b_0
//   root       c_k = (a_k - sum_{j=1}^{k-1} c_j c_{k-j}) / (2 c_0)
//   y = phi(a) with y' = w a':   y_k = (1/k) sum_{j=0}^{k-1} (j+1) a_{j+1} w_{k-1-j},
// where w = phi'(a) is another series, of which order k needs those below k only: exp has w = y, sine and cosine have
// each other, tan has 1 + y^2, log has 1/a. So every function comes down to these four rules and to sums.
//
// Sums of products are one rule each: their convolutions are added before the four partial sums are. Rules that do not
// need each other's order k and are of one kind run together.
//
// The coefficients of the order in work stand side by side in an array of their own, and only lower ones in rows: four
// numbers that are read at once just after one of them was written make the processor wait.
//
// For k > 0 coefficient k of every value is linear in coefficient k of the late inputs, with derivatives at order 0 for
// factors: what they change is added in O(1) per operation.
#include "daedalus/compile/jet.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <tuple>
#include <unordered_set>

#include "daedalus/base/check.hpp"
#include "daedalus/compile/interpreter.hpp"
#include "daedalus/compile/native_program.hpp"
#include "daedalus/expr/hypotenuse.hpp"

namespace daedalus::compile {

namespace {

using Id = std::uint32_t;
constexpr Id none = NativeProgram::none;

/// How a coefficient above order 0 is found.
enum class Rule : std::uint8_t {
  steady,    ///< it is 0
  add,       ///< a + b
  subtract,  ///< a - b
  scale,     ///< a times b, which is steady
  shrink,    ///< a over b, which is steady
  multiply,
  sum,     ///< of products, of values, and of values times steady ones
  divide,  ///< a over b
  root,    ///< of a
  rate,    ///< a', one order below
  chain,   ///< the integral of a times b, where a is a rate
  pick,    ///< what a condition has chosen at order 0
};

struct Step {
  Id to = none;
  // order 0
  Code code = Code::end;  ///< end: the value is 0
  Id operand[3] = {none, none, none};
  std::uint32_t place = 0, table = 0;
  // higher orders
  Rule rule = Rule::steady;
  Id a = none, b = none;
};

/// Zeros in front of every row: what a sum of four products at a time reads beyond order 0.
constexpr std::size_t lead = 4;

/// Translates a tape to steps with series.
class Builder {
 public:
  explicit Builder(const Function::Tape& of) : tape(of), program(of) {
    constants.assign(tape.constants.begin(), tape.constants.end());
    inputs = program.inputs;
    for (std::size_t i = 0; i < constants.size(); ++i) constant_of_.try_emplace(constants[i], static_cast<Id>(i));
    steady.assign(program.constants, true);
    steady.resize(program.values, false);
    value_of_.resize(program.values);
    for (Id v = 0; v < program.values; ++v) value_of_[v] = v;
    outputs.resize(tape.outputs);
    for (const NativeProgram::Step& from : program.steps) {
      if (from.code == Code::store)
        outputs[from.to] = value_of_[from.operand[0]];
      else
        value_of_[from.to] = translate(from);
    }
  }

  const Function::Tape& tape;
  const NativeProgram program;
  std::vector<double> constants;  ///< of the tape, then those of these rules
  std::vector<std::pair<Id, double>> more_constants;
  std::vector<Step> steps;
  std::vector<bool> steady;
  std::vector<expr::Graph::TableUse> tables;
  std::vector<Id> outputs;
  std::size_t inputs = 0;

 private:
  Id fresh(bool is_steady) {
    steady.push_back(is_steady);
    return static_cast<Id>(steady.size() - 1);
  }

  Id constant(double number) {
    const auto [found, is_new] = constant_of_.try_emplace(number, 0);
    if (is_new) {
      found->second = fresh(true);
      more_constants.emplace_back(found->second, number);
    }
    return found->second;
  }

  /// Adds a step; one whose higher orders need steady values only is steady itself.
  Id put(Step step) {
    const auto varies = [&](Id v) { return v != none && !steady[v]; };
    if (step.rule != Rule::pick && !varies(step.a) && !varies(step.b)) step.rule = Rule::steady;
    step.to = fresh(step.rule == Rule::steady);
    steps.push_back(step);
    return step.to;
  }

  Id arithmetic(Code code, Id a, Id b = none) {
    Step step{.code = code, .operand = {a, b, none}, .a = a, .b = b};
    switch (code) {
      case Code::add:
        step.rule = Rule::add;
        break;
      case Code::sub:
        step.rule = Rule::subtract;
        break;
      case Code::neg:
        step.rule = Rule::scale;
        step.b = constant(-1.0);
        break;
      case Code::mul:
        step.rule = steady[a] || steady[b] ? Rule::scale : Rule::multiply;
        if (steady[a]) std::swap(step.a, step.b);
        break;
      case Code::square:
        step.rule = Rule::multiply;
        step.b = a;
        break;
      case Code::div:
        step.rule = steady[b] ? Rule::shrink : Rule::divide;
        break;
      case Code::inverse:
        step.rule = Rule::divide;
        step.a = constant(1.0);
        step.b = a;
        break;
      case Code::sqrt:
        step.rule = Rule::root;
        break;
      default:
        DAEDALUS_CHECK(false, "code {}", static_cast<int>(code));
    }
    return put(step);
  }

  Id rate(Id a) {
    const auto [found, is_new] = rate_of_.try_emplace(a, none);
    if (is_new) found->second = put({.rule = Rule::rate, .a = a});
    return found->second;
  }

  /// y = phi(a); its w comes afterwards, by `follow`.
  Id function(Code code, Id a, Id b = none) {
    if (steady[a] && (b == none || steady[b])) return put({.code = code, .operand = {a, b, none}});
    return put({.code = code, .operand = {a, b, none}, .rule = Rule::chain, .a = rate(a), .b = none});
  }
  void follow(Id y, Id w) {
    for (std::size_t i = steps.size(); i-- > 0;)
      if (steps[i].to == y) {
        steps[i].b = w;
        return;
      }
  }
  template <class Slope>
  Id function(Code code, Id a, Slope slope) {
    const Id y = function(code, a);
    if (!steady[y]) follow(y, slope(y));
    return y;
  }

  /// Sine and cosine of one argument, or the hyperbolic ones.
  Id circular(Code wanted, Id a, Code sine, Code cosine) {
    const auto [found, is_new] = pair_of_.try_emplace({sine, a}, std::pair(none, none));
    auto& [s, c] = found->second;
    if (is_new) {
      s = function(sine, a);
      c = function(cosine, a);
      if (!steady[s]) {
        follow(s, c);
        follow(c, sine == Code::sin ? arithmetic(Code::neg, s) : s);
      }
    }
    return wanted == sine ? s : c;
  }

  Id whole_power(Id base, unsigned n) {
    Id product = none, square = base;
    for (; n != 0; n >>= 1U) {
      if (n & 1U) product = product == none ? square : arithmetic(Code::mul, product, square);
      if (n > 1) square = arithmetic(Code::square, square);
    }
    return product == none ? constant(1.0) : product;
  }

  Id power(const NativeProgram::Step& from, Id a, Id b) {
    if (is_small_power(from, tape)) {
      const double exponent = tape.constants[from.operand[1]];
      const Id whole = whole_power(a, static_cast<unsigned>(std::abs(exponent)));
      return exponent < 0.0 ? arithmetic(Code::inverse, whole) : whole;
    }
    // a y' = b y a' where b is steady, else y = exp(b log a)
    if (steady[b]) {
      const Id y = function(Code::pow, a, b);
      if (!steady[y]) follow(y, arithmetic(Code::div, arithmetic(Code::mul, b, y), a));
      return y;
    }
    const Id exponent = arithmetic(Code::mul, b, logarithm(a));
    const Id y = put({.code = Code::pow, .operand = {a, b, none}, .rule = Rule::chain, .a = rate(exponent), .b = none});
    follow(y, y);
    return y;
  }

  Id logarithm(Id a) {
    return function(Code::log, a, [&](Id) { return arithmetic(Code::inverse, a); });
  }

  Id angle(Id a, Id b) {
    if (steady[a] && steady[b]) return put({.code = Code::atan2, .operand = {a, b, none}});
    // (b a' - a b') / (a^2 + b^2)
    const Id sum = arithmetic(Code::add, arithmetic(Code::square, a), arithmetic(Code::square, b));
    const Id first = put({.rule = Rule::chain, .a = rate(a), .b = arithmetic(Code::div, b, sum)});
    const Id second = put({.rule = Rule::chain, .a = rate(b), .b = arithmetic(Code::div, a, sum)});
    return put({.code = Code::atan2, .operand = {a, b, none}, .rule = Rule::subtract, .a = first, .b = second});
  }

  Id table(const expr::Graph::TableUse& use, Id a, std::uint32_t place) {
    tables.push_back(use);
    const auto number = static_cast<std::uint32_t>(tables.size() - 1);
    Step step{.code = Code::table, .operand = {a, none, none}, .place = place, .table = number};
    constexpr int degree = 3;
    if (steady[a] || use.times >= degree) return put(step);
    step.rule = Rule::chain;
    step.a = rate(a);
    const Id y = put(step);
    expr::Graph::TableUse slope = use;
    ++slope.times;
    follow(y, table(slope, a, place));
    return y;
  }

  Id translate(const NativeProgram::Step& from) {
    const auto operand = [&](int k) { return from.operand[k] == none ? none : value_of_[from.operand[k]]; };
    const Id a = operand(0), b = operand(1), c = operand(2), one = constant(1.0);
    const auto inverse_root = [&](Code code, Id left, Id right) {
      return arithmetic(Code::inverse, arithmetic(Code::sqrt, arithmetic(code, left, right)));
    };
    switch (from.code) {
      case Code::add:
      case Code::sub:
      case Code::mul:
      case Code::div:
      case Code::neg:
      case Code::square:
      case Code::inverse:
      case Code::sqrt:
        return arithmetic(from.code, a, b);
      case Code::pow:
        return power(from, a, b);
      case Code::sin:
      case Code::cos:
        return circular(from.code, a, Code::sin, Code::cos);
      case Code::sinh:
      case Code::cosh:
        return circular(from.code, a, Code::sinh, Code::cosh);
      case Code::tan:
        return function(Code::tan, a, [&](Id y) { return arithmetic(Code::add, one, arithmetic(Code::square, y)); });
      case Code::tanh:
        return function(Code::tanh, a, [&](Id y) { return arithmetic(Code::sub, one, arithmetic(Code::square, y)); });
      case Code::asin:
        return function(Code::asin, a, [&](Id) { return inverse_root(Code::sub, one, arithmetic(Code::square, a)); });
      case Code::acos:
        return function(Code::acos, a, [&](Id) {
          return arithmetic(Code::neg, inverse_root(Code::sub, one, arithmetic(Code::square, a)));
        });
      case Code::asinh:
        return function(Code::asinh, a, [&](Id) { return inverse_root(Code::add, one, arithmetic(Code::square, a)); });
      case Code::acosh:
        return function(Code::acosh, a, [&](Id) { return inverse_root(Code::sub, arithmetic(Code::square, a), one); });
      case Code::atan:
        return function(Code::atan, a, [&](Id) {
          return arithmetic(Code::inverse, arithmetic(Code::add, one, arithmetic(Code::square, a)));
        });
      case Code::atanh:
        return function(Code::atanh, a, [&](Id) {
          return arithmetic(Code::inverse, arithmetic(Code::sub, one, arithmetic(Code::square, a)));
        });
      case Code::exp:
        return function(Code::exp, a, [](Id y) { return y; });
      case Code::log:
        return logarithm(a);
      case Code::log10:
        return function(Code::log10, a, [&](Id) { return arithmetic(Code::div, constant(std::numbers::log10e), a); });
      case Code::cbrt:
        return function(Code::cbrt, a,
                        [&](Id y) { return arithmetic(Code::div, arithmetic(Code::mul, constant(1.0 / 3.0), y), a); });
      case Code::atan2:
        return angle(a, b);
      case Code::hypot: {
        const Id sum = arithmetic(Code::add, arithmetic(Code::square, a), arithmetic(Code::square, b));
        return put({.code = Code::hypot, .operand = {a, b, none}, .rule = Rule::root, .a = sum});
      }
      case Code::table:
        return table(tape.tables[from.table], a, from.place);
      case Code::abs:
      case Code::min:
      case Code::max:
      case Code::choose: {
        Step step{.code = from.code, .operand = {a, b, c}, .place = from.place, .rule = Rule::pick};
        const bool first = from.code != Code::choose && !steady[a];
        if (!first && (b == none || steady[b]) && (c == none || steady[c])) step.rule = Rule::steady;
        return put(step);
      }
      case Code::multiply_add:
        return arithmetic(Code::add, arithmetic(Code::mul, a, b), c);
      case Code::multiply_sub:
        return arithmetic(Code::sub, arithmetic(Code::mul, a, b), c);
      case Code::sub_product:
        return arithmetic(Code::sub, c, arithmetic(Code::mul, a, b));
      case Code::held:
        return put({.code = Code::held, .operand = {value_of_[from.table], none, none}, .place = from.place});
      case Code::sign:
      case Code::floor:
      case Code::less:
      case Code::less_equal:
      case Code::equal:
      case Code::not_equal:
      case Code::logical_and:
      case Code::logical_or:
      case Code::logical_not:
        return put({.code = from.code, .operand = {a, b, none}, .place = from.place});
      case Code::store:
      case Code::end:
        break;
    }
    DAEDALUS_CHECK(false, "code {}", static_cast<int>(from.code));
  }

  std::vector<Id> value_of_;  ///< of the values of the program
  std::map<double, Id> constant_of_;
  std::map<Id, Id> rate_of_;
  std::map<std::pair<Code, Id>, std::pair<Id, Id>> pair_of_;
};

// Four numbers at a time.
typedef double Four __attribute__((vector_size(32)));

#define DAEDALUS_INLINE __attribute__((always_inline)) inline

/// Adds a_j b_{k-j}, j = 0 to k, to four partial sums; b has `lead` zeros before it, so that what stands behind a_k
/// does not matter. `blocks` is k/4 + 1.
DAEDALUS_INLINE void convolve(const double* a, const double* b, std::size_t k, std::size_t blocks, Four& sum) {
  Four left, right;
  b += static_cast<std::ptrdiff_t>(k) - 3;
  for (std::size_t j = 0; j < blocks; ++j, a += 4, b -= 4) {
    std::memcpy(&left, a, sizeof left);
    std::memcpy(&right, b, sizeof right);
    sum += left * __builtin_shufflevector(right, right, 3, 2, 1, 0);
  }
}

DAEDALUS_INLINE double convolve(const double* a, const double* b, std::size_t k) {
  Four sum = {0.0, 0.0, 0.0, 0.0};
  convolve(a, b, k, k / 4 + 1, sum);
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/// A product: the values, and where their rows begin.
struct Pair {
  Id a, b;
  std::uint32_t row_a, row_b;
};
struct Move {
  Id to, a, b;
  std::uint32_t row_to, row_a, row_b;
};
/// Terms of a sum stand one after the other: products, values, and values times steady ones, of each those that are
/// added and those that are subtracted.
struct Sum {
  Id to;
  std::uint32_t begin;
  std::uint32_t count[6];
};
/// Moves, or sums, of one rule that do not need each other.
struct Group {
  Rule rule;
  std::uint32_t begin, end;
};

/// Coefficients: of order 0, of the order in work, and of the lower ones by rows, in which that of the order in work is
/// 0.
struct Numbers {
  double *first, *now, *rows;
};

DAEDALUS_INLINE void run_sums(const Sum* at, const Sum* end, const Pair* terms, const Numbers& v, std::size_t k,
                              std::size_t blocks) {
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

DAEDALUS_INLINE void run_products(const Move* at, const Move* end, const Numbers& v, std::size_t k,
                                  std::size_t blocks) {
  for (; at != end; ++at) {
    Four sum = {0.0, 0.0, 0.0, 0.0};
    convolve(v.rows + at->row_a, v.rows + at->row_b, k, blocks, sum);
    const double ends = v.first[at->a] * v.now[at->b] + v.now[at->a] * v.first[at->b];
    v.now[at->to] = ((sum[0] + sum[2]) + (sum[1] + sum[3])) + ends;
  }
}

DAEDALUS_INLINE void run_moves(Rule rule, const Move* at, const Move* end, const Numbers& v, std::size_t k) {
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

DAEDALUS_INLINE void run(const Group& group, const Move* moves, const Sum* sums, const Pair* terms, const Numbers& v,
                         std::size_t k) {
  const auto with = [&](std::size_t blocks) __attribute__((always_inline)) {
    if (group.rule == Rule::sum)
      run_sums(sums + group.begin, sums + group.end, terms, v, k, blocks);
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

}  // namespace

struct Jet::Program {
  std::vector<Step> steps;                 ///< of order 0, in order
  std::vector<std::uint32_t> late_steps;   ///< which of them depend on late inputs
  std::vector<Group> groups, late_groups;  ///< of higher orders
  std::vector<Move> moves;
  std::vector<Sum> sums;
  std::vector<Pair> terms;
  std::vector<expr::Graph::TableUse> tables;
  std::vector<std::pair<Id, double>> constants;
  std::vector<Id> picked;    ///< of each value that a condition picks: the one it goes on with
  std::vector<double> sign;  ///< and the sign with which
  Id first_input = 0;
  std::vector<double> inputs;  ///< their coefficients of the order that comes next or is in work
  std::vector<Id> late;        ///< inputs by their values
  std::vector<double> change;  ///< of each value: what late inputs have changed
  struct Row {
    Id value;
    std::uint32_t at;  ///< of order 0
    bool rate;         ///< one order below
  };
  std::vector<Row> kept;  ///< rows of the values that are convolved
  std::vector<double> rows;
  std::vector<double> first, now;

  void order(const Builder& builder, const std::vector<std::size_t>& late_inputs, std::size_t highest);
  void evaluate(const Step& step, const double* modes);
  void keep(std::size_t k);
  void higher(const std::vector<Group>& which, std::size_t k);
  void add_change(std::size_t k);
  void clear();
};

namespace {

/// What a value is in higher orders: the terms of a sum, or one rule.
struct Terms {
  struct Term {
    Id a, b = none;
  };
  std::vector<Term> of[6];

  std::size_t size() const {
    std::size_t count = 0;
    for (const auto& list : of) count += list.size();
    return count;
  }
};

/// Finds sums: what only one sum uses becomes part of it.
class Summation {
 public:
  explicit Summation(const Builder& builder)
      : builder_(builder), uses_(builder.steady.size()), step_of_(uses_.size(), nullptr) {
    for (const Step& step : builder.steps) {
      step_of_[step.to] = &step;
      if (step.rule == Rule::steady) continue;
      for (const Id v : {step.a, step.b})
        if (v != none) ++uses_[v];
      if (step.rule == Rule::pick)
        for (const Id v : step.operand)
          if (v != none) ++uses_[v];
    }
    for (const Id v : builder.outputs) ++uses_[v];
  }

  /// Whether another sum has taken the step in.
  bool is_part(const Step& step) const { return uses_[step.to] == 1 && taken_.contains(step.to); }

  /// The terms of a step, of those users that come last first.
  Terms terms(const Step& step) {
    Terms out;
    expand(step, 0, out);
    return out;
  }

 private:
  static bool is_linear(Rule rule) {
    return rule == Rule::add || rule == Rule::subtract || rule == Rule::multiply || rule == Rule::scale;
  }

  void expand(const Step& step, std::size_t negative, Terms& out) {
    if (step.rule == Rule::multiply) return out.of[negative].push_back({step.a, step.b});
    if (step.rule == Rule::scale) return out.of[4 + negative].push_back({step.a, step.b});
    operand(step.a, negative, out);
    operand(step.b, step.rule == Rule::subtract ? 1 - negative : negative, out);
  }

  void operand(Id v, std::size_t negative, Terms& out) {
    if (builder_.steady[v]) return;
    const Step* step = step_of_[v];
    constexpr std::size_t most = 64;
    if (step == nullptr || uses_[v] != 1 || !is_linear(step->rule) || out.size() > most)
      return out.of[2 + negative].push_back({v});
    taken_.insert(v);
    expand(*step, negative, out);
  }

  const Builder& builder_;
  std::vector<std::uint32_t> uses_;
  std::vector<const Step*> step_of_;
  std::unordered_set<Id> taken_;
};

}  // namespace

/// Sorts the rules of higher orders so that those come first that others need, and those of one kind together.
void Jet::Program::order(const Builder& builder, const std::vector<std::size_t>& late_inputs, std::size_t highest) {
  const std::size_t count = builder.steady.size();
  std::vector<std::uint32_t> level(count, 0);
  std::vector<bool> waits(count, false), waits_at_0(count, false);
  for (const std::size_t i : late_inputs) {
    const std::size_t value = builder.program.constants + i;
    waits[value] = waits_at_0[value] = true;
    late.push_back(static_cast<Id>(value));
  }
  struct Place {
    bool late;
    std::uint32_t level;
    Rule rule;
    std::uint32_t step;
  };
  std::vector<Terms> terms_of(steps.size());
  Summation summation(builder);
  for (std::size_t i = steps.size(); i-- > 0;) {
    const Rule rule = steps[i].rule;
    if ((rule == Rule::add || rule == Rule::subtract || rule == Rule::multiply) && !summation.is_part(steps[i]))
      terms_of[i] = summation.terms(steps[i]);
  }
  std::vector<Place> places;
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    for (const Id v : step.operand)
      if (v != none && waits_at_0[v]) waits_at_0[step.to] = true;
    if (waits_at_0[step.to]) late_steps.push_back(i);
    if (step.rule == Rule::steady || summation.is_part(step)) continue;
    const auto need = [&](Id v) {
      if (v == none) return;
      level[step.to] = std::max(level[step.to], level[v] + 1);
      if (waits[v]) waits[step.to] = true;
    };
    const bool is_sum = terms_of[i].size() > 0;
    if (is_sum) {
      for (const auto& list : terms_of[i].of)
        for (const Terms::Term& term : list) {
          need(term.a);
          need(term.b);
        }
    } else if (step.rule == Rule::pick) {
      for (const Id v : step.operand) need(v);
    } else {
      need(step.a);
      if (step.rule != Rule::chain) need(step.b);  // of the other factor lower orders are enough
    }
    const bool is_product = is_sum && terms_of[i].size() == 1 && terms_of[i].of[0].size() == 1;
    places.push_back({waits[step.to], level[step.to], is_product ? Rule::multiply : is_sum ? Rule::sum : step.rule, i});
  }
  std::ranges::stable_sort(places, {}, [](const Place& p) { return std::tuple(p.late, p.level, p.rule); });
  const std::size_t stride = lead + (highest / 4 + 1) * 4;
  std::vector<bool> is_rate(count, false);
  for (const Step& step : steps)
    if (step.rule == Rule::rate) is_rate[step.to] = true;
  std::vector<std::uint32_t> row_of(count, 0);
  const auto row = [&](Id v) {
    if (row_of[v] == 0) {
      row_of[v] = static_cast<std::uint32_t>(kept.size() * stride + lead);
      kept.push_back({v, row_of[v], is_rate[v]});
    }
    return row_of[v];
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    const Step& step = steps[place.step];
    std::vector<Group>& into = place.late ? late_groups : groups;
    const auto at = static_cast<std::uint32_t>(place.rule == Rule::sum ? sums.size() : moves.size());
    const bool joins = i > 0 && places[i - 1].late == place.late && places[i - 1].level == place.level &&
                       places[i - 1].rule == place.rule;
    if (!joins) into.push_back({place.rule, at, at});
    ++into.back().end;
    if (place.rule == Rule::sum) {
      Sum sum{step.to, static_cast<std::uint32_t>(terms.size()), {}};
      for (std::size_t kind = 0; kind < 6; ++kind) {
        sum.count[kind] = static_cast<std::uint32_t>(terms_of[place.step].of[kind].size());
        for (const Terms::Term& term : terms_of[place.step].of[kind])
          terms.push_back({term.a, term.b, kind < 2 ? row(term.a) : 0U, kind < 2 ? row(term.b) : 0U});
      }
      sums.push_back(sum);
    } else {
      Move move{step.to, step.a, step.b, 0U, 0U, 0U};
      if (place.rule == Rule::multiply) {
        const Terms::Term& product = terms_of[place.step].of[0].front();
        move = {step.to, product.a, product.b, 0U, row(product.a), row(product.b)};
      }
      if (place.rule == Rule::divide || place.rule == Rule::root) move.row_to = row(step.to);
      if (place.rule == Rule::divide || place.rule == Rule::chain) move.row_b = row(step.b);
      if (place.rule == Rule::chain) move.row_a = row(step.a);
      moves.push_back(move);
    }
  }
  first.resize(count);
  now.resize(count);
  change.resize(count);
  first_input = static_cast<Id>(builder.program.constants);
  inputs.resize(builder.inputs);
  rows.resize(kept.size() * stride + lead);
  picked.resize(count);
  sign.resize(count);
  for (Id i = 0; i < builder.program.constants; ++i) constants.emplace_back(i, builder.constants[i]);
  constants.insert(constants.end(), builder.more_constants.begin(), builder.more_constants.end());
}

void Jet::Program::clear() {
  for (auto* numbers : {&first, &now, &change, &rows}) std::ranges::fill(*numbers, 0.0);
  for (const auto& [id, number] : constants) first[id] = number;
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
      to = std::sin(value(0));
      return;
    case Code::cos:
      to = std::cos(value(0));
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
      to = look_up(tables[step.table], value(0), frozen ? &mode : nullptr);
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

namespace {

#if defined(__x86_64__)
__attribute__((target("avx2"))) void run_avx2(const Group& group, const Move* moves, const Sum* sums, const Pair* terms,
                                              const Numbers& v, std::size_t k) {
  run(group, moves, sums, terms, v, k);
}
#endif
void run_portable(const Group& group, const Move* moves, const Sum* sums, const Pair* terms, const Numbers& v,
                  std::size_t k) {
  run(group, moves, sums, terms, v, k);
}

using Run = void (*)(const Group&, const Move*, const Sum*, const Pair*, const Numbers&, std::size_t);
const Run run_here = [] {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return &run_avx2;
#endif
  return &run_portable;
}();

}  // namespace

/// Puts the coefficients of order k into the rows, and a 0 where the next ones belong.
void Jet::Program::keep(std::size_t k) {
  for (const Row& row : kept) {
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
      run_here(group, moves.data(), sums.data(), terms.data(), numbers, k);
      continue;
    }
    for (std::uint32_t i = group.begin; i < group.end; ++i)
      now[moves[i].to] = sign[moves[i].to] * now[picked[moves[i].to]];
  }
}

/// Adds to coefficient k what the late inputs have changed of it. What does not depend on them has no change.
void Jet::Program::add_change(std::size_t k) {
  double* d = change.data();
  const double* v = first.data();
  for (const Id id : late) {
    d[id] = inputs[id - first_input] - now[id];
    now[id] = inputs[id - first_input];
  }
  const auto order = static_cast<double>(k);
  const auto set = [&](Id to, double by) {
    d[to] = by;
    now[to] += by;
  };
  for (const Group& group : late_groups) {
    if (group.rule == Rule::sum) {
      for (std::uint32_t s = group.begin; s < group.end; ++s) {
        const Sum& sum = sums[s];
        const Pair* term = terms.data() + sum.begin;
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
      const Move& move = moves[i];
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
    : program_(std::make_unique<Program>()), highest_(highest) {
  const Builder builder(function.tape());
  Program& program = *program_;
  program.steps = builder.steps;
  program.tables = builder.tables;
  program.order(builder, late, highest);
  program.clear();
  inputs_ = program.inputs.data();
  outputs_.assign(builder.outputs.begin(), builder.outputs.end());
  values_[0] = program.first.data();
  values_[1] = program.now.data();
}

Jet::~Jet() = default;
Jet::Jet(Jet&&) noexcept = default;
Jet& Jet::operator=(Jet&&) noexcept = default;

void Jet::clear() { program_->clear(); }

void Jet::advance(std::size_t k, const double* modes) {
  DAEDALUS_CHECK(k <= highest_, "order {} of {}", k, highest_);
  Program& program = *program_;
  if (k > 0) program.keep(k - 1);
  std::ranges::copy(program.inputs, (k == 0 ? program.first : program.now).begin() + program.first_input);
  if (k == 0) {
    for (const Step& step : program.steps) program.evaluate(step, modes);
  } else {
    program.higher(program.groups, k);
    program.higher(program.late_groups, k);
  }
}

void Jet::correct(std::size_t k, const double* modes) {
  if (k > 0) return program_->add_change(k);
  for (const Id id : program_->late) program_->first[id] = program_->inputs[id - program_->first_input];
  for (const std::uint32_t i : program_->late_steps) program_->evaluate(program_->steps[i], modes);
}

}  // namespace daedalus::compile
