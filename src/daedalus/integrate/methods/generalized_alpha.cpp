// The generalized-alpha method for F(t, y, y') = 0 with q' = v: with accelerations w = v' that satisfy the equations of
// motion and pseudo-accelerations r,
//   (1 - alpha_m) r1 + alpha_m r0 = (1 - alpha_f) w1 + alpha_f w0,
//   v1 = v0 + h ((1 - gamma) r0 + gamma r1),   q1 = q0 + h v0 + h^2 ((1/2 - beta) r0 + beta r1),
//   F(t1, y1, (v1, w1, 0)) = 0,
// constraints on positions (index 3) or velocities (index 2) being rows of F: J. Chung, G. M. Hulbert, J. Appl. Mech.
// 60 (1993) 371-375; M. Arnold, O. Bruels, Multibody Syst. Dyn. 18 (2007) 185-202. Other differential unknowns follow
// the first two lines: K. E. Jansen, C. H. Whiting, G. M. Hulbert, Comput. Methods Appl. Mech. Engrg. 190 (2000)
// 305-319.
//
// Order 2 needs gamma = 1/2 - delta with delta = alpha_m - alpha_f. r belongs to w(t + delta h): r0 = w0 + delta h w0'.
// The position formula has the defect C h^3 w', C = 1/6 - delta/2 - beta, which a constraint on positions turns into a
// velocity error C h^2 across the constraints. Started without it, lambda begins with an error O(h) that oscillates; so
// v0 starts with G v0 + g_t = C h^2 G w0': M. Arnold, O. Bruels, A. Cardona, Error analysis of generalized-alpha Lie
// group time integration methods for constrained mechanical systems, Numer. Math. 129 (2015) 149-179.
//
// Newton's method changes (q, v, ...) together: with kappa = (1 - alpha_f)/(1 - alpha_m), dw = dv/(gamma kappa h) and
// dq = (beta h/gamma) dv. Its matrix is F_y + F_y'/(gamma kappa h), with the rows q' - v of F_y' times gamma^2
// kappa/beta.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/linalg/shifted_lu.hpp"

namespace daedalus::integrate {
namespace {

struct Parameters {
  double alpha_m, alpha_f, beta, gamma;

  double kappa() const { return (1.0 - alpha_f) / (1.0 - alpha_m); }
  double delta() const { return alpha_m - alpha_f; }
  double defect() const { return 1.0 / 6.0 - 0.5 * delta() - beta; }
};

Parameters parameters_of(const Options& options) {
  const double rho = options.number("rho_inf");
  const auto given = [&](const char* name, double otherwise) {
    return options.given(name) ? options.number(name) : otherwise;
  };
  Parameters p{};
  p.alpha_m = given("alpha_m", (2.0 * rho - 1.0) / (rho + 1.0));
  p.alpha_f = given("alpha_f", rho / (rho + 1.0));
  p.gamma = given("gamma", 0.5 + p.alpha_f - p.alpha_m);
  p.beta = given("beta", 0.25 * (p.gamma + 0.5) * (p.gamma + 0.5));
  return p;
}

class GeneralizedAlpha final : public Stepper {
 public:
  GeneralizedAlpha(const System& system, const Parameters& parameters)
      : implicit_(system.implicit ? system.implicit
                                  : std::make_shared<const ImplicitSystem>(implicit_from_ode(system))),
        p_(parameters),
        size_(system.dimension),
        n_(system.coordinates),
        lu_(implicit_->pattern, linalg::ShiftedLu::Numbers::real),
        F_y_(implicit_->pattern.nonzeros()),
        F_dy_(implicit_->pattern.nonzeros()) {
    for (auto* vector : {&old_, &now_, &candidate_, &tried_, &base_, &w0_, &w1_, &r0_, &r1_, &dy_, &F_, &end_slope_,
                         &old_slope_, &jerk_, &moved_, &row_scale_, &column_scale_, &F_t_}) {
      vector->assign(size_, 0.0);
    }
    while (constraints_ < size_ && !implicit_->differential[size_ - 1 - constraints_] &&
           implicit_->index[size_ - 1 - constraints_] > 1) {
      ++constraints_;
    }
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, size_, now_.begin());
    base_ = now_;
    stepped_ = false;
    h_of_history_ = 0.0;
    ++stats_.rhs;
    const Evaluation outcome = implicit_->derivative(t, x, w0_.data());
    r0_ = w0_;
    return outcome;
  }

