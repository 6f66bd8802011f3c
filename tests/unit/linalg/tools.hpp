#pragma once

#include <cmath>
#include <cstddef>
#include <eigen3/Eigen/Dense>
#include <random>
#include <vector>

#include "daedalus/linalg/kkt.hpp"
#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::linalg::testing {

/// A sparse matrix with its values, for tests only.
struct Matrix {
  Sparsity pattern;
  std::vector<double> values;
};

/// Keeps the entries that are not zero, or all of them.
inline Matrix sparse(const Eigen::MatrixXd& dense, bool all = false) {
  Matrix result;
  result.pattern.rows = static_cast<std::size_t>(dense.rows());
  result.pattern.columns = static_cast<std::size_t>(dense.cols());
  for (Eigen::Index i = 0; i < dense.rows(); ++i) {
    for (Eigen::Index j = 0; j < dense.cols(); ++j) {
      if (!all && dense(i, j) == 0.0) continue;
      result.pattern.column.push_back(static_cast<std::size_t>(j));
      result.values.push_back(dense(i, j));
    }
    result.pattern.row_start.push_back(result.pattern.column.size());
  }
  return result;
}

inline Eigen::MatrixXd dense(const Matrix& matrix) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(matrix.pattern.rows),
                                                 static_cast<Eigen::Index>(matrix.pattern.columns));
  for (std::size_t i = 0; i < matrix.pattern.rows; ++i) {
    for (std::size_t k = matrix.pattern.row_start[i]; k < matrix.pattern.row_start[i + 1]; ++k) {
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(matrix.pattern.column[k])) = matrix.values[k];
    }
  }
  return result;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double number() { return distribution_(engine_); }
  Eigen::MatrixXd matrix(Eigen::Index rows, Eigen::Index columns) {
    Eigen::MatrixXd result(rows, columns);
    for (Eigen::Index i = 0; i < rows; ++i) {
      for (Eigen::Index j = 0; j < columns; ++j) result(i, j) = number();
    }
    return result;
  }
  Eigen::VectorXd vector(Eigen::Index size) { return matrix(size, 1); }
  /// Symmetric with eigenvalues in about [1, 1 + size].
  Eigen::MatrixXd definite(Eigen::Index size) {
    const Eigen::MatrixXd A = matrix(size, size);
    return A * A.transpose() + Eigen::MatrixXd::Identity(size, size);
  }

 private:
  std::mt19937 engine_;
  std::uniform_real_distribution<double> distribution_{-1.0, 1.0};
};

struct Solution {
  KktOutcome outcome;
  Eigen::VectorXd a, lambda;
  double inconsistency = 0.0;
};

inline Solution solve(KktSolver& solver, const std::vector<double>& M, const std::vector<double>& G,
                      const Eigen::VectorXd& f, const Eigen::VectorXd& gamma) {
  Solution solution;
  solution.a = Eigen::VectorXd::Zero(f.size());
  solution.lambda = Eigen::VectorXd::Zero(gamma.size());
  solution.outcome = solver.factor(M.data(), G.data());
  if (solution.outcome == KktOutcome::regular || solution.outcome == KktOutcome::redundant) {
    solver.solve(f.data(), gamma.data(), solution.a.data(), solution.lambda.data());
    solution.inconsistency = solver.inconsistency();
  }
  return solution;
}

inline Eigen::MatrixXd assemble(const Eigen::MatrixXd& M, const Eigen::MatrixXd& G) {
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(M.rows() + G.rows(), M.rows() + G.rows());
  K.topLeftCorner(M.rows(), M.cols()) = M;
  K.topRightCorner(M.rows(), G.rows()) = G.transpose();
  K.bottomLeftCorner(G.rows(), M.cols()) = G;
  return K;
}

/// A planar chain of N point masses and N rods hanging from the origin along a gentle curve: positions, M = diag,
/// the Jacobian of 1/2 (|p_i - p_(i-1)|^2 - l^2), forces and gamma = -|v_i - v_(i-1)|^2.
struct Chain {
  Matrix M, G;
  Eigen::VectorXd q, f, gamma;

  explicit Chain(std::size_t links) {
    const auto n = static_cast<Eigen::Index>(2 * links);
    q.resize(n);
    f.resize(n);
    gamma.resize(static_cast<Eigen::Index>(links));
    M.pattern.rows = M.pattern.columns = G.pattern.columns = 2 * links;
    G.pattern.rows = links;
    double x = 0.0, y = 0.0;
    for (std::size_t i = 0; i < links; ++i) {
      const double angle = 0.3 + std::sin(0.1 * static_cast<double>(i));
      const double dx = std::sin(angle), dy = -std::cos(angle);
      x += dx;
      y += dy;
      const auto k = static_cast<Eigen::Index>(2 * i);
      q(k) = x;
      q(k + 1) = y;
      const double mass = 1.0 + 0.5 * std::cos(static_cast<double>(i));
      f(k) = 0.1 * std::sin(static_cast<double>(i));
      f(k + 1) = -9.81 * mass;
      gamma(static_cast<Eigen::Index>(i)) = -1.0 - 0.5 * std::cos(0.3 * static_cast<double>(i));
      for (std::size_t c = 0; c < 2; ++c) {
        M.pattern.column.push_back(2 * i + c);
        M.pattern.row_start.push_back(M.pattern.column.size());
        M.values.push_back(mass);
      }
      if (i > 0) {
        G.pattern.column.insert(G.pattern.column.end(), {2 * i - 2, 2 * i - 1});
        G.values.insert(G.values.end(), {-dx, -dy});
      }
      G.pattern.column.insert(G.pattern.column.end(), {2 * i, 2 * i + 1});
      G.values.insert(G.values.end(), {dx, dy});
      G.pattern.row_start.push_back(G.pattern.column.size());
    }
  }
};

/// Appends a row given by its columns and values.
inline void append_row(Matrix& matrix, const std::vector<std::size_t>& columns, const std::vector<double>& values) {
  matrix.pattern.column.insert(matrix.pattern.column.end(), columns.begin(), columns.end());
  matrix.values.insert(matrix.values.end(), values.begin(), values.end());
  matrix.pattern.row_start.push_back(matrix.pattern.column.size());
  ++matrix.pattern.rows;
}

}  // namespace daedalus::linalg::testing
