#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "daedalus/mechanics/derive.hpp"

namespace daedalus::mechanics {

/// The factors L D L^T of
///     [ M  G^T ]
///     [ G   0  ]
/// in symbols, with the sparsity of the model: compiled, they solve the system without a matrix, an index or a loop.
///
/// The pivots stand where they are, in an order chosen once for little fill. That is safe where M is positive definite
/// and G has full rank: a multiplier comes after all coordinates that its constraint touches, so that the pivots of
/// coordinates are positive and those of multipliers negative (see the source).
class KktElimination {
 public:
  /// None where it would take more than `most` operations.
  static std::optional<KktElimination> of(const SparseExpr& M, const SparseExpr& G, std::size_t most);

  struct Solution {
    std::vector<Expr> a, lambda;
    /// What a good order computes first: the factors as they are needed, then the unknowns as they become known.
    std::vector<Expr> order = {};
  };
  /// Solves for right-hand sides (f, gamma), in symbols as well.
  Solution solve(const std::vector<Expr>& f, const std::vector<Expr>& gamma) const;

  /// How much the terms of pivots cancel: where one of these is large or not a number, the solution is worth little.
  const std::vector<Expr>& cancellations() const { return cancellations_; }
  /// Inverse pivots of the coordinates: all positive where M is positive definite.
  const std::vector<Expr>& inverse_masses() const { return inverse_masses_; }
  /// The same of the multipliers up to their sign: infinite where a constraint depends on others.
  const std::vector<Expr>& inverse_constraints() const { return inverse_constraints_; }

 private:
  /// An expression and a sign before it: what differs by its sign alone, as the entries x1 - x2 and x2 - x1 of a rod, is
  /// computed once.
  struct Signed {
    Expr value;
    bool minus = false;
  };
  static Signed sign_apart(Expr e);
  static Signed times(const Signed& a, const Signed& b) { return {a.value * b.value, a.minus != b.minus}; }
  static Expr plain(const Signed& a) { return a.minus ? -a.value : a.value; }
  static Signed less(const Signed& a, const Signed& b);

  struct Entry {
    std::size_t row;
    Signed value;
  };
  KktElimination(std::size_t n, std::size_t m) : n_(n), m_(m), columns_(n + m), inverse_(n + m) {}

  std::size_t n_, m_;
  std::vector<std::size_t> order_;
  std::vector<std::vector<Entry>> columns_;  ///< of L below its diagonal
  std::vector<Signed> inverse_;              ///< 1 / D
  std::vector<Expr> cancellations_, inverse_masses_, inverse_constraints_;
};

}  // namespace daedalus::mechanics
