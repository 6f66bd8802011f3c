// m (x'', y'') = (0, -m g) - 2 lambda (x, y) with x^2 + y^2 = l^2. Differentiated twice, x x'' + y y'' = -(x'^2 + y'^2), so
//   2 lambda/m = (x'^2 + y'^2 - g y)/(x^2 + y^2).
#include "peers/hand.hpp"

namespace daedalus::bench {

HandRun hand_pendulum(double tolerance) {
  constexpr double g = 9.81, l = 2.5, x = 0.86;
  auto rhs = [](double, const double* s, double* ds) {
    const double pull = (s[2] * s[2] + s[3] * s[3] - g * s[1]) / (s[0] * s[0] + s[1] * s[1]);
    ds[0] = s[2];
    ds[1] = s[3];
    ds[2] = -pull * s[0];
    ds[3] = -g - pull * s[1];
  };
  return hand_dop853(rhs, {x, std::sqrt(l * l - x * x), 0.0, 0.0}, 50.0, tolerance, tolerance);
}

}  // namespace daedalus::bench
