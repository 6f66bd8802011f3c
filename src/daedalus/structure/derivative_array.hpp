#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "daedalus/compile/function.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/linalg/sparsity.hpp"
#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::structure {

/// The derivative array F_mu = (F, DF, ..., D^mu F) of a DAE F(t, y, y') = 0, with D the total time derivative, in
/// symbols and as functions of numbers. Its unknowns are the jets y, y', ..., y^(mu+1), kept one after the other.
///
/// It grows level by level; what is there stays. While it grows nobody else may use it or the model's expressions.
class DerivativeArray {
 public:
  explicit DerivativeArray(std::shared_ptr<const DaeFunctions> functions);

  const DaeFunctions& functions() const { return *functions_; }
  std::size_t dimension() const { return functions_->dimension(); }

  /// Appends levels until there are `count`: F_mu has mu + 1. False where the expressions outgrow all measure; the
  /// levels before that one stay.
  bool extend(std::size_t count);
  std::size_t levels() const { return levels_.size(); }

  /// A table whose derivative an equation of the array needs, although it jumps, or is not even a function, at the
  /// knots.
  struct RoughTable {
    std::size_t row, level;
    std::string table;
    int times;  ///< which derivative of the table
  };

  struct Level {
    std::vector<expr::Expr> F;    ///< D^k F
    std::vector<expr::Expr> F_y;  ///< D^k of the entries of dF/dy, in the order of by_y()
    std::vector<expr::Expr> F_dy;
    compile::Function function;  ///< t, (y, ..., y^(k+1)) -> F, F_y, F_dy
    std::vector<RoughTable> rough;
  };
  const Level& level(std::size_t k) const { return levels_[k]; }
  const linalg::Sparsity& by_y() const { return by_y_; }    ///< of dF/dy
  const linalg::Sparsity& by_dy() const { return by_dy_; }  ///< of dF/dy'
  /// The symbols of y^(k).
  const std::vector<expr::Expr>& jet(std::size_t k) const { return jets_[k]; }

 private:
  void append_jet();
  void finish(Level level);

  std::shared_ptr<const DaeFunctions> functions_;
  std::unordered_map<expr::NodeId, double> numbers_;
  compile::Switches switches_;
  linalg::Sparsity by_y_, by_dy_;
  std::vector<std::vector<expr::Expr>> jets_;
  expr::Direction direction_;
  std::vector<Level> levels_;
  bool tables_ = false;
};

/// The tables of equations whose derivatives, as the equations contain them, are no functions. The levels are left 0.
std::vector<DerivativeArray::RoughTable> rough_tables(const std::vector<expr::Expr>& F);

/// Throws Error("table-not-smooth") that names every equation and table of the list.
void refuse_rough_tables(const DaeFunctions& functions, const std::vector<DerivativeArray::RoughTable>& rough);

}  // namespace daedalus::structure
