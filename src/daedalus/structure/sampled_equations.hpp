#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "daedalus/structure/signature.hpp"

namespace daedalus::structure {

/// Expressions of a system looked at with numbers: their values at points near the start and far from it, which have no
/// relations between them. What vanishes at all of them vanishes.
class SampledEquations {
 public:
  /// The system may change; it must outlive this. Times are taken from `t` on, within a part of `span`.
  SampledEquations(const EquationSet& system, double t, double span) : system_(system), t_(t), span_(span) {}

  using Values = std::vector<std::vector<double>>;          ///< one list per point
  using Jet = std::pair<expr::Expr, double>;                ///< a derivative of an unknown, and its value at the start
  using Sum = std::vector<std::pair<std::size_t, double>>;  ///< places of terms, and their factors
  static constexpr std::size_t enough = 3;                  ///< points

  /// At the points where all are finite.
  Values operator()(const std::vector<expr::Expr>& outputs) const;

  /// Of jets those whose sum of terms vanishes everywhere, but for round-off; nothing where there are too few points.
  std::optional<std::vector<Jet>> vanishing(const std::vector<Jet>& jets, const std::vector<expr::Expr>& terms,
                                            const std::vector<Sum>& sums) const;
  /// The jets on which sum factors_k terms_k does not depend.
  std::optional<std::vector<Jet>> independent_of(const std::vector<expr::Expr>& terms,
                                                 const std::vector<double>& factors) const;
  /// Replaces jets on which an expression does not depend, but for round-off, by numbers: 0, or the value at the start
  /// where 0 is no good one. False where it may depend on them after all, because they decide between its branches.
  bool remove(expr::Expr& residual, const std::vector<Jet>& jets) const;

 private:
  std::vector<Jet> jets_of(const std::vector<expr::Expr>& terms) const;

  const EquationSet& system_;
  double t_, span_;
};

}  // namespace daedalus::structure
