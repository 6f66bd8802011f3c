// Numbers of constrained motion for one trajectory.
//
//     [ M  G^T ] [ a      ]   [ f     ]
//     [ G   0  ] [ lambda ] = [ gamma ]
//
// Projection in the mass norm: the position correction solves min |dq|_M, G dq = -g, again and again with frozen
// factors (simplified Newton on the true g); the velocity correction is one linear problem with the fresh G, solved
// twice for the last digits.
//
// Constraints that depend on others do so on g = 0 only. A little off it, as in the stages of a step, their rows have
// full rank with a tiny singular value and would stop a motion that they allow. So independent rows are chosen at
// points on the constraints and carry the motion from there; the others are watched, and taken back where they do not
// follow.

#include "daedalus/mechanics/evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "daedalus/base/finite.hpp"

namespace daedalus::mechanics {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

}  // namespace

Evaluator::Evaluator(std::shared_ptr<const Functions> functions, const KktChoice& how)
    : functions_(std::move(functions)),
      how_(how),
      kkt_(functions_->mass, functions_->jacobian),
      auxiliary_lu_(functions_->equations.z.size()),
      auxiliary_newton_(functions_->equations.z.size()) {
  const Functions& fn = *functions_;
  motion_scratch_ = fn.motion.make_scratch();
  geometry_scratch_ = fn.geometry.make_scratch();
  velocity_scratch_ = fn.velocity.make_scratch();
  terms_scratch_ = fn.terms.make_scratch();
  auxiliary_scratch_ = fn.auxiliary.make_scratch();
  energy_scratch_ = fn.energy.make_scratch();
  outputs_scratch_ = fn.outputs.make_scratch();
  pictures_scratch_ = fn.pictures.make_scratch();
  motion_.resize(fn.motion.output_count());
  geometry_.resize(fn.geometry.output_count());
  velocity_.resize(fn.m);
  terms_.resize(fn.terms.output_count());
  auxiliary_.resize(fn.auxiliary.output_count());
  const std::size_t extra = fn.equations.z.size();
  a_.resize(fn.n);
  lambda_.resize(fn.m);
  w_.resize(extra);
  gamma_.resize(fn.m);
  position_residual_.resize(fn.holonomic);
  acceleration_residual_.resize(fn.m);
  acceleration_scale_.resize(fn.m);
  right_q_.resize(fn.n);
  step_q_.resize(fn.n);
  right_m_.resize(fn.m);
  step_m_.resize(fn.m);
  auxiliary_matrix_.resize(extra * extra);
  w_before_.resize(extra);
  position_last_.resize(fn.holonomic);
  position_scale_.resize(fn.holonomic);
  velocity_scale_.resize(fn.m);
  take_all_rows();
}

void Evaluator::take_all_rows() {
  const Functions& fn = *functions_;
  ++row_changes_;
  independent_.reset();
  position_.reset();
  position_active_.assign(fn.holonomic, true);
  if (by_own_formula()) {
    std::vector<std::size_t> all(fn.m);
    std::iota(all.begin(), all.end(), std::size_t{0});
    take_rows(std::move(all), fn.holonomic_rows);
  } else if (fn.holonomic < fn.m && fn.holonomic > 0) {
    position_ = std::make_unique<RowSolver>(fn.mass, fn.jacobian, fn.holonomic_rows);
  }
}

/// Lets these rows carry the motion, and those of them that are holonomic and independent by themselves the positions.
void Evaluator::take_rows(std::vector<std::size_t> all, std::vector<std::size_t> holonomic) {
  const Functions& fn = *functions_;
  ++row_changes_;
  most_rank_ = all.size();
  if (by_pseudoinverse() && all.size() < fn.m) {  // which does not need to know which rows these are
    const std::size_t positions = holonomic.size();
    take_all_rows();
    most_rank_ = all.size();
    independent_->kkt().limit_rank(most_rank_);
    if (position_) position_->kkt().limit_rank(positions);
    return;
  }
  independent_ = std::make_unique<RowSolver>(fn.mass, fn.jacobian, std::move(all), how_);
  if (fn.holonomic == 0) return;
  position_ = std::make_unique<RowSolver>(fn.mass, fn.jacobian, std::move(holonomic), how_);
  for (std::size_t h = 0; h < fn.holonomic; ++h)
    position_active_[h] = std::binary_search(position_->rows().begin(), position_->rows().end(), fn.holonomic_rows[h]);
}

