// Baumgarte's stabilization: g'' = 0 is replaced by
//     g'' + 2 alpha g' + beta^2 g = 0,     with alpha = xi omega, beta = omega as in (4.17) of the notes 000,
// so that a violation decays. A nonholonomic constraint c = 0 is replaced by c' + alpha c = 0. ((4.21), (4.22) of the
// notes drop one of the two mixed terms of rheonomic constraints; gamma here has both.) For DAEs, their hidden constraints
// of any order and their [invariants], see invariant_feedback.cpp.
//
// The gains may be given by the poles s of s^2 + 2 alpha s + beta^2 = (s - p1)(s - p2), as the lecture 003 does:
//     2 alpha = -(p1 + p2),   beta^2 = p1 p2;        for a pair p +- i w:   alpha = -p,   beta^2 = p^2 + w^2.
//
// Automatic gains follow the step size h,
//     g'' = -2 alpha g' - alpha beta g,     alpha about 1/(2h), beta = min(alpha, 4 |g'|/|g|), sizes by their largest
//     terms,
// and the right side is taken at the start of a step and held to its end. As a function of the state it would multiply
// the errors of inner stages, which are of low order, by (alpha h)^2: on the pendulum of the notes at rtol = 1e-9 the
// steps of dop853 then fall from 0.1 to 1e-15. With beta = alpha a violation g of the size of an error would become a
// rate g/h.

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <memory>

#include "daedalus/base/text.hpp"
#include "daedalus/formulate/explicit_motion.hpp"
#include "daedalus/formulate/implicit_motion.hpp"
#include "daedalus/formulate/invariant_feedback.hpp"
#include "daedalus/formulate/step_gain.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

constexpr const char* ways =
    "give poles with negative real parts, as in baumgarte:pole1=-5,pole2=-8 or baumgarte:pole1=-5,imaginary=3";

mechanics::Feedback feedback(double alpha, double beta_squared) { return {beta_squared, 2.0 * alpha, alpha}; }

mechanics::Feedback feedback_of_poles(const Options& options) {
  if (!options.given("pole1"))
    throw Error("bad-option-value", "baumgarte needs pole1 where pole2 or imaginary is given", ways);
  const double p1 = options.number("pole1");
  if (options.given("imaginary")) {
    if (options.given("pole2")) throw Error("bad-option-value", "baumgarte takes pole2 or imaginary, not both", ways);
    const double w = options.number("imaginary");
    return feedback(-p1, p1 * p1 + w * w);
  }
  const double p2 = options.given("pole2") ? options.number("pole2") : p1;
  return feedback(-0.5 * (p1 + p2), p1 * p2);
}

bool any_given(const Options& options, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (options.given(name)) return true;
  return false;
}

mechanics::Feedback feedback_of(const Options& options) {
  const bool gains = any_given(options, {"alpha", "beta"}), oscillator = any_given(options, {"omega", "xi"}),
             poles = any_given(options, {"pole1", "pole2", "imaginary"});
  if (int(gains) + int(oscillator) + int(poles) > 1)
    throw Error("bad-option-value", "baumgarte takes alpha and beta, or omega and xi, or poles, not several of them",
                "write baumgarte:alpha=5,beta=5 or baumgarte:omega=5,xi=1 or baumgarte:pole1=-5,pole2=-5");
  if (poles) {
    for (const char* name : {"pole1", "pole2"})
      if (options.given(name) && !(options.number(name) < 0.0))
        throw Error("bad-option-value",
                    fmt::format("baumgarte: with {} = {} a violation of the constraints would not decay", name,
                                shortest(options.number(name))),
                    ways);
    return feedback_of_poles(options);
  }
  if (!gains) {
    const double omega = options.number("omega");
    return feedback(options.number("xi") * omega, omega * omega);
  }
  // One of the two alone has the critically damped partner.
  const double alpha = options.number(options.given("alpha") ? "alpha" : "beta");
  const double beta = options.number(options.given("beta") ? "beta" : "alpha");
  return feedback(alpha, beta * beta);
}

/// The ODE with gains that follow the step size.
class HeldFeedback {
 public:
  explicit HeldFeedback(std::shared_ptr<const mechanics::Functions> functions)
      : functions_(std::move(functions)), evaluator_(functions_) {
    velocity_.resize(functions_->m);
    position_.resize(functions_->holonomic);
    position_scale_ = position_;
    before_ = velocity_scale_ = feedback_.held = velocity_;
  }

  Evaluation ode(double t, const double* x, double* dx) {
    return static_cast<Evaluation>(evaluator_.ode(t, x, dx, feedback_));
  }

