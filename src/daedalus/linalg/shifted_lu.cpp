// R (A + shift B) C^-1 = P^-1 L U with the caller's scalings R, C; rows are then brought to comparable size, so that
// pivots are chosen by what they mean. Small: in an order of pivots that is kept while it suits the values. Dense, where none
// does or nothing is sparse: right-looking, real and imaginary parts in arrays of their own, so that the inner loop is one of
// real numbers. Sparse: KLU (Davis and Palamadai Natarajan, Algorithm 907, ACM TOMS 37, 2010).
#include "daedalus/linalg/shifted_lu.hpp"

#include <klu.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "daedalus/base/check.hpp"
#include "daedalus/linalg/dense_kernels.hpp"
#include "daedalus/linalg/lu.hpp"
#include "daedalus/linalg/ordered_lu.hpp"
#include "daedalus/linalg/transversal_first.hpp"

namespace daedalus::linalg {

namespace {

/// Below this a dense factorization costs less than the bookkeeping of a sparse one.
constexpr std::size_t small = 24;
/// Fuller patterns than this fill up anyway.
constexpr double full = 0.3;
/// A multiplication in an order of pivots costs as much as this many in the rows of a full matrix.
constexpr std::size_t cost_of_order = 3;
/// Up to so many unknowns there are no full rows.
constexpr std::size_t narrow = 8;

/// Complex dense LU with partial pivoting on a matrix given as two real ones, row by row.
class ComplexLu {
 public:
  explicit ComplexLu(std::size_t n) : n_(n), re_(n * n), im_(n * n), row_scale_(n), column_size_(n), pivot_(n) {}

  double* real() { return re_.data(); }
  double* imaginary() { return im_.data(); }

  bool factor() {
    const std::size_t n = n_;
    if (!all_finite(re_.data(), n * n) || !all_finite(im_.data(), n * n)) return false;
    std::fill(column_size_.begin(), column_size_.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      double largest = 0.0;
      for (std::size_t j = 0; j < n; ++j) largest = std::max(largest, size_of(i, j));
      const double below = power_of_two_below(largest);
      row_scale_[i] = below > 0.0 && std::isfinite(1.0 / below) ? 1.0 / below : 1.0;
      for (std::size_t j = 0; j < n; ++j) {
        re_[i * n + j] *= row_scale_[i];
        im_[i * n + j] *= row_scale_[i];
        column_size_[j] = std::max(column_size_[j], size_of(i, j));
      }
    }
    const double tolerance = 4.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t p = k;
      for (std::size_t i = k + 1; i < n; ++i)
        if (size_of(i, k) > size_of(p, k)) p = i;
      pivot_[k] = p;
      if (!(size_of(p, k) > tolerance * column_size_[k])) {
        singular_column = k;
        return false;
      }
      if (p != k) {
        std::swap_ranges(&re_[k * n], &re_[k * n] + n, &re_[p * n]);
        std::swap_ranges(&im_[k * n], &im_[k * n] + n, &im_[p * n]);
      }
      const std::complex<double> inverse = 1.0 / std::complex(re_[k * n + k], im_[k * n + k]);
      const double a = re_[k * n + k] = inverse.real(), b = im_[k * n + k] = inverse.imag();
      for (std::size_t i = k + 1; i < n; ++i) {
        const double c = re_[i * n + k], d = im_[i * n + k];
        if (c == 0.0 && d == 0.0) continue;
        const double l = c * a - d * b, m = c * b + d * a;
        re_[i * n + k] = l;
        im_[i * n + k] = m;
        subtract_multiple(l, m, k, i);
      }
    }
    return true;
  }

