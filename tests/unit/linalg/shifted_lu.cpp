#include "daedalus/linalg/shifted_lu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace daedalus::linalg {
namespace {

using Complex = std::complex<double>;

/// A random pattern with a full diagonal, and two matrices on it.
struct Pencil {
  Sparsity pattern;
  std::vector<double> A, B;
};

Pencil random_pencil(std::size_t n, double density, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Pencil pencil{{n, n, {0}, {}}, {}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      if (i == j || std::abs(uniform(engine)) < density) {
        pencil.pattern.column.push_back(j);
        pencil.A.push_back(uniform(engine) + (i == j ? 3.0 : 0.0));
        pencil.B.push_back(uniform(engine));
      }
    pencil.pattern.row_start.push_back(pencil.pattern.column.size());
  }
  return pencil;
}

/// The largest residual in units of its terms.
template <class Number>
double residual(const Pencil& pencil, Number shift, const std::vector<Number>& x, const std::vector<Number>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    Number sum = -b[i];
    double size = std::abs(b[i]);
    for (std::size_t k = pencil.pattern.row_start[i]; k < pencil.pattern.row_start[i + 1]; ++k) {
      const Number term = (pencil.A[k] + shift * pencil.B[k]) * x[pencil.pattern.column[k]];
      sum += term;
      size += std::abs(term);
    }
    largest = std::max(largest, std::abs(sum) / size);
  }
  return largest;
}

class ShiftedLuTest : public testing::TestWithParam<std::pair<std::size_t, ShiftedLu::Backend>> {};

TEST_P(ShiftedLuTest, SolvesRealAndComplexSystemsWithScaledRowsAndColumns) {
  const auto [n, backend] = GetParam();
  const Pencil pencil = random_pencil(n, 4.0 / static_cast<double>(n), 7);
  std::vector<double> rows(n), columns(n), b(n);
  for (std::size_t i = 0; i < n; ++i) {
    rows[i] = std::pow(10.0, static_cast<double>(i % 5) - 2.0);
    columns[i] = std::pow(10.0, static_cast<double>(i % 3) - 1.0);
    b[i] = std::sin(1.0 + static_cast<double>(i));
  }
  // A backward error of some n eps, times what scales that differ by powers of ten lose.
  const double tolerance = 1e-14 * static_cast<double>(n);
  ShiftedLu real(pencil.pattern, ShiftedLu::Numbers::real, backend);
  ShiftedLu complex(pencil.pattern, ShiftedLu::Numbers::complex, backend);
  EXPECT_EQ(real.backend(), backend);
  for (const double* row_scale : {static_cast<const double*>(nullptr), static_cast<const double*>(rows.data())}) {
    const double* column_scale = row_scale ? columns.data() : nullptr;
    for (const double shift : {0.3, -0.2, 5.0}) {
      std::vector<double> x = b;
      ASSERT_TRUE(real.factor(pencil.A.data(), pencil.B.data(), shift, row_scale, column_scale));
      real.solve(x.data());
      EXPECT_LE(residual(pencil, shift, x, b), tolerance);
      const Complex turned(shift, 0.7);
      std::vector<Complex> right(b.begin(), b.end()), z = right;
      ASSERT_TRUE(complex.factor(pencil.A.data(), pencil.B.data(), turned, row_scale, column_scale));
      complex.solve(z.data());
      EXPECT_LE(residual(pencil, turned, z, right), tolerance);
    }
  }
}

TEST_P(ShiftedLuTest, SaysWhichColumnIsSingular) {
  const auto [n, backend] = GetParam();
  Pencil pencil = random_pencil(n, 4.0 / static_cast<double>(n), 3);
  const std::size_t empty = n / 2;
  for (std::size_t k = 0; k < pencil.A.size(); ++k)
    if (pencil.pattern.column[k] == empty) pencil.A[k] = pencil.B[k] = 0.0;
  ShiftedLu real(pencil.pattern, ShiftedLu::Numbers::real, backend);
  EXPECT_FALSE(real.factor(pencil.A.data(), pencil.B.data(), 1.0));
  EXPECT_EQ(real.singular_column(), empty);
  ShiftedLu complex(pencil.pattern, ShiftedLu::Numbers::complex, backend);
  EXPECT_FALSE(complex.factor(pencil.A.data(), pencil.B.data(), Complex(1.0, 1.0)));
  EXPECT_EQ(complex.singular_column(), empty);
}

TEST_P(ShiftedLuTest, RefusesWhatIsNotFinite) {
  const auto [n, backend] = GetParam();
  Pencil pencil = random_pencil(n, 4.0 / static_cast<double>(n), 3);
  pencil.A.back() = std::nan("");
  ShiftedLu real(pencil.pattern, ShiftedLu::Numbers::real, backend);
  EXPECT_FALSE(real.factor(pencil.A.data(), pencil.B.data(), 1.0));
}

/// One pattern with values for which the same pivots never suit: the entries of the diagonal, then those beside it.
TEST(ShiftedLu, KeepsAnOrderOfPivotsOnlyWhileItSuits) {
  for (const std::size_t n : {3, 9, 17, 33}) {
    Pencil pencil = random_pencil(n, 5.0 / static_cast<double>(n), 5);
    ShiftedLu kept(pencil.pattern, ShiftedLu::Numbers::real, ShiftedLu::Backend::dense, ShiftedLu::Pivots::kept);
    std::vector<double> b(n);
    for (std::size_t i = 0; i < n; ++i) b[i] = std::sin(1.0 + static_cast<double>(i));
    const std::vector<double> A = pencil.A;
    for (int round = 0; round < 40; ++round) {
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = pencil.pattern.row_start[i]; k < pencil.pattern.row_start[i + 1]; ++k)
          pencil.A[k] = A[k] * (pencil.pattern.column[k] == i && round % 2 == 1 ? 1e-7 : 1.0) * (1.0 + 0.01 * round);
      std::vector<double> x = b;
      ASSERT_TRUE(kept.factor(pencil.A.data(), pencil.B.data(), 1e-6));
      kept.solve(x.data());
      // Multipliers of a hundred, a few of them one after the other; with pivots of 1e-7 it would be 1e-9 at least.
      EXPECT_LE(residual(pencil, 1e-6, x, b), 1e-11) << n << " unknowns, round " << round;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ShiftedLuTest,
                         testing::Values(std::pair(std::size_t{1}, ShiftedLu::Backend::dense),
                                         std::pair(std::size_t{9}, ShiftedLu::Backend::dense),
                                         std::pair(std::size_t{9}, ShiftedLu::Backend::sparse),
                                         std::pair(std::size_t{120}, ShiftedLu::Backend::dense),
                                         std::pair(std::size_t{120}, ShiftedLu::Backend::sparse)));

}  // namespace
}  // namespace daedalus::linalg
