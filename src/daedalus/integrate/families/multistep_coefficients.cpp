// On the grid x = 1, 0, -1, ..., with the new point moved to 0 and w(x) = (x + 1) ... (x + k), H_k = 1 + 1/2 + ... +
// 1/k:
//   backward differentiation  sum_(m = 1)^k (1/m) nabla^m y = h y',  C. W. Gear, Numerical Initial Value Problems in
//   Ordinary Differential Equations, 1971;
//   extended  y_1 + sum_j a_j y_(1-j) = h (beta_1 y'_1 + beta_2 y'_2) exact for degree k + 1, J. R. Cash, On the
//   integration of stiff systems of O.D.E.s using extended backward differentiation formulae, Numer. Math. 34 (1980)
//   235-246. Exactness for x w(x) and for w(x) gives
//     beta_1 = -(k + 1) H_(k+1) beta_2,   1 = beta_1 H_k + beta_2 (k + 1) (H_(k+1) - 1),
//   and exactness for w_j(x) = w(x) / (x + j)
//     a_j = (beta_1 w_j'(0) + beta_2 w_j'(1) - w_j(0)) / w_j(-j).
#include "daedalus/base/check.hpp"
#include "daedalus/integrate/families/multistep.hpp"

namespace daedalus::integrate {

MultistepCoefficients multistep_coefficients(int k) {
  DAEDALUS_CHECK(k >= 1 && k <= 8, "k = {}", k);
  using Real = long double;
  Real harmonic = 0, factorial = 1;  // H_k, k!
  for (int m = 1; m <= k; ++m) {
    harmonic += Real{1} / m;
    factorial *= m;
  }
  const Real next = harmonic + Real{1} / (k + 1);
  const Real beta_1 = next / (next * harmonic + 1 - next), beta_2 = -beta_1 / ((k + 1) * next);

  MultistepCoefficients result;
  result.b = static_cast<double>(1 / harmonic);
  result.beta_1 = static_cast<double>(beta_1);
  result.beta_2 = static_cast<double>(beta_2);
  for (int j = 1; j <= k; ++j) {
    Real bdf = 0, binomial = 1;  // binomial = C(m, j) for m = j, j + 1, ...
    for (int m = j; m <= k; ++m) {
      bdf += binomial / m;
      binomial = binomial * (m + 1) / (m + 1 - j);
    }
    result.bdf_past[j - 1] = static_cast<double>((j % 2 == 0 ? bdf : -bdf) / harmonic);

    Real at_node = 1;  // w_j(-j)
    for (int i = 1; i <= k; ++i) {
      if (i != j) at_node *= i - j;
    }
    const Real at_0 = factorial / j, slope_0 = at_0 * (harmonic - Real{1} / j);
    const Real slope_1 = factorial * (k + 1) / (j + 1) * (next - 1 - Real{1} / (j + 1));
    result.extended_past[j - 1] = static_cast<double>((beta_1 * slope_0 + beta_2 * slope_1 - at_0) / at_node);
  }
  return result;
}

}  // namespace daedalus::integrate
