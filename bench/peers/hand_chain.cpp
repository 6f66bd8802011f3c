// Rod i from mass i - 1 to mass i: d_i = q_i - q_{i-1}, w_i = v_i - v_{i-1}; with masses and lengths 1/N
//   q_i'' = -g e - N (lambda_i d_i - lambda_{i+1} d_{i+1}),
// and the multipliers from the tridiagonal system that d_i . d_i'' = -|w_i|^2 makes of it,
//   n_i |d_i|^2 lambda_i - (d_i . d_{i-1}) lambda_{i-1} - (d_i . d_{i+1}) lambda_{i+1} = (|w_i|^2 - [i = 1] g e . d_1)/N,
// n_1 = 1, else 2: diagonally dominant enough for elimination without pivots, since it is G M^-1 G^T.
#include "peers/hand.hpp"

namespace daedalus::bench {

HandRun hand_chain(std::size_t links, double t_end, double tolerance) {
  constexpr double g = 9.81;
  const std::size_t N = links;
  const double scale = static_cast<double>(N), m = 1.0 / scale, l = 1.0 / scale;
  std::vector<double> start(4 * N, 0.0);
  double x = 0.0, y = 0.0;
  for (std::size_t i = 0; i < N; ++i) {
    const double angle = std::pow((static_cast<double>(i) + 0.5) / scale, 2);
    start[2 * i] = x += l * std::sin(angle);
    start[2 * i + 1] = y -= l * std::cos(angle);
  }
  std::vector<double> work(4 * N + 4, 0.0);
  auto rhs = [&](double, const double* s, double* ds) {
    const double *q = s, *v = s + 2 * N;
    double *dx = work.data(), *dy = dx + N, *above = dy + N, *lambda = above + N;  // lambda has N + 1 entries, the last 0
    // one sweep: differences, rows of the system, elimination
    double x0 = 0.0, y0 = 0.0, u0 = 0.0, v0 = 0.0;
    for (std::size_t i = 0; i < N; ++i) {
      dx[i] = q[2 * i] - x0;
      dy[i] = q[2 * i + 1] - y0;
      const double wx = v[2 * i] - u0, wy = v[2 * i + 1] - v0;
      x0 = q[2 * i];
      y0 = q[2 * i + 1];
      u0 = v[2 * i];
      v0 = v[2 * i + 1];
      lambda[i] = m * (wx * wx + wy * wy);
    }
    lambda[0] -= m * g * dy[0];
    double pivot = dx[0] * dx[0] + dy[0] * dy[0];
    for (std::size_t i = 0;; ++i) {
      const double inverse = 1.0 / pivot;
      lambda[i] *= inverse;
      if (i + 1 == N) break;
      const double side = -(dx[i] * dx[i + 1] + dy[i] * dy[i + 1]);
      above[i] = side * inverse;
      lambda[i + 1] -= side * lambda[i];
      pivot = 2.0 * (dx[i + 1] * dx[i + 1] + dy[i + 1] * dy[i + 1]) - side * above[i];
    }
    for (std::size_t i = N - 1; i-- > 0;) lambda[i] -= above[i] * lambda[i + 1];
    for (std::size_t i = 0; i < 2 * N; ++i) ds[i] = v[i];
    double* a = ds + 2 * N;
    for (std::size_t i = 0; i + 1 < N; ++i) {
      a[2 * i] = -scale * (lambda[i] * dx[i] - lambda[i + 1] * dx[i + 1]);
      a[2 * i + 1] = -g - scale * (lambda[i] * dy[i] - lambda[i + 1] * dy[i + 1]);
    }
    a[2 * N - 2] = -scale * lambda[N - 1] * dx[N - 1];
    a[2 * N - 1] = -g - scale * lambda[N - 1] * dy[N - 1];
  };
  return hand_dop853(rhs, start, t_end, tolerance, tolerance);
}

}  // namespace daedalus::bench