  Attempt attempt(double h, const Tolerance*) override {
    stepped_ = false;
    Attempt result;
    // Steps of one size differ by round-off: the history need not follow that.
    if (!(std::abs(h - h_of_history_) <= 1e-9 * std::abs(h))) {
      result.outcome = rebase(h);
      if (result.outcome != Evaluation::ok) return result;
    }
    h_ = h;
    result.outcome = solve(h);
    tried_ = candidate_;
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    const bool moved = candidate_ != tried_;
    if (moved) {
      ++stats_.rhs;
      const Evaluation outcome = implicit_->derivative(t_next, candidate_.data(), w1_.data());
      if (outcome != Evaluation::ok) return outcome;
      r1_ = w1_;
      h_of_history_ = 0.0;
    }
    old_.swap(now_);
    now_.swap(candidate_);
    base_ = now_;
    w0_.swap(w1_);
    r0_.swap(r1_);
    old_slope_ = w1_;
    end_slope_ = w0_;
    t_ = t_next;
    stepped_ = true;
    return Evaluation::ok;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }

  Evaluation interpolate(double theta, double* x) override {
    DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
    const double s = theta, u = 1.0 - theta;
    for (std::size_t i = 0; i < size_; ++i) {
      const double change = now_[i] - old_[i];
      x[i] = old_[i] + s * change;
      if (!implicit_->differential[i]) continue;
      const double k0 = h_ * (i < n_ ? old_[n_ + i] : old_slope_[i]), k1 = h_ * (i < n_ ? now_[n_ + i] : end_slope_[i]);
      x[i] += s * u * (u * (k0 - change) - s * (k1 - change));
    }
    return Evaluation::ok;
  }

  const double* state() const override { return now_.data(); }

 private:
  bool first_order(std::size_t i) const { return i >= n_ && implicit_->differential[i]; }

  void set_slopes(const std::vector<double>& y, const std::vector<double>& w) {
    for (std::size_t i = 0; i < size_; ++i) dy_[i] = i < n_ ? y[n_ + i] : implicit_->differential[i] ? w[i] : 0.0;
  }

  void set_scales(double h) {
    const auto power = [&](const std::vector<int>& powers, std::size_t i) {
      return powers.empty() ? 1.0 : std::pow(std::abs(h), powers[i]);
    };
    for (std::size_t i = 0; i < size_; ++i) {
      row_scale_[i] = power(implicit_->row_power, i);
      column_scale_[i] = power(implicit_->column_power, i);
    }
  }

  /// Makes the history one of steps of size h: r belongs to t + delta h, and velocities have the error across position
  /// constraints that belongs to h. Steps of another size begin at the accepted point, not at the changed one.
  Evaluation rebase(double h) {
    const double s = 0.1 * h;
    for (std::size_t i = 0; i < size_; ++i) {
      const double slope = i < n_ ? now_[n_ + i] : w0_[i];
      moved_[i] = now_[i] + s * slope + (i < n_ ? 0.5 * s * s * w0_[n_ + i] : 0.0);
    }
    ++stats_.rhs;
    Evaluation outcome = implicit_->derivative(t_ + s, moved_.data(), jerk_.data());
    if (outcome != Evaluation::ok) return outcome;
    for (std::size_t i = 0; i < size_; ++i) {
      jerk_[i] = first_order(i) ? (jerk_[i] - w0_[i]) / s : 0.0;
      r0_[i] = w0_[i] + p_.delta() * h * jerk_[i];
    }
    base_ = now_;
    h_of_history_ = h;
    return constraints_ > 0 && n_ > 0 ? tilt_velocities(h) : Evaluation::ok;
  }

