#include <gtest/gtest.h>

#include <algorithm>

#include "unit/integrate/dae_problems.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::DaeProblem;

const std::vector<std::string> catalogue{"implicit-euler", "implicit-midpoint", "crank-nicolson", "gauss4",
                                         "gauss6",         "lobatto3a4",        "lobatto3b4",     "lobatto3c4",
                                         "lobatto3cs4",    "radau1a5",          "radau2a5"};

/// E y' = A y + q(t) with E of rank 1 where both derivatives occur, but only as y1' - y2': index 1.
///   y1' - y2' = -2 y1 + p(t),   0 = y1 + y2 - 2 cos t,   with y = (cos t + sin t, cos t - sin t).
System combined_derivatives() {
  auto implicit = std::make_shared<ImplicitSystem>();
  implicit->residual = [](double t, const double* y, const double* dy, double* F) {
    F[0] = dy[0] - dy[1] + 2.0 * y[0] - (4.0 * std::cos(t) + 2.0 * std::sin(t));
    F[1] = y[0] + y[1] - 2.0 * std::cos(t);
    return Evaluation::ok;
  };
  implicit->pattern = problems::dae_pattern(2, {{0, 1}, {0, 1}});
  implicit->jacobian = [](double, const double*, const double*, double* F_y, double* F_dy) {
    const double of_y[] = {2.0, 0.0, 1.0, 1.0}, of_dy[] = {1.0, -1.0, 0.0, 0.0};
    std::copy_n(of_y, 4, F_y);
    std::copy_n(of_dy, 4, F_dy);
    return Evaluation::ok;
  };
  implicit->differential = {true, true};
  implicit->index = {1, 1};
  implicit->system_index = 1;
  implicit->constant_leading = true;
  System system;
  system.dimension = 2;
  system.names = {"y1", "y2"};
  system.implicit = implicit;
  return system;
}

double combined_error(const std::string& method, int steps) {
  std::vector<double> y{1.0, 1.0};
  const LoopResult result = problems::run(method, combined_derivatives(), problems::fixed(1.0, 1.0 / steps), y);
  EXPECT_EQ(result.status, Status::done) << method << ": " << result.message;
  return problems::distance(y, {std::cos(1.0) + std::sin(1.0), std::cos(1.0) - std::sin(1.0)});
}

TEST(ImplicitRungeKutta, DerivativesMayOccurInCombinationsOnly) {
  // The stages determine everything where A is regular. Orders as on index 1 with z1 from the stages: that of the
  // method for stiffly accurate ones, else min(p, q + 1), or min(p - 1, q) where R(infinity) = 1, as theorem VI.1.1 of
  // Hairer and Wanner has it, q being the stage order.
  const std::vector<std::pair<std::string, int>> orders{
      {"implicit-euler", 1}, {"implicit-midpoint", 2}, {"gauss4", 2},  {"gauss6", 4},
      {"lobatto3c4", 4},     {"radau1a5", 3},          {"radau2a5", 5}};
  for (const auto& [method, order] : orders) {
    EXPECT_NEAR(std::log2(combined_error(method, 16) / combined_error(method, 32)), order, 0.3) << method;
  }
  // Where it is singular they do not, and the run says so.
  for (const std::string method : {"lobatto3a4", "lobatto3b4", "lobatto3cs4", "crank-nicolson"}) {
    std::vector<double> y{1.0, 1.0};
    EXPECT_EQ(problems::run(method, combined_derivatives(), problems::fixed(1.0, 0.1), y).status, Status::singular)
        << method;
  }
}

