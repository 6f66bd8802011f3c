#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/model/model.hpp"

namespace daedalus::mechanics {

using expr::Expr;
using expr::SparseExpr;

struct Constraint {
  std::string name;
  bool holonomic = true;
  Expr position;  ///< g(q, t); invalid for a nonholonomic constraint
  Expr velocity;  ///< G v + g_t, or the nonholonomic constraint itself: linear in v
  Expr gamma;     ///< the acceleration level is G a = gamma
  Place place;
};

/// The equations of constrained motion in symbols:
///     M(q, t) a = f(q, v, z, z', t) - G(q, t)^T lambda,     G a = gamma,     F(t, q, v, z, z') = 0
struct Equations {
  std::shared_ptr<const model::Model> model;
  Expr t;
  std::vector<Expr> q, v, a;
  std::vector<Expr> z, z_rate;       ///< auxiliary unknowns and their rates
  std::vector<bool> z_differential;  ///< whether the rate of z[i] occurs
  std::vector<Expr> lambda;

  Expr lagrangian;  ///< L(q, v, z, t); invalid for kind mechanical
  SparseExpr M;     ///< n x n, both triangles
  std::vector<Expr> f;
  SparseExpr G;  ///< m x n, a row per constraint
  std::vector<Constraint> constraints;
  std::vector<Expr> auxiliary;  ///< residuals F

  /// Energy where T and V exist: v^T M v / 2 and the rest of the energy function v^T dL/dv - L. For a kinetic energy
  /// that is quadratic in v these are T and V.
  std::optional<Expr> kinetic, potential;
  /// Whether the energy is constant along every motion: nothing depends on t, no force, no dissipation, constraints
  /// without a part free of v.
  bool conservative = false;

  std::size_t holonomic_count() const;
};

/// Derives the equations of a lagrangian or mechanical model. Sparse throughout: a chain of N links costs O(N). Throws
/// Error where the kinetic energy is not quadratic or a constraint not linear in the velocities.
Equations derive(std::shared_ptr<const model::Model> model);

/// The parts of f as textbooks print them: M a + C v + gradient = Q - G^T lambda.
struct ForceTerms {
  SparseExpr C;                ///< Coriolis and centrifugal matrix by Christoffel symbols of the first kind
  std::vector<Expr> gradient;  ///< dV/dq
  std::vector<Expr> Q;         ///< everything else: forces, dissipation, gyroscopic and time-dependent terms
};

/// Splits f into its parts; for display and for checks against f. Kind mechanical has no C and no gradient.
ForceTerms force_terms(const Equations& equations);

}  // namespace daedalus::mechanics