std::vector<std::size_t> Evaluator::rows() const {
  if (independent_) return independent_->rows();
  std::vector<std::size_t> all(functions_->m);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<std::size_t> Evaluator::position_rows() const {
  return position_ ? position_->rows() : functions_->holonomic_rows;
}

bool Evaluator::leaves_rows_out() const { return independent_ && most_rank_ < functions_->m; }

/// Chooses rows after kkt_ found some that depend on others.
void Evaluator::choose_rows(const double* M, const double* G) {
  const Functions& fn = *functions_;
  const auto without = [](const std::vector<std::size_t>& rows, const std::vector<std::size_t>& dependent) {
    std::vector<std::size_t> kept;
    std::set_difference(rows.begin(), rows.end(), dependent.begin(), dependent.end(), std::back_inserter(kept));
    return kept;
  };
  std::vector<std::size_t> all(fn.m);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::size_t> holonomic = fn.holonomic_rows;
  if (fn.holonomic > 0) {
    // A holonomic row may depend on a nonholonomic one, so the holonomic ones are judged by themselves.
    RowSolver judge(fn.mass, fn.jacobian, fn.holonomic_rows);
    if (judge.factor(M, G) == linalg::KktOutcome::redundant) {
      std::vector<std::size_t> dependent;
      for (const std::size_t i : judge.kkt().dependent_rows()) dependent.push_back(fn.holonomic_rows[i]);
      holonomic = without(fn.holonomic_rows, dependent);
    }
  }
  take_rows(without(all, kkt_.dependent_rows()), std::move(holonomic));
}

void Evaluator::choose_like(const Evaluator& other) {
  if (chosen_ || !other.chosen_) return;
  chosen_ = true;
  if (!other.leaves_rows_out()) return;
  take_rows(other.independent_->rows(), other.position_ ? other.position_->rows() : std::vector<std::size_t>{});
}

Outcome Evaluator::not_finite(const std::string& what) {
  explanation_ = what + " is not a finite number";
  return Outcome::not_finite;
}

Outcome Evaluator::solve_auxiliary(double t, const double* x) {
  if (w_.empty()) return Outcome::ok;
  w_before_ = w_;
  const Outcome outcome = newton_for_auxiliary(t, x);
  // A failed trial step must not spoil the guess of the next, shorter one.
  if (outcome != Outcome::ok) w_ = w_before_;
  return outcome;
}

bool Evaluator::evaluate_auxiliary(double t, const double* x, const double* w) {
  const double* inputs[] = {&t, q_of(x), v_of(x), z_of(x), w};
  functions_->auxiliary(inputs, auxiliary_.data(), auxiliary_scratch_, frozen_);
  return all_finite(auxiliary_);
}

Outcome Evaluator::newton_for_auxiliary(double t, const double* x) {
  const Functions& fn = *functions_;
  const std::size_t size = w_.size();
  if (fn.auxiliary_linear) std::fill(w_.begin(), w_.end(), 0.0);  // one step is exact; no memory of the last call
  const linalg::NewtonOutcome outcome = auxiliary_newton_(
      w_, fn.auxiliary_linear,
      [&](const std::vector<double>& w, std::vector<double>& residual) {
        const bool finite = evaluate_auxiliary(t, x, w.data());
        std::copy_n(auxiliary_.begin(), size, residual.begin());
        return finite;
      },
      [&](const std::vector<double>&) {  // at the point of the last evaluation
        std::fill(auxiliary_matrix_.begin(), auxiliary_matrix_.end(), 0.0);
        const linalg::Sparsity& pattern = fn.auxiliary_jacobian;
        for (std::size_t i = 0; i < size; ++i)
          for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
            auxiliary_matrix_[i * size + pattern.column[k]] = auxiliary_[size + k];
        return auxiliary_lu_.factor(auxiliary_matrix_.data());
      },
      [&](std::vector<double>& step) { auxiliary_lu_.solve(step.data()); },
      [&](std::size_t i) { return fn.equations.model->auxiliary[i].nominal; });
  switch (outcome) {
    case linalg::NewtonOutcome::solved:
      return all_finite(w_) ? Outcome::ok : not_finite("an auxiliary unknown");
    case linalg::NewtonOutcome::not_finite:
      return not_finite("an auxiliary equation");
    case linalg::NewtonOutcome::singular: {
      const std::size_t column = auxiliary_lu_.singular_column();
      explanation_ = fmt::format("the [equations] do not determine {}", fn.equations.z_differential[column]
                                                                            ? fn.equations.z_rate[column].name()
                                                                            : fn.equations.z[column].name());
      return Outcome::singular;
    }
    case linalg::NewtonOutcome::no_descent:
      explanation_ = "the algebraic [equations] have no solution near the last one";
      return Outcome::no_convergence;
    case linalg::NewtonOutcome::too_many:
      break;
  }
  explanation_ = fmt::format("the algebraic [equations] were not solved in {} Newton steps", linalg::DampedNewton::most);
  return Outcome::no_convergence;
}

Outcome Evaluator::judge(linalg::KktOutcome outcome, const double* M) {
  switch (outcome) {
    case linalg::KktOutcome::regular:
    case linalg::KktOutcome::redundant:
      return Outcome::ok;
    case linalg::KktOutcome::not_finite:
      return not_finite("the mass matrix or the constraint Jacobian");
    case linalg::KktOutcome::singular_mass:
      explanation_ = "the mass matrix is not positive definite on the motions that the constraints allow" + without_mass(M);
      return Outcome::singular;
  }
  DAEDALUS_CHECK(false, "unknown outcome of a factorization with {} constraints", functions_->m);
}

/// ": the mass of x is not positive" where a diagonal entry is not; of several the smallest.
std::string Evaluator::without_mass(const double* M) const {
  const linalg::Sparsity& pattern = functions_->mass;
  std::size_t lightest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < pattern.rows; ++i) {
    double mass = 0.0;
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      if (pattern.column[k] == i) mass = M[k];
    if (mass < least) {
      least = mass;
      lightest = i;
    }
  }
  if (least > 0.0) return {};
  return fmt::format(": the mass of {} is not positive", functions_->equations.q[lightest].name());
}

