// Householder reflections H = I - tau v v^T with v = x - beta e_k, beta = -sign(x_k) |x|, tau = 1/(beta^2 - beta x_k)
// (Businger and Golub, Numer. Math. 7, 1965); remaining lengths are downdated and recomputed after cancellation (Drmac
// and Bujanovic, ACM TOMS 35, 2008). Scales make the logarithms of entries small in the mean (Curtis and Reid, J. Inst.
// Maths Applics 10, 1972), by alternating sweeps.
#include "daedalus/linalg/staged_qr.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/linalg/dense_kernels.hpp"

namespace daedalus::linalg {

namespace {
constexpr double cancellation = 1.5e-8;  // of squares: half the digits are lost
constexpr int sweeps = 6;
constexpr double round_off = 1e-13;  // of an entry against the largest of its row
}  // namespace

StagedQr::StagedQr(std::size_t rows, const std::vector<std::size_t>& groups) : m_(rows), n_(0), begin_{0} {
  for (const std::size_t size : groups) begin_.push_back(n_ += size);
  entries_.resize(m_ * n_);
  row_scale_.assign(m_, 1.0);
  column_scale_.assign(n_, 1.0);
  remaining_.resize(n_);
  reference_.resize(n_);
  diagonal_.resize(std::min(m_, n_));
  tau_.resize(std::min(m_, n_));
  order_.reserve(std::min(m_, n_));
  used_.resize(n_);
  stages_.resize(groups.size());
}

void StagedQr::balance(double most) {
  // Logarithms of the entries that are more than round-off of their row; r and c make their means in rows and columns
  // 0.
  struct Entry {
    std::size_t row, column;
    double log;
  };
  std::vector<Entry> entries;
  std::vector<double> top(m_, 0.0), r(m_, 0.0), c(n_, 0.0), sum(std::max(m_, n_));
  std::vector<std::size_t> in_row(m_, 0), in_column(n_, 0);
  for (std::size_t j = 0; j < n_; ++j)
    for (std::size_t i = 0; i < m_; ++i) top[i] = std::max(top[i], std::abs(entries_[j * m_ + i]));
  for (std::size_t j = 0; j < n_; ++j)
    for (std::size_t i = 0; i < m_; ++i)
      if (const double size = std::abs(entries_[j * m_ + i]); size > round_off * top[i]) {
        entries.push_back({i, j, std::log(size)});
        ++in_row[i];
        ++in_column[j];
      }
  const auto mean = [&](std::vector<double>& scale, const std::vector<std::size_t>& count, auto&& add) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (const Entry& e : entries) add(e);
    for (std::size_t i = 0; i < scale.size(); ++i)
      if (count[i] > 0) scale[i] = -sum[i] / static_cast<double>(count[i]);
  };
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    mean(r, in_row, [&](const Entry& e) { sum[e.row] += e.log + c[e.column]; });
    mean(c, in_column, [&](const Entry& e) { sum[e.column] += e.log + r[e.row]; });
  }
  for (std::size_t i = 0; i < m_; ++i) row_scale_[i] = std::exp(r[i]);
  for (std::size_t j = 0; j < n_; ++j) column_scale_[j] = 1.0;
  apply_scales();
  // Pivots are lengths: those of columns of length 1 say how much of a column is left.
  for (std::size_t j = 0; j < n_; ++j) {
    double* x = column(j);
    const double length = std::sqrt(dot(x, x, m_));
    if (!(length > 0.0)) continue;
    column_scale_[j] = std::min(most, 1.0 / length);
    for (std::size_t i = 0; i < m_; ++i) x[i] *= column_scale_[j];
  }
}

void StagedQr::apply_scales() {
  for (std::size_t j = 0; j < n_; ++j)
    for (std::size_t i = 0; i < m_; ++i) entries_[j * m_ + i] *= row_scale_[i] * column_scale_[j];
}

void StagedQr::restart() {
  order_.clear();
  std::fill(used_.begin(), used_.end(), false);
  factored_ = 0;
}

