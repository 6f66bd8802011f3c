#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <span>

#include "daedalus/integrate/methods/dop853_coefficients.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using Stages = std::array<long double, 17>;

/// A rooted tree by its branches, each given by its place in a list of trees, in falling order.
struct Tree {
  int order;
  std::vector<std::size_t> branches;
};

/// All rooted trees up to an order, by order.
std::vector<Tree> trees_up_to(int most) {
  std::vector<Tree> trees{{1, {}}};
  for (int order = 2; order <= most; ++order) {
    const std::size_t smaller = trees.size();
    std::vector<std::size_t> branches;
    const std::function<void(int, std::size_t)> choose = [&](int left, std::size_t limit) {
      if (left == 0) {
        trees.push_back({order, branches});
        return;
      }
      for (std::size_t i = 0; i < limit; ++i) {
        if (trees[i].order > left) break;
        branches.push_back(i);
        choose(left - trees[i].order, i + 1);
        branches.pop_back();
      }
    };
    choose(order - 1, smaller);
  }
  return trees;
}

/// For every tree: its density gamma and, at each stage, the product over its branches of their elementary weights,
/// Phi_i(t) = prod_branches sum_j a_ij Phi_j(branch): Hairer, Norsett, Wanner I, section II.2.
struct Weights {
  std::vector<long double> gamma;
  std::vector<Stages> stage;
};

Weights weights_of(const std::vector<Tree>& trees, std::size_t stages) {
  Weights result;
  for (const Tree& tree : trees) {
    long double gamma = tree.order;
    Stages phi;
    phi.fill(1.0L);
    for (const std::size_t branch : tree.branches) {
      gamma *= result.gamma[branch];
      for (std::size_t i = 1; i <= stages; ++i) {
        long double sum = 0.0L;
        for (const Term& term : dop853::rows[i])
          sum += static_cast<long double>(term.weight) * result.stage[branch][term.stage];
        phi[i] *= sum;
      }
    }
    result.gamma.push_back(gamma);
    result.stage.push_back(phi);
  }
  return result;
}

long double sum_over(std::span<const Term> row, const Stages& phi) {
  long double sum = 0.0L;
  for (const Term& term : row) sum += static_cast<long double>(term.weight) * phi[term.stage];
  return sum;
}

// The coefficients are rounded to double: up to 43 * 1.1e-16 in a row of A and six of them multiplied by weights of
// size 6 in b.
constexpr double rounding = 43 * 1.1e-16 * 6 * 6;

TEST(Dop853Coefficients, NodesAreRowSums) {
  for (std::size_t i = 2; i <= 16; ++i) {
    long double sum = 0.0L;
    for (const Term& term : dop853::rows[i]) sum += static_cast<long double>(term.weight);
    EXPECT_NEAR(static_cast<double>(sum), dop853::node[i], rounding) << "stage " << i;
  }
}

TEST(Dop853Coefficients, AllOrderConditionsUpToOrder8) {
  const std::vector<Tree> trees = trees_up_to(9);
  const Weights weights = weights_of(trees, 12);
  std::array<int, 10> number{};
  double largest_of_order_9 = 0.0;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    ++number[static_cast<std::size_t>(trees[i].order)];
    const double defect = static_cast<double>(sum_over(dop853::weights, weights.stage[i]) - 1.0L / weights.gamma[i]);
    if (trees[i].order <= 8) {
      EXPECT_NEAR(defect, 0.0, rounding) << "tree " << i << " of order " << trees[i].order;
    } else {
      largest_of_order_9 = std::max(largest_of_order_9, std::abs(defect));
    }
  }
  // Numbers of rooted trees, as in table II.2.1 of the book; order 9 is not reached.
  EXPECT_EQ(number, (std::array<int, 10>{0, 1, 1, 2, 4, 9, 20, 48, 115, 286}));
  EXPECT_GT(largest_of_order_9, 1e-6);
}

TEST(Dop853Coefficients, ErrorEstimatesHaveOrders5And3) {
  const std::vector<Tree> trees = trees_up_to(6);
  const Weights weights = weights_of(trees, 12);
  double left5 = 0.0, left3 = 0.0;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const double estimate5 = static_cast<double>(sum_over(dop853::error_of_order_5, weights.stage[i]));
    const double defect3 =
        static_cast<double>(sum_over(dop853::weights_of_order_3, weights.stage[i]) - 1.0L / weights.gamma[i]);
    if (trees[i].order <= 5) {
      EXPECT_NEAR(estimate5, 0.0, rounding) << i;
    } else {
      left5 = std::max(left5, std::abs(estimate5));
    }
    if (trees[i].order <= 3) {
      EXPECT_NEAR(defect3, 0.0, rounding) << i;
    } else if (trees[i].order == 4) {
      left3 = std::max(left3, std::abs(defect3));
    }
  }
  EXPECT_GT(left5, 1e-6);
  EXPECT_GT(left3, 1e-6);
}

