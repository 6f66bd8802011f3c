// Rodas5P, a Rosenbrock method of order 5 with an estimate of order 4: G. Steinebach, BIT Numer. Math. 63:27 (2023).
// For M y' = f(t, y), with stages U_i and J = df/dy, E. Hairer, G. Wanner, Solving Ordinary Differential Equations II,
// 2nd ed., (IV.7.25), (VI.4.5):
//   (M/(h gamma) - J) U_i = f(t + alpha_i h, y + sum_j a_ij U_j) + M sum_j (c_ij/h) U_j + gamma_i h f_t,
//   y1 = y + sum_i m_i U_i,   error = U_8.
//
// For F(t, y, y') = 0 the derivatives w of the differential unknowns join the unknowns: y' = w, 0 = F(t, y, w) is
// semi-explicit, of index 1 where F determines w and the algebraic unknowns. The method applied to it says for the part
// W_i of a stage that belongs to w
//   W_i = U_i/(h gamma) - r_i,   r_i = w + sum_j a_ij W_j + sum_j (c_ij/h) U_j,
// and with that
//   (F_y + F_y'/(h gamma)) U_i = F_y' r_i - F(t + alpha_i h, y + sum_j a_ij U_j, w + sum_j a_ij W_j) - gamma_i h F_t :
// the matrix is no larger than that of the first form, and for F = M y' - f both are the same whatever w is, which is
// then left 0.
//
// The end of the dense output of the paper is moved to the accepted state and, for differential unknowns, its slope
// there, by a cubic polynomial that vanishes with its slope at the start.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/error_norm.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/integrate/methods/rodas5p_coefficients.hpp"
#include "daedalus/linalg/shifted_lu.hpp"

namespace daedalus::integrate {
namespace {

using rodas5p::stages;

/// df/dx and df/dt by differences of order 4, exact to about eps^(4/5): the order of a Rosenbrock method rests on its
/// Jacobian.
class FineDifferences {
 public:
  explicit FineDifferences(const System& system)
      : ode_(system.ode), n_(system.dimension), x_(n_), slope_(n_), sum_(n_) {}

  Evaluation by_state(double t, const double* x, double* jacobian) {
    std::copy_n(x, n_, x_.begin());
    for (std::size_t j = 0; j < n_; ++j) {
      const auto moved = [&](double change) {
        x_[j] = x[j] + change;
        return ode_(t, x_.data(), slope_.data());
      };
      const Evaluation outcome = differentiate(x[j], moved);
      x_[j] = x[j];
      if (outcome != Evaluation::ok) return outcome;
      for (std::size_t i = 0; i < n_; ++i) jacobian[i * n_ + j] = sum_[i];
    }
    return Evaluation::ok;
  }

  Evaluation by_time(double t, const double* x, double* rate) {
    const Evaluation outcome = differentiate(t, [&](double change) { return ode_(t + change, x, slope_.data()); });
    std::copy(sum_.begin(), sum_.end(), rate);
    return outcome;
  }

 private:
  /// (8 f(d) - 8 f(-d) - f(2d) + f(-2d)) / (12 d), with d a power of two so that it is added exactly as far as
  /// possible.
  template <class Moved>
  Evaluation differentiate(double at, const Moved& moved) {
    const double fifth = std::pow(std::numeric_limits<double>::epsilon(), 0.2);
    const double d = std::exp2(std::round(std::log2(fifth * std::max(std::abs(at), 1e-2))));
    std::fill(sum_.begin(), sum_.end(), 0.0);
    for (const auto& [steps, weight] : {std::pair{1.0, 8.0}, {-1.0, -8.0}, {2.0, -1.0}, {-2.0, 1.0}}) {
      if (const Evaluation outcome = moved(steps * d); outcome != Evaluation::ok) return outcome;
      for (std::size_t i = 0; i < n_; ++i) sum_[i] += weight / (12.0 * d) * slope_[i];
    }
    return Evaluation::ok;
  }

