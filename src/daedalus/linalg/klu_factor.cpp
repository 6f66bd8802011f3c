// KLU: Davis and Palamadai Natarajan, Algorithm 907, ACM TOMS 37, 2010.
#include "daedalus/linalg/klu_factor.hpp"

#include <klu.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "daedalus/base/check.hpp"
#include "daedalus/linalg/transversal_first.hpp"

namespace daedalus::linalg {

namespace {
// A refactorization is trusted while its pivots' ratio stays within this of the fresh one's.
constexpr double tolerated_decline = 1e-3;
}  // namespace

struct KluFactor::Klu {
  klu_common common{};
  klu_symbolic* symbolic = nullptr;
  klu_numeric* numeric = nullptr;
  ~Klu() {
    if (numeric) klu_free_numeric(&numeric, &common);
    if (symbolic) klu_free_symbolic(&symbolic, &common);
  }
};

KluFactor::KluFactor(std::vector<int> column_start, std::vector<int> row, Pivots pivots)
    : klu_(std::make_unique<Klu>()),
      column_start_(std::move(column_start)),
      row_(std::move(row)),
      values_(row_.size()),
      size_(column_start_.size() - 1),
      seen_(column_start_.size() - 1) {
  klu_defaults(&klu_->common);
  klu_->common.scale = 0;  // the caller scales on both sides, which a row scaling would undo
  if (pivots == Pivots::largest) klu_->common.tol = 1.0;
  std::vector<int> rows = transversal_first(column_start_, row_);
  klu_->symbolic = klu_analyze(static_cast<int>(size()), column_start_.data(), rows.data(), &klu_->common);
  DAEDALUS_CHECK(klu_->symbolic != nullptr, "KLU status {} for {} unknowns", klu_->common.status, size());
}

KluFactor::~KluFactor() = default;

bool KluFactor::factor() {
  Klu& klu = *klu_;
  if (klu.numeric) klu_free_numeric(&klu.numeric, &klu.common);
  klu.numeric = klu_factor(column_start_.data(), row_.data(), values_.data(), klu.symbolic, &klu.common);
  if (klu.numeric == nullptr || klu.common.status != KLU_OK) {
    if (klu.numeric) klu_free_numeric(&klu.numeric, &klu.common);
    return false;
  }
  klu_rcond(klu.symbolic, klu.numeric, &klu.common);
  fresh_ratio_ = klu.common.rcond;
  return fresh_ratio_ > 0.0;
}

bool KluFactor::refactor() {
  Klu& klu = *klu_;
  if (klu.numeric == nullptr) return false;
  const int ok =
      klu_refactor(column_start_.data(), row_.data(), values_.data(), klu.symbolic, klu.numeric, &klu.common);
  if (!ok || klu.common.status != KLU_OK) return false;
  klu_rcond(klu.symbolic, klu.numeric, &klu.common);
  return klu.common.rcond > tolerated_decline * fresh_ratio_;
}

double KluFactor::condition() {
  Klu& klu = *klu_;
  if (klu.numeric == nullptr) return std::numeric_limits<double>::infinity();
  if (!klu_condest(column_start_.data(), values_.data(), klu.symbolic, klu.numeric, &klu.common) ||
      !std::isfinite(klu.common.condest)) {
    return std::numeric_limits<double>::infinity();
  }
  return klu.common.condest;
}

Determinant KluFactor::determinant() {
  const Klu& klu = *klu_;
  const auto* pivot = static_cast<const double*>(klu.numeric->Udiag);
  Determinant result{1, 0.0};
  for (std::size_t k = 0; k < size(); ++k) {
    if (pivot[k] < 0.0) result.sign = -result.sign;
    result.logarithm += std::log(std::abs(pivot[k]));
  }
  // A permutation of n numbers in c cycles is even where n - c is.
  for (const int* order : {klu.numeric->Pnum, klu.symbolic->Q}) {
    std::fill(seen_.begin(), seen_.end(), char{0});
    for (std::size_t k = 0; k < size(); ++k) {
      if (seen_[k]) continue;
      for (std::size_t next = k; !seen_[next]; next = static_cast<std::size_t>(order[next])) {
        seen_[next] = 1;
        if (static_cast<std::size_t>(order[next]) != k) result.sign = -result.sign;
      }
    }
  }
  return result;
}

void KluFactor::solve(double* x) {
  klu_solve(klu_->symbolic, klu_->numeric, static_cast<int>(size()), 1, x, &klu_->common);
}

double KluFactor::residual(const double* b, const double* x, double* residual) {
  const std::size_t n = size();
  for (std::size_t i = 0; i < n; ++i) {
    residual[i] = b[i];
    size_[i] = std::abs(b[i]);
  }
  for (std::size_t j = 0; j < n; ++j) {
    const double xj = x[j];
    for (int k = column_start_[j]; k < column_start_[j + 1]; ++k) {
      const double term = values_[static_cast<std::size_t>(k)] * xj;
      const auto i = static_cast<std::size_t>(row_[static_cast<std::size_t>(k)]);
      residual[i] -= term;
      size_[i] += std::abs(term);
    }
  }
  double largest = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    if (residual[i] == 0.0) continue;
    const double error = std::abs(residual[i]) / size_[i];
    if (!(error <= largest)) largest = error;
  }
  return largest;
}

double KluFactor::predicted_nonzeros() const { return klu_->symbolic->lnz + klu_->symbolic->unz; }
double KluFactor::predicted_operations() const { return klu_->symbolic->est_flops; }

}  // namespace daedalus::linalg
