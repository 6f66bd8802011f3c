// Golub and Van Loan, Matrix Computations, 4th ed., sections 5.4.2 and 5.4.7.
#include "daedalus/linalg/row_space.hpp"

#include <algorithm>

namespace daedalus::linalg {

RowSpace::RowSpace(std::size_t rows, std::size_t columns) : m_(rows), qr_(rows, columns) {}

std::size_t RowSpace::factor(double tolerance, HouseholderQr::Rows rows, std::size_t most) {
  const std::size_t r = qr_.factor(m_, tolerance, 0.5, rows, most);
  if (r == m_) return r;
  if (!range_) range_ = std::make_unique<HouseholderQr>(m_, m_);
  for (std::size_t i = 0; i < r; ++i) {
    double* t = range_->clear(i);
    for (std::size_t k = i; k < m_; ++k) t[qr_.order()[k]] = qr_.entry(i, k);
    range_->set_support(i, 0, m_);
  }
  range_->factor(r, 0.0, 0.0);
  return r;
}

std::vector<std::size_t> RowSpace::dependent_rows() const {
  std::vector<std::size_t> rows(qr_.order().begin() + static_cast<std::ptrdiff_t>(rank()), qr_.order().end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

void RowSpace::coordinates(double* g, double* u) const {
  const std::size_t r = rank();
  if (r == m_) {
    for (std::size_t k = 0; k < m_; ++k) u[k] = g[qr_.order()[k]];
    qr_.solve_lower(u);
    return;
  }
  range_->apply_transposed(g);
  std::copy(g, g + r, u);
  range_->solve_upper(u);
  std::fill(g + r, g + m_, 0.0);
  range_->apply(g);
}

void RowSpace::multipliers(double* z, double* lambda) const {
  const std::size_t r = rank();
  if (r == m_) {
    qr_.solve_upper(z);
    for (std::size_t k = 0; k < m_; ++k) lambda[qr_.order()[k]] = z[k];
    return;
  }
  range_->solve_lower(z);
  std::fill(z + r, z + m_, 0.0);
  range_->apply(z);
  std::copy(z, z + m_, lambda);
}

}  // namespace daedalus::linalg
