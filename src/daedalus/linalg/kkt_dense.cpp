// M = U^T U,  Y = U^-T G^T,  Y P = Q R.  With b = U a, w = U^-T f and (u1, u2) = Q^T b:
//     R^T u1 = P^T gamma,   u2 = Q2^T w,   R P^T lambda = Q1^T w - u1,   a = U^-1 Q (u1, u2).
// The rank of G is that of R: forming G M^-1 G^T instead would square the condition and lose rows that differ by less
// than 1e-8 (Golub and Van Loan, Matrix Computations, 4th ed., sections 5.4.2 and 6.2).
//
// Where M is singular or indefinite, M + G^T S G takes its place with f + G^T S gamma: on G a = gamma nothing changes
// (Benzi, Golub and Liesen, Acta Numerica 14, 2005, section 3.5).
//
// Redundant rows: Y^T = T Q1^T with T (m by r) of full column rank; T = V B gives u1 = B^-1 V^T gamma (least squares)
// and lambda = V B^-T (Q1^T w - u1) (least norm), a complete orthogonal decomposition.
#include "daedalus/linalg/kkt_dense.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/linalg/dense_kernels.hpp"
#include "daedalus/linalg/row_selection.hpp"

namespace daedalus::linalg {

namespace {

// Measures of definiteness, see cholesky(). Below `sound` M + G^T S G is tried, which may be better conditioned; at or
// below `singular` three digits or fewer would be left, and a pivot of an exactly singular M lands there by round-off.
constexpr double sound_pivot = 1e-4;
constexpr double doubtful_pivot = 1e-4;  // below it the smallest eigenvalue is computed
constexpr double inexact_pivot = 1e-6;   // below it solutions are corrected
double singular_pivot(std::size_t n) {
  return 1e-13 + 8.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
}

// Ratio of square roots of masses from which the rows of Y count as being of different size: the QR would lose as much.
constexpr double uneven = 100.0;

// Grows extents to those of the factor: eliminating row k fills every row it meets up to its own end.
void fill_extents(std::vector<std::size_t>& extent) {
  for (std::size_t k = 0; k < extent.size(); ++k) {
    for (std::size_t i = k + 1; i < extent[k]; ++i) extent[i] = std::max(extent[i], extent[k]);
  }
}

std::vector<std::size_t> extents_of_mass(const Sparsity& mass) {
  std::vector<std::size_t> extent(mass.rows);
  for (std::size_t i = 0; i < mass.rows; ++i) {
    extent[i] = i + 1;
    const std::size_t begin = mass.row_start[i], end = mass.row_start[i + 1];
    if (end > begin) extent[i] = std::max(extent[i], mass.column[end - 1] + 1);
  }
  return extent;
}

}  // namespace

DenseKkt::DenseKkt(const Sparsity& mass, const Sparsity& jacobian)
    : mass_(mass),
      jacobian_(jacobian),
      n_(mass.rows),
      m_(jacobian.rows),
      M_(mass.nonzeros()),
      G_(jacobian.nonzeros()),
      U_(n_ * n_),
      inverse_(n_),
      diagonal_(n_),
      mass_extent_(extents_of_mass(mass)),
      shifted_extent_(mass_extent_),
      row_mass_(m_),
      shift_(m_),
      qr_(m_, n_),
      w_(n_),
      u_(m_),
      z_(m_),
      g_(m_),
      right_f_(n_),
      right_gamma_(m_),
      residual_f_(n_),
      residual_gamma_(m_),
      range_gamma_(m_) {
  for (std::size_t j = 0; j < m_; ++j) {
    const std::size_t begin = jacobian.row_start[j], end = jacobian.row_start[j + 1];
    for (std::size_t k = begin; k < end; ++k) {
      std::size_t& extent = shifted_extent_[jacobian.column[k]];
      extent = std::max(extent, jacobian.column[end - 1] + 1);
    }
  }
  fill_extents(mass_extent_);
  fill_extents(shifted_extent_);
  dependent_rows_.reserve(m_);
}

double DenseKkt::estimate_operations(const Sparsity& mass, const Sparsity& jacobian) {
  std::vector<std::size_t> extent = extents_of_mass(mass);
  fill_extents(extent);
  const double n = static_cast<double>(mass.rows), m = static_cast<double>(jacobian.rows);
  double cholesky = 0.0, substitution = 0.0;
  for (std::size_t k = 0; k < extent.size(); ++k) {
    const double width = static_cast<double>(extent[k] - k);
    cholesky += width * width;
    substitution += 2.0 * width;
  }
  return cholesky + m * substitution + 2.0 * m * m * std::max(n - m / 3.0, 0.0);
}

void DenseKkt::load_mass() {
  for (std::size_t i = 0; i < n_; ++i) {
    double* row = U_.data() + i * n_;
    std::fill(row + i, row + shifted_extent_[i], 0.0);
    for (std::size_t k = mass_.row_start[i]; k < mass_.row_start[i + 1]; ++k) {
      if (mass_.column[k] >= i) row[mass_.column[k]] = M_[k];
    }
  }
}

// Returns a measure of definiteness between 0 (not positive definite) and 1: the smallest pivot relative to its
// diagonal entry, and where that is small the smallest eigenvalue of the matrix scaled to unit diagonal.
double DenseKkt::cholesky(const Extents& extent) {
  const std::size_t n = n_;
  double quality = 1.0;
  for (std::size_t k = 0; k < n; ++k) diagonal_[k] = U_[k * n + k];
  for (std::size_t k = 0; k < n; ++k) {
    double* pivot_row = U_.data() + k * n;
    const double d = pivot_row[k];
    if (!(d > 0.0)) return 0.0;
    const std::size_t end = extent[k];
    if (d < quality * diagonal_[k]) quality = d / diagonal_[k];
    const double root = std::sqrt(d);
    const double inverse = 1.0 / root;
    pivot_row[k] = root;
    inverse_[k] = inverse;
    for (std::size_t j = k + 1; j < end; ++j) pivot_row[j] *= inverse;
    for (std::size_t i = k + 1; i < end; ++i) {
      const double u = pivot_row[i];
      if (u != 0.0) add_multiple(-u, pivot_row + i, U_.data() + i * n + i, end - i);
    }
  }
  return quality < doubtful_pivot ? std::min(quality, smallest_eigenvalue(extent)) : quality;
}

// Inverse iteration. A pivot alone may exceed the smallest eigenvalue by any factor, so that a singular matrix passes.
double DenseKkt::smallest_eigenvalue(const Extents& extent) {
  double* x = w_.data();
  double length = 0.0;
  for (std::size_t i = 0; i < n_; ++i) {
    x[i] = (i % 2 == 0 ? 1.0 : -1.0) * (1.0 + 0.5 * static_cast<double>(i % 7));
    length += x[i] * x[i];
  }
  double eigenvalue = 1.0;
  for (int iteration = 0; iteration < 4; ++iteration) {
    const double norm = std::sqrt(length);
    for (std::size_t i = 0; i < n_; ++i) x[i] *= std::sqrt(diagonal_[i]) / norm;
    substitute_forward(x, extent);
    substitute_backward(x, extent);
    length = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      x[i] *= std::sqrt(diagonal_[i]);
      length += x[i] * x[i];
    }
    eigenvalue = std::min(eigenvalue, 1.0 / std::sqrt(length));
  }
  return eigenvalue;
}