/// Factors for accelerations and velocities.
Outcome Evaluator::factor(const double* M, const double* G) {
  ++factorizations_;
  if (!independent_) return judge(kkt_.factor(M, G), M);
  const linalg::KktOutcome outcome = independent_->factor(M, G);
  if (outcome != linalg::KktOutcome::redundant || by_pseudoinverse()) return judge(outcome, M);
  // The chosen rows have become dependent: others are better here.
  const Outcome whole = judge(kkt_.factor(M, G), M);
  if (whole != Outcome::ok || kkt_.rank() == functions_->m) return whole == Outcome::ok ? judge(outcome, M) : whole;
  choose_rows(M, G);
  return judge(independent_->factor(M, G), M);
}

void Evaluator::solve_velocities(const double* f, const double* gamma, double* a, double* lambda) {
  if (independent_)
    independent_->solve(f, gamma, a, lambda, functions_->m);
  else
    kkt_.solve(f, gamma, a, lambda);
}

Outcome Evaluator::accelerations(double t, const double* x, const Feedback& feedback) {
  return solve_motion(t, x, feedback, Multipliers::least);
}

Outcome Evaluator::motion(double t, const double* x) {
  const Functions& fn = *functions_;
  if (const Outcome outcome = solve_auxiliary(t, x); outcome != Outcome::ok) return outcome;
  const double* inputs[] = {&t, q_of(x), v_of(x), z_of(x), w_.data()};
  fn.motion(inputs, motion_.data(), motion_scratch_, frozen_);
  if (all_finite(motion_)) return Outcome::ok;
  const double* f = motion_.data() + fn.mass.nonzeros();
  const double* gamma = f + fn.n + fn.jacobian.nonzeros();
  for (std::size_t i = 0; i < fn.n; ++i)
    if (!std::isfinite(f[i])) return not_finite(fmt::format("the force on {}", fn.equations.q[i].name()));
  for (std::size_t i = 0; i < fn.m; ++i)
    if (!std::isfinite(gamma[i]))
      return not_finite(fmt::format("the second derivative of the constraint '{}'", fn.equations.constraints[i].name));
  return not_finite("the mass matrix or the constraint Jacobian");
}

