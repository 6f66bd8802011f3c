#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daedalus/compile/state_equations.hpp"
#include "daedalus/linalg/lu.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::structure {

/// Leads from the unknowns y of a DAE as it is written to the states x of its differentiated equations, and back. Both are
/// derivatives of the author's unknowns. The equations as written may lack some of those that the differentiated ones
/// have: these follow from hidden constraints.
class JetLift {
 public:
  JetLift(const DaeFunctions& written, std::shared_ptr<const DaeFunctions> differentiated);

  void freeze(const double* frozen) { values_.freeze(frozen); }
  /// Takes consistent unknowns of the differentiated equations as the first guess. What is lacking is found from the hidden
  /// constraints that are chosen for it at the next point; they suffice wherever the system Jacobian is regular.
  void guess(const double* y);

  /// Finds the states x, of which those that y has stay as they are. A guess comes first.
  DaeOutcome lift(double t, const double* y, double* x);
  /// The unknowns as written of a point of the differentiated equations, and their derivatives.
  void lower(const double* y, const double* dy, double* written) const;
  void lower_rates(const double* y, const double* dy, double* written) const;

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct Source {
    std::size_t state = none, rate = none;  ///< where the value stands: among y or among y'
    double of(const double* y, const double* dy) const { return state != none ? y[state] : rate != none ? dy[rate] : 0.0; }
  };
  void choose_rows(double t);
  bool correct();

  std::shared_ptr<const DaeFunctions> functions_;
  compile::StateValues values_;
  std::vector<Source> unknowns_, rates_;      ///< of the equations as written, in the differentiated ones
  std::vector<std::size_t> known_, missing_;  ///< states: where y has them, and those that it has not
  std::vector<std::size_t> column_;           ///< of every state among the missing ones
  std::vector<std::size_t> rows_;             ///< hidden constraints that give the missing states
  std::vector<double> x_, matrix_, step_;
  linalg::DenseLu lu_;
  bool chosen_ = false;
};

}  // namespace daedalus::structure