// The polynomial x(theta) = x0 + h sum_i b_i(theta) k_i over 16 stages satisfies sum_i b_i(theta) Phi_i = theta^r/gamma
// for all trees of order r <= 7.
TEST(Dop853Coefficients, DenseOutputHasOrder7AtEveryPoint) {
  const std::vector<Tree> trees = trees_up_to(8);
  const Weights weights = weights_of(trees, 16);
  for (const long double s : {0.1L, 0.37L, 0.5L, 0.77L, 0.95L}) {
    const long double u = 1.0L - s;
    double left = 0.0;
    for (std::size_t i = 0; i < trees.size(); ++i) {
      const Stages& phi = weights.stage[i];
      const long double r2 = sum_over(dop853::weights, phi), r3 = phi[1] - r2, r4 = r2 - phi[13] - r3;
      const long double inner =
          sum_over(dop853::dense5, phi) +
          s * (sum_over(dop853::dense6, phi) + u * (sum_over(dop853::dense7, phi) + s * sum_over(dop853::dense8, phi)));
      const long double value = s * (r2 + u * (r3 + s * (r4 + u * inner)));
      const double defect = static_cast<double>(value - std::pow(s, trees[i].order) / weights.gamma[i]);
      if (trees[i].order <= 7) {
        // The weights of the dense rows reach 528 instead of 6.
        EXPECT_NEAR(defect, 0.0, rounding * 100) << "tree " << i << " of order " << trees[i].order;
      } else {
        left = std::max(left, std::abs(defect));
      }
    }
    EXPECT_GT(left, 1e-8) << "theta " << static_cast<double>(s);
  }
}

Attempt first_attempt(const System& system, double h, const Tolerance* tolerance, std::size_t* rhs) {
  const std::vector<double> start = problems::kepler_solution(0.0);
  const std::unique_ptr<Stepper> stepper = problems::make_stepper(integrator("dop853"), system);
  EXPECT_EQ(stepper->start(0.0, start.data()), Evaluation::ok);
  const Attempt attempt = stepper->attempt(h, tolerance);
  if (rhs != nullptr) *rhs = stepper->stats().rhs;
  return attempt;
}

TEST(Dop853, EstimateShrinksWithPower8AndScalesWithTheTolerance) {
  const System system = problems::kepler();
  const Tolerance tight{1e-9, std::vector<double>(5, 1e-9)}, loose{1e-7, std::vector<double>(5, 1e-7)};
  const double coarse = first_attempt(system, 0.1, &tight, nullptr).error;
  const double fine = first_attempt(system, 0.05, &tight, nullptr).error;
  // err5 is O(h^6) and err3 O(h^4): err5^2/err3 is O(h^8). Terms of the next power change the result by O(h) = 10 %,
  // that is 0.15 in the logarithm, in each of three factors.
  EXPECT_NEAR(std::log2(coarse / fine), 8.0, 0.45);
  EXPECT_NEAR(coarse / first_attempt(system, 0.1, &loose, nullptr).error, 100.0, 1e-8);
  std::size_t rhs = 0;
  const Attempt plain = first_attempt(system, 0.1, nullptr, &rhs);
  EXPECT_EQ(plain.error, 0.0);
  EXPECT_FALSE(plain.worst);
  EXPECT_EQ(rhs, 12u);
}

TEST(Dop853, ProjectedErrorIsNotCounted) {
  System system = problems::kepler();
  const Tolerance tolerance{1e-9, std::vector<double>(5, 1e-9)};
  const Attempt whole = first_attempt(system, 0.3, &tolerance, nullptr);
  system.project_error = [](double* error) {
    for (std::size_t i = 0; i < 4; ++i) error[i] = 0.0;
  };
  const Attempt part = first_attempt(system, 0.3, &tolerance, nullptr);
  EXPECT_LT(part.error, whole.error);
  EXPECT_GT(part.error, 0.0);
  EXPECT_EQ(part.worst, 4u);
}

TEST(Dop853, ExtraStagesOnlyWhenInterpolating) {
  const System system = problems::kepler();
  const std::vector<double> start = problems::kepler_solution(0.0);
  const std::unique_ptr<Stepper> stepper = problems::make_stepper(integrator("dop853"), system);
  stepper->start(0.0, start.data());
  stepper->attempt(0.1, nullptr);
  stepper->accepted(0.1);
  EXPECT_EQ(stepper->stats().rhs, 13u);
  std::vector<double> row(5);
  stepper->interpolate(0.3, row.data());
  stepper->interpolate(0.6, row.data());
  EXPECT_EQ(stepper->stats().rhs, 16u);
  stepper->attempt(0.1, nullptr);
  EXPECT_EQ(stepper->stats().rhs, 27u);
}

