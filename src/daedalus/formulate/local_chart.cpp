// With q = B y + C mu, the dependent parts mu follow from the constraints:
//     position:   g(B y_q + C mu, t) = 0                    Newton's method with K = G C, kept while it does
//     velocity:   G (B y_v + C nu) + g_t = 0                one linear system with K at the new q
// This is (13) of Fuehrer and Leimkuhler 1991 for any directions B and C: dq/dy = V_1 = B - C K^-1 G B.
#include "daedalus/formulate/local_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "daedalus/base/finite.hpp"
#include "daedalus/base/listed.hpp"
#include "daedalus/formulate/coordinate_metric.hpp"
#include "daedalus/linalg/rank.hpp"

namespace daedalus::formulate {

using mechanics::Functions;
using mechanics::Outcome;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// Newton's method takes fresh factors where a correction shrinks by less than this.
constexpr double slow = 0.05;

}  // namespace

LocalChart::LocalChart(std::shared_ptr<const Functions> functions, LocalBasis::Kind kind)
    : functions_(std::move(functions)),
      kind_(kind),
      W_(functions_->n),
      geometry_scratch_(functions_->geometry.make_scratch()),
      velocity_scratch_(functions_->velocity.make_scratch()),
      terms_scratch_(functions_->terms.make_scratch()),
      geometry_(functions_->geometry.output_count()),
      residual_(functions_->m),
      terms_(functions_->terms.output_count()),
      x_(2 * functions_->n),
      anchor_(2 * functions_->n),
      y_q_(functions_->n),
      y_v_(functions_->n),
      target_(functions_->n),
      factored_at_(functions_->n + 1) {}

Outcome LocalChart::fail(Outcome outcome, std::string explanation) {
  explanation_ = std::move(explanation);
  near(anchor_.data());
  return outcome;
}

Outcome LocalChart::not_found(Outcome outcome) {
  return fail(outcome, "the constraints cannot be solved for " + (kind_ == LocalBasis::Kind::tangent
                                                                      ? "a correction normal to the tangent space"
                                                                      : names(position_->basis().normal().column)));
}

void LocalChart::independent(double* of_q) {
  std::fill_n(of_q, functions_->n, 0.0);
  for (std::size_t k = 0; k < position_offset_.size(); ++k) of_q[position_->basis().nearest(k)] = 1.0;
}

std::string LocalChart::describe() {
  if (kind_ == LocalBasis::Kind::tangent) return {};
  std::vector<std::size_t> independent;
  for (std::size_t k = 0; k < position_offset_.size(); ++k) independent.push_back(position_->basis().nearest(k));
  return names(independent);
}

std::string LocalChart::names(const std::vector<std::size_t>& coordinates) const {
  std::vector<std::string> all;
  for (const std::size_t i : coordinates) all.push_back(functions_->equations.q[i].name());
  return listed(all);
}

Outcome LocalChart::select(double t, const double* x) {
  const Functions& fn = *functions_;
  std::copy_n(x, anchor_.size(), anchor_.begin());
  if (!evaluate_geometry(t, x)) {
    explanation_ = "a constraint is not a finite number";
    return Outcome::not_finite;
  }
  std::vector<std::size_t> all(fn.m);
  std::iota(all.begin(), all.end(), std::size_t{0});
  make_levels(independent_rows(fn.jacobian, G(), fn.holonomic_rows), independent_rows(fn.jacobian, G(), all));
  return Outcome::ok;
}

void LocalChart::select_as(const LocalChart& other) {
  make_levels(other.position_->rows(), other.velocity_ ? other.velocity_->rows() : other.position_->rows());
}

