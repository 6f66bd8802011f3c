// Stabilization of the invariant manifold h(t, x) = (g, G v + g_t) = 0 of the index-1 equations x' = f(t, x):
//     x' = f - gamma F h,   F = D (C D)^-1,   C = dh/dx,        (15), (16) of Di Franco et al., after Ascher, Chin,
//     Reich
// with D = C^T, or D = diag(M^-1, M^-1) C^T. F h is the shortest y with C y = h in the Euclidean norm, or in the mass
// norm:
//     min |y|_W  subject to  C y = h,       W = I  or  W = diag(M, M).
// Off the manifold g' = G v + g_t - gamma g and (G v + g_t)' = -gamma (G v + g_t): a violation decays with a double
// pole at -gamma, as with Baumgarte's critical damping, but q' is corrected as well, so that the way back is the
// shortest one. With an automatic gain about 1/h the term is taken at the start of a step and held to its end, as in
// `baumgarte`. A nonholonomic constraint has the velocity part only. Of a DAE h are the hidden constraints. (Between (18) and (9) the paper has the sign of
// gamma J F xi wrong, and J F = I.)

#include <algorithm>
#include <optional>

#include "daedalus/formulate/explicit_motion.hpp"
#include "daedalus/formulate/invariant_feedback.hpp"
#include "daedalus/formulate/step_gain.hpp"
#include "daedalus/mechanics/stacked_constraints.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

class Stabilized {
 public:
  Stabilized(std::shared_ptr<const mechanics::Functions> functions, Metric metric)
      : functions_(std::move(functions)),
        metric_(metric),
        constraints_(mechanics::stack_constraints(*functions_)),
        evaluator_(functions_),
        y_(2 * functions_->n),
        no_force_(y_.size()),
        h_(constraints_.equations().rows()),
        mu_(h_.size()),
        dx_(functions_->dimension()),
        held_(y_.size()),
        before_(y_.size()) {
    const linalg::Sparsity& M = functions_->mass;
    const std::size_t n = functions_->n;
    weight_.rows = weight_.columns = 2 * n;
    for (std::size_t i = 0; i < 2 * n; ++i) {
      if (metric == Metric::euclidean) weight_.column.push_back(i);
      for (std::size_t k = M.row_start[i % n]; metric == Metric::mass && k < M.row_start[i % n + 1]; ++k)
        weight_.column.push_back(M.column[k] + (i < n ? 0 : n));
      weight_.row_start.push_back(weight_.column.size());
    }
    weight_values_.assign(weight_.nonzeros(), 1.0);
  }

  std::optional<double> gain;  ///< none: about 1/(2h), with a term that is taken at the start of a step and held

  mechanics::Evaluator& evaluator() { return evaluator_; }

  Evaluation ode(double t, const double* x, double* dx) { return gain ? free_ode(t, x, dx) : held_ode(t, x, dx); }

  bool begin_step(double t, const double* x, double h) {
    step_gain_.follow(t, h);
    before_.swap(held_);
    std::fill(held_.begin(), held_.end(), 0.0);
    if (factor(t, x, dx_.data()) == Evaluation::ok && !h_.empty()) {  // else the step itself will find out
      nearest(constraints_.residual().data());
      for (std::size_t i = 0; i < y_.size(); ++i) held_[i] = step_gain_.value() * y_[i];
    }
    return before_ != held_;
  }

  /// Adds -gamma F C, the derivative of -gamma F h on the manifold.
  Evaluation add_derivative(double t, const double* x, double* jacobian) {
    if (!gain) return Evaluation::ok;  // what is held has no derivative
    if (const Evaluation outcome = factor(t, x, dx_.data()); outcome != Evaluation::ok) return outcome;
    if (h_.empty()) return Evaluation::ok;
    const linalg::Sparsity& C = constraints_.equations().pattern;
    const std::vector<double>& entries = constraints_.jacobian();
    for (std::size_t j = 0; j < y_.size(); ++j) {
      std::fill(h_.begin(), h_.end(), 0.0);
      for (std::size_t i = 0; i < C.rows; ++i)
        for (std::size_t k = C.row_start[i]; k < C.row_start[i + 1]; ++k)
          if (C.column[k] == j) h_[i] = entries[k];
      nearest(h_.data());
      for (std::size_t i = 0; i < y_.size(); ++i) jacobian[i * functions_->dimension() + j] -= *gain * y_[i];
    }
    return Evaluation::ok;
  }

  void freeze(const double* frozen) { constraints_.freeze(frozen); }
  const std::string& explanation() const { return explanation_; }
  std::size_t factorizations() const { return factorizations_ + evaluator_.factorizations(); }

 private:
  Evaluation free_ode(double t, const double* x, double* dx) {
    if (const Evaluation outcome = factor(t, x, dx); outcome != Evaluation::ok) return outcome;
    if (h_.empty()) return Evaluation::ok;
    nearest(constraints_.residual().data());
    for (std::size_t i = 0; i < y_.size(); ++i) dx[i] -= *gain * y_[i];
    return Evaluation::ok;
  }

  Evaluation held_ode(double t, const double* x, double* dx) {
    const auto outcome = static_cast<Evaluation>(evaluator_.ode(t, x, dx));
    if (outcome != Evaluation::ok) return outcome;
    for (std::size_t i = 0; i < held_.size(); ++i) dx[i] -= held_[i];
    return Evaluation::ok;
  }

