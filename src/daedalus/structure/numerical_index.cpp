// 002, Definition 1: the index is the smallest mu for which F_mu(t, y, y', ..., y^(mu+1)) = 0 determines y' by t and y.
// With M = dF_mu/d(y', ..., y^(mu+1)) that is the case if M is 1-full, every kernel vector having zeros for y', and its
// rank is constant near the solutions (Campbell, Gear: The index of general nonlinear DAEs, Numer. Math. 72, 1995).
//
// One QR of [M_2 | M_1 | N], the columns of y'' and higher, of y' and of y, pivoting from left to right, answers all:
//     rank of M_1 outside M_2 is n            <=> y' is determined;
//     rank of N outside M is a                 =  number of constraints on y that F_mu contains;
//     rows left over                           =  redundant equations.
// Ranks count at a point that satisfies F_(mu+1) = 0, since hidden constraints of one level more may change them. If
// F_mu determines y' and F_(mu+1) has no further constraint, then y' = phi(t, y) leaves the manifold of the constraints
// invariant, and more differentiation tells nothing new. If the number of constraints stays and y' is not determined,
// no further derivative determines it: the system is singular.
//
// Strangeness-free form (Kunkel, Mehrmann: Differential-Algebraic Equations, 2006, Hypothesis 4.2) at mu = index - 1:
// a constraints, and d = rank of F_y' on the kernel of their derivative.
#include "daedalus/structure/numerical_index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "daedalus/linalg/rank.hpp"
#include "daedalus/linalg/staged_qr.hpp"