Outcome Evaluator::solve_motion(double t, const double* x, const Feedback& feedback, Multipliers multipliers) {
  const Functions& fn = *functions_;
  if (const Outcome outcome = motion(t, x); outcome != Outcome::ok) return outcome;
  const double* M = motion_.data();
  const double* f = M + fn.mass.nonzeros();
  const double* G = f + fn.n;
  const double* gamma = G + fn.jacobian.nonzeros();
  bool factored = false;
  if (!chosen_ && fn.m > 0) {  // the first point is the start, which is consistent
    ++factorizations_;
    if (const Outcome outcome = judge(kkt_.factor(M, G), M); outcome != Outcome::ok) return outcome;
    chosen_ = true;
    if (kkt_.rank() < fn.m) choose_rows(M, G);
    factored = !independent_;
  }
  if (!factored)
    if (const Outcome outcome = factor(M, G); outcome != Outcome::ok) return outcome;
  std::copy(gamma, gamma + fn.m, gamma_.begin());
  if (feedback.position != 0.0 || feedback.velocity != 0.0 || feedback.nonholonomic != 0.0) {
    residuals(t, x, position_residual_.data(), velocity_.data());
    for (std::size_t i = 0, h = 0; i < fn.m; ++i) {
      if (fn.equations.constraints[i].holonomic)
        gamma_[i] -= feedback.velocity * velocity_[i] + feedback.position * position_residual_[h++];
      else
        gamma_[i] -= feedback.nonholonomic * velocity_[i];
    }
  }
  for (std::size_t i = 0; i < feedback.held.size(); ++i) gamma_[i] -= feedback.held[i];
  solve_velocities(f, gamma_.data(), a_.data(), lambda_.data());
  if (leaves_rows_out() && !by_pseudoinverse() && multipliers == Multipliers::least) {
    ++factorizations_;
    const linalg::KktOutcome outcome = kkt_.factor(M, G);
    const bool dependent = outcome == linalg::KktOutcome::redundant && kkt_.rank() == independent_->rows().size();
    if (dependent) kkt_.solve(f, gamma_.data(), a_.data(), lambda_.data());
  }
  if (!all_finite(a_) || !all_finite(lambda_)) return not_finite("the acceleration");
  return Outcome::ok;
}

const std::vector<double>& Evaluator::acceleration_residual() {
  const Functions& fn = *functions_;
  const double* G = motion_.data() + fn.mass.nonzeros() + fn.n;
  for (std::size_t i = 0; i < fn.m; ++i) acceleration_residual_[i] = -gamma_[i];
  linalg::multiply_add(fn.jacobian, G, 1.0, a_.data(), acceleration_residual_.data());
  return acceleration_residual_;
}

