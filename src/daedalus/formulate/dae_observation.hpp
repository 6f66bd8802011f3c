#pragma once

#include <memory>
#include <optional>

#include "daedalus/formulate/invariants.hpp"
#include "daedalus/formulate/observation.hpp"
#include "daedalus/structure/dae_evaluator.hpp"
#include "daedalus/structure/jet_lift.hpp"

namespace daedalus::formulate {

/// What can be seen of a general DAE. A state is y, or its differential part x, from which the rest is solved.
class DaeObservation final : public Observation {
 public:
  enum class State { whole, differential };
  DaeObservation(std::shared_ptr<const structure::DaeFunctions> functions, State state);
  /// Of differentiated equations, where the state is that of the equations as written: unknowns whose derivatives are
  /// states stay, the others are computed from them.
  DaeObservation(std::shared_ptr<const structure::DaeFunctions> functions, structure::JetLift lift);

  integrate::Evaluation at(double t, const double* state) override;
  integrate::Evaluation residuals_at(double t, const double* state) override;
  std::string explain() const override { return evaluator_.explain(); }
  void values(double* row) const override;
  void outputs(double* row) override { see(evaluator_.functions().outputs, outputs_scratch_, row); }
  void pictures(double* row) override { see(evaluator_.functions().pictures, pictures_scratch_, row); }

  State state() const { return state_; }
  structure::DaeEvaluator& evaluator() { return evaluator_; }
  /// Where the state is that of the equations as written, how it leads to that of the differentiated ones; else null.
  structure::JetLift* lift() { return lift_ ? &*lift_ : nullptr; }
  void freeze(const double* frozen) {
    frozen_ = frozen;
    evaluator_.freeze(frozen);
    if (kept_) kept_->freeze(frozen);
    if (lift_) lift_->freeze(frozen);
  }

 private:
  void find_residuals(const double* y);
  void see(const compile::Function& function, compile::Function::Scratch& scratch, double* row) const;

  structure::DaeEvaluator evaluator_;
  std::optional<compile::StateValues> kept_;
  std::optional<structure::JetLift> lift_;
  std::vector<double> lifted_;
  State state_;
  const double* frozen_ = nullptr;
  compile::Function::Scratch terms_scratch_, outputs_scratch_, pictures_scratch_;
  std::vector<double> terms_;
  struct Entry {
    std::size_t level, position;
  };
  std::vector<Entry> hidden_, algebraic_;  ///< where the residuals of hidden constraints and of algebraic rows stand
  double t_ = 0.0;
};

}  // namespace daedalus::formulate
