#include "daedalus/linalg/orthogonal_split.hpp"

#include <algorithm>
#include <limits>

namespace daedalus::linalg {

namespace {

using std::abs;
using std::sqrt;

/// How many of the pivots, which descend, count beside a matrix of size `largest`.
std::size_t rank_of(const std::vector<double>& pivots, double largest, double roundoff) {
  const double size = static_cast<double>(pivots.size());
  const double floor = 8.0 * size * roundoff * largest;
  // What is smaller than this may be the rounding of a double; what is larger never is.
  const double doubtful = 1e4 * size * std::numeric_limits<double>::epsilon() * largest;
  std::size_t rank = 0;
  while (rank < pivots.size() && pivots[rank] > doubtful) ++rank;
  double widest = 0.0;
  for (std::size_t k = rank; k <= pivots.size(); ++k) {
    const double above = k > 0 ? pivots[k - 1] : largest, below = k < pivots.size() ? pivots[k] : floor;
    if (above <= floor) break;
    const double gap = above / std::max(below, floor);
    if (gap <= widest) continue;
    widest = gap;
    rank = k;
  }
  return rank;
}

}  // namespace

template <class T>
OrthogonalSplit<T> orthogonal_split(BasicMatrix<T> matrix, double size, std::optional<std::size_t> known) {
  const std::size_t m = matrix.rows, n = matrix.columns;
  std::vector<std::vector<T>> columns(n, std::vector<T>(m)), reflectors, q(m, std::vector<T>(m, T(0.0)));
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) columns[j][i] = matrix(i, j);
  const auto product = [m](const std::vector<T>& a, const std::vector<T>& b, std::size_t from) {
    T sum(0.0);
    for (std::size_t i = from; i < m; ++i) sum += a[i] * b[i];
    return sum;
  };
  const auto reflect = [&](const std::vector<T>& u, std::vector<T>& x, std::size_t from) {
    const T amount = product(u, x, from);
    for (std::size_t i = from; i < m; ++i) x[i] -= amount * u[i];
  };
  std::vector<double> pivots;
  for (std::size_t k = 0; k < std::min(m, n); ++k) {
    std::size_t best = k;
    T largest(-1.0);
    for (std::size_t j = k; j < n; ++j)
      if (const T square = product(columns[j], columns[j], k); square > largest) {
        largest = square;
        best = j;
      }
    const T norm = sqrt(largest);
    pivots.push_back(double(norm));
    if (!(norm > T(0.0))) break;
    std::swap(columns[k], columns[best]);
    std::vector<T> u = columns[k];
    std::fill_n(u.begin(), k, T(0.0));
    u[k] += u[k] < T(0.0) ? -norm : norm;
    const T scale = sqrt(T(2.0) / product(u, u, k));
    for (T& value : u) value *= scale;
    for (std::size_t j = k; j < n; ++j) reflect(u, columns[j], k);
    reflectors.push_back(std::move(u));
  }
  for (std::size_t j = 0; j < m; ++j) {  // columns of Q = H_1 ... H_r
    q[j][j] = T(1.0);
    for (std::size_t r = reflectors.size(); r-- > 0;) reflect(reflectors[r], q[j], r);
  }
  const double largest = std::max(size, pivots.empty() ? 0.0 : pivots[0]);
  // Fewer reflectors than the rank that is known: the other columns are as good as any.
  const std::size_t rank = known ? std::min(*known, m) : rank_of(pivots, largest, unit_roundoff(T(0.0)));
  OrthogonalSplit<T> out{BasicMatrix<T>::zero(m, rank), BasicMatrix<T>::zero(m, m - rank)};
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j) (j < rank ? out.range(i, j) : out.rest(i, j - rank)) = q[j][i];
  if (rank > 0) out.kept = rank <= pivots.size() ? pivots[rank - 1] / largest : 0.0;
  if (rank < pivots.size() && largest > 0.0) out.dropped = pivots[rank] / largest;
  return out;
}

template <class T>
BasicMatrix<T> inverse(BasicMatrix<T> a) {
  const std::size_t n = a.rows;
  auto result = BasicMatrix<T>::identity(n);
  const auto row = [n](BasicMatrix<T>& matrix, std::size_t i) { return matrix.entries.data() + i * n; };
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (abs(a(i, k)) > abs(a(best, k))) best = i;
    if (a(best, k) == T(0.0) || !std::isfinite(double(a(best, k)))) return BasicMatrix<T>::zero(0, 0);
    if (best != k)
      for (BasicMatrix<T>* matrix : {&a, &result}) std::swap_ranges(row(*matrix, k), row(*matrix, k) + n, row(*matrix, best));
    const T pivot = T(1.0) / a(k, k);
    for (std::size_t j = 0; j < n; ++j) {
      a(k, j) *= pivot;
      result(k, j) *= pivot;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const T factor = a(i, k);
      if (i == k || factor == T(0.0)) continue;
      for (std::size_t j = 0; j < n; ++j) {
        a(i, j) -= factor * a(k, j);
        result(i, j) -= factor * result(k, j);
      }
    }
  }
  return result;
}

template OrthogonalSplit<double> orthogonal_split(BasicMatrix<double>, double, std::optional<std::size_t>);
template OrthogonalSplit<DoubleDouble> orthogonal_split(BasicMatrix<DoubleDouble>, double, std::optional<std::size_t>);
template BasicMatrix<double> inverse(BasicMatrix<double>);
template BasicMatrix<DoubleDouble> inverse(BasicMatrix<DoubleDouble>);

}  // namespace daedalus::linalg
