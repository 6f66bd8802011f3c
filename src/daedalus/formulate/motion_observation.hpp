#pragma once

#include <functional>
#include <memory>

#include "daedalus/formulate/acceleration_level.hpp"
#include "daedalus/formulate/invariants.hpp"
#include "daedalus/formulate/observation.hpp"
#include "daedalus/mechanics/evaluator.hpp"

namespace daedalus::formulate {

/// What can be seen of constrained motion. States begin with x = (q, v, z_d); accelerations, multipliers and algebraic
/// unknowns come from the KKT system with the feedback of the formulation.
class MotionObservation final : public Observation {
 public:
  MotionObservation(std::shared_ptr<const mechanics::Functions> functions, const AccelerationRule& rule);

  integrate::Evaluation at(double t, const double* state) override;
  integrate::Evaluation residuals_at(double t, const double* state) override;
  std::string explain() const override { return evaluator_.explain(); }
  void values(double* row) const override;
  void outputs(double* row) override { evaluator_.outputs(t_, x_.data(), row); }
  void pictures(double* row) override { evaluator_.pictures(t_, x_.data(), row); }
  std::optional<Energy> energy() override;

  mechanics::Evaluator& evaluator() { return evaluator_; }
  void freeze(const double* frozen) {
    evaluator_.freeze(frozen);
    watch_.freeze(frozen);
  }
  /// Shows more columns, behind the others; `write` fills them in at a state.
  using Write = std::function<void(double t, const double* x, double* row)>;
  void show(const std::vector<std::string>& columns, Write write);

 private:
  mechanics::Evaluator evaluator_;
  InvariantWatch watch_;
  mechanics::Feedback feedback_;
  double t_ = 0.0;
  std::vector<double> x_;
  Write further_;
};

}  // namespace daedalus::formulate
