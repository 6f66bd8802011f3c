#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daedalus/formulate/dependent_columns.hpp"
#include "daedalus/integrate/system.hpp"
#include "daedalus/mechanics/evaluator.hpp"
#include "daedalus/mechanics/normal_functions.hpp"

namespace daedalus::formulate {

/// Coordinates (xi, eta) = Phi(t, x) of the states x = (q, v, z_d) of constrained motion, on and off the constraints:
///     xi = (g, G v + g_t),     eta = (independent q, N^T M v or independent v, z_d),
/// with the motion x' = f^(t, x) that keeps (G v + g_t)' = 0, and q = eta' along it. Owns its workspace and allocates
/// nothing while the same constraints carry the motion.
class MechanicalNormalForm {
 public:
  MechanicalNormalForm(std::shared_ptr<const mechanics::Functions> functions, mechanics::Completion completion);

  void freeze(const double* frozen);
  mechanics::Evaluator& evaluator() { return evaluator_; }

  std::size_t states() const { return functions_->dimension(); }
  std::size_t xi_count() const { return level_.size(); }
  std::size_t eta_count() const { return states() - xi_count(); }
  /// How often each xi was differentiated: a path may follow one level after the other.
  const std::vector<std::size_t>& level() const { return level_; }
  /// What each xi is, for people: "rod", "der(rod)".
  std::vector<std::string> xi_names() const;
  std::vector<std::string> eta_names() const;

  /// Chooses independent coordinates around x. May change how many xi there are.
  integrate::Evaluation choose(double t, const double* x);
  /// The same around the point of the constraints that is nearest to x.
  integrate::Evaluation choose_on_constraints(double t, const double* x);
  /// Takes for x what would be chosen at another state.
  integrate::Evaluation choose_as_at(double t, const double* there, const double* x);
  /// The same as `choose` with the coordinates measured by other scales, which are those of this trial each time it is made.
  integrate::Evaluation choose_by_trial(double t, const double* x, unsigned trial);
  /// How bad the present ones are at x: the tilt of the dependent coordinates, without bound where they end.
  double condition(double t, const double* x);
  /// Up to which condition coordinates are kept whose condition was this one when they were chosen.
  static double limit(double condition);
  /// Keeps the present choice, to compare with it and to come back to it; `recall` fails where other constraints carry the motion.
  void remember();
  bool is_remembered() const;
  bool recall();

  /// Takes the choice of another form of the same constraints.
  void choose_as(const MechanicalNormalForm& other);

  integrate::Evaluation reduce(double t, const double* x, double* xi, double* eta);
  /// Finds the state with these coordinates near x, which it replaces: Newton's method for the dependent coordinates, one
  /// linear system for the velocities. Gives up where that does not contract.
  integrate::Evaluation expand(double t, const double* xi, const double* eta, double* x);
  /// Whether constraints move with the time.
  bool moves_with_time() const { return moves_with_time_; }
  /// The derivative of q by the time at fixed coordinates; the rest of dx, which q determines, is 0.
  integrate::Evaluation drift(double t, const double* x, double* dx);
  /// eta' along the motion.
  integrate::Evaluation rates(double t, const double* x, double* q);
  /// The derivatives of these rates by every xi at fixed eta, one after the other.
  integrate::Evaluation slopes(double t, const double* x, double* dq);
  /// The derivatives of x by every xi at fixed eta, one after the other.
  integrate::Evaluation crossings(double t, const double* x, double* dx);
  /// The derivatives of x by every eta at fixed xi, one after the other.
  integrate::Evaluation tangents(double t, const double* x, double* dx);
  /// x' that changes xi by dxi and eta by its rates.
  integrate::Evaluation lift(double t, const double* x, const double* dxi, double* dx);
  /// Adds to df^/dx the derivative, on the constraints, of what `lift` adds to f^ for dxi_i = gain_i xi_i.
  integrate::Evaluation add_slope(double t, const double* x, const double* gain, double* jacobian);

  const std::string& explain() const { return explanation_; }
  std::size_t factorizations() const { return factorizations_ + evaluator_.factorizations(); }

 private:
  bool momentum() const { return completion_ == mechanics::Completion::momentum; }
  const double* M() const { return geometry_.data(); }
  const double* G() const { return M() + functions_->mass.nonzeros(); }
  const double* g() const { return G() + functions_->jacobian.nonzeros(); }
  const double* momentum_by_q() const { return shape_.data(); }
  const double* velocity_by_q() const { return shape_.data() + own_.momentum_by_q.nonzeros(); }
  std::size_t positions() const { return position_.rows().size(); }

  integrate::Evaluation fail(integrate::Evaluation outcome, std::string explanation);
  integrate::Evaluation take_rows(double t, const double* x);
  void set_rows(std::vector<std::size_t> positions, std::vector<std::size_t> velocities);
  bool pick(double t, const double* q, unsigned trial = 0);
  /// Moves q to a point of the constraints near it, exactly enough for a choice.
  bool approach(double t, double* q);
  void find_scale();
  /// Of both choices; needs the geometry and its scale.
  double tilt();
  /// Evaluates M, G, g and factors G_D at (t, q), unless it did so last.
  integrate::Evaluation geometry(double t, const double* q);
  integrate::Evaluation factor_kkt();
  /// What shape() needs at a state, with nu.
  integrate::Evaluation shape(double t, const double* x);
  /// delta and the change of v' for rates of xi beyond those of the motion.
  void respond(const double* excess_position, const double* excess_velocity, double* dq, double* dv);
  bool is_round_off(double t, const double* x);
  std::string names(const std::vector<std::size_t>& coordinates) const;

  std::shared_ptr<const mechanics::Functions> functions_;
  const mechanics::Completion completion_;
  mechanics::NormalFunctions own_;
  mechanics::Evaluator evaluator_;
  const double* frozen_ = nullptr;
  DependentColumns position_, velocity_;
  std::unique_ptr<mechanics::RowSolver> kkt_;
  bool kkt_factored_ = false, geometry_known_ = false, moves_with_time_ = false;
  std::size_t changes_ = 0, factorizations_ = 0;
  std::vector<std::size_t> level_;
  compile::Function::Scratch geometry_scratch_, velocity_scratch_, shape_scratch_, load_scratch_, load_slope_scratch_,
      auxiliary_scratch_, auxiliary_slope_scratch_;
  std::vector<double> geometry_, at_, residual_, shape_, load_, load_slope_, auxiliary_, auxiliary_slope_;
  std::vector<double> scale_, nu_, rho_, right_n_, right_m_, mu_, dq_, dv_, direction_, image_, excess_, x_, y_;
  std::vector<double> auxiliary_matrix_, dw_, position_scale_, velocity_scale_;
  std::vector<std::size_t> position_before_, velocity_before_;  ///< dependent ones that are remembered
  std::size_t changes_before_ = 0;
  linalg::DenseLu auxiliary_lu_;
  std::string explanation_;
};

}  // namespace daedalus::formulate
