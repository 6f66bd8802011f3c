// Newton steps for more equations than unknowns against the formulas that define them, computed with dense matrices and
// a basis of the kernel; and multistep methods that use them.
#include "daedalus/integrate/families/overdetermined_newton.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "dense.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using tests::kernel;
using tests::least_solution;
using tests::least_squares;
using tests::Matrix;
using tests::part;

/// F = F_y y + F_y' y' with given matrices, all entries in the pattern.
OverdeterminedSystem linear_system(const Matrix& F_y, const Matrix& F_dy, Corrector corrector) {
  OverdeterminedSystem system;
  ImplicitSystem& equations = system.equations;
  equations.pattern = {F_y.rows, F_y.columns, {0}, {}};
  for (std::size_t i = 0; i < F_y.rows; ++i) {
    for (std::size_t j = 0; j < F_y.columns; ++j) equations.pattern.column.push_back(j);
    equations.pattern.row_start.push_back(equations.pattern.column.size());
  }
  equations.jacobian = [F_y, F_dy](double, const double*, const double*, double* A, double* B) {
    std::copy(F_y.entries.begin(), F_y.entries.end(), A);
    std::copy(F_dy.entries.begin(), F_dy.entries.end(), B);
    return Evaluation::ok;
  };
  system.corrector = corrector;
  return system;
}

TEST(OverdeterminedNewton, StepsAreTheGeneralizedInversesThatDefineThem) {
  constexpr std::size_t n = 7, m = 3;
  const std::vector<int> row_power{1, 1, 2, 0, 0, 1, 2, 0, 1, 0}, column_power{0, 0, 1, 2, 0, 1, 1};
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (const double h : {1.0, 0.1, 1e-3}) {
    Matrix F_y{n + m, n}, F_dy{n + m, n}, right{n + m, 1};
    for (double& x : F_y.entries) x = normal(random);
    for (std::size_t i = 0; i < n * n; ++i) F_dy.entries[i] = normal(random);
    for (double& x : right.entries) x = normal(random);
    const double c = 3.0;
    Matrix A = F_y, weighted{n + m, n}, weighted_right = right;
    for (std::size_t i = 0; i < n + m; ++i) {
      const double weight = std::pow(h, row_power[i]);
      for (std::size_t j = 0; j < n; ++j) {
        A(i, j) += c * F_dy(i, j);
        weighted(i, j) = weight * A(i, j);
      }
      weighted_right(i, 0) *= weight;
    }
    const Matrix A1 = part(A, 0, n), A2 = part(A, n, n + m), a1 = part(right, 0, n), a2 = part(right, n, n + m);
    const Matrix V = kernel(A2), particular = least_solution(A2, a2);
    const Matrix weighted_rest = part(weighted_right, 0, n) - part(weighted, 0, n) * particular;
    const std::pair<Corrector, Matrix> expected[] = {
        {Corrector::ssf, tests::ssf_solution(A1, A2, a1, a2)},
        {Corrector::gauss_newton, least_squares(weighted, weighted_right)},
        {Corrector::least_squares, particular + V * least_squares(part(weighted, 0, n) * V, weighted_rest)}};
    for (const auto& [corrector, d] : expected) {
      OverdeterminedSystem system = linear_system(F_y, F_dy, corrector);
      system.equations.row_power = row_power;
      system.equations.column_power = column_power;
      const NewtonCorrection correction =
          overdetermined_correction(std::make_shared<const OverdeterminedSystem>(system));
      const std::vector<double> y(n), dy(n);
      Stats stats;
      ASSERT_EQ(correction.prepare({0.0, h, c, y.data(), dy.data()}, Jacobians::evaluate, stats), Evaluation::ok);
      std::vector<double> step = right.entries;
      correction.solve(step.data());
      // The expected values come from normal equations, which square a condition of about 1e2 (times 1/h^2 for the
      // weights that 1e-3 puts between rows).
      const double bound = h == 1e-3 && corrector != Corrector::ssf ? 1e-5 : 1e-9;
      for (std::size_t j = 0; j < n; ++j)
        EXPECT_NEAR(step[j], d(j, 0), bound * (1.0 + std::abs(d(j, 0)))) << "h " << h << ", unknown " << j;
    }
  }
}

