// Coordinates: the columns of G in D, chosen by pivoting on G W^-1/2, make G_D well conditioned in the metric W; the others,
// I, are independent: B = E_I, C = E_D, D = E_I^T, so that y are the u_I, (13) of Fuehrer and Leimkuhler 1991.
//
// Tangent: with W^-1/2 G^T = Q (R, 0)^T and Q = (Q_1, Q_2), B = W^-1/2 Q_2 and D = Q_2^T W^1/2. Q stays a product of
// reflections; where the order of the unknowns follows the constraints these are short.
#include "daedalus/formulate/local_basis.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace daedalus::formulate {

namespace {

/// The unknowns in the order of the constraints that they occur in, on the average.
std::vector<std::size_t> order_by_rows(const linalg::Sparsity& rows) {
  std::vector<double> sum(rows.columns), count(rows.columns);
  for (std::size_t i = 0; i < rows.rows; ++i)
    for (std::size_t k = rows.row_start[i]; k < rows.row_start[i + 1]; ++k) {
      sum[rows.column[k]] += static_cast<double>(i);
      count[rows.column[k]] += 1.0;
    }
  for (std::size_t j = 0; j < sum.size(); ++j)
    if (count[j] > 0.0) sum[j] /= count[j];
  std::vector<std::size_t> order(rows.columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return sum[a] < sum[b]; });
  return order;
}

}  // namespace

LocalBasis::LocalBasis(Kind kind, linalg::Sparsity rows)
    : kind_(kind),
      rows_(std::move(rows)),
      n_(rows_.columns),
      r_(rows_.rows),
      place_(n_),
      root_(n_, 1.0),
      normal_values_(kind == Kind::tangent ? rows_.nonzeros() : r_, 1.0),
      column_(n_),
      difference_(n_ - r_) {
  if (kind == Kind::tangent) {
    order_ = order_by_rows(rows_);
    qr_.emplace(r_, n_);
    normal_ = rows_;
  } else {
    order_.resize(n_);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    columns_.emplace(rows_);
    normal_ = {r_, n_, {}, std::vector<std::size_t>(r_)};
    for (std::size_t b = 0; b <= r_; ++b) normal_.row_start.push_back(b);
  }
  for (std::size_t i = 0; i < n_; ++i) place_[order_[i]] = i;
}

bool LocalBasis::choose(const double* G, const double* W) {
  for (std::size_t j = 0; j < n_; ++j) root_[j] = std::sqrt(W[j]);
  if (kind_ == Kind::coordinates) {
    const std::vector<std::size_t>& dependent = columns_->choose(G, root_.data());
    if (dependent.size() < r_) return false;
    auto next = std::ranges::copy(dependent, order_.begin()).out;
    for (std::size_t j = 0, d = 0; j < n_; ++j) {
      if (d < r_ && dependent[d] == j)
        ++d;
      else
        *next++ = j;
    }
    std::ranges::copy(dependent, normal_.column.begin());
    for (std::size_t i = 0; i < n_; ++i) place_[order_[i]] = i;
    return true;
  }
  for (std::size_t a = 0; a < r_; ++a) {
    double* vector = qr_->clear(a);
    std::size_t begin = n_, end = 0;
    for (std::size_t k = rows_.row_start[a]; k < rows_.row_start[a + 1]; ++k) {
      const std::size_t j = rows_.column[k], i = place_[j];
      vector[i] = G[k] / root_[j];
      normal_values_[k] = G[k] / W[j];
      begin = std::min(begin, i);
      end = std::max(end, i + 1);
    }
    qr_->set_support(a, begin, end);
  }
  return qr_->factor(r_, 0.0, 0.0) == r_;
}

void LocalBasis::take(const double* u, double* y) {
  if (kind_ == Kind::coordinates) {
    for (std::size_t k = 0; k < size(); ++k) y[k] = u[order_[r_ + k]];
    return;
  }
  for (std::size_t i = 0; i < n_; ++i) column_[i] = root_[order_[i]] * u[order_[i]];
  qr_->apply_transposed(column_.data());
  std::copy_n(column_.begin() + static_cast<std::ptrdiff_t>(r_), size(), y);
}

void LocalBasis::add(const double* y, double* u) {
  if (kind_ == Kind::coordinates) {
    for (std::size_t k = 0; k < size(); ++k) u[order_[r_ + k]] += y[k];
    return;
  }
  std::fill_n(column_.begin(), r_, 0.0);
  std::copy_n(y, size(), column_.begin() + static_cast<std::ptrdiff_t>(r_));
  qr_->apply(column_.data());
  for (std::size_t i = 0; i < n_; ++i) u[order_[i]] += column_[i] / root_[order_[i]];
}

void LocalBasis::move(const double* from, const double* to, double* u) {
  if (kind_ == Kind::coordinates) {
    for (std::size_t k = 0; k < size(); ++k) u[order_[r_ + k]] = to[k];
    return;
  }
  for (std::size_t k = 0; k < size(); ++k) difference_[k] = to[k] - from[k];
  add(difference_.data(), u);
}

void LocalBasis::find_direction(std::size_t k) {
  std::fill(column_.begin(), column_.end(), 0.0);
  column_[r_ + k] = 1.0;
  qr_->apply(column_.data());
}

void LocalBasis::magnitudes(const double* u, double* y) {
  for (std::size_t k = 0; k < size(); ++k) {
    if (kind_ == Kind::coordinates) {
      y[k] = std::abs(u[order_[r_ + k]]);
      continue;
    }
    find_direction(k);
    double sum = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double term = column_[i] * root_[order_[i]] * u[order_[i]];
      sum += term * term;
    }
    y[k] = std::sqrt(sum);
  }
}

void LocalBasis::bounds(const double* bound, double* y) {
  for (std::size_t k = 0; k < size(); ++k) {
    if (kind_ == Kind::coordinates) {
      y[k] = bound[order_[r_ + k]];
      continue;
    }
    find_direction(k);
    double sum = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double ratio = column_[i] / (root_[order_[i]] * bound[order_[i]]);
      sum += ratio * ratio;
    }
    y[k] = 1.0 / std::sqrt(sum);
  }
}

std::size_t LocalBasis::nearest(std::size_t k) {
  if (kind_ == Kind::coordinates) return order_[r_ + k];
  find_direction(k);
  std::size_t best = 0;
  for (std::size_t i = 1; i < n_; ++i)
    if (std::abs(column_[i]) * root_[order_[best]] > std::abs(column_[best]) * root_[order_[i]]) best = i;
  return order_[best];
}

}  // namespace daedalus::formulate
