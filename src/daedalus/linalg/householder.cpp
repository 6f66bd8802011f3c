// Householder QR with column pivoting (Businger and Golub, Numer. Math. 7, 1965): H = I - tau v v^T with
// v = x - beta e_k, beta = -sign(x_k) |x|, tau = 1 / (beta^2 - beta x_k).
// Large rows first keeps badly scaled rows accurate (Cox and Higham, Stability of Householder QR factorization for
// weighted least squares problems, 1998).
// Remaining lengths are downdated and recomputed after cancellation (Drmac and Bujanovic, ACM TOMS 35, 2008).
#include "daedalus/linalg/householder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "daedalus/linalg/dense_kernels.hpp"

namespace daedalus::linalg {

namespace {
// sqrt of the unit round-off: below it a downdated square has lost half its digits.
constexpr double cancellation = 1.5e-8;
}  // namespace

HouseholderQr::HouseholderQr(std::size_t vectors, std::size_t length)
    : length_(length),
      entries_(vectors * length),
      diagonal_(vectors),
      tau_(vectors),
      remaining_(vectors),
      reference_(vectors),
      inverse_(vectors),
      order_(vectors),
      swap_(vectors),
      begin_(vectors),
      end_(vectors) {}

double* HouseholderQr::clear(std::size_t j) {
  double* x = entries_.data() + j * length_;
  std::fill(x, x + end_[j], 0.0);
  begin_[j] = end_[j] = 0;
  return x;
}

std::size_t HouseholderQr::factor(std::size_t count, double tolerance, double pivot_fraction, Rows rows,
                                  std::size_t most) {
  const double least = tolerance * tolerance;
  const double fraction = pivot_fraction * pivot_fraction;
  for (std::size_t j = 0; j < count; ++j) {
    order_[j] = j;
    const double* x = entries_.data() + j * length_;
    const double square = dot(x + begin_[j], x + begin_[j], end_[j] - begin_[j]);
    remaining_[j] = reference_[j] = square;
    inverse_[j] = square > 0.0 ? 1.0 / square : 0.0;
  }
  rank_ = 0;
  dropped_ = 0.0;
  double smallest = 1.0;
  const std::size_t possible = std::min(count, length_);
  most = std::min(most, possible);
  for (std::size_t k = 0; k < count; ++k) {
    double largest = 0.0;
    for (std::size_t i = k; i < count; ++i) {
      largest = std::max(largest, remaining_[order_[i]] * inverse_[order_[i]]);
    }
    if (k == most || !(largest > least)) {
      dropped_ = k == possible ? 0.0 : std::sqrt(largest);
      break;
    }
    std::size_t chosen = k;
    while (!(remaining_[order_[chosen]] * inverse_[order_[chosen]] >= fraction * largest)) ++chosen;
    // A rotation rather than a swap keeps the vectors not yet chosen in their given order.
    if (chosen != k) {
      std::rotate(order_.begin() + static_cast<std::ptrdiff_t>(k), order_.begin() + static_cast<std::ptrdiff_t>(chosen),
                  order_.begin() + static_cast<std::ptrdiff_t>(chosen) + 1);
    }
    const std::size_t p = order_[k];
    double* v = entries_.data() + p * length_;
    const std::size_t end = std::max(end_[p], k + 1);
    end_[p] = end;
    smallest = std::min(smallest, remaining_[p] * inverse_[p]);

    swap_[k] = k;
    if (rows == Rows::largest_first) exchange_rows(k, count);

    const double alpha = v[k];
    const double tail = dot(v + k + 1, v + k + 1, end - k - 1);
    rank_ = k + 1;
    if (tail == 0.0) {
      diagonal_[k] = alpha;
      tau_[k] = 0.0;
      for (std::size_t i = k + 1; i < count; ++i) {
        const std::size_t j = order_[i];
        if (begin_[j] > k) continue;
        const double* x = entries_.data() + j * length_;
        remaining_[j] -= x[k] * x[k];
        if (remaining_[j] <= cancellation * reference_[j]) {
          const std::size_t stop = std::max(end_[j], k + 1);
          remaining_[j] = reference_[j] = dot(x + k + 1, x + k + 1, stop - k - 1);
        }
      }
      continue;
    }
    const double beta = -std::copysign(std::sqrt(alpha * alpha + tail), alpha);
    diagonal_[k] = beta;
    v[k] = alpha - beta;
    tau_[k] = -1.0 / (beta * v[k]);
    for (std::size_t i = k + 1; i < count; ++i) {
      const std::size_t j = order_[i];
      if (begin_[j] >= end) continue;
      double* x = entries_.data() + j * length_;
      const std::size_t from = std::max(k, begin_[j]);
      const std::size_t to = std::min(end, end_[j]);
      const double s = to > from ? tau_[k] * dot(v + from, x + from, to - from) : 0.0;
      if (s != 0.0) {
        add_multiple(-s, v + k, x + k, end - k);
        begin_[j] = std::min(begin_[j], k);
        end_[j] = std::max(end_[j], end);
      }
      remaining_[j] -= x[k] * x[k];
      if (remaining_[j] <= cancellation * reference_[j]) {
        const std::size_t stop = std::max(end_[j], k + 1);
        remaining_[j] = reference_[j] = dot(x + k + 1, x + k + 1, stop - k - 1);
      }
    }
  }
  kept_ = std::sqrt(smallest);
  return rank_;
}

// Brings an entry of the pivot vector that is much larger than its k-th into row k of all vectors not yet reduced.
void HouseholderQr::exchange_rows(std::size_t k, std::size_t count) {
  const double* v = entries_.data() + order_[k] * length_;
  std::size_t top = k;
  double size = 8.0 * std::abs(v[k]);
  for (std::size_t i = k + 1; i < end_[order_[k]]; ++i) {
    if (std::abs(v[i]) > size) {
      top = i;
      size = std::abs(v[i]);
    }
  }
  if (top == k) return;
  swap_[k] = top;
  for (std::size_t i = k; i < count; ++i) {
    const std::size_t j = order_[i];
    if (begin_[j] > top) continue;
    double* x = entries_.data() + j * length_;
    if (x[k] == x[top]) continue;
    std::swap(x[k], x[top]);
    begin_[j] = std::min(begin_[j], k);
    end_[j] = std::max(end_[j], top + 1);
  }
}

void HouseholderQr::apply_transposed(double* x) const {
  for (std::size_t k = 0; k < rank_; ++k) {
    std::swap(x[k], x[swap_[k]]);
    if (tau_[k] == 0.0) continue;
    const double* v = entries_.data() + order_[k] * length_;
    const std::size_t length = end_[order_[k]] - k;
    add_multiple(-tau_[k] * dot(v + k, x + k, length), v + k, x + k, length);
  }
}

void HouseholderQr::apply(double* x) const {
  for (std::size_t k = rank_; k-- > 0;) {
    if (tau_[k] != 0.0) {
      const double* v = entries_.data() + order_[k] * length_;
      const std::size_t length = end_[order_[k]] - k;
      add_multiple(-tau_[k] * dot(v + k, x + k, length), v + k, x + k, length);
    }
    std::swap(x[k], x[swap_[k]]);
  }
}

void HouseholderQr::solve_upper(double* x) const {
  for (std::size_t k = rank_; k-- > 0;) {
    x[k] /= diagonal_[k];
    add_multiple(-x[k], entries_.data() + order_[k] * length_, x, k);
  }
}

void HouseholderQr::solve_lower(double* x) const {
  for (std::size_t k = 0; k < rank_; ++k) {
    x[k] = (x[k] - dot(entries_.data() + order_[k] * length_, x, k)) / diagonal_[k];
  }
}

}  // namespace daedalus::linalg