  bool begin_step(double t, const double* x, double h) {
    gain_.follow(t, h);
    const double alpha = gain_.value();
    evaluator_.residuals(t, x, position_.data(), velocity_.data());
    evaluator_.residual_scales(t, x, position_scale_.data(), velocity_scale_.data());
    before_.swap(feedback_.held);
    for (std::size_t i = 0, p = 0; i < functions_->m; ++i) {
      if (!functions_->equations.constraints[i].holonomic) {
        feedback_.held[i] = alpha * velocity_[i];
        continue;
      }
      const double rate = position_scale_[p] > 0.0 ? velocity_scale_[i] / position_scale_[p] : 0.0;
      const double beta = std::min(alpha, hurry * rate);
      feedback_.held[i] = alpha * (2.0 * velocity_[i] + beta * position_[p++]);
    }
    return before_ != feedback_.held;
  }

  mechanics::Evaluator& evaluator() { return evaluator_; }

 private:
  /// How much faster than the motion a wrong position is led back. A step of size h turns a violation g into a rate
  /// alpha beta h g; this keeps the rate as small in units of its terms as g is in units of its own.
  static constexpr double hurry = 4.0;

  std::shared_ptr<const mechanics::Functions> functions_;
  mechanics::Evaluator evaluator_;
  mechanics::Feedback feedback_;
  StepGain gain_;
  std::vector<double> position_, velocity_, position_scale_, velocity_scale_, before_;
};

/// What is shown of a state is the motion without feedback. To implicit methods, too, this is an ODE; what is held has
/// no derivative.
Formulated with_automatic_gains(const Equations& equations, integrate::View view) {
  Formulated result = acceleration_level(equations.motion, {});
  auto running = std::make_shared<HeldFeedback>(equations.motion);
  evaluate_with(result, running);
  result.system.begin_step = [running](double t, const double* x, double h) { return running->begin_step(t, x, h); };
  show_ode(result, view, acceleration_jacobian(equations, {}, result));
  return result;
}

}  // namespace

FormulationEntry formulation_baumgarte() {
  FormulationEntry entry;
  entry.name = "baumgarte";
  entry.summary = "constraint violations decay like a damped oscillator: g'' + 2 alpha g' + beta^2 g = 0";
  entry.citation = "Baumgarte 1972; Bertolazzi, Cocetti, Stocco: DAE notes, (4.17)-(4.23); Gros: lecture 11";
  entry.kinds = {"lagrangian", "mechanical", "dae", "linear"};
  entry.reduces = true;
  entry.keeps_invariants_of = {"dae", "linear"};
  entry.index = 1;
  entry.views = {integrate::View::ode, integrate::View::second_order, integrate::View::implicit,
                 integrate::View::automatic};
  entry.dae_views = {integrate::View::ode};
  entry.options = {
      {"alpha", "half the damping of the constraint equation; default xi*omega", std::nullopt, 0.0},
      {"beta", "its natural frequency; default omega", std::nullopt, 0.0},
      {"omega", "natural frequency of the constraint equation", 10.0, 0.0},
      {"xi", "damping ratio of the constraint equation; 1 is critical", 1.0, 0.0},
      {"pole1", "a pole of the constraint equation, negative; instead of gains", std::nullopt},
      {"pole2", "its other pole, negative; default pole1", std::nullopt},
      {"imaginary", "imaginary part: the poles are pole1 +- i imaginary", std::nullopt, 0.0},
      {"gains", "as given, or alpha about 1/(2h) for steps of size h", std::nullopt, 0.0, 0.0, {"given", "auto"}},
  };
  entry.make = [](const Equations& equations, integrate::View view, const Options& options) {
    const bool automatic = options.word("gains") == "auto";
    if (automatic && any_given(options, {"alpha", "beta", "omega", "xi", "pole1", "pole2", "imaginary"}))
      throw Error("bad-option-value", "baumgarte finds its gains itself with gains=auto, and takes none then",
                  "leave gains=auto or the other options out");
    if (equations.dae) {
      if (automatic || any_given(options, {"pole2", "imaginary"}))
        throw Error("bad-option-value", "what a DAE keeps decays with one rate: baumgarte takes alpha, omega or pole1 for it",
                    "write baumgarte:alpha=5");
      return invariant_feedback(equations, feedback_of(options).nonholonomic);
    }
    Formulated result =
        automatic ? with_automatic_gains(equations, view) : in_view(equations, view, feedback_of(options));
    result.system.project = nullptr;
    result.system.project_error = nullptr;
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