/// Many copies of one problem side by side, interleaved: component c of copy k stands at c * copies + k.
System interleaved(const DaeProblem& problem, std::size_t copies) {
  const ImplicitSystem& one = problem.implicit();
  const std::size_t n = problem.system.dimension;
  auto many = std::make_shared<ImplicitSystem>();
  const auto gather = [n, copies](const double* from, std::size_t k, std::vector<double>& to) {
    to.resize(n);
    for (std::size_t c = 0; c < n; ++c) to[c] = from[c * copies + k];
  };
  many->residual = [&one, gather, n, copies](double t, const double* y, const double* dy, double* F) {
    std::vector<double> a, b, r(n);
    for (std::size_t k = 0; k < copies; ++k) {
      gather(y, k, a);
      gather(dy, k, b);
      if (const Evaluation outcome = one.residual(t, a.data(), b.data(), r.data()); outcome != Evaluation::ok) {
        return outcome;
      }
      for (std::size_t c = 0; c < n; ++c) F[c * copies + k] = r[c];
    }
    return Evaluation::ok;
  };
  std::vector<std::vector<std::size_t>> rows;
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t k = 0; k < copies; ++k) {
      rows.emplace_back();
      for (std::size_t p = one.pattern.row_start[c]; p < one.pattern.row_start[c + 1]; ++p) {
        rows.back().push_back(one.pattern.column[p] * copies + k);
      }
    }
  }
  many->pattern = problems::dae_pattern(n * copies, rows);
  many->jacobian = [&one, gather, n, copies](double t, const double* y, const double* dy, double* F_y, double* F_dy) {
    std::vector<double> a, b, of_y(one.pattern.nonzeros()), of_dy(one.pattern.nonzeros());
    for (std::size_t k = 0; k < copies; ++k) {
      gather(y, k, a);
      gather(dy, k, b);
      if (const Evaluation outcome = one.jacobian(t, a.data(), b.data(), of_y.data(), of_dy.data());
          outcome != Evaluation::ok) {
        return outcome;
      }
      for (std::size_t c = 0; c < n; ++c) {
        const std::size_t begin = one.pattern.row_start[c], length = one.pattern.row_start[c + 1] - begin;
        for (std::size_t p = 0; p < length; ++p) {
          F_y[begin * copies + k * length + p] = of_y[begin + p];
          F_dy[begin * copies + k * length + p] = of_dy[begin + p];
        }
      }
    }
    return Evaluation::ok;
  };
  many->derivative = [&one, gather, n, copies](double t, const double* y, double* dy) {
    std::vector<double> a, b(n);
    for (std::size_t k = 0; k < copies; ++k) {
      gather(y, k, a);
      if (const Evaluation outcome = one.derivative(t, a.data(), b.data()); outcome != Evaluation::ok) return outcome;
      for (std::size_t c = 0; c < n; ++c) dy[c * copies + k] = b[c];
    }
    return Evaluation::ok;
  };
  const auto repeat = [copies](const auto& from, auto& to) {
    for (const auto& value : from) to.insert(to.end(), copies, value);
  };
  repeat(one.differential, many->differential);
  repeat(one.index, many->index);
  repeat(one.row_power, many->row_power);
  repeat(one.column_power, many->column_power);
  many->system_index = one.system_index;
  System system;
  system.dimension = n * copies;
  system.implicit = many;
  return system;
}

TEST(ImplicitRungeKutta, LargeSparseSystemsGiveWhatSmallOnesGive) {
  constexpr std::size_t copies = 40;
  for (const DaeProblem& problem : problems::dae_problems()) {
    for (const std::string& method : catalogue) {
      if (problem.implicit().system_index > integrator(method).highest_index) continue;
      std::vector<double> small = problem.exact(0.0), large;
      for (const double value : small) large.insert(large.end(), copies, value);
      const LoopOptions options = problems::fixed(1.0, 0.05);
      ASSERT_EQ(problems::run(method, problem.system, options, small).status, Status::done);
      ASSERT_EQ(problems::run(method, interleaved(problem, copies), options, large).status, Status::done);
      for (std::size_t c = 0; c < small.size(); ++c) {
        // Twenty steps of sums of 100 terms; an unknown of index k feels round-off divided by h^(k-1), h = 1/20, and
        // adds it up where the method does not damp.
        const int index = problem.implicit().index[c];
        const double round_off = 100.0 * 20.0 * std::pow(20.0, index - 1) * 2.2e-16 * (index > 1 ? 20.0 : 1.0);
        for (std::size_t k = 0; k < copies; ++k) {
          EXPECT_NEAR(large[c * copies + k], small[c], round_off) << method << " on " << problem.name;
        }
      }
    }
  }
}

