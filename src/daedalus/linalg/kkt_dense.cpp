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

// Measures of definiteness, see EnvelopeCholesky. Below `sound` M + G^T S G is tried, which may be better conditioned.
constexpr double sound_pivot = 1e-4;
constexpr double inexact_pivot = 1e-6;  // below it solutions are corrected

// Ratio of square roots of masses from which the rows of Y count as being of different size: the QR would lose as much.
constexpr double uneven = 100.0;

}  // namespace

DenseKkt::DenseKkt(const Sparsity& mass, const Sparsity& jacobian)
    : mass_(mass),
      jacobian_(jacobian),
      n_(mass.rows),
      m_(jacobian.rows),
      M_(mass.nonzeros()),
      G_(jacobian.nonzeros()),
      mass_factor_(extents_of(mass)),
      shifted_factor_(extents_of(mass, jacobian)),
      U_(&mass_factor_),
      row_mass_(m_),
      shift_(m_),
      rows_(m_, n_),
      w_(n_),
      u_(m_),
      z_(m_),
      g_(m_),
      right_f_(n_),
      right_gamma_(m_),
      residual_f_(n_),
      residual_gamma_(m_),
      range_gamma_(m_) {
  dependent_rows_.reserve(m_);
}

double DenseKkt::estimate_operations(const Sparsity& mass, const Sparsity& jacobian) {
  const EnvelopeCholesky factor(extents_of(mass));
  const double n = static_cast<double>(mass.rows), m = static_cast<double>(jacobian.rows);
  double cholesky = 0.0, substitution = 0.0;
  for (std::size_t k = 0; k < factor.size(); ++k) {
    const double width = static_cast<double>(factor.extent(k) - k);
    cholesky += width * width;
    substitution += 2.0 * width;
  }
  return cholesky + m * substitution + 2.0 * m * m * std::max(n - m / 3.0, 0.0);
}

// Tries M + G^T S G. Larger multiples are for an indefinite M, which needs S above a bound that is not known beforehand.
double DenseKkt::factor_shifted() {
  row_masses(mass_, M_.data(), jacobian_, G_.data(), row_mass_.data());
  double best = 0.0, best_multiple = 0.0, loaded = 0.0;
  const auto attempt = [&](double multiple) {
    for (std::size_t j = 0; j < m_; ++j) shift_[j] = multiple * row_mass_[j];
    shifted_factor_.clear();
    shifted_factor_.add(mass_, M_.data());
    shifted_factor_.add_squares(jacobian_, G_.data(), shift_.data());
    loaded = multiple;
    return shifted_factor_.factor();
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

void DenseKkt::form_rows() {
  for (std::size_t j = 0; j < m_; ++j) {
    double* y = rows_.clear(j);
    const std::size_t first = jacobian_.row_start[j], last = jacobian_.row_start[j + 1];
    if (first == last) continue;
    for (std::size_t k = first; k < last; ++k) y[jacobian_.column[k]] = G_[k];
    const std::size_t begin = jacobian_.column[first];
    rows_.set_support(j, begin, U_->substitute_forward(y, begin, jacobian_.column[last - 1] + 1));
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
    mass_factor_.clear();
    mass_factor_.add(mass_, M_.data());
    mass_quality_ = mass_factor_.factor();
  }
  known_ = true;
  return outcome_ = decide();
}

KktOutcome DenseKkt::decide() {
  double quality = mass_quality_;
  U_ = &mass_factor_;
  if (!(quality > singular_pivot(n_))) mass_was_singular_ = true;
  if ((quality < sound_pivot || mass_was_singular_) && m_ > 0) {
    const double shifted_quality = factor_shifted();
    // The last pivot of a singular M is round-off over the smallest sound pivot: it may look better than it is.
    if (shifted_quality >= mass_quality_ || mass_was_singular_) {
      quality = shifted_quality;
      U_ = &shifted_factor_;
    }
  }
  if (n_ > 0 && !(quality > singular_pivot(n_))) return KktOutcome::singular_mass;
  inexact_ = quality < inexact_pivot;
  if (m_ == 0) return KktOutcome::regular;

  form_rows();
  if (m_ == 1 && !inexact_) {
    const HouseholderQr& qr = rows_.qr();
    const double* y = qr.vector(0) + qr.begin(0);
    single_square_ = dot(y, y, qr.end(0) - qr.begin(0));
    if (single_square_ > 0.0) {
      rank_ = 1;
      return KktOutcome::regular;
    }
  }
  // Substitution with U loses about 1/sqrt(quality) more than round-off.
  const double loss = quality < 1.0 ? std::min(1e3, 1.0 / std::sqrt(quality)) : 1.0;
  const auto [least, most] = std::ranges::minmax_element(U_->inverses());
  using Rows = HouseholderQr::Rows;
  const Rows rows = n_ > 0 && *most > uneven * *least ? Rows::largest_first : Rows::as_given;
  rank_ = rows_.factor(loss * rank_tolerance(m_, n_), rows);
  if (rank_ == m_) return KktOutcome::regular;
  dependent_rows_ = rows_.dependent_rows();
  return KktOutcome::redundant;
}

// One column needs no reflection: b = w - y lambda with lambda = (y^T w - gamma) / y^T y.
void DenseKkt::solve_single(const double* f, const double* gamma, double* a, double* lambda) {
  double* w = w_.data();
  for (std::size_t i = 0; i < n_; ++i) w[i] = f[i];
  if (shifted()) multiply_transposed_add(jacobian_, G_.data(), shift_[0], gamma, w);
  U_->substitute_forward(w);
  const HouseholderQr& qr = rows_.qr();
  const double* y = qr.vector(0) + qr.begin(0);
  const std::size_t length = qr.end(0) - qr.begin(0);
  const double multiplier = (dot(y, w + qr.begin(0), length) - gamma[0]) / single_square_;
  add_multiple(-multiplier, y, w + qr.begin(0), length);
  U_->substitute_backward(w);
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
  rows_.coordinates(g, u);  // what remains of gamma lies in the range of G: the shift must not feel the rest
  if (inexact_) std::copy(g, g + m, range_gamma_.begin());
  if (shifted()) {
    for (std::size_t j = 0; j < m; ++j) g[j] *= shift_[j];
    multiply_transposed_add(jacobian_, G_.data(), 1.0, g, w);
  }
  U_->substitute_forward(w);
  rows_.qr().apply_transposed(w);
  for (std::size_t k = 0; k < r; ++k) {
    z[k] = w[k] - u[k];
    w[k] = u[k];
  }
  rows_.qr().apply(w);
  U_->substitute_backward(w);
  if (redundant) {
    std::copy(gamma, gamma + m, g);
    multiply_add(jacobian_, G_.data(), -1.0, w, g);
    inconsistency_ = 0.0;
    for (std::size_t j = 0; j < m; ++j) inconsistency_ = std::max(inconsistency_, std::abs(g[j]));
  }
  rows_.multipliers(z, lambda);
  std::copy(w, w + n, a);
}

}  // namespace daedalus::linalg
