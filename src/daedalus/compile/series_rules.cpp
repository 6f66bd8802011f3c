// Arithmetic of truncated power series (L. B. Rall, Automatic Differentiation, LNCS 120, 1981; A. Jorba, M. Zou, A
// software package for the numerical integration of ODEs by means of high-order Taylor methods, Exp. Math. 14, 2005):
//   product    c_k = sum_{j=0}^k a_j b_{k-j}
//   quotient   c_k = (a_k - sum_{j=1}^k b_j c_{k-j}) / b_0
//   root       c_k = (a_k - sum_{j=1}^{k-1} c_j c_{k-j}) / (2 c_0)
//   y = phi(a) with y' = w a':   y_k = (1/k) sum_{j=0}^{k-1} (j+1) a_{j+1} w_{k-1-j},
// where w = phi'(a) is another series, of which order k needs those below k only: exp has w = y, sine and cosine have
// each other, tan has 1 + y^2, log has 1/a. So every function comes down to these four rules and to sums.
#include "daedalus/compile/series_rules.hpp"

#include <cmath>
#include <map>
#include <numbers>

#include "daedalus/base/check.hpp"

namespace daedalus::compile::series {

namespace {

class Translator {
 public:
  Translator(const Function::Tape& tape, Rules& rules) : tape_(tape), rules_(rules) {
    const NativeProgram program(tape);
    rules.first_input = static_cast<Id>(program.constants);
    rules.inputs = program.inputs;
    for (Id i = 0; i < program.constants; ++i) {
      rules.constants.emplace_back(i, tape.constants[i]);
      constant_of_.try_emplace(tape.constants[i], i);
    }
    rules.steady.assign(program.constants, true);
    rules.steady.resize(program.values, false);
    value_of_.resize(program.values);
    for (Id v = 0; v < program.values; ++v) value_of_[v] = v;
    rules.outputs.resize(tape.outputs);
    for (const NativeProgram::Step& from : program.steps) {
      if (from.code == Code::store)
        rules.outputs[from.to] = value_of_[from.operand[0]];
      else
        value_of_[from.to] = translate(from);
    }
  }

 private:
  Id fresh(bool is_steady) {
    rules_.steady.push_back(is_steady);
    return static_cast<Id>(rules_.steady.size() - 1);
  }

  Id constant(double number) {
    const auto [found, is_new] = constant_of_.try_emplace(number, 0);
    if (is_new) {
      found->second = fresh(true);
      rules_.constants.emplace_back(found->second, number);
    }
    return found->second;
  }

  /// Adds a step; one whose higher orders need steady values only is steady itself.
  Id put(Step step) {
    const auto varies = [&](Id v) { return v != none && !rules_.steady[v]; };
    if (step.rule != Rule::pick && !varies(step.a) && !varies(step.b)) step.rule = Rule::steady;
    step.to = fresh(step.rule == Rule::steady);
    rules_.steps.push_back(step);
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
        step.rule = rules_.steady[a] || rules_.steady[b] ? Rule::scale : Rule::multiply;
        if (rules_.steady[a]) std::swap(step.a, step.b);
        break;
      case Code::square:
        step.rule = Rule::multiply;
        step.b = a;
        break;
      case Code::div:
        step.rule = rules_.steady[b] ? Rule::shrink : Rule::divide;
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
    if (rules_.steady[a] && (b == none || rules_.steady[b])) return put({.code = code, .operand = {a, b, none}});
    return put({.code = code, .operand = {a, b, none}, .rule = Rule::chain, .a = rate(a), .b = none});
  }
  void follow(Id y, Id w) {
    for (std::size_t i = rules_.steps.size(); i-- > 0;)
      if (rules_.steps[i].to == y) {
        rules_.steps[i].b = w;
        return;
      }
  }
  template <class Slope>
  Id function(Code code, Id a, Slope slope) {
    const Id y = function(code, a);
    if (!rules_.steady[y]) follow(y, slope(y));
    return y;
  }

  /// Sine and cosine of one argument, or the hyperbolic ones.
  Id circular(Code wanted, Id a, Code sine, Code cosine) {
    const auto [found, is_new] = pair_of_.try_emplace({sine, a}, std::pair(none, none));
    auto& [s, c] = found->second;
    if (is_new) {
      s = function(sine, a);
      c = function(cosine, a);
      if (!rules_.steady[s]) {
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
    const double exponent = is_small_power(from, tape_) ? tape_.constants[from.operand[1]] : 0.5;
    if (exponent == std::floor(exponent)) {
      const Id whole = whole_power(a, static_cast<unsigned>(std::abs(exponent)));
      return exponent < 0.0 ? arithmetic(Code::inverse, whole) : whole;
    }
    // a y' = b y a' where b is steady, else y = exp(b log a)
    if (rules_.steady[b]) {
      const Id y = function(Code::pow, a, b);
      if (!rules_.steady[y]) follow(y, arithmetic(Code::div, arithmetic(Code::mul, b, y), a));
      return y;
    }
    const Id logarithmic = arithmetic(Code::mul, b, logarithm(a));
    const Id y = put({.code = Code::pow, .operand = {a, b, none}, .rule = Rule::chain, .a = rate(logarithmic), .b = none});
    follow(y, y);
    return y;
  }

  Id logarithm(Id a) {
    return function(Code::log, a, [&](Id) { return arithmetic(Code::inverse, a); });
  }

  Id angle(Id a, Id b) {
    if (rules_.steady[a] && rules_.steady[b]) return put({.code = Code::atan2, .operand = {a, b, none}});
    // (b a' - a b') / (a^2 + b^2)
    const Id sum = arithmetic(Code::add, arithmetic(Code::square, a), arithmetic(Code::square, b));
    const Id first = put({.rule = Rule::chain, .a = rate(a), .b = arithmetic(Code::div, b, sum)});
    const Id second = put({.rule = Rule::chain, .a = rate(b), .b = arithmetic(Code::div, a, sum)});
    return put({.code = Code::atan2, .operand = {a, b, none}, .rule = Rule::subtract, .a = first, .b = second});
  }

  Id table(const expr::Graph::TableUse& use, Id a, std::uint32_t place) {
    rules_.tables.push_back(use);
    const auto number = static_cast<std::uint32_t>(rules_.tables.size() - 1);
    Step step{.code = Code::table, .operand = {a, none, none}, .place = place, .table = number};
    constexpr int degree = 3;
    if (rules_.steady[a] || use.times >= degree) return put(step);
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
        return table(tape_.tables[from.table], a, from.place);
      case Code::abs:
      case Code::min:
      case Code::max:
      case Code::choose: {
        Step step{.code = from.code, .operand = {a, b, c}, .place = from.place, .rule = Rule::pick};
        const bool first = from.code != Code::choose && !rules_.steady[a];
        if (!first && (b == none || rules_.steady[b]) && (c == none || rules_.steady[c])) step.rule = Rule::steady;
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

  const Function::Tape& tape_;
  Rules& rules_;
  std::vector<Id> value_of_;  ///< of the values of the program
  std::map<double, Id> constant_of_;
  std::map<Id, Id> rate_of_;
  std::map<std::pair<Code, Id>, std::pair<Id, Id>> pair_of_;
};

}  // namespace

Rules::Rules(const Function::Tape& tape) { Translator(tape, *this); }

}  // namespace daedalus::compile::series