  void solve(double* x, double* y) const {
    const std::size_t n = n_;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] *= row_scale_[i];
      y[i] *= row_scale_[i];
    }
    for (std::size_t k = 0; k < n; ++k) {
      std::swap(x[k], x[pivot_[k]]);
      std::swap(y[k], y[pivot_[k]]);
    }
    for (std::size_t i = 1; i < n; ++i) subtract_row(i, 0, i, x, y);
    for (std::size_t i = n; i-- > 0;) {
      subtract_row(i, i + 1, n, x, y);
      const double a = re_[i * n + i], b = im_[i * n + i], c = x[i], d = y[i];  // the inverse of the pivot
      x[i] = c * a - d * b;
      y[i] = c * b + d * a;
    }
  }

  std::size_t singular_column = 0;

 private:
  double size_of(std::size_t i, std::size_t j) const { return std::abs(re_[i * n_ + j]) + std::abs(im_[i * n_ + j]); }

  void subtract_multiple(double l, double m, std::size_t from, std::size_t to) {
    const double* __restrict u = &re_[from * n_];
    const double* __restrict w = &im_[from * n_];
    double* __restrict r = &re_[to * n_];
    double* __restrict s = &im_[to * n_];
    for (std::size_t j = from + 1; j < n_; ++j) {
      r[j] -= l * u[j] - m * w[j];
      s[j] -= l * w[j] + m * u[j];
    }
  }

  /// z_i -= sum_j a_ij z_j, z = x + iy, j from `begin` to `end`
  void subtract_row(std::size_t i, std::size_t begin, std::size_t end, double* x, double* y) const {
    const double *a = &re_[i * n_], *b = &im_[i * n_];
    double ax = 0.0, by = 0.0, ay = 0.0, bx = 0.0;
    for (std::size_t j = begin; j < end; ++j) {
      ax += a[j] * x[j];
      by += b[j] * y[j];
      ay += a[j] * y[j];
      bx += b[j] * x[j];
    }
    x[i] -= ax - by;
    y[i] -= ay + bx;
  }

  std::size_t n_;
  std::vector<double> re_, im_, row_scale_, column_size_;
  std::vector<std::size_t> pivot_;
};

/// KLU for real or complex values (stored as pairs).
class SparseFactors {
 public:
  SparseFactors(const Sparsity& pattern, bool complex) : complex_(complex) {
    const std::size_t n = pattern.rows;
    column_start_.assign(n + 1, 0);
    for (const std::size_t j : pattern.column) ++column_start_[j + 1];
    std::partial_sum(column_start_.begin(), column_start_.end(), column_start_.begin());
    row_.resize(pattern.nonzeros());
    place_.resize(pattern.nonzeros());
    std::vector<int> next(column_start_.begin(), column_start_.end() - 1);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
        const int to = next[pattern.column[k]]++;
        row_[static_cast<std::size_t>(to)] = static_cast<int>(i);
        place_[k] = static_cast<std::size_t>(to);
      }
    values_.resize(row_.size() * (complex ? 2 : 1));
    klu_defaults(&common_);
    common_.scale = 2;  // rows by their largest entry
    common_.tol = 0.1;  // the diagonal may vanish in a whole block: size counts more than its sparsity
    std::vector<int> rows = transversal_first(column_start_, row_);
    symbolic_ = klu_analyze(static_cast<int>(n), column_start_.data(), rows.data(), &common_);
    DAEDALUS_CHECK(symbolic_ != nullptr || common_.status == KLU_SINGULAR, "KLU status {} for {} unknowns",
                   common_.status, n);
  }
  ~SparseFactors() {
    free_numeric();
    if (symbolic_) klu_free_symbolic(&symbolic_, &common_);
  }
  SparseFactors(const SparseFactors&) = delete;
  SparseFactors& operator=(const SparseFactors&) = delete;

  void set(std::size_t k, double re, double im) {
    if (!complex_) {
      values_[place_[k]] = re;
      return;
    }
    values_[2 * place_[k]] = re;
    values_[2 * place_[k] + 1] = im;
  }

  bool factor() {
    if (symbolic_ == nullptr || !all_finite(values_.data(), values_.size())) return false;
    if (numeric_ && refactor()) return true;
    free_numeric();
    auto* make = complex_ ? klu_z_factor : klu_factor;
    numeric_ = make(column_start_.data(), row_.data(), values_.data(), symbolic_, &common_);
    if (numeric_ == nullptr || common_.status != KLU_OK) {
      singular_column = common_.singular_col < 0 ? 0 : static_cast<std::size_t>(common_.singular_col);
      free_numeric();
      return false;
    }
    fresh_ratio_ = ratio();
    if (fresh_ratio_ > std::numeric_limits<double>::epsilon() * 1e-6) return true;
    free_numeric();
    return false;
  }

  void solve(double* x) {
    auto* run = complex_ ? klu_z_solve : klu_solve;
    run(symbolic_, numeric_, symbolic_->n, 1, x, &common_);
  }

  std::size_t singular_column = 0;

 private:
  bool refactor() {
    auto* again = complex_ ? klu_z_refactor : klu_refactor;
    if (!again(column_start_.data(), row_.data(), values_.data(), symbolic_, numeric_, &common_)) return false;
    // Pivots chosen for other values are trusted while their ratio stays near that of the fresh ones.
    return common_.status == KLU_OK && ratio() > 1e-3 * fresh_ratio_;
  }
  double ratio() {
    auto* find = complex_ ? klu_z_rcond : klu_rcond;
    find(symbolic_, numeric_, &common_);
    return common_.rcond;
  }
  void free_numeric() {
    if (numeric_ == nullptr) return;
    (complex_ ? klu_z_free_numeric : klu_free_numeric)(&numeric_, &common_);
    numeric_ = nullptr;
  }

  bool complex_;
  std::vector<int> column_start_, row_;
  std::vector<std::size_t> place_;  ///< of the entries of the pattern, which is by rows
  std::vector<double> values_;
  klu_common common_{};
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* numeric_ = nullptr;
  double fresh_ratio_ = 0.0;
};

}  // namespace

