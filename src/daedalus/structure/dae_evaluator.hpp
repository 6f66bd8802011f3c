#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "daedalus/linalg/damped_newton.hpp"
#include "daedalus/linalg/shifted_lu.hpp"
#include "daedalus/structure/dae_functions.hpp"
#include "daedalus/structure/dependent_rows.hpp"

namespace daedalus::structure {

enum class DaeOutcome { ok, not_finite, singular, no_convergence };

/// Evaluates F(t, y, y') = 0 for one trajectory: owns all workspace.
class DaeEvaluator {
 public:
  explicit DaeEvaluator(std::shared_ptr<const DaeFunctions> functions);

  const DaeFunctions& functions() const { return *functions_; }
  /// Lets every evaluation read the frozen values of a trajectory, which must outlive it.
  void freeze(const double* frozen) { frozen_ = frozen; }

  /// Adds these values to the rows of F in every later evaluation: feedback of what should vanish. Null adds nothing.
  void add_to_rows(const double* values) { added_ = values; }

  /// Solves F = 0 for the derivatives x' and the algebraic unknowns z at (t, x), from the last solution as a guess. Needs
  /// an easy system: [F_x', F_z] regular.
  DaeOutcome solve(double t, const double* x);
  /// Finds y' at a consistent y, also where it follows only from derivatives of algebraic combinations of the equations
  /// (C y' = f(y) with singular C), as long as the index is 1 at most. Moves nothing.
  DaeOutcome derivatives(double t, const double* y);
  /// Moves y so that the algebraic combinations of the equations hold, where [F_x', F_z] is singular and the index 1: F_y' y
  /// stays. Where that does not converge y is left as it is.
  void meet_combinations(double t, double* y);
  const std::vector<double>& y() const { return y_; }
  const std::vector<double>& dy() const { return dy_; }
  void guess(const std::vector<double>& y, const std::vector<double>& dy);
  void guess_unknowns(const double* y) { std::copy_n(y, y_.size(), y_.begin()); }
  void guess_states(const double* x) { std::copy_n(x, functions_->differential, y_.begin()); }

  /// [F_x', F_z] at a point, in the order of the functions' common pattern; null where it is not finite.
  const double* solved_matrix(double t, const double* y, const double* dy);
  /// Whether [F_x', F_z] is regular at a point: index 0 or 1, seen without differentiation.
  bool easy(double t, const double* y, const double* dy);
  /// Whether the index is at most 1 at a point.
  bool index_at_most_one(double t, const double* y, const double* dy);

  /// How many equations without derivatives are combinations of the given ones, after index_at_most_one() needed them.
  std::size_t hidden_equations() const { return dependent_.rows.size(); }

  std::size_t factorizations() const { return factorizations_; }
  std::string explain() const { return explanation_; }

 private:
  bool evaluate(double t, const double* y, const double* dy, double* F);
  bool differentiate(double t, const double* y, const double* dy);
  void set_solved(const std::vector<double>& w);
  void gather_solved();
  bool factor_solved();
  bool factor_differentiated(double t, const double* y, const double* dy);
  bool still_dependent();
  void lay_out_combinations();
  bool factor_with_combinations();
  DaeOutcome not_finite();
  std::string not_solved();

  std::shared_ptr<const DaeFunctions> functions_;
  const double *frozen_ = nullptr, *added_ = nullptr;
  compile::Function::Scratch residual_scratch_, jacobian_scratch_, time_scratch_;
  std::vector<double> y_, dy_, y_before_, dy_before_, F_, F_t_, jacobian_, solved_, mixed_, matrix_, terms_, step_, sum_;
  DependentRows dependent_;
  linalg::Sparsity combined_;  ///< of F_y' with c^T F_y in dependent rows
  linalg::ShiftedLu lu_;
  bool factored_ = false;  ///< lu_ has factors of [F_x', F_z]
  linalg::DampedNewton newton_;
  std::unique_ptr<linalg::ShiftedLu> combined_lu_;
  std::size_t factorizations_ = 0;
  std::string explanation_;
};

}  // namespace daedalus::structure
