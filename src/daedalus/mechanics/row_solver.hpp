#pragma once

#include <utility>
#include <vector>

#include "daedalus/linalg/kkt.hpp"

namespace daedalus::mechanics {

/// By which formula accelerations and multipliers are found.
struct KktChoice {
  linalg::KktSolver::Backend backend = linalg::KktSolver::Backend::automatic;
  double penalty = 1e6;  ///< where the formula has one
};

/// The KKT system with some rows of G only. Right sides and multipliers keep one entry per row of the whole G.
class RowSolver {
 public:
  RowSolver(const linalg::Sparsity& mass, const linalg::Sparsity& jacobian, std::vector<std::size_t> rows,
            const KktChoice& how = {})
      : rows_(std::move(rows)),
        source_(positions(jacobian, rows_)),
        kkt_(mass, part(jacobian, rows_), how.backend, how.penalty) {
    G_.resize(source_.size());
    right_.resize(rows_.size());
  }

  const std::vector<std::size_t>& rows() const { return rows_; }
  const linalg::KktSolver& kkt() const { return kkt_; }
  linalg::KktSolver& kkt() { return kkt_; }

  /// Takes the values of the whole G.
  linalg::KktOutcome factor(const double* M, const double* G) {
    for (std::size_t k = 0; k < source_.size(); ++k) G_[k] = G[source_[k]];
    return kkt_.factor(M, G_.data());
  }

  /// Sets multipliers of rows that are left out to 0; `count` is the number of rows of the whole G.
  void solve(const double* f, const double* gamma, double* a, double* lambda, std::size_t count) {
    for (std::size_t i = 0; i < rows_.size(); ++i) right_[i] = gamma[rows_[i]];
    kkt_.solve(f, right_.data(), a, right_.data());
    for (std::size_t i = 0; i < count; ++i) lambda[i] = 0.0;
    for (std::size_t i = 0; i < rows_.size(); ++i) lambda[rows_[i]] = right_[i];
  }

 private:
  static std::vector<std::size_t> positions(const linalg::Sparsity& pattern, const std::vector<std::size_t>& rows) {
    std::vector<std::size_t> result;
    for (const std::size_t row : rows)
      for (std::size_t k = pattern.row_start[row]; k < pattern.row_start[row + 1]; ++k) result.push_back(k);
    return result;
  }
  static linalg::Sparsity part(const linalg::Sparsity& pattern, const std::vector<std::size_t>& rows) {
    linalg::Sparsity result{rows.size(), pattern.columns, {0}, {}};
    for (const std::size_t row : rows) {
      for (std::size_t k = pattern.row_start[row]; k < pattern.row_start[row + 1]; ++k)
        result.column.push_back(pattern.column[k]);
      result.row_start.push_back(result.column.size());
    }
    return result;
  }

  std::vector<std::size_t> rows_, source_;
  linalg::KktSolver kkt_;
  std::vector<double> G_, right_;
};

}  // namespace daedalus::mechanics