void LocalChart::make_levels(std::vector<std::size_t> position_rows, std::vector<std::size_t> velocity_rows) {
  const bool same = position_rows == velocity_rows;
  if (!position_ || position_->rows() != position_rows)
    position_.emplace(kind_, functions_->jacobian, std::move(position_rows));
  if (same)
    velocity_.reset();
  else if (!velocity_ || velocity_->rows() != velocity_rows)
    velocity_.emplace(kind_, functions_->jacobian, std::move(velocity_rows));
  position_offset_.assign(position_->basis().size(), 0.0);
  velocity_offset_.assign(velocity().basis().size(), 0.0);
}

bool LocalChart::choose(double t, const double* x) {
  const std::size_t n = functions_->n;
  if (!evaluate_geometry(t, x)) return false;
  coordinate_metric(*functions_, velocity().rows(), geometry_.data(), G(), W_);
  if (!position_->choose(G(), W_.data()) || (velocity_ && !velocity_->choose(G(), W_.data()))) return false;
  factored_at_.assign(factored_at_.size(), std::numeric_limits<double>::quiet_NaN());
  near(x);
  if (kind_ == LocalBasis::Kind::coordinates) return true;
  // y has the size of what it is made of, so that a relative tolerance means what it means for q and v.
  const auto set_offset = [](LocalBasis& basis, const double* u, const std::vector<double>& y, std::vector<double>& offset) {
    basis.magnitudes(u, offset.data());
    for (std::size_t k = 0; k < offset.size(); ++k) offset[k] -= y[k];
  };
  set_offset(position_->basis(), x, y_q_, position_offset_);
  set_offset(velocity().basis(), x + n, y_v_, velocity_offset_);
  return true;
}

std::size_t LocalChart::dimension() const {
  return position_offset_.size() + velocity_offset_.size() + functions_->differential.size();
}

bool LocalChart::evaluate_geometry(double t, const double* q) {
  const double* inputs[] = {&t, q};
  functions_->geometry(inputs, geometry_.data(), geometry_scratch_, frozen_);
  return all_finite(geometry_);
}

void LocalChart::near(const double* x) {
  std::copy_n(x, x_.size(), x_.begin());
  if (x != anchor_.data()) std::copy_n(x, anchor_.size(), anchor_.begin());
  // What was evaluated elsewhere since, for an output say, leaves no trace.
  if (!std::equal(factored_at_.begin() + 1, factored_at_.end(), x)) position_->forget();
  position_->basis().take(x, y_q_.data());
  velocity().basis().take(x + functions_->n, y_v_.data());
}

void LocalChart::begin_at(const double* q) {
  std::copy_n(q, functions_->n, x_.begin());
  position_->basis().take(q, y_q_.data());
}

void LocalChart::ahead(const double* x, double h, double* middle) const {
  const std::size_t n = functions_->n;
  std::copy_n(x, functions_->dimension(), middle);
  for (std::size_t j = 0; j < n; ++j) middle[j] += 0.5 * h * x[n + j];
}

bool LocalChart::factor(double t) {
  const double* q = x_.data();
  if (position_->factored() && velocity().factored() && factored_at_[0] == t &&
      std::equal(factored_at_.begin() + 1, factored_at_.end(), q))
    return true;
  factored_at_[0] = t;
  std::copy_n(q, factored_at_.size() - 1, factored_at_.begin() + 1);
  ++factorizations_;
  const bool good = position_->factor(G());
  return good && (!velocity_ || velocity_->factor(G()));
}

Outcome LocalChart::expand(double t, const double* y, double* x) {
  const std::size_t d = position_offset_.size(), n = functions_->n;
  if (const Outcome outcome = find_positions(t, y); outcome != Outcome::ok) return outcome;
  if (const Outcome outcome = find_velocities(t, y + d); outcome != Outcome::ok) return outcome;
  std::ranges::copy(x_, x);
  std::copy_n(y + d + velocity_offset_.size(), functions_->differential.size(), x + 2 * n);
  return check_others(t);
}

