#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "daedalus/linalg/householder.hpp"

// Not part of this room's interface.
namespace daedalus::linalg {

/// The row space of a matrix A (m by n): A = T Q1^T with orthonormal columns Q1, by QR of A^T with pivoting. Where rows
/// depend on others, T = V B in turn, a complete orthogonal decomposition, and
///     A^+ = Q1 B^-1 V^T,     (A^T)^+ = V B^-T Q1^T.
class RowSpace {
 public:
  RowSpace(std::size_t rows, std::size_t columns);

  /// Zeroes row j and returns its storage; it must then be told where its entries are.
  double* clear(std::size_t j) { return qr_.clear(j); }
  void set_support(std::size_t j, std::size_t begin, std::size_t end) { qr_.set_support(j, begin, end); }
  const HouseholderQr& qr() const { return qr_; }

  /// Rows whose part outside the others is at most `tolerance` of their length depend on them, and so do all behind the
  /// first `most` that are chosen. Returns the rank.
  std::size_t factor(double tolerance, HouseholderQr::Rows rows = HouseholderQr::Rows::as_given,
                     std::size_t most = std::numeric_limits<std::size_t>::max());
  std::size_t rank() const { return qr_.rank(); }
  std::vector<std::size_t> dependent_rows() const;  ///< ascending

  /// u with A Q1 u = g, of length rank(), in the sense of least squares. Where rows are dependent g becomes A Q1 u.
  void coordinates(double* g, double* u) const;
  /// lambda of least norm with Q1^T A^T lambda = z; z has length m and is lost behind its first rank() entries.
  void multipliers(double* z, double* lambda) const;

 private:
  std::size_t m_;
  HouseholderQr qr_;
  std::unique_ptr<HouseholderQr> range_;  ///< of T in the order of the rows of A, for dependent rows only
};

}  // namespace daedalus::linalg
