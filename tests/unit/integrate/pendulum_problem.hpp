#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "unit/integrate/dae_problems.hpp"

namespace daedalus::integrate::problems {

/// The pendulum of 000 with the constraint on the level of positions (index 3), velocities (2) or accelerations (1),
/// y = (q, v, lambda) with m v' = -m g e_2 - 2 q lambda.
inline System pendulum(int index) {
  constexpr double m = 2.0, g = 9.81, l = 2.5;
  auto implicit = std::make_shared<ImplicitSystem>();
  implicit->residual = [index](double, const double* y, const double* dy, double* F) {
    F[0] = dy[0] - y[2];
    F[1] = dy[1] - y[3];
    F[2] = m * dy[2] + 2.0 * y[0] * y[4];
    F[3] = m * (dy[3] + g) + 2.0 * y[1] * y[4];
    F[4] = index == 3   ? y[0] * y[0] + y[1] * y[1] - l * l
           : index == 2 ? 2.0 * (y[0] * y[2] + y[1] * y[3])
                        : 2.0 * (y[2] * y[2] + y[3] * y[3] + y[0] * dy[2] + y[1] * dy[3]);
    return Evaluation::ok;
  };
  implicit->pattern = dae_pattern(5, {{0, 2}, {1, 3}, {0, 2, 4}, {1, 3, 4}, {0, 1, 2, 3}});
  implicit->jacobian = [index](double, const double* y, const double* dy, double* F_y, double* F_dy) {
    const double of_y[] = {0.0, -1.0, 0.0, -1.0, 2.0 * y[4], 0.0, 2.0 * y[0], 2.0 * y[4], 0.0, 2.0 * y[1]};
    const double of_dy[] = {1.0, 0.0, 1.0, 0.0, 0.0, m, 0.0, 0.0, m, 0.0};
    std::copy(std::begin(of_y), std::end(of_y), F_y);
    std::copy(std::begin(of_dy), std::end(of_dy), F_dy);
    double* row = F_y + 10;
    std::fill_n(F_dy + 10, 4, 0.0);
    if (index == 3) {
      row[0] = 2.0 * y[0];
      row[1] = 2.0 * y[1];
      row[2] = row[3] = 0.0;
    } else if (index == 2) {
      row[0] = 2.0 * y[2];
      row[1] = 2.0 * y[3];
      row[2] = 2.0 * y[0];
      row[3] = 2.0 * y[1];
    } else {
      row[0] = 2.0 * dy[2];
      row[1] = 2.0 * dy[3];
      row[2] = 4.0 * y[2];
      row[3] = 4.0 * y[3];
      F_dy[12] = 2.0 * y[0];
      F_dy[13] = 2.0 * y[1];
    }
    return Evaluation::ok;
  };
  implicit->derivative = [](double, const double* y, double* dy) {
    const double square = y[0] * y[0] + y[1] * y[1];
    const double lambda = m * (y[2] * y[2] + y[3] * y[3] - g * y[1]) / (2.0 * square);
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = -2.0 * y[0] * lambda / m;
    dy[3] = -g - 2.0 * y[1] * lambda / m;
    dy[4] = 0.0;
    return finite(dy, 5);
  };
  implicit->differential = {true, true, true, true, false};
  implicit->system_index = index;
  if (index == 3) {
    implicit->index = {1, 1, 2, 2, 3};
    implicit->row_power = {1, 1, 2, 2, 0};
    implicit->column_power = {0, 0, 1, 1, 2};
  } else if (index == 2) {
    implicit->index = {1, 1, 1, 1, 2};
    implicit->row_power = {1, 1, 1, 1, 0};
    implicit->column_power = {0, 0, 0, 0, 1};
  } else {
    implicit->index = {1, 1, 1, 1, 1};
  }
  System system;
  system.dimension = 5;
  system.coordinates = 2;
  system.implicit = implicit;
  system.names = {"x", "y", "der(x)", "der(y)", "lambda"};
  return system;
}

/// Its consistent start, and where it is after 50 s: models/reference/pendulum.json, from elliptic functions.
inline std::vector<double> pendulum_start() {
  return {0.86, 2.34742412017939357289, 0.0, 0.0, -3.68451689903357615201};
}
inline std::vector<double> pendulum_end() {
  return {2.02623404191016276138, 1.46436867195539415441, -2.43811344409213091696, 3.37359611214681064703,
          0.473614595563592309723};
}

}  // namespace daedalus::integrate::problems