struct ShiftedLu::Implementation {
  Implementation(const Sparsity& given, Numbers numbers, bool dense, Pivots pivots)
      : pattern(given), complex(numbers == Numbers::complex) {
    const std::size_t n = pattern.rows;
    if (!dense) {
      sparse = std::make_unique<SparseFactors>(pattern, complex);
    } else if (complex) {
      complex_lu = std::make_unique<ComplexLu>(n);
    } else {
      real_lu = std::make_unique<DenseLu>(n);
      matrix.resize(n * n);
    }
    if (real_lu && pivots == Pivots::kept && n <= most_ordered) ordered_lu = std::make_unique<OrderedLu<double>>(pattern);
    row_scale.assign(n, 1.0);
    column_inverse.assign(n, 1.0);
    if (complex) {
      pairs.resize(2 * n);
      parts.resize(2 * n);
    }
  }

  bool factor(const double* A, const double* B, std::complex<double> shift, const double* rows, const double* columns) {
    if (ordered_lu && ordered_lu->factor(A, B, shift.real(), std::abs(shift), rows, columns)) {
      // Few numbers are divided and moved at once; the more there are, the better a full row does.
      const std::size_t n = pattern.rows;
      ordered = n <= narrow || 3 * cost_of_order * ordered_lu->operations() <= n * n * n;
      if (ordered) return true;
      ordered_lu.reset();
    }
    ordered = false;
    return factor_by_rows(A, B, shift, rows, columns);
  }

  bool factor_by_rows(const double* A, const double* B, std::complex<double> shift, const double* rows,
                      const double* columns) {
    const std::size_t n = pattern.rows;
    for (std::size_t i = 0; i < n; ++i) {
      row_scale[i] = rows ? rows[i] : 1.0;
      column_inverse[i] = columns ? 1.0 / columns[i] : 1.0;
    }
    double* re = real_lu ? matrix.data() : complex_lu ? complex_lu->real() : nullptr;
    double* im = complex_lu ? complex_lu->imaginary() : nullptr;
    if (re) std::fill_n(re, n * n, 0.0);
    if (im) std::fill_n(im, n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
        const std::size_t j = pattern.column[k];
        const double scale = row_scale[i] * column_inverse[j];
        const double real_part = scale * (A[k] + shift.real() * B[k]), imaginary_part = scale * shift.imag() * B[k];
        if (sparse) {
          sparse->set(k, real_part, imaginary_part);
        } else {
          re[i * n + j] = real_part;
          if (im) im[i * n + j] = imaginary_part;
        }
      }
    bool good = false;
    if (sparse) {
      good = sparse->factor();
      if (!good) singular_column = sparse->singular_column;
    } else if (complex_lu) {
      good = complex_lu->factor();
      if (!good) singular_column = complex_lu->singular_column;
    } else {
      good = real_lu->factor(matrix.data());
      if (!good) singular_column = real_lu->singular_column();
    }
    return good;
  }

