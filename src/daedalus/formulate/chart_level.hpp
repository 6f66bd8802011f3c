#pragma once

#include <optional>
#include <vector>

#include "daedalus/formulate/local_basis.hpp"
#include "daedalus/linalg/shifted_lu.hpp"

namespace daedalus::formulate {

/// Of any of the rows those that do not depend on others among them, for the values of G.
std::vector<std::size_t> independent_rows(const linalg::Sparsity& pattern, const double* G,
                                          const std::vector<std::size_t>& rows);

/// One level of the constraints, positions or velocities, in local coordinates: a basis for some independent rows of G,
/// and the matrix K = G C with which the dependent parts are found.
class ChartLevel {
 public:
  ChartLevel(LocalBasis::Kind kind, const linalg::Sparsity& jacobian, std::vector<std::size_t> rows);

  const std::vector<std::size_t>& rows() const { return rows_; }
  LocalBasis& basis() { return basis_; }

  /// Chooses the basis; G has the values of all rows. False where those of this level depend on each other.
  bool choose(const double* G, const double* W);
  /// Factors K for the values of G; false where it is singular.
  bool factor(const double* G);
  bool factored() const { return factored_; }
  void forget() { factored_ = false; }
  /// u -= C K^-1 c, with one entry of c per row of the whole G.
  void correct(const double* c, double* u);
  /// How far u moves in the directions C for a unit step along B, both in the metric W: the tangent of the angle between
  /// the constraints and B, estimated by some directions. Needs factors for these values of G.
  double tilt(const double* G, const double* W);
  /// How far y_k may change so that no u_j changes by much more than bound[j], dependent ones included. Needs factors.
  void bounds(const double* G, const double* bound, double* y);

 private:
  struct Term {
    std::size_t entry, G, normal;  ///< K[entry] += G[G] C[normal]
  };
  void find_terms();
  /// Sets along_ = B direction_ and moved_ = C K^-1 G B direction_: the constraints lead along along_ - moved_.
  void respond(const double* G);

  std::vector<std::size_t> rows_, source_;  ///< source: where the values of the rows stand among those of G
  linalg::Sparsity part_;                   ///< the rows alone
  LocalBasis basis_;
  std::vector<Term> terms_;
  std::vector<std::size_t> start_, row_, entry_;  ///< C by unknowns
  std::vector<double> part_values_, K_, right_, direction_, along_, moved_, response_;
  std::optional<linalg::ShiftedLu> lu_;
  bool factored_ = false;
};

}  // namespace daedalus::formulate
