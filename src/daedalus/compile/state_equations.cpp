#include "daedalus/compile/state_equations.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/base/finite.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::compile {

using expr::Expr;

StateEquations compile_state_equations(const std::vector<Expr>& b, Expr t, const std::vector<Expr>& x,
                                       const std::unordered_map<expr::NodeId, double>& numbers, Switches& switches) {
  StateEquations out;
  const expr::SparseExpr jacobian = expr::jacobian(b, x);
  out.pattern = {jacobian.rows, jacobian.columns, jacobian.row_start, jacobian.column};
  std::vector<Expr> terms;
  out.term_start.push_back(0);
  for (const Expr& equation : b) {
    const std::vector<Expr> own = expr::terms_of(equation);
    terms.insert(terms.end(), own.begin(), own.end());
    out.term_start.push_back(terms.size());
  }
  const auto make = [&](const std::vector<Expr>& outputs) {
    return compile({{{t}, x}, outputs, &numbers, Request::NewSwitches::none}, switches);
  };
  out.terms = make(terms);
  out.jacobian = make(jacobian.value);
  out.time_derivative = make(expr::derivative_along(b, {{t.id(), t.graph().constant(1.0)}}));
  return out;
}

StateValues::StateValues(std::shared_ptr<const StateEquations> equations)
    : equations_(std::move(equations)),
      terms_scratch_(equations_->terms.make_scratch()),
      jacobian_scratch_(equations_->jacobian.make_scratch()),
      time_scratch_(equations_->time_derivative.make_scratch()),
      terms_(equations_->terms.output_count()),
      residual_(equations_->rows()),
      scale_(equations_->rows()),
      jacobian_(equations_->pattern.nonzeros()),
      rate_(equations_->rows()),
      rate_scale_(equations_->rows()) {}

bool StateValues::residuals(double t, const double* x) {
  const double* inputs[] = {&t, x};
  equations_->terms(inputs, terms_.data(), terms_scratch_, frozen_);
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    residual_[i] = scale_[i] = 0.0;
    for (std::size_t k = equations_->term_start[i]; k < equations_->term_start[i + 1]; ++k) {
      residual_[i] += terms_[k];
      scale_[i] = std::max(scale_[i], std::abs(terms_[k]));
    }
  }
  return all_finite(terms_);
}

bool StateValues::jacobian(double t, const double* x) {
  const double* inputs[] = {&t, x};
  equations_->jacobian(inputs, jacobian_.data(), jacobian_scratch_, frozen_);
  return all_finite(jacobian_);
}

bool StateValues::rates(double t, const double* x, const double* dx) {
  const double* inputs[] = {&t, x};
  equations_->time_derivative(inputs, rate_.data(), time_scratch_, frozen_);
  if (!jacobian(t, x)) return false;
  const linalg::Sparsity& pattern = equations_->pattern;
  for (std::size_t i = 0; i < rate_.size(); ++i) {
    rate_scale_[i] = std::abs(rate_[i]);
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      const double part = jacobian_[k] * dx[pattern.column[k]];
      rate_[i] += part;
      rate_scale_[i] = std::max(rate_scale_[i], std::abs(part));
    }
  }
  return all_finite(rate_);
}

}  // namespace daedalus::compile
