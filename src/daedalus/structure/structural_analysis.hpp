#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daedalus/structure/block_triangular.hpp"
#include "daedalus/structure/sigma_method.hpp"
#include "daedalus/structure/signature.hpp"

namespace daedalus::structure {

/// What can be said about a system from which unknowns and derivatives stand in which equations, whatever the values
/// are.
struct StructuralAnalysis {
  std::vector<std::string> equations, unknowns;  ///< names
  Signature signature;
  CoarseParts parts;                 ///< of what occurs, with or without derivatives
  std::optional<SigmaMethod> sigma;  ///< nothing where the system is structurally singular or not square

  // Where it is not:
  JacobianPattern jacobian;  ///< d f_i / d x_j^(d_j - c_i), the matrix of the equations for the highest derivatives
  std::vector<Part> blocks;  ///< of that matrix, in the order in which the highest derivatives can be found

  bool regular() const { return sigma.has_value(); }
  std::optional<int> index() const;
  /// "der(x,2)": the derivative d_j of unknown j.
  std::string highest_derivative(std::size_t unknown) const;
  std::vector<std::string> equation_names(const std::vector<std::size_t>& which) const;
  std::vector<std::string> unknown_names(const std::vector<std::size_t>& which) const;
  /// "2 equations (a, b) for 1 unknown (x)".
  std::string text_of(const Part& part) const;
};

/// Analyses a system; the time is nearly proportional to the size of its equations.
StructuralAnalysis structural_analysis(const EquationSet& system);

}  // namespace daedalus::structure
