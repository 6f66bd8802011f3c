// Baumgarte's idea for invariants c(t, x) = 0 of x' = f(t, x):
//     x' = f - alpha N C^T (C N C^T)^-1 c,      C = dc/dx,  N = diag(nominal_i^2),
// is the least change of x', in units of the nominal values, for which c' + alpha c = c_t + C f. The right side vanishes
// on c = 0, which makes c an invariant. Where it vanishes everywhere, violations decay like exp(-alpha t); where it is of
// the size L |c|, they do for alpha > L. (U. M. Ascher, H. Chin, S. Reich, Stabilization of DAEs and invariant manifolds,
// Numer. Math. 67 (1994), 131-149; (15)-(16) of 002.) The motion on c = 0 is the same. Beside hidden constraints the change
// is the least one that leaves them alone.
//
// A DAE that was differentiated has f^(k) in F instead of f. There it is replaced by
//     (d/dt + alpha)^k f  =  f^(k) + k alpha f^(k-1) + ... + alpha^k f,
// Baumgarte's own way with k poles at -alpha.

#include "daedalus/formulate/invariant_feedback.hpp"

#include <algorithm>

#include "daedalus/formulate/first_order.hpp"
#include "daedalus/formulate/invariants.hpp"
#include "daedalus/linalg/kkt.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

class Feedback {
 public:
  /// Equations before `first` are left alone.
  Feedback(const structure::DaeFunctions& functions, const Kept& kept, std::size_t first)
      : first_(static_cast<std::ptrdiff_t>(first)),
        values_(kept.equations),
        kkt_(diagonal_pattern(functions.differential), values_.equations().pattern),
        zero_(functions.differential),
        step_(functions.differential),
        multiplier_(values_.equations().rows()),
        right_(values_.equations().rows()) {
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
    std::copy(values_.residual().begin() + first_, values_.residual().end(), right_.begin() + first_);
    kkt_.solve(zero_.data(), right_.data(), step_.data(), multiplier_.data());
    for (std::size_t i = 0; i < step_.size(); ++i) dx[i] -= rate * step_[i];
    return Evaluation::ok;
  }

 private:
  std::ptrdiff_t first_;
  compile::StateValues values_;
  linalg::KktSolver kkt_;
  std::vector<double> weight_, zero_, step_, multiplier_, right_;
};

/// The lower terms of (d/dt + alpha)^k f, for the rows of F.
class LowerTerms {
 public:
  LowerTerms(const structure::DaeFunctions& functions, const Kept& kept, double alpha)
      : values_(kept.equations), added_(functions.dimension()) {
    for (const structure::DaeFunctions::Row& lower : functions.hidden) {
      const std::size_t times = functions.rows[lower.row].level;
      double gain = 1.0;  // binomial(times, level) alpha^(times - level)
      for (std::size_t k = 0; k < times - lower.level; ++k)
        gain *= alpha * static_cast<double>(times - k) / static_cast<double>(k + 1);
      terms_.push_back({lower.row, gain});
    }
  }

  void freeze(const double* frozen) { values_.freeze(frozen); }

  const double* operator()(double t, const double* x) {
    values_.residuals(t, x);  // what is not finite shows in F
    std::ranges::fill(added_, 0.0);
    for (std::size_t i = 0; i < terms_.size(); ++i) added_[terms_[i].row] += terms_[i].gain * values_.residual()[i];
    return added_.data();
  }

 private:
  struct Term {
    std::size_t row;
    double gain;
  };
  compile::StateValues values_;
  std::vector<Term> terms_;
  std::vector<double> added_;
};

/// Lets a part read the frozen values, too.
template <class Part>
void freeze_with(Formulated& formulated, const std::shared_ptr<Part>& part) {
  formulated.freeze = [part, other = formulated.freeze](const double* frozen) {
    part->freeze(frozen);
    other(frozen);
  };
}

void add_feedback(Formulated& formulated, const std::shared_ptr<Feedback>& feedback, double rate) {
  formulated.system.ode = [feedback, rate, f = formulated.system.ode](double t, const double* x, double* dx) {
    const Evaluation outcome = f(t, x, dx);
    return outcome == Evaluation::ok ? feedback->add(t, x, rate, dx) : outcome;
  };
  freeze_with(formulated, feedback);
}

}  // namespace

Formulated invariant_feedback(const Equations& equations, double rate) {
  const structure::DaeFunctions& fn = *equations.dae;
  const Kept kept = kept_by(equations);
  Formulated result;
  if (kept.hidden.empty()) {
    result = first_order(equations, integrate::View::ode);
  } else {
    auto lower = std::make_shared<LowerTerms>(fn, kept, rate);
    result = first_order_with(equations, [lower](double t, const double* x) { return (*lower)(t, x); });
    freeze_with(result, lower);
  }
  if (kept.invariants.empty()) return result;
  add_feedback(result, std::make_shared<Feedback>(fn, kept, kept.hidden.size()), rate);
  return result;
}

Formulated manifold_feedback(const Equations& equations, double rate) {
  Formulated result = first_order(equations, integrate::View::ode);
  add_feedback(result, std::make_shared<Feedback>(*equations.dae, kept_by(equations), 0), rate);
  return result;
}

}  // namespace daedalus::formulate
