#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "daedalus/expr/graph.hpp"

namespace daedalus::model {

/// Values of expressions whose symbols are numbers that never change: parameters, start values. Every node is computed
/// once, so that a chain of start values costs O(N).
class Evaluator {
 public:
  /// The number of a symbol, or nothing where it is not constant. May throw.
  using NumberOf = std::function<std::optional<double>(expr::NodeId)>;

  explicit Evaluator(NumberOf number_of) : number_of_(std::move(number_of)) {}

  /// The value of an expression, or nothing where a symbol in it, or a table, is not constant.
  std::optional<double> operator()(expr::Expr root);

 private:
  enum class State : unsigned char { unknown, known, varying };
  NumberOf number_of_;
  std::vector<State> state_;
  std::vector<double> value_;
};

}  // namespace daedalus::model
