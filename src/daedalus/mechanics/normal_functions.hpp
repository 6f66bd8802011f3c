#pragma once

#include "daedalus/mechanics/functions.hpp"

namespace daedalus::mechanics {

/// Which velocities complete the constraints to coordinates of the whole state: some of the v themselves, or the momenta
/// N^T M v along the kernel N of G, which no reaction changes.
enum class Completion { momentum, velocity };

/// Derivatives of the motion across the constraints, as functions of numbers; what normal_form.hpp of the formulations
/// needs beside Functions. nu and rho are factors of the rows of G.
struct NormalFunctions {
  linalg::Sparsity momentum_by_q;  ///< of P = M v - G^T nu
  linalg::Sparsity velocity_by_q;  ///< of the velocity residuals G v + g_t
  compile::Function shape;         ///< t, q, v, nu -> both, one after the other

  /// What is differentiated by (q, v, w, nu): for `momentum` the n rows B = f + dP/dt - G^T rho, dP/dt along q' = v with v
  /// and nu held; for `velocity` the n rows f - M a - G^T lambda, then the m rows gamma - G a, all with a and lambda held.
  linalg::Sparsity load_by_state;
  compile::Function load;        ///< momentum: t, q, v, z_d, w, nu -> B with rho = 0
  compile::Function load_slope;  ///< momentum: t, q, v, z_d, w, nu, rho; velocity: t, q, v, z_d, w, a, lambda

  linalg::Sparsity auxiliary_by_state;  ///< of the auxiliary equations, by (q, v)
  compile::Function auxiliary_slope;    ///< t, q, v, z_d, w
};

/// Differentiates and compiles.
NormalFunctions compile_normal_functions(const Functions& functions, Completion completion);

}  // namespace daedalus::mechanics
