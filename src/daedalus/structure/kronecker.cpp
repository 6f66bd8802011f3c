#include "daedalus/structure/kronecker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/linalg/lapack.hpp"

namespace daedalus::structure {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

double gap_between(double kept, double dropped) { return kept / std::max(dropped, 1e-16 * kept); }

/// Eigenvalues of A_f - lambda E_f with E_f regular. To first order a change of size d of both matrices moves a simple
/// eigenvalue by d |w| |v| sqrt(1 + |lambda|^2) / |w^* E v| (Stewart, Sun 1990, VI.2).
std::vector<FiniteEigenvalue> eigenvalues_of(const Pencil& finite, double noise, double time) {
  std::vector<FiniteEigenvalue> found;
  const linalg::GeneralizedEigen eigen = linalg::generalized_eigen(finite.A, finite.E);
  const std::size_t n = finite.rows();
  for (const auto& pair : eigen.pairs) {
    std::complex<double> product = 0.0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) product += std::conj(pair.left[i]) * finite.E(i, j) * pair.right[j];
    const std::complex<double> lambda = pair.alpha / pair.beta;
    const double size = std::hypot(1.0, std::abs(lambda));
    const double condition = size / std::max(std::abs(product), std::numeric_limits<double>::min());
    // Beside a multiple eigenvalue the first order is no bound; there the error is a root of the noise.
    found.push_back({time * lambda, 1, time * std::min(condition * noise, size * std::cbrt(noise)), condition});
  }
  return found;
}

/// Eigenvalues that the noise d may have split off one m-fold eigenvalue stand around their mean at a distance of the
/// order d^(1/m): the mean moves by d alone, the single ones by its root. Those that are closer to each other than the
/// root of their bounds are one cluster. Its error is the distance from the mean, or the bound of the best known one:
/// those with an eigenvector each may fall together by chance.
std::vector<FiniteEigenvalue> clustered(std::vector<FiniteEigenvalue> single, double noise, double time) {
  const std::size_t n = single.size();
  std::vector<std::size_t> group(n);
  for (std::size_t i = 0; i < n; ++i) group[i] = i;
  const auto same = [&](std::size_t i, std::size_t j) {
    const double distance = std::abs(single[i].value - single[j].value);
    // Two eigenvalues that noise has split from a double one stand at a distance of about twice their own first-order
    // bounds, which grow as they approach each other.
    return distance <= 8.0 * std::max(single[i].error, single[j].error) + 16.0 * noise * time;
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (same(i, j) && group[i] != group[j]) {
        const std::size_t from = group[i], to = group[j];
        for (std::size_t& g : group)
          if (g == from) g = to;
      }
  std::vector<FiniteEigenvalue> result;
  for (std::size_t g = 0; g < n; ++g) {
    FiniteEigenvalue cluster;
    cluster.multiplicity = 0;
    cluster.condition = 0.0;
    cluster.error = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i)
      if (group[i] == g) {
        cluster.value += single[i].value;
        ++cluster.multiplicity;
        cluster.condition = std::max(cluster.condition, single[i].condition);
        cluster.error = std::min(cluster.error, single[i].error);
      }
    if (cluster.multiplicity == 0) continue;
    cluster.value /= static_cast<double>(cluster.multiplicity);
    for (std::size_t i = 0; i < n; ++i)
      if (group[i] == g) cluster.error = std::max(cluster.error, std::abs(single[i].value - cluster.value));
    if (const double size = std::abs(cluster.value); size <= cluster.error) {  // nothing tells it from zero
      cluster.error += size;
      cluster.value = 0.0;
    }
    result.push_back(cluster);
  }
  std::sort(result.begin(), result.end(), [](const FiniteEigenvalue& a, const FiniteEigenvalue& b) {
    return a.value.real() != b.value.real() ? a.value.real() < b.value.real() : a.value.imag() < b.value.imag();
  });
  return result;
}

/// Every round of the staircase works on what the ones before have left, noise included: beyond three, each asks for twice
/// the gap. Blocks of a dozen rows would else swallow large finite eigenvalues.
double growth(const Staircase& stairs) {
  const auto rounds = static_cast<int>(std::max(stairs.s.size(), stairs.left_s.size()));
  return std::ldexp(1.0, std::max(0, rounds - 3));
}

/// Noise d of the data turns a subspace that was split off at a smallest value k by the angle d / k, and so much of the
/// size 1 of the pencil appears in what is left: a value kept there says something only if it is `lead` times larger.
/// Without this a pencil whose noise has grown to 1e-7 in the second round would pass for one of index 1. What the first
/// round drops is the noise itself, m values of it; later ones have grown already. The largest of m is smaller than 1/c of
/// the noise with a chance of about c^-m: c = 10^(3/m) leaves one in a thousand.
bool outgrows_noise(const Staircase& stairs, double lead) {
  if (stairs.ranks.empty() || stairs.ranks.front().dropped <= epsilon) return true;  // no noise but that of rounding
  const StaircaseRank& first = stairs.ranks.front();
  const auto m = static_cast<double>(std::min(first.rows, first.columns) - first.rank);
  const double least = std::max(lead, std::pow(10.0, 3.0 / m)) * first.dropped;
  double before = 1.0;
  for (const StaircaseRank& rank : stairs.ranks) {
    if (rank.rank == 0) continue;
    if (rank.kept * before < least) return false;
    before = std::min(before, rank.kept);
  }
  return true;
}

