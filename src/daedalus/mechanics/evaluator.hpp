#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daedalus/linalg/damped_newton.hpp"
#include "daedalus/linalg/kkt.hpp"
#include "daedalus/linalg/lu.hpp"
#include "daedalus/mechanics/functions.hpp"
#include "daedalus/mechanics/row_solver.hpp"

namespace daedalus::mechanics {

/// How an evaluation went; the same cases as integrators know.
enum class Outcome { ok, not_finite, singular, no_convergence };

/// Feedback on the acceleration level, G a = gamma - velocity * (level-1 residual) - position * (level-0 residual);
/// for nonholonomic constraints `nonholonomic` multiplies their own residual. `held` is subtracted as it is.
struct Feedback {
  double position = 0.0, velocity = 0.0, nonholonomic = 0.0;
  std::vector<double> held = {};  ///< one number per constraint, or none
};

/// Evaluates motion, constraints and projections for one trajectory: owns all workspace, allocates nothing after
/// construction as long as the constraints are independent.
class Evaluator {
 public:
  explicit Evaluator(std::shared_ptr<const Functions> functions, const KktChoice& how = {});

  const Functions& functions() const { return *functions_; }

  /// Lets every evaluation read the frozen values of a trajectory (see compile/switches.hpp), which must outlive it. With
  /// nullptr, as at first, conditions follow their own values.
  void freeze(const double* frozen) { frozen_ = frozen; }

  /// Accelerations and multipliers at (t, x) from the KKT system, after the auxiliary equations were solved for w.
  Outcome accelerations(double t, const double* x, const Feedback& feedback = {});
  const std::vector<double>& a() const { return a_; }
  const std::vector<double>& lambda() const { return lambda_; }
  const std::vector<double>& w() const { return w_; }
  /// Largest |G a - gamma| per constraint of the last call (with feedback: of the stabilized equation).
  const std::vector<double>& acceleration_residual();
  /// Largest term of G a - gamma per constraint of the last call.
  const std::vector<double>& acceleration_scale();

  /// Values of Functions::motion at (t, x), for other solvers: M, f, G and gamma one after the other.
  Outcome motion(double t, const double* x);
  const std::vector<double>& motion() const { return motion_; }
  /// Solves the auxiliary equations at (t, x) for w.
  Outcome auxiliary(double t, const double* x) { return solve_auxiliary(t, x); }

  /// x' = (v, a, z_d')
  Outcome ode(double t, const double* x, double* dx, const Feedback& feedback = {});

  /// Moves q and then v of the state onto the constraints with the least change in the mass norm.
  Outcome project(double t, double* x);
  /// The two halves of it; where there is no such constraint they do nothing.
  Outcome project_positions(double t, double* x);
  Outcome project_velocities(double t, double* x);
  /// Lets the same independent constraints carry the motion as in another evaluator of these constraints, once that one has
  /// chosen them.
  void choose_like(const Evaluator& other);
  /// Removes from (e_q, e_v) the parts that project() would remove, with the factors of the last evaluation.
  void project_error(double* error);

  /// The constraints that carry the motion, and those that carry the positions, ascending: others follow from them.
  std::vector<std::size_t> rows() const;
  std::vector<std::size_t> position_rows() const;
  std::size_t row_changes() const { return row_changes_; }  ///< how often these were chosen anew

  /// Residuals of the position level (holonomic constraints, in order) and of the velocity level (all).
  void residuals(double t, const double* x, double* position, double* velocity);
  /// Largest term in each residual, for relative measures; same layout.
  void residual_scales(double t, const double* x, double* position, double* velocity);
  /// Largest residual of both levels, each relative to its largest term.
  double violation(double t, const double* x);

  struct Energy {
    double kinetic = 0.0, potential = 0.0;
  };
  /// Needs w of the last accelerations() call where auxiliary unknowns exist.
  Energy energy(double t, const double* x);
  /// [outputs] of the model, with a, lambda and w of the last accelerations() call.
  void outputs(double t, const double* x, double* values);
  /// What [drawing] and [plots] show, in the order of Functions::pictures; as for outputs().
  void pictures(double t, const double* x, double* values);

  /// Sets the guess for algebraic auxiliary unknowns.
  void guess_auxiliary(const std::vector<double>& w) { w_ = w; }

  /// Rank and dependent constraints found in the last factorization with all constraints.
  const linalg::KktSolver& kkt() const { return kkt_; }
  std::size_t factorizations() const { return factorizations_; }
  /// Whether some constraints are only watched, since they depend on others; known from the first accelerations on.
  bool leaves_rows_out() const;

  /// Says in the user's names what the last failure was.
  std::string explain() const { return explanation_; }

 private:
  const double* q_of(const double* x) const { return x; }
  const double* v_of(const double* x) const { return x + functions_->n; }
  const double* z_of(const double* x) const { return x + 2 * functions_->n; }

  Outcome solve_auxiliary(double t, const double* x);
  Outcome newton_for_auxiliary(double t, const double* x);
  bool evaluate_auxiliary(double t, const double* x, const double* w);
  enum class Multipliers { any, least };  ///< of dependent constraints
  Outcome solve_motion(double t, const double* x, const Feedback& feedback, Multipliers multipliers);
  Outcome factor(const double* M, const double* G);
  Outcome judge(linalg::KktOutcome outcome, const double* M);
  std::string without_mass(const double* M) const;
  void choose_rows(const double* M, const double* G);
  void take_rows(std::vector<std::size_t> all, std::vector<std::size_t> holonomic);
  void take_all_rows();
  bool by_own_formula() const { return how_.backend != linalg::KktSolver::Backend::automatic; }
  bool by_pseudoinverse() const { return how_.backend == linalg::KktSolver::Backend::pseudoinverse; }
  void solve_velocities(const double* f, const double* gamma, double* a, double* lambda);
  bool positions_hold(double t, const double* x, const double* g, double tolerance);
  bool velocities_hold(double t, const double* x);
  Outcome not_finite(const std::string& what);

  std::shared_ptr<const Functions> functions_;
  const KktChoice how_;
  const double* frozen_ = nullptr;
  linalg::KktSolver kkt_;
  std::unique_ptr<RowSolver> independent_;  ///< where some constraints depend on these, or by a formula of their own
  std::unique_ptr<RowSolver> position_;     ///< holonomic and independent, likewise or where these are not all
  std::size_t most_rank_ = 0;               ///< of independent_, where it may have dependent rows
  std::vector<bool> position_active_;       ///< which of the holonomic constraints these are
  std::size_t row_changes_ = 0;
  bool chosen_ = false;                     ///< whether dependent constraints were looked for
  compile::Function::Scratch motion_scratch_, geometry_scratch_, velocity_scratch_, terms_scratch_, auxiliary_scratch_,
      energy_scratch_, outputs_scratch_, pictures_scratch_;
  std::vector<double> motion_, geometry_, velocity_, terms_, auxiliary_;
  std::vector<double> a_, lambda_, w_, gamma_;
  std::vector<double> position_residual_, acceleration_residual_, acceleration_scale_;
  std::vector<double> right_q_, right_m_, step_q_, step_m_;
  linalg::DenseLu auxiliary_lu_;
  linalg::DampedNewton auxiliary_newton_;
  std::vector<double> auxiliary_matrix_, w_before_;
  std::vector<double> position_last_, position_scale_, velocity_scale_;
  std::size_t factorizations_ = 0;
  std::string explanation_;
};

}  // namespace daedalus::mechanics
