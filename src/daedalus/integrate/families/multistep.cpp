// Backward differentiation with a fixed leading coefficient: with P the polynomial through the last k + 1 points and
// c = H_k / h, H_k = 1 + 1/2 + ... + 1/k,
//   F(t, y, P'(t) + c (y - P(t))) = 0
// at the new time t, K. E. Brenan, S. L. Campbell, L. R. Petzold, Numerical Solution of Initial-Value Problems in
// Differential-Algebraic Equations, section 5.2. With E_j = y - P_j(t), P_j of degree j, psi_i the distance from t to
// the i-th point before it and alpha_i = h / psi_i, the error of order j on an equidistant grid is estimated as
//   e_j = sigma_(j+1) |E_j|,  sigma_(j+1) = j! alpha_2 ... alpha_(j+1),
// and that of this step as max(alpha_(k+1), |alpha_(k+1) - H_k + alpha_1 + ... + alpha_k|) |E_k|. The order falls
// where |h^(j+1) y^(j+1)| = (j + 1) e_j does not decrease with j, and rises where it does.
//
// Modified extended backward differentiation: y~_1 and y~_2 by backward differentiation at t + h and t + 2h, then
//   y_1 + sum_j a_j y_(1-j) = h (b y'_1 + (beta_1 - b) y~'_1 + beta_2 y~'_2)
// with the same b, hence the same matrix of Newton's method: J. R. Cash, The integration of stiff initial value
// problems in ODEs using modified extended backward differentiation formulae, Comput. Math. Appl. 9 (1983) 645-657; for
// F(t, y, y') = 0: T. J. Abdulla, J. R. Cash, M. T. Diamantakis, An MEBDF package for the numerical solution of large
// sparse systems of stiff initial value problems, Comput. Math. Appl. 42 (2001) 121-129. Its error is estimated by
// y_1 - y~_1. Values that the formulas want between the points come from the polynomial through the points.
#include "daedalus/integrate/families/multistep.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/error_norm.hpp"
#include "daedalus/integrate/families/multistep_history.hpp"
#include "daedalus/integrate/families/multistep_start.hpp"
#include "daedalus/integrate/families/overdetermined_newton.hpp"

namespace daedalus::integrate {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon(), infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t most_points = MultistepHistory::most_points;
/// Steps that differ by less are equal: the loop rounds times, not steps.
constexpr double step_slack = 1e-8;
/// The estimate must be this many times smaller than the tolerance. It bounds the error of one step; those of
/// consecutive steps have the same sign and add up over hundreds of steps where nothing damps them. With these margins
/// Andrews' squeezer ends within thirty tolerances from every index. They cost a factor margin^(1/(k+1)) in steps, 1.5
/// at k = 5 and 1.7 at k = 7.
constexpr double bdf_margin = 12.0, extended_margin = 60.0;
/// What the iteration may leave, in units of the error allowed. Where algebraic unknowns magnify errors of differential
/// ones a hundred times, as in transistors, more than this looks like an error of the formula.
constexpr double newton_share = 1e-3;
/// Corrections that are this small in units of the tolerance and shrink no more are round-off.
constexpr double harmless = 0.02;
/// So many steps without failure make it believable that a far too small error is no accident.
constexpr int calm = 10;
/// The formula of order 2 is as stable as that of order 1, which wins only where the solution has a kink.
constexpr double reluctance = 0.1;
constexpr int few_iterations = 7, many_iterations = 20;

double harmonic(int k) {
  double sum = 0.0;
  for (int m = 1; m <= k; ++m) sum += 1.0 / m;
  return sum;
}

std::shared_ptr<const ImplicitSystem> equations_of(const System& system) {
  const auto given = implicit_equations(system);
  return given ? given : std::make_shared<const ImplicitSystem>(implicit_from_ode(system));
}

class Multistep final : public Stepper {
 public:
  Multistep(const System& system, const MultistepSettings& settings)
      : overdetermined_(system.overdetermined),
        implicit_(equations_of(system)),
        n_(system.dimension),
        counted_(implicit_->counted()),
        settings_(settings),
        least_k_(std::min(implicit_->system_index > 1 ? 2 : 1, settings.most_points)),
        newton_(n_, overdetermined_ ? overdetermined_correction(overdetermined_) : square_correction(implicit_)),
        history_(n_) {
    for (auto* vector : {&candidate_, &computed_, &dy_, &slope_, &guess_, &guess_slope_, &zero_, &weight_, &scale_,
                         &first_, &first_dy_, &second_, &second_dy_, &spare_, &end_slope_, &start_slope_}) {
      vector->assign(n_, 0.0);
    }
    for (int k = 1; k <= settings_.most_points; ++k) coefficients_.push_back(multistep_coefficients(k));
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    history_.truncate(0);
    history_.append(0.0, x);
    k_ = 1;
    equal_steps_ = 0;
    calm_steps_ = calm;
    failures_ = 0;
    starting_ = true;
    ghost_ = false;
    last_h_ = 0.0;
    newton_.forget();
    ++stats_.rhs;
    return implicit_->derivative(t, x, slope_.data());
  }

