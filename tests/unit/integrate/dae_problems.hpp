#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daedalus/integrate/loop.hpp"

/// Differential-algebraic systems F(t, y, y') = 0 of index 1, 2 and 3 with known solutions, exact sparse Jacobians and
/// powers of h for Newton's method: `exact(t)` is the solution y, `kinds` groups its components as the orders of an
/// IntegratorEntry do. The span is long enough for errors to spread and short enough for them not to grow much.
namespace daedalus::integrate::problems {

struct DaeProblem {
  std::string name;
  System system;  ///< in the implicit view
  std::function<std::vector<double>(double t)> exact;
  /// Differential and algebraic components; for index 3 positions, velocities and multipliers.
  std::vector<std::vector<std::size_t>> kinds;
  double t_end = 1.0;

  const ImplicitSystem& implicit() const { return *system.implicit; }
};

/// Collects entries (row, column) of a small pattern that are written in order.
inline linalg::Sparsity dae_pattern(std::size_t n, const std::vector<std::vector<std::size_t>>& rows) {
  linalg::Sparsity pattern{n, n, {0}, {}};
  for (const std::vector<std::size_t>& row : rows) {
    pattern.column.insert(pattern.column.end(), row.begin(), row.end());
    pattern.row_start.push_back(pattern.column.size());
  }
  return pattern;
}

inline Evaluation finite(const double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(values[i])) return Evaluation::not_finite;
  }
  return Evaluation::ok;
}

/// Semi-explicit, index 1, y = (x1, x2, w, z):
///   x1' = -x2 z,   x2' = x1 z,   w' = -w z^2,   0 = z + z^3/10 + x1 x2 - r(t),
/// with x = (cos phi, sin phi), z = phi' = 1 + 0.3 cos t, w = exp(-int z^2).
inline DaeProblem index1_problem() {
  struct Solution {
    static double phi(double t) { return t + 0.3 * std::sin(t); }
    static double z(double t) { return 1.0 + 0.3 * std::cos(t); }
    static double r(double t) {
      const double zeta = z(t);
      return zeta + 0.1 * zeta * zeta * zeta + 0.5 * std::sin(2.0 * phi(t));
    }
    static double dr(double t) {
      const double zeta = z(t);
      return -0.3 * std::sin(t) * (1.0 + 0.3 * zeta * zeta) + std::cos(2.0 * phi(t)) * zeta;
    }
  };
  auto implicit = std::make_shared<ImplicitSystem>();
  implicit->residual = [](double t, const double* y, const double* dy, double* F) {
    F[0] = dy[0] + y[1] * y[3];
    F[1] = dy[1] - y[0] * y[3];
    F[2] = dy[2] + y[2] * y[3] * y[3];
    F[3] = y[3] + 0.1 * y[3] * y[3] * y[3] + y[0] * y[1] - Solution::r(t);
    return finite(F, 4);
  };
  implicit->pattern = dae_pattern(4, {{0, 1, 3}, {0, 1, 3}, {2, 3}, {0, 1, 3}});
  implicit->jacobian = [](double, const double* y, const double*, double* F_y, double* F_dy) {
    const double of_y[] = {
        0.0, y[3], y[1], -y[3], 0.0, -y[0], y[3] * y[3], 2.0 * y[2] * y[3], y[1], y[0], 1.0 + 0.3 * y[3] * y[3]};
    const double of_dy[] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0};
    std::copy(std::begin(of_y), std::end(of_y), F_y);
    std::copy(std::begin(of_dy), std::end(of_dy), F_dy);
    return finite(F_y, 11);
  };
  implicit->time_derivative = [](double t, const double*, const double*, double* F_t) {
    F_t[0] = F_t[1] = F_t[2] = 0.0;
    F_t[3] = -Solution::dr(t);
    return Evaluation::ok;
  };
  implicit->derivative = [](double, const double* y, double* dy) {
    dy[0] = -y[1] * y[3];
    dy[1] = y[0] * y[3];
    dy[2] = -y[2] * y[3] * y[3];
    dy[3] = 0.0;
    return finite(dy, 4);
  };
  implicit->differential = {true, true, true, false};
  implicit->index = {1, 1, 1, 1};
  implicit->system_index = 1;
  implicit->constant_leading = true;

  DaeProblem problem;
  problem.name = "index 1, semi-explicit";
  problem.system.dimension = 4;
  problem.system.names = {"x1", "x2", "w", "z"};
  problem.system.implicit = implicit;
  problem.exact = [](double t) {
    const double phi = Solution::phi(t);
    const double square = t + 0.6 * std::sin(t) + 0.09 * (0.5 * t + 0.25 * std::sin(2.0 * t));
    return std::vector<double>{std::cos(phi), std::sin(phi), std::exp(-square), Solution::z(t)};
  };
  problem.kinds = {{0, 1, 2}, {3}};
  problem.t_end = 2.0;
  return problem;
}

