#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "daedalus/compile/native_program.hpp"

// Part of jets; not part of this room's interface.
namespace daedalus::compile::series {

/// The number of a value: constants of the tape, inputs, then what steps and further constants are.
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

/// A tape as steps with series.
struct Rules {
  explicit Rules(const Function::Tape& tape);

  std::vector<Step> steps;
  std::vector<bool> steady;  ///< of each value: it has no higher orders
  std::vector<std::pair<Id, double>> constants;
  std::vector<expr::Graph::TableUse> tables;
  Id first_input = 0;
  std::size_t inputs = 0;
  std::vector<Id> outputs;
};

}  // namespace daedalus::compile::series
