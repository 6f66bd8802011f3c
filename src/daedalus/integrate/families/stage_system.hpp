#pragma once

#include <optional>
#include <vector>

#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/linalg/shifted_lu.hpp"

namespace daedalus::integrate {

/// Where Newton's method with a matrix that may be old stands, and the room it works in.
class NewtonState {
 public:
  explicit NewtonState(std::size_t n) : change(n), before(n), direction(n) {}

  /// Whether the matrix in use was made for an earlier solution that it served well.
  bool may_reuse() const { return fresh_starts_ == 0; }
  void begin(bool fresh);
  void must_renew();

  std::vector<double> change, before, direction;

 private:
  int fresh_starts_ = 0;  ///< solutions that are to begin with a new matrix
  bool began_old_ = false;
};

/// The equations of all stages of one step together, F(t + c_i h, Y_i, Y_i') = 0: for a differential unknown the stage
/// holds its derivative, Y_i = y + h sum_j a_ij Y_j', for an algebraic one its value.
class StageSystem {
 public:
  /// The first stage is the known start of the step where its row of the tableau is zero.
  StageSystem(const ImplicitSystem& system, const Tableau& tableau);

  /// Solves for the stages, n numbers each, from the values that they hold.
  Evaluation solve(double t, const double* y, double h, double* stages, Stats& stats);
  /// Makes the next solve begin with new Jacobians.
  void forget_matrix() { factored_h_ = 0.0; }

 private:
  struct Step;  ///< what Newton's method asks of the equations in one step
  void build_pattern();
  void set_arguments(std::size_t i, const Step& step, const double* stages);
  void fill_matrix(std::size_t i, std::size_t& position);
  Evaluation renew(const Step& step, const double* stages);
  Evaluation residual(const Step& step, const double* stages, double* F);
  double relative(const Step& step, const double* stages, const double* change) const;

  const ImplicitSystem& system_;
  const Tableau& tableau_;
  const std::size_t n_, first_, active_;
  linalg::Sparsity pattern_;  ///< of the Newton matrix of all stages
  std::vector<double> F_y_, F_dy_, constant_, linear_, row_scale_, column_scale_, value_, slope_;
  NewtonState newton_;
  std::optional<linalg::ShiftedLu> lu_;  ///< made when the pattern is known
  double factored_h_ = 0.0;
};

/// Solves F(t, y, y') = 0 of index at most 1 for the derivatives of the differential and the values of the algebraic
/// unknowns where the differential ones are given.
class PointSystem {
 public:
  explicit PointSystem(const ImplicitSystem& system);

  /// Improves `slope` and the algebraic part of y. Singular where the derivatives are not determined that way.
  Evaluation solve(double t, double* y, double* slope, Stats& stats);

 private:
  struct Point;  ///< what Newton's method asks of the equations at one point

  const ImplicitSystem& system_;
  std::vector<double> F_y_, F_dy_, matrix_, zero_, unknowns_, value_, slope_;
  NewtonState newton_;
  linalg::ShiftedLu lu_;
  bool factored_ = false;
};

}  // namespace daedalus::integrate
