// Three means, one after the other: damped Gauss-Newton from the guess; the path c(y) = (1 - s) c(guess); Gauss-Newton
// from random points around the guess. The random points are guess + r size u, u uniform in [-1, 1], with radii r that
// repeat a ladder, so that near and far ones occur however few there are.
#include "daedalus/solve/start_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "daedalus/base/finite.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/linalg/homotopy.hpp"

namespace daedalus::solve {

using linalg::GaussNewtonOutcome;
using linalg::GaussNewtonResult;

namespace {

constexpr double radii[] = {1.0, 3.0, 0.3, 10.0};
constexpr double different = 1e-5;    // of two solutions, in units of their sizes
constexpr int most_domain_tries = 400;

/// Numbers in [-1, 1], the same on every machine.
class Random {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) * 0x1p-52 - 1.0;
  }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15ULL * start_seed;
};

bool is_free(const StartProblem& problem, std::size_t i) {
  const auto& fixed = problem.least_change.fixed;
  return fixed.empty() || !fixed[i];
}

std::vector<double> random_point(const StartProblem& problem, std::size_t number, Random& random) {
  std::vector<double> y = problem.guess;
  const double radius = radii[number % std::size(radii)];
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double u = random();
    if (problem.searched[i] && is_free(problem, i)) y[i] += radius * problem.sizes[i] * u;
  }
  return y;
}

/// Values of rows and derivatives at a point, and how many rows have none.
class Domain {
 public:
  explicit Domain(const StartProblem& problem)
      : problem_(problem.least_change), c_(problem_.jacobian.rows), C_(problem_.jacobian.nonzeros()) {}

  std::size_t bad_rows(const std::vector<double>& y, std::vector<bool>& bad) {
    bad.assign(c_.size(), false);
    if (c_.empty()) return 0;
    problem_.residual(y.data(), c_.data());
    problem_.jacobian_values(y.data(), C_.data());
    for (std::size_t j = 0; j < c_.size(); ++j) {
      bad[j] = !std::isfinite(c_[j]);
      for (std::size_t k = problem_.jacobian.row_start[j]; k < problem_.jacobian.row_start[j + 1]; ++k)
        bad[j] = bad[j] || !std::isfinite(C_[k]);
    }
    return static_cast<std::size_t>(std::count(bad.begin(), bad.end(), true));
  }
  const std::vector<double>& jacobian() const { return C_; }

 private:
  const linalg::LeastChangeProblem& problem_;
  std::vector<double> c_, C_;
};

/// A point near the guess where all rows have values; the unknowns of rows that have them stay. Empty where none is found.
std::vector<double> into_domain(const StartProblem& problem) {
  Domain domain(problem);
  Random random;
  std::vector<bool> bad, bad_there;
  std::vector<double> y = problem.guess;
  std::size_t count = domain.bad_rows(y, bad);
  const linalg::Sparsity& pattern = problem.least_change.jacobian;
  for (int k = 0; k < most_domain_tries && count > 0; ++k) {
    std::vector<double> other = y;
    const double radius = 1e-3 * std::pow(10.0, 0.5 * (k % 10));
    for (std::size_t j = 0; j < bad.size(); ++j)
      for (std::size_t e = pattern.row_start[j]; bad[j] && e < pattern.row_start[j + 1]; ++e) {
        const std::size_t i = pattern.column[e];
        // Upwards first: logarithms and roots want it.
        if (is_free(problem, i)) other[i] = problem.guess[i] + radius * problem.sizes[i] * (k < 10 ? 1.0 : random());
      }
    if (const std::size_t there = domain.bad_rows(other, bad_there); there < count) {
      y = std::move(other);
      bad = bad_there;
      count = there;
    }
  }
  return count == 0 ? y : std::vector<double>();
}

}  // namespace

