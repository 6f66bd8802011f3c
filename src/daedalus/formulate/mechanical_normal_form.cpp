// The normal form of constrained motion (Proposition 1 of Di Franco, Scarciotti, Astolfi, with any number of constraints,
// M(q, t) and constraints that depend on time). With q = (q_D, q_I) parted by pivoting, G = [G_D G_I], and
// N = [-G_D^-1 G_I; I]:
//     xi = (g, G v + g_t),   eta = (q_I, N^T M v, z_d).
// N^T M v satisfies L_g eta = 0: the reactions M^-1 G^T lambda do not change it, N^T G^T = 0. With nu from
// (M v - G^T nu)_D = 0 it is P_I of P = M v - G^T nu; its derivative is
//     d(N^T M v)[dq, dv] = N^T (P_q dq + M dv),
// and along the motion N^T B with B = f + dP/dt at fixed v and nu. So x' of given rates is one system with G_D and one KKT
// system,
//     q' = v + d,   G d = xi1' - xi2,  d_I = 0;      v' = a + e,   G e = xi2' - (G v + g_t)_q d,   M e + G^T mu = -P_q d,
// and the derivatives of eta' by xi are the same systems with unit right sides. The paper's own choice eta = (q_I, v_I)
// has e_I = 0 instead of the last equation; it violates L_g eta = 0, and differs off the constraints.

#include "daedalus/formulate/mechanical_normal_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "daedalus/base/finite.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/formulate/coordinate_metric.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;
using linalg::multiply_add;
using mechanics::Completion;
using mechanics::Functions;

namespace {

/// Newton's method must at least halve its corrections: beyond that it may find another branch of the constraints.
constexpr double contraction = 0.5;
constexpr int most_iterations = 20;
/// Corrections below this part of the coordinates are followed by one of their square, below round-off.
constexpr double nearly = 1e-9;
/// Beyond this tilt other coordinates are looked for. Pivoting leaves about 1. Gains rise with powers of it: with 3 and 2 a chain of
/// 20 links took twice the steps, and other models 7 % more evaluations.
constexpr double least_limit = 2.0, growth = 1.5;

}  // namespace

MechanicalNormalForm::MechanicalNormalForm(std::shared_ptr<const Functions> functions, Completion completion)
    : functions_(std::move(functions)),
      completion_(completion),
      own_(mechanics::compile_normal_functions(*functions_, completion)),
      evaluator_(functions_),
      position_(functions_->jacobian),
      velocity_(functions_->jacobian),
      geometry_scratch_(functions_->geometry.make_scratch()),
      velocity_scratch_(functions_->velocity.make_scratch()),
      shape_scratch_(own_.shape.make_scratch()),
      load_scratch_(own_.load.make_scratch()),
      load_slope_scratch_(own_.load_slope.make_scratch()),
      auxiliary_scratch_(functions_->auxiliary.make_scratch()),
      auxiliary_slope_scratch_(own_.auxiliary_slope.make_scratch()),
      auxiliary_lu_(functions_->equations.z.size()) {
  const Functions& fn = *functions_;
  const std::size_t n = fn.n, m = fn.m, extra = fn.equations.z.size();
  geometry_.resize(fn.geometry.output_count());
  at_.resize(n + 1);
  residual_.resize(m);
  shape_.resize(own_.shape.output_count());
  load_.resize(n);
  load_slope_.resize(own_.load_slope.output_count());
  auxiliary_.resize(fn.auxiliary.output_count());
  auxiliary_slope_.resize(own_.auxiliary_slope.output_count());
  for (auto* vector : {&scale_, &right_n_, &dq_, &dv_, &y_}) vector->resize(n);
  for (auto* vector : {&nu_, &rho_, &right_m_, &mu_}) vector->resize(m);
  excess_.resize(2 * m);
  position_scale_.resize(fn.holonomic);
  velocity_scale_.resize(m);
  position_before_.reserve(n);
  velocity_before_.reserve(n);
  direction_.resize(2 * n + extra + m);
  image_.resize(n + m);
  x_.resize(fn.dimension());
  auxiliary_matrix_.resize(extra * extra);
  dw_.resize(extra);
  std::vector<expr::Expr> positions;
  for (const mechanics::Constraint& constraint : fn.equations.constraints)
    if (constraint.holonomic) positions.push_back(constraint.position);
  moves_with_time_ = std::ranges::count(expr::dependence(positions, {fn.equations.t.id()}), true) > 0;
}

