#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "daedalus/expr/graph.hpp"

namespace daedalus::compile {

/// The conditions hidden in `if abs sign min max floor` and in tables, lifted out of the functions that contain them:
/// between two events every one is frozen, so that an integrator sees smooth functions and an event locator sees the
/// switching functions.
///
/// Every function that is compiled against one Switches shares its numbering, and so one vector of frozen values:
///     free | held values | modes of the switches
/// The first entry is not a number for ever. A mode that is not a number is free: what it decides follows its own
/// values. What depends only on parameters, held values and other modes is constant between events without a switch of
/// its own.
class Switches {
 public:
  enum class Kind {
    side,     ///< the sign -1, 0 or 1 of the function: abs sign min max < <= > >= == !=
    whole,    ///< its floor
    segment,  ///< between which knots of a table it lies
  };

  struct Switch {
    Kind kind;
    expr::Expr function;
    std::shared_ptr<const expr::Interpolant> table;  ///< for `segment`
    std::string table_name;

    /// The mode that a value of the function means.
    double mode(double value) const;
    /// The values between which a mode holds.
    double low(double mode) const;
    double high(double mode) const;
  };

  /// Declares symbols whose values change at events only. To be called before anything is compiled.
  void hold(const std::vector<expr::Expr>& symbols);
  /// Place of a held symbol among the frozen values.
  std::optional<std::size_t> held(expr::NodeId symbol) const;

  /// Place, among the frozen values, of the switch that decides this node; a new one where there is none.
  std::size_t of(expr::Expr node);
  /// The same, or the place that is free for ever where there is none.
  std::size_t find(expr::Expr node) const;

  std::size_t size() const { return switches_.size(); }
  const Switch& operator[](std::size_t i) const { return switches_[i]; }
  /// Place of switch i among the frozen values.
  std::size_t place(std::size_t i) const { return 1 + held_.size() + i; }
  std::size_t held_count() const { return held_.size(); }

  /// Frozen values with the given held ones, all modes free.
  std::vector<double> free_modes(const std::vector<double>& held_values) const;

 private:
  using Key = std::tuple<Kind, expr::NodeId, const expr::Interpolant*>;
  static Switch switch_of(expr::Expr node);

  std::vector<Switch> switches_;
  std::map<Key, std::size_t> number_;
  std::unordered_map<expr::NodeId, std::size_t> held_;
};

/// Whether a node is decided by a switch.
bool is_switched(expr::Op op);

}  // namespace daedalus::compile
