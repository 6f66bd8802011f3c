#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "daedalus/compile/compile.hpp"
#include "daedalus/compile/state_equations.hpp"
#include "daedalus/linalg/sparsity.hpp"
#include "daedalus/mechanics/derive.hpp"

namespace daedalus::mechanics {

/// The equations of motion as functions of numbers; immutable, shared by every trajectory of a model.
///
/// The auxiliary unknowns enter as w, one number per unknown: the rate of a differential one, the value of an algebraic
/// one. The state is x = (q, v, z_d) with z_d the differential auxiliary unknowns.
struct Functions {
  Equations equations;
  std::size_t n = 0, m = 0, holonomic = 0;
  std::vector<std::size_t> holonomic_rows;           ///< of the constraints, ascending
  std::vector<std::size_t> differential, algebraic;  ///< auxiliary unknowns of either sort
  bool auxiliary_linear = true;                      ///< F is linear in w

  linalg::Sparsity mass, jacobian, auxiliary_jacobian;
  compile::Switches switches;  ///< of the motion; the values of [discrete] are held

  compile::Function motion;    ///< t, q, v, z_d, w -> M, f, G, gamma
  compile::Function geometry;  ///< t, q -> M, G, position residuals
  compile::Function velocity;  ///< t, q, v -> velocity residuals
  compile::Function terms;     ///< t, q, v -> terms of position, then of velocity residuals
  std::vector<std::size_t> position_term_start, velocity_term_start;  ///< ranges in the output of `terms`
  compile::Function auxiliary;                                        ///< t, q, v, z_d, w -> F, dF/dw
  compile::Function energy;   ///< t, q, v -> kinetic, potential (none for kind mechanical)
  compile::Function outputs;  ///< t, q, v, z_d, w, a, lambda -> [outputs] of the model
  compile::Function pictures;   ///< the same inputs -> coordinates of [drawing.points] in order, then x and y of [plots]

  /// What a state x of a model with [invariants] keeps: positions g = 0, velocities G v + g_t = 0, then the invariants.
  compile::StateEquations kept;

  std::size_t dimension() const { return 2 * n + differential.size(); }
  bool has_energy() const { return equations.kinetic.has_value(); }
  /// Names of the components of x.
  std::vector<std::string> state_names() const;
};

/// What reaction.<constraint>.<coordinate> stands for where `outputs` use it: components of -G^T lambda.
std::unordered_map<expr::NodeId, Expr> reactions(const Equations& equations, const std::vector<Expr>& outputs);

/// Compiles the equations. The time is proportional to their size.
std::shared_ptr<const Functions> compile_functions(Equations equations);

/// The same constraints on a mechanism of unit masses: its mass norm is the Euclidean one.
std::shared_ptr<const Functions> with_unit_masses(const Functions& functions);

}  // namespace daedalus::mechanics
