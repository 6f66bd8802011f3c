// Collocation: with Z_i = Y_i - y_0 and the slopes (1/h) sum_j (A^-1)_ij Z_j at the nodes c_i,
//   F(t_0 + c_i h, y_0 + Z_i, (1/h) sum_j (A^-1)_ij Z_j) = 0,   y_1 = y_0 + Z_s,
// E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., sections IV.5 and VI.6. Newton's method on
// all stages together, its matrix with the blocks delta_ij F_y + (A^-1)_ij / h F_y'.
#include "daedalus/integrate/families/multistep_start.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace daedalus::integrate {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int most_iterations = 30;
/// A correction that is this small, relative to the unknowns, and shrinks no more is round-off.
constexpr double rounded = 1e-9;

/// The pattern of all stages: s by s blocks of the same pattern.
linalg::Sparsity stage_pattern(const linalg::Sparsity& block, std::size_t stages) {
  linalg::Sparsity pattern{stages * block.rows, stages * block.columns, {0}, {}};
  for (std::size_t s = 0; s < stages; ++s) {
    for (std::size_t i = 0; i < block.rows; ++i) {
      for (std::size_t r = 0; r < stages; ++r) {
        for (std::size_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k) {
          pattern.column.push_back(r * block.columns + block.column[k]);
        }
      }
      pattern.row_start.push_back(pattern.column.size());
    }
  }
  return pattern;
}

}  // namespace

MultistepStart::MultistepStart(std::shared_ptr<const ImplicitSystem> system, std::size_t stages, std::size_t visible)
    : system_(std::move(system)),
      n_(system_->pattern.rows),
      visible_(visible),
      radau_(radau_coefficients(stages)),
      lu_(stage_pattern(system_->pattern, stages), linalg::ShiftedLu::Numbers::real),
      matrix_(stages * stages * system_->pattern.nonzeros()),
      zero_(matrix_.size()),
      row_scale_(system_->row_power.empty() ? 0 : stages * n_),
      column_scale_(system_->column_power.empty() ? 0 : stages * n_),
      F_y_(system_->pattern.nonzeros()),
      F_dy_(system_->pattern.nonzeros()),
      begin_(n_),
      y_(n_),
      dy_(n_),
      Z_(stages * n_),
      change_(stages * n_) {}

Evaluation MultistepStart::step(double t, double h, const double* y, const double* dy, double* end, Stats& stats) {
  const std::size_t s = radau_.stages;
  h_ = h;
  std::copy_n(y, visible_, begin_.begin());
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t k = 0; k < n_; ++k) {
      Z_[i * n_ + k] = k < visible_ && system_->differential[k] ? radau_.node[i] * h * dy[k] : 0.0;
    }
  }
  for (std::size_t k = 0; k < row_scale_.size(); ++k) row_scale_[k] = std::pow(std::abs(h), system_->row_power[k % n_]);
  for (std::size_t k = 0; k < column_scale_.size(); ++k) {
    column_scale_[k] = std::pow(std::abs(h), system_->column_power[k % n_]);
  }

  double before = std::numeric_limits<double>::infinity();
  for (int m = 0;; ++m) {
    if (m == most_iterations) return Evaluation::no_convergence;
    if (const Evaluation outcome = correct(t, h, stats); outcome != Evaluation::ok) return outcome;
    // An unknown near 0 is as uncertain as a hundredth of the largest; one of index k > 1 as 1/h^(k-1) of that.
    double largest = 0.0, size = 0.0;
    for (std::size_t k = 0; k < n_; ++k) largest = std::max(largest, std::abs(begin_[k]));
    for (std::size_t k = 0; k < s * n_; ++k) {
      const double weight = std::max(std::abs(begin_[k % n_] + Z_[k]), 0.01 * largest) + std::abs(Z_[k]);
      const double scale = std::min(1.0, std::pow(std::abs(h), std::max(system_->index[k % n_] - 1, 0)));
      if (change_[k] != 0.0 && system_->counts(k % n_)) size = std::max(size, scale * std::abs(change_[k]) / weight);
    }
    if (!std::isfinite(size)) return Evaluation::no_convergence;
    if (size <= 4.0 * epsilon || (size <= rounded && size >= 0.3 * before)) break;
    before = size;
  }
  for (std::size_t k = 0; k < visible_; ++k) end[k] = begin_[k] + Z_[(s - 1) * n_ + k];
  return Evaluation::ok;
}

Evaluation MultistepStart::correct(double t, double h, Stats& stats) {
  const std::size_t s = radau_.stages, nonzeros = system_->pattern.nonzeros();
  const auto& start = system_->pattern.row_start;
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t k = 0; k < n_; ++k) {
      double sum = 0.0;
      for (std::size_t j = 0; j < s; ++j) sum += radau_.inverse[i * s + j] * Z_[j * n_ + k];
      dy_[k] = sum / h;
      y_[k] = begin_[k] + Z_[i * n_ + k];
    }
    const double t_stage = t + radau_.node[i] * h;
    ++stats.rhs;
    Evaluation outcome = system_->residual(t_stage, y_.data(), dy_.data(), &change_[i * n_]);
    if (outcome != Evaluation::ok) return outcome;
    ++stats.jacobians;
    outcome = system_->jacobian(t_stage, y_.data(), dy_.data(), F_y_.data(), F_dy_.data());
    if (outcome != Evaluation::ok) return outcome;
    // Row r of the pattern, copied s times, begins at s (i nonzeros + start_r).
    for (std::size_t r = 0; r < n_; ++r) {
      const std::size_t length = start[r + 1] - start[r];
      for (std::size_t j = 0; j < s; ++j) {
        double* out = &matrix_[s * (i * nonzeros + start[r]) + j * length];
        for (std::size_t k = 0; k < length; ++k) {
          out[k] = radau_.inverse[i * s + j] / h * F_dy_[start[r] + k] + (i == j ? F_y_[start[r] + k] : 0.0);
        }
      }
    }
  }
  ++stats.factorizations;
  if (!lu_.factor(matrix_.data(), zero_.data(), 0.0, row_scale_.empty() ? nullptr : row_scale_.data(),
                  column_scale_.empty() ? nullptr : column_scale_.data())) {
    return Evaluation::singular;
  }
  ++stats.newton_iterations;
  lu_.solve(change_.data());
  for (std::size_t k = 0; k < Z_.size(); ++k) Z_[k] -= change_[k];
  return Evaluation::ok;
}

void MultistepStart::interpolate(double theta, double* y) const {
  double weight[16];
  radau_.value_weights(theta, weight);
  for (std::size_t k = 0; k < visible_; ++k) {
    double sum = 0.0;
    for (std::size_t i = 0; i < radau_.stages; ++i) sum += weight[i] * Z_[i * n_ + k];
    y[k] = begin_[k] + sum;
  }
}

void MultistepStart::end_slope(double* dy) const {
  const std::size_t s = radau_.stages;
  for (std::size_t k = 0; k < visible_; ++k) {
    double sum = 0.0;
    for (std::size_t j = 0; j < s; ++j) sum += radau_.inverse[(s - 1) * s + j] * Z_[j * n_ + k];
    dy[k] = sum / h_;
  }
}

}  // namespace daedalus::integrate
