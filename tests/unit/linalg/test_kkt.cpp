#include <gtest/gtest.h>

#include <limits>

#include "allocations.hpp"
#include "daedalus/linalg/kkt.hpp"
#include "daedalus/linalg/kkt_penalty.hpp"
#include "tools.hpp"

namespace daedalus::linalg {
namespace {

using testing::append_row;
using testing::assemble;
using testing::Chain;
using testing::Matrix;
using testing::Random;
using testing::Solution;
using testing::sparse;
using Backend = KktSolver::Backend;
using Rows = std::vector<std::size_t>;

class Kkt : public ::testing::TestWithParam<Backend> {};
INSTANTIATE_TEST_SUITE_P(Backends, Kkt,
                         ::testing::Values(Backend::dense, Backend::sparse, Backend::blocks, Backend::schur, Backend::pseudoinverse),
                         [](const auto& instance) {
                           return instance.param == Backend::dense    ? "dense"
                                  : instance.param == Backend::sparse ? "sparse"
                                  : instance.param == Backend::blocks ? "blocks"
                                  : instance.param == Backend::schur  ? "schur"
                                                                      : "pseudoinverse";
                         });

struct Reference {
  Eigen::VectorXd a, lambda;
  double condition;
};

Reference reference(const Eigen::MatrixXd& M, const Eigen::MatrixXd& G, const Eigen::VectorXd& f,
                    const Eigen::VectorXd& gamma) {
  Eigen::VectorXd b(f.size() + gamma.size());
  b << f, gamma;
  const Eigen::FullPivLU<Eigen::MatrixXd> lu(assemble(M, G));
  const Eigen::VectorXd x = lu.solve(b);
  return {x.head(f.size()), x.tail(gamma.size()), b.size() > 0 ? 1.0 / lu.rcond() : 1.0};
}

double relative(const Eigen::VectorXd& x, const Eigen::VectorXd& y) {
  return y.size() == 0 ? 0.0 : (x - y).norm() / (y.norm() + 1e-300);
}

TEST_P(Kkt, AgreesWithFullPivotingForRandomSystems) {
  Random random(1);
  for (const Eigen::Index n : {1, 2, 3, 5, 12, 40, 90}) {
    for (const Eigen::Index m : {Eigen::Index{0}, Eigen::Index{1}, n / 2, n}) {
      const Eigen::MatrixXd M = random.definite(n), G = random.matrix(m, n);
      const Eigen::VectorXd f = random.vector(n), gamma = random.vector(m);
      const Matrix mass = sparse(M), jacobian = sparse(G);
      KktSolver solver(mass.pattern, jacobian.pattern, GetParam());
      const Solution solution = testing::solve(solver, mass.values, jacobian.values, f, gamma);
      ASSERT_EQ(solution.outcome, KktOutcome::regular) << n << " " << m;
      EXPECT_EQ(solver.rank(), static_cast<std::size_t>(m));
      const Reference expected = reference(M, G, f, gamma);
      // Forward error: condition times a backward error of a few n eps, for both solutions.
      const double bound = 10.0 * static_cast<double>(n) * 2.2e-16 * expected.condition;
      const double size = expected.a.norm() + expected.lambda.norm();
      EXPECT_LE((solution.a - expected.a).norm(), bound * size) << n << " " << m;
      EXPECT_LE((solution.lambda - expected.lambda).norm(), bound * size) << n << " " << m;
    }
  }
}

TEST_P(Kkt, SolvesInPlace) {
  Random random(2);
  const Eigen::MatrixXd M = random.definite(4), G = random.matrix(2, 4);
  Eigen::VectorXd f = random.vector(4), gamma = random.vector(2);
  const Reference expected = reference(M, G, f, gamma);
  const Matrix mass = sparse(M), jacobian = sparse(G);
  KktSolver solver(mass.pattern, jacobian.pattern, GetParam());
  ASSERT_EQ(solver.factor(mass.values.data(), jacobian.values.data()), KktOutcome::regular);
  solver.solve(f.data(), gamma.data(), f.data(), gamma.data());
  EXPECT_LE(relative(f, expected.a), 1e-12);
  EXPECT_LE(relative(gamma, expected.lambda), 1e-12);
}

TEST_P(Kkt, FollowsChangingValues) {
  Random random(3);
  const Matrix mass = sparse(random.definite(6)), jacobian = sparse(random.matrix(3, 6));
  KktSolver solver(mass.pattern, jacobian.pattern, GetParam());
  for (int i = 0; i < 6; ++i) {
    // Mass and Jacobian change at different times: stale factors would show.
    const Eigen::MatrixXd M = Random(static_cast<unsigned>(100 + i / 2)).definite(6);
    const Eigen::MatrixXd G = Random(static_cast<unsigned>(200 + (i + 1) / 2)).matrix(3, 6);
    const Eigen::VectorXd f = random.vector(6), gamma = random.vector(3);
    const Solution solution = testing::solve(solver, sparse(M).values, sparse(G).values, f, gamma);
    ASSERT_EQ(solution.outcome, KktOutcome::regular);
    const Reference expected = reference(M, G, f, gamma);
    EXPECT_LE(relative(solution.a, expected.a), 1e-14 * expected.condition);
    EXPECT_LE(relative(solution.lambda, expected.lambda), 1e-14 * expected.condition);
  }
}

TEST_P(Kkt, SolvesWithMassThatIsSingularOutsideTheKernel) {
  Random random(4);
  for (const Eigen::Index n : {2, 7, 30}) {
    const Eigen::Index m = n / 2, r = n - m;
    const Eigen::MatrixXd A = random.matrix(n, r);
    const Eigen::MatrixXd M = A * A.transpose(), G = random.matrix(m, n);  // rank r: definite on ker G generically
    const Eigen::VectorXd f = random.vector(n), gamma = random.vector(m);
    const Matrix mass = sparse(M), jacobian = sparse(G);
    KktSolver solver(mass.pattern, jacobian.pattern, GetParam());
    const Solution solution = testing::solve(solver, mass.values, jacobian.values, f, gamma);
    ASSERT_EQ(solution.outcome, KktOutcome::regular) << n;
    const Reference expected = reference(M, G, f, gamma);
    const double bound = 100.0 * static_cast<double>(n) * 2.2e-16 * expected.condition;
    EXPECT_LE(relative(solution.a, expected.a), bound) << n;
    EXPECT_LE(relative(solution.lambda, expected.lambda), bound) << n;
  }
}

// A rigid body's kinetic energy in quaternion rates: 4 E^T J E with E (3 by 4) orthogonal to p has the kernel p.
Eigen::Matrix4d quaternion_mass(const Eigen::Vector4d& p, const Eigen::Vector3d& inertia) {
  Eigen::Matrix<double, 3, 4> E;
  E << -p(1), p(0), p(3), -p(2), -p(2), -p(3), p(0), p(1), -p(3), p(2), -p(1), p(0);
  return 4.0 * E.transpose() * inertia.asDiagonal() * E;
}

TEST_P(Kkt, SolvesForQuaternionsInEveryPose) {
  Random random(14);
  const Matrix pattern = sparse(Eigen::MatrixXd::Ones(4, 4)), row = sparse(Eigen::MatrixXd::Ones(1, 4));
  KktSolver solver(pattern.pattern, row.pattern, GetParam());
  for (int trial = 0; trial < 300; ++trial) {
    // Components that nearly vanish make the last pivot of M, which is round-off, look sound.
    Eigen::Vector4d p = random.vector(4);
    for (Eigen::Index i = 0; i < 4; ++i) p(i) *= std::pow(10.0, -4.0 - 4.0 * random.number());
    if (trial % 10 == 0) p(3) = 0.0;
    p.normalize();
    const Eigen::Matrix4d M = quaternion_mass(p, {0.1, 2.0, 3.0});
    const Eigen::MatrixXd G = 2.0 * p.transpose();
    const Eigen::Vector4d f = random.vector(4);
    const Eigen::VectorXd gamma = random.vector(1);
    const Solution solution = testing::solve(solver, sparse(M, true).values, sparse(G, true).values, f, gamma);
    ASSERT_EQ(solution.outcome, KktOutcome::regular) << p.transpose();
    // Backward stable relative to the terms of each equation: the sparse back end corrects from 3e-14 on, the dense one
    // leaves a few round-offs of the shifted matrix.
    const double sum = M.norm() * solution.a.norm() + G.norm() * solution.lambda.norm() + f.norm();
    EXPECT_LE((M * solution.a + G.transpose() * solution.lambda - f).norm(), 3e-14 * sum) << p.transpose();
    EXPECT_LE((G * solution.a - gamma).norm(), 3e-14 * (G.norm() * solution.a.norm() + gamma.norm())) << p.transpose();
  }
}

TEST_P(Kkt, SolvesWithNoMassAtAllWhereTheConstraintsDecide) {
  Random random(5);
  const Eigen::MatrixXd M = Eigen::MatrixXd::Zero(4, 4), G = random.matrix(4, 4);
  const Matrix mass = sparse(M, true), jacobian = sparse(G);
  const Eigen::VectorXd f = random.vector(4), gamma = random.vector(4);
  KktSolver solver(mass.pattern, jacobian.pattern, GetParam());
  const Solution solution = testing::solve(solver, mass.values, jacobian.values, f, gamma);
  ASSERT_EQ(solution.outcome, KktOutcome::regular);
  const Reference expected = reference(M, G, f, gamma);
  EXPECT_LE(relative(solution.a, expected.a), 1e-13 * expected.condition);
  EXPECT_LE(relative(solution.lambda, expected.lambda), 1e-13 * expected.condition);
}

TEST_P(Kkt, SolvesWithIndefiniteMassThatIsDefiniteOnTheKernel) {
  Eigen::MatrixXd M(3, 3), G(1, 3);
  M << -5.0, 0.5, 0.0, 0.5, 2.0, 0.1, 0.0, 0.1, 1.0;
  G << 1.0, 0.0, 0.0;
  const Eigen::Vector3d f(1.0, -2.0, 0.5);
  const Eigen::VectorXd gamma = Eigen::VectorXd::Constant(1, 0.7);
  const Matrix mass = sparse(M, true), jacobian = sparse(G);
  KktSolver solver(mass.pattern, jacobian.pattern, GetParam());
  const Solution solution = testing::solve(solver, mass.values, jacobian.values, f, gamma);
  ASSERT_EQ(solution.outcome, KktOutcome::regular);
  const Reference expected = reference(M, G, f, gamma);
  // A shift of 100 times the effective mass costs two digits.
  EXPECT_LE(relative(solution.a, expected.a), 1e-13);
  EXPECT_LE(relative(solution.lambda, expected.lambda), 1e-13);
}

TEST_P(Kkt, ReportsMassThatIsNotDefiniteOnTheKernel) {
  Eigen::MatrixXd G(1, 3);
  G << 1.0, 0.0, 0.0;
  const Matrix jacobian = sparse(G, true);
  for (const double last : {0.0, -1.0}) {
    const Matrix mass = sparse(Eigen::Vector3d(1.0, 1.0, last).asDiagonal().toDenseMatrix(), true);
    KktSolver solver(mass.pattern, jacobian.pattern, GetParam());
    EXPECT_EQ(solver.factor(mass.values.data(), jacobian.values.data()), KktOutcome::singular_mass) << last;
    // A later sound matrix works again.
    const Matrix sound = sparse(Eigen::MatrixXd::Identity(3, 3) * 2.0, false);
    std::vector<double> values(9, 0.0);
    for (std::size_t i = 0; i < 3; ++i) values[4 * i] = 2.0;
    EXPECT_EQ(solver.factor(values.data(), jacobian.values.data()), KktOutcome::regular);
  }
  const Matrix unconstrained = sparse(Eigen::MatrixXd::Ones(2, 2));
  KktSolver solver(unconstrained.pattern, Sparsity{}, GetParam());
  EXPECT_EQ(solver.factor(unconstrained.values.data(), nullptr), KktOutcome::singular_mass);
}

TEST_P(Kkt, ReportsValuesThatAreNotFinite) {
  Matrix mass = sparse(Eigen::MatrixXd::Identity(2, 2)), jacobian = sparse(Eigen::MatrixXd::Ones(1, 2));
  KktSolver solver(mass.pattern, jacobian.pattern, GetParam());
  const auto outcome = [&] { return solver.factor(mass.values.data(), jacobian.values.data()); };
  EXPECT_EQ(outcome(), KktOutcome::regular);
  jacobian.values[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(outcome(), KktOutcome::not_finite);
  EXPECT_EQ(outcome(), KktOutcome::not_finite);
  jacobian.values[1] = 1.0;
  EXPECT_EQ(outcome(), KktOutcome::regular);
  mass.values[0] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(outcome(), KktOutcome::not_finite);
}

TEST_P(Kkt, FindsSingularMassWhateverTheKernel) {
  Random random(15);
  for (int trial = 0; trial < 200; ++trial) {
    const Eigen::Index n = 2 + trial % 20;
    const Eigen::MatrixXd A = random.matrix(n, n - 1);
    const Matrix mass = sparse(A * A.transpose(), true);
    KktSolver solver(mass.pattern, Sparsity{}, GetParam());
    EXPECT_EQ(solver.factor(mass.values.data(), nullptr), KktOutcome::singular_mass) << trial;
  }
}

TEST_P(Kkt, SolvesWithoutConstraintsAndWithoutUnknowns) {
  const Matrix mass = sparse(Eigen::Vector2d(2.0, 4.0).asDiagonal().toDenseMatrix());
  KktSolver free(mass.pattern, Sparsity{}, GetParam());
  ASSERT_EQ(free.factor(mass.values.data(), nullptr), KktOutcome::regular);
  Eigen::Vector2d f(1.0, 1.0);
  free.solve(f.data(), nullptr, f.data(), nullptr);
  EXPECT_DOUBLE_EQ(f(0), 0.5);
  EXPECT_DOUBLE_EQ(f(1), 0.25);

  KktSolver nothing(Sparsity{}, Sparsity{}, GetParam());
  EXPECT_EQ(nothing.factor(nullptr, nullptr), KktOutcome::regular);
  nothing.solve(nullptr, nullptr, nullptr, nullptr);

  const Matrix rows = sparse(Eigen::MatrixXd::Zero(2, 0));
  KktSolver fixed(Sparsity{}, rows.pattern, GetParam());
  ASSERT_EQ(fixed.factor(nullptr, nullptr), KktOutcome::redundant);
  EXPECT_EQ(fixed.rank(), 0u);
  EXPECT_EQ(fixed.dependent_rows(), (Rows{0, 1}));
  Eigen::Vector2d gamma(0.0, -3.0);
  fixed.solve(nullptr, gamma.data(), nullptr, gamma.data());
  EXPECT_EQ(fixed.inconsistency(), 3.0);
  EXPECT_EQ(gamma.norm(), 0.0);
}

// a solves the problem with the independent rows only; lambda = pinv(G^T) (f - M a).
void expect_least_norm(const Eigen::MatrixXd& M, const Eigen::MatrixXd& G, const Eigen::VectorXd& f,
                       const Solution& solution, double bound) {
  EXPECT_LE((M * solution.a + G.transpose() * solution.lambda - f).norm(), bound);
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
  decomposition.setThreshold(1e-9);
  decomposition.compute(G.transpose());
  EXPECT_LE((solution.lambda - decomposition.solve(f - M * solution.a)).norm(), bound);
}

TEST_P(Kkt, GivesLeastMultipliersForRedundantRows) {
  Random random(6);
  for (const bool singular : {false, true}) {
    const Eigen::Index n = 9;
    const Eigen::MatrixXd A = random.matrix(n, singular ? 5 : 12);
    const Eigen::MatrixXd M = A * A.transpose();
    Eigen::MatrixXd G = random.matrix(6, n);
    G.row(3) = -2.0 * G.row(1);
    G.row(5) = G.row(0) + 100.0 * G.row(2);
    const Matrix mass = sparse(M), jacobian = sparse(G);
    KktSolver solver(mass.pattern, jacobian.pattern, GetParam());
    const Eigen::VectorXd f = random.vector(n), gamma = G * random.vector(n);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const Solution solution = testing::solve(solver, mass.values, jacobian.values, f, gamma);
      ASSERT_EQ(solution.outcome, KktOutcome::redundant);
      EXPECT_EQ(solver.rank(), 4u);
      EXPECT_EQ(solver.dependent_rows(), (Rows{3, 5}));
      EXPECT_LE((G * solution.a - gamma).norm(), 1e-11);
      // Entries up to 100, conditions of a few 1e3: 1e-16 * 100 * 1e3.
      EXPECT_LE(solution.inconsistency, 1e-11);
      expect_least_norm(M, G, f, solution, 1e-10);
    }
    // Contradicting right sides: least squares, and a still satisfies the first equation.
    Eigen::VectorXd wrong = gamma;
    wrong(3) += 1.0;
    const Solution solution = testing::solve(solver, mass.values, jacobian.values, f, wrong);
    EXPECT_LE((G.transpose() * (G * solution.a - wrong)).norm(), 1e-9);
    EXPECT_NEAR(solution.inconsistency, (G * solution.a - wrong).lpNorm<Eigen::Infinity>(), 1e-12);
    EXPECT_NEAR(solution.inconsistency, 0.4, 1e-9);  // e_3 along the kernel (2, 1)/sqrt(5) of rows 1, 3: (2, 1)/5
    expect_least_norm(M, G, f, solution, 1e-9);
  }
}

TEST_P(Kkt, ComesBackFromRedundantRowsAndGoesThereAgain) {
  const Matrix mass = sparse(Eigen::Vector3d(1.0, 2.0, 3.0).asDiagonal().toDenseMatrix());
  Eigen::MatrixXd G(2, 3);
  G << 1.0, 2.0, 0.5, 1.0, 2.0, 0.5;
  Matrix jacobian = sparse(G);
  KktSolver solver(mass.pattern, jacobian.pattern, GetParam());
  for (const double difference : {0.0, 1.0, 1e-3, 1e-5, 1e-7, 1e-9, 0.0, 1e-9, 1e-4, 0.5}) {
    G(1, 0) = 1.0 + difference;
    jacobian.values[3] = G(1, 0);
    const Eigen::Vector3d f(1.0, 2.0, -1.0);
    const Eigen::VectorXd gamma = G * Eigen::Vector3d(0.3, -0.2, 0.9);
    const Solution solution = testing::solve(solver, mass.values, jacobian.values, f, gamma);
    ASSERT_EQ(solution.outcome, difference == 0.0 ? KktOutcome::redundant : KktOutcome::regular) << difference;
    // Residuals stay at round-off relative to the multipliers, which grow as 1/difference.
    const double size = 1.0 + solution.lambda.norm();
    EXPECT_LE((testing::dense(mass) * solution.a + G.transpose() * solution.lambda - f).norm(), 1e-14 * size);
    // A solution is corrected from a backward error of 3e-14 on: that much of the terms may remain.
    EXPECT_LE((G * solution.a - gamma).norm(), 3e-14 * (G.norm() * solution.a.norm() + gamma.norm()));
    if (difference > 0.0) {
      // The exact solution has two constraints that fix (x, 2 y + z/2) = (0.3, -0.4 + 0.45); the angle between the rows
      // limits x to 1e-15/difference. A method that squares the condition would fail from 1e-8 on.
      EXPECT_NEAR(solution.a(0), 0.3, 4e-15 / difference) << difference;
      EXPECT_NEAR(2.0 * solution.a(1) + 0.5 * solution.a(2), 0.05, 4e-15 / difference) << difference;
    }
  }
}

TEST_P(Kkt, FindsZeroRows) {
  const Matrix mass = sparse(Eigen::MatrixXd::Identity(2, 2));
  Eigen::MatrixXd G(2, 2);
  G << 0.0, 0.0, 1.0, 1.0;
  const Matrix jacobian = sparse(G, true);
  KktSolver solver(mass.pattern, jacobian.pattern, GetParam());
  const Solution solution =
      testing::solve(solver, mass.values, jacobian.values, Eigen::Vector2d(1.0, 0.0), Eigen::Vector2d(0.5, 0.0));
  ASSERT_EQ(solution.outcome, KktOutcome::redundant);
  EXPECT_EQ(solver.dependent_rows(), Rows{0});
  EXPECT_NEAR(solution.a(0), 0.5, 1e-15);
  EXPECT_NEAR(solution.a(1), -0.5, 1e-15);
  EXPECT_NEAR(solution.lambda(0), 0.0, 1e-16);
  EXPECT_NEAR(solution.inconsistency, 0.5, 1e-15);
}

TEST_P(Kkt, KeepsLightBodiesTiedToHeavyOnes) {
  // Masses over 24 decades; every digit of the light body's acceleration must survive.
  Eigen::VectorXd masses(4);
  masses << 1e12, 1e-12, 1.0, 1e-12;
  Eigen::MatrixXd G(2, 4);
  G << 1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0, -1.0;
  const Matrix mass = sparse(masses.asDiagonal().toDenseMatrix()), jacobian = sparse(G, true);
  KktSolver solver(mass.pattern, jacobian.pattern, GetParam());
  const Solution solution = testing::solve(solver, mass.values, jacobian.values, Eigen::Vector4d(1e12, 0.0, 2.0, 0.0),
                                           Eigen::Vector2d(0.0, 0.0));
  ASSERT_EQ(solution.outcome, KktOutcome::regular);
  EXPECT_NEAR(solution.a(1), 1.0, 1e-14);
  EXPECT_NEAR(solution.a(3), 2.0, 1e-11);  // 2 / (1 + 1e-12)
}

TEST(KktBackends, AgreeOnChains) {
  for (const std::size_t links : {std::size_t{50}, std::size_t{2000}}) {
    const Chain chain(links);
    KktSolver dense(chain.M.pattern, chain.G.pattern, Backend::dense);
    const Solution x = testing::solve(dense, chain.M.values, chain.G.values, chain.f, chain.gamma);
    ASSERT_EQ(x.outcome, KktOutcome::regular);
    for (const Backend backend : {Backend::sparse, Backend::blocks, Backend::schur, Backend::pseudoinverse}) {
      KktSolver other(chain.M.pattern, chain.G.pattern, backend);
      const Solution y = testing::solve(other, chain.M.values, chain.G.values, chain.f, chain.gamma);
      ASSERT_EQ(y.outcome, KktOutcome::regular);
      EXPECT_LE(relative(y.a, x.a), 1e-12);
      EXPECT_LE(relative(y.lambda, x.lambda), 1e-12);
    }
  }
}

TEST(KktBackends, AgreeOnRedundantChains) {
  for (const std::size_t links : {std::size_t{50}, std::size_t{1200}}) {
    Chain chain(links);
    // A rod given twice, and one more constraint that is the sum of two rods far apart.
    append_row(chain.G, {8, 9, 10, 11},
               {chain.G.values[18], chain.G.values[19], chain.G.values[20], chain.G.values[21]});
    ASSERT_EQ(chain.G.pattern.row_start[5], 18u);
    const std::size_t far = chain.G.pattern.row_start[links - 2];
    std::vector<double> values{chain.G.values[0], chain.G.values[1]};
    values.insert(values.end(), chain.G.values.begin() + static_cast<std::ptrdiff_t>(far),
                  chain.G.values.begin() + static_cast<std::ptrdiff_t>(far) + 4);
    append_row(chain.G, {0, 1, 2 * links - 6, 2 * links - 5, 2 * links - 4, 2 * links - 3}, values);
    Eigen::VectorXd gamma(static_cast<Eigen::Index>(links + 2));
    gamma << chain.gamma, chain.gamma(5), chain.gamma(0) + chain.gamma(static_cast<Eigen::Index>(links) - 2);
    KktSolver dense(chain.M.pattern, chain.G.pattern, Backend::dense);
    KktSolver sparse(chain.M.pattern, chain.G.pattern, Backend::sparse);
    const Solution x = testing::solve(dense, chain.M.values, chain.G.values, chain.f, gamma);
    const Solution y = testing::solve(sparse, chain.M.values, chain.G.values, chain.f, gamma);
    ASSERT_EQ(x.outcome, KktOutcome::redundant);
    ASSERT_EQ(y.outcome, KktOutcome::redundant);
    EXPECT_EQ(dense.rank(), links);
    EXPECT_EQ(sparse.rank(), links);
    EXPECT_EQ(dense.dependent_rows(), (Rows{links, links + 1}));
    EXPECT_EQ(sparse.dependent_rows(), (Rows{links, links + 1}));
    EXPECT_LE(relative(y.a, x.a), 1e-11);
    EXPECT_LE(relative(y.lambda, x.lambda), 1e-11);
    EXPECT_LE(std::max(x.inconsistency, y.inconsistency), 1e-11 * chain.gamma.norm());
  }
}

TEST(KktBackends, ShareMultipliersAmongManyDuplicates) {
  // Every rod twice: least norm gives each of a pair half of the multiplier of the single rod. So many redundant rows
  // leave the border and are solved by regularization.
  const Chain single(1200);
  Chain twice = single;
  for (std::size_t i = 0; i < 1200; ++i) {
    const auto begin = static_cast<std::ptrdiff_t>(single.G.pattern.row_start[i]);
    const auto end = static_cast<std::ptrdiff_t>(single.G.pattern.row_start[i + 1]);
    append_row(twice.G, {single.G.pattern.column.begin() + begin, single.G.pattern.column.begin() + end},
               {single.G.values.begin() + begin, single.G.values.begin() + end});
  }
  Eigen::VectorXd gamma(2400);
  gamma << single.gamma, single.gamma;
  KktSolver one(single.M.pattern, single.G.pattern, Backend::sparse);
  KktSolver two(twice.M.pattern, twice.G.pattern, Backend::sparse);
  const Solution x = testing::solve(one, single.M.values, single.G.values, single.f, single.gamma);
  const Solution y = testing::solve(two, twice.M.values, twice.G.values, single.f, gamma);
  ASSERT_EQ(y.outcome, KktOutcome::redundant);
  EXPECT_EQ(two.rank(), 1200u);
  // sigma^2 of the chain is about 1/N^2: corrections end where the residual is round-off, 1e-14 N^2 from the solution.
  EXPECT_LE(relative(y.a, x.a), 1e-8);
  EXPECT_LE(relative(y.lambda.head(1200), 0.5 * x.lambda), 1e-8);
  EXPECT_LE(relative(y.lambda.tail(1200), 0.5 * x.lambda), 1e-8);
}

// The iteration ends at the solution of the KKT system itself, not near it: accelerations to round-off, multipliers to
// penalty times the round-off of G a - gamma.
void expect_kkt_solution(const Eigen::MatrixXd& M, const Eigen::MatrixXd& G, unsigned seed) {
  Random random(seed);
  const Eigen::VectorXd f = random.vector(M.rows()), gamma = G * random.vector(M.rows());
  const Matrix mass = sparse(M, true), jacobian = sparse(G, true);
  KktSolver direct(mass.pattern, jacobian.pattern, Backend::dense);
  const Solution expected = testing::solve(direct, mass.values, jacobian.values, f, gamma);
  const double size = 1.0 + expected.a.norm() + expected.lambda.norm();
  for (const double penalty : {1e2, 1e4, 1e6, 1e8}) {
    KktSolver solver(mass.pattern, jacobian.pattern, Backend::penalty, penalty);
    const Solution solution = testing::solve(solver, mass.values, jacobian.values, f, gamma);
    ASSERT_EQ(solution.outcome, KktOutcome::regular);
    const double condition = 1e3;  // of the random matrices, generously
    EXPECT_LE((solution.a - expected.a).norm(), 1e-15 * condition * size) << penalty;
    EXPECT_LE((solution.lambda - expected.lambda).norm(), 1e-15 * (condition + penalty * M.norm()) * size) << penalty;
  }
}

TEST(KktPenalty, EndsAtTheSolutionOfTheKktSystem) {
  Random random(21);
  for (const Eigen::Index n : {1, 2, 5, 12})
    for (const Eigen::Index m : {Eigen::Index{0}, Eigen::Index{1}, n / 2})
      expect_kkt_solution(random.definite(n), random.matrix(m, n), static_cast<unsigned>(n + m));
}

// An error in the multipliers shrinks by 1/(1 + penalty sigma^2) in every turn, down to round-off: with one row sigma = 1,
// and 16 decimals take 16/log10(1 + penalty) turns, two more to see that nothing changes.
TEST(KktPenalty, TakesAsManyTurnsAsItShould) {
  const Matrix mass = sparse(Eigen::Vector2d(2.0, 2.0).asDiagonal().toDenseMatrix());
  Eigen::MatrixXd G(1, 2);
  G << 1.72, 4.69;
  const Matrix jacobian = sparse(G);
  const Eigen::Vector2d f(0.0, -19.62);
  for (const double penalty : {1e2, 1e4, 1e6, 1e8}) {
    PenaltyKkt solver(mass.pattern, jacobian.pattern, penalty);
    ASSERT_EQ(solver.factor(mass.values.data(), jacobian.values.data()), KktOutcome::regular);
    Eigen::Vector2d a;
    double lambda, gamma = -3.3;
    solver.solve(f.data(), &gamma, a.data(), &lambda);
    EXPECT_LE(solver.iterations(), 16.0 / std::log10(1.0 + penalty) + 2.0) << penalty;
    EXPECT_GE(solver.iterations(), 2) << penalty;
  }
}

TEST(KktPenalty, TakesMassesThatOnlyTheConstraintsMakeDefinite) {
  Random random(22);
  for (int trial = 0; trial < 20; ++trial) {
    const Eigen::Vector4d p = random.vector(4).normalized();
    expect_kkt_solution(quaternion_mass(p, {0.5, 2.0, 3.0}), 2.0 * p.transpose(), static_cast<unsigned>(trial));
  }
}

// From multipliers 0 the iteration stays in the range of G times the weights of its rows, here equal: least norm.
TEST(KktPenalty, NeedsNoNamesForRedundantRows) {
  Random random(23);
  Eigen::MatrixXd G = random.matrix(3, 6);
  for (Eigen::Index i = 0; i < 3; ++i) G.row(i).normalize();
  G.row(2) = -G.row(0);
  expect_kkt_solution(Eigen::MatrixXd::Identity(6, 6), G, 24);
}

TEST(KktPenalty, HandsRowsThatItCannotTellApartToTheDirectSolver) {
  Eigen::MatrixXd G(2, 3);
  G << 1.0, 2.0, 0.5, 1.0 + 1e-7, 2.0, 0.5;
  const Matrix mass = sparse(Eigen::Vector3d(1.0, 2.0, 3.0).asDiagonal().toDenseMatrix()), jacobian = sparse(G);
  KktSolver solver(mass.pattern, jacobian.pattern, Backend::penalty);
  const Eigen::VectorXd gamma = G * Eigen::Vector3d(0.3, -0.2, 0.9);
  const Solution solution =
      testing::solve(solver, mass.values, jacobian.values, Eigen::Vector3d(1.0, 2.0, -1.0), gamma);
  EXPECT_NEAR(solution.a(0), 0.3, 4e-8);
}

// What counts as dependent beyond a rank: the rows left out do not bind.
TEST(KktPseudoinverse, KeepsTheRankThatItIsGiven) {
  Eigen::MatrixXd G(2, 3);
  G << 1.0, 2.0, 0.5, 1.0, 2.0, 0.5 + 1e-4;
  const Matrix mass = sparse(Eigen::MatrixXd::Identity(3, 3)), jacobian = sparse(G);
  const Eigen::Vector3d f(1.0, 2.0, -1.0);
  const Eigen::Vector2d gamma(0.7, 0.7 + 1e-3);  // the difference of the rows asks for an acceleration of 10
  KktSolver solver(mass.pattern, jacobian.pattern, Backend::pseudoinverse);
  EXPECT_NEAR(testing::solve(solver, mass.values, jacobian.values, f, gamma).a(2), 10.0, 1e-9);
  solver.limit_rank(1);
  const Solution one = testing::solve(solver, mass.values, jacobian.values, f, gamma);
  ASSERT_EQ(one.outcome, KktOutcome::redundant);
  EXPECT_EQ(solver.rank(), 1u);
  // As with one of the rows, up to their difference.
  const Eigen::Vector3d g = G.row(0).transpose();
  const Eigen::Vector3d expected = f + g * (0.7 - g.dot(f)) / g.squaredNorm();
  EXPECT_LE((one.a - expected).norm(), 1e-3);
}

TEST(KktBackends, AreChosenBySizeAndDensity) {
  const Chain small(10), large(300);
  EXPECT_EQ(KktSolver(small.M.pattern, small.G.pattern).backend(), Backend::dense);
  EXPECT_EQ(KktSolver(large.M.pattern, large.G.pattern).backend(), Backend::blocks);
  // One mass beside the other: M is a single block.
  Sparsity coupled{large.M.pattern.rows, large.M.pattern.columns, {0}, {}};
  for (std::size_t i = 0; i < coupled.rows; ++i) {
    for (std::size_t j = i > 0 ? i - 1 : 0; j < std::min(i + 2, coupled.rows); ++j) coupled.column.push_back(j);
    coupled.row_start.push_back(coupled.column.size());
  }
  EXPECT_EQ(KktSolver(coupled, large.G.pattern).backend(), Backend::sparse);
  Random random(8);
  const Matrix mass = sparse(random.definite(120)), jacobian = sparse(random.matrix(20, 120));
  EXPECT_EQ(KktSolver(mass.pattern, jacobian.pattern).backend(), Backend::dense);
}

TEST_P(Kkt, AllocatesNothingWhenCalledAgain) {
  for (const std::size_t links : {std::size_t{1}, std::size_t{3}, std::size_t{40}}) {
    Chain chain(links);
    KktSolver solver(chain.M.pattern, chain.G.pattern, GetParam());
    Eigen::VectorXd a(chain.f.size()), lambda(chain.gamma.size());
    ASSERT_EQ(solver.factor(chain.M.values.data(), chain.G.values.data()), KktOutcome::regular);
    solver.solve(chain.f.data(), chain.gamma.data(), a.data(), lambda.data());
    const std::size_t before = testing::allocations();
    for (int i = 0; i < 20; ++i) {
      chain.G.values[1] *= 1.01;
      if (i > 10) chain.M.values[0] *= 1.01;
      ASSERT_EQ(solver.factor(chain.M.values.data(), chain.G.values.data()), KktOutcome::regular);
      solver.solve(chain.f.data(), chain.gamma.data(), a.data(), lambda.data());
    }
    EXPECT_EQ(testing::allocations(), before) << links;
  }
}

TEST(KktSolver, AllocatesNothingWithShiftedMass) {
  Random random(9);
  const Eigen::MatrixXd A = random.matrix(6, 3);
  Matrix mass = sparse(A * A.transpose()), jacobian = sparse(random.matrix(3, 6));
  KktSolver solver(mass.pattern, jacobian.pattern);
  ASSERT_EQ(solver.factor(mass.values.data(), jacobian.values.data()), KktOutcome::regular);
  const std::size_t before = testing::allocations();
  for (int i = 0; i < 5; ++i) {
    jacobian.values[0] *= 1.01;
    ASSERT_EQ(solver.factor(mass.values.data(), jacobian.values.data()), KktOutcome::regular);
  }
  EXPECT_EQ(testing::allocations(), before);
}

TEST(KktSolver, StaysValidWhenMoved) {
  const Chain chain(5);
  KktSolver first(chain.M.pattern, chain.G.pattern);
  KktSolver solver = std::move(first);
  EXPECT_EQ(solver.jacobian().rows, 5u);
  EXPECT_EQ(solver.mass().rows, 10u);
  EXPECT_EQ(testing::solve(solver, chain.M.values, chain.G.values, chain.f, chain.gamma).outcome, KktOutcome::regular);
}

}  // namespace
}  // namespace daedalus::linalg
