#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::linalg {

/// The least change of x0 that satisfies c(x) = 0:
///     min 1/2 (x - x0)^T W (x - x0)   subject to   c(x) = 0,  x_i given for fixed i.
struct LeastChangeProblem {
  /// W, n by n, stored whole, symmetric and positive semidefinite. Where it leaves an unknown undetermined by the
  /// constraints, that unknown moves as little as possible.
  Sparsity weight;
  std::vector<double> weight_values;

  Sparsity jacobian;  ///< the pattern of C = dc/dx, m by n
  /// Writes c(x), or C(x) in the order of `jacobian`; false where x lies outside the domain.
  std::function<bool(const double* x, double* c)> residual;
  std::function<bool(const double* x, double* C)> jacobian_values;

  std::vector<bool> fixed;     ///< entries of x that keep their value; empty: none
  std::vector<double> scales;  ///< positive size of the terms of each constraint; empty: all 1
};

struct GaussNewtonOptions {
  /// Largest scaled residual |c_i| / scale_i that counts as solved. The iteration goes on to round-off anyway.
  double tolerance = 1e-10;
  std::size_t most_iterations = 200;
};

enum class GaussNewtonOutcome {
  converged,
  stalled,                      ///< the residual has a minimum that is not zero; see offending_rows
  rank_deficient_inconsistent,  ///< constraints that depend on each other contradict each other; see offending_rows
  singular_weight,              ///< W is not positive semidefinite
  not_finite,                   ///< c or C could not be evaluated at the start
};

struct GaussNewtonResult {
  GaussNewtonOutcome outcome = GaussNewtonOutcome::stalled;
  std::vector<double> x;            ///< the best point found
  std::vector<double> multipliers;  ///< mu with W (x - x0) + C^T mu = 0 for the entries that are free
  std::size_t iterations = 0;
  double residual = 0.0;  ///< largest |c_i| / scale_i at x
  /// |x - x0|_W that a further tangential step would undo, relative to |x|_W: how far x is from the least change.
  double tangential = 0.0;
  std::vector<std::size_t> offending_rows;  ///< constraints that cannot be met together, ascending
};

/// Gauss-Newton with weights and fixed entries, for one pattern and many starts.
class GaussNewton {
 public:
  explicit GaussNewton(LeastChangeProblem problem, GaussNewtonOptions options = {});
  ~GaussNewton();
  GaussNewton(GaussNewton&&) noexcept;
  GaussNewton& operator=(GaussNewton&&) noexcept;

  /// Replaces the values of W.
  void set_weight(const double* values);

  /// Starts at x0.
  GaussNewtonResult solve(const double* x0);
  /// Starts at `start`, whose fixed entries are the ones kept.
  GaussNewtonResult solve(const double* x0, const double* start);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

}  // namespace daedalus::linalg