void DenseKkt::add_shift(double multiple) {
  for (std::size_t j = 0; j < m_; ++j) {
    const double s = shift_[j] = multiple * row_mass_[j];
    for (std::size_t k = jacobian_.row_start[j]; k < jacobian_.row_start[j + 1]; ++k) {
      double* row = U_.data() + jacobian_.column[k] * n_;
      const double sg = s * G_[k];
      for (std::size_t l = k; l < jacobian_.row_start[j + 1]; ++l) row[jacobian_.column[l]] += sg * G_[l];
    }
  }
}

// Tries M + G^T S G with S from the largest mass that each row touches: a mean would follow the direction of the row,
// along which M may be next to nothing (a quaternion's own). Larger multiples are for an indefinite M, which needs S
// above a bound that is not known beforehand.
double DenseKkt::factor_shifted() {
  double overall = 0.0;
  std::fill(w_.begin(), w_.end(), 0.0);
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t k = mass_.row_start[i]; k < mass_.row_start[i + 1]; ++k) {
      overall = std::max(overall, std::abs(M_[k]));
      if (mass_.column[k] == i) w_[i] = std::abs(M_[k]);
    }
  }
  if (overall == 0.0) overall = 1.0;
  for (std::size_t j = 0; j < m_; ++j) {
    double square = 0.0, mass = 0.0;
    for (std::size_t k = jacobian_.row_start[j]; k < jacobian_.row_start[j + 1]; ++k) {
      square += G_[k] * G_[k];
      mass = std::max(mass, w_[jacobian_.column[k]]);
    }
    row_mass_[j] = square > 0.0 ? (mass > 0.0 ? mass : overall) / square : 0.0;
  }
  double best = 0.0, best_multiple = 0.0, loaded = 0.0;
  const auto attempt = [&](double multiple) {
    load_mass();
    add_shift(multiple);
    loaded = multiple;
    return cholesky(shifted_extent_);
  };
  for (const double multiple : {1.0, 1e2, 1e4, 1e6}) {
    const double quality = attempt(multiple);
    // No gain over the last attempt: what is left is ill conditioned on ker G, which no shift mends.
    const bool gained = quality > 2.0 * std::max(best, mass_quality_);
    if (quality > best) {
      best = quality;
      best_multiple = multiple;
    }
    if (quality >= sound_pivot || (best > singular_pivot(n_) && !gained)) break;
  }
  if (best > singular_pivot(n_) && loaded != best_multiple) attempt(best_multiple);
  return best;
}