  std::function<Evaluation(double, const double*, double*)> ode_;
  const std::size_t n_;
  std::vector<double> x_, slope_, sum_;
};

/// F = x' - f as a system of its own, with derivatives as exact as can be had.
ImplicitSystem precise_implicit(const System& system) {
  System precise;
  precise.dimension = system.dimension;
  precise.ode = system.ode;
  precise.ode_jacobian = system.ode_jacobian;
  auto differences = std::make_shared<FineDifferences>(system);
  if (!precise.ode_jacobian) {
    precise.ode_jacobian = [differences](double t, const double* x, double* jacobian) {
      return differences->by_state(t, x, jacobian);
    };
  }
  ImplicitSystem result = implicit_from_ode(precise);
  result.time_derivative = [differences, n = system.dimension](double t, const double* y, const double*, double* F_t) {
    const Evaluation outcome = differences->by_time(t, y, F_t);
    for (std::size_t i = 0; i < n; ++i) F_t[i] = -F_t[i];
    return outcome;
  };
  return result;
}

class Rodas5p final : public Stepper {
 public:
  explicit Rodas5p(const System& system)
      : system_(system),
        implicit_(system.implicit ? system.implicit : std::make_shared<const ImplicitSystem>(precise_implicit(system))),
        n_(system.dimension),
        carries_slopes_(!implicit_->constant_leading),
        lu_(implicit_->pattern, linalg::ShiftedLu::Numbers::real),
        F_y_(implicit_->pattern.nonzeros()),
        F_dy_(implicit_->pattern.nonzeros()) {
    for (auto* vector : {&old_, &now_, &candidate_, &tried_, &slope_, &next_slope_, &value_, &argument_, &right_,
                         &product_, &F_t_, &error_, &end_slope_}) {
      vector->assign(n_, 0.0);
    }
    for (auto* rows : {&u_, &w_}) rows->assign(stages, std::vector<double>(n_));
    for (std::vector<double>& row : dense_) row.assign(n_, 0.0);
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, n_, now_.begin());
    stepped_ = linearized_ = false;
    return carries_slopes_ ? slopes_at(t, x, slope_.data()) : Evaluation::ok;
  }

  Attempt attempt(double h, const Tolerance* tolerance) override {
    stepped_ = false;
    h_ = h;
    Attempt result;
    result.outcome = solve_stages();
    if (result.outcome != Evaluation::ok) return result;
    const std::vector<double>& last = u_.back();
    for (std::size_t i = 0; i < n_; ++i) candidate_[i] = value_[i] + last[i];
    for (std::size_t i = 0; i < n_; ++i) next_slope_[i] = argument_[i] + w_.back()[i];
    tried_ = candidate_;
    if (tolerance != nullptr) estimate(*tolerance, result);
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    if (carries_slopes_) {
      if (candidate_ != tried_) {
        const Evaluation outcome = slopes_at(t_next, candidate_.data(), next_slope_.data());
        if (outcome != Evaluation::ok) return outcome;
      }
      slope_.swap(next_slope_);
    }
    old_.swap(now_);
    now_.swap(candidate_);
    t_ = t_next;
    stepped_ = true;
    linearized_ = dense_ready_ = false;
    return Evaluation::ok;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }

  Evaluation interpolate(double theta, double* x) override {
    DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
    if (!dense_ready_) {
      if (const Evaluation outcome = prepare_dense(); outcome != Evaluation::ok) return outcome;
    }
    const double rest = 1.0 - theta, hump = theta * theta * (3.0 - 2.0 * theta), bend = -theta * theta * rest;
    for (std::size_t i = 0; i < n_; ++i) {
      const double inner = dense_[0][i] + theta * (dense_[1][i] + theta * dense_[2][i]);
      x[i] = rest * old_[i] + theta * (tried_[i] + rest * inner) + hump * (now_[i] - tried_[i]) + bend * end_slope_[i];
    }
    return Evaluation::ok;
  }

  const double* state() const override { return now_.data(); }

 private:
  Evaluation slopes_at(double t, const double* y, double* slope) {
    ++stats_.rhs;
    return implicit_->derivative(t, y, slope);
  }

  /// Derivatives at the current point; a step that is tried again does not need them anew.
  Evaluation linearize() {
    if (linearized_) return Evaluation::ok;
    ++stats_.jacobians;
    Evaluation outcome = implicit_->jacobian(t_, now_.data(), slope_.data(), F_y_.data(), F_dy_.data());
    if (outcome == Evaluation::ok && implicit_->time_derivative)
      outcome = implicit_->time_derivative(t_, now_.data(), slope_.data(), F_t_.data());
    linearized_ = outcome == Evaluation::ok;
    return outcome;
  }

  /// Leaves y and w of the last stage in value_ and argument_.
  Evaluation solve_stages() {
    if (const Evaluation outcome = linearize(); outcome != Evaluation::ok) return outcome;
    ++stats_.factorizations;
    if (!lu_.factor(F_y_.data(), F_dy_.data(), 1.0 / (h_ * rodas5p::gamma))) return Evaluation::singular;
    for (std::size_t i = 0; i < stages; ++i) {
      if (const Evaluation outcome = solve_stage(i); outcome != Evaluation::ok) return outcome;
    }
    return Evaluation::ok;
  }

