#include "daedalus/structure/unknown_index.hpp"

#include <gtest/gtest.h>

#include <eigen3/Eigen/Dense>

#include "unit/structure/dae_examples.hpp"

namespace daedalus::structure {
namespace {

using testing::DaeExample;

/// F_y + s F_y' at a point without special relations between its values.
Eigen::MatrixXd pencil(const DaeFunctions& fn, double s) {
  const std::size_t n = fn.dimension();
  std::vector<double> y(n), dy(n), jacobian(fn.function.jacobian.output_count());
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = 0.7 + 0.2 * std::cos(1.7 * static_cast<double>(i + 1));
    dy[i] = 0.4 + 0.3 * std::sin(2.3 * static_cast<double>(i + 1));
  }
  const double t = 0.3;
  const double* inputs[] = {&t, y.data(), dy.data()};
  auto scratch = fn.function.jacobian.make_scratch();
  fn.function.jacobian(inputs, jacobian.data(), scratch);
  const linalg::Sparsity& pattern = fn.function.pattern;
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(pattern.column[k])) =
          jacobian[k] + s * jacobian[pattern.nonzeros() + k];
  return result;
}

std::vector<DaeExample> valid_examples() {
  std::vector<DaeExample> some = testing::dae_examples();
  std::erase_if(some, [](const DaeExample& one) { return one.name.starts_with("structure") || one.name.find("mixed") != std::string::npos; });
  return some;
}

// A perturbation exp(s t) of the equations moves unknown j by |(F_y + s F_y')^-1| in row j, which grows like
// s^(index - 1): that is what the index of an unknown means. The condition of that matrix is about s^index, here 1e12 at most: the
// inverse has some digits, and s is far beyond the frequencies of the examples (2e4 in the circuits, of index 2 at most).
TEST(UnknownIndex, IsHowAnUnknownGrowsWithTheFrequencyOfPerturbations) {
  for (const DaeExample& one : valid_examples()) {
    const auto fn = testing::compiled(one, testing::Mixing::none);
    const UnknownIndices found = unknown_indices(*fn);
    EXPECT_EQ(found.system_index, static_cast<int>(one.index)) << one.name;
    const double s = std::pow(1e12, 1.0 / static_cast<double>(one.index)) / 8.0;
    const Eigen::MatrixXd low = pencil(*fn, s).partialPivLu().inverse(), high = pencil(*fn, 8.0 * s).partialPivLu().inverse();
    for (Eigen::Index j = 0; j < low.rows(); ++j) {
      // Of every entry for itself, as units may hide one behind another; what may be round-off does not count.
      double growth = -INFINITY;
      for (Eigen::Index k = 0; k < low.cols(); ++k)
        if (std::abs(low(j, k)) > 1e-3 * low.row(j).cwiseAbs().maxCoeff())
          growth = std::max(growth, std::log(std::abs(high(j, k) / low(j, k))) / std::log(8.0));
      EXPECT_EQ(found.index[static_cast<std::size_t>(j)] - 1, std::max(0, static_cast<int>(std::lround(growth))))
          << one.name << ", unknown " << j << " grows with " << growth;
    }
  }
}

// With its rows and unknowns in powers of h the Newton matrix has a regular limit.
TEST(UnknownIndex, PowersKeepNewtonsMatrixWellConditioned) {
  for (const DaeExample& one : valid_examples()) {
    const auto fn = testing::compiled(one, testing::Mixing::none);
    const UnknownIndices found = unknown_indices(*fn);
    const auto condition = [&](double h) {
      Eigen::MatrixXd matrix = pencil(*fn, 1.0 / h);
      for (Eigen::Index i = 0; i < matrix.rows(); ++i)
        for (Eigen::Index j = 0; j < matrix.cols(); ++j)
          matrix(i, j) *= std::pow(h, found.row_power[static_cast<std::size_t>(i)] - found.column_power[static_cast<std::size_t>(j)]);
      // Units of equations and unknowns are the author's: each row and column in its own.
      for (int sweep = 0; sweep < 3; ++sweep) {
        for (Eigen::Index i = 0; i < matrix.rows(); ++i) matrix.row(i) /= matrix.row(i).cwiseAbs().maxCoeff();
        for (Eigen::Index j = 0; j < matrix.cols(); ++j) matrix.col(j) /= matrix.col(j).cwiseAbs().maxCoeff();
      }
      const auto singular = matrix.jacobiSvd().singularValues();
      return singular(0) / singular(singular.size() - 1);
    };
    const double limit = condition(1e-9);
    EXPECT_LT(limit, 1e3) << one.name;
    EXPECT_LT(condition(1e-7), 2.0 * limit) << one.name;
  }
}

}  // namespace
}  // namespace daedalus::structure