void StagedQr::factor(std::size_t groups, double tolerance) {
  restart();
  factor_more(groups, tolerance);
}

void StagedQr::factor_more(std::size_t groups, double tolerance) {
  for (const std::size_t end = factored_ + groups; factored_ < end; ++factored_)
    factor_group(factored_, tolerance, std::numeric_limits<std::size_t>::max());
}

void StagedQr::factor(const std::vector<std::size_t>& ranks) {
  restart();
  for (; factored_ < ranks.size(); ++factored_) factor_group(factored_, 0.0, ranks[factored_]);
}

void StagedQr::factor_group(std::size_t g, double tolerance, std::size_t most) {
  Stage& stage = stages_[g] = Stage{};
  const std::size_t k0 = order_.size();
  for (std::size_t j = begin_[g]; j < begin_[g + 1]; ++j) {
    const double* x = entries_.data() + j * m_;
    remaining_[j] = reference_[j] = dot(x + k0, x + k0, m_ - k0);
  }
  for (;;) {
    std::size_t pivot = n_;
    double largest = 0.0;
    for (std::size_t j = begin_[g]; j < begin_[g + 1]; ++j)
      if (!used_[j] && remaining_[j] > largest) {
        largest = remaining_[j];
        pivot = j;
      }
    const double length = std::sqrt(largest);
    if (pivot == n_ || stage.rank == most || order_.size() == m_ || !(length > tolerance)) {
      stage.dropped = order_.size() == m_ ? 0.0 : length;
      return;
    }
    stage.kept = stage.rank == 0 ? length : std::min(stage.kept, length);
    ++stage.rank;
    eliminate(pivot, begin_[g + 1]);
  }
}

/// Reflects all columns that are left; lengths are kept for those before `end`.
void StagedQr::eliminate(std::size_t pivot, std::size_t end) {
  const std::size_t k = order_.size();
  double* v = column(pivot);
  const double alpha = v[k], tail = dot(v + k + 1, v + k + 1, m_ - k - 1);
  order_.push_back(pivot);
  used_[pivot] = true;
  const double beta = tail == 0.0 ? alpha : -std::copysign(std::sqrt(alpha * alpha + tail), alpha);
  diagonal_[k] = beta;
  tau_[k] = 0.0;
  if (tail != 0.0) {
    v[k] = alpha - beta;
    tau_[k] = -1.0 / (beta * v[k]);
  }
  for (std::size_t j = 0; j < n_; ++j) {
    if (used_[j]) continue;
    double* x = column(j);
    if (tau_[k] != 0.0) {
      const double s = tau_[k] * dot(v + k, x + k, m_ - k);
      if (s != 0.0) add_multiple(-s, v + k, x + k, m_ - k);
    }
    if (j >= end) continue;
    remaining_[j] -= x[k] * x[k];
    if (remaining_[j] <= cancellation * reference_[j])
      remaining_[j] = reference_[j] = dot(x + k + 1, x + k + 1, m_ - k - 1);
  }
}

double StagedQr::entry(std::size_t i, std::size_t j) const {
  return i < order_.size() && order_[i] == j ? diagonal_[i] : entries_[j * m_ + i];
}

void StagedQr::reduce(double* x) const {
  for (std::size_t i = 0; i < m_; ++i) x[i] *= row_scale_[i];
  for (std::size_t k = 0; k < order_.size(); ++k) {
    if (tau_[k] == 0.0) continue;
    const double* v = entries_.data() + order_[k] * m_;
    add_multiple(-tau_[k] * dot(v + k, x + k, m_ - k), v + k, x + k, m_ - k);
  }
}

void StagedQr::solve(double* x, std::size_t count) const {
  for (std::size_t k = count; k-- > 0;) {
    x[k] /= diagonal_[k];
    add_multiple(-x[k], entries_.data() + order_[k] * m_, x, k);
  }
}

}  // namespace daedalus::linalg
