#include "daedalus/formulate/explicit_motion.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "daedalus/linalg/shifted_lu.hpp"
#include "daedalus/mechanics/implicit.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

/// Workspace of acceleration_jacobian.
class KktDerivative {
 public:
  KktDerivative(const Equations& equations, const AccelerationRule& rule)
      : functions_(equations.motion),
        rule_(rule),
        implicit_(
            mechanics::implicit_motion(*functions_, mechanics::Level::acceleration, rule.feedback, equations.redundant)
                .function),
        evaluator_(functions_, rule.how),
        scratch_(implicit_.jacobian.make_scratch()),
        lu_(implicit_.pattern, linalg::ShiftedLu::Numbers::real),
        values_(2 * implicit_.pattern.nonzeros()),
        leading_(implicit_.pattern.nonzeros()),
        zero_(implicit_.pattern.nonzeros()),
        y_(implicit_.pattern.rows),
        dy_(y_.size()),
        column_(y_.size()),
        column_start_(y_.size() + 1) {
    const linalg::Sparsity& pattern = implicit_.pattern;
    for (const std::size_t j : pattern.column) ++column_start_[j + 1];
    std::partial_sum(column_start_.begin(), column_start_.end(), column_start_.begin());
    std::vector<std::size_t> next(column_start_);
    entry_.resize(pattern.nonzeros());
    for (std::size_t i = 0; i < pattern.rows; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
        entry_[next[pattern.column[k]]++] = {i, k};
  }

  Evaluation operator()(double t, const double* x, double* jacobian) {
    const mechanics::Functions& fn = *functions_;
    const std::size_t n = fn.n, states = fn.dimension();
    const auto outcome = static_cast<Evaluation>(evaluator_.ode(t, x, dy_.data(), rule_.feedback));
    if (outcome != Evaluation::ok) return outcome;
    std::copy_n(x, states, y_.begin());
    double* behind = y_.data() + states;
    for (const std::size_t i : fn.algebraic) *behind++ = evaluator_.w()[i];
    std::ranges::copy(evaluator_.lambda(), behind);
    const double* inputs[] = {&t, y_.data(), dy_.data()};
    implicit_.jacobian(inputs, values_.data(), scratch_, frozen_);

    const linalg::Sparsity& pattern = implicit_.pattern;
    const double* F_y = values_.data();
    const double* F_dy = F_y + pattern.nonzeros();
    for (std::size_t k = 0; k < leading_.size(); ++k) leading_[k] = pattern.column[k] < states ? F_dy[k] : F_y[k];
    if (!lu_.factor(leading_.data(), zero_.data(), 0.0)) return Evaluation::singular;
    std::fill_n(jacobian, states * states, 0.0);
    for (std::size_t i = 0; i < n; ++i) jacobian[i * states + n + i] = 1.0;  // q' = v
    for (std::size_t j = 0; j < states; ++j) {
      std::fill(column_.begin(), column_.end(), 0.0);
      for (std::size_t e = column_start_[j]; e < column_start_[j + 1]; ++e)
        column_[entry_[e].first] = -F_y[entry_[e].second];
      lu_.solve(column_.data());
      for (std::size_t i = n; i < states; ++i) jacobian[i * states + j] = column_[i];
    }
    return Evaluation::ok;
  }

  void freeze(const double* frozen) {
    frozen_ = frozen;
    evaluator_.freeze(frozen);
  }
  void guess(const std::vector<double>& auxiliary) { evaluator_.guess_auxiliary(auxiliary); }

 private:
  std::shared_ptr<const mechanics::Functions> functions_;
  AccelerationRule rule_;
  compile::ImplicitFunction implicit_;
  mechanics::Evaluator evaluator_;
  compile::Function::Scratch scratch_;
  linalg::ShiftedLu lu_;
  std::vector<double> values_, leading_, zero_, y_, dy_, column_;
  std::vector<std::size_t> column_start_;
  std::vector<std::pair<std::size_t, std::size_t>> entry_;  ///< of each column: its row, its place in the pattern
  const double* frozen_ = nullptr;
};

}  // namespace

std::function<OdeJacobian()> acceleration_jacobian(const Equations& equations, const AccelerationRule& rule,
                                                   Formulated& formulated) {
  struct Late {
    std::shared_ptr<KktDerivative> derivative;
    const double* frozen = nullptr;
    std::vector<double> auxiliary;
  };
  auto late = std::make_shared<Late>();
  formulated.freeze = [inner = formulated.freeze, late](const double* frozen) {
    inner(frozen);
    late->frozen = frozen;
    if (late->derivative) late->derivative->freeze(frozen);
  };
  formulated.guess = [inner = formulated.guess, late](const std::vector<double>& auxiliary) {
    inner(auxiliary);
    late->auxiliary = auxiliary;
    if (late->derivative) late->derivative->guess(auxiliary);
  };
  return [equations, rule, late]() -> OdeJacobian {
    late->derivative = std::make_shared<KktDerivative>(equations, rule);
    late->derivative->freeze(late->frozen);
    if (!late->auxiliary.empty()) late->derivative->guess(late->auxiliary);
    return [derivative = late->derivative](double t, const double* x, double* jacobian) {
      return (*derivative)(t, x, jacobian);
    };
  };
}

void show_ode(Formulated& formulated, integrate::View view, const std::function<OdeJacobian()>& make_jacobian) {
  integrate::System& system = formulated.system;
  const auto shown = [shell = system, make_jacobian] {
    integrate::System ode = shell;
    if (make_jacobian) ode.ode_jacobian = make_jacobian();
    return std::make_shared<const integrate::ImplicitSystem>(implicit_from_ode(ode));
  };
  if (view == integrate::View::implicit) {
    system.implicit = shown();
    system.ode = nullptr;
    system.project_error = nullptr;
  } else if (view == integrate::View::automatic) {
    system.leading = system.dimension;
    system.make_implicit = shown;
  }
}

Formulated explicit_motion(const Equations& equations, integrate::View view, const AccelerationRule& rule) {
  Formulated result = acceleration_level(equations.motion, rule);
  show_ode(result, view, acceleration_jacobian(equations, rule, result));
  return result;
}

}  // namespace daedalus::formulate