/// Leaves the geometry at the q that it finds.
Outcome LocalChart::find_positions(double t, const double* y) {
  const Functions& fn = *functions_;
  double* q = x_.data();
  for (std::size_t k = 0; k < position_offset_.size(); ++k) target_[k] = y[k] - position_offset_[k];
  position_->basis().move(y_q_.data(), target_.data(), q);
  std::copy_n(target_.begin(), position_offset_.size(), y_q_.begin());
  double last = std::numeric_limits<double>::infinity();
  bool fresh = false;
  int failures = 0;
  for (int iteration = 0; iteration < 30; ++iteration) {
    if (!evaluate_geometry(t, q)) return fail(Outcome::not_finite, "a constraint is not a finite number");
    // |g| in units of the change of its terms for a change of q in the last digit
    bool exact = true, near_enough = true;
    double size = 0.0;
    for (std::size_t h = 0; h < fn.holonomic; ++h) residual_[fn.holonomic_rows[h]] = g()[h];
    for (const std::size_t row : position_->rows()) {
      double scale = 0.0, slope = 0.0;
      for (std::size_t k = fn.jacobian.row_start[row]; k < fn.jacobian.row_start[row + 1]; ++k) {
        scale += std::abs(G()[k] * q[fn.jacobian.column[k]]);
        slope += std::abs(G()[k]);
      }
      const double off = std::abs(residual_[row]);
      if (off > std::max(2.0 * epsilon * scale, 1e-30 * slope)) exact = false;
      if (off > 1e-10 * scale) near_enough = false;
      if (off > 0.0) size = std::max(size, off / slope);
    }
    if (exact) return Outcome::ok;
    if (iteration > 0 && !(size < 0.5 * last)) {  // no progress
      if (near_enough || positions_hold(t)) return Outcome::ok;
      if (fresh && ++failures > 2) break;
    }
    if (!position_->factored() || (iteration > 0 && size > slow * last)) {
      fresh = true;
      if (!factor(t)) return not_found(Outcome::singular);
    }
    last = size;
    position_->correct(residual_.data(), q);
    if (!all_finite(q, fn.n)) break;
  }
  return not_found(Outcome::no_convergence);
}

/// Whether g is small beside its own terms: near q = 0 these may be much larger than G q.
bool LocalChart::positions_hold(double t) {
  const Functions& fn = *functions_;
  evaluate_terms(t);
  for (std::size_t h = 0; h < fn.holonomic; ++h) {
    double scale = 0.0;
    for (std::size_t k = fn.position_term_start[h]; k < fn.position_term_start[h + 1]; ++k)
      scale = std::max(scale, std::abs(terms_[k]));
    if (!(std::abs(g()[h]) <= 1e-13 * scale)) return false;
  }
  return true;
}

void LocalChart::evaluate_terms(double t) {
  const double* inputs[] = {&t, x_.data(), x_.data() + functions_->n};
  functions_->terms(inputs, terms_.data(), terms_scratch_, frozen_);
}

Outcome LocalChart::find_velocities(double t, const double* y) {
  const Functions& fn = *functions_;
  double* v = x_.data() + fn.n;
  for (std::size_t k = 0; k < velocity_offset_.size(); ++k) target_[k] = y[k] - velocity_offset_[k];
  velocity().basis().move(y_v_.data(), target_.data(), v);
  std::copy_n(target_.begin(), velocity_offset_.size(), y_v_.begin());
  if (!factor(t)) return not_found(Outcome::singular);
  double last = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 5; ++iteration) {
    const double* inputs[] = {&t, x_.data(), v};
    fn.velocity(inputs, residual_.data(), velocity_scratch_, frozen_);
    if (!all_finite(residual_)) return fail(Outcome::not_finite, "a velocity constraint is not a finite number");
    double size = 0.0;
    bool exact = true;
    for (const std::size_t row : velocity().rows()) {
      double scale = 0.0;
      for (std::size_t k = fn.jacobian.row_start[row]; k < fn.jacobian.row_start[row + 1]; ++k)
        scale += std::abs(G()[k] * v[fn.jacobian.column[k]]);
      size = std::max(size, std::abs(residual_[row]));
      if (std::abs(residual_[row]) > 2.0 * epsilon * scale) exact = false;
    }
    if (exact || !(size < 0.5 * last)) break;
    last = size;
    velocity().correct(residual_.data(), v);
  }
  return Outcome::ok;
}

