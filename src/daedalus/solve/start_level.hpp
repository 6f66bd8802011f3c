#pragma once

#include <string>
#include <vector>

#include "daedalus/base/error.hpp"
#include "daedalus/compile/compile.hpp"
#include "daedalus/mechanics/functions.hpp"
#include "daedalus/solve/start.hpp"
#include "daedalus/solve/start_conflict.hpp"
#include "daedalus/solve/start_search.hpp"

namespace daedalus::solve {

/// An equation that binds at one level of the start.
struct Binding {
  std::string name;
  expr::Expr residual;
  Place place;
  bool initial = false;  ///< from [initial]
};

std::string quoted(const std::string& name);

/// Writes a note where more is fixed than can be chosen.
void note_surplus(Start& start);

/// One level of the start: unknowns y with what is known before, bound by equations. Symbols in `known` are not numbers
/// even where the model has numbers for them (discrete values, after an event).
class Level {
 public:
  Level(const mechanics::Functions& fn, std::string what, std::vector<expr::Expr> unknowns,
        std::vector<std::vector<expr::Expr>> known, std::vector<Binding> bindings);

  std::size_t rows() const { return bindings_.size(); }
  const std::vector<Binding>& bindings() const { return bindings_; }
  void set_known(std::vector<const double*> known) { known_ = std::move(known); }

  std::vector<double> residual(const double* y) { return evaluate(residual_, residual_scratch_, y); }
  /// Size of each equation: its largest term, or what a unit change of the unknowns would do, scaled down.
  std::vector<double> scales(const double* y);
  /// Adds what `y` violates to `violations`; true where nothing is.
  bool check(const double* y, int level, std::vector<Violation>& violations);
  /// What the level asks of y near a point.
  StartProblem problem(const std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
                       const std::vector<double>& weight_values);
  /// Moves y onto the equations with the least change. Returns false, with a message, where there is no such point;
  /// throws Error where fixed values or [initial] are to blame. At the start (not at events, which must not leave their
  /// branch) it searches along a path and from random points, too, and writes a note where that was needed.
  enum class Extent { near, anywhere };
  bool solve(std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
             const std::vector<double>& weight_values, std::string& message, Extent extent = Extent::near,
             std::vector<std::string>* notes = nullptr);

  /// Whether solve() would succeed near y.
  bool possible(const std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
                const std::vector<double>& weight_values);

  /// Which of the unknowns can be chosen at a point that satisfies the equations, [initial] apart.
  FreeValues free_at(const std::vector<double>& y, const std::vector<bool>& fixed);

 private:
  std::vector<double> evaluate(const compile::Function& function, compile::Function::Scratch& scratch, const double* y);
  std::string describe(const linalg::GaussNewtonResult& result, const std::vector<double>& y, const Conflict& conflict);

  std::string what_;
  std::vector<expr::Expr> unknowns_;
  std::vector<double> nominal_;
  std::vector<Binding> bindings_;
  linalg::Sparsity pattern_;
  std::vector<std::size_t> term_start_;
  compile::Function residual_, jacobian_, terms_;
  compile::Function::Scratch residual_scratch_, jacobian_scratch_, terms_scratch_;
  std::vector<const double*> known_;
};

}  // namespace daedalus::solve