  Evaluation solve_stage(std::size_t i) {
    value_ = now_;
    argument_ = slope_;
    std::fill(product_.begin(), product_.end(), 0.0);
    for (std::size_t j = 0; j < i; ++j) {
      const double a = rodas5p::a[i][j], c = rodas5p::c[i][j] / h_;
      for (std::size_t k = 0; k < n_; ++k) value_[k] += a * u_[j][k];
      if (carries_slopes_)
        for (std::size_t k = 0; k < n_; ++k) argument_[k] += a * w_[j][k];
      for (std::size_t k = 0; k < n_; ++k) product_[k] += c * u_[j][k];
    }
    ++stats_.rhs;
    const Evaluation outcome =
        implicit_->residual(t_ + rodas5p::node[i] * h_, value_.data(), argument_.data(), right_.data());
    if (outcome != Evaluation::ok) return outcome;
    for (std::size_t k = 0; k < n_; ++k) right_[k] = -right_[k] - rodas5p::time_weight[i] * h_ * F_t_[k];
    for (std::size_t k = 0; k < n_; ++k) product_[k] += argument_[k];
    linalg::multiply_add(implicit_->pattern, F_dy_.data(), 1.0, product_.data(), right_.data());
    lu_.solve(right_.data());
    u_[i].swap(right_);
    if (!carries_slopes_) return Evaluation::ok;
    for (std::size_t k = 0; k < n_; ++k) {
      w_[i][k] = implicit_->differential[k] ? u_[i][k] / (h_ * rodas5p::gamma) - product_[k] : 0.0;
    }
    return Evaluation::ok;
  }

  void estimate(const Tolerance& tolerance, Attempt& result) {
    error_ = u_.back();
    if (system_.project_error) system_.project_error(error_.data());
    set_error(result, n_, [&](std::size_t i) { return error_[i] / error_weight(tolerance, i, now_[i], candidate_[i]); });
  }

  Evaluation prepare_dense() {
    for (std::size_t row = 0; row < dense_.size(); ++row) {
      std::fill(dense_[row].begin(), dense_[row].end(), 0.0);
      for (std::size_t j = 0; j < stages; ++j) {
        for (std::size_t i = 0; i < n_; ++i) dense_[row][i] += rodas5p::dense[row][j] * u_[j][i];
      }
    }
    // What the slope of the polynomial lacks at the end, times h.
    if (const Evaluation outcome = slopes_at(t_, now_.data(), end_slope_.data()); outcome != Evaluation::ok)
      return outcome;
    for (std::size_t i = 0; i < n_; ++i) {
      const double there = tried_[i] - old_[i] - (dense_[0][i] + dense_[1][i] + dense_[2][i]);
      end_slope_[i] = implicit_->differential[i] ? h_ * end_slope_[i] - there : 0.0;
    }
    dense_ready_ = true;
    return Evaluation::ok;
  }

  const System& system_;
  const std::shared_ptr<const ImplicitSystem> implicit_;
  const std::size_t n_;
  const bool carries_slopes_;  ///< F is not M y' - f: the stages need y'
  linalg::ShiftedLu lu_;
  std::vector<double> F_y_, F_dy_;
  std::vector<double> old_, now_, candidate_, tried_, slope_, next_slope_, value_, argument_, right_, product_, F_t_,
      error_, end_slope_;
  std::vector<std::vector<double>> u_, w_;
  std::array<std::vector<double>, 3> dense_;
  double h_ = 0.0;
  bool stepped_ = false;      ///< the last step is accepted, no attempt since
  bool linearized_ = false;   ///< Jacobians belong to the current point
  bool dense_ready_ = false;  ///< dense_ belongs to the last accepted step
};

}  // namespace

IntegratorEntry integrator_rodas5p() {
  IntegratorEntry entry;
  entry.name = "rodas5p";
  entry.summary = "Rosenbrock method of order 5 for stiff systems and index 1: linear equations only, no iteration";
  entry.citation =
      "G. Steinebach, Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the Julia "
      "Differential Equations package, BIT Numer. Math. 63:27 (2023)";
  entry.order = 5;
  entry.stages = static_cast<int>(stages);
  entry.adaptive = true;
  entry.implicit = true;
  entry.accepts = {View::implicit, View::ode};
  entry.properties = {"A-stable", "L-stable", "stiffly accurate"};
  entry.highest_index = 1;
  entry.index1_orders = {5, 5};
  entry.dense_order = 4;
  entry.estimate_order = 5;
  entry.notes = {"its order needs exact Jacobians; where a system gives none, differences of order 4 replace them"};
  entry.make = [](const System& system, const Options&) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(system.implicit || system.ode, "dimension {}", system.dimension);
    DAEDALUS_CHECK(!system.implicit || system.implicit->system_index <= 1, "index {}", system.implicit->system_index);
    return std::make_unique<Rodas5p>(system);
  };
  return entry;
}

}  // namespace daedalus::integrate
