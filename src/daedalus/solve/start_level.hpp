#pragma once

#include <string>
#include <vector>

#include "daedalus/base/error.hpp"
#include "daedalus/compile/compile.hpp"
#include "daedalus/linalg/gauss_newton.hpp"
#include "daedalus/mechanics/functions.hpp"
#include "daedalus/solve/start.hpp"

namespace daedalus::solve {

/// An equation that binds at one level of the start.
struct Binding {
  std::string name;
  expr::Expr residual;
  Place place;
  bool initial = false;  ///< from [initial]
};

/// "a", "a and b", "a, b and c"; long lists are cut.
std::string listed(const std::vector<std::string>& names);
std::string quoted(const std::string& name);

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
  /// Moves y onto the equations with the least change. Returns false, with a message, where there is no such point;
  /// throws Error where fixed values or [initial] are to blame.
  bool solve(std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
             const std::vector<double>& weight_values, std::string& message);

  /// Whether solve() would succeed.
  bool possible(const std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
                const std::vector<double>& weight_values);

 private:
  std::vector<double> evaluate(const compile::Function& function, compile::Function::Scratch& scratch, const double* y);
  linalg::GaussNewtonResult attempt(const std::vector<double>& y, const std::vector<bool>& fixed,
                                    const linalg::Sparsity& weight, const std::vector<double>& weight_values,
                                    std::size_t count);
  void blame_bound_values(const std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
                          const std::vector<double>& weight_values, const std::vector<std::size_t>& offending);
  std::string describe(const linalg::GaussNewtonResult& result, const std::vector<double>& y,
                       const std::vector<std::size_t>& offending);

  std::string what_;
  std::vector<expr::Expr> unknowns_;
  std::vector<Binding> bindings_;
  linalg::Sparsity pattern_;
  std::vector<std::size_t> term_start_;
  compile::Function residual_, jacobian_, terms_;
  compile::Function::Scratch residual_scratch_, jacobian_scratch_, terms_scratch_;
  std::vector<const double*> known_;
};

}  // namespace daedalus::solve
