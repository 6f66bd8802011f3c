// Radau II A with 3, 5 or 7 stages, order 5, 9 or 13, for F(t, y, y') = 0: E. Hairer, G. Wanner, Solving Ordinary
// Differential Equations II, 2nd ed., section IV.8; variable order: E. Hairer, G. Wanner, Stiff differential equations
// solved by Radau methods, J. Comput. Appl. Math. 111 (1999) 93-111.
//
// Error: the defect of the collocation polynomial p at the start of the step,
//   err = -(F_y + gamma/h F_y')^-1 F(t, y, p'(0)),
// with gamma the real eigenvalue of A^-1. For M y' = f(t, y) this is Hairer and Wanner's formula (8.20)
//   err = (gamma/h M - J)^-1 (f(t, y) + M (e_1 Z_1 + e_2 Z_2 + e_3 Z_3) / h),
// because -(sum_i e_i Z_i) / h is p'(0): their embedded formula adds a multiple of the divided difference of y' over
// the nodes 0, c_1, ..., c_s, the difference between y'(t) and the extrapolated p'(0). Components of index k > 1 count
// with h^(k-1).
//
// Step: the predictive controller of Gustafsson, section IV.8, with what families/radau_control.hpp says about error
// and order; it does not let the step grow beyond what the iteration can solve. Hairer and Wanner choose the order by
// the contraction of the iteration, which says how far the step may grow, but not what is gained by it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/error_norm.hpp"
#include "daedalus/integrate/families/radau_control.hpp"
#include "daedalus/integrate/families/radau_solver.hpp"
#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double safety = 0.9, least_factor = 0.125, most_factor = 5.0;
/// A step that would grow by no more than this keeps its size and its factors.
constexpr double dead_zone = 1.2;
/// A Jacobian with which the iteration contracts faster than this is used again.
constexpr double reuse_contraction = 0.001;
/// Steps grow only as far as the iteration contracts by this factor.
constexpr double good_contraction = 0.2;
/// Where acceptance moves the end by less than this part of the tolerance, the slope there stays that of the step.
constexpr double little_moved = 0.01;
/// Steps before the order changes again.
constexpr int patience = 4;
/// The iteration may leave this much of the tolerance; less where constraints of a higher index are among the equations, which
/// nothing else keeps.
constexpr double newton_share = 0.01, newton_share_of_constraints = 0.003;
/// How many units of round-off of its terms a change may have that is called round-off.
constexpr double noise_units = 100.0;

