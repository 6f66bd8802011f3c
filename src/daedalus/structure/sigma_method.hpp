#pragma once

#include <optional>
#include <vector>

#include "daedalus/linalg/matching.hpp"
#include "daedalus/structure/signature.hpp"

namespace daedalus::structure {

/// How often each equation must be differentiated, and up to which derivative each unknown is then determined.
struct Offsets {
  std::vector<int> c, d;  ///< of equations, of unknowns

  /// max c, and one more where some unknown is determined without a derivative.
  int structural_index() const;
  /// sum d - sum c: how many initial values can be chosen.
  std::size_t degrees_of_freedom() const;

  friend bool operator==(const Offsets&, const Offsets&) = default;
};

using linalg::Matching, linalg::MatchingSearch, linalg::maximum_matching, linalg::unmatched;

struct SigmaMethod {
  Matching transversal;
  Offsets offsets;
  std::size_t entries_seen = 0;  ///< a measure of the work
};

/// A highest-value transversal of the signature matrix and the canonical (smallest) offsets. Nothing where there is no
/// transversal: the system is structurally singular or not square.
std::optional<SigmaMethod> sigma_method(const Signature& signature);

/// The pattern of the system Jacobian, d f_i / d x_j^(d_j - c_i): where d_j - c_i = sigma_ij. `entries` are the places
/// of its entries in the signature matrix.
struct JacobianPattern {
  linalg::Sparsity pattern;
  std::vector<std::size_t> entries;
};
JacobianPattern jacobian_pattern(const Signature& signature, const Offsets& offsets);

}  // namespace daedalus::structure
