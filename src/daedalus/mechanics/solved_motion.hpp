#pragma once

#include <memory>
#include <span>
#include <vector>

#include "daedalus/mechanics/functions.hpp"

namespace daedalus::mechanics {

/// Accelerations and the way back to the constraints as functions that end with the solution of their KKT systems: M, f, G,
/// gamma and the elimination with static pivots are one straight line (kkt_elimination.hpp). What is constant in M and its
/// factors is computed when the function is compiled. Every function tells where its pivots are not to be trusted; there the
/// solver with pivoting has to take over.
struct SolvedMotion {
  /// One of these functions. Its notes (compile_as_wished.hpp): inverse pivots, which must be positive, measures of
  /// cancellation, and inverse pivots of constraints.
  struct Part {
    compile::Function function;
    std::size_t positive = 0, cancellations = 0, constraints = 0;

    /// Whether pivots are as they should be, seen by the notes of a call.
    bool trusts(const double* notes) const;
  };
  Part accelerations;  ///< t, q, v -> a
  Part correction;     ///< t, q, r -> d: the least change in the mass norm with G d = -r
  /// t, q, v -> last correction of q, then q, v and a on the constraints. With the factors of one point q takes two steps of
  /// a simplified Newton iteration; those of where that ends serve v, which is exact, and a. Without outputs where only
  /// some constraints are holonomic.
  Part landing;

  /// Cancellation in a pivot up to which the elimination keeps ten digits.
  static constexpr double most_cancellation = 1e5;
  /// Entries of G, zeros counted, up to which the pivots of constraints are noted.
  static constexpr std::size_t most_noted = 3600;

  /// None where there are auxiliary unknowns, and where the elimination would be long: matrices with much fill are for a
  /// sparse solver.
  static std::shared_ptr<const SolvedMotion> of(const Functions& functions);
  /// The same, made once for these functions.
  static std::shared_ptr<const SolvedMotion> kept(const std::shared_ptr<const Functions>& functions);

 private:
  static Part landing_of(const SolvedMotion& motion, const compile::Function& positions, const Functions& functions);
};

/// Evaluates a SolvedMotion for one trajectory. Allocates nothing after construction.
class SolvedEvaluator {
 public:
  explicit SolvedEvaluator(std::shared_ptr<const SolvedMotion> motion);

  /// Writes outputs; false where the pivots or the result are not to be trusted.
  bool accelerations(const double* const* inputs, const double* frozen, double* a);
  bool land(const double* const* inputs, const double* frozen, double* landed);
  /// The same where a longer line has evaluated the landing: these are its notes, which stay where they are.
  bool has_landed(const double* notes);

  /// Up to their sign, the inverse pivots of constraints in the last call, each infinite where its constraint depends on
  /// others; empty where there are too many to note.
  std::span<const double> inverse_constraints() const { return last_; }

 private:
  bool call(const SolvedMotion::Part& part, compile::Function::Scratch& scratch, const double* const* inputs,
            const double* frozen, double* outputs);

  std::shared_ptr<const SolvedMotion> motion_;
  compile::Function::Scratch accelerations_, landing_;
  std::span<const double> last_;
};

}  // namespace daedalus::mechanics