/// Fully implicit, index 1, y = (x1, x2, z), nonlinear in x' and with x' in every equation:
///   x1' + x1'^3/5 + z x2' + x1 x2 = r1(t),   z x2' - x1' + z^2 + x2 = r2(t),   z + 0.3 x1' x2' + x1^2 = r3(t),
/// with x1 = sin t, x2 = cos t, z = 2 + sin(2t)/2. The derivatives and z follow from x.
inline DaeProblem fully_implicit_problem() {
  // The left sides without the right ones.
  const auto left = [](const double* y, const double* dy, double* F) {
    F[0] = dy[0] + 0.2 * dy[0] * dy[0] * dy[0] + y[2] * dy[1] + y[0] * y[1];
    F[1] = y[2] * dy[1] - dy[0] + y[2] * y[2] + y[1];
    F[2] = y[2] + 0.3 * dy[0] * dy[1] + y[0] * y[0];
  };
  const auto exact = [](double t) {
    return std::vector<double>{std::sin(t), std::cos(t), 2.0 + 0.5 * std::sin(2.0 * t)};
  };
  const auto slope = [](double t, double* dy) {
    dy[0] = std::cos(t);
    dy[1] = -std::sin(t);
    dy[2] = 0.0;
  };
  auto implicit = std::make_shared<ImplicitSystem>();
  implicit->residual = [=](double t, const double* y, const double* dy, double* F) {
    const double s[3] = {std::sin(t), std::cos(t), 2.0 + 0.5 * std::sin(2.0 * t)};
    double ds[3], right[3];
    slope(t, ds);
    left(s, ds, right);
    left(y, dy, F);
    for (int i = 0; i < 3; ++i) F[i] -= right[i];
    return finite(F, 3);
  };
  implicit->pattern = dae_pattern(3, {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}});
  const auto jacobian = [](const double* y, const double* dy, double* F_y, double* F_dy) {
    const double of_y[] = {y[1], y[0], dy[1], 0.0, 1.0, dy[1] + 2.0 * y[2], 2.0 * y[0], 0.0, 1.0};
    const double of_dy[] = {1.0 + 0.6 * dy[0] * dy[0], y[2], 0.0, -1.0, y[2], 0.0, 0.3 * dy[1], 0.3 * dy[0], 0.0};
    std::copy(std::begin(of_y), std::end(of_y), F_y);
    std::copy(std::begin(of_dy), std::end(of_dy), F_dy);
  };
  implicit->jacobian = [=](double, const double* y, const double* dy, double* F_y, double* F_dy) {
    jacobian(y, dy, F_y, F_dy);
    return finite(F_y, 9);
  };
  implicit->time_derivative = [=](double t, const double*, const double*, double* F_t) {
    // The right sides along the solution, by the chain rule.
    const double s[3] = {std::sin(t), std::cos(t), 2.0 + 0.5 * std::sin(2.0 * t)};
    const double ds[3] = {std::cos(t), -std::sin(t), std::cos(2.0 * t)};
    const double dds[3] = {-std::sin(t), -std::cos(t), 0.0};
    double F_y[9], F_dy[9];
    jacobian(s, ds, F_y, F_dy);
    for (int i = 0; i < 3; ++i) {
      F_t[i] = 0.0;
      for (int j = 0; j < 3; ++j) F_t[i] -= F_y[3 * i + j] * ds[j] + F_dy[3 * i + j] * dds[j];
    }
    return Evaluation::ok;
  };
  implicit->derivative = [residual = implicit->residual](double t, const double* y, double* dy) {
    // Newton's method on the first two equations, from the slope of the solution.
    dy[0] = std::cos(t);
    dy[1] = -std::sin(t);
    dy[2] = 0.0;
    double F[3];
    for (int i = 0; i < 20; ++i) {
      if (const Evaluation outcome = residual(t, y, dy, F); outcome != Evaluation::ok) return outcome;
      const double a = 1.0 + 0.6 * dy[0] * dy[0], b = y[2], c = -1.0, d = y[2], determinant = a * d - b * c;
      dy[0] -= (d * F[0] - b * F[1]) / determinant;
      dy[1] -= (a * F[1] - c * F[0]) / determinant;
    }
    return finite(dy, 3);
  };
  implicit->differential = {true, true, false};
  implicit->index = {1, 1, 1};
  implicit->system_index = 1;

  DaeProblem problem;
  problem.name = "index 1, fully implicit";
  problem.system.dimension = 3;
  problem.system.names = {"x1", "x2", "z"};
  problem.system.implicit = implicit;
  problem.exact = exact;
  problem.kinds = {{0, 1}, {2}};
  problem.t_end = 4.0;
  return problem;
}

