#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include "daedalus/integrate/families/radau_coefficients.hpp"
#include "daedalus/integrate/stepper.hpp"
#include "daedalus/linalg/shifted_family.hpp"

namespace daedalus::integrate {

/// When the iteration may end. Sizes are in units of the norm given with it.
struct NewtonLimits {
  double target = 0.0;      ///< the estimated distance from the solution at which it ends
  double floor = 0.0;       ///< a change of this size is round-off and ends it too
  double stagnation = 0.0;  ///< below this a change that stopped shrinking is good enough
  /// Round-off of every unknown; a change that stopped shrinking and is below it everywhere is good enough, too.
  const double* noise = nullptr;
  std::size_t most = 0;  ///< iterations
};

/// How an iteration went.
struct NewtonReport {
  Evaluation outcome = Evaluation::ok;
  std::size_t iterations = 0;
  double contraction = 0.0;  ///< factor by which the last changes shrank; 0 after a single iteration
  double shrink = 0.5;       ///< of the step, where it did not converge
};

/// Solves the collocation equations F(t + c_i h, y + Z_i, (A^-1 Z)_i / h) = 0, i = 1..s, by simplified Newton
/// iterations with one Jacobian, transformed to one real and (s-1)/2 complex systems of the dimension of y.
class RadauSolver {
 public:
  RadauSolver(std::shared_ptr<const ImplicitSystem> system, std::size_t dimension, std::size_t most_stages);

  /// Takes another number of stages; factors and iterates are void after it.
  void use(const RadauCoefficients& coefficients);
  /// Evaluates dF/dy and dF/dy'.
  Evaluation linearize(double t, const double* y, const double* dy, Stats& stats);
  /// Factors the matrices for the step h. False where one is singular.
  bool factor(double h, Stats& stats);
  bool factored_for(double h) const;

  /// Iterates on Z (s times n). The norm of a change is the root of the mean square of scale_i times component i.
  NewtonReport solve(double t, const double* y, double h, const double* scale, const NewtonLimits& limits, double* Z,
                     Stats& stats);
  /// x becomes (F_y + gamma/h F_y')^-1 x.
  void solve_real(double* x) { factors_.solve_real(x); }
  /// y += F_y' x
  void multiply_leading(const double* x, double* y) const;
  /// Column whose pivot vanished in the last failed factor().
  std::size_t singular_column() const { return singular_column_; }

 private:
  bool is_noise(const double* noise) const;
  Evaluation residuals(double t, const double* y, double h, const double* Z, Stats& stats);
  void newton_change();

  std::shared_ptr<const ImplicitSystem> system_;
  std::size_t n_, counted_;
  const RadauCoefficients* coefficients_ = nullptr;
  linalg::ShiftedFamily factors_;
  std::vector<double> F_y_, F_dy_, row_scale_, column_scale_;
  std::vector<double> residual_, transformed_, stage_, slope_;
  double factored_h_ = 0.0;   ///< 0: no factors
  double contraction_ = 1.0;  ///< theta / (1 - theta) of the last solution, the largest, for the first iteration of the next
  std::size_t singular_column_ = 0;
};

}  // namespace daedalus::integrate
