#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daedalus/formulate/invariants.hpp"
#include "daedalus/linalg/kkt.hpp"

namespace daedalus::formulate {

/// Moves states onto the invariants c(t, x) = 0 of a model with the least change in the norm of the error test. Owns its
/// workspace, allocates nothing after construction.
class InvariantProjection {
 public:
  explicit InvariantProjection(Kept kept);

  void freeze(const double* frozen) { values_.freeze(frozen); }
  /// Component i counts in units of atol_i + rtol |x_i|; without a call in units of 1.
  void weigh(double rtol, const std::vector<double>& atol);

  /// `first` moves x onto the equations before the invariants, and z, which follows x, with it; it may be empty.
  integrate::Evaluation operator()(double t, double* x,
                                   const std::function<integrate::Evaluation(double t, double* x)>& first);
  /// Why the last call failed; empty where `first` did.
  const std::string& explain() const { return explanation_; }

 private:
  integrate::Evaluation factor(double t, const double* x);
  /// In what component i is counted where its value is x.
  double unit(std::size_t i, double x) const;
  /// Whether there are factors, in about the norm that counts at x.
  bool serves(const double* x) const;
  /// The residual of a row beside its largest term, or beside what changes of x in the last digit make of it.
  double relative(std::size_t row) const;
  /// How far the invariants are from holding, in units of their round-off: at most 1 is exact.
  double distance() const;
  integrate::Evaluation give_up(double t);

  Kept kept_;
  compile::StateValues values_;
  linalg::KktSolver kkt_;
  std::size_t before_;  ///< rows before the invariants
  double rtol_ = 0.0;
  std::vector<double> atol_, unit_, start_, weight_, zero_, right_, step_, multiplier_, floor_;
  bool factored_ = false;  ///< kkt_ has factors, with the units of their point
  std::string explanation_;
};

/// Adds to what a formulation makes the projection onto the invariants of the model, beside the one that it has.
/// Nothing where the model has none.
void keep_invariants(Formulated& formulated, const Equations& equations);

}  // namespace daedalus::formulate
