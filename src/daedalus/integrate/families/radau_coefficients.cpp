// Radau II A: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., sections IV.5 and IV.8.
//   Nodes: c_i = (1 + xi_i) / 2 with P_s(xi) = P_(s-1)(xi), P the Legendre polynomials.
//   A^-1: the slopes at the nodes of the polynomial p through p(0) = 0, p(c_j) = Z_j are (A^-1 Z)_i, so that with the
//   nodes x_0 = 0, x_j = c_j and w_j = 1 / prod_(k != j) (x_j - x_k)
//     (A^-1)_ij = w_j / (w_i (x_i - x_j)),   (A^-1)_ii = sum_(k != i) 1 / (x_i - x_k).
//   Eigenvalues of A^-1: the zeros of the denominator of the Pade approximation (s-1, s) to exp(z),
//     Q(z) = sum_k (-z)^k / k! * s! (2s-1-k)! / ((s-k)! (2s-1)!),
//   polished with their vectors by inverse iteration. All in extended precision, rounded at the end.
#include "daedalus/integrate/families/radau_coefficients.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "daedalus/base/check.hpp"

namespace daedalus::integrate {
namespace {

using Real = long double;
using Complex = std::complex<Real>;

/// P_s(xi) - P_(s-1)(xi)
Real radau_polynomial(std::size_t s, Real xi) {
  Real before = 1, now = xi;
  for (std::size_t k = 1; k < s; ++k) {
    const Real order = static_cast<Real>(k);
    before = std::exchange(now, ((2 * order + 1) * xi * now - order * before) / (order + 1));
  }
  return now - before;
}

/// 0, c_1, ..., c_s
std::vector<Real> nodes(std::size_t s) {
  std::vector<Real> x{0};
  // Far finer than the distance of two zeros of a polynomial of degree 7.
  constexpr int pieces = 1000;
  for (int k = 0; k + 1 < pieces; ++k) {
    Real low = 2 * static_cast<Real>(k) / pieces - 1, high = 2 * static_cast<Real>(k + 1) / pieces - 1;
    const bool sign = radau_polynomial(s, low) > 0;
    if (sign == (radau_polynomial(s, high) > 0)) continue;
    for (int i = 0; i < 80; ++i) {
      const Real middle = (low + high) / 2;
      (sign == (radau_polynomial(s, middle) > 0) ? low : high) = middle;
    }
    x.push_back((1 + low) / 2);
  }
  x.push_back(1);
  DAEDALUS_CHECK(x.size() == s + 1, "{} nodes for {} stages", x.size(), s);
  return x;
}

/// Solves matrix X = right side for `columns` right sides, in place, with row exchanges.
template <typename Number>
void solve(std::vector<Number> matrix, std::size_t n, std::vector<Number>& right, std::size_t columns) {
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::abs(matrix[i * n + k]) > std::abs(matrix[pivot * n + k])) pivot = i;
    }
    for (std::size_t j = 0; j < n; ++j) std::swap(matrix[k * n + j], matrix[pivot * n + j]);
    for (std::size_t j = 0; j < columns; ++j) std::swap(right[k * columns + j], right[pivot * columns + j]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Number factor = matrix[i * n + k] / matrix[k * n + k];
      for (std::size_t j = k; j < n; ++j) matrix[i * n + j] -= factor * matrix[k * n + j];
      for (std::size_t j = 0; j < columns; ++j) right[i * columns + j] -= factor * right[k * columns + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < columns; ++j) right[i * columns + j] /= matrix[i * n + i];
  }
}

std::vector<Real> inverse_of(const std::vector<Real>& matrix, std::size_t n) {
  std::vector<Real> result(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) result[i * n + i] = 1;
  solve(matrix, n, result, n);
  return result;
}

