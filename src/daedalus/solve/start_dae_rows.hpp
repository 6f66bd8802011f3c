#pragma once

#include <string>
#include <utility>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"
#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::solve {

/// What the start of a DAE must satisfy, as functions of u = (y, y'): F, and with it [initial], hidden constraints and
/// [invariants].
class DaeStartRows {
 public:
  enum class Which { equations, all };
  DaeStartRows(const structure::DaeFunctions& functions, double t, Which which);

  const linalg::Sparsity& pattern() const { return pattern_; }
  std::size_t rows() const { return n_ + extra_; }
  /// Held values and modes of switches.
  const double* frozen() const { return frozen_.data(); }
  std::string row_name(std::size_t i) const { return binding(i).first; }
  Place row_place(std::size_t i) const { return binding(i).second; }
  /// Whether a row is from [initial].
  bool row_initial(std::size_t i) const { return i >= n_ && i < n_ + fn_.model->initial.size(); }

  /// Writes values or derivatives, in the order of pattern(); false where one is not finite.
  bool residual(const double* u, double* c);
  bool jacobian(const double* u, double* C);

  /// Size of each equation: hidden ones and invariants count in units of their largest term, the others as they are.
  std::vector<double> scales(const double* u) const;

 private:
  std::pair<std::string, Place> binding(std::size_t i) const;
  bool contains_rate(std::size_t row, std::size_t unknown) const;

  const structure::DaeFunctions& fn_;
  double t_;
  std::size_t n_, kept_, extra_;
  std::vector<double> frozen_, values_;
  std::vector<const compile::ImplicitFunction*> parts_;
  std::vector<compile::Function::Scratch> residual_scratch_, jacobian_scratch_;
  std::vector<std::vector<std::size_t>> taken_;  ///< of each part: where the values of its entries stand
  linalg::Sparsity pattern_;
};

}  // namespace daedalus::solve