/// Constraints that follow from those that were chosen must hold with them.
Outcome LocalChart::check_others(double t) {
  const Functions& fn = *functions_;
  if (position_->rows().size() == fn.holonomic && velocity().rows().size() == fn.m) return Outcome::ok;
  evaluate_terms(t);
  const auto largest = [&](const std::vector<std::size_t>& start, std::size_t i) {
    double scale = 0.0;
    for (std::size_t k = start[i]; k < start[i + 1]; ++k) scale = std::max(scale, std::abs(terms_[k]));
    return scale;
  };
  const auto does_not_follow = [&](std::size_t row) {
    return fail(Outcome::singular, fmt::format("the constraint '{}' followed from the others at the start and does not any more",
                                               fn.equations.constraints[row].name));
  };
  for (std::size_t h = 0; h < fn.holonomic; ++h)
    if (!(std::abs(g()[h]) <= 1e-10 * largest(fn.position_term_start, h))) return does_not_follow(fn.holonomic_rows[h]);
  for (std::size_t i = 0; i < fn.m; ++i) {
    double slope = 0.0;
    for (std::size_t k = fn.jacobian.row_start[i]; k < fn.jacobian.row_start[i + 1]; ++k) slope += std::abs(G()[k]);
    if (!(std::abs(residual_[i]) <= 1e-8 * std::max(largest(fn.velocity_term_start, i), 1e-4 * slope)))
      return does_not_follow(i);
  }
  return Outcome::ok;
}

void LocalChart::reduce(const double* x, double* y) {
  const std::size_t n = functions_->n, d = position_offset_.size(), e = velocity_offset_.size();
  position_->basis().take(x, y);
  for (std::size_t k = 0; k < d; ++k) y[k] += position_offset_[k];
  velocity().basis().take(x + n, y + d);
  for (std::size_t k = 0; k < e; ++k) y[d + k] += velocity_offset_[k];
  std::copy_n(x + 2 * n, functions_->differential.size(), y + d + e);
}

void LocalChart::rates(const double* dx, double* dy) {
  const std::size_t n = functions_->n, d = position_offset_.size(), e = velocity_offset_.size();
  position_->basis().take(dx, dy);
  velocity().basis().take(dx + n, dy + d);
  std::copy_n(dx + 2 * n, functions_->differential.size(), dy + d + e);
}

double LocalChart::tilt(double t, const double* x) {
  near(x);
  if (!evaluate_geometry(t, x) || !factor(t)) return std::numeric_limits<double>::infinity();
  double largest = position_->tilt(G(), W_.data());
  if (velocity_) largest = std::max(largest, velocity_->tilt(G(), W_.data()));
  return std::isfinite(largest) ? largest : std::numeric_limits<double>::infinity();
}

void LocalChart::tolerances(double t, const double* x, const double* bound, double* local) {
  const std::size_t n = functions_->n, d = position_offset_.size();
  near(x);
  if (evaluate_geometry(t, x) && factor(t)) {
    position_->bounds(G(), bound, local);
    velocity().bounds(G(), bound + n, local + d);
  } else {
    position_->basis().bounds(bound, local);
    velocity().basis().bounds(bound + n, local + d);
  }
  std::copy_n(bound + 2 * n, functions_->differential.size(), local + d + velocity_offset_.size());
}

std::size_t LocalChart::component(std::size_t k) {
  const std::size_t n = functions_->n, d = position_offset_.size(), e = velocity_offset_.size();
  if (k < d) return position_->basis().nearest(k);
  if (k < d + e) return n + velocity().basis().nearest(k - d);
  return 2 * n + (k - d - e);
}

}  // namespace daedalus::formulate