  /// Moves v of the base so that G v + g_t = C h^2 G w' on the rows of position constraints, by M dv + G^T mu = 0. The
  /// matrix is that of dq = dv, so that G stands where F has it.
  Evaluation tilt_velocities(double h) {
    ++stats_.jacobians;
    set_slopes(now_, w0_);
    Evaluation outcome = implicit_->jacobian(t_, now_.data(), dy_.data(), F_y_.data(), F_dy_.data());
    if (outcome != Evaluation::ok) return outcome;
    std::fill(F_t_.begin(), F_t_.end(), 0.0);
    if (implicit_->time_derivative) outcome = implicit_->time_derivative(t_, now_.data(), dy_.data(), F_t_.data());
    if (outcome != Evaluation::ok) return outcome;
    const linalg::Sparsity& pattern = implicit_->pattern;
    const std::size_t first_multiplier = size_ - constraints_;
    bool any = false;
    std::fill(moved_.begin(), moved_.end(), 0.0);
    for (std::size_t i = 0; i < size_; ++i) {
      const bool constraint = i >= first_multiplier;
      // Columns ascend: the last one tells whether v occurs.
      const bool on_positions = constraint && pattern.row_start[i + 1] > pattern.row_start[i] &&
                                pattern.column[pattern.row_start[i + 1] - 1] < n_;
      any = any || on_positions;
      if (on_positions) moved_[i] = -F_t_[i];
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
        const std::size_t j = pattern.column[k];
        if (on_positions && j < n_) moved_[i] += F_y_[k] * (p_.defect() * h * h * jerk_[n_ + j] - now_[n_ + j]);
        const bool kept = i < n_ || (constraint && (on_positions ? j < n_ : j >= n_)) ||
                          (!constraint && j >= first_multiplier) || !implicit_->differential[j];
        F_y_[k] = kept ? F_y_[k] : 0.0;
        if (constraint) F_dy_[k] = 0.0;
      }
    }
    if (!any) return Evaluation::ok;
    ++stats_.factorizations;
    if (!lu_.factor(F_y_.data(), F_dy_.data(), 1.0)) return Evaluation::singular;
    lu_.solve(moved_.data());
    for (std::size_t i = n_; i < 2 * n_; ++i) base_[i] += moved_[i];
    return Evaluation::ok;
  }

  /// v1, q1 and r1 from w1; y1 keeps its algebraic part.
  void update(double h) {
    for (std::size_t i = n_; i < size_; ++i) {
      if (!implicit_->differential[i]) continue;
      r1_[i] = ((1.0 - p_.alpha_f) * w1_[i] + p_.alpha_f * w0_[i] - p_.alpha_m * r0_[i]) / (1.0 - p_.alpha_m);
      candidate_[i] = base_[i] + h * ((1.0 - p_.gamma) * r0_[i] + p_.gamma * r1_[i]);
    }
    for (std::size_t i = 0; i < n_; ++i) {
      const double bend = (0.5 - p_.beta) * r0_[n_ + i] + p_.beta * r1_[n_ + i];
      candidate_[i] = base_[i] + h * (base_[n_ + i] + h * bend);
    }
  }

  Evaluation renew_matrix(double t, double h) {
    ++stats_.jacobians;
    ++stats_.factorizations;
    const Evaluation outcome = implicit_->jacobian(t, candidate_.data(), dy_.data(), F_y_.data(), F_dy_.data());
    if (outcome != Evaluation::ok) return outcome;
    const std::size_t kinematic = n_ > 0 ? implicit_->pattern.row_start[n_] : 0;
    for (std::size_t k = 0; k < kinematic; ++k) F_dy_[k] *= p_.gamma * p_.gamma * p_.kappa() / p_.beta;
    const bool good = lu_.factor(F_y_.data(), F_dy_.data(), 1.0 / (p_.gamma * p_.kappa() * h), row_scale_.data(),
                                 column_scale_.data());
    return good ? Evaluation::ok : Evaluation::singular;
  }

  /// Newton's method until round-off is all that is left.
  Evaluation solve(double h) {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    constexpr int most = 40;
    const double t = t_ + h;
    set_scales(h);
    candidate_ = base_;
    w1_ = w0_;
    double last = std::numeric_limits<double>::infinity();
    bool renew = true;
    for (int iteration = 0; iteration < most; ++iteration) {
      update(h);
      set_slopes(candidate_, w1_);
      ++stats_.rhs;
      Evaluation outcome = implicit_->residual(t, candidate_.data(), dy_.data(), F_.data());
      if (outcome == Evaluation::ok && renew) outcome = renew_matrix(t, h);
      if (outcome != Evaluation::ok) return outcome;
      renew = false;
      std::fill_n(F_.begin(), n_, 0.0);  // q' = v holds by the formulas
      ++stats_.newton_iterations;
      lu_.solve(F_.data());
      double largest = 0.0, change = 0.0;
      for (std::size_t i = 0; i < size_; ++i) largest = std::max(largest, column_scale_[i] * std::abs(candidate_[i]));
      for (std::size_t i = 0; i < size_; ++i) {
        const double weight = column_scale_[i] * std::abs(candidate_[i]) + 1e-3 * largest;
        if (F_[i] != 0.0) change = std::max(change, column_scale_[i] * std::abs(F_[i]) / weight);
        if (first_order(i))
          w1_[i] -= F_[i] / (p_.gamma * p_.kappa() * h);
        else if (i >= n_)
          candidate_[i] -= F_[i];
      }
      if (!std::isfinite(change)) return Evaluation::no_convergence;
      const double rate = change / last;
      const bool exact = change <= epsilon || (iteration > 0 && rate < 0.5 && rate * change <= 0.1 * epsilon);
      if (exact || (rate >= 0.5 && change <= 1e-10)) {
        update(h);
        return Evaluation::ok;
      }
      if (iteration > 3 && rate > 2.0) return Evaluation::no_convergence;
      renew = iteration > 0 && rate > 0.2;
      last = change;
    }
    return Evaluation::no_convergence;
  }

