// At each iterate, with W frozen and only the free entries of x (Nocedal and Wright, Numerical Optimization, 2nd ed.,
// section 18.1, with W for the Hessian of the Lagrangian):
//     [W C^T; C 0] [dn; .] = [0; -c],   [W C^T; C 0] [dt; mu] = [W (x0 - x); 0],   x+ = x + alpha (dn + beta dt).
// dn restores the constraints, dt reduces the distance along them. Without the curvature of c the factor of dt is a
// guess; beta follows Barzilai and Borwein (IMA J. Numer. Anal. 8, 1988) from the change of dt. alpha makes
// 1/2 |x - x0|_W^2 + nu |c| decrease, nu > |mu|. Where that fails, for example near a singular pose, steps of Levenberg
// and Marquardt on |c| take over, written as a KKT system that has full rank always:
//     min 1/2 |dx|_W^2 + 1/(2 delta) |e|^2   subject to   C dx + e = -c.
// Constraints are divided by their scales throughout.
#include "daedalus/linalg/gauss_newton.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "daedalus/base/check.hpp"
#include "daedalus/linalg/dense_kernels.hpp"
#include "daedalus/linalg/kkt.hpp"
#include "daedalus/linalg/reduced_pattern.hpp"

namespace daedalus::linalg {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int most_halvings = 8;       // of the Gauss-Newton step; more would creep
constexpr int most_dampings = 30;      // of the Levenberg-Marquardt step, tenfold each
constexpr double stationary = 1e-9;    // relative decrease of |c| that even the linear model does not exceed
constexpr double small_weight = 1e-6;  // added to W where it leaves an unknown free
constexpr double least_beta = 1e-4, most_beta = 1e3;
constexpr double perturbations[] = {1e-3, 3e-2, 0.3};

double norm(const std::vector<double>& x) { return std::sqrt(dot(x.data(), x.data(), x.size())); }

double largest(const std::vector<double>& x) {
  double result = 0.0;
  for (const double value : x) result = std::max(result, std::abs(value));
  return result;
}

}  // namespace

struct GaussNewton::Implementation {
  LeastChangeProblem problem;
  GaussNewtonOptions options;
  std::size_t n, m;
  std::vector<std::size_t> free, position;
  Reduced weight, jacobian;
  std::vector<double> W, C, all_C;  // reduced W; reduced C and C as evaluated
  KktSolver kkt;
  std::optional<KktSolver> damped;
  double delta = 0.0;
  bool open_without_weight = false;

  std::vector<double> x0, x, trial, c, trial_c, gradient, zero_f, zero_c, minus_c, dn, dt, last_dt, mu, normal_mu, step,
      difference, product;

  Implementation(LeastChangeProblem given, GaussNewtonOptions chosen)
      : problem(std::move(given)),
        options(chosen),
        n(problem.weight.rows),
        m(problem.jacobian.rows),
        free(free_entries()),
        position(positions()),
        weight(reduce_weight(problem.weight, free, position)),
        jacobian(reduce_columns(problem.jacobian, free.size(), position)),
        W(weight.source.size()),
        C(jacobian.source.size()),
        all_C(problem.jacobian.nonzeros()),
        kkt(weight.pattern, jacobian.pattern),
        x0(n),
        x(n),
        trial(n),
        c(m),
        trial_c(m),
        gradient(n),
        zero_f(free.size()),
        zero_c(m),
        minus_c(m),
        dn(free.size()),
        dt(free.size()),
        last_dt(free.size()),
        mu(m),
        normal_mu(m),
        step(free.size()),
        difference(n) {
    DAEDALUS_CHECK(problem.jacobian.columns == n || m == 0, "C has {} columns, W {}", problem.jacobian.columns, n);
    DAEDALUS_CHECK(problem.scales.empty() || problem.scales.size() == m, "{} scales", problem.scales.size());
    for (const double scale : problem.scales) DAEDALUS_CHECK(scale > 0.0, "scale {}", scale);
    set_weight(problem.weight_values.data());
  }