  /// Evaluates f and factors what is needed for F.
  Evaluation factor(double t, const double* x, double* dx) {
    explanation_.clear();
    const auto outcome = static_cast<Evaluation>(evaluator_.ode(t, x, dx));
    if (outcome != Evaluation::ok || h_.empty()) return outcome;
    if (!constraints_.residuals(t, x) || !constraints_.jacobian(t, x)) {
      explanation_ = "a constraint or its derivative is not a finite number";
      return Evaluation::not_finite;
    }
    if (!solver_ || changes_ != evaluator_.row_changes()) choose_rows();
    if (metric_ == Metric::mass) {
      const double* M = std::as_const(evaluator_).motion().data();
      std::copy_n(M, functions_->mass.nonzeros(), weight_values_.begin());
      std::copy_n(M, functions_->mass.nonzeros(),
                  weight_values_.begin() + static_cast<std::ptrdiff_t>(functions_->mass.nonzeros()));
    }
    ++factorizations_;
    switch (solver_->factor(weight_values_.data(), constraints_.jacobian().data())) {
      case linalg::KktOutcome::regular:
      case linalg::KktOutcome::redundant:
        return Evaluation::ok;
      case linalg::KktOutcome::not_finite:
        explanation_ = "the derivative of a constraint is not a finite number";
        return Evaluation::not_finite;
      case linalg::KktOutcome::singular_mass:
        break;
    }
    explanation_ =
        "the mass matrix does not measure every motion that the holonomic constraints allow, so that there is no "
        "shortest way back to them; metric=euclidean has one";
    return Evaluation::singular;
  }

  /// Constraints that depend on others are left out, as in the equations of motion.
  void choose_rows() {
    changes_ = evaluator_.row_changes();
    std::vector<std::size_t> rows;
    const std::vector<std::size_t> positions = evaluator_.position_rows(), velocities = evaluator_.rows();
    for (std::size_t h = 0; h < functions_->holonomic; ++h)
      if (std::ranges::binary_search(positions, functions_->holonomic_rows[h])) rows.push_back(h);
    for (const std::size_t i : velocities) rows.push_back(functions_->holonomic + i);
    solver_ = std::make_unique<mechanics::RowSolver>(weight_, constraints_.equations().pattern, std::move(rows));
  }

  /// y_ = F h
  void nearest(const double* h) { solver_->solve(no_force_.data(), h, y_.data(), mu_.data(), mu_.size()); }

  std::shared_ptr<const mechanics::Functions> functions_;
  const Metric metric_;
  compile::StateValues constraints_;
  mechanics::Evaluator evaluator_;
  linalg::Sparsity weight_;
  std::unique_ptr<mechanics::RowSolver> solver_;
  std::size_t changes_ = 0, factorizations_ = 0;
  std::vector<double> weight_values_, y_, no_force_, h_, mu_, dx_, held_, before_;
  StepGain step_gain_;
  std::string explanation_;
};

Formulated stabilized(const Equations& equations, integrate::View view, const Options& options) {
  if (equations.dae) {
    if (options.given("metric") || options.given("gain"))
      throw Error("bad-option-value", "the hidden constraints of a DAE are led back with a given gamma, in its nominal values",
                  "leave metric and gain out: ascher-chin-reich:gamma=10");
    return manifold_feedback(equations, options.number("gamma"));
  }
  Formulated result = acceleration_level(equations.motion, {});
  auto running = std::make_shared<Stabilized>(equations.motion,
                                              options.word("metric") == "mass" ? Metric::mass : Metric::euclidean);
  integrate::System& system = result.system;
  system.coordinates = 0;  // q' is not v off the constraints
  system.project = nullptr;
  system.project_error = nullptr;
  evaluate_with(result, running);
  system.explain = [running, inner = system.explain] {
    return running->explanation().empty() ? inner() : running->explanation();
  };
  result.freeze = [running, inner = result.freeze](const double* frozen) {
    running->freeze(frozen);
    inner(frozen);
  };
  result.factorizations = [running] { return running->factorizations(); };
  if (options.word("gain") == "given") {
    running->gain = options.number("gamma");
  } else {
    system.begin_step = [running](double t, const double* x, double h) { return running->begin_step(t, x, h); };
  }
  show_ode(result, view, [running, make = acceleration_jacobian(equations, {}, result)]() -> OdeJacobian {
    return [running, inner = make()](double t, const double* x, double* jacobian) {
      const Evaluation outcome = inner(t, x, jacobian);
      return outcome == Evaluation::ok ? running->add_derivative(t, x, jacobian) : outcome;
    };
  });
  return result;
}

}  // namespace

FormulationEntry formulation_ascher_chin_reich() {
  FormulationEntry entry;
  entry.name = "ascher-chin-reich";
  entry.summary = "a term that leads back to the constraints on the shortest way: x' = f - gamma F h, in positions too";
  entry.citation = "Ascher, Chin, Reich 1994; Di Franco, Scarciotti, Astolfi, (15)-(16)";
  entry.kinds = {"lagrangian", "mechanical", "dae", "linear"};
  entry.reduces = true;
  entry.index = 0;
  entry.views = {integrate::View::ode, integrate::View::implicit, integrate::View::automatic};
  entry.dae_views = {integrate::View::ode};
  entry.options = {
      {"gamma", "rate at which violations decay", 10.0, 0.0},
      {"metric",
       "in which the way is shortest: D = C^T, or D = diag(M^-1, M^-1) C^T",
       std::nullopt,
       0.0,
       0.0,
       {"euclidean", "mass"}},
      {"gain", "gamma as given, or about 1/(2h) for steps of size h", std::nullopt, 0.0, 0.0, {"given", "auto"}},
  };
  entry.make = stabilized;
  return entry;
}

}  // namespace daedalus::formulate
