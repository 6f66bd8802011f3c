#include "daedalus/formulate/dae_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "daedalus/base/finite.hpp"
#include "daedalus/base/listed.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// Newton's method takes fresh factors where a correction shrinks by less than this.
constexpr double slow = 0.05;
constexpr int most_iterations = 30;
/// Of a way that is followed.
constexpr int most_parts = 64;
/// A component this small beside its nominal size has no digits of its own.
constexpr double nearly_zero = 1e-11;
/// A correction so small beside the nominal sizes is round-off of terms within a constraint, as in a table that passes
/// through zero.
constexpr double negligible = 1e-14;

}  // namespace

DaeChart::DaeChart(std::shared_ptr<const structure::DaeFunctions> functions)
    : functions_(std::move(functions)),
      values_({functions_, &functions_->kept}),
      x_(functions_->differential),
      y_(functions_->differential),
      target_(functions_->differential),
      between_(functions_->differential),
      corrected_(functions_->differential),
      floor_(functions_->kept.rows()) {
  for (std::size_t i = 0; i < functions_->differential; ++i) {
    const double nominal = functions_->unknowns[i].of->nominal;
    W_.push_back(1.0 / (nominal * nominal));
  }
}

Evaluation DaeChart::select(double t, const double* x) {
  if (!values_.jacobian(t, x)) {
    explanation_ = "the derivative of a hidden constraint is not a finite number";
    return Evaluation::not_finite;
  }
  const linalg::Sparsity& pattern = functions_->kept.pattern;
  std::vector<std::size_t> all(pattern.rows);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<std::size_t> rows = independent_rows(pattern, values_.jacobian().data(), all);
  if (!level_ || level_->rows() != rows) level_.emplace(LocalBasis::Kind::coordinates, pattern, rows);
  return Evaluation::ok;
}

void DaeChart::select_as(const DaeChart& other) {
  if (!level_ || level_->rows() != other.level_->rows())
    level_.emplace(LocalBasis::Kind::coordinates, functions_->kept.pattern, other.level_->rows());
}

bool DaeChart::choose(double t, const double* x) {
  if (!values_.jacobian(t, x) || !level_->choose(values_.jacobian().data(), W_.data())) return false;
  near(x);
  return true;
}

void DaeChart::near(const double* x) {
  std::copy_n(x, x_.size(), x_.begin());
  level_->basis().take(x, y_.data());
}

bool DaeChart::factor(double t, const double* x) {
  ++factorizations_;
  if (!values_.jacobian(t, x)) return false;
  const linalg::Sparsity& pattern = functions_->kept.pattern;
  for (std::size_t i = 0; i < floor_.size(); ++i) {
    floor_[i] = 0.0;
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      const std::size_t j = pattern.column[k];
      floor_[i] += std::abs(values_.jacobian()[k]) * std::max(std::abs(x[j]), nearly_zero * functions_->unknowns[j].of->nominal);
    }
  }
  return level_->factor(values_.jacobian().data());
}

/// Where Newton's method does not reach a state at once it follows the constraints along a straight line of coordinates: what
/// it finds is the branch of the last state.
Evaluation DaeChart::expand(double t, const double* y, double* x) {
  from_ = x_;
  y_from_ = y_;
  Evaluation outcome = search(t, y);
  for (int parts = 4; outcome == Evaluation::no_convergence && parts <= most_parts; parts *= 4) {
    near(from_.data());
    level_->forget();
    outcome = Evaluation::ok;
    for (int part = 1; part <= parts && outcome == Evaluation::ok; ++part) {
      for (std::size_t k = 0; k < dimension(); ++k) between_[k] = y_from_[k] + (y[k] - y_from_[k]) * part / parts;
      outcome = search(t, between_.data());
    }
  }
  if (outcome == Evaluation::ok)
    std::ranges::copy(x_, x);
  else
    near(from_.data());
  return outcome;
}

Evaluation DaeChart::search(double t, const double* y) {
  std::copy_n(y, dimension(), target_.begin());
  level_->basis().move(y_.data(), target_.data(), x_.data());
  std::copy_n(y, dimension(), y_.begin());
  double last = std::numeric_limits<double>::infinity(), moved = last;
  bool fresh = false;
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    if (!values_.residuals(t, x_.data()) || !all_finite(x_)) {
      explanation_ = "a hidden constraint is not a finite number";
      return Evaluation::not_finite;
    }
    double size = 0.0;  // the largest residual beside its terms, or beside what relative changes of x make of it
    for (const std::size_t row : level_->rows())
      if (const double off = std::abs(values_.residual()[row]); off > 0.0)
        size = std::max(size, off / std::max(values_.scale()[row], floor_[row]));
    const bool stuck = iteration > 0 && !(size < 0.5 * last);
    if (size <= 2.0 * epsilon || (stuck && (size <= 1e-13 || moved <= negligible))) return Evaluation::ok;
    if (stuck && fresh) break;
    if (!level_->factored() || size > slow * last) {
      fresh = true;
      if (!factor(t, x_.data())) {
        explanation_ = "the hidden constraints cannot be solved for " + names(level_->basis().normal().column);
        return Evaluation::singular;
      }
    }
    last = size;
    corrected_ = x_;
    level_->correct(values_.residual().data(), x_.data());
    moved = 0.0;
    for (std::size_t i = 0; i < x_.size(); ++i)
      moved = std::max(moved, std::abs(x_[i] - corrected_[i]) / std::max(std::abs(x_[i]), functions_->unknowns[i].of->nominal));
  }
  explanation_ = "the hidden constraints have no solution near the last one for " + names(level_->basis().normal().column);
  return Evaluation::no_convergence;
}

double DaeChart::tilt(double t, const double* x) {
  if (!factor(t, x)) {
    level_->forget();
    return std::numeric_limits<double>::infinity();
  }
  const double tilt = level_->tilt(values_.jacobian().data(), W_.data());
  return std::isfinite(tilt) ? tilt : std::numeric_limits<double>::infinity();
}

void DaeChart::tolerances(double t, const double* x, const double* bound, double* local) {
  if (factor(t, x))
    level_->bounds(values_.jacobian().data(), bound, local);
  else
    level_->basis().bounds(bound, local);
}

std::string DaeChart::describe() {
  std::vector<std::size_t> independent;
  for (std::size_t k = 0; k < dimension(); ++k) independent.push_back(level_->basis().nearest(k));
  return independent.empty() ? "none" : names(independent);
}

std::string DaeChart::names(const std::vector<std::size_t>& unknowns) const {
  std::vector<std::string> all;
  for (const std::size_t i : unknowns) all.push_back(functions_->unknowns[i].name);
  return listed(all);
}

}  // namespace daedalus::formulate