class Radau final : public Stepper {
 public:
  Radau(const System& system, std::size_t least_stages, std::size_t most_stages)
      : system_(system),
        implicit_(system.implicit ? system.implicit : std::make_shared<ImplicitSystem>(implicit_from_ode(system))),
        n_(system.dimension),
        counted_(implicit_->counted()),
        solver_(implicit_, n_, most_stages),
        old_(n_),
        now_(n_),
        candidate_(n_),
        slope_(n_),
        inner_slope_(n_),
        weight_(n_),
        scale_(n_),
        power_(n_),
        error_(n_),
        work_(n_),
        noise_(n_),
        start_defect_(n_),
        shift_(n_),
        shift_slope_(n_),
        Z_(most_stages * n_),
        last_Z_(most_stages * n_) {
    for (std::size_t s = least_stages; s <= most_stages; s += 2) method_.push_back(radau_coefficients(s));
    solver_.use(method_.front());
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, n_, now_.begin());
    std::fill(slope_.begin(), slope_.end(), 0.0);
    slope_known_ = false;
    if (implicit_->derivative) {
      ++stats_.rhs;
      const Evaluation outcome = implicit_->derivative(t, x, slope_.data());
      if (outcome != Evaluation::ok) return outcome;
      slope_known_ = true;
    }
    stepped_ = has_polynomial_ = false;
    first_ = true;
    after_rejection_ = false;
    jacobian_here_ = reuse_jacobian_ = false;
    change_order(0);
    next_level_ = level_;
    since_change_ = patience - 1;
    failures_ = 0;
    return Evaluation::ok;
  }

  Attempt attempt(double h, const Tolerance* tolerance) override {
    stepped_ = false;
    h_ = h;
    controlled_ = tolerance != nullptr;
    if (next_level_ != level_) change_order(next_level_);
    next_level_ = level_;
    Attempt result;
    set_powers();
    NewtonReport report = solve_stages(tolerance);
    result.outcome = report.outcome;
    if (report.outcome != Evaluation::ok) {
      ++failures_;
      jacobian_here_ = failures_ > 2;
      if (tolerance != nullptr) result.next_step = report.shrink * h;
      return result;
    }
    const double* end = Z_.data() + (stages() - 1) * n_;
    for (std::size_t i = 0; i < n_; ++i) candidate_[i] = now_[i] + end[i];
    contraction_ = report.contraction;
    if (tolerance != nullptr) judge(*tolerance, report, result);
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    const double* end = Z_.data() + (stages() - 1) * n_;
    moved_ = false;
    correction_ready_ = controlled_;
    for (std::size_t i = 0; i < n_; ++i) {
      shift_[i] = candidate_[i] - (now_[i] + end[i]);
      moved_ = moved_ || shift_[i] != 0.0;
      correction_ready_ = correction_ready_ && std::abs(shift_[i]) <= little_moved * weight_[i];
    }
    if (correction_ready_) std::fill(shift_slope_.begin(), shift_slope_.end(), 0.0);
    set_start_defect();
    method_[level_].slope(1.0, h_, Z_.data(), n_, slope_.data());
    slope_known_ = true;
    old_.swap(now_);
    now_.swap(candidate_);
    Z_.swap(last_Z_);
    polynomial_ = &method_[level_];
    last_h_ = h_;
    last_error_ = std::max(error_size_, 1e-2);
    t_ = t_next;
    stepped_ = has_polynomial_ = true;
    reuse_jacobian_ = contraction_ <= reuse_contraction;
    jacobian_here_ = false;
    first_ = after_rejection_ = false;
    failures_ = 0;
    ++since_change_;
    return Evaluation::ok;
  }

  void rejected() override { after_rejection_ = true; }

  Evaluation replace_state(const double* x) override { return start(t_, x); }
  /// Stages and error are residuals of the system as it is. But the next polynomial begins with the slope here; and a matrix
  /// of the system before, with how well it served that, would end the iteration too early.
  Evaluation system_changed(const double* x) override {
    jacobian_here_ = reuse_jacobian_ = false;
    if (!slope_known_ || !implicit_->derivative) return Evaluation::ok;
    ++stats_.rhs;
    return implicit_->derivative(t_, x, slope_.data());
  }

  /// Order and step stay; the polynomial of the last step, which predicts the next, goes along.
  Evaluation change_coordinates(const double* x, const CoordinateChange& change) override {
    if (!has_polynomial_) return start(t_, x);
    has_polynomial_ = transform_polynomial(x, change);
    std::copy_n(x, n_, now_.begin());
    jacobian_here_ = reuse_jacobian_ = stepped_ = false;
    ++stats_.rhs;
    return implicit_->derivative(t_, x, slope_.data());
  }

  Evaluation interpolate(double theta, double* x) override {
    DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
    if (moved_ && !correction_ready_) {
      if (const Evaluation outcome = prepare_correction(); outcome != Evaluation::ok) return outcome;
    }
    if (theta == 1.0) {
      std::copy(now_.begin(), now_.end(), x);
      return Evaluation::ok;
    }
    if (!defect_filtered_) filter_start_defect();
    std::copy(old_.begin(), old_.end(), x);
    polynomial_->add_value(theta, last_Z_.data(), n_, x);
    const double bubble = polynomial_->bubble_value(theta) * last_h_;
    for (std::size_t i = 0; i < n_; ++i) x[i] += bubble * start_defect_[i];
    if (moved_) {
      const double value = theta * theta * (3.0 - 2.0 * theta), slope = theta * theta * (theta - 1.0) * last_h_;
      for (std::size_t i = 0; i < n_; ++i) x[i] += value * shift_[i] + slope * shift_slope_[i];
    }
    return Evaluation::ok;
  }

  const double* derivative() const override { return slope_known_ ? slope_.data() : nullptr; }
  const double* state() const override { return now_.data(); }

 private:
  std::size_t stages() const { return method_[level_].stages; }

  bool transform_polynomial(const double* x, const CoordinateChange& change) {
    const double begin = t_ - last_h_;
    if (change(begin, old_.data(), work_.data()) != Evaluation::ok) return false;
    const std::size_t last = polynomial_->stages - 1;
    for (std::size_t i = last; i-- > 0;) {
      double* stage = last_Z_.data() + i * n_;
      for (std::size_t k = 0; k < n_; ++k) stage[k] += old_[k];
      if (change(begin + polynomial_->node[i] * last_h_, stage, error_.data()) != Evaluation::ok) return false;
      for (std::size_t k = 0; k < n_; ++k) stage[k] = error_[k] - work_[k];
    }
    for (std::size_t k = 0; k < n_; ++k) last_Z_[last * n_ + k] = x[k] - work_[k];
    old_ = work_;
    return true;
  }

  /// y' - p' at the start of the step, of the unknowns whose y' is known.
  void set_start_defect() {
    std::fill(start_defect_.begin(), start_defect_.end(), 0.0);
    defect_filtered_ = true;
    if (!slope_known_) return;
    defect_filtered_ = false;
    method_[level_].slope(0.0, h_, Z_.data(), n_, work_.data());
    for (std::size_t i = 0; i < n_; ++i) {
      if (implicit_->differential[i]) start_defect_[i] = slope_[i] - work_[i];
    }
  }

  /// Takes from the defect d what stiff components have of it, which says nothing about the inside of the step:
  /// (F_y + gamma/h F_y')^-1 (gamma/h) F_y' d, which is d for h -> 0.
  void filter_start_defect() {
    defect_filtered_ = true;
    std::fill(work_.begin(), work_.end(), 0.0);
    solver_.multiply_leading(start_defect_.data(), work_.data());
    solver_.solve_real(work_.data());
    const double share = polynomial_->gamma / last_h_;
    for (std::size_t i = 0; i < n_; ++i) start_defect_[i] = implicit_->differential[i] ? share * work_[i] : 0.0;
  }

  void change_order(std::size_t level) {
    level_ = level;
    solver_.use(method_[level]);
    since_change_ = 0;
  }

  std::size_t newton_most() const { return 7 + stages(); }

  /// |h|^(k-1) for the components of index k > 1, 0 for those that do not count. In a system of index 1 the stages determine all unknowns alike, so
  /// that a multiplier which may be weighed with h there, as some methods need it, is not.
  void set_powers() {
    const bool higher = implicit_->system_index > 1 && !implicit_->index.empty();
    for (std::size_t i = 0; i < n_; ++i) {
      const int extra = higher ? std::max(0, implicit_->index[i] - 1) : 0;
      power_[i] = !implicit_->counts(i) ? 0.0 : extra == 0 ? 1.0 : std::pow(std::abs(h_), extra);
    }
  }

  /// Weight of component i in the norm of the iteration. What the iteration leaves in a differential unknown stays in
  /// the solution, whatever its index; an error of an algebraic one enters it times h.
  double newton_power(std::size_t i) const {
    if (!implicit_->counts(i)) return 0.0;
    return implicit_->differential[i] || power_[i] == 1.0 ? 1.0 : std::abs(h_);
  }

  /// Readies Z with the continuation of the last polynomial, or of the slope at the start where the equations are
  /// nonlinear in y': a wrong slope does not become better in shorter steps.
  void predict() {
    if (!has_polynomial_) {
      const bool tangent = slope_known_ && !implicit_->constant_leading;
      for (std::size_t i = 0; i < stages(); ++i) {
        const double weight = tangent ? method_[level_].node[i] * h_ : 0.0;
        for (std::size_t k = 0; k < n_; ++k) Z_[i * n_ + k] = weight * slope_[k];
      }
      return;
    }
    const double* last_end = last_Z_.data() + (polynomial_->stages - 1) * n_;
    for (std::size_t i = 0; i < stages(); ++i) {
      double* stage = Z_.data() + i * n_;
      for (std::size_t k = 0; k < n_; ++k) stage[k] = -last_end[k];
      polynomial_->add_value(1.0 + method_[level_].node[i] * h_ / last_h_, last_Z_.data(), n_, stage);
    }
  }

  /// Sets the norm of the iteration and says when it may end.
  NewtonLimits newton_limits(const Tolerance* tolerance) {
    NewtonLimits limits;
    set_noise();
    limits.noise = noise_.data();
    if (tolerance != nullptr) {
      double sum = 0.0;
      for (std::size_t i = 0; i < n_; ++i) {
        weight_[i] = error_weight(*tolerance, i, std::abs(now_[i]));
        scale_[i] = newton_power(i) / weight_[i];
        sum += now_[i] * scale_[i] * now_[i] * scale_[i];
      }
      const double size = std::sqrt(sum / static_cast<double>(counted_));
      relative_tolerance_ = std::max(tolerance->rtol, 1.0 / std::max(1.0, size));
      const double share = implicit_->system_index > 1 ? newton_share_of_constraints : newton_share;
      limits.target = share;
      limits.floor = 4.0 * epsilon * size;
      limits.stagnation = 10.0 * share;
      limits.most = newton_most();
      return limits;
    }
    // Without a tolerance: to round-off of every component; one without size counts with a thousandth of the largest,
    // so that the round-off of that one may reach it.
    double largest = std::numeric_limits<double>::min();
    for (std::size_t i = 0; i < n_; ++i) largest = std::max(largest, std::abs(now_[i]));
    for (std::size_t i = 0; i < n_; ++i) {
      const double magnitude = std::max(std::abs(now_[i]), std::abs(h_ * slope_[i])) + 1e-3 * largest;
      scale_[i] = newton_power(i) / magnitude;
      noise_[i] = std::max(noise_[i], noise_units * epsilon * magnitude);
    }
    limits.target = limits.floor = epsilon;
    limits.stagnation = 1e-13;
    limits.most = 30;
    return limits;
  }

  /// Where positions are bound by constraints, the rounding of one moves the others, and velocities by eps/h times
  /// that and the entries of A^-1. The multipliers follow the velocities. Of an algebraic unknown of index 1 nobody knows how
  /// large the numbers are from which it follows, but where it still moves by this part of all of them it has no solution.
  void set_noise() {
    constexpr double unsolved = 1e-3;
    double position = 0.0, largest = 0.0;
    for (std::size_t i = 0; i < n_; ++i) largest = std::max(largest, std::abs(now_[i]));
    for (std::size_t i = 0; i < n_ && implicit_->system_index > 2; ++i) {
      if (column_power(i) == 0 && implicit_->differential[i]) position = std::max(position, std::abs(now_[i]));
    }
    for (std::size_t i = 0; i < n_; ++i) {
      const int power = column_power(i);
      const double bound = power > 0 ? 10.0 * position / std::pow(std::abs(h_), power) : position;
      noise_[i] = implicit_->differential[i] ? noise_units * epsilon * std::max(std::abs(now_[i]), bound)
                  : implicit_->index[i] <= 1 ? unsolved * largest
                                             : std::numeric_limits<double>::infinity();
    }
  }

  int column_power(std::size_t i) const { return implicit_->column_power.empty() ? 0 : implicit_->column_power[i]; }

  NewtonReport solve_stages(const Tolerance* tolerance) {
    NewtonReport report;
    for (;;) {
      if (!jacobian_here_ && !reuse_jacobian_) {
        report.outcome = linearize();
        if (report.outcome != Evaluation::ok) return report;
        jacobian_here_ = true;
      }
      if (!solver_.factored_for(h_) && !solver_.factor(h_, stats_)) {
        report.outcome = Evaluation::singular;
      } else {
        predict();
        const NewtonLimits limits = newton_limits(tolerance);
        report = solver_.solve(t_, now_.data(), h_, scale_.data(), limits, Z_.data(), stats_);
      }
      if (report.outcome == Evaluation::ok) return report;
      if (jacobian_here_) {
        const bool stuck = tolerance == nullptr && report.outcome == Evaluation::no_convergence;
        return stuck ? solve_with_new_jacobians() : report;
      }
      reuse_jacobian_ = false;
    }
  }

  /// Evaluates the Jacobian: in the middle of the step as the last polynomial foresees it, where it serves all stages
  /// best; after failures and at the start at the current point.
  Evaluation linearize() {
    if (has_polynomial_ && failures_ < 2) {
      const double middle = 1.0 + 0.5 * h_ / last_h_;
      const double* last_end = last_Z_.data() + (polynomial_->stages - 1) * n_;
      for (std::size_t i = 0; i < n_; ++i) work_[i] = now_[i] - last_end[i];
      polynomial_->add_value(middle, last_Z_.data(), n_, work_.data());
      polynomial_->slope(middle, last_h_, last_Z_.data(), n_, inner_slope_.data());
      const Evaluation outcome = solver_.linearize(t_ + 0.5 * h_, work_.data(), inner_slope_.data(), stats_);
      if (outcome == Evaluation::ok) return outcome;
    }
    return solver_.linearize(t_, now_.data(), slope_.data(), stats_);
  }

  /// Evaluates the Jacobian in the middle of the present iterate.
  Evaluation linearize_iterate() {
    std::copy(now_.begin(), now_.end(), work_.begin());
    method_[level_].add_value(0.5, Z_.data(), n_, work_.data());
    method_[level_].slope(0.5, h_, Z_.data(), n_, inner_slope_.data());
    return solver_.linearize(t_ + 0.5 * h_, work_.data(), inner_slope_.data(), stats_);
  }

  /// A fixed step cannot be made smaller: iterates with a new Jacobian every few times.
  NewtonReport solve_with_new_jacobians() {
    constexpr int tries = 10;
    NewtonReport report;
    predict();
    for (int k = 0; k < tries; ++k) {
      report.outcome = linearize_iterate();
      if (report.outcome != Evaluation::ok) return report;
      if (!solver_.factor(h_, stats_)) {
        report.outcome = Evaluation::singular;
        return report;
      }
      NewtonLimits limits = newton_limits(nullptr);
      if (k + 1 < tries) limits.most = 3;
      report = solver_.solve(t_, now_.data(), h_, scale_.data(), limits, Z_.data(), stats_);
      if (report.outcome != Evaluation::no_convergence) return report;
    }
    return report;
  }

  /// Estimates the error and proposes the next step and order.
  void judge(const Tolerance& tolerance, const NewtonReport& report, Attempt& result) {
    result.outcome = estimate(now_.data());
    if (result.outcome != Evaluation::ok) return;
    double size = measure(tolerance, result);
    if (!(size < radau_calibration(relative_tolerance_, stages())) && (first_ || after_rejection_)) {
      for (std::size_t i = 0; i < n_; ++i) work_[i] = now_[i] + error_[i];
      if (estimate(work_.data()) == Evaluation::ok) size = measure(tolerance, result);
    }
    size /= radau_calibration(relative_tolerance_, stages());
    result.error = error_size_ = size;

    const double most = static_cast<double>(newton_most()), used = static_cast<double>(report.iterations);
    const double caution = safety * (1.0 + 2.0 * most) / (used + 2.0 * most);
    double factor = caution * radau_growth(size, stages());
    if (size < 1.0 && has_polynomial_) {
      factor = std::min(factor, safety * (h_ / last_h_) * radau_growth(size * size / last_error_, stages()));
    }
    factor = std::clamp(factor, least_factor, most_factor);
    if (!(size < 1.0)) {
      result.next_step = h_ * std::min(factor, safety);
      return;
    }
    // Beyond this the iteration would contract too slowly: its rate grows at most like the cube of the step.
    const double tractable = std::max(0.5, std::cbrt(good_contraction / std::max(report.contraction, 1e-3)));
    const double most_growth = std::min(tractable, after_rejection_ ? 1.0 : most_factor);
    factor = choose_order(tolerance, std::min(factor, most_growth), most_growth);
    if (next_level_ == level_ && factor >= 1.0 && factor <= dead_zone && report.contraction <= reuse_contraction) {
      factor = 1.0;
    }
    result.next_step = h_ * factor;
  }

  /// Decides about the next order; `factor` is the growth of the step with the present one.
  double choose_order(const Tolerance& tolerance, double factor, double most_growth) {
    if (method_.size() == 1 || since_change_ < patience) return factor;
    const OrderChoice choice =
        choose_radau_order({.stages = stages(),
                            .least = method_.front().stages,
                            .most = method_.back().stages,
                            .relative_tolerance = relative_tolerance_,
                            .error = error_size_ * radau_calibration(relative_tolerance_, stages()),
                            .lower_error = lower_estimate(tolerance),
                            .factor = factor,
                            .most_growth = most_growth});
    next_level_ = (choice.stages - method_.front().stages) / 2;
    return choice.factor;
  }

  /// The size of the estimate that the method with two stages less would have had, in units of the tolerance as it is.
  double lower_estimate(const Tolerance& tolerance) {
    const RadauCoefficients& method = method_[level_];
    std::fill(work_.begin(), work_.end(), 0.0);
    for (std::size_t j = 0; j < method.stages; ++j) {
      const double weight = method.fewer_defect[j] / h_;
      for (std::size_t i = 0; i < n_; ++i) work_[i] += weight * Z_[j * n_ + i];
    }
    std::fill(error_.begin(), error_.end(), 0.0);
    solver_.multiply_leading(work_.data(), error_.data());
    solver_.solve_real(error_.data());
    Attempt unused;
    return measure(tolerance, unused);
  }

  /// Writes the estimate into error_, with the defect taken at y.
  Evaluation estimate(const double* y) {
    method_[level_].slope(0.0, h_, Z_.data(), n_, inner_slope_.data());
    ++stats_.rhs;
    const Evaluation outcome = implicit_->residual(t_, y, inner_slope_.data(), error_.data());
    if (outcome != Evaluation::ok) return outcome;
    solver_.solve_real(error_.data());
    for (double& value : error_) value = -value;
    if (system_.ode && system_.project_error) system_.project_error(error_.data());
    return Evaluation::ok;
  }

  double measure(const Tolerance& tolerance, Attempt& result) const {
    set_error(result, n_, counted_, [&](std::size_t i) {
      return power_[i] * error_[i] / error_weight(tolerance, i, now_[i], candidate_[i]);
    });
    return result.error;
  }

  /// Where the end of the step was moved, the polynomial follows it with the slope that the system has there.
  Evaluation prepare_correction() {
    std::fill(shift_slope_.begin(), shift_slope_.end(), 0.0);
    if (implicit_->derivative) {
      ++stats_.rhs;
      const Evaluation outcome = implicit_->derivative(t_, now_.data(), shift_slope_.data());
      if (outcome != Evaluation::ok) return outcome;
      for (std::size_t i = 0; i < n_; ++i) {
        shift_slope_[i] = implicit_->differential[i] ? shift_slope_[i] - slope_[i] : 0.0;
      }
    }
    correction_ready_ = true;
    return Evaluation::ok;
  }

  const System& system_;
  std::shared_ptr<const ImplicitSystem> implicit_;
  std::size_t n_, counted_;
  std::vector<RadauCoefficients> method_;  ///< by rising order
  RadauSolver solver_;
  std::vector<double> old_, now_, candidate_;
  std::vector<double> slope_, inner_slope_;  ///< y' at the current point and inside the step
  std::vector<double> weight_, scale_, power_, error_, work_, noise_;
  std::vector<double> start_defect_;         ///< of the last accepted step
  std::vector<double> shift_, shift_slope_;  ///< what acceptance changed at the end of the step
  std::vector<double> Z_, last_Z_;
  const RadauCoefficients* polynomial_ = nullptr;  ///< of last_Z_
  std::size_t level_ = 0, next_level_ = 0;
  int since_change_ = 0, failures_ = 0;
  double h_ = 0.0, last_h_ = 0.0;
  double error_size_ = 0.0, last_error_ = 1.0, contraction_ = 0.0, relative_tolerance_ = 1.0;
  bool first_ = true, after_rejection_ = false;
  bool stepped_ = false, has_polynomial_ = false, moved_ = false, correction_ready_ = false, slope_known_ = false;
  bool controlled_ = false;  ///< the step has a tolerance
  bool defect_filtered_ = true;
  bool jacobian_here_ = false, reuse_jacobian_ = false;
};