  std::vector<std::size_t> free_entries() const {
    DAEDALUS_CHECK(problem.fixed.empty() || problem.fixed.size() == n, "{} of {} entries", problem.fixed.size(), n);
    std::vector<std::size_t> entries;
    for (std::size_t i = 0; i < n; ++i) {
      if (problem.fixed.empty() || !problem.fixed[i]) entries.push_back(i);
    }
    return entries;
  }

  std::vector<std::size_t> positions() const {
    std::vector<std::size_t> result(n, no_entry);
    for (std::size_t r = 0; r < free.size(); ++r) result[free[r]] = r;
    return result;
  }

  void set_weight(const double* values) {
    if (values != problem.weight_values.data()) {
      problem.weight_values.assign(values, values + problem.weight.nonzeros());
    }
    DAEDALUS_CHECK(problem.weight_values.size() == problem.weight.nonzeros(), "{} weights for {} entries",
                   problem.weight_values.size(), problem.weight.nonzeros());
    for (std::size_t k = 0; k < W.size(); ++k) {
      W[k] = weight.source[k] == no_entry ? 0.0 : problem.weight_values[weight.source[k]];
    }
  }

  double scale(std::size_t row) const { return problem.scales.empty() ? 1.0 : problem.scales[row]; }

  bool evaluate(const std::vector<double>& at, std::vector<double>& values) {
    if (m == 0) return true;
    if (!problem.residual(at.data(), values.data())) return false;
    for (std::size_t j = 0; j < m; ++j) values[j] /= scale(j);
    return all_finite(values.data(), m);
  }

  bool evaluate_jacobian() {
    if (m == 0) return true;
    if (!problem.jacobian_values(x.data(), all_C.data())) return false;
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t k = jacobian.pattern.row_start[j]; k < jacobian.pattern.row_start[j + 1]; ++k) {
        C[k] = all_C[jacobian.source[k]] / scale(j);
      }
    }
    return all_finite(C.data(), C.size());
  }

  // gradient = W (x - x0); returns 1/2 |x - x0|_W^2
  double distance(const std::vector<double>& at) {
    for (std::size_t i = 0; i < n; ++i) difference[i] = at[i] - x0[i];
    std::fill(gradient.begin(), gradient.end(), 0.0);
    multiply_add(problem.weight, problem.weight_values.data(), 1.0, difference.data(), gradient.data());
    return 0.5 * dot(difference.data(), gradient.data(), n);
  }

  // a^T W b over the free entries
  double weighted(const std::vector<double>& a, const std::vector<double>& b) {
    product.assign(free.size(), 0.0);
    multiply_add(weight.pattern, W.data(), 1.0, b.data(), product.data());
    return dot(a.data(), product.data(), free.size());
  }

  double weighted_size(const std::vector<double>& at) {
    std::vector<double> values(free.size());
    for (std::size_t r = 0; r < free.size(); ++r) values[r] = at[free[r]];
    return std::sqrt(std::max(0.0, weighted(values, values)));
  }

  std::vector<double> raised_weight() const {
    std::vector<double> raised = W;
    double top = 0.0;
    for (std::size_t r = 0; r < free.size(); ++r) {
      for (std::size_t k = weight.pattern.row_start[r]; k < weight.pattern.row_start[r + 1]; ++k) {
        if (weight.pattern.column[k] == r) top = std::max(top, W[k]);
      }
    }
    const double raise = small_weight * (top > 0.0 ? top : 1.0);
    for (std::size_t r = 0; r < free.size(); ++r) {
      for (std::size_t k = weight.pattern.row_start[r]; k < weight.pattern.row_start[r + 1]; ++k) {
        if (weight.pattern.column[k] == r) raised[k] += raise;
      }
    }
    return raised;
  }

  KktOutcome factor() {
    // Where nothing has a weight and the constraints left something open once, they do so again.
    if (!open_without_weight) {
      const KktOutcome outcome = kkt.factor(W.data(), C.data());
      if (outcome != KktOutcome::singular_mass) return outcome;
      open_without_weight = largest(W) == 0.0;
    }
    return kkt.factor(raised_weight().data(), C.data());
  }

  void move(const std::vector<double>& along, double alpha) {
    trial = x;
    for (std::size_t r = 0; r < free.size(); ++r) trial[free[r]] += alpha * along[r];
  }

  // |c + C d|
  double predicted(const std::vector<double>& d) {
    std::vector<double> linear = c;
    multiply_add(jacobian.pattern, C.data(), 1.0, d.data(), linear.data());
    return norm(linear);
  }

  void polish();
  bool damped_step();
  bool perturb(double size);
  GaussNewtonResult run(const double* reference, const double* start);
  void finish(GaussNewtonResult& result, bool deficient);
};

