#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "daedalus/integrate/system.hpp"

/// Constrained motion with known solutions, in the mechanical view.
namespace daedalus::integrate::problems {

/// A particle on the ellipse g = x^2 + y^2/4 - 1 = 0, moved around by a force p(t) that makes the solution
/// q = (cos theta, 2 sin theta), theta = t + 0.2 sin t, lambda = 1 + sin(2t)/2:
///   diag(1, 1 + c x^2) q'' = p(t) - (y, x) + forces of the kinetic energy - k v - G^T lambda.
/// With `auxiliary` there is an unknown z = 2 + sin t with a rate that depends on x and z, and a force 0.1 z on x.
struct Ellipse {
  double c = 0.0;  ///< 0: constant mass
  double k = 0.0;  ///< 0: forces from a potential
  bool auxiliary = false;

  struct Point {
    double q[2], v[2], a[2], lambda;
  };
  static Point solution(double t) {
    const double angle = t + 0.2 * std::sin(t), w = 1.0 + 0.2 * std::cos(t), dw = -0.2 * std::sin(t);
    const double cosine = std::cos(angle), sine = std::sin(angle);
    return {{cosine, 2.0 * sine},
            {-sine * w, 2.0 * cosine * w},
            {-cosine * w * w - sine * dw, 2.0 * (-sine * w * w + cosine * dw)},
            1.0 + 0.5 * std::sin(2.0 * t)};
  }
  /// z = 2 + sin t.
  static double z(double t) { return 2.0 + std::sin(t); }

  /// dL/dq - k v without p(t).
  void inner_force(const double* q, const double* v, double zeta, double* F) const {
    F[0] = c * q[0] * v[1] * v[1] - q[1] - k * v[0] + (auxiliary ? 0.1 * zeta : 0.0);
    F[1] = -q[0] - k * v[1];
  }
  void mass_rate(const double* q, const double* v, double* rate) const {
    rate[0] = 0.0;
    rate[1] = 2.0 * c * q[0] * v[0] * v[1];
  }
  void drive(double t, double* p) const {
    const Point s = solution(t);
    double F[2], rate[2];
    inner_force(s.q, s.v, z(t), F);
    mass_rate(s.q, s.v, rate);
    p[0] = s.a[0] + rate[0] - F[0] + 2.0 * s.q[0] * s.lambda;
    p[1] = (1.0 + c * s.q[0] * s.q[0]) * s.a[1] + rate[1] - F[1] + 0.5 * s.q[1] * s.lambda;
  }
  /// p' + G^T lambda
  void force(double t, const double* x, double* F) const {
    double p[2];
    drive(t, p);
    inner_force(x, x + 2, auxiliary ? x[4] : 0.0, F);
    F[0] += p[0];
    F[1] += p[1];
  }

  std::vector<double> exact(double t) const {
    const Point s = solution(t);
    std::vector<double> x{s.q[0], s.q[1], s.v[0], s.v[1]};
    if (auxiliary) x.push_back(z(t));
    return x;
  }