/// Hessenberg form of index 2, y = (x1, x2, z), nonlinear in the algebraic unknown:
///   x1' = p1(t) - x1 x2 - 2 x1 s,   x2' = p2(t) + x1^2/2 - x2 s,   s = z + z^3/10,   0 = x1^2 + x2^2/4 - 1,
/// with x = (cos theta, 2 sin theta), theta = t + 0.2 sin t, z = 1 + sin(2t)/2 and p(t) made to fit.
inline DaeProblem index2_problem() {
  struct Solution {
    double x[2], dx[2], ddx[2], s, ds;
    explicit Solution(double t) {
      const double angle = t + 0.2 * std::sin(t), w = 1.0 + 0.2 * std::cos(t), dw = -0.2 * std::sin(t);
      const double cosine = std::cos(angle), sine = std::sin(angle);
      const double z = 1.0 + 0.5 * std::sin(2.0 * t), dz = std::cos(2.0 * t);
      x[0] = cosine;
      x[1] = 2.0 * sine;
      dx[0] = -sine * w;
      dx[1] = 2.0 * cosine * w;
      ddx[0] = -cosine * w * w - sine * dw;
      ddx[1] = 2.0 * (-sine * w * w + cosine * dw);
      s = z + 0.1 * z * z * z;
      ds = dz * (1.0 + 0.3 * z * z);
    }
  };
  auto implicit = std::make_shared<ImplicitSystem>();
  const auto right = [](double t, const double* y, double* f) {
    const Solution at(t);
    const double s = y[2] + 0.1 * y[2] * y[2] * y[2];
    f[0] = at.dx[0] + at.x[0] * at.x[1] + 2.0 * at.x[0] * at.s - y[0] * y[1] - 2.0 * y[0] * s;
    f[1] = at.dx[1] - 0.5 * at.x[0] * at.x[0] + at.x[1] * at.s + 0.5 * y[0] * y[0] - y[1] * s;
  };
  implicit->residual = [right](double t, const double* y, const double* dy, double* F) {
    right(t, y, F);
    F[0] = dy[0] - F[0];
    F[1] = dy[1] - F[1];
    F[2] = y[0] * y[0] + 0.25 * y[1] * y[1] - 1.0;
    return finite(F, 3);
  };
  implicit->pattern = dae_pattern(3, {{0, 1, 2}, {0, 1, 2}, {0, 1}});
  implicit->jacobian = [](double, const double* y, const double*, double* F_y, double* F_dy) {
    const double s = y[2] + 0.1 * y[2] * y[2] * y[2], ds = 1.0 + 0.3 * y[2] * y[2];
    const double of_y[] = {y[1] + 2.0 * s, y[0], 2.0 * y[0] * ds, -y[0], s, y[1] * ds, 2.0 * y[0], 0.5 * y[1]};
    const double of_dy[] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    std::copy(std::begin(of_y), std::end(of_y), F_y);
    std::copy(std::begin(of_dy), std::end(of_dy), F_dy);
    return finite(F_y, 8);
  };
  implicit->time_derivative = [](double t, const double*, const double*, double* F_t) {
    const Solution at(t);
    F_t[0] = -(at.ddx[0] + at.dx[0] * at.x[1] + at.x[0] * at.dx[1] + 2.0 * (at.dx[0] * at.s + at.x[0] * at.ds));
    F_t[1] = -(at.ddx[1] - at.x[0] * at.dx[0] + at.dx[1] * at.s + at.x[1] * at.ds);
    F_t[2] = 0.0;
    return Evaluation::ok;
  };
  implicit->derivative = [right](double t, const double* y, double* dy) {
    right(t, y, dy);
    dy[2] = 0.0;
    return finite(dy, 3);
  };
  implicit->differential = {true, true, false};
  implicit->index = {1, 1, 2};
  implicit->system_index = 2;
  implicit->constant_leading = true;
  implicit->row_power = {1, 1, 0};
  implicit->column_power = {0, 0, 1};

  DaeProblem problem;
  problem.name = "index 2, Hessenberg";
  problem.system.dimension = 3;
  problem.system.names = {"x1", "x2", "z"};
  problem.system.implicit = implicit;
  problem.exact = [](double t) {
    const Solution at(t);
    return std::vector<double>{at.x[0], at.x[1], 1.0 + 0.5 * std::sin(2.0 * t)};
  };
  problem.kinds = {{0, 1}, {2}};
  problem.t_end = 4.0;
  return problem;
}