namespace daedalus::structure {

namespace {

// Columns have length 1: a remainder this short is counted as none.
constexpr double negligible = 1e-9;
// Kept and dropped lengths must differ by this factor for a clear answer.
constexpr double clear_gap = 1e3;
// Columns are not raised by more than this: round-off, 1e-16, stays below `negligible`.
constexpr double most_raise = 1e6;
constexpr std::size_t most_rows = 1500;  // of a dense factorization: seconds
constexpr double zero_entry = 1e-7;      // of kernel vectors scaled to length 1

using Outcome = NumericalIndex::Outcome;
using Masked = std::vector<DerivativeArray::RoughTable>;

/// The columns of u_j for j = levels down to 2, then j = 1, then j = 0.
void fill(linalg::StagedQr& qr, const ArrayValues& values, const Masked& masked) {
  const std::size_t n = values.dimension(), levels = values.levels();
  std::size_t at = 0;
  for (std::size_t g = 0; g <= levels; ++g) {
    const std::size_t j = g + 2 <= levels ? g + 2 : levels - g;
    for (std::size_t i = 0; i < n; ++i) {
      double* x = qr.column(at++);
      values.column(j, i, x);
      for (const auto& row : masked)
        if (row.level < levels) x[row.level * n + row.row] = 0.0;
    }
  }
}

/// Unknowns whose entry vanishes in every kernel vector of the pivots [from, from + rank) of a group that begins at
/// `first`.
std::vector<std::size_t> determined_by(const linalg::StagedQr& qr, std::size_t first, std::size_t n, std::size_t from) {
  const std::size_t rank = qr.rank() - from;
  std::vector<double> largest(n, 0.0), z(qr.rank());
  std::vector<bool> pivot(n, false);
  for (std::size_t k = from; k < qr.rank(); ++k) pivot[qr.order()[k] - first] = true;
  for (std::size_t q = 0; q < n; ++q) {
    if (pivot[q]) continue;
    largest[q] = 1.0;
    // T z = T_q in the triangle of this group, solved backwards.
    for (std::size_t k = 0; k < rank; ++k) z[k] = qr.entry(from + k, first + q);
    for (std::size_t k = rank; k-- > 0;) {
      for (std::size_t l = k + 1; l < rank; ++l) z[k] -= qr.entry(from + k, qr.order()[from + l]) * z[l];
      z[k] /= qr.entry(from + k, qr.order()[from + k]);
      double& top = largest[qr.order()[from + k] - first];
      top = std::max(top, std::abs(z[k]));
    }
  }
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < n; ++i)
    if (largest[i] <= zero_entry) result.push_back(i);
  return result;
}

ArrayRanks ranks_of(const ArrayValues& values, const Masked& masked = {}) {
  const std::size_t n = values.dimension(), levels = values.levels();
  ArrayRanks result;
  result.mu = levels - 1;
  result.rows = values.rows();
  linalg::StagedQr qr(values.rows(), {(levels - 1) * n, n, n});
  fill(qr, values, masked);
  qr.balance(most_raise);
  qr.factor(2, negligible);
  const std::size_t higher = qr.stage(0).rank;
  result.rank = qr.rank();
  result.determined = determined_by(qr, (levels - 1) * n, n, higher);
  qr.factor_more(1, negligible);
  result.constraints = qr.stage(2).rank;
  result.redundant = result.rows - qr.rank();
  result.gap = std::numeric_limits<double>::infinity();
  for (std::size_t g = 0; g < 3; ++g) {
    const linalg::StagedQr::Stage& stage = qr.stage(g);
    result.kept = std::min(result.kept, stage.kept);
    result.dropped = std::max(result.dropped, stage.dropped);
    if (stage.dropped > 0.0) result.gap = std::min(result.gap, stage.kept / stage.dropped);
  }
  return result;
}

/// d = rank [Z^T F_y; F_y'] - a, with Z^T F_y the derivative of the constraints that these levels contain.
std::size_t differential_equations(const ArrayValues& values) {
  const std::size_t n = values.dimension(), levels = values.levels(), y = levels * n;
  linalg::StagedQr qr(values.rows(), {(levels - 1) * n, n, n});
  fill(qr, values, {});
  qr.balance(most_raise);
  qr.factor(2, negligible);
  const std::size_t r = qr.rank(), left = values.rows() - r;
  linalg::StagedQr both(left + n, {n});
  std::vector<double> column(values.rows()), size(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    values.column(1, i, column.data());
    double* x = both.column(i);
    for (std::size_t k = 0; k < left; ++k) x[k] = qr.entry(r + k, y + i);
    for (std::size_t k = 0; k < n; ++k) {
      x[left + k] = column[k] * qr.column_scales()[y + i];
      size[k] = std::max(size[k], std::abs(x[left + k]));
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      if (size[k] > 0.0) both.column(i)[left + k] /= size[k];
  qr.factor_more(1, negligible);
  both.factor(1, negligible);
  return both.rank() - qr.stage(2).rank;
}

/// Rows of combinations c with c^T dE/du = 0 and c^T E not zero; where there is none, those with the largest residuals.
std::vector<std::size_t> contradicting(const ArrayValues& array) {
  const linalg::Sparsity pattern = array.pattern();
  std::vector<double> J(pattern.nonzeros()), size(array.rows(), 0.0);
  array.values(J.data());
  std::vector<bool> part(array.rows(), false);
  double largest = 0.0;
  for (std::size_t i = 0; i < array.rows(); ++i) {
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      size[i] = std::max(size[i], std::abs(J[k]));
    size[i] = std::abs(array.E()[i]) / (size[i] > 0.0 ? size[i] : 1.0);
    largest = std::max(largest, size[i]);
  }
  for (const std::vector<double>& c : linalg::row_rank(pattern, J.data()).combinations) {
    double sum = 0.0, top = 0.0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      sum += c[i] * array.E()[i];
      top = std::max(top, std::abs(c[i] * array.E()[i]));
    }
    for (std::size_t i = 0; i < c.size() && std::abs(sum) > 0.1 * top; ++i)
      if (c[i] != 0.0) part[i] = true;
  }
  const bool combined = std::ranges::find(part, true) != part.end();
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < part.size(); ++i)
    if (combined ? part[i] : size[i] > 0.1 * largest) rows.push_back(i);
  return rows;
}

class Search {
 public:
  Search(const std::shared_ptr<DerivativeArray>& array, const IndexOptions& options)
      : array_(array), options_(options), n_(array->dimension()) {}

  NumericalIndex at(const ArrayPoint& guess);
  void compare_nearby(NumericalIndex& result, std::mt19937_64& random);
  ArrayPoint perturbed(const ArrayPoint& point, double spread, std::mt19937_64& random) const;

