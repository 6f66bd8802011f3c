// Differences for df/dx_j: with a change d of x_j the error is about |f''| d/2 + eps |f|/d, least near d = sqrt(eps) |x_j|.
#include "daedalus/integrate/system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace daedalus::integrate {

Evaluation project_all(const System& system, const std::function<Evaluation(double t, double* x)>& project, bool moves_all, double t,
                       double* y) {
  const Evaluation outcome = project(t, y);
  const bool follow = moves_all && system.leading > 0 && system.dimension > system.leading && system.complete;
  if (outcome != Evaluation::ok || !follow) return outcome;
  if (system.near) system.near(y);
  return system.complete(t, y);
}

std::size_t ode_dimension(const System& system) { return system.make_implicit ? system.leading : system.dimension; }

bool shows(const System& system, View view) {
  switch (view) {
    case View::ode:
      return static_cast<bool>(system.ode);
    case View::second_order:
      return system.ode && system.coordinates > 0;
    case View::implicit:
      return system.implicit != nullptr;
    case View::mechanical:
      return system.mechanical != nullptr;
    case View::automatic:
      return static_cast<bool>(system.make_implicit);
    case View::overdetermined:
      return system.overdetermined != nullptr;
    case View::flow:
      return system.flow != nullptr;
    case View::normal:
      return system.normal_form != nullptr;
    case View::series:
      return system.ode && system.series;
  }
  return false;
}

std::size_t ImplicitSystem::counted() const {
  return differential.size() - static_cast<std::size_t>(std::ranges::count(ignored, true));
}

std::shared_ptr<const ImplicitSystem> implicit_equations(const System& system) {
  if (!system.overdetermined) return system.implicit;
  return {system.overdetermined, &system.overdetermined->equations};
}

namespace {

linalg::Sparsity full_pattern(std::size_t n) {
  linalg::Sparsity pattern{n, n, {0}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) pattern.column.push_back(j);
    pattern.row_start.push_back(pattern.column.size());
  }
  return pattern;
}

/// Writes df/dx by one-sided differences, row by row.
class Differences {
 public:
  explicit Differences(const System& system)
      : ode_(system.ode), x_(system.dimension), before_(system.dimension), after_(system.dimension) {}

  Evaluation operator()(double t, const double* x, double* jacobian) {
    const std::size_t n = x_.size();
    std::copy_n(x, n, x_.begin());
    if (const Evaluation outcome = ode_(t, x, before_.data()); outcome != Evaluation::ok) return outcome;
    for (std::size_t j = 0; j < n; ++j) {
      const double moved = x[j] + std::sqrt(std::numeric_limits<double>::epsilon()) * std::max(std::abs(x[j]), 1e-5);
      x_[j] = moved;
      const Evaluation outcome = ode_(t, x_.data(), after_.data());
      x_[j] = x[j];
      if (outcome != Evaluation::ok) return outcome;
      for (std::size_t i = 0; i < n; ++i) jacobian[i * n + j] = (after_[i] - before_[i]) / (moved - x[j]);
    }
    return Evaluation::ok;
  }

 private:
  std::function<Evaluation(double, const double*, double*)> ode_;
  std::vector<double> x_, before_, after_;
};

}  // namespace

ImplicitSystem implicit_from_ode(const System& system) {
  const std::size_t n = system.dimension;
  ImplicitSystem result;
  result.residual = [ode = system.ode, n](double t, const double* y, const double* dy, double* F) {
    const Evaluation outcome = ode(t, y, F);
    if (outcome != Evaluation::ok) return outcome;
    for (std::size_t i = 0; i < n; ++i) F[i] = dy[i] - F[i];
    return Evaluation::ok;
  };
  result.pattern = full_pattern(n);
  auto partial = system.ode_jacobian
                     ? system.ode_jacobian
                     : std::function<Evaluation(double, const double*, double*)>(Differences(system));
  result.jacobian = [partial, n](double t, const double* y, const double*, double* F_y, double* F_dy) mutable {
    const Evaluation outcome = partial(t, y, F_y);
    if (outcome != Evaluation::ok) return outcome;
    for (std::size_t k = 0; k < n * n; ++k) F_y[k] = -F_y[k];
    std::fill_n(F_dy, n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) F_dy[i * n + i] = 1.0;
    return Evaluation::ok;
  };
  result.time_derivative = [ode = system.ode, n, after = std::vector<double>(n)](double t, const double* y, const double*,
                                                                                double* F_t) mutable {
    const double later = t + std::sqrt(std::numeric_limits<double>::epsilon()) * std::max(std::abs(t), 1e-5);
    if (const Evaluation outcome = ode(t, y, F_t); outcome != Evaluation::ok) return outcome;
    if (const Evaluation outcome = ode(later, y, after.data()); outcome != Evaluation::ok) return outcome;
    for (std::size_t i = 0; i < n; ++i) F_t[i] = -(after[i] - F_t[i]) / (later - t);
    return Evaluation::ok;
  };
  result.derivative = system.ode;
  result.differential.assign(n, true);
  result.index.assign(n, 1);
  result.constant_leading = true;
  return result;
}

}  // namespace daedalus::integrate