/// Constrained mechanics, index 3, y = (x, y, vx, vy, lambda): a particle with direction-dependent mass on an ellipse,
///   q' = v,   diag(1, 1 + 0.3 x^2) v' = p(t) - (x y, vx vy / 2) - G^T lambda,   0 = g = x^2 + y^2/4 - 1,
/// with q = (cos theta, 2 sin theta), theta = t + 0.2 sin t, lambda = 1 + sin(2t)/2 and p(t) made to fit.
inline DaeProblem index3_problem() {
  struct Point {
    double q[2], v[2], a[2], jerk[2], lambda, lambda_rate;
  };
  const auto solution = [](double t) {
    const double angle = t + 0.2 * std::sin(t), w = 1.0 + 0.2 * std::cos(t), dw = -0.2 * std::sin(t),
                 ddw = -0.2 * std::cos(t);
    const double c = std::cos(angle), s = std::sin(angle);
    Point p;
    p.q[0] = c;
    p.q[1] = 2.0 * s;
    p.v[0] = -s * w;
    p.v[1] = 2.0 * c * w;
    p.a[0] = -c * w * w - s * dw;
    p.a[1] = 2.0 * (-s * w * w + c * dw);
    p.jerk[0] = s * w * w * w - 3.0 * c * w * dw - s * ddw;
    p.jerk[1] = 2.0 * (-c * w * w * w - 3.0 * s * w * dw + c * ddw);
    p.lambda = 1.0 + 0.5 * std::sin(2.0 * t);
    p.lambda_rate = std::cos(2.0 * t);
    return p;
  };
  // M a + (x y, vx vy / 2) + G^T lambda = p(t) with its time derivative.
  const auto drive = [solution](double t, double* p, double* dp) {
    const Point s = solution(t);
    const double mass = 1.0 + 0.3 * s.q[0] * s.q[0], mass_rate = 0.6 * s.q[0] * s.v[0];
    p[0] = s.a[0] + s.q[0] * s.q[1] + 2.0 * s.q[0] * s.lambda;
    p[1] = mass * s.a[1] + 0.5 * s.v[0] * s.v[1] + 0.5 * s.q[1] * s.lambda;
    if (dp == nullptr) return;
    dp[0] = s.jerk[0] + s.v[0] * s.q[1] + s.q[0] * s.v[1] + 2.0 * (s.v[0] * s.lambda + s.q[0] * s.lambda_rate);
    dp[1] = mass_rate * s.a[1] + mass * s.jerk[1] + 0.5 * (s.a[0] * s.v[1] + s.v[0] * s.a[1]) +
            0.5 * (s.v[1] * s.lambda + s.q[1] * s.lambda_rate);
  };
  auto implicit = std::make_shared<ImplicitSystem>();
  implicit->residual = [drive](double t, const double* y, const double* dy, double* F) {
    double p[2];
    drive(t, p, nullptr);
    F[0] = dy[0] - y[2];
    F[1] = dy[1] - y[3];
    F[2] = dy[2] + y[0] * y[1] + 2.0 * y[0] * y[4] - p[0];
    F[3] = (1.0 + 0.3 * y[0] * y[0]) * dy[3] + 0.5 * y[2] * y[3] + 0.5 * y[1] * y[4] - p[1];
    F[4] = y[0] * y[0] + 0.25 * y[1] * y[1] - 1.0;
    return finite(F, 5);
  };
  implicit->pattern = dae_pattern(5, {{0, 2}, {1, 3}, {0, 1, 2, 4}, {0, 1, 2, 3, 4}, {0, 1}});
  implicit->jacobian = [](double, const double* y, const double* dy, double* F_y, double* F_dy) {
    const double of_y[] = {0.0,
                           -1.0,
                           0.0,
                           -1.0,
                           y[1] + 2.0 * y[4],
                           y[0],
                           0.0,
                           2.0 * y[0],
                           0.6 * y[0] * dy[3],
                           0.5 * y[4],
                           0.5 * y[3],
                           0.5 * y[2],
                           0.5 * y[1],
                           2.0 * y[0],
                           0.5 * y[1]};
    const double of_dy[] = {1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0 + 0.3 * y[0] * y[0],
                            0.0, 0.0, 0.0};
    std::copy(std::begin(of_y), std::end(of_y), F_y);
    std::copy(std::begin(of_dy), std::end(of_dy), F_dy);
    return finite(F_y, 15);
  };
  implicit->time_derivative = [drive](double t, const double*, const double*, double* F_t) {
    double p[2], dp[2];
    drive(t, p, dp);
    F_t[0] = F_t[1] = F_t[4] = 0.0;
    F_t[2] = -dp[0];
    F_t[3] = -dp[1];
    return Evaluation::ok;
  };
  implicit->derivative = [drive](double t, const double* y, double* dy) {
    double p[2];
    drive(t, p, nullptr);
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = p[0] - y[0] * y[1] - 2.0 * y[0] * y[4];
    dy[3] = (p[1] - 0.5 * y[2] * y[3] - 0.5 * y[1] * y[4]) / (1.0 + 0.3 * y[0] * y[0]);
    dy[4] = 0.0;
    return finite(dy, 5);
  };
  implicit->differential = {true, true, true, true, false};
  implicit->index = {1, 1, 2, 2, 3};
  implicit->system_index = 3;
  implicit->row_power = {1, 1, 2, 2, 0};
  implicit->column_power = {0, 0, 1, 1, 2};

  DaeProblem problem;
  problem.name = "index 3, Hessenberg";
  problem.system.dimension = 5;
  problem.system.coordinates = 2;
  problem.system.names = {"x", "y", "der(x)", "der(y)", "lambda"};
  problem.system.implicit = implicit;
  problem.exact = [solution](double t) {
    const Point p = solution(t);
    return std::vector<double>{p.q[0], p.q[1], p.v[0], p.v[1], p.lambda};
  };
  problem.kinds = {{0, 1}, {2, 3}, {4}};
  problem.t_end = 4.0;
  return problem;
}

/// All of them.
inline std::vector<DaeProblem> dae_problems() {
  return {index1_problem(), fully_implicit_problem(), index2_problem(), index3_problem()};
}

}  // namespace daedalus::integrate::problems