 private:
  ArrayValues values(std::size_t levels, const TaylorScale& scale) const {
    ArrayValues result(array_, levels, scale);
    result.freeze(options_.frozen);
    return result;
  }
  /// Moves a point to F_mu = 0 for so many levels, y as little as possible.
  Outcome satisfy(ArrayPoint& point, std::size_t levels, std::vector<NumericalIndex::Equation>* offending = nullptr);
  /// A consistent point near one.
  std::optional<ArrayPoint> neighbour(const ArrayPoint& point, std::size_t levels, std::mt19937_64& random);
  ArrayRanks ranks(const ArrayPoint& point, std::size_t levels, const TaylorScale& scale, const Masked& masked = {});
  void find_rough(NumericalIndex& result, const TaylorScale& scale);

  std::shared_ptr<DerivativeArray> array_;
  IndexOptions options_;
  std::size_t n_;
  enum class Guess { maybe_consistent, rough } y_ = Guess::maybe_consistent;
};

Outcome Search::satisfy(ArrayPoint& point, std::size_t levels, std::vector<NumericalIndex::Equation>* offending) {
  point.jets.resize((levels + 1) * n_, 0.0);
  ArrayValues array = values(levels, taylor_scale(*array_, point.t, point.jets.data(), options_.frozen));
  std::vector<double> u(array.columns());
  array.to_taylor(point.jets.data(), u.data());
  const std::vector<double> start = u;
  ArrayPointOutcome outcome = ArrayPointOutcome::no_convergence;
  const auto attempt = [&](std::size_t kept, ArrayMoves moves) {
    if (outcome != ArrayPointOutcome::no_convergence) return;
    u = start;
    std::fill(u.begin() + static_cast<std::ptrdiff_t>((kept + 1) * n_), u.end(), 0.0);
    outcome = structure::satisfy(array, point.t, u, moves);
  };
  if (y_ == Guess::maybe_consistent) attempt(levels, ArrayMoves::jets_only);
  if (outcome == ArrayPointOutcome::no_convergence) y_ = Guess::rough;
  // Jets that lower levels left open may be far from what the next level wants: then only y', or none, is kept.
  for (const std::size_t kept : {levels, std::size_t{1}, std::size_t{0}}) {
    attempt(kept, ArrayMoves::all);
    attempt(kept, ArrayMoves::mostly_jets);
    attempt(kept, ArrayMoves::jets_only);
  }
  attempt(levels, ArrayMoves::along_path);
  if (outcome == ArrayPointOutcome::not_finite) return Outcome::not_finite;
  array.to_jets(u.data(), point.jets.data());
  if (outcome == ArrayPointOutcome::found) return Outcome::found;
  if (offending != nullptr)
    for (const std::size_t i : contradicting(array)) offending->push_back({i % n_, i / n_});
  return Outcome::inconsistent;
}

ArrayRanks Search::ranks(const ArrayPoint& point, std::size_t levels, const TaylorScale& scale, const Masked& masked) {
  ArrayValues array = values(levels, scale);
  std::vector<double> u(array.columns());
  array.to_taylor(point.jets.data(), u.data());
  array.evaluate(point.t, u.data());
  return ranks_of(array, masked);
}

NumericalIndex Search::at(const ArrayPoint& guess) {
  NumericalIndex result;
  result.point = guess;
  y_ = Guess::maybe_consistent;
  for (std::size_t mu = 0; mu <= options_.most_index; ++mu) {
    if ((mu + 2) * n_ > most_rows || !array_->extend(mu + 2)) break;
    result.outcome = satisfy(result.point, mu + 2, &result.offending);
    if (result.outcome != Outcome::found) return result;
    const TaylorScale scale = taylor_scale(*array_, result.point.t, result.point.jets.data(), options_.frozen);
    const std::size_t before = mu == 0 ? 0 : result.ranks.back().constraints;
    const ArrayRanks here = ranks(result.point, mu + 1, scale), next = ranks(result.point, mu + 2, scale);
    result.ranks.push_back(here);
    result.algebraic = here.constraints;
    if (here.gap < clear_gap || next.gap < clear_gap) {
      if (here.gap >= clear_gap) result.ranks.push_back(next);
      result.outcome = Outcome::undecided;
      return result;
    }
    const bool closed = next.constraints == here.constraints;
    if (here.determined.size() == n_ && closed) {
      result.outcome = Outcome::found;
      result.index = mu;
      ArrayValues array = values(std::max<std::size_t>(mu, 1), scale);
      std::vector<double> u(array.columns());
      array.to_taylor(result.point.jets.data(), u.data());
      array.evaluate(result.point.t, u.data());
      result.differential = differential_equations(array);
      find_rough(result, scale);
      return result;
    }
    if (closed && here.constraints == before && next.determined.size() < n_) {
      result.outcome = Outcome::singular;
      for (std::size_t i = 0; i < n_; ++i)
        if (!std::ranges::binary_search(next.determined, i)) result.undetermined.push_back(i);
      return result;
    }
  }
  result.outcome = Outcome::too_large;
  return result;
}

/// Rows with rough tables count only if y' is not determined without them.
void Search::find_rough(NumericalIndex& result, const TaylorScale& scale) {
  Masked rough;
  for (std::size_t k = 0; k <= result.index; ++k)
    rough.insert(rough.end(), array_->level(k).rough.begin(), array_->level(k).rough.end());
  if (rough.empty()) return;
  const ArrayRanks without = ranks(result.point, result.index + 1, scale, rough);
  if (without.determined.size() < n_ || without.constraints < result.algebraic) result.rough = rough;
}

ArrayPoint Search::perturbed(const ArrayPoint& point, double spread, std::mt19937_64& random) const {
  // Uniform numbers made here: the distributions of the standard library differ between its versions.
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-52 - 1.0; };
  ArrayPoint result = point;
  // Later, too, in the time that the equations themselves have: coefficients may vanish at the start alone.
  result.t += spread * std::abs(uniform()) * taylor_scale(*array_, point.t, point.jets.data(), options_.frozen).h;
  for (std::size_t i = 0; i < n_; ++i) {
    // A value of its own size; one that is zero, or nearly, by less than its nominal size, since others may be too.
    const double nominal = array_->functions().unknowns[i].of->nominal;
    result.jets[i] += spread * uniform() * std::max(std::abs(point.jets[i]), spread * nominal);
  }
  return result;
}