/// x' = v, v' = -x with x^2 + v^2 = 1 beside it.
System circle(Corrector corrector) {
  auto given = std::make_shared<OverdeterminedSystem>();
  given->corrector = corrector;
  ImplicitSystem& equations = given->equations;
  equations.residual = [](double, const double* y, const double* dy, double* F) {
    F[0] = dy[0] - y[1];
    F[1] = dy[1] + y[0];
    F[2] = y[0] * y[0] + y[1] * y[1] - 1.0;
    return Evaluation::ok;
  };
  equations.pattern = {3, 2, {0, 2, 4, 6}, {0, 1, 0, 1, 0, 1}};
  equations.jacobian = [](double, const double* y, const double*, double* F_y, double* F_dy) {
    const double by_y[] = {0.0, -1.0, 1.0, 0.0, 2.0 * y[0], 2.0 * y[1]}, by_dy[] = {1.0, 0.0, 0.0, 1.0, 0.0, 0.0};
    std::copy_n(by_y, 6, F_y);
    std::copy_n(by_dy, 6, F_dy);
    return Evaluation::ok;
  };
  equations.derivative = [](double, const double* y, double* dy) {
    dy[0] = y[1];
    dy[1] = -y[0];
    return Evaluation::ok;
  };
  equations.differential = {true, true};
  equations.index = {1, 1};
  equations.row_power = {1, 1, 0};
  equations.column_power = {0, 0};
  System system;
  system.dimension = 2;
  system.overdetermined = given;
  system.names = {"x", "v"};
  return system;
}

TEST(OverdeterminedNewton, MultistepMethodsKeepTheRowsBeyondTheSquarePart) {
  for (const char* method : {"bdf", "mebdf"})
    for (const Corrector corrector : {Corrector::ssf, Corrector::gauss_newton, Corrector::least_squares}) {
      SCOPED_TRACE(std::string(method) + ", corrector " + std::to_string(static_cast<int>(corrector)));
      const System system = circle(corrector);
      double violation = 0.0;
      Observer observer;
      observer.step = [&](double, const double* x) {
        violation = std::max(violation, std::abs(x[0] * x[0] + x[1] * x[1] - 1.0));
      };
      std::vector<double> x{1.0, 0.0};
      const LoopResult result = problems::run(method, system, problems::controlled(system, 20.0, 1e-8), x, observer);
      ASSERT_EQ(result.status, Status::done) << result.message;
      // Three periods of an undamped oscillation: a hundred tolerances, as for the ODE.
      EXPECT_LT(std::hypot(x[0] - std::cos(20.0), x[1] + std::sin(20.0)), 1e-6);
      // The iteration may leave two hundredths of the tolerance, 2e-8, in every unknown; where all rows share the
      // misfit, it is the error of a step.
      EXPECT_LT(violation, corrector == Corrector::gauss_newton ? 2e-8 : 2.0 * 0.02 * 2e-8);
    }
}

TEST(OverdeterminedNewton, FixedStepsHaveTheOrderOfTheMethod) {
  const System system = circle(Corrector::ssf);
  const auto error = [&](double h) {
    std::vector<double> x{1.0, 0.0};
    EXPECT_EQ(problems::run("bdf", system, problems::fixed(4.0, h), x).status, Status::done);
    return std::hypot(x[0] - std::cos(4.0), x[1] + std::sin(4.0));
  };
  // Order 5, with terms of order 6 at these steps.
  EXPECT_NEAR(std::log2(error(0.05) / error(0.025)), 5.0, 0.3);
}

TEST(OverdeterminedNewton, TheSquarePartMayBeSingular) {
  // x' = v, 0 = 0 and v = cos t: as with masses that are 0.
  auto given = std::make_shared<OverdeterminedSystem>();
  ImplicitSystem& equations = given->equations;
  equations.residual = [](double t, const double* y, const double* dy, double* F) {
    F[0] = dy[0] - y[1];
    F[1] = 0.0;
    F[2] = y[1] - std::cos(t);
    return Evaluation::ok;
  };
  equations.pattern = {3, 2, {0, 2, 3, 4}, {0, 1, 1, 1}};
  equations.jacobian = [](double, const double*, const double*, double* F_y, double* F_dy) {
    const double by_y[] = {0.0, -1.0, 0.0, 1.0}, by_dy[] = {1.0, 0.0, 0.0, 0.0};
    std::copy_n(by_y, 4, F_y);
    std::copy_n(by_dy, 4, F_dy);
    return Evaluation::ok;
  };
  equations.derivative = [](double t, const double* y, double* dy) {
    dy[0] = y[1];
    dy[1] = -std::sin(t);
    return Evaluation::ok;
  };
  equations.differential = {true, true};
  equations.index = {1, 1};
  equations.row_power = {1, 1, 0};
  equations.column_power = {0, 0};
  System system;
  system.dimension = 2;
  system.overdetermined = given;
  system.names = {"x", "v"};
  for (const LoopOptions& options : {problems::controlled(system, 3.0, 1e-8), problems::fixed(3.0, 0.02)}) {
    std::vector<double> y{0.0, 1.0};
    ASSERT_EQ(problems::run("bdf", system, options, y).status, Status::done);
    EXPECT_NEAR(y[0], std::sin(3.0), 1e-7);
    EXPECT_NEAR(y[1], std::cos(3.0), 1e-10);
  }
}

}  // namespace
}  // namespace daedalus::integrate