  void solve(double* x) {
    if (ordered) return ordered_lu->solve({{x}, {nullptr}});
    const std::size_t n = pattern.rows;
    for (std::size_t i = 0; i < n; ++i) x[i] *= row_scale[i];
    sparse ? sparse->solve(x) : real_lu->solve(x);
    for (std::size_t j = 0; j < n; ++j) x[j] *= column_inverse[j];
  }

  void solve(double* re, double* im) {
    const std::size_t n = pattern.rows;
    if (!sparse) {
      for (std::size_t i = 0; i < n; ++i) {
        re[i] *= row_scale[i];
        im[i] *= row_scale[i];
      }
      complex_lu->solve(re, im);
      for (std::size_t j = 0; j < n; ++j) {
        re[j] *= column_inverse[j];
        im[j] *= column_inverse[j];
      }
      return;
    }
    for (std::size_t i = 0; i < n; ++i) {
      pairs[2 * i] = re[i] * row_scale[i];
      pairs[2 * i + 1] = im[i] * row_scale[i];
    }
    sparse->solve(pairs.data());
    for (std::size_t j = 0; j < n; ++j) {
      re[j] = pairs[2 * j] * column_inverse[j];
      im[j] = pairs[2 * j + 1] * column_inverse[j];
    }
  }

  void solve(std::complex<double>* x) {
    const std::size_t n = pattern.rows;
    for (std::size_t i = 0; i < n; ++i) {
      parts[i] = x[i].real();
      parts[n + i] = x[i].imag();
    }
    solve(parts.data(), parts.data() + n);
    for (std::size_t i = 0; i < n; ++i) x[i] = {parts[i], parts[n + i]};
  }

  Sparsity pattern;
  bool complex;
  std::unique_ptr<SparseFactors> sparse;
  std::unique_ptr<DenseLu> real_lu;
  std::unique_ptr<ComplexLu> complex_lu;
  std::unique_ptr<OrderedLu<double>> ordered_lu;
  bool ordered = false;  ///< the last factors are in an order of pivots
  std::vector<double> matrix, row_scale, column_inverse;
  std::vector<double> pairs, parts;  ///< a complex vector in the order of KLU, and by real and imaginary parts
  std::size_t singular_column = 0;
};

ShiftedLu::ShiftedLu(const Sparsity& pattern, Numbers numbers, Backend backend, Pivots pivots) {
  DAEDALUS_CHECK(pattern.rows == pattern.columns, "{} by {}", pattern.rows, pattern.columns);
  const auto n = static_cast<double>(pattern.rows);
  const bool dense =
      backend == Backend::dense || (backend == Backend::automatic &&
                                    (pattern.rows <= small || static_cast<double>(pattern.nonzeros()) > full * n * n));
  self_ = std::make_unique<Implementation>(pattern, numbers, dense, pivots);
}
ShiftedLu::~ShiftedLu() = default;
ShiftedLu::ShiftedLu(ShiftedLu&&) noexcept = default;
ShiftedLu& ShiftedLu::operator=(ShiftedLu&&) noexcept = default;

bool ShiftedLu::factor(const double* A, const double* B, double shift, const double* row_scale,
                       const double* column_scale) {
  return self_->factor(A, B, shift, row_scale, column_scale);
}

bool ShiftedLu::factor(const double* A, const double* B, std::complex<double> shift, const double* row_scale,
                       const double* column_scale) {
  DAEDALUS_CHECK(self_->complex, "a complex shift for real factors");
  return self_->factor(A, B, shift, row_scale, column_scale);
}

void ShiftedLu::solve(double* x) {
  DAEDALUS_CHECK(!self_->complex, "a real right side for complex factors");
  self_->solve(x);
}

void ShiftedLu::solve(std::complex<double>* x) {
  DAEDALUS_CHECK(self_->complex, "a complex right side for real factors");
  self_->solve(x);
}

void ShiftedLu::solve(double* re, double* im) {
  DAEDALUS_CHECK(self_->complex, "a complex right side for real factors");
  self_->solve(re, im);
}

std::size_t ShiftedLu::singular_column() const { return self_->singular_column; }
ShiftedLu::Backend ShiftedLu::backend() const { return self_->sparse ? Backend::sparse : Backend::dense; }
std::size_t ShiftedLu::size() const { return self_->pattern.rows; }

}  // namespace daedalus::linalg
