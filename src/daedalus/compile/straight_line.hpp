#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "daedalus/compile/function.hpp"

namespace daedalus::compile {

struct Instruction;

/// Functions put together as one straight line: outputs of one are inputs of the next. What several of them compute
/// alike is computed once, and what nobody asks for is left out. Frozen values are those of the functions.
class StraightLine {
 public:
  using Value = std::uint32_t;
  using Values = std::vector<Value>;

  /// A line with inputs in blocks of these sizes.
  explicit StraightLine(const std::vector<std::size_t>& blocks);
  ~StraightLine();

  Value input(std::size_t block, std::size_t index) const { return first_of_block_[block] + static_cast<Value>(index); }
  Values block(std::size_t number) const;
  Value constant(double number);
  Value sum(Value a, Value b);
  Value product(Value a, Value b);
  Value multiply_add(Value a, Value b, Value c);  ///< a b + c
  Value difference(Value a, Value b);
  Value magnitude(Value a);         ///< |a|
  Value larger(Value a, Value b);   ///< b where a < b, else a
  /// Component by component.
  Values sum(const Values& a, const Values& b);

  struct Called {
    Values outputs, notes;
  };
  Called call(const Function& function, const std::vector<Values>& inputs);

  /// Lets products that are used once, in a sum or a difference, become part of it, with one rounding for both.
  void contract(const Values& outputs, const Values& notes);

  /// The line as a function; notes as compile_as_wished has them.
  Function finish(const Values& outputs, const Values& notes) const;

 private:
  Value compute(const Instruction& instruction);

  std::vector<std::size_t> blocks_;
  std::vector<Value> first_of_block_;
  Value inputs_ = 0;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace daedalus::compile
