// Simplified Newton iterations for implicit Runge-Kutta methods: E. Hairer, G. Wanner, Solving Ordinary Differential
// Equations II, 2nd ed., section IV.8, for F(t, y, y') = 0. With Y'_i = (A^-1 Z)_i / h the linear system is
//   (I x F_y + (1/h) A^-1 x F_y') dZ = -R,   R_i = F(t + c_i h, y + Z_i, Y'_i),
// and with A^-1 T = T Lambda, dZ = (T x I) dW it falls apart into
//   (F_y + (gamma/h) F_y') dW_1 = -(T^-1 R)_1,   (F_y + (mu/h) F_y') (dW_2 + i dW_3) = -(T^-1 R)_2 - i (T^-1 R)_3, ...
// It ends when theta/(1 - theta) |dZ| is below the target, theta = |dZ_k| / |dZ_(k-1)|, and is given up as soon as
// theta says that the target will not be reached in time.
#include "daedalus/integrate/families/radau_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/check.hpp"
#include "daedalus/base/fours.hpp"

namespace daedalus::integrate {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// A step in which the iteration contracts too slowly is shortened so far that it contracts by this factor: its rate grows at most
/// like the cube of the step.
constexpr double wanted_contraction = 0.03;

/// out_i = factor sum_j matrix_ij in_j for s blocks of length n.
template <std::size_t s>
struct Combine {
  [[gnu::always_inline]] static inline void run(const double* matrix, double factor, std::size_t n,
                                                const double* __restrict in, double* __restrict out) {
    for (std::size_t i = 0; i < s; ++i, matrix += s, out += n) {
      double weight[s];
      for (std::size_t j = 0; j < s; ++j) weight[j] = factor * matrix[j];
      std::size_t k = 0;
      for (; k + 4 <= n; k += 4) {
        Four sum = weight[0] * *four(in + k);
        for (std::size_t j = 1; j < s; ++j) sum += weight[j] * *four(in + j * n + k);
        *four(out + k) = sum;
      }
      for (; k < n; ++k) {
        double sum = weight[0] * in[k];
        for (std::size_t j = 1; j < s; ++j) sum += weight[j] * in[j * n + k];
        out[k] = sum;
      }
    }
  }
};

void combine(const std::vector<double>& matrix, double factor, std::size_t s, std::size_t n, const double* in, double* out) {
  if (s == 3) return in_fours<Combine<3>>(matrix.data(), factor, n, in, out);
  if (s == 5) return in_fours<Combine<5>>(matrix.data(), factor, n, in, out);
  in_fours<Combine<7>>(matrix.data(), factor, n, in, out);
}

}  // namespace

RadauSolver::RadauSolver(std::shared_ptr<const ImplicitSystem> system, std::size_t dimension, std::size_t most_stages)
    : system_(std::move(system)),
      n_(dimension),
      counted_(std::max<std::size_t>(system_->counted(), 1)),
      factors_(system_->pattern, most_stages / 2),
      F_y_(system_->pattern.nonzeros()),
      F_dy_(F_y_.size()),
      row_scale_(system_->row_power.size()),
      column_scale_(system_->column_power.size()),
      residual_(most_stages * n_),
      transformed_(most_stages * n_),
      stage_(n_),
      slope_(most_stages * n_) {}

void RadauSolver::use(const RadauCoefficients& coefficients) {
  coefficients_ = &coefficients;
  factored_h_ = 0.0;
}

Evaluation RadauSolver::linearize(double t, const double* y, const double* dy, Stats& stats) {
  ++stats.jacobians;
  factored_h_ = 0.0;
  contraction_ = 1.0;
  return system_->jacobian(t, y, dy, F_y_.data(), F_dy_.data());
}

bool RadauSolver::factored_for(double h) const {
  // The loop gives a step of the same size with another rounding.
  return std::abs(h - factored_h_) <= 1e-9 * std::abs(h);
}

bool RadauSolver::factor(double h, Stats& stats) {
  ++stats.factorizations;
  factored_h_ = 0.0;
  for (std::size_t i = 0; i < row_scale_.size(); ++i) row_scale_[i] = std::pow(std::abs(h), system_->row_power[i]);
  for (std::size_t j = 0; j < column_scale_.size(); ++j) {
    column_scale_[j] = std::pow(std::abs(h), system_->column_power[j]);
  }
  const double* rows = row_scale_.empty() ? nullptr : row_scale_.data();
  const double* columns = column_scale_.empty() ? nullptr : column_scale_.data();
  linalg::ShiftedFamily::Shifts shifts;
  shifts.real = coefficients_->gamma / h;
  for (const std::complex<double>& mu : coefficients_->mu) shifts.complex[shifts.count++] = mu / h;
  if (!factors_.factor(F_y_.data(), F_dy_.data(), shifts, rows, columns)) {
    singular_column_ = factors_.singular_column();
    return false;
  }
  factored_h_ = h;
  return true;
}

