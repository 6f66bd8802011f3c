// Simplified Newton iteration: (F_y + c F_y') d = F(t, y, y'), y -= d, y' -= c d, with the matrix of an earlier step.
// With the rate rho = |d_m| / |d_(m-1)| the error left is about rho / (1 - rho) |d_m|: K. E. Brenan, S. L. Campbell, L.
// R. Petzold, Numerical Solution of Initial-Value Problems in Differential-Algebraic Equations, section 5.2.
#include "daedalus/integrate/families/multistep_newton.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/linalg/shifted_lu.hpp"

namespace daedalus::integrate {
namespace {

/// Jacobians older than this many steps are evaluated again: whatever they miss, it is not for long.
constexpr int oldest = 50;
/// Slower than this an iteration is called divergent, and faster than that the Jacobians may stay.
constexpr double divergent = 0.9, good_rate = 0.25;
/// What is left of a correction after one that made up for the error of the one before.
constexpr double hardly_any = 0.01;
/// Factors of another c than this much off would slow down the iteration, that of algebraic unknowns most.
constexpr double c_slack = 1e-6;

class SquareCorrection {
 public:
  explicit SquareCorrection(std::shared_ptr<const ImplicitSystem> system)
      : system_(std::move(system)),
        lu_(system_->pattern, linalg::ShiftedLu::Numbers::real, linalg::ShiftedLu::Backend::automatic,
            linalg::ShiftedLu::Pivots::kept),
        F_y_(system_->pattern.nonzeros()),
        F_dy_(system_->pattern.nonzeros()),
        row_scale_(system_->row_power.size()),
        column_scale_(system_->column_power.size()) {}

  Evaluation prepare(const NewtonPoint& point, Jacobians jacobians, Stats& stats) {
    if (jacobians == Jacobians::evaluate) {
      ++stats.jacobians;
      const Evaluation outcome = system_->jacobian(point.t, point.y, point.dy, F_y_.data(), F_dy_.data());
      if (outcome != Evaluation::ok) return outcome;
    }
    const double h = std::abs(point.h);
    for (std::size_t i = 0; i < row_scale_.size(); ++i) row_scale_[i] = std::pow(h, system_->row_power[i]);
    for (std::size_t i = 0; i < column_scale_.size(); ++i) column_scale_[i] = std::pow(h, system_->column_power[i]);
    ++stats.factorizations;
    const bool regular =
        lu_.factor(F_y_.data(), F_dy_.data(), point.c, row_scale_.empty() ? nullptr : row_scale_.data(),
                   column_scale_.empty() ? nullptr : column_scale_.data());
    return regular ? Evaluation::ok : Evaluation::singular;
  }

  void solve(double* residual) { lu_.solve(residual); }

 private:
  std::shared_ptr<const ImplicitSystem> system_;
  linalg::ShiftedLu lu_;
  std::vector<double> F_y_, F_dy_, row_scale_, column_scale_;
};

}  // namespace

NewtonCorrection square_correction(std::shared_ptr<const ImplicitSystem> system) {
  const auto square = std::make_shared<SquareCorrection>(system);
  NewtonCorrection correction;
  correction.rows = system->pattern.rows;
  correction.residual = [system](double t, const double* y, const double* dy, double* F) {
    return system->residual(t, y, dy, F);
  };
  correction.prepare = [square](const NewtonPoint& point, Jacobians jacobians, Stats& stats) {
    return square->prepare(point, jacobians, stats);
  };
  correction.solve = [square](double* residual) { square->solve(residual); };
  return correction;
}

MultistepNewton::MultistepNewton(std::size_t dimension, NewtonCorrection correction)
    : dimension_(dimension), correction_(std::move(correction)), change_(correction_.rows) {}

double MultistepNewton::norm(const Problem& problem) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < dimension_; ++i) {
    const double ratio = change_[i] / problem.weight[i];
    sum += ratio * ratio;
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(problem.counted, 1)));
}

Evaluation MultistepNewton::solve(const Problem& problem, double* y, double* dy, Stats& stats) {
  bool fresh = !jacobians_exist_ || slow_ || age_ >= oldest;
  while (true) {
    if (fresh || !factors_exist_ || std::abs(problem.c - c_) > c_slack * std::abs(c_)) {
      begin(problem, y, dy);
      const NewtonPoint point{problem.t, problem.h, problem.c, y, dy};
      const Evaluation outcome = correction_.prepare(point, fresh ? Jacobians::evaluate : Jacobians::keep, stats);
      factors_exist_ = outcome == Evaluation::ok;
      jacobians_exist_ = factors_exist_ && (fresh || jacobians_exist_);
      if (fresh) {
        age_ = 0;
        slow_ = false;
      }
      if (outcome == Evaluation::singular && !fresh) {
        fresh = true;
        continue;
      }
      if (outcome != Evaluation::ok) return outcome;
      c_ = problem.c;
      rate_ = 1.0;
    }
    const Evaluation outcome = iterate(problem, y, dy, stats);
    if (outcome == Evaluation::ok || fresh) return outcome;
    fresh = true;
  }
}

void MultistepNewton::begin(const Problem& problem, double* y, double* dy) const {
  for (std::size_t i = 0; i < dimension_; ++i) {
    y[i] = problem.begin[i];
    dy[i] = problem.slope[i] + problem.c * (problem.begin[i] - problem.guess[i]);
  }
}

Evaluation MultistepNewton::iterate(const Problem& problem, double* y, double* dy, Stats& stats) {
  begin(problem, y, dy);
  double before = 0.0;
  bool risen = false;
  for (int m = 0; m < problem.most_iterations; ++m) {
    ++stats.rhs;
    if (const Evaluation outcome = correction_.residual(problem.t, y, dy, change_.data()); outcome != Evaluation::ok) {
      return outcome;
    }
    ++stats.newton_iterations;
    correction_.solve(change_.data());
    for (std::size_t i = 0; i < dimension_; ++i) {
      y[i] -= change_[i];
      dy[i] -= problem.c * change_[i];
    }
    const double size = norm(problem);
    if (!std::isfinite(size)) return Evaluation::no_convergence;
    if (size <= problem.floor) return Evaluation::ok;
    if (m > 0) {
      const double rate = size / before;
      // The first correction says little about the second: it changes y' by c times as much as y, and what that does where F
      // is not linear, or the matrix not of this point, falls on algebraic unknowns, whose tolerance may be far smaller. If
      // that is all, the third is as good as nothing.
      if (rate > divergent && m == 1) {
        before = size;
        risen = true;
        continue;
      }
      if (risen && m == 2 && rate > hardly_any) return wanders(before, problem);
      // Round-off makes the last corrections wander: that of one unknown may come from another, far larger one.
      if (rate > divergent) return wanders(size, problem);
      rate_ = std::max(0.3 * std::min(rate_, 1.0), rate);
      slow_ = rate > good_rate && before > 5.0 * problem.enough;
    }
    const double rate = std::min(rate_, divergent);
    if (rate / (1.0 - rate) * size <= problem.enough) return Evaluation::ok;
    before = size;
  }
  return wanders(before, problem);
}

Evaluation MultistepNewton::wanders(double size, const Problem& problem) {
  if (size > problem.harmless) return Evaluation::no_convergence;
  noise_ = std::max(noise_, size);
  return Evaluation::ok;
}

}  // namespace daedalus::integrate