StartProblem StartProblem::part(const std::vector<bool>& with_rows, const std::vector<bool>& with_fixed) const {
  StartProblem result = *this;
  result.rows.clear();
  linalg::LeastChangeProblem& inner = result.least_change;
  const linalg::LeastChangeProblem& whole = least_change;
  inner.fixed = with_fixed;
  inner.scales.clear();
  inner.jacobian = {0, whole.jacobian.columns, {0}, {}};
  std::vector<std::size_t> kept, entries;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    if (!with_rows[j]) continue;
    kept.push_back(j);
    result.rows.push_back(rows[j]);
    if (!whole.scales.empty()) inner.scales.push_back(whole.scales[j]);
    for (std::size_t k = whole.jacobian.row_start[j]; k < whole.jacobian.row_start[j + 1]; ++k) {
      entries.push_back(k);
      inner.jacobian.column.push_back(whole.jacobian.column[k]);
    }
    inner.jacobian.row_start.push_back(entries.size());
  }
  inner.jacobian.rows = kept.size();
  const auto picked = [](auto function, std::size_t count, std::vector<std::size_t> which) {
    return [function, which = std::move(which), all = std::vector<double>(count)](const double* y, double* out) mutable {
      function(y, all.data());
      for (std::size_t k = 0; k < which.size(); ++k) out[k] = all[which[k]];
      return all_finite(out, which.size());
    };
  };
  inner.residual = picked(whole.residual, rows.size(), kept);
  inner.jacobian_values = picked(whole.jacobian_values, whole.jacobian.nonzeros(), entries);
  if (scales_at)
    result.scales_at = [scales = scales_at, kept](const double* y) {
      const std::vector<double> all = scales(y);
      std::vector<double> some;
      for (const std::size_t j : kept) some.push_back(all[j]);
      return some;
    };
  return result;
}

std::size_t random_starts(std::size_t unknowns) { return unknowns <= 100 ? 64 : unknowns <= 400 ? 16 : 0; }

bool looks_linear(const StartProblem& problem) {
  Domain domain(problem);
  Random random;
  std::vector<bool> bad;
  if (domain.bad_rows(problem.guess, bad) > 0) return false;
  const std::vector<double> first = domain.jacobian();
  for (const std::size_t number : {0u, 2u}) {
    if (domain.bad_rows(random_point(problem, number, random), bad) > 0) return false;
    for (std::size_t k = 0; k < first.size(); ++k)
      if (std::abs(domain.jacobian()[k] - first[k]) > 1e-13 * std::abs(first[k])) return false;
  }
  return true;
}

GaussNewtonResult near_guess(const StartProblem& problem, const std::vector<double>* from) {
  const double *guess = problem.guess.data(), *start = from != nullptr ? from->data() : guess;
  linalg::LeastChangeProblem inner = problem.least_change;
  if (from != nullptr && problem.scales_at) inner.scales = problem.scales_at(start);
  GaussNewtonResult result = linalg::GaussNewton(inner).solve(guess, start);
  if (result.outcome == GaussNewtonOutcome::stalled && problem.scales_at) {
    const std::vector<double> there = problem.scales_at(result.x.data());
    for (std::size_t j = 0; j < there.size(); ++j) inner.scales[j] = std::max(inner.scales[j], there[j]);
    result = linalg::GaussNewton(inner).solve(guess, start);
  }
  if (result.outcome != GaussNewtonOutcome::singular_weight) return result;
  // No usable weights at this point: plain least squares.
  const std::size_t n = problem.guess.size();
  inner.weight = {n, n, {0}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    inner.weight.column.push_back(i);
    inner.weight.row_start.push_back(i + 1);
  }
  inner.weight_values.assign(n, 1.0);
  return linalg::GaussNewton(inner).solve(guess, start);
}

std::string StartFound::note() const {
  if (!found()) return {};
  std::string text;
  switch (means) {
    case Means::gauss_newton: break;
    case Means::homotopy:
      text = fmt::format("the start was found along a path from the guess, in {}: Gauss-Newton alone did not reach one",
                         count(steps, "step"));
      break;
    case Means::random_start:
      text = fmt::format(
          "the start was found from {} random starts around the guess (seed {}), as the nearest: from the guess itself none is reached",
          starts, start_seed);
      break;
  }
  if (!outside) return text;
  return "the equations have no finite values at the guess: the search began beside it" + (text.empty() ? "" : "; " + text);
}

StartFound search_along_path(const StartProblem& problem) {
  StartFound found;
  found.result = near_guess(problem);
  if (found.found()) return found;
  std::vector<double> from = problem.guess;
  if (found.result.outcome == GaussNewtonOutcome::not_finite) {
    found.outside = true;
    from = into_domain(problem);
    if (from.empty()) return found;
    found.result = near_guess(problem, &from);
    if (found.found()) return found;
  }
  if (problem.guess.size() > 400 || looks_linear(problem)) return found;
  const linalg::HomotopyResult path = linalg::follow_homotopy(problem.least_change, from.data(), problem.sizes);
  if (!path.reached) return found;
  GaussNewtonResult result = near_guess(problem, &path.x);
  if (result.outcome != GaussNewtonOutcome::converged) return found;
  found.result = std::move(result);
  found.means = StartFound::Means::homotopy;
  found.steps = path.steps;
  return found;
}

