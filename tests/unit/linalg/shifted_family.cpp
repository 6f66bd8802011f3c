#include "daedalus/linalg/shifted_family.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <eigen3/Eigen/Dense>
#include <limits>
#include <random>
#include <vector>

#include "allocations.hpp"

namespace daedalus::linalg {
namespace {

using std::complex;

/// Rows x' = v for the first unknowns, and a random rest of the given density: the shape of a motion of second order.
struct Pencil {
  Sparsity pattern;
  std::vector<double> A, B;

  Eigen::MatrixXcd matrix(complex<double> shift) const {
    const auto n = static_cast<Eigen::Index>(pattern.rows);
    Eigen::MatrixXcd result = Eigen::MatrixXcd::Zero(n, n);
    for (std::size_t i = 0; i < pattern.rows; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
        result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(pattern.column[k])) = A[k] + shift * B[k];
    return result;
  }
};

Pencil motion(std::size_t n, std::size_t positions, double density, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Pencil pencil{{n, n, {0}, {}}, {}, {}};
  const auto add = [&](std::size_t j, double a, double b) {
    pencil.pattern.column.push_back(j);
    pencil.A.push_back(a);
    pencil.B.push_back(b);
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i < positions) {
        if (j == i) add(j, 0.0, 1.0);
        if (j == i + positions) add(j, -1.0, 0.0);
      } else if (j == i || j + positions == i || std::abs(uniform(engine)) < density) {
        add(j, uniform(engine), uniform(engine) + (i == j ? 3.0 : 0.0));
      }
    }
    pencil.pattern.row_start.push_back(pencil.pattern.column.size());
  }
  return pencil;
}

ShiftedFamily::Shifts shifts(double size, std::size_t count) {
  return {3.6 * size, count, {{2.7 * size, -3.1 * size}, {4.4 * size, -1.2 * size}, {1.1 * size, -5.9 * size}}};
}

/// The largest difference from what a dense solver with full pivoting finds, beside the size of the solution.
double difference(const Pencil& pencil, complex<double> shift, const Eigen::VectorXcd& right, const Eigen::VectorXcd& found) {
  const Eigen::VectorXcd exact = pencil.matrix(shift).fullPivLu().solve(right);
  return (found - exact).cwiseAbs().maxCoeff() / exact.cwiseAbs().maxCoeff();
}

void expect_solved(ShiftedFamily& family, const Pencil& pencil, const ShiftedFamily::Shifts& given, double tolerance) {
  const std::size_t n = pencil.pattern.rows, blocks = 1 + 2 * given.count;
  std::vector<double> right(blocks * n);
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = std::sin(1.0 + static_cast<double>(i * i));
  std::vector<double> x = right, real(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(n));
  family.solve(x.data());
  family.solve_real(real.data());
  const auto part = [&](const std::vector<double>& of, std::size_t block) {
    return Eigen::VectorXcd(Eigen::Map<const Eigen::VectorXd>(of.data() + block * n, static_cast<Eigen::Index>(n)));
  };
  EXPECT_LE(difference(pencil, given.real, part(right, 0), part(x, 0)), tolerance);
  EXPECT_LE(difference(pencil, given.real, part(right, 0), part(real, 0)), tolerance);
  for (std::size_t k = 0; k < given.count; ++k) {
    const complex<double> i(0.0, 1.0);
    EXPECT_LE(difference(pencil, given.complex[k], part(right, 2 * k + 1) + i * part(right, 2 * k + 2),
                         part(x, 2 * k + 1) + i * part(x, 2 * k + 2)),
              tolerance)
        << "shift " << k;
  }
}

struct Shape {
  std::size_t n, positions;
  double density;
};

class ShiftedFamilyTest : public ::testing::TestWithParam<Shape> {};

// The matrices are conditioned like their size to a few powers; the tolerance leaves them 1e5.
TEST_P(ShiftedFamilyTest, SolvesWithEveryShiftAlsoWhereThePivotsOfAnotherShiftDoNotSuit) {
  const auto [n, positions, density] = GetParam();
  Pencil pencil = motion(n, positions, density, 11);
  ShiftedFamily family(pencil.pattern, 3);
  for (const double size : {1.0, 1e3, 1e-3, 1.0, 1e8, 1e2}) {
    for (const std::size_t count : {1, 2, 3}) {
      ASSERT_TRUE(family.factor(pencil.A.data(), pencil.B.data(), shifts(size, count))) << size << ", " << count;
      expect_solved(family, pencil, shifts(size, count), 1e-10);
    }
  }
  // Other values on the same pattern, for which no pivot chosen so far is large.
  for (std::size_t i = positions; i < n; ++i)
    for (std::size_t k = pencil.pattern.row_start[i]; k < pencil.pattern.row_start[i + 1]; ++k)
      if (pencil.pattern.column[k] == i) pencil.A[k] = pencil.B[k] = 1e-9;
  if (density < 1.0) return;
  ASSERT_TRUE(family.factor(pencil.A.data(), pencil.B.data(), shifts(1.0, 3)));
  expect_solved(family, pencil, shifts(1.0, 3), 1e-9);
}