/// The zeros of Q, to a few digits less than working precision, by Durand and Kerner's iteration.
std::vector<Complex> pade_poles(std::size_t s) {
  std::vector<Real> coefficient{1};  // of z^0, z^1, ...
  for (std::size_t k = 1; k <= s; ++k) {
    coefficient.push_back(-coefficient.back() * static_cast<Real>(s - k + 1) /
                          (static_cast<Real>(2 * s - k) * static_cast<Real>(k)));
  }
  std::vector<Complex> zero(s);
  for (std::size_t i = 0; i < s; ++i) {
    zero[i] = std::polar(static_cast<Real>(s + 1), static_cast<Real>(0.4 + 2.0 * static_cast<double>(i)));
  }
  for (int sweep = 0; sweep < 300; ++sweep) {
    for (std::size_t i = 0; i < s; ++i) {
      Complex value = 0, others = coefficient[s];
      for (std::size_t k = s + 1; k-- > 0;) value = value * zero[i] + coefficient[k];
      for (std::size_t j = 0; j < s; ++j) {
        if (j != i) others *= zero[i] - zero[j];
      }
      zero[i] -= value / others;
    }
  }
  return zero;
}

struct Eigenpair {
  Complex value;
  std::vector<Complex> vector;  ///< its last component is 1
};

/// Improves an eigenvalue of a matrix by inverse iteration with moving shift.
Eigenpair polished(const std::vector<Real>& matrix, std::size_t n, Complex value) {
  Eigenpair pair{value, std::vector<Complex>(n, 1)};
  for (int k = 0; k < 6; ++k) {
    // A shift that is off by this little keeps the matrix regular and still gains 12 digits per solution.
    const Complex shift = pair.value * (1 + static_cast<Real>(1e-12));
    std::vector<Complex> shifted(matrix.begin(), matrix.end());
    for (std::size_t i = 0; i < n; ++i) shifted[i * n + i] -= shift;
    std::vector<Complex> next = pair.vector;
    solve(shifted, n, next, 1);
    pair.value = shift + pair.vector[n - 1] / next[n - 1];
    for (std::size_t i = 0; i < n; ++i) pair.vector[i] = next[i] / next[n - 1];
  }
  return pair;
}

constexpr std::size_t most_stages = 7;

/// y += sum_i weight_i Z_i
void add_sum(const double* weight, std::size_t s, const double* Z, std::size_t n, double* y) {
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t k = 0; k < n; ++k) y[k] += weight[i] * Z[i * n + k];
  }
}

/// The weights of Z in p'(0) - p~'(0), with the nodes 0, c_1, ..., c_s, those of the method with two stages less, and
/// the weights of p'(0) and A^-1.
std::vector<Real> defect_of_fewer_stages(const std::vector<Real>& x, const std::vector<Real>& fewer,
                                         std::vector<Real> result, const std::vector<Real>& inverse) {
  const std::size_t s = x.size() - 1;
  for (std::size_t j = 1; j < fewer.size(); ++j) {
    Real at_start = 1;
    for (std::size_t k = 1; k < fewer.size(); ++k) {
      if (k != j) at_start *= -fewer[k] / (fewer[j] - fewer[k]);
    }
    // p' is of degree s-1 and so given by its values at the s nodes, which are A^-1 Z.
    for (std::size_t i = 1; i <= s; ++i) {
      Real value = 1;
      for (std::size_t k = 1; k <= s; ++k) {
        if (k != i) value *= (fewer[j] - x[k]) / (x[i] - x[k]);
      }
      for (std::size_t l = 0; l < s; ++l) result[l] -= at_start * value * inverse[(i - 1) * s + l];
    }
  }
  return result;
}

std::vector<double> rounded(const std::vector<Real>& values) {
  std::vector<double> result;
  for (const Real value : values) result.push_back(static_cast<double>(value));
  return result;
}