TEST(Dop853, FailedEndPointLeavesTheCurrentPoint) {
  System system = problems::growth(1.0);
  system.ode = [inner = system.ode](double t, const double* x, double* dx) {
    return x[0] > 2.0 ? Evaluation::not_finite : inner(t, x, dx);
  };
  const double start = 1.0;
  const std::unique_ptr<Stepper> stepper = problems::make_stepper(integrator("dop853"), system);
  stepper->start(0.0, &start);
  ASSERT_EQ(stepper->attempt(0.1, nullptr).outcome, Evaluation::ok);
  *stepper->candidate() = 3.0;
  EXPECT_EQ(stepper->accepted(0.1), Evaluation::not_finite);
  EXPECT_EQ(stepper->time(), 0.0);
  EXPECT_EQ(*stepper->state(), 1.0);
  ASSERT_EQ(stepper->attempt(0.1, nullptr).outcome, Evaluation::ok);
  EXPECT_EQ(stepper->accepted(0.1), Evaluation::ok);
  EXPECT_NEAR(*stepper->state(), std::exp(0.1), 1e-13);  // h^9/9! = 3e-15 and round-off
}

TEST(Dop853, StiffnessIsStepTimesEigenvalue) {
  const System system = problems::growth(-50.0);
  const double start = 1.0;
  const std::unique_ptr<Stepper> stepper = problems::make_stepper(integrator("dop853"), system);
  stepper->start(0.0, &start);
  stepper->attempt(0.02, nullptr);
  stepper->accepted(0.02);
  // In one dimension the quotient is exact up to round-off of differences that are small beside 1.
  EXPECT_NEAR(stepper->stiffness(), 1.0, 1e-6);
}

/// z has nothing to say, and where its rate passes zero steps reach so far beyond the stability region that it comes up to the
/// tolerance at their ends. The further stages of the dense output are larger still, by powers of h lambda; rows are not.
TEST(Dop853, RowsOfStepsBeyondTheStabilityRegionAreGood) {
  System system;
  system.dimension = 2;
  system.names = {"u", "z"};
  system.ode = [](double t, const double* x, double* dx) {
    dx[0] = std::cos(t);
    dx[1] = -2000.0 * std::pow(std::sin(t), 4) * (x[1] - 1e-13 * std::cos(t));
    return Evaluation::ok;
  };
  LoopOptions options = problems::controlled(system, 10.0, 1e-8);
  for (int i = 0; i <= 3000; ++i) options.output_times.push_back(i / 300.0);
  double error = 0.0;
  Observer observer;
  observer.output = [&](double t, const double* x) { error = std::max({error, std::abs(x[0] - std::sin(t)), std::abs(x[1])}); };
  std::vector<double> x{0.0, 1e-20};
  EXPECT_EQ(problems::run("dop853", system, options, x, observer).status, Status::done);
  EXPECT_LE(error, 500 * 1e-8);
}

/// One component of 400 ends a step beyond the stability region 24 tolerances off, which their mean square allows, and its
/// polynomial is off by 30,000: the shorter steps end elsewhere, but not by as much, and are better.
TEST(Dop853, RowsAreGoodWhereALongStepEndsSomewhatOff) {
  constexpr std::size_t n = 400;
  constexpr double h = 0.1, tolerance = 1e-9;
  System system;
  system.dimension = n;
  system.ode = [](double t, const double* x, double* dx) {
    std::fill_n(dx, n, 0.0);
    dx[0] = std::cos(t);
    dx[1] = -25.0 / h * x[1];
    return Evaluation::ok;
  };
  const Tolerance tolerances{tolerance, std::vector<double>(n, tolerance)};
  const std::unique_ptr<Stepper> stepper = problems::make_stepper(integrator("dop853"), system);
  std::vector<double> x(n, 1.0);
  x[0] = 0.0;
  x[1] = 3e-5 * tolerance;
  stepper->start(0.0, x.data());
  EXPECT_LE(stepper->attempt(h, &tolerances).error, 1.0);
  ASSERT_EQ(stepper->accepted(h), Evaluation::ok);
  EXPECT_GE(std::abs(stepper->state()[1]), 20.0 * tolerance);
  for (const double theta : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    ASSERT_EQ(stepper->interpolate(theta, x.data()), Evaluation::ok);
    EXPECT_NEAR(x[0], std::sin(theta * h), tolerance);
    EXPECT_NEAR(x[1], 0.0, tolerance);
  }
  EXPECT_LE(stepper->stats().rhs, 400u);  // eight steps, their rows, and once more from the start
}

}  // namespace
}  // namespace daedalus::integrate
