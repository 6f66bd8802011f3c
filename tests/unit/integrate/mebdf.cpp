// Modified extended backward differentiation: its coefficients exactly, and what the conformance tests do not ask.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "daedalus/integrate/families/multistep.hpp"
#include "unit/integrate/dae_problems.hpp"
#include "unit/integrate/multistep_problems.hpp"

namespace daedalus::integrate {
namespace {

/// A fraction in lowest terms. Wide enough for k = 8: terms stay below 1e30.
struct Fraction {
  __extension__ using Whole = __int128;
  Whole above = 0, below = 1;

  Fraction(Whole numerator = 0, Whole denominator = 1) : above(numerator), below(denominator) {
    Whole a = above < 0 ? -above : above, b = below < 0 ? -below : below;
    while (b != 0) a = std::exchange(b, a % b);
    if (below < 0) a = -a;
    if (a != 0) {
      above /= a;
      below /= a;
    }
  }
  double value() const {
    return static_cast<double>(static_cast<long double>(above) / static_cast<long double>(below));
  }
};
Fraction operator*(Fraction a, Fraction b) { return {a.above * b.above, a.below * b.below}; }
Fraction operator/(Fraction a, Fraction b) { return {a.above * b.below, a.below * b.above}; }
Fraction operator-(Fraction a, Fraction b) { return {a.above * b.below - b.above * a.below, a.below * b.below}; }
bool operator!=(Fraction a, Fraction b) { return a.above != b.above || a.below != b.below; }

/// Solves a linear system exactly, by elimination.
std::vector<Fraction> solve(std::vector<std::vector<Fraction>> matrix, std::vector<Fraction> right) {
  const std::size_t n = right.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    while (!(matrix[pivot][k] != Fraction(0))) ++pivot;
    std::swap(matrix[k], matrix[pivot]);
    std::swap(right[k], right[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Fraction factor = matrix[i][k] / matrix[k][k];
      for (std::size_t j = k; j < n; ++j) matrix[i][j] = matrix[i][j] - factor * matrix[k][j];
      right[i] = right[i] - factor * right[k];
    }
  }
  for (std::size_t k = 0; k < n; ++k) right[k] = right[k] / matrix[k][k];
  return right;
}

long long power(long long base, int exponent) {
  long long result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

class MebdfCoefficients : public testing::TestWithParam<int> {};

TEST_P(MebdfCoefficients, SolveTheOrderConditionsExactly) {
  // With the new point at 0: 0^p + sum_j a_j (-j)^p = b p 0^(p-1) for p <= k, and with beta_2 p 1^(p-1) beside it for
  // p <= k + 1. The two systems have one solution each; ours, from closed formulas, must round it.
  const int k = GetParam();
  const MultistepCoefficients ours = multistep_coefficients(k);
  for (const bool extended : {false, true}) {
    const int unknowns = k + (extended ? 2 : 1);
    std::vector<std::vector<Fraction>> matrix;
    std::vector<Fraction> right;
    for (int p = 0; p < unknowns; ++p) {
      std::vector<Fraction> row;
      for (int j = 1; j <= k; ++j) row.push_back(Fraction(power(-j, p)));
      row.push_back(Fraction(p == 1 ? -1 : 0));
      if (extended) row.push_back(Fraction(-p));
      matrix.push_back(row);
      right.push_back(Fraction(p == 0 ? -1 : 0));
    }
    const std::vector<Fraction> exact = solve(matrix, right);
    const std::size_t size = static_cast<std::size_t>(k);
    for (std::size_t j = 0; j < size; ++j) {
      EXPECT_DOUBLE_EQ((extended ? ours.extended_past : ours.bdf_past)[j], exact[j].value()) << k << ", " << j + 1;
    }
    EXPECT_DOUBLE_EQ(extended ? ours.beta_1 : ours.b, exact[size].value()) << k;
    if (extended) {
      EXPECT_DOUBLE_EQ(ours.beta_2, exact[size + 1].value()) << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MebdfCoefficients, testing::Range(1, 9));

TEST(MebdfCoefficients, AreThoseOfThePaper) {
  // Cash (1980), k = 2: y_(n+2) - 28/23 y_(n+1) + 5/23 y_n = h (22/23 f_(n+2) - 4/23 f_(n+3)).
  const MultistepCoefficients formula = multistep_coefficients(2);
  EXPECT_DOUBLE_EQ(formula.extended_past[0], -28.0 / 23.0);
  EXPECT_DOUBLE_EQ(formula.extended_past[1], 5.0 / 23.0);
  EXPECT_DOUBLE_EQ(formula.beta_1, 22.0 / 23.0);
  EXPECT_DOUBLE_EQ(formula.beta_2, -4.0 / 23.0);
}

class MebdfOrder : public testing::TestWithParam<int> {};

TEST_P(MebdfOrder, IsTheOptionWithFixedSteps) {
  // Neighbouring orders are 1 away. From order 7 on errors meet round-off before they are quite asymptotic.
  EXPECT_NEAR(problems::order_on_circle("mebdf", GetParam()), GetParam(), GetParam() <= 6 ? 0.1 : 0.3);
}

INSTANTIATE_TEST_SUITE_P(All, MebdfOrder, testing::Range(2, 9));

TEST(Mebdf, StaysBoundedOnTheImaginaryAxisUpToOrderFour) {
  for (const double angle : {0.01, 0.1, 0.3, 1.0, 2.0, 10.0, 1000.0}) {
    for (const int order : {2, 3, 4}) {
      EXPECT_LT(problems::growth_on_circle("mebdf", order, angle), 1.0 + 1e-9) << order << ", " << angle;
    }
  }
  // Cash (1983): the angles of stability of orders 5 to 8 are 88, 83, 74 and 62 degrees.
  for (const int order : {5, 6, 7, 8}) EXPECT_GT(problems::growth_on_circle("mebdf", order, 1.5), 1e3) << order;
}

TEST(Mebdf, StepsUpToAWallThatItCannotSeeBehind) {
  // The formula evaluates one step beyond the end of the step. Where there is nothing, it must still arrive.
  System system = problems::growth(-1.0);
  system.ode = [](double t, const double* x, double* dx) {
    dx[0] = -x[0];
    return t > 1.0 + 1e-12 ? Evaluation::singular : Evaluation::ok;
  };
  for (LoopOptions options : {problems::fixed(1.0, 0.05), problems::controlled(system, 1.0, 1e-7)}) {
    std::vector<double> x{1.0};
    const LoopResult result = problems::run("mebdf", system, options, x);
    ASSERT_EQ(result.status, Status::done) << result.message;
    // Fixed: order 4 with h = 0.05; controlled: the tolerance.
    EXPECT_NEAR(x[0], std::exp(-1.0), 1e-6);
  }
}

TEST(Mebdf, ErrorFollowsTheToleranceOnEveryIndex) {
  for (const problems::DaeProblem& problem : problems::dae_problems()) {
    double first = 0.0, last = 0.0;
    for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
      std::vector<double> y = problem.exact(0.0);
      LoopOptions options = problems::controlled(problem.system, problem.t_end, tolerance);
      ASSERT_EQ(problems::run("mebdf", problem.system, options, y).status, Status::done) << problem.name;
      const std::vector<double> exact = problem.exact(problem.t_end);
      double error = 0.0;
      for (const std::size_t c : problem.kinds[0]) error = std::max(error, std::abs(y[c] - exact[c]));
      // Errors below tolerance / 60 in each of up to 600 steps.
      EXPECT_LT(error, 10.0 * tolerance) << problem.name << " at " << tolerance;
      if (first == 0.0) first = error;
      last = error;
    }
    // The estimate is of the order before: the error falls faster than the tolerance, but for the round-off 1e-13; one that
    // is a hundredth of the loosest tolerance by chance need not, if the tightest is met.
    EXPECT_LT(last, std::max(1e-5 * first + 1e-13, first < 2e-6 ? 1e-10 : 0.0)) << problem.name;
  }
}

TEST(Mebdf, TakesRobertsonAndTheAmplifierToTheEnd) {
  for (const problems::ReferenceProblem& problem : {problems::robertson(), problems::transistor_amplifier()}) {
    for (const double tolerance : {1e-6, 1e-9}) {
      const bool small = problem.start.size() == 3;
      std::vector<double> y = problem.start;
      LoopOptions options = problems::controlled(problem.system, problem.t_end, tolerance);
      if (small) options.tolerance.atol.assign(3, 1e-4 * tolerance);
      const LoopResult result = problems::run("mebdf", problem.system, options, y);
      ASSERT_EQ(result.status, Status::done) << result.message;
      EXPECT_LT(result.stats.steps, 10'000u);
      for (std::size_t i = 0; i < y.size(); ++i) {
        EXPECT_NEAR(y[i], problem.end[i], tolerance * ((small ? 1e-4 : 1.0) + std::abs(problem.end[i]))) << i;
      }
    }
  }
}

}  // namespace
}  // namespace daedalus::integrate
