// With q = B y + C mu, the dependent parts mu follow from the constraints:
//     position:   g(B y_q + C mu, t) = 0                    Newton's method with K = G C, kept while it does
//     velocity:   G (B y_v + C nu) + g_t = 0                one linear system with K at the new q
// This is (13) of Fuehrer and Leimkuhler 1991 for any directions B and C: dq/dy = V_1 = B - C K^-1 G B.
#include "daedalus/formulate/local_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>

#include "daedalus/base/finite.hpp"
#include "daedalus/linalg/rank.hpp"

namespace daedalus::formulate {

using mechanics::Functions;
using mechanics::Outcome;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// Up to this size K is stored whole.
constexpr std::size_t small = 24;
/// Directions along which tilt() looks where there are more.
constexpr std::size_t most_directions = 8;
/// With more coordinates than this the sensitivities of the whole state to each of them would cost more than a step.
constexpr std::size_t most_sensitivities = 16;
/// Newton's method takes fresh factors where a correction shrinks by less than this.
constexpr double slow = 0.05;
/// A coordinate that neither mass nor constraint holds counts as this much of the heaviest.
constexpr double least_mass = 1e-12;

linalg::Sparsity part_of(const linalg::Sparsity& pattern, const std::vector<std::size_t>& rows) {
  linalg::Sparsity part{rows.size(), pattern.columns, {0}, {}};
  for (const std::size_t row : rows) {
    const auto begin = pattern.column.begin();
    part.column.insert(part.column.end(), begin + static_cast<std::ptrdiff_t>(pattern.row_start[row]),
                       begin + static_cast<std::ptrdiff_t>(pattern.row_start[row + 1]));
    part.row_start.push_back(part.column.size());
  }
  return part;
}

std::vector<std::size_t> sources_of(const linalg::Sparsity& pattern, const std::vector<std::size_t>& rows) {
  std::vector<std::size_t> source;
  for (const std::size_t row : rows)
    for (std::size_t k = pattern.row_start[row]; k < pattern.row_start[row + 1]; ++k) source.push_back(k);
  return source;
}

/// Of any of the rows those that do not depend on others among them.
std::vector<std::size_t> independent_rows(const linalg::Sparsity& pattern, const double* G,
                                          const std::vector<std::size_t>& rows) {
  std::vector<double> values;
  for (const std::size_t k : sources_of(pattern, rows)) values.push_back(G[k]);
  const linalg::RankDecision decision = linalg::row_rank(part_of(pattern, rows), values.data());
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!std::ranges::binary_search(decision.dependent_rows, i)) kept.push_back(rows[i]);
  return kept;
}

/// 1 or -1, the same in every run (splitmix64 of Steele, Lea and Flood, 2014).
double sign(std::size_t k, std::size_t direction) {
  std::uint64_t z = (static_cast<std::uint64_t>(k) * most_directions + direction + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((z ^ (z >> 31)) & 1u) != 0 ? 1.0 : -1.0;
}

}  // namespace

ChartLevel::ChartLevel(LocalBasis::Kind kind, const linalg::Sparsity& jacobian, std::vector<std::size_t> rows)
    : rows_(std::move(rows)),
      source_(sources_of(jacobian, rows_)),
      part_(part_of(jacobian, rows_)),
      basis_(kind, part_),
      start_(part_.columns + 1),
      row_(basis_.normal().nonzeros()),
      entry_(basis_.normal().nonzeros()),
      part_values_(part_.nonzeros()),
      right_(rows_.size()),
      direction_(basis_.size()),
      along_(part_.columns),
      moved_(part_.columns),
      response_(part_.columns) {
  const std::size_t r = rows_.size();
  if (r == 0 || r > small) return;
  linalg::Sparsity whole{r, r, {0}, {}};
  for (std::size_t a = 0; a < r; ++a) {
    for (std::size_t b = 0; b < r; ++b) whole.column.push_back(b);
    whole.row_start.push_back(whole.column.size());
  }
  lu_.emplace(whole, linalg::ShiftedLu::Numbers::real);
  K_.resize(r * r);
  terms_.reserve(part_.nonzeros());
}

bool ChartLevel::choose(const double* G, const double* W) {
  factored_ = false;
  for (std::size_t k = 0; k < source_.size(); ++k) part_values_[k] = G[source_[k]];
  if (!basis_.choose(part_values_.data(), W)) return false;
  // The normal directions have one pattern, the dependent coordinates a new one each time.
  if (terms_.empty() || basis_.kind() == LocalBasis::Kind::coordinates) find_terms();
  return true;
}

void ChartLevel::find_terms() {
  const std::size_t r = rows_.size();
  const linalg::Sparsity& normal = basis_.normal();
  terms_.clear();
  if (r == 0) return;
  // The entries of C, by unknowns.
  std::fill(start_.begin(), start_.end(), 0);
  for (const std::size_t j : normal.column) ++start_[j];
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  for (std::size_t b = r; b-- > 0;)
    for (std::size_t k = normal.row_start[b]; k < normal.row_start[b + 1]; ++k) {
      const std::size_t at = --start_[normal.column[k]];
      row_[at] = b;
      entry_[at] = k;
    }
  for (std::size_t a = 0; a < r; ++a)
    for (std::size_t k = part_.row_start[a]; k < part_.row_start[a + 1]; ++k)
      for (std::size_t at = start_[part_.column[k]]; at < start_[part_.column[k] + 1]; ++at)
        terms_.push_back({a * r + row_[at], source_[k], entry_[at]});
  if (r <= small) return;

  std::vector<std::size_t> places;
  for (const Term& term : terms_) places.push_back(term.entry);
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  linalg::Sparsity pattern{r, r, std::vector<std::size_t>(r + 1), {}};
  for (const std::size_t place : places) {
    ++pattern.row_start[place / r + 1];
    pattern.column.push_back(place % r);
  }
  std::partial_sum(pattern.row_start.begin(), pattern.row_start.end(), pattern.row_start.begin());
  for (Term& term : terms_)
    term.entry = static_cast<std::size_t>(std::ranges::lower_bound(places, term.entry) - places.begin());
  lu_.emplace(pattern, linalg::ShiftedLu::Numbers::real);
  K_.resize(places.size());
}