const std::vector<double>& Evaluator::acceleration_scale() {
  const Functions& fn = *functions_;
  const double* G = motion_.data() + fn.mass.nonzeros() + fn.n;
  for (std::size_t i = 0; i < fn.m; ++i) {
    double scale = std::abs(gamma_[i]);
    for (std::size_t k = fn.jacobian.row_start[i]; k < fn.jacobian.row_start[i + 1]; ++k)
      scale = std::max(scale, std::abs(G[k] * a_[fn.jacobian.column[k]]));
    acceleration_scale_[i] = scale;
  }
  return acceleration_scale_;
}

Outcome Evaluator::ode(double t, const double* x, double* dx, const Feedback& feedback) {
  const Functions& fn = *functions_;
  if (const Outcome outcome = solve_motion(t, x, feedback, Multipliers::any); outcome != Outcome::ok) return outcome;
  std::copy(v_of(x), v_of(x) + fn.n, dx);
  std::copy(a_.begin(), a_.end(), dx + fn.n);
  for (std::size_t i = 0; i < fn.differential.size(); ++i) dx[2 * fn.n + i] = w_[fn.differential[i]];
  return Outcome::ok;
}

Outcome Evaluator::project(double t, double* x) {
  const Outcome outcome = project_positions(t, x);
  return outcome == Outcome::ok ? project_velocities(t, x) : outcome;
}

Outcome Evaluator::project_positions(double t, double* x) {
  const Functions& fn = *functions_;
  if (fn.holonomic == 0) return Outcome::ok;
  double* q = x;
  // Where M is definite only with the help of the nonholonomic constraints, they hold the correction back.
  bool all_rows = !position_;
  bool factored = false;
  std::fill(right_q_.begin(), right_q_.end(), 0.0);
  std::fill(right_m_.begin(), right_m_.end(), 0.0);
  std::fill(position_last_.begin(), position_last_.end(), std::numeric_limits<double>::infinity());
  for (int iteration = 0; iteration < 25; ++iteration) {
    const double* inputs[] = {&t, q};
    fn.geometry(inputs, geometry_.data(), geometry_scratch_, frozen_);
    if (!all_finite(geometry_)) return not_finite("a constraint");
    const double* M = geometry_.data();
    const double* G = M + fn.mass.nonzeros();
    const double* g = G + fn.jacobian.nonzeros();
    // |g| in units of the change of its terms for a change of q in the last digit
    bool exact = true, progress = false, small = true;
    for (std::size_t h = 0; h < fn.holonomic; ++h) {
      if (!position_active_[h]) continue;
      const std::size_t row = fn.holonomic_rows[h];
      double scale = 0.0, slope = 0.0;
      for (std::size_t k = fn.jacobian.row_start[row]; k < fn.jacobian.row_start[row + 1]; ++k) {
        scale += std::abs(G[k] * q[fn.jacobian.column[k]]);
        slope += std::abs(G[k]);
      }
      const double size = std::abs(g[h]);
      // The second bound ends the pursuit of a single vanishing term (z = 0), which has no size of its own.
      if (size > std::max(0.5 * epsilon * scale, 1e-30 * slope)) exact = false;
      if (size > 1e-10 * scale) small = false;
      if (size < 0.5 * position_last_[h] && size > 0.5 * epsilon * scale) progress = true;
      position_last_[h] = size;
    }
    const bool stuck = !progress && iteration > 0;
    if (exact || (stuck && (small || positions_hold(t, x, g, 1e-13)))) {
      if (!leaves_rows_out() || positions_hold(t, x, g, 1e-10)) return Outcome::ok;
      take_all_rows();  // what was left out does not follow here
      return project_positions(t, x);
    }
    if (stuck) factored = false;  // old factors converge too slowly
    if (!factored) {
      ++factorizations_;
      linalg::KktOutcome outcome = linalg::KktOutcome::singular_mass;
      if (!all_rows) {
        outcome = position_->factor(M, G);
        all_rows = outcome == linalg::KktOutcome::singular_mass;
      }
      if (all_rows) outcome = kkt_.factor(M, G);
      if (outcome != linalg::KktOutcome::regular && outcome != linalg::KktOutcome::redundant) {
        explanation_ = "the constraints cannot be solved for a correction of the positions";
        return Outcome::singular;
      }
      factored = true;
    }
    for (std::size_t h = 0; h < fn.holonomic; ++h) right_m_[fn.holonomic_rows[h]] = -g[h];
    if (all_rows)
      kkt_.solve(right_q_.data(), right_m_.data(), step_q_.data(), step_m_.data());
    else
      position_->solve(right_q_.data(), right_m_.data(), step_q_.data(), step_m_.data(), fn.m);
    for (std::size_t j = 0; j < fn.n; ++j) q[j] += step_q_[j];
  }
  explanation_ = "the projection onto the position constraints did not converge";
  return Outcome::no_convergence;
}

