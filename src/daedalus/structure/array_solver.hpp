#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "daedalus/linalg/householder.hpp"
#include "daedalus/linalg/lu.hpp"
#include "daedalus/linalg/staged_qr.hpp"
#include "daedalus/structure/dae_evaluator.hpp"
#include "daedalus/structure/numerical_index.hpp"

namespace daedalus::structure {

/// y' and the constraints of a DAE from its derivative array, for one trajectory: right also where structure misleads.
/// Allocates nothing after construction.
///
/// Near the manifold of the constraints y' is a smooth function of t and y between two calls of project(), exact on the
/// manifold: an integrator that projects after every step keeps its order.
class ArraySolver {
 public:
  /// Needs an index that was found; begins at its point.
  ArraySolver(std::shared_ptr<const DerivativeArray> array, const NumericalIndex& found);

  std::size_t dimension() const { return n_; }
  /// How many constraints connect t and y.
  std::size_t constraints() const { return constraints_; }
  /// Lets every evaluation read the frozen values of a trajectory, which must outlive it.
  void freeze(const double* frozen) { values_.freeze(frozen); }

  /// Finds y' at (t, y), from the jets found last as a guess. After the end of a step that began with begin_step() was projected,
  /// that of the point of the manifold next to y.
  DaeOutcome derivatives(double t, const double* y);
  /// The same at any point of the manifold, however far from the last one that was projected. Points beside it by no more than
  /// `most`, relative to the size of the unknowns, are taken; jets that belong to another point leave larger residuals.
  DaeOutcome derivatives_on_manifold(double t, const double* y, double most = 1e-2);
  /// The same at a point that was projected, now or before; one that was not, as by --initialize off, is taken as it is.
  DaeOutcome derivatives_at_projected(double t, const double* y);
  const std::vector<double>& dy() const { return dy_; }

  /// Takes the jets of the point where another solver of the same array was last on the manifold: from far off, others that
  /// satisfy nearly the same equations may be found.
  void begin_at(const ArraySolver& other);

  /// The derivative of that y' by y, row by row.
  DaeOutcome jacobian(double t, const double* y, double* out);

  /// Told from which point of the manifold the next step goes, before every attempt: whatever attempts and rows between
  /// steps have left, evaluations begin with the jets of that point.
  void begin_step(double t, const double* y);

  /// Moves y to the manifold with the least change, each unknown measured by `sizes`.
  DaeOutcome project(double t, double* y, const double* sizes);

  /// After derivatives(): how far y is from each of constraints() independent combinations of the constraints, relative
  /// to the size of the unknowns.
  const std::vector<double>& residuals() const { return residuals_; }

  std::size_t factorizations() const { return factorizations_; }
  const std::string& explain() const { return explanation_; }

 private:
  DaeOutcome find_jets(double t, const double* y);
  DaeOutcome derivatives_next_to(double t, const double* y);
  DaeOutcome find_jets_anew(double t, const double* y, double most);
  DaeOutcome move_to_manifold(double t, double* y, const double* sizes);
  template <class Arrive>
  DaeOutcome reach(double t, const double* y, Arrive arrive);
  DaeOutcome factor();
  bool factor_pivots();
  double correct_jets();
  void find_residuals();
  DaeOutcome fail(DaeOutcome outcome);
  std::size_t place(std::size_t column) const;

  ArrayValues values_;
  std::size_t n_, levels_, m_, rank_, constraints_;
  std::vector<std::size_t> ranks_;
  linalg::StagedQr qr_;
  linalg::DenseLu pivots_;  ///< of (Q^T M)_1 at another point than that of Q
  bool use_pivots_ = false;
  linalg::HouseholderQr manifold_;  ///< of the transposed derivative of the constraints by y
  double t_ = 0.0, kept_ = 0.0;     ///< the shortest pivot at the start
  double anchor_t_ = 0.0, begin_t_ = std::numeric_limits<double>::quiet_NaN(), end_t_ = begin_t_;
  bool attempted_ = true;  ///< since the step began, its end was projected
  std::vector<double> u_, anchor_, begin_, end_, before_, e_, dy_, residuals_, change_, step_, y0_, between_, from_, next_, ones_, matrix_, column_;
  std::size_t factorizations_ = 0;
  std::string explanation_;
};

}  // namespace daedalus::structure