bool ChartLevel::factor(const double* G) {
  factored_ = true;
  if (rows_.empty()) return true;
  const std::vector<double>& normal = basis_.normal_values();
  std::fill(K_.begin(), K_.end(), 0.0);
  for (const Term& term : terms_) K_[term.entry] += G[term.G] * normal[term.normal];
  factored_ = lu_->factor(K_.data(), K_.data(), 0.0);
  return factored_;
}

void ChartLevel::correct(const double* c, double* u) {
  if (rows_.empty()) return;
  for (std::size_t a = 0; a < rows_.size(); ++a) right_[a] = c[rows_[a]];
  lu_->solve(right_.data());
  linalg::multiply_transposed_add(basis_.normal(), basis_.normal_values().data(), -1.0, right_.data(), u);
}

void ChartLevel::respond(const double* G) {
  for (std::size_t k = 0; k < source_.size(); ++k) part_values_[k] = G[source_[k]];
  std::fill(along_.begin(), along_.end(), 0.0);
  std::fill(moved_.begin(), moved_.end(), 0.0);
  basis_.add(direction_.data(), along_.data());
  if (rows_.empty()) return;
  std::fill(right_.begin(), right_.end(), 0.0);
  linalg::multiply_add(part_, part_values_.data(), 1.0, along_.data(), right_.data());
  lu_->solve(right_.data());
  linalg::multiply_transposed_add(basis_.normal(), basis_.normal_values().data(), 1.0, right_.data(), moved_.data());
}

double ChartLevel::tilt(const double* G, const double* W) {
  const std::size_t d = basis_.size(), looks = std::min(d, most_directions);
  std::fill(response_.begin(), response_.end(), 0.0);
  for (std::size_t look = 0; look < looks; ++look) {
    for (std::size_t k = 0; k < d; ++k)
      direction_[k] = (looks == d ? (k == look ? 1.0 : 0.0) : sign(k, look)) / basis_.length(k);
    respond(G);
    for (std::size_t j = 0; j < moved_.size(); ++j) response_[j] += W[j] * moved_[j] * moved_[j];
  }
  const double sum = *std::ranges::max_element(response_);
  return std::sqrt(looks == d ? sum : sum / static_cast<double>(looks));
}

void ChartLevel::bounds(const double* G, const double* bound, double* y) {
  const std::size_t d = basis_.size();
  if (d > most_sensitivities) return basis_.bounds(bound, y);
  std::fill(direction_.begin(), direction_.end(), 0.0);
  for (std::size_t k = 0; k < d; ++k) {
    direction_[k] = 1.0;
    respond(G);
    direction_[k] = 0.0;
    double sum = 0.0;
    for (std::size_t j = 0; j < moved_.size(); ++j) {
      const double ratio = (along_[j] - moved_[j]) / bound[j];
      sum += ratio * ratio;
    }
    y[k] = 1.0 / std::sqrt(sum);
  }
}

LocalChart::LocalChart(std::shared_ptr<const Functions> functions, LocalBasis::Kind kind)
    : functions_(std::move(functions)),
      kind_(kind),
      mass_(functions_->n),
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
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(coordinates.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + functions_->equations.q[coordinates[i]].name();
  if (coordinates.size() > most) text += fmt::format(" and {} more", coordinates.size() - most);
  return text;
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
  find_metric();
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

/// The diagonal of M + G^T S G: masses alone may vanish, as they do along a unit quaternion, where constraints hold a
/// coordinate. S gives every constraint the mass of what it binds.
void LocalChart::find_metric() {
  const linalg::Sparsity &mass = functions_->mass, &jacobian = functions_->jacobian;
  std::fill(W_.begin(), W_.end(), 0.0);
  for (std::size_t i = 0; i < mass.rows; ++i)
    for (std::size_t k = mass.row_start[i]; k < mass.row_start[i + 1]; ++k)
      if (mass.column[k] == i) W_[i] = std::max(geometry_[k], 0.0);
  std::ranges::copy(W_, mass_.begin());
  for (const std::size_t i : velocity().rows()) {
    double masses = 0.0, squares = 0.0;
    for (std::size_t k = jacobian.row_start[i]; k < jacobian.row_start[i + 1]; ++k) {
      masses += mass_[jacobian.column[k]];
      squares += G()[k] * G()[k];
    }
    if (squares == 0.0) continue;
    for (std::size_t k = jacobian.row_start[i]; k < jacobian.row_start[i + 1]; ++k)
      W_[jacobian.column[k]] += masses / squares * G()[k] * G()[k];
  }
  const double most = *std::ranges::max_element(W_);
  for (double& w : W_) w = most > 0.0 ? std::max(w, least_mass * most) : 1.0;
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