RadauCoefficients computed(std::size_t s) {
  RadauCoefficients result;
  result.stages = s;
  const std::vector<Real> x = nodes(s);
  result.node = rounded({x.begin() + 1, x.end()});

  std::vector<Real> w(s + 1, 1), inverse(s * s), start_slope(s);
  for (std::size_t j = 0; j <= s; ++j) {
    for (std::size_t k = 0; k <= s; ++k) {
      if (k != j) w[j] /= x[j] - x[k];
    }
  }
  for (std::size_t i = 1; i <= s; ++i) {
    start_slope[i - 1] = w[i] / (w[0] * (x[0] - x[i]));
    for (std::size_t j = 0; j <= s; ++j) {
      if (j == i) continue;
      if (j > 0) inverse[(i - 1) * s + j - 1] = w[j] / (w[i] * (x[i] - x[j]));
      inverse[(i - 1) * s + i - 1] += 1 / (x[i] - x[j]);
    }
  }
  std::vector<Real> product{1};  // prod_i (1 - t/c_i) by powers of t
  for (std::size_t i = 1; i <= s; ++i) {
    product.push_back(0);
    for (std::size_t k = i; k > 0; --k) product[k] -= product[k - 1] / x[i];
  }
  for (std::size_t k = 0; k <= s; ++k) product[k] /= static_cast<Real>(k + 1);
  result.bubble = rounded(product);
  result.fewer_defect = rounded(defect_of_fewer_stages(x, nodes(s - 2), start_slope, inverse));
  result.barycentric = rounded(w);
  result.start_slope = rounded(start_slope);
  result.inverse = rounded(inverse);
  result.a = rounded(inverse_of(inverse, s));

  std::vector<Complex> poles = pade_poles(s);
  std::ranges::sort(poles, {}, [](const Complex& pole) { return pole.imag(); });
  std::vector<Real> transform(s * s);
  const Eigenpair real = polished(inverse, s, poles[s / 2].real());
  result.gamma = static_cast<double>(real.value.real());
  for (std::size_t i = 0; i < s; ++i) transform[i * s] = real.vector[i].real();
  for (std::size_t k = 0; k < s / 2; ++k) {
    const Eigenpair pair = polished(inverse, s, std::conj(poles[k]));
    result.mu.emplace_back(static_cast<double>(pair.value.real()), -static_cast<double>(pair.value.imag()));
    for (std::size_t i = 0; i < s; ++i) {
      transform[i * s + 2 * k + 1] = pair.vector[i].real();
      transform[i * s + 2 * k + 2] = pair.vector[i].imag();
    }
  }
  result.transform = rounded(transform);
  result.transform_inverse = rounded(inverse_of(transform, s));
  return result;
}

}  // namespace

void RadauCoefficients::value_weights(double x, double* weight) const {
  for (std::size_t i = 0; i < stages; ++i) {
    double product = barycentric[i + 1] * x;
    for (std::size_t k = 0; k < stages; ++k) {
      if (k != i) product *= x - node[k];
    }
    weight[i] = product;
  }
}

void RadauCoefficients::slope_weights(double x, double* weight) const {
  for (std::size_t i = 0; i < stages; ++i) {
    // d/dx of x prod_(k != i) (x - c_k), factor by factor.
    double product = x, slope = 1.0;
    for (std::size_t k = 0; k < stages; ++k) {
      if (k == i) continue;
      slope = slope * (x - node[k]) + product;
      product *= x - node[k];
    }
    weight[i] = barycentric[i + 1] * slope;
  }
}

void RadauCoefficients::add_value(double x, const double* Z, std::size_t n, double* y) const {
  std::array<double, most_stages> weight;
  value_weights(x, weight.data());
  add_sum(weight.data(), stages, Z, n, y);
}

void RadauCoefficients::slope(double x, double h, const double* Z, std::size_t n, double* dy) const {
  std::array<double, most_stages> weight;
  slope_weights(x, weight.data());
  std::fill_n(dy, n, 0.0);
  add_sum(weight.data(), stages, Z, n, dy);
  for (std::size_t i = 0; i < n; ++i) dy[i] /= h;
}

double RadauCoefficients::bubble_value(double x) const {
  double value = 0.0;
  for (std::size_t k = bubble.size(); k-- > 0;) value = (value + bubble[k]) * x;
  return value;
}

const RadauCoefficients& radau_coefficients(std::size_t stages) {
  DAEDALUS_CHECK(stages == 3 || stages == 5 || stages == 7, "{} stages", stages);
  // A millisecond for all three, as long as a small stiff problem takes.
  static const RadauCoefficients three = computed(3);
  if (stages == 3) return three;
  static const RadauCoefficients five = computed(5);
  if (stages == 5) return five;
  static const RadauCoefficients seven = computed(7);
  return seven;
}

}  // namespace daedalus::integrate