// Repeats the step onto the constraints with the factors at hand while it halves the residual.
void GaussNewton::Implementation::polish() {
  for (double residual = largest(c); residual > 0.0;) {
    for (std::size_t j = 0; j < m; ++j) minus_c[j] = -c[j];
    kkt.solve(zero_f.data(), minus_c.data(), dn.data(), normal_mu.data());
    move(dn, 1.0);
    if (!evaluate(trial, trial_c) || !(largest(trial_c) <= 0.5 * residual)) return;
    x = trial;
    c = trial_c;
    residual = largest(c);
  }
}

// Takes one Levenberg-Marquardt step; false where |c| is stationary or no damping makes it decrease.
bool GaussNewton::Implementation::damped_step() {
  const std::size_t count = free.size();
  if (!damped) damped.emplace(extended_weight(weight.pattern, m), extended_jacobian(jacobian.pattern));
  std::vector<double> big_W = raised_weight(), big_C;
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t k = jacobian.pattern.row_start[j]; k < jacobian.pattern.row_start[j + 1]; ++k)
      big_C.push_back(C[k]);
    big_C.push_back(1.0);
  }
  if (delta == 0.0) {
    double square = 0.0, weights = 0.0;
    for (const double value : C) square = std::max(square, value * value);
    for (const double value : W) weights = std::max(weights, value);
    delta = 1e-3 * (square > 0.0 ? square : 1.0) / (weights > 0.0 ? weights : 1.0);
  }
  big_W.resize(big_W.size() + m);
  std::vector<double> f(count + m), solution(count + m), multiplier(m);
  const double size = norm(c);
  for (int damping = 0; damping < most_dampings; ++damping) {
    std::fill(big_W.end() - static_cast<std::ptrdiff_t>(m), big_W.end(), 1.0 / delta);
    const KktOutcome outcome = damped->factor(big_W.data(), big_C.data());
    if (outcome != KktOutcome::regular && outcome != KktOutcome::redundant) return false;
    damped->solve(f.data(), minus_c.data(), solution.data(), multiplier.data());
    std::copy(solution.begin(), solution.begin() + static_cast<std::ptrdiff_t>(count), step.begin());
    const double decrease = size - predicted(step);
    if (!(decrease > stationary * size)) return false;
    move(step, 1.0);
    if (evaluate(trial, trial_c) && size - norm(trial_c) >= 1e-3 * decrease) {
      x = trial;
      c = trial_c;
      delta *= 0.1;
      return true;
    }
    delta *= 10.0;
  }
  return false;
}

// Moves the free entries off a point where |c| is stationary; the same move in every run.
bool GaussNewton::Implementation::perturb(double size) {
  const double top = std::max(largest(x), largest(x0));
  const double unit = size * (top > 0.0 ? top : 1.0);
  trial = x;
  std::uint64_t state = 0x9E3779B97F4A7C15ULL;
  for (const std::size_t i : free) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    trial[i] += unit * (static_cast<double>(state >> 11) * 0x1p-52 - 1.0);
  }
  if (!evaluate(trial, trial_c)) return false;
  x = trial;
  c = trial_c;
  return true;
}