  const std::shared_ptr<const ImplicitSystem> implicit_;
  const Parameters p_;
  const std::size_t size_, n_;
  std::size_t constraints_ = 0;  ///< multipliers of a higher index, the last unknowns
  linalg::ShiftedLu lu_;
  std::vector<double> F_y_, F_dy_;
  std::vector<double> old_, now_, candidate_, tried_;
  std::vector<double> base_;  ///< the current point with the velocities that belong to the step size
  std::vector<double> w0_, w1_, r0_, r1_, dy_, F_, end_slope_, old_slope_, jerk_, moved_, row_scale_, column_scale_,
      F_t_;
  double h_ = 0.0;
  double h_of_history_ = 0.0;  ///< size of the steps that r0 and base belong to
  bool stepped_ = false;       ///< the last step is accepted, no attempt since
};

}  // namespace

IntegratorEntry integrator_generalized_alpha() {
  IntegratorEntry entry;
  entry.name = "generalized-alpha";
  entry.summary = "Generalized-alpha method of order 2 for constrained motion of index 3, 2 or 1, with chosen damping";
  entry.citation =
      "J. Chung, G. M. Hulbert, J. Appl. Mech. 60 (1993) 371-375; M. Arnold, O. Bruels, A. Cardona, Error analysis of "
      "generalized-alpha Lie group time integration methods for constrained mechanical systems, Numer. Math. 129 "
      "(2015) "
      "149-179";
  entry.order = 2;
  entry.stages = 1;
  entry.implicit = true;
  entry.accepts = {View::implicit, View::ode};
  entry.properties = {"A-stable"};
  entry.highest_index = 3;
  entry.index1_orders = {2, 2};
  entry.index2_orders = {2, 2};
  entry.index3_orders = {2, 2, 2};
  entry.dense_order = 2;
  entry.options = {{.name = "rho_inf",
                    .summary = "spectral radius at infinite frequency: 1 damps nothing, 0 all",
                    .standard = 0.8,
                    .least = 0.0,
                    .most = 1.0},
                   {.name = "alpha_m",
                    .summary = "weight of old pseudo-accelerations; default from rho_inf",
                    .standard = std::nullopt,
                    .least = -1.0,
                    .most = 0.5},
                   {.name = "alpha_f",
                    .summary = "weight of old accelerations; default from rho_inf",
                    .standard = std::nullopt,
                    .least = 0.0,
                    .most = 0.5},
                   {.name = "beta",
                    .summary = "Newmark's beta; default (gamma + 1/2)^2/4",
                    .standard = std::nullopt,
                    .least = 0.01,
                    .most = 1.0},
                   {.name = "gamma",
                    .summary = "Newmark's gamma; default 1/2 + alpha_f - alpha_m, for order 2",
                    .standard = std::nullopt,
                    .least = 0.1,
                    .most = 2.0}};
  entry.notes = {"formulation index3 or index2 chooses the level of the constraints",
                 "Newmark is alpha_m=0,alpha_f=0 with beta and gamma; HHT is alpha_m=0 with alpha_f up to 1/3",
                 "with index3 velocities satisfy their constraint up to O(h^2), as the order of the multipliers needs"};
  entry.make = [](const System& system, const Options& options) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(system.implicit || system.ode, "dimension {}", system.dimension);
    return std::make_unique<GeneralizedAlpha>(system, parameters_of(options));
  };
  return entry;
}

}  // namespace daedalus::integrate
