// Cholesky factors inside the envelope (A. George and J. W. H. Liu, Computer Solution of Large Sparse Positive Definite
// Systems, 1981, chapter 4): row k of U has no entry beyond the largest extent of the rows that it meets before.
#include "daedalus/linalg/envelope_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "daedalus/linalg/dense_kernels.hpp"

namespace daedalus::linalg {

namespace {
constexpr double doubtful_pivot = 1e-4;  // below it the smallest eigenvalue is computed
}  // namespace

// Three digits or fewer would be left, and a pivot of an exactly singular matrix lands there by round-off.
double singular_pivot(std::size_t n) {
  return 1e-13 + 8.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
}

std::vector<std::size_t> extents_of(const Sparsity& mass) {
  std::vector<std::size_t> extent(mass.rows);
  for (std::size_t i = 0; i < mass.rows; ++i) {
    extent[i] = i + 1;
    const std::size_t begin = mass.row_start[i], end = mass.row_start[i + 1];
    if (end > begin) extent[i] = std::max(extent[i], mass.column[end - 1] + 1);
  }
  return extent;
}

std::vector<std::size_t> extents_of(const Sparsity& mass, const Sparsity& jacobian) {
  std::vector<std::size_t> extent = extents_of(mass);
  for (std::size_t j = 0; j < jacobian.rows; ++j) {
    const std::size_t begin = jacobian.row_start[j], end = jacobian.row_start[j + 1];
    for (std::size_t k = begin; k < end; ++k) {
      std::size_t& last = extent[jacobian.column[k]];
      last = std::max(last, jacobian.column[end - 1] + 1);
    }
  }
  return extent;
}

void row_masses(const Sparsity& mass, const double* M, const Sparsity& jacobian, const double* G, double* result) {
  const auto own = [&](std::size_t i) {
    for (std::size_t k = mass.row_start[i]; k < mass.row_start[i + 1]; ++k)
      if (mass.column[k] == i) return std::abs(M[k]);
    return 0.0;
  };
  double overall = 0.0;
  for (std::size_t k = 0; k < mass.nonzeros(); ++k) overall = std::max(overall, std::abs(M[k]));
  if (overall == 0.0) overall = 1.0;
  for (std::size_t j = 0; j < jacobian.rows; ++j) {
    double square = 0.0, largest = 0.0;
    for (std::size_t k = jacobian.row_start[j]; k < jacobian.row_start[j + 1]; ++k) {
      square += G[k] * G[k];
      largest = std::max(largest, own(jacobian.column[k]));
    }
    result[j] = square > 0.0 ? (largest > 0.0 ? largest : overall) / square : 0.0;
  }
}

EnvelopeCholesky::EnvelopeCholesky(std::vector<std::size_t> extent) : extent_(std::move(extent)) {
  const std::size_t n = extent_.size();
  // Eliminating row k fills every row it meets up to its own end.
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < extent_[k]; ++i) extent_[i] = std::max(extent_[i], extent_[k]);
  std::size_t count = 0;
  for (std::size_t k = 0; k < n; ++k) {
    start_.push_back(count);
    count += extent_[k] - k;
  }
  values_.resize(count);
  inverse_.resize(n);
  diagonal_.resize(n);
  work_.resize(n);
}

void EnvelopeCholesky::clear() { std::fill(values_.begin(), values_.end(), 0.0); }

void EnvelopeCholesky::add(const Sparsity& pattern, const double* values) {
  for (std::size_t i = 0; i < pattern.rows; ++i) {
    double* to = row(i);
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      if (pattern.column[k] >= i) to[pattern.column[k] - i] += values[k];
  }
}

void EnvelopeCholesky::add_squares(const Sparsity& jacobian, const double* G, const double* weight) {
  for (std::size_t j = 0; j < jacobian.rows; ++j) {
    const std::size_t end = jacobian.row_start[j + 1];
    for (std::size_t k = jacobian.row_start[j]; k < end; ++k) {
      const std::size_t i = jacobian.column[k];
      double* to = row(i);
      const double sg = weight[j] * G[k];
      for (std::size_t l = k; l < end; ++l) to[jacobian.column[l] - i] += sg * G[l];
    }
  }
}

double EnvelopeCholesky::factor() {
  const std::size_t n = size();
  double quality = 1.0;
  for (std::size_t k = 0; k < n; ++k) diagonal_[k] = *row(k);
  for (std::size_t k = 0; k < n; ++k) {
    double* pivot_row = row(k);
    const double d = *pivot_row;
    if (!(d > 0.0)) return 0.0;
    const std::size_t width = extent_[k] - k;
    if (d < quality * diagonal_[k]) quality = d / diagonal_[k];
    const double root = std::sqrt(d);
    const double inverse = 1.0 / root;
    *pivot_row = root;
    inverse_[k] = inverse;
    for (std::size_t j = 1; j < width; ++j) pivot_row[j] *= inverse;
    for (std::size_t j = 1; j < width; ++j) {
      const double u = pivot_row[j];
      if (u != 0.0) add_multiple(-u, pivot_row + j, row(k + j), width - j);
    }
  }
  return quality < doubtful_pivot ? std::min(quality, smallest_eigenvalue()) : quality;
}

// Inverse iteration. A pivot alone may exceed the smallest eigenvalue by any factor, so that a singular matrix passes.
double EnvelopeCholesky::smallest_eigenvalue() {
  const std::size_t n = size();
  double* x = work_.data();
  double length = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = (i % 2 == 0 ? 1.0 : -1.0) * (1.0 + 0.5 * static_cast<double>(i % 7));
    length += x[i] * x[i];
  }
  double eigenvalue = 1.0;
  for (int iteration = 0; iteration < 4; ++iteration) {
    const double norm = std::sqrt(length);
    for (std::size_t i = 0; i < n; ++i) x[i] *= std::sqrt(diagonal_[i]) / norm;
    solve(x);
    length = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] *= std::sqrt(diagonal_[i]);
      length += x[i] * x[i];
    }
    eigenvalue = std::min(eigenvalue, 1.0 / std::sqrt(length));
  }
  return eigenvalue;
}

void EnvelopeCholesky::substitute_forward(double* x) const {
  for (std::size_t k = 0; k < size(); ++k) {
    x[k] *= inverse_[k];
    if (extent_[k] > k + 1) add_multiple(-x[k], row(k) + 1, x + k + 1, extent_[k] - k - 1);
  }
}

void EnvelopeCholesky::substitute_backward(double* x) const {
  for (std::size_t k = size(); k-- > 0;) {
    const double sum = extent_[k] > k + 1 ? dot(row(k) + 1, x + k + 1, extent_[k] - k - 1) : 0.0;
    x[k] = (x[k] - sum) * inverse_[k];
  }
}

std::size_t EnvelopeCholesky::substitute_forward(double* x, std::size_t begin, std::size_t end) const {
  for (std::size_t k = begin; k < end; ++k) {
    if (x[k] == 0.0) continue;
    const double value = x[k] *= inverse_[k];
    if (extent_[k] > k + 1) {
      add_multiple(-value, row(k) + 1, x + k + 1, extent_[k] - k - 1);
      end = std::max(end, extent_[k]);
    }
  }
  return end;
}

}  // namespace daedalus::linalg
