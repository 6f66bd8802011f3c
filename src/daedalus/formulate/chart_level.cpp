#include "daedalus/formulate/chart_level.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "daedalus/linalg/rank.hpp"

namespace daedalus::formulate {

namespace {

/// Up to this size K is stored whole.
constexpr std::size_t small = 24;
/// Directions along which tilt() looks where there are more.
constexpr std::size_t most_directions = 8;
/// With more coordinates than this the sensitivities of the whole state to each of them would cost more than a step.
constexpr std::size_t most_sensitivities = 16;

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

/// 1 or -1, the same in every run (splitmix64 of Steele, Lea and Flood, 2014).
double sign(std::size_t k, std::size_t direction) {
  std::uint64_t z = (static_cast<std::uint64_t>(k) * most_directions + direction + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((z ^ (z >> 31)) & 1u) != 0 ? 1.0 : -1.0;
}

}  // namespace

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

}  // namespace daedalus::formulate
