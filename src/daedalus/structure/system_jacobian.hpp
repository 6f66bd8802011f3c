#pragma once

#include <vector>

#include "daedalus/compile/function.hpp"
#include "daedalus/structure/structural_analysis.hpp"

namespace daedalus::structure {

/// The system Jacobian J_ij = d f_i^(c_i) / d x_j^(d_j) = d f_i / d x_j^(d_j - c_i) as numbers. Where it is regular at
/// a consistent point, the structural analysis is right there: the equations, differentiated c_i times, determine the
/// derivatives d_j, sum d - sum c initial values are free, and the index is at most the structural one (Pryce 2001).
/// Where it is singular everywhere, the structure says nothing.
class SystemJacobian {
 public:
  /// Needs a structurally regular analysis of the system, which must outlive this.
  SystemJacobian(const EquationSet& system, const StructuralAnalysis& analysis);

  struct Verdict {
    bool finite = true, regular = true;
    std::vector<std::size_t>
        dependent;  ///< equations, one per missing rank, whose rows follow from others of their block
  };
  /// Decides block by block. The point has the values of x, x', ... of one unknown after the other.
  Verdict at(double t, const std::vector<double>& point);
  /// Entries at the last point, in the order of the analysis' pattern.
  const std::vector<double>& values() const { return values_; }

  /// The start values of the system, as a point.
  const std::vector<double>& guess() const { return guess_; }
  /// A point near another one, without special relations between its values; the same for the same number.
  std::vector<double> near(const std::vector<double>& point, int number) const;

 private:
  const StructuralAnalysis& analysis_;
  compile::Function function_;
  compile::Function::Scratch scratch_;
  std::vector<double> values_, guess_, nominal_;
};

}  // namespace daedalus::structure