/// Whether g is small beside its own terms: near q = 0 these may be much larger than G q, as in x^2 + (y - l)^2 - l^2.
bool Evaluator::positions_hold(double t, const double* x, const double* g, double tolerance) {
  residual_scales(t, x, position_scale_.data(), velocity_scale_.data());
  for (std::size_t h = 0; h < position_scale_.size(); ++h)
    if (!(std::abs(g[h]) <= tolerance * position_scale_[h])) return false;
  return true;
}

Outcome Evaluator::project_velocities(double t, double* x) {
  const Functions& fn = *functions_;
  if (fn.m == 0) return Outcome::ok;
  const double* position_inputs[] = {&t, q_of(x)};
  fn.geometry(position_inputs, geometry_.data(), geometry_scratch_, frozen_);
  if (!all_finite(geometry_)) return not_finite("a constraint");
  const double* M = geometry_.data();
  const double* G = M + fn.mass.nonzeros();
  if (const Outcome outcome = factor(M, G); outcome != Outcome::ok) return outcome;
  std::fill(right_q_.begin(), right_q_.end(), 0.0);
  double* v = x + fn.n;
  double last = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 5; ++iteration) {
    const double* inputs[] = {&t, q_of(x), v};
    fn.velocity(inputs, velocity_.data(), velocity_scratch_, frozen_);
    double size = 0.0;
    for (const double residual : velocity_) size = std::max(size, std::abs(residual));
    if (!std::isfinite(size)) return not_finite("a velocity constraint");
    if (size == 0.0 || size >= 0.5 * last) break;
    last = size;
    for (std::size_t i = 0; i < fn.m; ++i) right_m_[i] = -velocity_[i];
    solve_velocities(right_q_.data(), right_m_.data(), step_q_.data(), step_m_.data());
    for (std::size_t j = 0; j < fn.n; ++j) v[j] += step_q_[j];
  }
  const linalg::KktSolver& used = independent_ ? independent_->kkt() : kkt_;
  if (!leaves_rows_out() && used.rank() == fn.m) return Outcome::ok;
  if (velocities_hold(t, x)) return Outcome::ok;
  if (!leaves_rows_out()) return Outcome::no_convergence;
  take_all_rows();  // what was left out does not follow here
  return project_velocities(t, x);
}

/// Whether dependent constraints, left out or satisfied in the least-squares sense, hold with the others.
bool Evaluator::velocities_hold(double t, const double* x) {
  const Functions& fn = *functions_;
  residual_scales(t, x, position_scale_.data(), velocity_scale_.data());
  for (std::size_t i = 0; i < fn.m; ++i) {
    double slope = 0.0;
    for (std::size_t k = fn.jacobian.row_start[i]; k < fn.jacobian.row_start[i + 1]; ++k)
      slope += std::abs(geometry_[fn.mass.nonzeros() + k]);
    if (std::abs(velocity_[i]) <= 1e-8 * std::max(velocity_scale_[i], 1e-4 * slope)) continue;
    explanation_ =
        fmt::format("the constraint '{}' contradicts the others on velocity level", fn.equations.constraints[i].name);
    return false;
  }
  return true;
}