StartFound search(const StartProblem& problem) {
  StartFound found = search_along_path(problem);
  if (found.found() || looks_linear(problem)) return found;
  const std::vector<bool> all(problem.guess.size(), true);
  Random random;
  double nearest = 0.0;
  const std::size_t starts = random_starts(problem.guess.size());
  for (std::size_t k = 0; k < starts; ++k) {
    const std::vector<double> from = random_point(problem, k, random);
    GaussNewtonResult result = near_guess(problem, &from);
    if (result.outcome != GaussNewtonOutcome::converged) continue;
    const double distance = distance_from_guess(problem, result.x, all);
    if (found.found() && distance >= nearest) continue;
    nearest = distance;
    found.result = std::move(result);
    found.means = StartFound::Means::random_start;
  }
  found.starts = starts;
  return found;
}

double distance_from_guess(const StartProblem& problem, const std::vector<double>& y, const std::vector<bool>& compared) {
  double square = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (compared[i]) square += std::pow((y[i] - problem.guess[i]) / problem.nominal[i], 2);
  return std::sqrt(square);
}

namespace {

/// Whether rows and derivatives are the same at two points: they are one and the same position, up to full turns.
bool alike(const StartProblem& problem, const std::vector<double>& a, const std::vector<double>& b) {
  Domain at_a(problem), at_b(problem);
  std::vector<bool> bad;
  if (at_a.bad_rows(a, bad) > 0 || at_b.bad_rows(b, bad) > 0) return false;
  double largest = 0.0, difference = 0.0;
  for (std::size_t k = 0; k < at_a.jacobian().size(); ++k) {
    largest = std::max(largest, std::abs(at_a.jacobian()[k]));
    difference = std::max(difference, std::abs(at_a.jacobian()[k] - at_b.jacobian()[k]));
  }
  return difference <= 1e-5 * largest;
}

bool same(const StartProblem& problem, const std::vector<double>& a, const std::vector<double>& b,
          const std::vector<bool>& compared) {
  bool turned = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!compared[i]) continue;
    const double size = std::max({problem.sizes[i], std::abs(a[i]), std::abs(b[i])}), by = a[i] - b[i];
    if (std::abs(by) <= different * size) continue;
    const double turns = std::round(by / (2.0 * std::numbers::pi));
    if (turns == 0.0 || std::abs(by - 2.0 * std::numbers::pi * turns) > different) return false;
    turned = true;
  }
  return !turned || alike(problem, a, b);
}

/// The same position with every angle as near to the guess as full turns bring it.
std::vector<double> unwound(const StartProblem& problem, std::vector<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double turns = std::round((y[i] - problem.guess[i]) / (2.0 * std::numbers::pi));
    if (turns == 0.0 || !is_free(problem, i)) continue;
    std::vector<double> other = y;
    other[i] -= 2.0 * std::numbers::pi * turns;
    if (alike(problem, y, other)) y = std::move(other);
  }
  return y;
}

/// The nearest solution from a point on; after full turns have been taken back, as that may open a shorter way.
GaussNewtonResult nearest_from(const StartProblem& problem, const std::vector<double>& from) {
  GaussNewtonResult result = near_guess(problem, &from);
  for (int k = 0; k < 3 && result.outcome == GaussNewtonOutcome::converged; ++k) {
    const std::vector<double> other = unwound(problem, result.x);
    if (other == result.x) break;
    result = near_guess(problem, &other);
  }
  return result;
}

}  // namespace

BranchPoints other_solutions(const StartProblem& problem, const std::vector<double>& found, const std::vector<bool>& compared) {
  BranchPoints points;
  points.solutions.push_back(found);
  if (problem.rows.empty() || looks_linear(problem)) return points;
  points.starts = random_starts(problem.guess.size());
  Random random;
  for (std::size_t k = 0; k < points.starts; ++k) {
    const std::vector<double> from = random_point(problem, k, random);
    const GaussNewtonResult result = nearest_from(problem, from);
    if (result.outcome != GaussNewtonOutcome::converged || result.tangential > 1e-6) continue;
    const auto known = std::ranges::find_if(points.solutions, [&](const std::vector<double>& other) {
      return same(problem, result.x, other, compared);
    });
    if (known == points.solutions.end()) {
      points.solutions.push_back(result.x);
    } else if (known != points.solutions.begin() &&
               distance_from_guess(problem, result.x, compared) < distance_from_guess(problem, *known, compared)) {
      *known = result.x;  // fewer turns
    }
  }
  std::stable_sort(points.solutions.begin() + 1, points.solutions.end(), [&](const auto& a, const auto& b) {
    return distance_from_guess(problem, a, compared) < distance_from_guess(problem, b, compared);
  });
  return points;
}

}  // namespace daedalus::solve
