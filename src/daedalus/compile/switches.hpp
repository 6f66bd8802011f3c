#pragma once

#include <unordered_map>
#include <vector>

#include "daedalus/expr/graph.hpp"

namespace daedalus::compile {

/// The conditions hidden in `if abs sign min max floor`, lifted out of the functions that contain them: between two
/// events every one is frozen, so that an integrator sees smooth functions and an event locator sees the
/// switching functions.
///
/// Every function that is compiled against one Switches shares its numbering, and so one mode vector.
class Switches {
 public:
  enum class Kind { condition, sign, order, whole };

  struct Switch {
    Kind kind;
    expr::Expr node;      ///< the node whose branch it decides
    expr::Expr function;  ///< changes sign where the mode changes (for `whole`: crosses a whole number)
  };

  /// Number of the switch that decides this node; a new one where there is none.
  std::size_t of(expr::Expr node);
  std::size_t size() const { return switches_.size(); }
  const Switch& operator[](std::size_t i) const { return switches_[i]; }

  /// The mode that a value of the switching function means: 0 or 1 for conditions and orders, -1, 0, 1 for signs, the
  /// floor for `whole`.
  static double mode(Kind kind, expr::Op op, double function_value);

 private:
  std::vector<Switch> switches_;
  std::unordered_map<expr::NodeId, std::size_t> number_;
};

/// Whether a node is decided by a switch.
bool is_switched(expr::Op op);

}  // namespace daedalus::compile