std::optional<ArrayPoint> Search::neighbour(const ArrayPoint& point, std::size_t levels, std::mt19937_64& random) {
  y_ = Guess::rough;
  double spread = options_.spread;
  for (int attempt = 0; attempt < 3; ++attempt, spread *= 0.1) {
    ArrayPoint result = perturbed(point, spread, random);
    if (satisfy(result, levels) == Outcome::found) return result;
  }
  return std::nullopt;
}

void Search::compare_nearby(NumericalIndex& result, std::mt19937_64& random) {
  for (std::size_t p = 0; p < options_.nearby; ++p) {
    const std::optional<ArrayPoint> other = neighbour(result.point, result.index + 2, random);
    if (!other) continue;
    const ArrayPoint& point = *other;
    ++result.nearby;
    const TaylorScale scale = taylor_scale(*array_, point.t, point.jets.data(), options_.frozen);
    const ArrayRanks here = ranks(point, result.index + 1, scale);
    bool same = here.determined.size() == n_ && here.constraints == result.algebraic;
    if (same && result.index > 0) same = ranks(point, result.index, scale).determined.size() < n_;
    if (!same) result.elsewhere.push_back(point);
  }
}

}  // namespace

NumericalIndex numerical_index(const std::shared_ptr<DerivativeArray>& array, const ArrayPoint& guess,
                               const IndexOptions& options) {
  Search search(array, options);
  std::mt19937_64 random(options.seed);
  ArrayPoint start = guess;
  start.jets.resize(std::max(guess.jets.size(), 2 * array->dimension()), 0.0);
  NumericalIndex result = search.at(start);
  const std::size_t tries =
      result.outcome == Outcome::inconsistent ? std::min<std::size_t>(options.nearby, 1) : options.nearby;
  for (std::size_t p = 0; p < tries && result.outcome != Outcome::found; ++p) {
    NumericalIndex other = search.at(search.perturbed(start, options.spread, random));
    if (other.outcome != Outcome::found) continue;
    other.at_start = false;
    result = std::move(other);
  }
  if (result.outcome != Outcome::found) return result;
  search.compare_nearby(result, random);
  if (result.nearby == 0 || result.elsewhere.size() < result.nearby) return result;
  // Every neighbour disagrees: the first is the special one.
  NumericalIndex other = search.at(result.elsewhere.front());
  if (other.outcome != Outcome::found) return result;
  other.at_start = false;
  search.compare_nearby(other, random);
  other.elsewhere.push_back(std::move(result.point));
  return other;
}

}  // namespace daedalus::structure
