#pragma once

#include <memory>
#include <span>
#include <vector>

#include "daedalus/mechanics/functions.hpp"

namespace daedalus::mechanics {

/// The ODE of motion and projections as functions that end with the solution of their KKT systems: M, f, G, gamma and the
/// elimination with static pivots are one straight line (kkt_elimination.hpp). What is constant in M and its factors is
/// computed when the function is compiled. Every function tells where its pivots are not to be trusted; there the solver
/// with pivoting has to take over.
struct SolvedMotion {
  /// One of these functions. Its notes (compile_as_wished.hpp): inverse pivots, which must be positive, measures of
  /// cancellation, and inverse pivots of constraints.
  struct Part {
    compile::Function function;
    std::size_t positive = 0, cancellations = 0, constraints = 0;
  };
  Part slopes;         ///< t, q, v -> v, a
  Part position_step;  ///< t, q -> dq: the least change in the mass norm with G dq = -g
  Part velocity_step;  ///< t, q, v -> dv: the same with G dv = -(G v + g_t)

  /// Entries of G, zeros counted, up to which `slopes` notes the pivots of constraints.
  static constexpr std::size_t most_noted = 3600;

  /// None where there are auxiliary unknowns, and where the elimination would be long: matrices with much fill are for a
  /// sparse solver.
  static std::shared_ptr<const SolvedMotion> of(const Functions& functions);
};

/// Evaluates a SolvedMotion for one trajectory. Allocates nothing after construction.
class SolvedEvaluator {
 public:
  explicit SolvedEvaluator(std::shared_ptr<const SolvedMotion> motion);

  /// Writes outputs; false where the pivots or the result are not to be trusted.
  bool slopes(const double* const* inputs, const double* frozen, double* dx);
  bool position_step(const double* const* inputs, const double* frozen, double* dq);
  bool velocity_step(const double* const* inputs, const double* frozen, double* dv);

  /// Up to their sign, the inverse pivots of constraints in the last call of `slopes`, each infinite where its constraint
  /// depends on others; empty where there are too many to note.
  std::span<const double> inverse_constraints() const;

 private:
  static bool call(const SolvedMotion::Part& part, compile::Function::Scratch& scratch, const double* const* inputs,
                   const double* frozen, double* outputs);

  std::shared_ptr<const SolvedMotion> motion_;
  compile::Function::Scratch slopes_, position_step_, velocity_step_;
};

}  // namespace daedalus::mechanics