void DenseKkt::form_columns(const Extents& extent) {
  const std::size_t n = n_;
  for (std::size_t j = 0; j < m_; ++j) {
    double* y = qr_.clear(j);
    const std::size_t first = jacobian_.row_start[j], last = jacobian_.row_start[j + 1];
    if (first == last) continue;
    for (std::size_t k = first; k < last; ++k) y[jacobian_.column[k]] = G_[k];
    const std::size_t begin = jacobian_.column[first];
    std::size_t end = jacobian_.column[last - 1] + 1;
    for (std::size_t k = begin; k < end; ++k) {
      if (y[k] == 0.0) continue;
      const double value = y[k] *= inverse_[k];
      if (extent[k] > k + 1) {
        add_multiple(-value, U_.data() + k * n + k + 1, y + k + 1, extent[k] - k - 1);
        end = std::max(end, extent[k]);
      }
    }
    qr_.set_support(j, begin, end);
  }
}

KktOutcome DenseKkt::factor(const double* M, const double* G) {
  const bool same_mass = known_ && same_bits(M, M_.data(), M_.size());
  const bool same_jacobian = known_ && same_bits(G, G_.data(), G_.size());
  if (same_mass && same_jacobian) return outcome_;
  known_ = false;
  inconsistency_ = 0.0;
  dependent_rows_.clear();
  rank_ = 0;
  if (!same_mass) {
    if (!all_finite(M, M_.size())) return outcome_ = KktOutcome::not_finite;
    std::copy(M, M + M_.size(), M_.begin());
  }
  if (!same_jacobian) {
    if (!all_finite(G, G_.size())) return outcome_ = KktOutcome::not_finite;
    std::copy(G, G + G_.size(), G_.begin());
  }
  if (!same_mass) {
    load_mass();
    mass_quality_ = cholesky(mass_extent_);
    shifted_ = false;
  }
  known_ = true;
  return outcome_ = decide();
}