TEST(ImplicitRungeKutta, StiffComponentsAreDampedWhereTheMethodDoes) {
  // x' = -1e6 (x - cos t) - sin t from far off: a step multiplies what is off by R(-1e5), which is of size 1e-5 or less
  // for L-stable methods. Others with |R(infinity)| = 1 keep it, but do not let it grow.
  System system;
  system.dimension = 1;
  system.names = {"x"};
  system.ode = [](double t, const double* x, double* dx) {
    dx[0] = -1e6 * (x[0] - std::cos(t)) - std::sin(t);
    return Evaluation::ok;
  };
  for (const std::string& method : catalogue) {
    // The first is not A-stable. The other is, but multiplies the error of its stages, h^2, by h lambda, as A is
    // singular and its last stage explicit.
    if (method == "lobatto3cs4" || method == "lobatto3b4") continue;
    std::vector<double> x{3.0};
    ASSERT_EQ(problems::run(method, system, problems::fixed(1.0, 0.1), x).status, Status::done) << method;
    const double off = std::abs(x[0] - std::cos(1.0));
    // The error of stage order 1 or 2 remains, at most h^2 / 2 of a solution of size 1.
    EXPECT_LT(off, has_property(integrator(method), "L-stable") ? 5e-3 : 2.01) << method;
  }
}

TEST(ImplicitRungeKutta, AStepWithoutSolutionLeavesTheStateAndAShorterOneGoesOn) {
  // Euler's step of Kepler's problem from the pericentre has no solution for h > 0.39.
  const System system = problems::kepler();
  const std::unique_ptr<Stepper> stepper = problems::make_stepper(integrator("implicit-euler"), system);
  const std::vector<double> begin = problems::kepler_solution(0.0);
  ASSERT_EQ(stepper->start(0.0, begin.data()), Evaluation::ok);
  EXPECT_EQ(stepper->attempt(0.75, nullptr).outcome, Evaluation::no_convergence);
  stepper->rejected();
  EXPECT_EQ(std::vector<double>(stepper->state(), stepper->state() + 5), begin);
  ASSERT_EQ(stepper->attempt(0.01, nullptr).outcome, Evaluation::ok);
  // One step of Euler's method errs by h^2 |x''| / 2, where |x''| < 2.
  EXPECT_LT(problems::distance(std::vector<double>(stepper->candidate(), stepper->candidate() + 5),
                               problems::kepler_solution(0.01)),
            1e-4);
}

TEST(ImplicitRungeKutta, StepDoublingMeetsTheToleranceOnEveryIndex) {
  for (const DaeProblem& problem : problems::dae_problems()) {
    for (const std::string& method : catalogue) {
      const IntegratorEntry& entry = integrator(method);
      if (problem.implicit().system_index > entry.highest_index) continue;
      const double tolerance = entry.order <= 2 ? 1e-4 : 1e-7;
      std::vector<double> y = problem.exact(0.0);
      const std::unique_ptr<Stepper> stepper =
          integrate::make_stepper(entry, problem.system, Options(Choice{method, {}}, entry.options), Control::adaptive);
      const LoopResult result = integrate(problem.system, entry, *stepper,
                                          problems::controlled(problem.system, problem.t_end, tolerance), {}, y);
      ASSERT_EQ(result.status, Status::done) << method << " on " << problem.name << ": " << result.message;
      const std::vector<double> exact = problem.exact(problem.t_end);
      double error = 0.0;
      for (const std::size_t c : problem.kinds[0]) error = std::max(error, std::abs(y[c] - exact[c]));
      // Every step adds an error of the size of the tolerance; on their way the systems amplify it by less than 20.
      EXPECT_LT(error, 20.0 * static_cast<double>(result.stats.steps) * tolerance) << method << " on " << problem.name;
    }
  }
}

}  // namespace
}  // namespace daedalus::integrate
