// Between the knots x_k <= x < x_(k+1), with h_k = x_(k+1) - x_k, d_k = (y_(k+1) - y_k) / h_k, u = x - x_k and slopes
// s_k:
//     y_k + s_k u + (3 d_k - 2 s_k - s_(k+1)) / h_k u^2 + (s_k + s_(k+1) - 2 d_k) / h_k^2 u^3.
// monotone: s_k = 0 where the data turn, else the weighted harmonic mean of d_(k-1) and d_k (F. N. Fritsch, J. Butland,
// SIAM J. Sci. Stat. Comput. 5 (1984) 300); at the ends the slope of the parabola through three points, kept in bounds.
// spline: the s_k make the second derivative continuous, and the third at the second and the last but one knot
// ("not a knot": C. de Boor, A Practical Guide to Splines, chapter IV); periodic where the data close.

#include "daedalus/expr/interpolant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/check.hpp"

namespace daedalus::expr {

namespace {

// Whether a number of segments is told apart from the next one. Beyond that a place within the period means nothing.
bool counted(double segment) { return std::abs(segment) < 0x1p53; }

// The segment of the data that a segment repeats after so many whole periods.
struct Repeated {
  std::size_t segment;
  double turn;
};

Repeated repeated(double segment, double segments) {
  segment = std::floor(segment);
  double within = std::fmod(segment, segments);  // exact, where a quotient would be rounded to the next turn
  if (within < 0.0) within += segments;
  return {static_cast<std::size_t>(within), (segment - within) / segments};
}

struct Tridiagonal {
  std::vector<double> lower, diagonal, upper, right;
  explicit Tridiagonal(std::size_t n) : lower(n, 0.0), diagonal(n, 0.0), upper(n, 0.0), right(n, 0.0) {}

