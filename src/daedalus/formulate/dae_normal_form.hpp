#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daedalus/compile/state_equations.hpp"
#include "daedalus/integrate/system.hpp"
#include "daedalus/linalg/lu.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::formulate {

/// Coordinates (xi, eta) = Phi(t, x) of the differential unknowns x of a DAE that was differentiated, on and off its hidden
/// constraints: xi are their residuals, h and its derivatives up to the one before the algebraic unknowns occur, and
/// eta = E x with a constant matrix E per chart. Has the functions of MechanicalNormalForm; dense.
class DaeNormalForm {
 public:
  explicit DaeNormalForm(std::shared_ptr<const structure::DaeFunctions> functions);

  void freeze(const double* frozen);
  structure::DaeEvaluator& evaluator() { return evaluator_; }

  std::size_t states() const { return n_; }
  std::size_t xi_count() const { return r_; }
  std::size_t eta_count() const { return n_ - r_; }
  const std::vector<std::size_t>& level() const { return level_; }
  std::vector<std::string> xi_names() const;
  std::vector<std::string> eta_names() const;

  integrate::Evaluation choose(double t, const double* x);
  /// Here the same: there is no second guess.
  integrate::Evaluation choose_on_constraints(double t, const double* x) { return choose(t, x); }
  integrate::Evaluation choose_as_at(double t, const double* there, const double*) { return choose(t, there); }
  /// Nor are there trials: what algebraic unknowns do not move leaves no choice.
  integrate::Evaluation choose_by_trial(double, const double*, unsigned) { return integrate::Evaluation::singular; }
  /// The largest entry of the inverse of dPhi/dx, in columns of eta.
  double condition(double t, const double* x);
  static double limit(double condition);
  void remember() { E_before_ = E_; }
  bool is_remembered() const { return E_ == E_before_; }
  bool recall() {
    E_ = E_before_;
    return true;
  }
  void choose_as(const DaeNormalForm& other) { E_ = other.E_; }

  integrate::Evaluation reduce(double t, const double* x, double* xi, double* eta);
  integrate::Evaluation expand(double t, const double* xi, const double* eta, double* x);
  bool moves_with_time() const { return !functions_->function.autonomous; }
  integrate::Evaluation drift(double t, const double* x, double* dx);
  integrate::Evaluation rates(double t, const double* x, double* q);
  integrate::Evaluation slopes(double t, const double* x, double* dq);
  integrate::Evaluation crossings(double t, const double* x, double* dx);
  integrate::Evaluation tangents(double t, const double* x, double* dx);
  integrate::Evaluation lift(double t, const double* x, const double* dxi, double* dx);
  integrate::Evaluation add_slope(double t, const double* x, const double* gain, double* jacobian);
  /// df^/dx, row by row.
  integrate::Evaluation motion_slope(double t, const double* x, double* jacobian);

  const std::string& explain() const { return explanation_; }
  std::size_t factorizations() const { return factorizations_ + evaluator_.factorizations(); }

 private:
  integrate::Evaluation fail(integrate::Evaluation outcome, std::string explanation);
  integrate::Evaluation motion(double t, const double* x);
  /// Factors [F_x', F_z] at the last motion().
  integrate::Evaluation differentiate(double t);
  /// Factors dPhi/dx at x.
  integrate::Evaluation factor(double t, const double* x);
  /// The columns of the inverse of dPhi/dx from the first one on, `count` of them.
  integrate::Evaluation inverse_columns(double t, const double* x, std::size_t first, std::size_t count, double* dx);
  void multiply_E(const double* x, double* eta) const;
  double largest_inverse();

  std::shared_ptr<const structure::DaeFunctions> functions_;
  structure::DaeEvaluator evaluator_;
  compile::StateValues values_;  ///< the first r_ rows are hidden constraints
  const double* frozen_ = nullptr;
  std::size_t n_, r_, N_;
  std::vector<std::size_t> level_, next_;  ///< next_: the derivative of each xi among them, r_ where it is 0
  std::vector<std::size_t> row_;           ///< of F that hold what the motion keeps at 0
  std::vector<double> nominal_;
  std::vector<double> E_, E_before_;       ///< eta_count by n, row by row
  compile::Function::Scratch scratch_;
  std::vector<double> F_slope_, matrix_, column_, phi_, step_, motion_, still_;  ///< still_: rates of 0
  linalg::DenseLu solved_, phi_lu_;
  std::size_t factorizations_ = 0;
  std::string explanation_;
};

}  // namespace daedalus::formulate