KktOutcome DenseKkt::decide() {
  double quality = mass_quality_;
  if (!(quality > singular_pivot(n_))) mass_was_singular_ = true;
  if ((quality < sound_pivot || mass_was_singular_) && m_ > 0) {
    quality = factor_shifted();
    shifted_ = true;
    // The last pivot of a singular M is round-off over the smallest sound pivot: it may look better than it is.
    if (quality < mass_quality_ && !mass_was_singular_) {
      load_mass();
      quality = cholesky(mass_extent_);
      shifted_ = false;
    }
  }
  if (n_ > 0 && !(quality > singular_pivot(n_))) return KktOutcome::singular_mass;
  inexact_ = quality < inexact_pivot;
  if (m_ == 0) return KktOutcome::regular;

  form_columns(shifted_ ? shifted_extent_ : mass_extent_);
  if (m_ == 1 && !inexact_) {
    const double* y = qr_.vector(0);
    single_square_ = dot(y + qr_.begin(0), y + qr_.begin(0), qr_.end(0) - qr_.begin(0));
    if (single_square_ > 0.0) {
      rank_ = 1;
      return KktOutcome::regular;
    }
  }
  // Substitution with U loses about 1/sqrt(quality) more than round-off.
  const double loss = quality < 1.0 ? std::min(1e3, 1.0 / std::sqrt(quality)) : 1.0;
  const auto [least, most] = std::minmax_element(inverse_.begin(), inverse_.end());
  using Rows = HouseholderQr::Rows;
  const Rows rows = n_ > 0 && *most > uneven * *least ? Rows::largest_first : Rows::as_given;
  rank_ = qr_.factor(m_, loss * rank_tolerance(m_, n_), 0.5, rows);
  if (rank_ == m_) return KktOutcome::regular;
  prepare_redundant();
  return KktOutcome::redundant;
}

void DenseKkt::prepare_redundant() {
  const std::vector<std::size_t>& order = qr_.order();
  dependent_rows_.assign(order.begin() + static_cast<std::ptrdiff_t>(rank_), order.end());
  std::sort(dependent_rows_.begin(), dependent_rows_.end());
  if (!range_) range_ = std::make_unique<HouseholderQr>(m_, m_);
  for (std::size_t i = 0; i < rank_; ++i) {
    double* t = range_->clear(i);
    for (std::size_t k = i; k < m_; ++k) t[order[k]] = qr_.entry(i, k);
    range_->set_support(i, 0, m_);
  }
  range_->factor(rank_, 0.0, 0.0);
}

void DenseKkt::substitute_forward(double* w, const Extents& extent) const {
  for (std::size_t k = 0; k < n_; ++k) {
    w[k] *= inverse_[k];
    if (extent[k] > k + 1) add_multiple(-w[k], U_.data() + k * n_ + k + 1, w + k + 1, extent[k] - k - 1);
  }
}

void DenseKkt::substitute_backward(double* w, const Extents& extent) const {
  for (std::size_t k = n_; k-- > 0;) {
    const double sum = extent[k] > k + 1 ? dot(U_.data() + k * n_ + k + 1, w + k + 1, extent[k] - k - 1) : 0.0;
    w[k] = (w[k] - sum) * inverse_[k];
  }
}

// One column needs no reflection: b = w - y lambda with lambda = (y^T w - gamma) / y^T y.
void DenseKkt::solve_single(const double* f, const double* gamma, double* a, double* lambda) {
  double* w = w_.data();
  for (std::size_t i = 0; i < n_; ++i) w[i] = f[i];
  if (shifted_) multiply_transposed_add(jacobian_, G_.data(), shift_[0], gamma, w);
  substitute_forward(w, shifted_ ? shifted_extent_ : mass_extent_);
  const double* y = qr_.vector(0) + qr_.begin(0);
  const std::size_t length = qr_.end(0) - qr_.begin(0);
  const double multiplier = (dot(y, w + qr_.begin(0), length) - gamma[0]) / single_square_;
  add_multiple(-multiplier, y, w + qr_.begin(0), length);
  substitute_backward(w, shifted_ ? shifted_extent_ : mass_extent_);
  for (std::size_t i = 0; i < n_; ++i) a[i] = w[i];
  lambda[0] = multiplier;
}

