// K q'' = f - G^T lambda with g1 = xb xl + yb yl = 0 and g2 = |(xl, yl) - (xr, yr)|^2 - L^2 = 0; the right wheel (xb, yb) is
// prescribed. Differentiated twice, G q'' = gamma with
//   gamma1 = -2 (xb' xl' + yb' yl') - xb'' xl - yb'' yl,   gamma2 = -2 |(xl', yl') - (xr', yr')|^2.
#include "peers/hand.hpp"

namespace daedalus::bench {

HandRun hand_car_axis(double tolerance) {
  constexpr double epsilon = 0.01, M = 10.0, L = 1.0, L0 = 0.5, r = 0.1, omega = 10.0, g = 1.0;
  constexpr double K = M * epsilon * epsilon / 2.0;
  auto rhs = [](double t, const double* s, double* ds) {
    const double sine = std::sin(omega * t), cosine = std::cos(omega * t);
    const double yb = r * sine, dyb = r * omega * cosine, ddyb = -omega * omega * yb;
    const double xb = std::sqrt(L * L - yb * yb), dxb = -yb * dyb / xb, ddxb = -(dyb * dyb + yb * ddyb + dxb * dxb) / xb;
    const double xl = s[0], yl = s[1], xr = s[2], yr = s[3], dxl = s[4], dyl = s[5], dxr = s[6], dyr = s[7];
    const double left = std::sqrt(xl * xl + yl * yl);
    const double right = std::sqrt((xr - xb) * (xr - xb) + (yr - yb) * (yr - yb));
    const double pull_left = (L0 - left) / left, pull_right = (L0 - right) / right;
    const double dx = xl - xr, dy = yl - yr;
    double A[6][6] = {{K, 0, 0, 0, xb, 2 * dx},   {0, K, 0, 0, yb, 2 * dy},
                      {0, 0, K, 0, 0, -2 * dx},   {0, 0, 0, K, 0, -2 * dy},
                      {xb, yb, 0, 0, 0, 0},       {2 * dx, 2 * dy, -2 * dx, -2 * dy, 0, 0}};
    double b[6] = {pull_left * xl,
                   pull_left * yl - K * g,
                   pull_right * (xr - xb),
                   pull_right * (yr - yb) - K * g,
                   -2 * (dxb * dxl + dyb * dyl) - ddxb * xl - ddyb * yl,
                   -2 * ((dxl - dxr) * (dxl - dxr) + (dyl - dyr) * (dyl - dyr))};
    hand_solve(A, b);
    for (std::size_t i = 0; i < 4; ++i) {
      ds[i] = s[4 + i];
      ds[4 + i] = b[i];
    }
  };
  return hand_dop853(rhs, {0.0, 0.5, 1.0, 0.5, -0.5, 0.0, -0.5, 0.0}, 3.0, tolerance, tolerance);
}

}  // namespace daedalus::bench