  Attempt attempt(double h, const Tolerance* tolerance) override {
    h_ = h;
    fixed_ = tolerance == nullptr;
    by_collocation_ = false;
    set_scale(h);
    Attempt result = tolerance != nullptr ? controlled(h, *tolerance) : fixed(h);
    if (result.outcome == Evaluation::ok) computed_ = candidate_;
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    moved_ = candidate_ != computed_;
    slope_is_known_ = false;
    slope_.swap(dy_);
    history_.push(h_, candidate_.data());
    t_ = t_next;
    if (by_collocation_) return Evaluation::ok;
    if (ghost_ && history_.count() == 3) settle_ghost();
    interpolation_points_ = std::min(history_.count(), points_of_formula(k_));
    newton_.step_accepted();
    failures_ = 0;
    last_h_ = h_;
    if (next_k_ != k_) equal_steps_ = 0;
    k_ = next_k_;
    starting_ = starting_ && still_starting_;
    return Evaluation::ok;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }
  /// The history holds states, which stay as they are. Over the bend in them the error estimate leads; in fixed steps there is
  /// none, and what was before counts no longer.
  Evaluation system_changed(const double* x) override {
    newton_.forget();
    return fixed_ ? start(t_, x) : Evaluation::ok;
  }

  /// The history holds values, so that it goes along point by point, as far as the new coordinates reach.
  Evaluation change_coordinates(const double* x, const CoordinateChange& change) override {
    if (ghost_) return start(t_, x);
    std::copy_n(x, n_, history_.value(0));
    for (std::size_t i = 1; i < history_.count(); ++i) {
      if (change(t_ + history_.offset(i), history_.value(i), spare_.data()) != Evaluation::ok) {
        history_.truncate(i);
        break;
      }
      std::copy(spare_.begin(), spare_.end(), history_.value(i));
    }
    newton_.forget();
    ++stats_.rhs;
    return implicit_->derivative(t_, x, slope_.data());
  }

  Evaluation interpolate(double theta, double* x) override {
    if (by_collocation_) {
      start_->interpolate(theta, x);
      if (moved_) {
        const double share = theta * theta * (3.0 - 2.0 * theta);
        for (std::size_t i = 0; i < n_; ++i) x[i] += share * (candidate_[i] - computed_[i]);
      }
    } else {
      double weight[most_points];
      history_.value_weights(interpolation_points_, (theta - 1.0) * h_, weight);
      history_.combine(interpolation_points_, weight, 1.0, x);
    }
    if (!moved_) return Evaluation::ok;
    if (const Evaluation outcome = find_end_slope(); outcome != Evaluation::ok) return outcome;
    const double bump = theta * theta * (theta - 1.0) * h_;
    for (std::size_t i = 0; i < n_; ++i) x[i] += bump * end_slope_[i];
    return Evaluation::ok;
  }

  const double* derivative() const override { return slope_.data(); }
  const double* state() const override { return history_.value(0); }

 private:
  bool extended() const { return settings_.formula == MultistepFormula::extended; }
  /// How many points the interpolant of a step has.
  std::size_t points_of_formula(int k) const { return static_cast<std::size_t>(k) + (extended() ? 2u : 1u); }

  /// An unknown of index k > 1 counts h^(k-1) times.
  void set_scale(double h) {
    for (std::size_t i = 0; i < n_; ++i) {
      scale_[i] = implicit_->index[i] > 1 ? std::min(1.0, std::pow(std::abs(h), implicit_->index[i] - 1)) : 1.0;
    }
  }

