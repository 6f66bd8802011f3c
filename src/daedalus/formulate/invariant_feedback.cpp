// Baumgarte's idea for invariants c(t, x) = 0 of x' = f(t, x):
//     x' = f - alpha N C^T (C N C^T)^-1 c,      C = dc/dx,  N = diag(nominal_i^2),
// is the least change of x', in units of the nominal values, for which c' + alpha c = c_t + C f. The right side vanishes
// on c = 0, which makes c an invariant. Where it vanishes everywhere, violations decay like exp(-alpha t); where it is of
// the size L |c|, they do for alpha > L. (U. M. Ascher, H. Chin, S. Reich, Stabilization of DAEs and invariant manifolds,
// Numer. Math. 67 (1994), 131-149; (15)-(16) of 002.) The motion on c = 0 is the same.

#include "daedalus/formulate/invariant_feedback.hpp"

#include "daedalus/formulate/first_order.hpp"
#include "daedalus/formulate/invariants.hpp"
#include "daedalus/linalg/kkt.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

class Feedback {
 public:
  Feedback(const structure::DaeFunctions& functions, Kept kept)
      : values_(std::move(kept.equations)),
        kkt_(diagonal_pattern(functions.differential), values_.equations().pattern),
        zero_(functions.differential),
        step_(functions.differential),
        multiplier_(values_.equations().rows()) {
    for (std::size_t i = 0; i < functions.differential; ++i) {
      const double nominal = functions.unknowns[i].of->nominal;
      weight_.push_back(1.0 / (nominal * nominal));
    }
  }

  void freeze(const double* frozen) { values_.freeze(frozen); }

  Evaluation add(double t, const double* x, double rate, double* dx) {
    if (!values_.residuals(t, x) || !values_.jacobian(t, x)) return Evaluation::not_finite;
    const linalg::KktOutcome outcome = kkt_.factor(weight_.data(), values_.jacobian().data());
    if (outcome != linalg::KktOutcome::regular && outcome != linalg::KktOutcome::redundant) return Evaluation::singular;
    kkt_.solve(zero_.data(), values_.residual().data(), step_.data(), multiplier_.data());
    for (std::size_t i = 0; i < step_.size(); ++i) dx[i] -= rate * step_[i];
    return Evaluation::ok;
  }

 private:
  compile::StateValues values_;
  linalg::KktSolver kkt_;
  std::vector<double> weight_, zero_, step_, multiplier_;
};

}  // namespace

Formulated invariant_feedback(const Equations& equations, double rate) {
  Formulated result = first_order(equations, integrate::View::ode);
  auto feedback = std::make_shared<Feedback>(*equations.dae, kept_by(equations));
  result.system.ode = [feedback, rate, f = result.system.ode](double t, const double* x, double* dx) {
    const Evaluation outcome = f(t, x, dx);
    return outcome == Evaluation::ok ? feedback->add(t, x, rate, dx) : outcome;
  };
  result.freeze = [feedback, other = result.freeze](const double* frozen) {
    feedback->freeze(frozen);
    other(frozen);
  };
  return result;
}

}  // namespace daedalus::formulate