void MechanicalNormalForm::freeze(const double* frozen) {
  frozen_ = frozen;
  evaluator_.freeze(frozen);
  geometry_known_ = false;
}

Evaluation MechanicalNormalForm::fail(Evaluation outcome, std::string explanation) {
  explanation_ = std::move(explanation);
  return outcome;
}

std::string MechanicalNormalForm::names(const std::vector<std::size_t>& coordinates) const {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(coordinates.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + functions_->equations.q[coordinates[i]].name();
  if (coordinates.size() > most) text += fmt::format(" and {} more", coordinates.size() - most);
  return text;
}

std::vector<std::string> MechanicalNormalForm::xi_names() const {
  const auto& constraints = functions_->equations.constraints;
  std::vector<std::string> result;
  for (const std::size_t row : position_.rows()) result.push_back(constraints[row].name);
  for (const std::size_t row : velocity_.rows())
    result.push_back(constraints[row].holonomic ? "der(" + constraints[row].name + ")" : constraints[row].name);
  return result;
}

std::vector<std::string> MechanicalNormalForm::eta_names() const {
  const mechanics::Equations& eq = functions_->equations;
  std::vector<std::string> result;
  for (const std::size_t j : position_.independent()) result.push_back(eq.q[j].name());
  for (const std::size_t j : velocity_.independent())
    result.push_back(momentum() ? "momentum(" + eq.q[j].name() + ")" : eq.v[j].name());
  for (const std::size_t i : functions_->differential) result.push_back(eq.z[i].name());
  return result;
}

/// Takes the constraints that carry the motion.
Evaluation MechanicalNormalForm::take_rows(double t, const double* x) {
  if (const auto outcome = static_cast<Evaluation>(evaluator_.accelerations(t, x)); outcome != Evaluation::ok)
    return fail(outcome, evaluator_.explain());
  if (kkt_ && changes_ == evaluator_.row_changes()) return Evaluation::ok;
  changes_ = evaluator_.row_changes();
  set_rows(evaluator_.position_rows(), evaluator_.rows());
  return Evaluation::ok;
}

void MechanicalNormalForm::set_rows(std::vector<std::size_t> positions, std::vector<std::size_t> velocities) {
  position_.set_rows(std::move(positions));
  velocity_.set_rows(std::move(velocities));
  kkt_ = std::make_unique<mechanics::RowSolver>(functions_->mass, functions_->jacobian, velocity_.rows());
  level_.assign(position_.rows().size(), 0);
  level_.resize(position_.rows().size() + velocity_.rows().size(), 1);
  geometry_known_ = false;
}

void MechanicalNormalForm::choose_as(const MechanicalNormalForm& other) {
  if (!kkt_ || velocity_.rows() != other.velocity_.rows() || position_.rows() != other.position_.rows())
    set_rows(other.position_.rows(), other.velocity_.rows());
  position_.choose_as(other.position_);
  velocity_.choose_as(other.velocity_);
  geometry_known_ = false;
}

/// Chooses for the geometry at (t, q); false where the constraints depend on each other there. A trial beyond 0 measures every
/// coordinate up to four times larger or smaller.
bool MechanicalNormalForm::pick(double t, const double* q, unsigned trial) {
  const double* inputs[] = {&t, q};
  functions_->geometry(inputs, geometry_.data(), geometry_scratch_, frozen_);
  geometry_known_ = false;
  if (!all_finite(geometry_)) return false;
  find_scale();
  if (trial > 0) {
    std::mt19937 random(trial);
    for (double& s : scale_) s *= std::exp2(std::uniform_real_distribution<double>(-2.0, 2.0)(random));
  }
  return position_.choose(G(), scale_.data()) && velocity_.choose(G(), scale_.data());
}

void MechanicalNormalForm::find_scale() {
  coordinate_metric(*functions_, velocity_.rows(), M(), G(), scale_);
  for (double& s : scale_) s = std::sqrt(s);
}

Evaluation MechanicalNormalForm::choose(double t, const double* x) {
  if (const Evaluation outcome = take_rows(t, x); outcome != Evaluation::ok) return outcome;
  if (!pick(t, x)) return fail(Evaluation::singular, "the constraints cannot be solved for any of the coordinates");
  return geometry(t, x);
}

Evaluation MechanicalNormalForm::choose_on_constraints(double t, const double* x) {
  std::copy_n(x, x_.size(), x_.begin());
  if (!approach(t, x_.data())) return fail(Evaluation::no_convergence, "no point of the constraints was found near");
  return choose_as_at(t, x_.data(), x);
}

Evaluation MechanicalNormalForm::choose_as_at(double t, const double* there, const double* x) {
  if (!pick(t, there)) return fail(Evaluation::singular, "the constraints cannot be solved for any of the coordinates");
  return geometry(t, x);
}

Evaluation MechanicalNormalForm::choose_by_trial(double t, const double* x, unsigned trial) {
  if (!pick(t, x, trial)) return fail(Evaluation::singular, "the constraints cannot be solved for any of the coordinates");
  return geometry(t, x);
}

/// Gauss-Newton steps of least change, halved until the violation falls; nearer than round-off of a choice needs none.
bool MechanicalNormalForm::approach(double t, double* q) {
  constexpr int most_steps = 50, most_halvings = 10;
  constexpr double near = 1e-6;  // of the first violation
  const Functions& fn = *functions_;
  const auto violation = [&] {
    const double* inputs[] = {&t, q};
    fn.geometry(inputs, geometry_.data(), geometry_scratch_, frozen_);
    geometry_known_ = kkt_factored_ = false;
    double sum = 0.0;
    for (std::size_t h = 0; h < fn.holonomic; ++h) right_m_[fn.holonomic_rows[h]] = g()[h];
    for (const std::size_t row : position_.rows()) sum += right_m_[row] * right_m_[row];
    return all_finite(geometry_) ? std::sqrt(sum) : std::numeric_limits<double>::infinity();
  };
  double now = violation();
  const double first = now;
  for (int step = 0; step < most_steps && now > near * first; ++step) {
    if (factor_kkt() != Evaluation::ok) return false;
    std::ranges::fill(right_n_, 0.0);
    std::ranges::fill(right_m_, 0.0);
    for (std::size_t h = 0; h < fn.holonomic; ++h) right_m_[fn.holonomic_rows[h]] = -g()[h];
    kkt_->solve(right_n_.data(), right_m_.data(), dq_.data(), mu_.data(), mu_.size());
    std::copy_n(q, fn.n, y_.begin());
    double share = 1.0, next = now;
    for (int halving = 0; halving < most_halvings && !(next < now); ++halving, share *= 0.5) {
      for (std::size_t j = 0; j < fn.n; ++j) q[j] = y_[j] + share * dq_[j];
      next = violation();
    }
    if (!(next < now)) return false;
    now = next;
  }
  return std::isfinite(now) && now <= near * first;
}

double MechanicalNormalForm::tilt() {
  return std::max(position_.tilt(G(), scale_.data()), velocity_.tilt(G(), scale_.data()));
}

double MechanicalNormalForm::condition(double t, const double* x) {
  if (geometry(t, x) != Evaluation::ok) return std::numeric_limits<double>::infinity();
  find_scale();
  return tilt();
}

double MechanicalNormalForm::limit(double condition) { return std::max(least_limit, growth * condition); }

void MechanicalNormalForm::remember() {
  position_before_.assign(position_.dependent().begin(), position_.dependent().end());
  velocity_before_.assign(velocity_.dependent().begin(), velocity_.dependent().end());
  changes_before_ = changes_;
}

bool MechanicalNormalForm::is_remembered() const {
  return changes_ == changes_before_ && position_before_ == position_.dependent() && velocity_before_ == velocity_.dependent();
}

bool MechanicalNormalForm::recall() {
  if (changes_ != changes_before_) return false;
  position_.take(position_before_);
  velocity_.take(velocity_before_);
  geometry_known_ = false;
  return true;
}

Evaluation MechanicalNormalForm::geometry(double t, const double* q) {
  const std::size_t n = functions_->n;
  if (geometry_known_ && at_[0] == t && std::equal(q, q + n, at_.begin() + 1)) return Evaluation::ok;
  geometry_known_ = kkt_factored_ = false;
  const double* inputs[] = {&t, q};
  functions_->geometry(inputs, geometry_.data(), geometry_scratch_, frozen_);
  if (!all_finite(geometry_)) return fail(Evaluation::not_finite, "a constraint or a mass is not a finite number");
  ++factorizations_;
  if (!position_.factor(G()) || !velocity_.factor(G()))
    return fail(Evaluation::singular, "the constraints cannot be solved for " + names(velocity_.dependent()));
  at_[0] = t;
  std::copy_n(q, n, at_.begin() + 1);
  geometry_known_ = true;
  return Evaluation::ok;
}

Evaluation MechanicalNormalForm::factor_kkt() {
  if (kkt_factored_) return Evaluation::ok;
  ++factorizations_;
  const linalg::KktOutcome outcome = kkt_->factor(M(), G());
  if (outcome == linalg::KktOutcome::not_finite) return fail(Evaluation::not_finite, "a mass is not a finite number");
  if (outcome != linalg::KktOutcome::regular)
    return fail(Evaluation::singular, "the mass matrix is singular along motions that the constraints allow, or constraints "
                                      "depend on each other");
  kkt_factored_ = true;
  return Evaluation::ok;
}

Evaluation MechanicalNormalForm::shape(double t, const double* x) {
  const std::size_t n = functions_->n;
  if (const Evaluation outcome = geometry(t, x); outcome != Evaluation::ok) return outcome;
  if (momentum()) {
    if (const Evaluation outcome = factor_kkt(); outcome != Evaluation::ok) return outcome;
    std::ranges::fill(right_n_, 0.0);
    multiply_add(functions_->mass, M(), 1.0, x + n, right_n_.data());
    velocity_.eliminate(G(), right_n_.data(), y_.data(), nu_.data());
  }
  const double* inputs[] = {&t, x, x + n, nu_.data()};
  own_.shape(inputs, shape_.data(), shape_scratch_, frozen_);
  return all_finite(shape_) ? Evaluation::ok : fail(Evaluation::not_finite, "the derivative of a constraint is not a finite number");
}

Evaluation MechanicalNormalForm::reduce(double t, const double* x, double* xi, double* eta) {
  const Functions& fn = *functions_;
  const std::size_t n = fn.n;
  if (const Evaluation outcome = geometry(t, x); outcome != Evaluation::ok) return outcome;
  const double* inputs[] = {&t, x, x + n};
  fn.velocity(inputs, residual_.data(), velocity_scratch_, frozen_);
  for (std::size_t h = 0; h < fn.holonomic; ++h) right_m_[fn.holonomic_rows[h]] = g()[h];
  for (const std::size_t row : position_.rows()) *xi++ = right_m_[row];
  for (const std::size_t row : velocity_.rows()) *xi++ = residual_[row];
  for (const std::size_t j : position_.independent()) *eta++ = x[j];
  if (momentum()) {
    std::ranges::fill(right_n_, 0.0);
    multiply_add(fn.mass, M(), 1.0, x + n, right_n_.data());
    velocity_.eliminate(G(), right_n_.data(), eta, nu_.data());
  } else {
    for (std::size_t k = 0; k < velocity_.independent().size(); ++k) eta[k] = x[n + velocity_.independent()[k]];
  }
  std::copy_n(x + 2 * n, fn.differential.size(), eta + velocity_.independent().size());
  return all_finite(residual_) ? Evaluation::ok : fail(Evaluation::not_finite, "a constraint is not a finite number");
}

Evaluation MechanicalNormalForm::expand(double t, const double* xi, const double* eta, double* x) {
  const Functions& fn = *functions_;
  const std::size_t n = fn.n;
  double size = 0.0;
  for (const std::size_t j : position_.independent()) x[j] = *eta++;
  for (std::size_t j = 0; j < n; ++j) size = std::max(size, std::abs(x[j]));
  if (size == 0.0) size = 1.0;
  double last = 0.0;
  for (int iteration = 0;; ++iteration) {
    if (const Evaluation outcome = geometry(t, x); outcome != Evaluation::ok) return outcome;
    for (std::size_t h = 0; h < fn.holonomic; ++h) right_m_[fn.holonomic_rows[h]] = g()[h];
    for (std::size_t i = 0; i < positions(); ++i) excess_[i] = xi[i] - right_m_[position_.rows()[i]];
    position_.lead(excess_.data(), dq_.data());
    double step = 0.0;
    for (const std::size_t j : position_.dependent()) step = std::max(step, std::abs(dq_[j]));
    if (!std::isfinite(step)) return fail(Evaluation::not_finite, "a dependent coordinate is not a finite number");
    if (step <= 1e-15 * size) break;  // the geometry is that of x
    const bool stalls = iteration == most_iterations || (iteration > 0 && step > contraction * last);
    if (stalls && iteration > 0 && (last <= 1e-12 * size || is_round_off(t, x))) break;
    if (stalls)
      return fail(Evaluation::no_convergence, "the constraints cannot be solved for " + names(position_.dependent()));
    for (const std::size_t j : position_.dependent()) x[j] += dq_[j];
    if (iteration > 0 && step <= nearly * size && step * step <= 1e-16 * size * last) {
      if (const Evaluation outcome = geometry(t, x); outcome != Evaluation::ok) return outcome;
      break;
    }
    last = step;
  }
  xi += positions();
  double* v = x + n;
  std::fill_n(v, n, 0.0);
  if (!momentum())
    for (std::size_t k = 0; k < velocity_.independent().size(); ++k) v[velocity_.independent()[k]] = eta[k];
  const double* inputs[] = {&t, x, v};
  fn.velocity(inputs, residual_.data(), velocity_scratch_, frozen_);
  if (momentum()) {
    if (const Evaluation outcome = factor_kkt(); outcome != Evaluation::ok) return outcome;
    std::ranges::fill(right_n_, 0.0);
    for (std::size_t k = 0; k < velocity_.independent().size(); ++k) right_n_[velocity_.independent()[k]] = eta[k];
    for (std::size_t i = 0; i < velocity_.rows().size(); ++i)
      right_m_[velocity_.rows()[i]] = xi[i] - residual_[velocity_.rows()[i]];
    kkt_->solve(right_n_.data(), right_m_.data(), v, mu_.data(), mu_.size());
  } else {
    for (std::size_t i = 0; i < velocity_.rows().size(); ++i) excess_[i] = xi[i] - residual_[velocity_.rows()[i]];
    velocity_.lead(excess_.data(), dv_.data());
    for (const std::size_t j : velocity_.dependent()) v[j] = dv_[j];
  }
  std::copy_n(eta + velocity_.independent().size(), fn.differential.size(), x + 2 * n);
  return all_finite(x, states()) ? Evaluation::ok : fail(Evaluation::not_finite, "a velocity is not a finite number");
}

/// Whether the residuals in excess_ are nothing beside the terms of their constraints, which may be much larger than q.
bool MechanicalNormalForm::is_round_off(double t, const double* x) {
  evaluator_.residual_scales(t, x, position_scale_.data(), velocity_scale_.data());
  for (std::size_t h = 0; h < functions_->holonomic; ++h) right_m_[functions_->holonomic_rows[h]] = position_scale_[h];
  for (std::size_t i = 0; i < positions(); ++i)
    if (!(std::abs(excess_[i]) <= 1e-14 * right_m_[position_.rows()[i]])) return false;
  return true;
}

Evaluation MechanicalNormalForm::drift(double t, const double* x, double* dx) {
  if (const Evaluation outcome = geometry(t, x); outcome != Evaluation::ok) return outcome;
  std::ranges::fill(dv_, 0.0);
  const double* inputs[] = {&t, x, dv_.data()};
  functions_->velocity(inputs, residual_.data(), velocity_scratch_, frozen_);
  for (std::size_t i = 0; i < positions(); ++i) excess_[i] = -residual_[position_.rows()[i]];
  std::fill_n(dx, states(), 0.0);
  position_.lead(excess_.data(), dx);
  return all_finite(dx, states()) ? Evaluation::ok : fail(Evaluation::not_finite, "the speed of a constraint is not a finite number");
}

Evaluation MechanicalNormalForm::rates(double t, const double* x, double* q) {
  const Functions& fn = *functions_;
  const std::size_t n = fn.n;
  const auto outcome = static_cast<Evaluation>(momentum() ? evaluator_.auxiliary(t, x) : evaluator_.accelerations(t, x));
  if (outcome != Evaluation::ok) return fail(outcome, evaluator_.explain());
  for (const std::size_t j : position_.independent()) *q++ = x[n + j];
  if (momentum()) {
    if (const Evaluation good = shape(t, x); good != Evaluation::ok) return good;
    const double* inputs[] = {&t, x, x + n, x + 2 * n, evaluator_.w().data(), nu_.data()};
    own_.load(inputs, load_.data(), load_scratch_, frozen_);
    if (!all_finite(load_)) return fail(Evaluation::not_finite, "a force is not a finite number");
    velocity_.eliminate(G(), load_.data(), q, rho_.data());
  } else {
    for (std::size_t k = 0; k < velocity_.independent().size(); ++k) q[k] = evaluator_.a()[velocity_.independent()[k]];
  }
  q += velocity_.independent().size();
  for (const std::size_t i : fn.differential) *q++ = evaluator_.w()[i];
  return Evaluation::ok;
}

void MechanicalNormalForm::respond(const double* excess_position, const double* excess_velocity, double* dq, double* dv) {
  position_.lead(excess_position, dq);
  std::ranges::fill(right_m_, 0.0);
  multiply_add(own_.velocity_by_q, velocity_by_q(), -1.0, dq, right_m_.data());
  for (std::size_t i = 0; i < velocity_.rows().size(); ++i) right_m_[velocity_.rows()[i]] += excess_velocity[i];
  if (momentum()) {
    std::ranges::fill(right_n_, 0.0);
    multiply_add(own_.momentum_by_q, momentum_by_q(), -1.0, dq, right_n_.data());
    kkt_->solve(right_n_.data(), right_m_.data(), dv, mu_.data(), mu_.size());
  } else {
    for (std::size_t i = 0; i < velocity_.rows().size(); ++i) right_m_[i] = right_m_[velocity_.rows()[i]];  // ascending
    velocity_.lead(right_m_.data(), dv);
  }
}

Evaluation MechanicalNormalForm::slopes(double t, const double* x, double* dq) {
  const Functions& fn = *functions_;
  const std::size_t n = fn.n, extra = fn.equations.z.size(), count = xi_count();
  // Leaves nu and rho, or a and lambda.
  if (const Evaluation outcome = rates(t, x, dq); outcome != Evaluation::ok) return outcome;
  if (!momentum()) {
    if (const Evaluation outcome = shape(t, x); outcome != Evaluation::ok) return outcome;
    if (const Evaluation outcome = factor_kkt(); outcome != Evaluation::ok) return outcome;
  }
  const double* w = evaluator_.w().data();
  const double* inputs[] = {&t, x, x + n, x + 2 * n, w, momentum() ? nu_.data() : evaluator_.a().data(),
                            momentum() ? rho_.data() : evaluator_.lambda().data()};
  own_.load_slope(inputs, load_slope_.data(), load_slope_scratch_, frozen_);
  if (!all_finite(load_slope_)) return fail(Evaluation::not_finite, "the derivative of a force is not a finite number");
  if (extra > 0) {
    fn.auxiliary(inputs, auxiliary_.data(), auxiliary_scratch_, frozen_);
    own_.auxiliary_slope(inputs, auxiliary_slope_.data(), auxiliary_slope_scratch_, frozen_);
    std::ranges::fill(auxiliary_matrix_, 0.0);
    for (std::size_t i = 0; i < extra; ++i)
      for (std::size_t k = fn.auxiliary_jacobian.row_start[i]; k < fn.auxiliary_jacobian.row_start[i + 1]; ++k)
        auxiliary_matrix_[i * extra + fn.auxiliary_jacobian.column[k]] = auxiliary_[extra + k];
    if (!auxiliary_lu_.factor(auxiliary_matrix_.data()) || !all_finite(auxiliary_slope_))
      return fail(Evaluation::singular, "the auxiliary equations cannot be solved for their unknowns");
  }
  double* along_q = direction_.data();
  double *along_v = along_q + n, *along_w = along_v + n, *along_nu = along_w + extra;
  for (std::size_t i = 0; i < count; ++i) {
    std::fill_n(excess_.begin(), count, 0.0);
    excess_[i] = 1.0;
    respond(excess_.data(), excess_.data() + positions(), along_q, along_v);
    std::ranges::fill(dw_, 0.0);
    if (extra > 0) {
      multiply_add(own_.auxiliary_by_state, auxiliary_slope_.data(), -1.0, direction_.data(), dw_.data());
      auxiliary_lu_.solve(dw_.data());
    }
    std::ranges::copy(dw_, along_w);
    for (std::size_t j = 0; j < fn.m; ++j) along_nu[j] = momentum() ? -mu_[j] : 0.0;
    std::ranges::fill(image_, 0.0);
    multiply_add(own_.load_by_state, load_slope_.data(), 1.0, direction_.data(), image_.data());
    for (const std::size_t j : position_.independent()) *dq++ = along_v[j];
    if (momentum()) {
      velocity_.eliminate(G(), image_.data(), dq, mu_.data());
    } else {
      kkt_->solve(image_.data(), image_.data() + n, dv_.data(), mu_.data(), mu_.size());
      for (std::size_t k = 0; k < velocity_.independent().size(); ++k) dq[k] = dv_[velocity_.independent()[k]];
    }
    dq += velocity_.independent().size();
    for (const std::size_t j : fn.differential) *dq++ = dw_[j];
  }
  return Evaluation::ok;
}

Evaluation MechanicalNormalForm::crossings(double t, const double* x, double* dx) {
  const std::size_t n = functions_->n, count = xi_count();
  if (const Evaluation outcome = shape(t, x); outcome != Evaluation::ok) return outcome;
  for (std::size_t i = 0; i < count; ++i, dx += states()) {
    std::fill_n(dx, states(), 0.0);
    std::fill_n(excess_.begin(), count, 0.0);
    excess_[i] = 1.0;
    respond(excess_.data(), excess_.data() + positions(), dx, dx + n);
  }
  return Evaluation::ok;
}

Evaluation MechanicalNormalForm::tangents(double t, const double* x, double* dx) {
  const Functions& fn = *functions_;
  const std::size_t n = fn.n;
  if (const Evaluation outcome = shape(t, x); outcome != Evaluation::ok) return outcome;
  const std::vector<std::size_t>&positions_free = position_.independent(), &velocities_free = velocity_.independent();
  for (std::size_t k = 0; k < eta_count(); ++k, dx += states()) {
    std::fill_n(dx, states(), 0.0);
    double *dq = dx, *dv = dx + n;
    const bool is_position = k < positions_free.size();
    const std::size_t behind = is_position ? 0 : k - positions_free.size();
    if (!is_position && behind >= velocities_free.size()) {
      dx[2 * n + behind - velocities_free.size()] = 1.0;
      continue;
    }
    if (is_position) {  // G dq = 0
      dq[positions_free[k]] = 1.0;
      std::ranges::fill(rho_, 0.0);
      multiply_add(fn.jacobian, G(), -1.0, dq, rho_.data());
      for (std::size_t i = 0; i < positions(); ++i) excess_[i] = rho_[position_.rows()[i]];
      position_.lead(excess_.data(), dq_.data());
      for (const std::size_t j : position_.dependent()) dq[j] = dq_[j];
    }
    // G dv = -(G v + g_t)_q dq, and N^T (P_q dq + M dv) or dv_I as given
    std::ranges::fill(right_m_, 0.0);
    multiply_add(own_.velocity_by_q, velocity_by_q(), -1.0, dq, right_m_.data());
    if (momentum()) {
      std::ranges::fill(right_n_, 0.0);
      multiply_add(own_.momentum_by_q, momentum_by_q(), -1.0, dq, right_n_.data());
      if (!is_position) right_n_[velocities_free[behind]] += 1.0;
      kkt_->solve(right_n_.data(), right_m_.data(), dv, mu_.data(), mu_.size());
    } else {
      if (!is_position) dv[velocities_free[behind]] = 1.0;
      multiply_add(fn.jacobian, G(), -1.0, dv, right_m_.data());
      for (std::size_t i = 0; i < velocity_.rows().size(); ++i) excess_[i] = right_m_[velocity_.rows()[i]];
      velocity_.lead(excess_.data(), dv_.data());
      for (const std::size_t j : velocity_.dependent()) dv[j] = dv_[j];
    }
  }
  return Evaluation::ok;
}

Evaluation MechanicalNormalForm::lift(double t, const double* x, const double* dxi, double* dx) {
  const std::size_t n = functions_->n;
  if (const auto outcome = static_cast<Evaluation>(evaluator_.ode(t, x, dx)); outcome != Evaluation::ok)
    return fail(outcome, evaluator_.explain());
  if (const Evaluation outcome = shape(t, x); outcome != Evaluation::ok) return outcome;
  const double* inputs[] = {&t, x, x + n};
  functions_->velocity(inputs, residual_.data(), velocity_scratch_, frozen_);
  for (std::size_t i = 0; i < positions(); ++i) excess_[i] = dxi[i] - residual_[position_.rows()[i]];
  respond(excess_.data(), dxi + positions(), dq_.data(), dv_.data());
  for (std::size_t j = 0; j < n; ++j) {
    dx[j] += dq_[j];
    dx[n + j] += dv_[j];
  }
  return Evaluation::ok;
}

Evaluation MechanicalNormalForm::add_slope(double t, const double* x, const double* gain, double* jacobian) {
  const Functions& fn = *functions_;
  const std::size_t n = fn.n, size = states();
  if (const Evaluation outcome = shape(t, x); outcome != Evaluation::ok) return outcome;
  for (std::size_t c = 0; c < 2 * n; ++c) {
    std::fill(direction_.begin(), direction_.begin() + static_cast<std::ptrdiff_t>(2 * n), 0.0);
    direction_[c] = 1.0;
    std::ranges::fill(residual_, 0.0);
    multiply_add(own_.velocity_by_q, velocity_by_q(), 1.0, direction_.data(), residual_.data());
    multiply_add(fn.jacobian, G(), 1.0, direction_.data() + n, residual_.data());
    std::ranges::fill(rho_, 0.0);
    multiply_add(fn.jacobian, G(), 1.0, direction_.data(), rho_.data());
    double* velocity = excess_.data() + positions();
    for (std::size_t i = 0; i < positions(); ++i)
      excess_[i] = gain[i] * rho_[position_.rows()[i]] - residual_[position_.rows()[i]];
    for (std::size_t i = 0; i < velocity_.rows().size(); ++i)
      velocity[i] = gain[positions() + i] * residual_[velocity_.rows()[i]];
    respond(excess_.data(), velocity, dq_.data(), dv_.data());
    for (std::size_t j = 0; j < n; ++j) {
      jacobian[j * size + c] += dq_[j];
      jacobian[(n + j) * size + c] += dv_[j];
    }
  }
  return Evaluation::ok;
}

}  // namespace daedalus::formulate