  Attempt fixed(double h) {
    const int k = settings_.fixed_points;
    Attempt result;
    if (history_.count() < points_of_formula(k)) {
      result.outcome = collocate(h);
      return result;
    }
    double largest = 0.0;
    for (std::size_t i = 0; i < n_; ++i) largest = std::max(largest, std::abs(state()[i]));
    // An unknown near 0 is taken to be as uncertain as a hundredth of the largest.
    for (std::size_t i = 0; i < n_; ++i) {
      weight_[i] = std::max(std::max(std::abs(state()[i]), 0.01 * largest) / scale_[i], 1e-280);
      if (!implicit_->counts(i)) weight_[i] = infinity;
    }
    k_ = next_k_ = k;
    enough_ = epsilon;
    floor_ = 8.0 * epsilon;
    harmless_ = 1000.0 * epsilon;
    iterations_ = many_iterations;
    result.outcome = solve(h);
    // The extended formula looks one step further; where the system ends before that, one step of collocation does not.
    if (extended() && beyond_ != Evaluation::ok) result.outcome = collocate(h);
    return result;
  }

  Evaluation collocate(double h) {
    by_collocation_ = true;
    if (!start_) {
      const auto square =
          overdetermined_ ? std::make_shared<const ImplicitSystem>(extended_system(overdetermined_)) : implicit_;
      start_ = std::make_unique<MultistepStart>(square, settings_.start_stages, n_);
    }
    const Evaluation outcome = start_->step(t_, h, state(), slope_.data(), candidate_.data(), stats_);
    if (outcome == Evaluation::ok) start_->end_slope(dy_.data());
    return outcome;
  }

  Attempt controlled(double h, const Tolerance& tolerance) {
    const bool first = history_.count() == 1 || (ghost_ && history_.count() == 2);
    if (first) add_ghost(h);
    if (std::abs(h - last_h_) > step_slack * std::abs(last_h_)) equal_steps_ = 0;
    k_ = std::min(k_, static_cast<int>(history_.count()) - 1);
    double size = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      weight_[i] = implicit_->counts(i) ? error_weight(tolerance, i, std::abs(state()[i])) / scale_[i] : infinity;
      const double ratio = state()[i] / weight_[i];
      size += ratio * ratio;
    }
    const double margin = extended() ? extended_margin : bdf_margin;
    enough_ = newton_share / margin;
    harmless_ = harmless;
    floor_ = 100.0 * epsilon * std::sqrt(size / static_cast<double>(std::max<std::size_t>(counted_, 1)));
    iterations_ = few_iterations;

    Attempt result;
    newton_.hush();
    result.outcome = solve(h);
    if (result.outcome != Evaluation::ok) {
      starting_ = false;
      equal_steps_ = calm_steps_ = 0;
      ++failures_;
      result.next_step = 0.25 * h;
      return result;
    }
    for (std::size_t i = 0; i < n_; ++i) {
      weight_[i] = error_weight(tolerance, i, state()[i], candidate_[i]) / scale_[i];
      // The start says nothing about the slope of an algebraic unknown, so its change is no error; it has no memory.
      if ((first && !implicit_->differential[i]) || !implicit_->counts(i)) weight_[i] = infinity;
    }
    judge(h, margin, result);
    return result;
  }

  /// The history of the first step: a point on the tangent.
  void add_ghost(double h) {
    history_.truncate(1);
    for (std::size_t i = 0; i < n_; ++i) spare_[i] = state()[i] - (implicit_->differential[i] ? h * slope_[i] : 0.0);
    history_.append(h, spare_.data());
    start_slope_ = slope_;
    ghost_ = true;
  }

  /// After the first step: a point on the parabola with the known slope between its ends.
  void settle_ghost() {
    const double *end = history_.value(0), *begin = history_.value(1);
    double* ghost = history_.value(2);
    for (std::size_t i = 0; i < n_; ++i) {
      ghost[i] = implicit_->differential[i] ? end[i] - 2.0 * h_ * start_slope_[i] : 2.0 * begin[i] - end[i];
    }
    ghost_ = false;
  }