// Names the rows that stand against each other at x: the part of c outside the range of C where C is deficient, the
// rows that stay unsatisfied otherwise.
void GaussNewton::Implementation::finish(GaussNewtonResult& result, bool deficient) {
  result.outcome = deficient ? GaussNewtonOutcome::rank_deficient_inconsistent : GaussNewtonOutcome::stalled;
  x = result.x;
  if (!evaluate(x, c)) return;
  std::vector<double> rest = c;
  double negligible = 1e-3;
  if (deficient && evaluate_jacobian() && factor() == KktOutcome::redundant) {
    for (std::size_t j = 0; j < m; ++j) minus_c[j] = -c[j];
    kkt.solve(zero_f.data(), minus_c.data(), dn.data(), normal_mu.data());
    multiply_add(jacobian.pattern, C.data(), 1.0, dn.data(), rest.data());
    negligible = 1e-6;
  }
  const double limit = std::max(negligible * largest(rest), options.tolerance);
  for (std::size_t j = 0; j < m; ++j) {
    if (std::abs(rest[j]) > limit) result.offending_rows.push_back(j);
  }
}

GaussNewtonResult GaussNewton::Implementation::run(const double* reference, const double* start) {
  GaussNewtonResult result;
  x0.assign(reference, reference + n);
  x.assign(start, start + n);
  result.x = x;
  result.multipliers.assign(m, 0.0);
  delta = 0.0;
  open_without_weight = false;
  if (!all_finite(x.data(), n) || !all_finite(x0.data(), n) || !evaluate(x, c)) {
    result.outcome = GaussNewtonOutcome::not_finite;
    return result;
  }
  result.residual = largest(c);

  double beta = 1.0, used_beta = 0.0, penalty = 0.0;
  double last_residual = std::numeric_limits<double>::infinity(), last_t = last_residual;
  double stuck_residual = last_residual;
  std::size_t perturbed = 0;
  bool deficient = free.empty(), just_perturbed = false;
  std::vector<double> f(free.size()), best = x;
  double best_residual = last_residual;
  const auto keep_best = [&] {
    if (largest(c) < best_residual) {
      best = x;
      best_residual = largest(c);
    }
  };
  const auto give_up = [&] {
    result.x = best;
    result.residual = best_residual;
    finish(result, deficient);
    return result;
  };

  for (;; ++result.iterations) {
    keep_best();
    if (!evaluate_jacobian()) {
      if (result.iterations > 0) return give_up();
      result.outcome = GaussNewtonOutcome::not_finite;
      return result;
    }
    const KktOutcome outcome = factor();
    if (outcome != KktOutcome::regular && outcome != KktOutcome::redundant) {
      result.outcome =
          outcome == KktOutcome::singular_mass ? GaussNewtonOutcome::singular_weight : GaussNewtonOutcome::not_finite;
      return result;
    }
    const double here = distance(x), residual = largest(c), size = norm(c);
    for (std::size_t r = 0; r < free.size(); ++r) f[r] = -gradient[free[r]];
    for (std::size_t j = 0; j < m; ++j) minus_c[j] = -c[j];
    kkt.solve(zero_f.data(), minus_c.data(), dn.data(), normal_mu.data());
    // Away from the stuck point this tells constraints that contradict each other everywhere from a singular pose.
    if (just_perturbed) deficient = outcome == KktOutcome::redundant && kkt.inconsistency() > 1e-6 * residual;
    just_perturbed = false;
    kkt.solve(f.data(), zero_c.data(), dt.data(), mu.data());
    const double t = std::sqrt(std::max(0.0, weighted(dt, dt)));
    const double unit = std::max(weighted_size(x), weighted_size(x0));

    const bool residual_done =
        residual <= 4.0 * epsilon || (residual <= options.tolerance && residual > 0.5 * last_residual);
    // In the second half of the time only the constraints count.
    const bool only_constraints = 2 * result.iterations > options.most_iterations;
    const bool tangential_done =
        only_constraints || t <= 4.0 * epsilon * unit || (t <= 1e-8 * unit && t > 0.5 * last_t);
    const bool out_of_time = result.iterations >= options.most_iterations;
    const auto converged = [&] {
      result.outcome = GaussNewtonOutcome::converged;
      polish();
      result.x = x;
      result.residual = largest(c);
      result.tangential = unit > 0.0 ? t / unit : 0.0;
      for (std::size_t j = 0; j < m; ++j) result.multipliers[j] = mu[j] / scale(j);
      return result;
    };
    if (residual <= options.tolerance && (out_of_time || (residual_done && tangential_done))) return converged();
    if (out_of_time) return give_up();

    if (used_beta > 0.0 && last_t > 0.0) {
      const double overlap = 1.0 - weighted(dt, last_dt) / (last_t * last_t);
      beta =
          overlap > 0.0 ? std::clamp(used_beta / overlap, least_beta, most_beta) : std::min(2.0 * used_beta, most_beta);
    }
    last_residual = residual;
    last_t = t;
    last_dt = dt;

    if (only_constraints) beta = 0.0;
    penalty = std::max(2.0 * (norm(mu) + norm(normal_mu)), 0.5 * penalty);
    const double slack = 1e-14 * here + 4.0 * epsilon * penalty * std::sqrt(static_cast<double>(m));
    const double linear = predicted(dn);
    // Off the constraints, with nothing to gain by the linear model: a zero step would be accepted for ever.
    const bool going_nowhere = residual > options.tolerance && size - linear <= stationary * size && t <= 1e-8 * unit;
    bool accepted = false;
    for (std::size_t r = 0; r < free.size(); ++r) step[r] = dn[r] + beta * dt[r];
    double slope = -penalty * (size - linear);
    for (std::size_t r = 0; r < free.size(); ++r) slope -= f[r] * step[r];
    double alpha = 1.0;
    for (int halving = 0; halving <= most_halvings && !accepted; ++halving, alpha *= 0.5) {
      move(step, alpha);
      if (!evaluate(trial, trial_c)) continue;
      accepted = !only_constraints && !going_nowhere &&
                 distance(trial) + penalty * norm(trial_c) <=
                     here + penalty * size + 1e-4 * alpha * std::min(slope, 0.0) + slack;
      if (accepted) used_beta = alpha * beta;
    }
    if (!accepted && residual <= options.tolerance) {
      // Already on the constraints, and no way to come nearer within round-off.
      return converged();
    }
    if (!accepted) {
      used_beta = 0.0;
      alpha = 1.0;
      for (int halving = 0; halving <= most_halvings && !accepted; ++halving, alpha *= 0.5) {
        move(dn, alpha);
        accepted = evaluate(trial, trial_c) && norm(trial_c) <= (1.0 - 1e-4 * alpha) * size;
      }
    }
    if (accepted) {
      x = trial;
      c = trial_c;
      continue;
    }
    if (damped_step()) continue;

    // |c| is stationary here: a minimum, or a pose that the linear model cannot leave.
    const bool same_again = best_residual >= 0.99 * stuck_residual;
    stuck_residual = std::min(stuck_residual, best_residual);
    if (free.empty() || same_again || perturbed == std::size(perturbations) || !perturb(perturbations[perturbed])) {
      return give_up();
    }
    ++perturbed;
    just_perturbed = true;
    used_beta = 0.0;
    beta = 1.0;
    last_residual = last_t = std::numeric_limits<double>::infinity();
  }
}

GaussNewton::GaussNewton(LeastChangeProblem problem, GaussNewtonOptions options)
    : self_(std::make_unique<Implementation>(std::move(problem), options)) {}
GaussNewton::~GaussNewton() = default;
GaussNewton::GaussNewton(GaussNewton&&) noexcept = default;
GaussNewton& GaussNewton::operator=(GaussNewton&&) noexcept = default;

void GaussNewton::set_weight(const double* values) { self_->set_weight(values); }
GaussNewtonResult GaussNewton::solve(const double* x0) { return self_->run(x0, x0); }
GaussNewtonResult GaussNewton::solve(const double* x0, const double* start) { return self_->run(x0, start); }

}  // namespace daedalus::linalg