  System system() const {
    auto view = std::make_shared<MechanicalSystem>();
    view->n = 2;
    view->m = 1;
    view->mass = {2, 2, {0, 1, 2}, {0, 1}};
    view->jacobian = {1, 2, {0, 2}, {0, 1}};
    view->holonomic_rows = {0};
    view->constraint_names = {"ellipse"};
    view->constant_mass = c == 0.0;
    view->hamiltonian = k == 0.0 && !auxiliary;
    view->motion = [self = *this](double t, const double* x, double* M, double* f, double* G, double* gamma,
                                  double* dz) {
      if (M != nullptr) self.mass(x, M);
      if (f != nullptr) {
        double rate[2];
        self.force(t, x, f);
        self.mass_rate(x, x + 2, rate);
        f[0] -= rate[0];
        f[1] -= rate[1];
      }
      if (G != nullptr) gradient(x, G);
      if (gamma != nullptr) gamma[0] = -2.0 * x[2] * x[2] - 0.5 * x[3] * x[3];
      if (dz != nullptr && self.auxiliary) *dz = std::cos(t) + 0.5 * (x[0] - solution(t).q[0]) - 0.3 * (x[4] - z(t));
      return Evaluation::ok;
    };
    view->geometry = [self = *this](double, const double* q, double* M, double* G, double* g) {
      if (M != nullptr) self.mass(q, M);
      if (G != nullptr) gradient(q, G);
      if (g != nullptr) g[0] = q[0] * q[0] + 0.25 * q[1] * q[1] - 1.0;
      return std::isfinite(q[0] + q[1]) ? Evaluation::ok : Evaluation::not_finite;
    };
    view->velocity_residual = [](double, const double* q, const double* v, double* r) {
      r[0] = 2.0 * q[0] * v[0] + 0.5 * q[1] * v[1];
      return Evaluation::ok;
    };
    view->momentum_rate = [self = *this](double t, const double* x, double* F) {
      self.force(t, x, F);
      return Evaluation::ok;
    };
    System result;
    result.dimension = auxiliary ? 5 : 4;
    result.coordinates = 2;
    result.names = {"x", "y", "der(x)", "der(y)"};
    if (auxiliary) result.names.push_back("z");
    result.mechanical = view;
    return result;
  }

  /// Of the equations of motion at a state.
  double lambda(double t, const double* x) const {
    const System all = system();
    double M[2], f[2], G[2], gamma;
    all.mechanical->motion(t, x, M, f, G, &gamma, nullptr);
    return (G[0] * f[0] / M[0] + G[1] * f[1] / M[1] - gamma) / (G[0] * G[0] / M[0] + G[1] * G[1] / M[1]);
  }

 private:
  void mass(const double* q, double* M) const {
    M[0] = 1.0;
    M[1] = 1.0 + c * q[0] * q[0];
  }
  static void gradient(const double* q, double* G) {
    G[0] = 2.0 * q[0];
    G[1] = 0.5 * q[1];
  }
};

/// A pendulum of length 1 in space with gravity 1, of unit mass, as a particle on the sphere.
inline System spherical_pendulum() {
  auto view = std::make_shared<MechanicalSystem>();
  view->n = 3;
  view->m = 1;
  view->mass = {3, 3, {0, 1, 2, 3}, {0, 1, 2}};
  view->jacobian = {1, 3, {0, 3}, {0, 1, 2}};
  view->holonomic_rows = {0};
  view->constraint_names = {"rod"};
  view->constant_mass = true;
  const auto gradient = [](const double* q, double* G) {
    for (int i = 0; i < 3; ++i) G[i] = 2.0 * q[i];
  };
  view->motion = [gradient](double, const double* x, double* M, double* f, double* G, double* gamma, double*) {
    if (M != nullptr) std::fill_n(M, 3, 1.0);
    if (f != nullptr) f[0] = f[1] = 0.0, f[2] = -1.0;
    if (G != nullptr) gradient(x, G);
    if (gamma != nullptr) *gamma = -2.0 * (x[3] * x[3] + x[4] * x[4] + x[5] * x[5]);
    return Evaluation::ok;
  };
  view->geometry = [gradient](double, const double* q, double* M, double* G, double* g) {
    if (M != nullptr) std::fill_n(M, 3, 1.0);
    if (G != nullptr) gradient(q, G);
    if (g != nullptr) *g = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - 1.0;
    return Evaluation::ok;
  };
  view->velocity_residual = [](double, const double* q, const double* v, double* r) {
    *r = 2.0 * (q[0] * v[0] + q[1] * v[1] + q[2] * v[2]);
    return Evaluation::ok;
  };
  view->momentum_rate = [](double, const double*, double* F) {
    F[0] = F[1] = 0.0;
    F[2] = -1.0;
    return Evaluation::ok;
  };
  System system;
  system.dimension = 6;
  system.coordinates = 3;
  system.names = {"x", "y", "z", "der(x)", "der(y)", "der(z)"};
  system.mechanical = view;
  return system;
}

inline double spherical_energy(const double* x) { return 0.5 * (x[3] * x[3] + x[4] * x[4] + x[5] * x[5]) + x[2]; }

}  // namespace daedalus::integrate::problems