void Evaluator::project_error(double* error) {
  const Functions& fn = *functions_;
  if (fn.m == 0) return;
  const double* M = motion_.data();
  const double* G = M + fn.mass.nonzeros() + fn.n;
  std::fill(right_m_.begin(), right_m_.end(), 0.0);
  const auto momentum = [&](const double* e) {
    std::fill(right_q_.begin(), right_q_.end(), 0.0);
    linalg::multiply_add(fn.mass, M, 1.0, e, right_q_.data());
    return right_q_.data();
  };
  double* velocities = error + fn.n;
  solve_velocities(momentum(velocities), right_m_.data(), velocities, step_m_.data());
  // Nonholonomic constraints do not bind positions.
  if (fn.holonomic == fn.m) {
    solve_velocities(momentum(error), right_m_.data(), error, step_m_.data());
  } else if (position_) {
    ++factorizations_;
    const linalg::KktOutcome outcome = position_->factor(M, G);
    if (outcome == linalg::KktOutcome::regular || outcome == linalg::KktOutcome::redundant)
      position_->solve(momentum(error), right_m_.data(), error, step_m_.data(), fn.m);
  }
}

void Evaluator::residuals(double t, const double* x, double* position, double* velocity) {
  const Functions& fn = *functions_;
  const double* position_inputs[] = {&t, q_of(x)};
  fn.geometry(position_inputs, geometry_.data(), geometry_scratch_, frozen_);
  std::copy(geometry_.end() - static_cast<std::ptrdiff_t>(fn.holonomic), geometry_.end(), position);
  const double* inputs[] = {&t, q_of(x), v_of(x)};
  fn.velocity(inputs, velocity, velocity_scratch_, frozen_);
}

void Evaluator::residual_scales(double t, const double* x, double* position, double* velocity) {
  const Functions& fn = *functions_;
  const double* inputs[] = {&t, q_of(x), v_of(x)};
  fn.terms(inputs, terms_.data(), terms_scratch_, frozen_);
  const auto largest = [&](const std::vector<std::size_t>& start, double* to) {
    for (std::size_t i = 0; i + 1 < start.size(); ++i) {
      to[i] = 0.0;
      for (std::size_t k = start[i]; k < start[i + 1]; ++k) to[i] = std::max(to[i], std::abs(terms_[k]));
    }
  };
  largest(fn.position_term_start, position);
  largest(fn.velocity_term_start, velocity);
}

double Evaluator::violation(double t, const double* x) {
  residuals(t, x, position_residual_.data(), velocity_.data());
  residual_scales(t, x, position_scale_.data(), velocity_scale_.data());
  double largest = 0.0;
  const auto look = [&](const std::vector<double>& residual, const std::vector<double>& scale) {
    for (std::size_t i = 0; i < residual.size(); ++i)
      if (residual[i] != 0.0) largest = std::max(largest, std::abs(residual[i]) / scale[i]);
  };
  look(position_residual_, position_scale_);
  look(velocity_, velocity_scale_);
  return largest;
}

Evaluator::Energy Evaluator::energy(double t, const double* x) {
  const double* inputs[] = {&t, q_of(x), v_of(x), z_of(x), w_.data()};
  double parts[2] = {0.0, 0.0};
  functions_->energy(inputs, parts, energy_scratch_, frozen_);
  return {parts[0], parts[1]};
}

void Evaluator::outputs(double t, const double* x, double* values) {
  const double* inputs[] = {&t, q_of(x), v_of(x), z_of(x), w_.data(), a_.data(), lambda_.data()};
  functions_->outputs(inputs, values, outputs_scratch_, frozen_);
}

void Evaluator::pictures(double t, const double* x, double* values) {
  const double* inputs[] = {&t, q_of(x), v_of(x), z_of(x), w_.data(), a_.data(), lambda_.data()};
  functions_->pictures(inputs, values, pictures_scratch_, frozen_);
}

}  // namespace daedalus::mechanics
