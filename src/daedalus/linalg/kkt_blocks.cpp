// lambda = H^-1 (G M^-1 f - gamma),   a = M^-1 (f - G^T lambda),   H = G M^-1 G^T = sum over blocks b of Y_b^T Y_b,
// M_b = L_b L_b^T,   Y_b = L_b^-1 G_b^T. What the squares in H lose is brought back by corrections with the residual.
#include "daedalus/linalg/kkt_blocks.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/linalg/dense_kernels.hpp"

namespace daedalus::linalg {

namespace {

constexpr std::size_t largest_block = 30;
constexpr double sound = 1e-4;     // smallest relative pivot of H below which solutions are corrected
constexpr double singular = 1e-9;  // and below which it is not used
constexpr double massless = 1e-4;  // smallest relative pivot of a block of M: that of a quaternion has a massless direction
constexpr auto left_out = static_cast<std::size_t>(-1);

/// The block of each coordinate: coordinates that share an entry of M are in one.
std::vector<std::size_t> blocks_of(const Sparsity& mass, std::vector<std::size_t>& sizes) {
  std::vector<std::size_t> block(mass.rows, left_out), waiting;
  for (std::size_t first = 0; first < mass.rows; ++first) {
    if (block[first] != left_out) continue;
    block[first] = sizes.size();
    sizes.push_back(0);
    waiting.assign(1, first);
    while (!waiting.empty()) {
      const std::size_t i = waiting.back();
      waiting.pop_back();
      ++sizes.back();
      for (std::size_t k = mass.row_start[i]; k < mass.row_start[i + 1]; ++k) {
        std::size_t& other = block[mass.column[k]];
        if (other != left_out) continue;
        other = block[first];
        waiting.push_back(mass.column[k]);
      }
    }
  }
  return block;
}

}  // namespace

bool BlockKkt::fits(const Sparsity& mass) {
  std::vector<std::size_t> sizes;
  blocks_of(mass, sizes);
  return !sizes.empty() && *std::max_element(sizes.begin(), sizes.end()) <= largest_block;
}

BlockKkt::BlockKkt(const Sparsity& mass, const Sparsity& jacobian)
    : mass_(mass),
      jacobian_(jacobian),
      n_(mass.rows),
      m_(jacobian.rows),
      M_(mass.nonzeros()),
      G_(jacobian.nonzeros()),
      residual_f_(n_),
      residual_gamma_(m_),
      given_f_(n_),
      given_gamma_(m_),
      right_f_(n_) {
  std::vector<std::size_t> sizes;
  const std::vector<std::size_t> block_of = blocks_of(mass, sizes);
  blocks_.resize(sizes.size());
  block_.resize(sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end()));
  std::size_t at = 0, factors = 0;
  for (std::size_t b = 0; b < sizes.size(); ++b) {
    blocks_[b].at = at;
    blocks_[b].factors = factors;
    at += sizes[b];
    factors += sizes[b] * sizes[b];
  }
  coordinates_.resize(n_);
  L_.resize(factors);
  std::vector<std::size_t> within(n_);
  for (std::size_t i = 0; i < n_; ++i) {
    Block& block = blocks_[block_of[i]];
    within[i] = block.size;
    coordinates_[block.at + block.size++] = i;
  }
  mass_place_.assign(mass.nonzeros(), left_out);
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t k = mass.row_start[i]; k < mass.row_start[i + 1]; ++k)
      if (const Block& block = blocks_[block_of[i]]; within[mass.column[k]] <= within[i])
        mass_place_[k] = block.factors + within[i] * block.size + within[mass.column[k]];

  std::vector<std::vector<std::size_t>> touching(blocks_.size());
  for (std::size_t j = 0; j < m_; ++j)
    for (std::size_t k = jacobian.row_start[j]; k < jacobian.row_start[j + 1]; ++k) {
      std::vector<std::size_t>& rows = touching[block_of[jacobian.column[k]]];
      if (rows.empty() || rows.back() != j) rows.push_back(j);
    }
  std::size_t parts = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    block.rows = rows_.size();
    block.row_count = touching[b].size();
    block.parts = parts;
    rows_.insert(rows_.end(), touching[b].begin(), touching[b].end());
    parts += block.row_count * block.size;
  }
  Y_.resize(parts);
  jacobian_place_.resize(jacobian.nonzeros());
  for (std::size_t j = 0; j < m_; ++j)
    for (std::size_t k = jacobian.row_start[j]; k < jacobian.row_start[j + 1]; ++k) {
      const std::size_t b = block_of[jacobian.column[k]];
      const auto which = static_cast<std::size_t>(std::lower_bound(touching[b].begin(), touching[b].end(), j) - touching[b].begin());
      jacobian_place_[k] = blocks_[b].parts + which * blocks_[b].size + within[jacobian.column[k]];
    }

  std::vector<std::vector<std::size_t>> beside(m_);
  for (const auto& rows : touching)
    for (const std::size_t i : rows) beside[i].insert(beside[i].end(), rows.begin(), rows.end());
  Sparsity pattern{m_, m_, {0}, {}};
  for (std::vector<std::size_t>& row : beside) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    pattern.column.insert(pattern.column.end(), row.begin(), row.end());
    pattern.row_start.push_back(pattern.column.size());
  }
  H_ = std::make_unique<SupernodalCholesky>(pattern);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    block.pairs = pairs_.size();
    for (std::size_t p = 0; p < block.row_count; ++p)
      for (std::size_t q = 0; q <= p; ++q) pairs_.push_back(H_->place(touching[b][p], touching[b][q]));
    products_ += static_cast<double>((pairs_.size() - block.pairs) * block.size + block.row_count * block.size * block.size);
  }
}