TEST_P(ShiftedFamilyTest, ScalesRowsAndColumns) {
  const auto [n, positions, density] = GetParam();
  const Pencil pencil = motion(n, positions, density, 5);
  std::vector<double> rows(n), columns(n);
  for (std::size_t i = 0; i < n; ++i) {
    rows[i] = std::pow(10.0, static_cast<double>(i % 5) - 2.0);
    columns[i] = std::pow(10.0, static_cast<double>(i % 3) - 1.0);
  }
  ShiftedFamily family(pencil.pattern, 3);
  for (const std::size_t count : {1, 2, 3}) {
    ASSERT_TRUE(family.factor(pencil.A.data(), pencil.B.data(), shifts(1.0, count), rows.data(), columns.data()));
    expect_solved(family, pencil, shifts(1.0, count), 1e-10);
  }
}

TEST_P(ShiftedFamilyTest, AllocatesNothing) {
  const auto [n, positions, density] = GetParam();
  const Pencil pencil = motion(n, positions, density, 3);
  ShiftedFamily family(pencil.pattern, 3);
  std::vector<double> x(7 * n, 1.0);
  if (n > 40) family.factor(pencil.A.data(), pencil.B.data(), shifts(1.0, 3));
  const std::size_t before = testing::allocations();
  for (const double size : {1.0, 1e-6, 1e6}) {
    family.factor(pencil.A.data(), pencil.B.data(), shifts(size, 3));
    family.solve(x.data());
    family.factor(pencil.A.data(), pencil.B.data(), shifts(size, 1));
    family.solve_real(x.data());
  }
  EXPECT_EQ(testing::allocations(), before);
}

TEST_P(ShiftedFamilyTest, SaysWhichColumnIsSingularAndRefusesWhatIsNotFinite) {
  const auto [n, positions, density] = GetParam();
  const Pencil regular = motion(n, positions, density, 7);
  for (const std::size_t count : {1, 3}) {
    Pencil pencil = regular;
    ShiftedFamily family(pencil.pattern, 3);
    ASSERT_TRUE(family.factor(pencil.A.data(), pencil.B.data(), shifts(1.0, count)));
    const std::size_t empty = n - 1;
    for (std::size_t k = 0; k < pencil.A.size(); ++k)
      if (pencil.pattern.column[k] == empty) pencil.A[k] = pencil.B[k] = 0.0;
    EXPECT_FALSE(family.factor(pencil.A.data(), pencil.B.data(), shifts(1.0, count)));
    EXPECT_EQ(family.singular_column(), empty);
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      pencil = regular;
      pencil.B.back() = bad;
      EXPECT_FALSE(family.factor(pencil.A.data(), pencil.B.data(), shifts(1.0, count)));
    }
    EXPECT_TRUE(family.factor(regular.A.data(), regular.B.data(), shifts(1.0, count)));
    expect_solved(family, regular, shifts(1.0, count), 1e-10);
  }
}

// A column that depends on others but for round-off: an order of pivots must not take that for a pivot.
TEST(ShiftedFamily, TakesRoundOffForZero) {
  Pencil pencil = motion(9, 0, 1.0, 2);
  for (std::size_t i = 0; i < 9; ++i) {
    pencil.A[i * 9 + 8] = 0.1 * pencil.A[i * 9] + 0.7 * pencil.A[i * 9 + 4];
    pencil.B[i * 9 + 8] = 0.1 * pencil.B[i * 9] + 0.7 * pencil.B[i * 9 + 4];
  }
  for (const std::size_t count : {1, 3}) {
    ShiftedFamily family(pencil.pattern, 3);
    EXPECT_FALSE(family.factor(pencil.A.data(), pencil.B.data(), shifts(1.0, count)));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ShiftedFamilyTest,
                         ::testing::Values(Shape{1, 0, 1.0}, Shape{2, 1, 1.0}, Shape{3, 0, 1.0}, Shape{8, 0, 0.3},
                                         Shape{17, 5, 0.6}, Shape{17, 5, 1.0}, Shape{40, 12, 0.4}, Shape{60, 20, 0.8},
                                         Shape{60, 20, 0.05}));

}  // namespace
}  // namespace daedalus::linalg
