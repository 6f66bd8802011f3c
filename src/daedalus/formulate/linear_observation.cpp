#include "daedalus/formulate/linear_observation.hpp"

#include <algorithm>
#include <cmath>

namespace daedalus::formulate {

using structure::DaeFunctions;

LinearObservation::LinearObservation(std::shared_ptr<const DaeFunctions> functions)
    : functions_(std::move(functions)), state_(2 * functions_->dimension()) {
  const DaeFunctions& fn = *functions_;
  for (const DaeFunctions::Column& column : fn.columns) columns_.push_back(column.name);
  levels_.resize(1);
  for (const std::size_t i : fn.algebraic_rows) levels_[0].columns.push_back("residual." + fn.rows[i].of);
  levels_[0].residual.resize(levels_[0].columns.size());
  levels_[0].scale.resize(levels_[0].columns.size());
  terms_.resize(fn.terms.output_count());
  terms_scratch_ = fn.terms.make_scratch();
  outputs_scratch_ = fn.outputs.make_scratch();
  pictures_scratch_ = fn.pictures.make_scratch();
  picture_count_ = fn.pictures.output_count();
}

integrate::Evaluation LinearObservation::at(double t, const double* state) {
  const DaeFunctions& fn = *functions_;
  t_ = t;
  std::copy_n(state, state_.size(), state_.begin());
  see(fn.terms, terms_scratch_, terms_.data());
  for (std::size_t i = 0; i < fn.algebraic_rows.size(); ++i) {
    double sum = 0.0, largest = 0.0;
    for (std::size_t k = fn.term_start[i]; k < fn.term_start[i + 1]; ++k) {
      sum += terms_[k];
      largest = std::max(largest, std::abs(terms_[k]));
    }
    levels_[0].residual[i] = sum;
    levels_[0].scale[i] = largest;
  }
  return integrate::Evaluation::ok;
}

void LinearObservation::values(double* row) const {
  for (const DaeFunctions::Column& column : functions_->columns)
    *row++ = state_[column.unknown + (column.rate ? functions_->dimension() : 0)];
}

void LinearObservation::see(const compile::Function& function, compile::Function::Scratch& scratch, double* row) const {
  const double* inputs[] = {&t_, state_.data(), state_.data() + functions_->dimension()};
  if (function.output_count() > 0) function(inputs, row, scratch, frozen_);
}

}  // namespace daedalus::formulate