double BlockKkt::estimate_cost() const { return 1.5 * H_->operations() + 10.0 * H_->nonzeros() + 4.0 * products_; }

bool BlockKkt::factor_masses() {
  masses_factored_ = true;
  std::fill(L_.begin(), L_.end(), 0.0);
  for (std::size_t k = 0; k < mass_place_.size(); ++k)
    if (mass_place_[k] != left_out) L_[mass_place_[k]] = M_[k];
  for (const Block& block : blocks_) {
    const std::size_t s = block.size;
    double* L = L_.data() + block.factors;
    for (std::size_t i = 0; i < s; ++i) {
      double* row = L + i * s;
      const double diagonal = row[i];
      for (std::size_t j = 0; j < i; ++j) row[j] = (row[j] - dot(row, L + j * s, j)) / L[j * s + j];
      const double pivot = diagonal - dot(row, row, i);
      if (!(diagonal > 0.0) || !(pivot > massless * diagonal)) {
        masses_factored_ = false;
        return false;
      }
      row[i] = std::sqrt(pivot);
    }
  }
  return true;
}

bool BlockKkt::factor_products() {
  std::fill(Y_.begin(), Y_.end(), 0.0);
  for (std::size_t k = 0; k < G_.size(); ++k) Y_[jacobian_place_[k]] = G_[k];
  H_->clear();
  for (const Block& block : blocks_) {
    const std::size_t s = block.size;
    const double* L = L_.data() + block.factors;
    const std::size_t* pair = pairs_.data() + block.pairs;
    for (std::size_t p = 0; p < block.row_count; ++p) {
      double* y = Y_.data() + block.parts + p * s;
      for (std::size_t i = 0; i < s; ++i) y[i] = (y[i] - dot(L + i * s, y, i)) / L[i * s + i];
      for (std::size_t q = 0; q <= p; ++q) H_->add(*pair++, dot(y, Y_.data() + block.parts + q * s, s));
    }
  }
  const double quality = H_->factor();
  inexact_ = quality < sound;
  return quality > singular;
}

KktOutcome BlockKkt::factor(const double* M, const double* G) {
  if (known_ && same_bits(M, M_.data(), M_.size()) && same_bits(G, G_.data(), G_.size())) return outcome_;
  known_ = direct_ = false;
  if (!all_finite(M, M_.size()) || !all_finite(G, G_.size())) return outcome_ = KktOutcome::not_finite;
  const bool same_mass = masses_factored_ && same_bits(M, M_.data(), M_.size());
  std::copy_n(M, M_.size(), M_.begin());
  std::copy_n(G, G_.size(), G_.begin());
  known_ = true;
  if ((same_mass || factor_masses()) && factor_products()) return outcome_ = KktOutcome::regular;
  direct_ = true;
  if (!sparse_) sparse_ = std::make_unique<SparseKkt>(mass_, jacobian_);
  return outcome_ = sparse_->factor(M, G);
}

void BlockKkt::solve_masses(double* x) const {
  for (const Block& block : blocks_) {
    const std::size_t s = block.size;
    const double* L = L_.data() + block.factors;
    const std::size_t* at = coordinates_.data() + block.at;
    for (std::size_t i = 0; i < s; ++i) block_[i] = (x[at[i]] - dot(L + i * s, block_.data(), i)) / L[i * s + i];
    for (std::size_t i = s; i-- > 0;) {
      double sum = block_[i];
      for (std::size_t j = i + 1; j < s; ++j) sum -= L[j * s + i] * block_[j];
      block_[i] = sum / L[i * s + i];
    }
    for (std::size_t i = 0; i < s; ++i) x[at[i]] = block_[i];
  }
}

/// Replaces f by a and gamma by lambda.
void BlockKkt::solve_once(double* f, double* gamma) {
  solve_masses(f);  // M^-1 f
  for (std::size_t j = 0; j < m_; ++j) gamma[j] = -gamma[j];
  multiply_add(jacobian_, G_.data(), 1.0, f, gamma);
  H_->solve(gamma);
  std::fill(right_f_.begin(), right_f_.end(), 0.0);
  multiply_transposed_add(jacobian_, G_.data(), 1.0, gamma, right_f_.data());
  solve_masses(right_f_.data());
  for (std::size_t i = 0; i < n_; ++i) f[i] -= right_f_[i];
}

void BlockKkt::solve(const double* f, const double* gamma, double* a, double* lambda) {
  if (direct_) {
    sparse_->solve(f, gamma, a, lambda);
    return;
  }
  if (inexact_) {
    std::copy_n(f, n_, given_f_.begin());
    std::copy_n(gamma, m_, given_gamma_.begin());
  }
  if (a != f) std::copy_n(f, n_, a);
  if (lambda != gamma) std::copy_n(gamma, m_, lambda);
  solve_once(a, lambda);
  for (int correction = 0; correction < (inexact_ ? 3 : 0); ++correction) {
    residual_f_ = given_f_;
    residual_gamma_ = given_gamma_;
    multiply_add(mass_, M_.data(), -1.0, a, residual_f_.data());
    multiply_transposed_add(jacobian_, G_.data(), -1.0, lambda, residual_f_.data());
    multiply_add(jacobian_, G_.data(), -1.0, a, residual_gamma_.data());
    solve_once(residual_f_.data(), residual_gamma_.data());
    for (std::size_t i = 0; i < n_; ++i) a[i] += residual_f_[i];
    for (std::size_t j = 0; j < m_; ++j) lambda[j] += residual_gamma_[j];
  }
}

}  // namespace daedalus::linalg
