// lambda = H^-1 (G M^-1 f - gamma),   a = M^-1 (f - G^T lambda),   H = G M^-1 G^T = Y^T Y,   M = U^T U,   Y = U^-T G^T:
// the multipliers eliminated first, as in (8), (9) of Fuehrer and Leimkuhler 1991 and (A.1) of the notes 000.
//
// H has the squared condition of Y: what is lost is brought back by iterative refinement down to rows that differ by
// 1e-5 of their length; below that the complete orthogonal decomposition of DenseKkt takes over, and finds redundant
// rows. Where M is singular, M + G^T S G takes its place with f + G^T S gamma, which changes nothing on G a = gamma.
#include "daedalus/linalg/kkt_schur.hpp"

#include <algorithm>

#include "daedalus/linalg/dense_kernels.hpp"

namespace daedalus::linalg {

namespace {

constexpr double sound = 1e-4;      // measure of definiteness of H below which solutions are corrected
constexpr double singular = 1e-10;  // and below which they cannot be

}  // namespace

SchurKkt::SchurKkt(const Sparsity& mass, const Sparsity& jacobian)
    : mass_(mass),
      jacobian_(jacobian),
      n_(mass.rows),
      m_(jacobian.rows),
      M_(mass.nonzeros()),
      G_(jacobian.nonzeros()),
      shift_(m_),
      U_(extents_of(mass)),
      H_({}),
      w_(n_),
      right_f_(n_),
      right_gamma_(m_),
      residual_f_(n_),
      residual_gamma_(m_) {
  lay_out(U_);
}

/// Row j of Y^T reaches from the first column of row j of G to where substitution fills it; rows that overlap have a
/// product in H.
void SchurKkt::lay_out(const EnvelopeCholesky& U) {
  begin_.clear();
  start_.assign(1, 0);
  for (std::size_t j = 0; j < m_; ++j) {
    const std::size_t first = jacobian_.row_start[j], last = jacobian_.row_start[j + 1];
    begin_.push_back(first < last ? jacobian_.column[first] : 0);
    std::size_t row_end = first < last ? jacobian_.column[last - 1] + 1 : 0;
    for (std::size_t k = begin_[j]; k < row_end; ++k) row_end = std::max(row_end, U.extent(k));
    start_.push_back(start_.back() + row_end - begin_[j]);
  }
  Y_.resize(start_.back());
  std::vector<std::size_t> extent(m_);
  for (std::size_t i = 0; i < m_; ++i) {
    extent[i] = i + 1;
    for (std::size_t j = i + 1; j < m_; ++j)
      if (begin_[j] < end(i) && begin_[i] < end(j)) extent[i] = j + 1;
  }
  H_ = EnvelopeCholesky(std::move(extent));
}

KktOutcome SchurKkt::factor(const double* M, const double* G) {
  if (known_ && same_bits(M, M_.data(), M_.size()) && same_bits(G, G_.data(), G_.size())) return outcome_;
  known_ = direct_ = false;
  if (!all_finite(M, M_.size()) || !all_finite(G, G_.size())) return outcome_ = KktOutcome::not_finite;
  std::copy_n(M, M_.size(), M_.begin());
  std::copy_n(G, G_.size(), G_.begin());
  known_ = true;
  if (factor_mass() && factor_schur()) return outcome_ = KktOutcome::regular;
  direct_ = true;
  if (!dense_) dense_ = std::make_unique<DenseKkt>(mass_, jacobian_);
  return outcome_ = dense_->factor(M, G);
}

bool SchurKkt::factor_mass() {
  if (!shifted_) {
    U_.clear();
    U_.add(mass_, M_.data());
    if (U_.factor() > singular_pivot(n_)) return true;
    shifted_ = true;  // at one point of the trajectory; then everywhere, up to round-off
    U_ = EnvelopeCholesky(extents_of(mass_, jacobian_));
    lay_out(U_);
  }
  row_masses(mass_, M_.data(), jacobian_, G_.data(), shift_.data());
  U_.clear();
  U_.add(mass_, M_.data());
  U_.add_squares(jacobian_, G_.data(), shift_.data());
  return U_.factor() > singular_pivot(n_);
}

bool SchurKkt::factor_schur() {
  for (std::size_t j = 0; j < m_; ++j) {
    const std::size_t length = start_[j + 1] - start_[j];
    std::fill_n(w_.begin() + static_cast<std::ptrdiff_t>(begin_[j]), length, 0.0);
    for (std::size_t k = jacobian_.row_start[j]; k < jacobian_.row_start[j + 1]; ++k) w_[jacobian_.column[k]] = G_[k];
    if (length > 0) U_.substitute_forward(w_.data(), begin_[j], begin_[j] + length);
    std::copy_n(w_.data() + begin_[j], length, Y_.data() + start_[j]);
  }
  H_.clear();
  for (std::size_t i = 0; i < m_; ++i) {
    double* row = H_.row(i);
    for (std::size_t j = i; j < H_.extent(i); ++j) {
      const std::size_t from = std::max(begin_[i], begin_[j]), to = std::min(end(i), end(j));
      if (from < to)
        row[j - i] = dot(Y_.data() + start_[i] + from - begin_[i], Y_.data() + start_[j] + from - begin_[j], to - from);
    }
  }
  const double quality = H_.factor();
  inexact_ = quality < sound;
  return quality > singular;
}

void SchurKkt::solve(const double* f, const double* gamma, double* a, double* lambda) {
  if (direct_) {
    dense_->solve(f, gamma, a, lambda);
    return;
  }
  std::copy_n(f, n_, right_f_.begin());
  std::copy_n(gamma, m_, right_gamma_.begin());
  solve_once(right_f_.data(), right_gamma_.data(), a, lambda);
  for (int correction = 0; correction < (inexact_ ? 2 : 0); ++correction) {
    residual_f_ = right_f_;
    residual_gamma_ = right_gamma_;
    multiply_add(mass_, M_.data(), -1.0, a, residual_f_.data());
    multiply_transposed_add(jacobian_, G_.data(), -1.0, lambda, residual_f_.data());
    multiply_add(jacobian_, G_.data(), -1.0, a, residual_gamma_.data());
    solve_once(residual_f_.data(), residual_gamma_.data(), residual_f_.data(), residual_gamma_.data());
    for (std::size_t i = 0; i < n_; ++i) a[i] += residual_f_[i];
    for (std::size_t j = 0; j < m_; ++j) lambda[j] += residual_gamma_[j];
  }
}

/// `a` and `lambda` may be `f` and `gamma`.
void SchurKkt::solve_once(const double* f, const double* gamma, double* a, double* lambda) {
  if (a != f) std::copy_n(f, n_, a);
  if (shifted_)
    for (std::size_t j = 0; j < m_; ++j)
      for (std::size_t k = jacobian_.row_start[j]; k < jacobian_.row_start[j + 1]; ++k)
        a[jacobian_.column[k]] += G_[k] * shift_[j] * gamma[j];
  std::copy_n(a, n_, w_.begin());
  U_.substitute_forward(w_.data());
  for (std::size_t j = 0; j < m_; ++j)
    lambda[j] = dot(Y_.data() + start_[j], w_.data() + begin_[j], start_[j + 1] - start_[j]) - gamma[j];
  H_.solve(lambda);
  multiply_transposed_add(jacobian_, G_.data(), -1.0, lambda, a);
  U_.solve(a);
}

}  // namespace daedalus::linalg
