// Starting step size, E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., section
// II.4, in the norm of the error test: with d0 = |x|, d1 = |f| try h0 = 0.01 d0/d1, estimate |x''| as
// d2 = |f(t + h0, x + h0 f) - f| / h0 and take h with h^order max(d1, d2) = 0.01, at most 100 h0. Purely algebraic
// unknowns have no derivative and no say.
#include "daedalus/integrate/first_step.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "daedalus/integrate/error_norm.hpp"

namespace daedalus::integrate {
namespace {

/// Below this, in units of the tolerance, a size is taken for 0 and scales nothing.
constexpr double negligible = 1e-5;
/// A step that is small for want of any scale.
constexpr double timid = 1e-6;

/// x' of the ODE, of the differential unknowns of an implicit system where it says, or of the coordinates of a mechanical
/// one.
Evaluation slope_of(const System& system, double t, const double* x, double* slope) {
  if (system.ode) return system.ode(t, x, slope);
  const auto implicit = implicit_equations(system);
  if (implicit && implicit->derivative) return implicit->derivative(t, x, slope);
  if (system.coordinates == 0) return Evaluation::no_convergence;
  std::fill_n(slope, system.dimension, 0.0);
  std::copy_n(x + system.coordinates, system.coordinates, slope);
  return Evaluation::ok;
}

}  // namespace

FirstStep choose_first_step(const FirstStepProblem& problem) {
  const std::size_t n = problem.system.ode ? ode_dimension(problem.system) : problem.system.dimension;
  FirstStep answer{problem.most, 0};
  if (n == 0 || problem.system.flow) return answer;
  const auto implicit = problem.system.ode ? nullptr : implicit_equations(problem.system);
  const std::size_t counted = implicit ? std::max<std::size_t>(implicit->counted(), 1) : n;
  // Algebraic unknowns follow the others.
  const auto moves = [&](std::size_t i) { return !implicit || implicit->differential[i]; };

  std::vector<double> slope(n), moved(n), moved_slope(n);
  if (problem.slope != nullptr) {
    std::copy_n(problem.slope, n, slope.begin());
  } else {
    ++answer.rhs;
    if (slope_of(problem.system, problem.t, problem.x, slope.data()) != Evaluation::ok) {
      answer.h = problem.least;
      return answer;
    }
  }
  const auto norm = [&](const auto& component) {
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!moves(i)) continue;
      const double ratio = component(i) / error_weight(problem.tolerance, i, std::abs(problem.x[i]));
      sum += ratio * ratio;
    }
    return std::sqrt(sum / static_cast<double>(counted));
  };
  const auto bounded = [&](double h) { return std::clamp(h, problem.least, problem.most); };

  const double d0 = norm([&](std::size_t i) { return problem.x[i]; });
  const double d1 = norm([&](std::size_t i) { return slope[i]; });
  double h0 = bounded(d0 > negligible && d1 > negligible ? 0.01 * d0 / d1 : timid);

  double d2 = -1.0;
  for (int tries = 0; tries < 5; ++tries) {
    for (std::size_t i = 0; i < n; ++i) {
      moved[i] = problem.x[i] + (moves(i) ? problem.direction * h0 * slope[i] : 0.0);
    }
    ++answer.rhs;
    if (slope_of(problem.system, problem.t + problem.direction * h0, moved.data(), moved_slope.data()) == Evaluation::ok) {
      d2 = norm([&](std::size_t i) { return moved_slope[i] - slope[i]; }) / h0;
      if (std::isfinite(d2)) break;
    }
    d2 = -1.0;
    h0 = bounded(0.01 * h0);
  }
  if (d2 < 0.0) {  // a wall is near: the step control must feel its way
    answer.h = h0;
    return answer;
  }
  const double fastest = std::max(d1, d2);
  const double h1 = fastest <= 1e-15 ? std::max(timid, 1e-3 * h0) : std::pow(0.01 / fastest, 1.0 / problem.order);
  answer.h = bounded(std::min(100.0 * h0, h1));
  return answer;
}

}  // namespace daedalus::integrate
