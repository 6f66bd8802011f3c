#pragma once

#include <memory>
#include <vector>

#include "daedalus/formulate/observation.hpp"
#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::formulate {

/// What can be seen of a state (y, y') of a DAE: nothing is left to compute but residuals and outputs.
class LinearObservation final : public Observation {
 public:
  explicit LinearObservation(std::shared_ptr<const structure::DaeFunctions> functions);

  integrate::Evaluation at(double t, const double* state) override;
  std::string explain() const override { return {}; }
  void values(double* row) const override;
  void outputs(double* row) override { see(functions_->outputs, outputs_scratch_, row); }
  void pictures(double* row) override { see(functions_->pictures, pictures_scratch_, row); }
  void freeze(const double* frozen) { frozen_ = frozen; }

 private:
  void see(const compile::Function& function, compile::Function::Scratch& scratch, double* row) const;

  std::shared_ptr<const structure::DaeFunctions> functions_;
  double t_ = 0.0;
  std::vector<double> state_, terms_;
  compile::Function::Scratch terms_scratch_, outputs_scratch_, pictures_scratch_;
  const double* frozen_ = nullptr;
};

}  // namespace daedalus::formulate