std::size_t stages_for(const std::string& order) { return order == "13" ? 7 : order == "9" ? 5 : 3; }

}  // namespace

IntegratorEntry integrator_radau() {
  IntegratorEntry entry;
  entry.name = "radau";
  entry.summary = "Radau II A of order 5, 9 and 13 for stiff and differential-algebraic systems";
  entry.citation =
      "E. Hairer, G. Wanner: Stiff differential equations solved by Radau methods. J. Comput. Appl. Math. 111 (1999) "
      "93-111";
  entry.order = 5;
  entry.stages = 3;
  entry.adaptive = true;
  entry.implicit = true;
  entry.accepts = {View::implicit, View::ode};
  entry.highest_index = 3;
  entry.properties = {"A-stable", "L-stable", "stiffly accurate"};
  entry.index1_orders = {5, 5};
  entry.index2_orders = {5, 3};
  entry.index3_orders = {5, 3, 2};
  entry.dense_order = 4;
  entry.estimate_order = 4;
  entry.options = {
      {.name = "order",
       .summary =
           "order of the method; variable: 5 in fixed steps, chosen by the convergence of the iteration otherwise",
       .standard = std::nullopt,
       .words = {"variable", "5", "9", "13"}},
      {.name = "min-order",
       .summary = "lowest order that is chosen",
       .standard = std::nullopt,
       .words = {"5", "9", "13"}},
      {.name = "max-order",
       .summary = "highest order that is chosen",
       .standard = std::nullopt,
       .words = {"13", "9", "5"}},
  };
  entry.make = [](const System& system, const Options& options) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(shows(system, View::implicit) || shows(system, View::ode),
                   "a system of {} unknowns without equations", system.dimension);
    DAEDALUS_CHECK(!system.implicit || system.implicit->system_index <= 3, "index {}", system.implicit->system_index);
    const bool variable = options.word("order") == "variable";
    const std::size_t least = stages_for(options.word(variable ? "min-order" : "order"));
    const std::size_t most = variable ? std::max(least, stages_for(options.word("max-order"))) : least;
    return std::make_unique<Radau>(system, least, most);
  };
  return entry;
}

}  // namespace daedalus::integrate