  MultistepNewton::Problem problem(double t, double h, const double* guess, const double* slope, const double* begin) {
    return {.t = t,
            .h = h,
            .c = harmonic(k_) / h,
            .guess = guess,
            .slope = slope,
            .begin = begin,
            .weight = weight_.data(),
            .counted = counted_,
            .enough = enough_,
            .floor = floor_,
            .harmless = harmless_,
            .most_iterations = iterations_};
  }

  /// Sets the candidate and its derivative by the formula of order k_.
  Evaluation solve(double h) {
    const std::size_t points = static_cast<std::size_t>(k_) + 1;
    double weight[most_points];
    history_.value_weights(points, h, weight);
    history_.combine(points, weight, 1.0, guess_.data());
    history_.slope_weights(points, h, weight);
    history_.combine(points, weight, 0.0, guess_slope_.data());
    if (!extended()) {
      return newton_.solve(problem(t_ + h, h, guess_.data(), guess_slope_.data(), guess_.data()), candidate_.data(),
                           dy_.data(), stats_);
    }
    beyond_ = Evaluation::ok;
    const Evaluation outcome = newton_.solve(problem(t_ + h, h, guess_.data(), guess_slope_.data(), guess_.data()),
                                             first_.data(), first_dy_.data(), stats_);
    if (outcome != Evaluation::ok) return outcome;
    beyond_ = look_beyond(h);
    if (beyond_ != Evaluation::ok) {
      candidate_ = first_;
      dy_ = first_dy_;
      return Evaluation::ok;
    }
    return extend(h);
  }

  /// Backward differentiation from t + h to t + 2h.
  Evaluation look_beyond(double h) {
    const std::size_t points = static_cast<std::size_t>(k_) + 1;
    const MultistepCoefficients& formula = coefficients_[static_cast<std::size_t>(k_) - 1];
    double weight[most_points], sum[most_points] = {};
    for (int j = 2; j <= k_; ++j) add_grid_point(points, -(j - 2) * h, -formula.bdf_past[j - 1], weight, sum);
    history_.combine(points, sum, 1.0, spare_.data());
    for (std::size_t i = 0; i < n_; ++i) spare_[i] -= formula.bdf_past[0] * (first_[i] - state()[i]);
    // The polynomial through the points and the new one, at t + 2h.
    history_.value_weights(points, 2.0 * h, weight);
    history_.combine(points, weight, 1.0, end_slope_.data());
    double ratio = 1.0;
    for (std::size_t i = 0; i < points; ++i) ratio *= (2.0 * h - history_.offset(i)) / (h - history_.offset(i));
    for (std::size_t i = 0; i < n_; ++i) end_slope_[i] += ratio * (first_[i] - guess_[i]);
    return newton_.solve(problem(t_ + 2.0 * h, h, spare_.data(), zero_.data(), end_slope_.data()), second_.data(),
                         second_dy_.data(), stats_);
  }

  /// The extended formula.
  Evaluation extend(double h) {
    // One point more than the backward differentiation, since the order is one higher.
    const std::size_t points = std::min(history_.count(), points_of_formula(k_));
    const MultistepCoefficients& formula = coefficients_[static_cast<std::size_t>(k_) - 1];
    double weight[most_points], sum[most_points] = {};
    for (int j = 1; j <= k_; ++j) add_grid_point(points, -(j - 1) * h, -formula.extended_past[j - 1], weight, sum);
    history_.combine(points, sum, 1.0, spare_.data());
    for (std::size_t i = 0; i < n_; ++i) {
      spare_[i] += h * ((formula.beta_1 - formula.b) * first_dy_[i] + formula.beta_2 * second_dy_[i]);
    }
    return newton_.solve(problem(t_ + h, h, spare_.data(), zero_.data(), first_.data()), candidate_.data(), dy_.data(),
                         stats_);
  }

  /// Adds `factor` times the value at the time x after the newest point to a sum over the points.
  void add_grid_point(std::size_t points, double x, double factor, double* weight, double* sum) const {
    history_.value_weights(points, x, weight);
    for (std::size_t i = 0; i < points; ++i) sum[i] += factor * weight[i];
  }

