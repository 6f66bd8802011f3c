// With a_free = M^-1 f and any M = L L^T the motion is
//     a = a_free + L^-T (G L^-T)^+ (gamma - G a_free):
// F. E. Udwadia and R. E. Kalaba, A new perspective on constrained motion, Proc. R. Soc. Lond. A 439 (1992) 407-410,
// who write L = M^1/2; the factor of Cholesky gives the same a, since both measure |L^T a|^2 = a^T M a. For a singular
// M
//     a = [ (I - G^+ G) M ]^+ [ f     ]
//         [       G       ]   [ gamma ]
// (F. E. Udwadia and P. Phohomsiri, Explicit equations of motion for constrained mechanical systems with singular mass
// matrices and applications to multi-body dynamics, Proc. R. Soc. A 462 (2006) 2097-2117, (2.24)). The two blocks may
// be multiplied by any orthonormal and regular matrices: here the first is Q2^T M a = Q2^T f with a basis Q2 of ker G,
// the second s Q1^T a = s u with one of its complement, s the size of M, which makes the matrix square. Multipliers of
// least norm: lambda = (G^T)^+ (f - M a).
#include "daedalus/linalg/kkt_pseudoinverse.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/linalg/dense_kernels.hpp"
#include "daedalus/linalg/row_selection.hpp"

namespace daedalus::linalg {

namespace {
constexpr double sound_pivot = 1e-6;  // measure of definiteness of M below which the extended form is the better one
}  // namespace

PseudoinverseKkt::PseudoinverseKkt(const Sparsity& mass, const Sparsity& jacobian)
    : mass_(mass),
      jacobian_(jacobian),
      n_(mass.rows),
      m_(jacobian.rows),
      M_(mass.nonzeros()),
      G_(jacobian.nonzeros()),
      U_(extents_of(mass)),
      rows_(m_, n_),
      g_(m_),
      u_(m_),
      z_(m_),
      b_(n_),
      f_(n_) {}

void PseudoinverseKkt::limit_rank(std::size_t most) {
  most_ = most;
  known_ = false;
}

KktOutcome PseudoinverseKkt::factor(const double* M, const double* G) {
  if (known_ && same_bits(M, M_.data(), M_.size()) && same_bits(G, G_.data(), G_.size())) return outcome_;
  known_ = false;
  inconsistency_ = 0.0;
  dependent_rows_.clear();
  if (!all_finite(M, M_.size()) || !all_finite(G, G_.size())) return outcome_ = KktOutcome::not_finite;
  std::copy_n(M, M_.size(), M_.begin());
  std::copy_n(G, G_.size(), G_.begin());
  known_ = true;
  return outcome_ = decide();
}

KktOutcome PseudoinverseKkt::decide() {
  if (!extended_) {
    U_.clear();
    U_.add(mass_, M_.data());
    extended_ = !(U_.factor() > sound_pivot);
    if (extended_) U_ = EnvelopeCholesky(extents_of(mass_, jacobian_));
  }
  for (std::size_t j = 0; j < m_; ++j) {
    double* row = rows_.clear(j);
    const std::size_t first = jacobian_.row_start[j], last = jacobian_.row_start[j + 1];
    if (first == last) continue;
    for (std::size_t k = first; k < last; ++k) row[jacobian_.column[k]] = G_[k];
    const std::size_t begin = jacobian_.column[first], end = jacobian_.column[last - 1] + 1;
    rows_.set_support(j, begin, extended_ ? end : U_.substitute_forward(row, begin, end));
  }
  rows_.factor(rank_tolerance(m_, n_), HouseholderQr::Rows::largest_first, most_);
  if (extended_ && !factor_extended()) return KktOutcome::singular_mass;
  if (rank() == m_) return KktOutcome::regular;
  dependent_rows_ = rows_.dependent_rows();
  return KktOutcome::redundant;
}

/// M is definite on ker G where M + s G^T G is definite for some s.
bool PseudoinverseKkt::is_definite() {
  row_masses(mass_, M_.data(), jacobian_, G_.data(), z_.data());
  for (int attempt = 0; attempt < 3; ++attempt) {
    U_.clear();
    U_.add(mass_, M_.data());
    U_.add_squares(jacobian_, G_.data(), z_.data());
    if (U_.factor() > singular_pivot(n_)) return true;
    for (double& weight : z_) weight *= 1e3;
  }
  return false;
}

bool PseudoinverseKkt::factor_extended() {
  if (!is_definite()) return false;
  if (!whole_) whole_ = std::make_unique<HouseholderQr>(n_, n_);
  scale_ = 0.0;
  for (const double entry : M_) scale_ = std::max(scale_, std::abs(entry));
  if (scale_ == 0.0) scale_ = 1.0;
  for (std::size_t c = 0; c < n_; ++c) {
    double* column = whole_->clear(c);
    // M is symmetric: its rows are its columns.
    for (std::size_t k = mass_.row_start[c]; k < mass_.row_start[c + 1]; ++k) column[mass_.column[k]] = M_[k];
    rows_.qr().apply_transposed(column);
    std::fill(b_.begin(), b_.end(), 0.0);
    b_[c] = scale_;
    rows_.qr().apply_transposed(b_.data());
    std::copy_n(b_.begin(), rank(), column);
    whole_->set_support(c, 0, n_);
  }
  return whole_->factor(n_, rank_tolerance(n_, n_), 0.5, HouseholderQr::Rows::largest_first) == n_;
}

void PseudoinverseKkt::solve(const double* f, const double* gamma, double* a, double* lambda) {
  std::copy_n(f, n_, f_.begin());
  std::copy_n(gamma, m_, g_.begin());
  if (extended_)
    solve_extended(a);
  else
    solve_regular(a);
  rows_.multipliers(z_.data(), lambda);
}

/// The coordinates u in the row space of what is asked of the constraints, g_, which loses what they cannot give.
void PseudoinverseKkt::find_coordinates() {
  std::copy(g_.begin(), g_.end(), z_.begin());
  rows_.coordinates(g_.data(), u_.data());
  inconsistency_ = 0.0;
  if (rank() == m_) return;
  for (std::size_t j = 0; j < m_; ++j) inconsistency_ = std::max(inconsistency_, std::abs(z_[j] - g_[j]));
}

void PseudoinverseKkt::solve_regular(double* a) {
  std::copy(f_.begin(), f_.end(), a);
  U_.solve(a);  // a_free
  multiply_add(jacobian_, G_.data(), -1.0, a, g_.data());
  find_coordinates();
  std::fill(b_.begin(), b_.end(), 0.0);
  std::copy_n(u_.begin(), rank(), b_.begin());
  rows_.qr().apply(b_.data());
  U_.substitute_backward(b_.data());
  for (std::size_t i = 0; i < n_; ++i) a[i] += b_[i];
  for (std::size_t k = 0; k < rank(); ++k) z_[k] = -u_[k];  // L^-1 (f - M a) = -(G L^-T)^+ (gamma - G a_free)
}

void PseudoinverseKkt::solve_extended(double* a) {
  find_coordinates();
  b_ = f_;
  rows_.qr().apply_transposed(b_.data());
  for (std::size_t k = 0; k < rank(); ++k) b_[k] = scale_ * u_[k];
  whole_->apply_transposed(b_.data());
  whole_->solve_upper(b_.data());
  for (std::size_t k = 0; k < n_; ++k) a[whole_->order()[k]] = b_[k];
  multiply_add(mass_, M_.data(), -1.0, a, f_.data());
  rows_.qr().apply_transposed(f_.data());
  std::copy_n(f_.begin(), rank(), z_.begin());
}

}  // namespace daedalus::linalg
