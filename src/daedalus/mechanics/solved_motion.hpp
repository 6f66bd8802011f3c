#pragma once

#include <memory>
#include <vector>

#include "daedalus/mechanics/functions.hpp"

namespace daedalus::mechanics {

/// Accelerations and projections as functions that end with the solution of their KKT systems: M, f, G, gamma and the
/// elimination with static pivots are one straight line (kkt_elimination.hpp). What is constant in M and its factors is
/// computed when the function is compiled. Every function tells where its pivots are not to be trusted; there the solver
/// with pivoting has to take over.
struct SolvedMotion {
  /// One of these functions: the outputs, then inverse pivots, which must be positive, then measures of cancellation.
  struct Part {
    compile::Function function;
    std::size_t outputs = 0, positive = 0;
  };
  Part accelerations;  ///< t, q, v -> a
  Part position_step;  ///< t, q -> dq: the least change in the mass norm with G dq = -g
  Part velocity_step;  ///< t, q, v -> dv: the same with G dv = -(G v + g_t)

  /// None where there are auxiliary unknowns, and where the elimination would be long: matrices with much fill are for a
  /// sparse solver.
  static std::shared_ptr<const SolvedMotion> of(const Functions& functions);
};

/// Evaluates a SolvedMotion for one trajectory. Allocates nothing after construction.
class SolvedEvaluator {
 public:
  explicit SolvedEvaluator(std::shared_ptr<const SolvedMotion> motion);

  /// Writes outputs; false where the pivots or the result are not to be trusted.
  bool accelerations(const double* const* inputs, const double* frozen, double* a);
  bool position_step(const double* const* inputs, const double* frozen, double* dq);
  bool velocity_step(const double* const* inputs, const double* frozen, double* dv);

 private:
  struct Workspace {
    compile::Function::Scratch scratch;
    std::vector<double> values;
  };
  static Workspace workspace_of(const SolvedMotion::Part& part);
  static bool call(const SolvedMotion::Part& part, Workspace& workspace, const double* const* inputs,
                   const double* frozen, double* outputs);

  std::shared_ptr<const SolvedMotion> motion_;
  Workspace accelerations_, position_step_, velocity_step_;
};

}  // namespace daedalus::mechanics
