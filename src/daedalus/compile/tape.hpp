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
  store,  ///< outputs[to] = a
  end,
};

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
