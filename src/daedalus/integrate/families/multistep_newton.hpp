#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "daedalus/integrate/stepper.hpp"

namespace daedalus::integrate {

/// Where the matrix of Newton's method is wanted: dF/dy + c dF/dy' at (t, y, dy), for a step of size h.
struct NewtonPoint {
  double t, h, c;
  const double *y, *dy;
};

enum class Jacobians { keep, evaluate };

/// The equations of one implicit step and the linear algebra of their correction: `square_correction`, or a generalized
/// inverse where there are more equations than unknowns.
struct NewtonCorrection {
  std::size_t rows = 0;  ///< equations, at least as many as unknowns
  std::function<Evaluation(double t, const double* y, const double* dy, double* F)> residual;
  /// Readies `solve` for a point, with the Jacobians as they are or evaluated there.
  std::function<Evaluation(const NewtonPoint& point, Jacobians jacobians, Stats& stats)> prepare;
  /// Replaces the residual, `rows` long, by the correction d of the unknowns: (dF/dy + c dF/dy') d = F.
  std::function<void(double* residual)> solve;
};

/// Sparse or dense factors of the square matrix, scaled by powers of h as the system asks.
NewtonCorrection square_correction(std::shared_ptr<const ImplicitSystem> system);

/// Newton's method for F(t, y, slope + c (y - guess)) = 0 with matrices that are kept as long as they do.
class MultistepNewton {
 public:
  MultistepNewton(std::size_t dimension, NewtonCorrection correction);

  struct Problem {
    double t, h, c;
    const double *guess, *slope;
    const double* begin;   ///< where the iteration starts
    const double* weight;  ///< what a component may be off, one per unknown; infinite for those that do not count
    std::size_t counted;   ///< unknowns that count
    double enough;         ///< an error of the iteration below this, in units of the weights, is good
    double floor;          ///< round-off in the same units: a correction below this says no more
    double harmless;       ///< corrections below this that shrink no more are taken for round-off
    int most_iterations;
  };

  /// Writes the solution y and its derivative dy. no_convergence where even fresh Jacobians do not help.
  Evaluation solve(const Problem& problem, double* y, double* dy, Stats& stats);
  /// The next solve() evaluates the Jacobians.
  /// Size of the corrections at which iterations stopped shrinking, since the last call of hush(): the round-off in y.
  double noise() const { return noise_; }
  void hush() { noise_ = 0.0; }
  void forget() { jacobians_exist_ = false; }
  /// Lets the next solve() use matrices only if they are not too old.
  void step_accepted() { ++age_; }

 private:
  void begin(const Problem& problem, double* y, double* dy) const;
  /// Judges corrections that do not shrink any more.
  Evaluation wanders(double size, const Problem& problem);
  Evaluation iterate(const Problem& problem, double* y, double* dy, Stats& stats);
  double norm(const Problem& problem) const;

  std::size_t dimension_;
  NewtonCorrection correction_;
  double noise_ = 0.0;
  std::vector<double> change_;
  double c_ = 0.0, rate_ = 1.0;
  int age_ = 0;
  bool jacobians_exist_ = false, factors_exist_ = false, slow_ = false;
};

}  // namespace daedalus::integrate