  /// Elimination without pivoting: the rows of a spline are diagonally dominant, all but those of the ends, which are
  /// safe.
  std::vector<double> solve() {
    const std::size_t n = diagonal.size();
    for (std::size_t i = 1; i < n; ++i) {
      const double factor = lower[i] / diagonal[i - 1];
      diagonal[i] -= factor * upper[i - 1];
      right[i] -= factor * right[i - 1];
    }
    std::vector<double> s(n);
    for (std::size_t i = n; i-- > 0;) s[i] = (right[i] - (i + 1 < n ? upper[i] * s[i + 1] : 0.0)) / diagonal[i];
    return s;
  }
};

double end_slope(double h0, double h1, double d0, double d1) {
  const double s = ((2.0 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
  if (s * d0 <= 0.0) return 0.0;
  if (d0 * d1 <= 0.0 && std::abs(s) > 3.0 * std::abs(d0)) return 3.0 * d0;
  return s;
}

}  // namespace

Interpolant::Interpolant(std::vector<double> x, std::vector<double> y, Method method, Outside outside)
    : x_(std::move(x)), y_(std::move(y)), cubic_(x_.size() - 1), method_(method), outside_(outside) {
  DAEDALUS_CHECK(x_.size() == y_.size() && x_.size() >= 2, "{} arguments for {} values", x_.size(), y_.size());
  for (std::size_t k = 0; k < cubic_.size(); ++k) {
    cubic_[k].c0 = y_[k];
    if (method_ == Method::linear) cubic_[k].c1 = (y_[k + 1] - y_[k]) / (x_[k + 1] - x_[k]);
  }
  if (method_ == Method::monotone) join_slopes(monotone_slopes());
  if (method_ == Method::spline) join_slopes(spline_slopes());
}

void Interpolant::join_slopes(const std::vector<double>& slope) {
  for (std::size_t k = 0; k < cubic_.size(); ++k) {
    const double h = x_[k + 1] - x_[k], d = (y_[k + 1] - y_[k]) / h;
    cubic_[k].c1 = slope[k];
    cubic_[k].c2 = (3.0 * d - 2.0 * slope[k] - slope[k + 1]) / h;
    cubic_[k].c3 = (slope[k] + slope[k + 1] - 2.0 * d) / (h * h);
  }
}

std::vector<double> Interpolant::monotone_slopes() const {
  const std::size_t n = x_.size();
  std::vector<double> h(n - 1), d(n - 1), s(n);
  for (std::size_t k = 0; k + 1 < n; ++k) {
    h[k] = x_[k + 1] - x_[k];
    d[k] = (y_[k + 1] - y_[k]) / h[k];
  }
  const auto mean = [](double h0, double h1, double d0, double d1) {
    if (d0 * d1 <= 0.0) return 0.0;
    const double w0 = 2.0 * h1 + h0, w1 = h1 + 2.0 * h0;
    return (w0 + w1) / (w0 / d0 + w1 / d1);
  };
  for (std::size_t k = 1; k + 1 < n; ++k) s[k] = mean(h[k - 1], h[k], d[k - 1], d[k]);
  if (closes()) {
    s[0] = s[n - 1] = mean(h[n - 2], h[0], d[n - 2], d[0]);
  } else if (n == 2) {
    s[0] = s[1] = d[0];
  } else {
    s[0] = end_slope(h[0], h[1], d[0], d[1]);
    s[n - 1] = end_slope(h[n - 2], h[n - 3], d[n - 2], d[n - 3]);
  }
  return s;
}

std::vector<double> Interpolant::spline_slopes() const {
  const std::size_t n = x_.size();
  std::vector<double> h(n - 1), d(n - 1);
  for (std::size_t k = 0; k + 1 < n; ++k) {
    h[k] = x_[k + 1] - x_[k];
    d[k] = (y_[k + 1] - y_[k]) / h[k];
  }
  if (closes() && n > 2) {
    // Unknowns s_0 .. s_(n-2); the corners of the cyclic matrix are removed by the formula of Sherman and Morrison.
    const std::size_t m = n - 1;
    Tridiagonal a(m), b(m);
    const auto before = [&](std::size_t k) { return k == 0 ? m - 1 : k - 1; };
    for (std::size_t k = 0; k < m; ++k) {
      const double h0 = h[before(k)], h1 = h[k];
      a.lower[k] = h1;
      a.diagonal[k] = 2.0 * (h0 + h1);
      a.upper[k] = h0;
      a.right[k] = 3.0 * (h1 * d[before(k)] + h0 * d[k]);
    }
    if (m == 2) {  // both neighbours of a knot are the other one
      const double p = a.lower[0] + a.upper[0], q = a.lower[1] + a.upper[1];
      const double det = a.diagonal[0] * a.diagonal[1] - p * q;
      const double s0 = (a.right[0] * a.diagonal[1] - p * a.right[1]) / det;
      const double s1 = (a.diagonal[0] * a.right[1] - q * a.right[0]) / det;
      return {s0, s1, s0};
    }
    const double corner_first = a.lower[0], corner_last = a.upper[m - 1], shift = -a.diagonal[0];
    a.diagonal[0] -= shift;
    a.diagonal[m - 1] -= corner_last * corner_first / shift;
    b = a;
    std::fill(b.right.begin(), b.right.end(), 0.0);
    b.right[0] = shift;
    b.right[m - 1] = corner_last;
    std::vector<double> s = a.solve();
    const std::vector<double> z = b.solve();
    const double ratio = corner_first / shift;
    const double factor = (s[0] + ratio * s[m - 1]) / (1.0 + z[0] + ratio * z[m - 1]);
    for (std::size_t k = 0; k < m; ++k) s[k] -= factor * z[k];
    s.push_back(s.front());
    return s;
  }
  if (n == 2) return {d[0], d[0]};
  if (n == 3) {  // the parabola through all three
    const double curve = (d[1] - d[0]) / (h[0] + h[1]);
    return {d[0] - curve * h[0], d[0] + curve * h[0], d[1] + curve * h[1]};
  }
  Tridiagonal a(n);
  for (std::size_t k = 1; k + 1 < n; ++k) {
    a.lower[k] = h[k];
    a.diagonal[k] = 2.0 * (h[k - 1] + h[k]);
    a.upper[k] = h[k - 1];
    a.right[k] = 3.0 * (h[k] * d[k - 1] + h[k - 1] * d[k]);
  }
  const auto end = [](double h0, double h1, double d0, double d1) {
    return ((h0 + 2.0 * (h0 + h1)) * h1 * d0 + h0 * h0 * d1) / (h0 + h1);
  };
  a.diagonal[0] = h[1];
  a.upper[0] = h[0] + h[1];
  a.right[0] = end(h[0], h[1], d[0], d[1]);
  a.diagonal[n - 1] = h[n - 3];
  a.lower[n - 1] = h[n - 2] + h[n - 3];
  a.right[n - 1] = end(h[n - 2], h[n - 3], d[n - 2], d[n - 3]);
  return a.solve();
}

double Interpolant::segment(double x) const {
  if (std::isnan(x)) return x;
  double turn = 0.0;
  if (outside_ == Outside::periodic) {
    const double period = x_.back() - x_.front();
    turn = std::floor((x - x_.front()) / period);
    if (!counted(turn * segments())) return std::numeric_limits<double>::quiet_NaN();
    x -= turn * period;
    if (x < x_.front()) x = x_.front();  // round-off of the shift
  } else {
    if (x < x_.front()) return -1.0;
    if (x > x_.back() || (x == x_.back() && outside_ == Outside::hold)) return segments();
  }
  const auto above = std::upper_bound(x_.begin(), x_.end(), x);
  const auto k = std::min<std::ptrdiff_t>(above - x_.begin() - 1, static_cast<std::ptrdiff_t>(cubic_.size()) - 1);
  return turn * segments() + static_cast<double>(k);
}

double Interpolant::low(double segment) const {
  if (outside_ == Outside::periodic) {
    if (!counted(segment)) return std::numeric_limits<double>::quiet_NaN();
    const auto [k, turn] = repeated(segment, segments());
    return x_[k] + turn * (x_.back() - x_.front());
  }
  if (segment < 0.0) return -std::numeric_limits<double>::infinity();
  return x_[static_cast<std::size_t>(segment)];
}

double Interpolant::high(double segment) const {
  if (outside_ == Outside::periodic) return low(segment + 1.0);
  if (segment >= segments()) return std::numeric_limits<double>::infinity();
  return x_[static_cast<std::size_t>(segment + 1.0)];
}

bool Interpolant::forbidden(double segment) const {
  return outside_ == Outside::error && (segment < 0.0 || segment >= segments());
}

double Interpolant::value(double segment, double x, int times) const {
  if (!counted(segment) || forbidden(segment)) return std::numeric_limits<double>::quiet_NaN();
  if (outside_ == Outside::hold && (segment < 0.0 || segment >= segments()))
    return times > 0 ? 0.0 : segment < 0.0 ? y_.front() : y_.back();
  const Cubic& c = cubic_[repeated(segment, segments()).segment];
  const double u = x - low(segment);
  switch (times) {
    case 0:
      return ((c.c3 * u + c.c2) * u + c.c1) * u + c.c0;
    case 1:
      return (3.0 * c.c3 * u + 2.0 * c.c2) * u + c.c1;
    case 2:
      return 6.0 * c.c3 * u + 2.0 * c.c2;
    case 3:
      return 6.0 * c.c3;
    default:
      return 0.0;
  }
}

}  // namespace daedalus::expr
