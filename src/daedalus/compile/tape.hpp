#pragma once

#include <cstdint>
#include <vector>

#include "daedalus/compile/function.hpp"
#include "daedalus/compile/native.hpp"
#include "daedalus/expr/graph.hpp"

namespace daedalus::compile {

/// Instructions of the register tape: the operations of expressions, plus storing and the switched ones, which ask the
/// mode vector first.
enum class Code : std::uint8_t {
  add, sub, mul, div, neg, pow, square, inverse, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh,
  atanh, exp, log, log10, sqrt, cbrt, atan2, hypot, logical_and, logical_or, logical_not,
  abs, sign, floor, min, max, less, less_equal, equal, not_equal,  // decided by a switch
  table,  ///< decided by a switch as well; b is the number of the table
  held,   ///< a value that only events change; a holds its start
  choose,
  multiply_add,  ///< a b + c, rounded once; only StraightLine makes these three
  multiply_sub,  ///< a b - c
  sub_product,   ///< c - a b
  store,  ///< outputs[to] = a
  end,
};

/// Whether the place of a frozen value stands in the third operand.
inline bool is_switched(Code code) { return code >= Code::abs && code <= Code::held; }

/// How many operands are registers whose values count.
inline int operand_count(Code code) {
  switch (code) {
    case Code::add:
    case Code::sub:
    case Code::mul:
    case Code::div:
    case Code::pow:
    case Code::atan2:
    case Code::hypot:
    case Code::logical_and:
    case Code::logical_or:
    case Code::min:
    case Code::max:
    case Code::less:
    case Code::less_equal:
    case Code::equal:
    case Code::not_equal: return 2;
    case Code::choose:
    case Code::multiply_add:
    case Code::multiply_sub:
    case Code::sub_product: return 3;
    case Code::held:  // its start, which matters without frozen values only
    case Code::end: return 0;
    default: return 1;
  }
}

struct Instruction {
  Code code;
  std::uint32_t to = 0, a = 0, b = 0, c = 0;  ///< registers; for switched and held codes c is a place in the frozen values
};

/// A straight-line program over registers laid out as [constants | inputs | temporaries]. Temporaries are reused as
/// soon as their last reader has run.
struct Function::Tape {
  std::vector<double> constants;
  std::vector<std::size_t> blocks;  ///< sizes of the input blocks
  std::size_t registers = 0;
  std::size_t outputs = 0;  ///< with the notes
  std::size_t notes = 0;    ///< the last so many outputs go to the front of the caller's buffer, before all registers
  std::vector<Instruction> code;
  std::vector<expr::Graph::TableUse> tables = {};
  NativeCode native = {};    ///< of this tape, made when a buffer for calls is first asked for
};

}  // namespace daedalus::compile