  double norm(const double* error) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double ratio = error[i] / weight_[i];
      sum += ratio * ratio;
    }
    return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(counted_, 1)));
  }

  /// |E_j|, the distance from the polynomial of degree j.
  double distance(int j, double h) {
    const std::size_t points = static_cast<std::size_t>(j) + 1;
    double weight[most_points];
    history_.value_weights(points, h, weight);
    history_.combine(points, weight, 1.0, spare_.data());
    for (std::size_t i = 0; i < n_; ++i) spare_[i] = candidate_[i] - spare_[i];
    return without_noise(norm(spare_.data()), points, weight);
  }

  /// What is left of a distance when the round-off in the points and in the new value is taken off it: the margin
  /// belongs to errors of the formula, which add up.
  double without_noise(double distance, std::size_t points, const double* weight) const {
    double sum = 1.0;
    for (std::size_t i = 0; i < points; ++i) sum += std::abs(weight[i]);
    return std::max(distance - sum * newton_.noise(), 0.0);
  }

  /// Estimates errors, decides about order and step.
  void judge(double h, double margin, Attempt& result) {
    double alpha[most_points + 2] = {}, sigma[most_points + 2] = {};  // from 1
    sigma[1] = 1.0;
    for (std::size_t i = 1; i <= history_.count(); ++i) {
      alpha[i] = h / (h - history_.offset(i - 1));
      if (i > 1) sigma[i] = sigma[i - 1] * alpha[i] * static_cast<double>(i - 1);
    }
    for (std::size_t i = 0; i < n_; ++i) spare_[i] = candidate_[i] - guess_[i];
    double predictor[most_points];
    history_.value_weights(static_cast<std::size_t>(k_) + 1, h, predictor);
    const double whole_distance = norm(spare_.data());
    const double step_distance = without_noise(whole_distance, static_cast<std::size_t>(k_) + 1, predictor);
    const double error_k = sigma[k_ + 1] * step_distance;
    double error, whole_error;
    if (extended() && beyond_ == Evaluation::ok) {
      for (std::size_t i = 0; i < n_; ++i) spare_[i] = candidate_[i] - first_[i];
      whole_error = norm(spare_.data());
      error = std::max(whole_error - 4.0 * newton_.noise(), 0.0);  // of three solutions
    } else {
      double constant = alpha[k_ + 1];
      double sum = alpha[k_ + 1] - harmonic(k_);
      for (int i = 1; i <= k_; ++i) sum += alpha[i];
      constant = std::max(constant, std::abs(sum));
      error = constant * step_distance;
      whole_error = constant * whole_distance;
    }
    double largest = -1.0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double ratio = std::abs(spare_[i]) / weight_[i];
      if (ratio > largest) {
        largest = ratio;
        result.worst = i;
      }
    }
    result.error = std::max(margin * error, whole_error);

    const double here = (k_ + 1) * error_k;
    double below = 0.0, estimate = extended() ? error : error_k;
    int k = k_;
    if (k_ > least_k_) {
      below = k_ * sigma[k_] * distance(k_ - 1, h);
      const double two_below = k_ > 2 ? (k_ - 1) * sigma[k_ - 1] * distance(k_ - 2, h) : 0.0;
      if (k_ > 2 ? std::max(below, two_below) <= here : below <= reluctance * here) k = k_ - 1;
    }
    if (!(result.error <= 1.0)) {
      reject(h, margin, k, k < k_ ? below / k_ : estimate, result);
      return;
    }

    // Whether the order may rise. At the start it does so with every step, until something speaks against it.
    ++equal_steps_;
    ++calm_steps_;
    still_starting_ = k == k_ && k_ < settings_.most_points;
    double factor = 1.0;
    if (starting_ && still_starting_) {
      k = k_ + 1;
      factor = 2.0;
    } else {
      if (k == k_ && k_ < settings_.most_points && equal_steps_ > k_ &&
          history_.count() >= static_cast<std::size_t>(k_) + 2) {
        const double above = (k_ + 2) * sigma[k_ + 2] * distance(k_ + 1, h);
        if (above < here) {
          k = k_ + 1;
          estimate = above / (k_ + 2);
        }
      }
      if (k < k_) estimate = below / k_;
      const double wish = std::pow(2.0 * margin * estimate + 1e-4, -1.0 / (k + 1));
      if (wish >= 2.0 && (equal_steps_ > k_ || (wish >= 4.0 && calm_steps_ >= calm))) {
        factor = 2.0;
      } else if (wish <= 1.0) {
        factor = std::clamp(wish, 0.5, 0.9);
      }
    }
    next_k_ = k;
    result.next_step = factor * h;
  }

  void reject(double h, double margin, int k, double estimate, Attempt& result) {
    starting_ = false;
    equal_steps_ = calm_steps_ = 0;
    ++failures_;
    double factor = 0.25;
    if (failures_ == 1) {
      k_ = k;
      factor = std::clamp(0.9 * std::pow(2.0 * margin * estimate + 1e-4, -1.0 / (k_ + 1)), 0.25, 0.9);
    } else if (failures_ == 2) {
      k_ = k;
      factor = std::clamp(0.9 * std::pow(2.0 * margin * estimate + 1e-4, -1.0 / (k_ + 1)), 0.25, 0.5);
    } else {
      k_ = 1;
    }
    if (!std::isfinite(result.error)) factor = 0.25;
    result.next_step = factor * h;
  }

  /// Finds by how much the slope of the system at the moved end differs from that of the interpolant.
  Evaluation find_end_slope() {
    if (slope_is_known_) return Evaluation::ok;
    ++stats_.rhs;
    if (const Evaluation outcome = implicit_->derivative(t_, state(), end_slope_.data()); outcome != Evaluation::ok) {
      return outcome;
    }
    if (by_collocation_) {
      start_->end_slope(spare_.data());
    } else {
      double weight[most_points];
      history_.slope_weights(interpolation_points_, 0.0, weight);
      history_.combine(interpolation_points_, weight, 0.0, spare_.data());
    }
    double largest = 0.0, moved = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      end_slope_[i] = implicit_->differential[i] ? end_slope_[i] - spare_[i] : 0.0;
      largest = std::max(largest, std::abs(h_ * end_slope_[i]));
      moved = std::max(moved, std::abs(candidate_[i] - computed_[i]));
    }
    // In a stiff system the slope follows the smallest error of the state and would bend the interpolant.
    if (largest > 10.0 * moved) std::fill(end_slope_.begin(), end_slope_.end(), 0.0);
    slope_is_known_ = true;
    return Evaluation::ok;
  }

  std::shared_ptr<const OverdeterminedSystem> overdetermined_;
  std::shared_ptr<const ImplicitSystem> implicit_;
  const std::size_t n_, counted_;
  const MultistepSettings settings_;
  /// What the order does not fall below. Backward Euler is off by O(h) in unknowns of index 2 and, after a change of the step,
  /// by O(1) in those of index 3: what follows a doubled step fails, and so on for ever. It takes the very first step and those
  /// that failed again and again: over steps of far different sizes the formula of order 2 is worse.
  const int least_k_;
  MultistepNewton newton_;
  MultistepHistory history_;
  std::vector<MultistepCoefficients> coefficients_;  ///< for k = 1, 2, ...
  std::unique_ptr<MultistepStart> start_;

  int k_ = 1, next_k_ = 1;
  int equal_steps_ = 0;    ///< with this step and this order
  int calm_steps_ = calm;  ///< since a step failed
  int failures_ = 0;       ///< of this step
  bool starting_ = true, still_starting_ = true, ghost_ = false, by_collocation_ = false, fixed_ = false;
  double h_ = 0.0, last_h_ = 0.0;
  double enough_ = 0.0, floor_ = 0.0, harmless_ = 0.0;
  int iterations_ = 0;
  Evaluation beyond_ = Evaluation::ok;
  bool moved_ = false, slope_is_known_ = false;
  std::size_t interpolation_points_ = 2;

  std::vector<double> candidate_, computed_, dy_, slope_;
  std::vector<double> guess_, guess_slope_, zero_, weight_, scale_;
  std::vector<double> first_, first_dy_, second_, second_dy_;
  std::vector<double> spare_, end_slope_, start_slope_;
};

}  // namespace

std::unique_ptr<Stepper> make_multistep(const System& system, const MultistepSettings& settings) {
  DAEDALUS_CHECK(implicit_equations(system) || system.ode, "dimension {}", system.dimension);
  DAEDALUS_CHECK(settings.most_points >= 1 && settings.most_points <= 8, "k = {}", settings.most_points);
  return std::make_unique<Multistep>(system, settings);
}

}  // namespace daedalus::integrate