void DenseKkt::solve(const double* f, const double* gamma, double* a, double* lambda) {
  if (inexact_) {
    solve_corrected(f, gamma, a, lambda);
  } else if (m_ == 1 && rank_ == 1) {
    solve_single(f, gamma, a, lambda);
  } else {
    solve_once(f, gamma, a, lambda);
  }
}

// Iterative refinement for an ill-conditioned M: each correction gains at least the factor by which U is better than
// singular.
void DenseKkt::solve_corrected(const double* f, const double* gamma, double* a, double* lambda) {
  std::copy(f, f + n_, right_f_.begin());
  std::copy(gamma, gamma + m_, right_gamma_.begin());
  solve_once(right_f_.data(), right_gamma_.data(), a, lambda);
  const double inconsistency = inconsistency_;
  // The part of gamma outside the range of G must not return as a residual.
  std::copy(range_gamma_.begin(), range_gamma_.end(), right_gamma_.begin());
  for (int correction = 0; correction < 2; ++correction) {
    residual_f_ = right_f_;
    residual_gamma_ = right_gamma_;
    multiply_add(mass_, M_.data(), -1.0, a, residual_f_.data());
    multiply_transposed_add(jacobian_, G_.data(), -1.0, lambda, residual_f_.data());
    multiply_add(jacobian_, G_.data(), -1.0, a, residual_gamma_.data());
    solve_once(residual_f_.data(), residual_gamma_.data(), residual_f_.data(), residual_gamma_.data());
    for (std::size_t i = 0; i < n_; ++i) a[i] += residual_f_[i];
    for (std::size_t j = 0; j < m_; ++j) lambda[j] += residual_gamma_[j];
  }
  inconsistency_ = inconsistency;
}

void DenseKkt::solve_once(const double* f, const double* gamma, double* a, double* lambda) {
  const std::size_t n = n_, m = m_, r = rank_;
  const bool redundant = r < m;
  double* w = w_.data();
  double* u = u_.data();
  double* z = z_.data();
  double* g = g_.data();
  std::copy(f, f + n, w);
  std::copy(gamma, gamma + m, g);
  if (redundant) {
    range_->apply_transposed(g);
    std::copy(g, g + r, u);
    range_->solve_upper(u);
    // What of gamma lies in the range of G: the shift must not feel the rest.
    std::fill(g + r, g + m, 0.0);
    range_->apply(g);
  } else {
    const std::vector<std::size_t>& order = qr_.order();
    for (std::size_t k = 0; k < m; ++k) u[k] = g[order[k]];
    qr_.solve_lower(u);
  }
  if (inexact_) std::copy(g, g + m, range_gamma_.begin());
  if (shifted_) {
    for (std::size_t j = 0; j < m; ++j) g[j] *= shift_[j];
    multiply_transposed_add(jacobian_, G_.data(), 1.0, g, w);
  }
  substitute_forward(w, shifted_ ? shifted_extent_ : mass_extent_);
  qr_.apply_transposed(w);
  for (std::size_t k = 0; k < r; ++k) {
    z[k] = w[k] - u[k];
    w[k] = u[k];
  }
  qr_.apply(w);
  substitute_backward(w, shifted_ ? shifted_extent_ : mass_extent_);
  if (redundant) {
    std::copy(gamma, gamma + m, g);
    multiply_add(jacobian_, G_.data(), -1.0, w, g);
    inconsistency_ = 0.0;
    for (std::size_t j = 0; j < m; ++j) inconsistency_ = std::max(inconsistency_, std::abs(g[j]));
    range_->solve_lower(z);
    std::fill(z + r, z + m, 0.0);
    range_->apply(z);
    std::copy(z, z + m, lambda);
  } else {
    qr_.solve_upper(z);
    const std::vector<std::size_t>& order = qr_.order();
    for (std::size_t k = 0; k < m; ++k) lambda[order[k]] = z[k];
  }
  std::copy(w, w + n, a);
}

}  // namespace daedalus::linalg
