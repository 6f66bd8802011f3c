#pragma once

#include <vector>

#include "daedalus/structure/consistent_manifold.hpp"
#include "daedalus/structure/deflating_space.hpp"
#include "daedalus/structure/kronecker.hpp"
#include "daedalus/structure/minimal_basis.hpp"

namespace daedalus::structure {

/// What a pencil says about solutions of E x' = A x + f: by fractions where its entries are short ones, else with
/// rounding. Coefficients are whole numbers where they come from fractions.
struct PencilFindings {
  KroneckerStructure structure;
  std::vector<ManifoldEquation<double>> manifold;      ///< of a regular pencil
  DenseMatrix projector;                               ///< of a regular pencil: see consistent_projector
  std::optional<RationalMatrix> fractions;             ///< the same without rounding
  DeflatingSpaces spaces;                              ///< of a regular pencil
  std::vector<PolynomialVector<double>> free;          ///< of a singular one: see right_minimal_basis
  std::vector<PolynomialVector<double>> dependencies;  ///< see left_minimal_basis
  /// Of a structure found by fractions: what rounding alone would have said, where that is something else or not
  /// decided.
  bool rounding_differs = false;
  double rounding_dropped = 0.0;  ///< then: the size of singular values that it takes for noise
};
PencilFindings pencil_findings(const Pencil& pencil);

}  // namespace daedalus::structure