Evaluation RadauSolver::residuals(double t, const double* y, double h, const double* Z, Stats& stats) {
  const std::size_t s = coefficients_->stages;
  combine(coefficients_->inverse, 1.0 / h, s, n_, Z, slope_.data());
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t k = 0; k < n_; ++k) stage_[k] = y[k] + Z[i * n_ + k];
    ++stats.rhs;
    const Evaluation outcome = system_->residual(t + coefficients_->node[i] * h, stage_.data(), slope_.data() + i * n_,
                                                 residual_.data() + i * n_);
    if (outcome != Evaluation::ok) return outcome;
  }
  return Evaluation::ok;
}

void RadauSolver::newton_change() {
  const std::size_t s = coefficients_->stages;
  combine(coefficients_->transform_inverse, 1.0, s, n_, residual_.data(), transformed_.data());
  factors_.solve(transformed_.data());
  combine(coefficients_->transform, 1.0, s, n_, transformed_.data(), residual_.data());
}

bool RadauSolver::is_noise(const double* noise) const {
  for (std::size_t i = 0; i < coefficients_->stages; ++i) {
    for (std::size_t j = 0; j < n_; ++j) {
      if (std::abs(residual_[i * n_ + j]) > noise[j]) return false;
    }
  }
  return true;
}

NewtonReport RadauSolver::solve(double t, const double* y, double h, const double* scale, const NewtonLimits& limits,
                                double* Z, Stats& stats) {
  const std::size_t s = coefficients_->stages;
  NewtonReport report;
  double previous = 0.0, previous_theta = 0.0, first = 0.0;
  double contraction = std::pow(std::max(contraction_, epsilon), 0.8);
  for (std::size_t k = 1; k <= limits.most; ++k) {
    ++stats.newton_iterations;
    report.iterations = k;
    report.outcome = residuals(t, y, h, Z, stats);
    if (report.outcome != Evaluation::ok) return report;
    newton_change();
    double sum = 0.0;
    for (std::size_t i = 0; i < s; ++i) {
      const double* change = residual_.data() + i * n_;
      for (std::size_t j = 0; j < n_; ++j) sum += change[j] * scale[j] * change[j] * scale[j];
    }
    const double size = std::sqrt(sum / static_cast<double>(s * counted_));
    if (!std::isfinite(size)) {
      report.outcome = Evaluation::no_convergence;
      return report;
    }
    for (std::size_t i = 0; i < s * n_; ++i) Z[i] -= residual_[i];
    if (size <= limits.floor) return report;

    if (k > 1) {
      const double theta = size / previous;
      if (k == 2) first = theta < 0.99 ? theta / (1.0 - theta) : 100.0;
      const bool stagnates = theta > 0.5 && (size <= limits.stagnation || is_noise(limits.noise));
      if (k > 2 && stagnates) return report;
      report.contraction = k == 2 ? theta : std::sqrt(theta * previous_theta);
      previous_theta = theta;
      const double left = static_cast<double>(limits.most - k);
      // Errors move from one kind of unknown to another before they shrink (from velocities to multipliers, say): a
      // single factor says little unless it is large.
      const bool early = (k == 2 && theta < 2.0) || stagnates;
      if (report.contraction < 0.99) {
        contraction = report.contraction / (1.0 - report.contraction);
        const double expected = contraction * size * std::pow(report.contraction, left) / limits.target;
        if (!early && left > 0.0 && expected >= 1.0 && size > limits.stagnation && !is_noise(limits.noise)) {
          report.outcome = Evaluation::no_convergence;
          report.shrink = std::min(0.8 * std::pow(std::clamp(expected, 1e-4, 20.0), -1.0 / (4.0 + left)),
                                   std::cbrt(wanted_contraction / report.contraction));
          return report;
        }
      } else {
        contraction = 100.0;
        if (!early) {
          report.outcome = Evaluation::no_convergence;
          return report;
        }
      }
    }
    if (contraction * size <= limits.target) {
      // What a single iteration of the next step will leave is what the first of this one left: later ones may have been the
      // last of a quadratic equation.
      contraction_ = std::max(contraction, first);
      return report;
    }
    previous = size;
  }
  report.outcome = Evaluation::no_convergence;
  return report;
}

void RadauSolver::multiply_leading(const double* x, double* y) const {
  linalg::multiply_add(system_->pattern, F_dy_.data(), 1.0, x, y);
}

}  // namespace daedalus::integrate