/// How large the noise of E and A is as a whole. A rank shows a part of it alone: m values are a block of m rows and columns, and
/// random entries have a norm that grows with the number of rows.
double noise_of(const Staircase& stairs) {
  const auto n = static_cast<double>(stairs.form.rows() + stairs.form.columns());
  double noise = epsilon * n;
  for (const StaircaseRank& rank : stairs.ranks)
    if (const std::size_t m = std::min(rank.rows, rank.columns) - rank.rank; m > 0)
      noise = std::max(noise, rank.dropped * 0.5 * n / static_cast<double>(m));
  return noise;
}

/// Scaling has made rows, columns and E as large as everything else, noise as well if that was all there was. What the
/// ranks drop tells the noise where they drop anything: a line of that size may be nothing but noise, where it is more
/// than rounding, and if few entries are smaller: noise that is the same everywhere would leave none. Where they drop
/// nothing, as they do of an E of full rank and of a pencil that is not square, nothing tells it; then a line, or an E
/// without any zero, is in doubt if it is so small that no rank would have counted it.
bool may_be_noise_alone(const Pencil& pencil, const PencilScaling& scaling, const Staircase& stairs, const KroneckerOptions& options) {
  constexpr double rounding = 1e-12, around = 100.0,
                   few_smaller = 0.2;  // of the ranks; noise of one line beside that of another
  if (stairs.dropped > 0.0)
    return stairs.dropped > rounding && scaling.shortest_line < around * stairs.dropped &&
           scaling.smaller < few_smaller;
  if (!pencil.E.square()) return std::min(scaling.shortest_line, scaling.share_of_E) < options.least_kept;
  constexpr std::size_t few = 2;  // entries that are all there by chance
  const bool full = pencil.rows() > few && std::find(pencil.E.entries.begin(), pencil.E.entries.end(), 0.0) == pencil.E.entries.end();
  return full && stairs.s.empty() && scaling.share_of_E < options.least_lead * options.least_kept;  // A may be ill-conditioned
}

}  // namespace

double KroneckerStructure::gap() const { return gap_between(kept, dropped); }

std::vector<std::complex<double>> KroneckerStructure::spectrum() const {
  std::vector<std::complex<double>> all;
  for (const FiniteEigenvalue& one : finite) all.insert(all.end(), one.multiplicity, one.value);
  return all;
}

Reduction reduce(const Pencil& pencil, const KroneckerOptions& options) {
  Reduction best{scaling_of(pencil), {}, false, false};
  const Pencil unit = scaled(pencil, best.scaling);
  const double round_off = epsilon * static_cast<double>(pencil.rows() + pencil.columns());
  double widest = 0.0, second = 0.0;
  bool clear = false, rival = false;
  for (double tolerance = 1e-2; tolerance > round_off; tolerance /= 10.0) {
    Staircase stairs = staircase(unit, tolerance);
    const double lower = stairs.dropped, gap = gap_between(stairs.kept, std::max(lower, round_off));
    const bool possible = lower <= options.most_noise && stairs.kept >= options.least_kept;
    const double credit = possible ? gap : epsilon * gap;
    second = std::max(second, std::min(credit, widest));
    const bool enough = possible && gap >= options.least_gap * growth(stairs);
    if (credit > widest) {
      rival = clear;
      widest = credit;
      clear = enough && outgrows_noise(stairs, options.least_lead);
      best.noise_alone = clear && may_be_noise_alone(pencil, best.scaling, stairs, options);
      clear = clear && !best.noise_alone;
      best.stairs = std::move(stairs);
    } else {
      rival = rival || enough;
    }
    while (tolerance / 10.0 > lower && tolerance > round_off) tolerance /= 10.0;  // the same structure as far as there
  }
  best.decided = clear && !rival && widest >= options.least_lead * second;
  return best;
}

KroneckerStructure kronecker_structure(const Reduction& reduction) {
  const Staircase& stairs = reduction.stairs;
  KroneckerStructure out;
  out.rows = stairs.form.rows();
  out.columns = stairs.form.columns();
  out.regular = stairs.regular();
  out.column_minimal_indices = stairs.column_minimal_indices();
  out.row_minimal_indices = stairs.row_minimal_indices();
  out.nilpotent_blocks = stairs.infinite_blocks();
  out.differential_dimension = stairs.finite;
  if (out.regular) out.index = out.nilpotent_blocks.empty() ? 0 : static_cast<int>(out.nilpotent_blocks.front());
  out.decided = reduction.decided;
  out.noise_alone = reduction.noise_alone;
  out.ranks = stairs.ranks;
  out.kept = stairs.kept;
  out.dropped = stairs.dropped;
  const Pencil finite{stairs.form.E.block(stairs.finite_row, stairs.finite_column, stairs.finite, stairs.finite),
                      stairs.form.A.block(stairs.finite_row, stairs.finite_column, stairs.finite, stairs.finite)};
  const double noise = noise_of(stairs);
  out.finite = clustered(eigenvalues_of(finite, noise, reduction.scaling.time), noise, reduction.scaling.time);
  return out;
}

std::vector<FiniteEigenvalue> finite_spectrum(const Pencil& pencil) {
  const PencilScaling scaling = scaling_of(pencil);
  const double noise = epsilon * static_cast<double>(pencil.rows() + pencil.columns());
  return clustered(eigenvalues_of(scaled(pencil, scaling), noise, scaling.time), noise, scaling.time);
}

KroneckerStructure kronecker_structure(const Pencil& pencil, const KroneckerOptions& options) {
  return kronecker_structure(reduce(pencil, options));
}

}  // namespace daedalus::structure
