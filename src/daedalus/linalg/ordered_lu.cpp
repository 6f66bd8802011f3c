// P A Q = L U row by row: row k of the matrix, less the multiples l_kj of the rows j of U before it, is row k of U. With
// pivots in a given order each of them is divided into 1 once.
#include "daedalus/linalg/ordered_lu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "daedalus/base/finite.hpp"

namespace daedalus::linalg {

namespace {

using Place = PivotOrder::Place;

/// An order serves as long as no multiplier is larger: what partial pivoting bounds by 1. So many digits may be lost at most by
/// its logarithm, of solutions that an iteration corrects.
constexpr double largest_multiplier = 100.0;
/// An order is not searched for again and again: after this many, in more than a quarter of the factorizations.
constexpr std::size_t patience = 8;

/// Numbers up to this and down to its inverse can be squared and multiplied with some others.
constexpr double squarable = 1e100;

/// The widest instructions are worth their call for four lanes only.
template <class Work, class Lane, class... Arguments>
void run_with(Arguments&&... arguments) {
  if constexpr (std::is_same_v<Lane, Four>) {
    in_fours<Work>(std::forward<Arguments>(arguments)...);
  } else {
    Work::run(std::forward<Arguments>(arguments)...);
  }
}

}  // namespace

template <class Number>
OrderedLu<Number>::OrderedLu(const Sparsity& pattern)
    : pattern_(pattern),
      n_(pattern.rows),
      order_(pattern),
      weight_(pattern.nonzeros()),
      row_factor_(n_),
      column_factor_(n_, 1.0),
      A_(pattern.nonzeros()),
      B_(pattern.nonzeros()),
      row_(n_),
      lower_(n_ * (n_ - (n_ > 0)) / 2),
      upper_(lower_.size()),
      inverse_(n_),
      solution_(n_),
      first_solution_(n_) {}

/// Chooses for the real matrix whose entries are as large as those of any lane may be.
template <class Number>
bool OrderedLu<Number>::choose(const double* A, const double* B, double size, const double* row_scale,
                               const double* column_scale) {
  ++choices_;
  chosen_ = false;
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k) {
      A_[k] = A[k] + size * B[k];
      if (row_scale) A_[k] *= row_scale[i];
      if (column_scale) A_[k] /= column_scale[pattern_.column[k]];
    }
  if (!all_finite(A_) || !order_.choose(A_.data())) return false;
  set_weights(row_scale, column_scale);
  return chosen_ = true;
}

template <class Number>
void OrderedLu<Number>::set_weights(const double* row_scale, const double* column_scale) {
  columns_scaled_ = column_scale != nullptr;
  if (columns_scaled_)
    for (std::size_t j = 0; j < n_; ++j) column_factor_[j] = 1.0 / column_scale[j];
  for (std::size_t i = 0; i < n_; ++i) {
    row_factor_[i] = order_.row_scale()[i] * (row_scale ? row_scale[i] : 1.0);
    for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k)
      weight_[k] = columns_scaled_ ? row_factor_[i] * column_factor_[pattern_.column[k]] : row_factor_[i];
  }
}

template <class Number>
bool OrderedLu<Number>::factor(const double* A, const double* B, const Number& shift, double size,
                               const double* row_scale, const double* column_scale) {
  ++factorizations_;
  if (chosen_) {
    if (row_scale || column_scale) set_weights(row_scale, column_scale);
    if (factor_in_order(A, B, shift, size)) return true;
  }
  if (choices_ > patience && 4 * choices_ > factorizations_) return false;
  return choose(A, B, size, row_scale, column_scale) && factor_in_order(A, B, shift, size);
}

/// A and B with weights, and a bound of |A| + |shift B|.
template <class Number>
struct OrderedLu<Number>::Scale {
  [[gnu::always_inline]] static inline void run(OrderedLu& lu, const double* A, const double* B, double size,
                                                double& zero) {
    const std::size_t count = lu.A_.size();
    const double* weight = lu.weight_.data();
    double *a = lu.A_.data(), *b = lu.B_.data(), largest = 0.0, sum = 0.0;
    Four most = {}, zeros = {};
    std::size_t k = 0;
    for (; k + 4 <= count; k += 4) {
      const Four x = *four(weight + k) * *four(A + k), y = *four(weight + k) * *four(B + k);
      *four(a + k) = x;
      *four(b + k) = y;
      Four one, other;
      magnitude(x, one);
      magnitude(y, other);
      one += size * other;
      larger(one, most, most);
      zeros += 0.0 * one;
    }
    for (; k < count; ++k) {
      a[k] = weight[k] * A[k];
      b[k] = weight[k] * B[k];
      const double entry = std::abs(a[k]) + size * std::abs(b[k]);
      largest = std::max(largest, entry);
      sum += 0.0 * entry;
    }
    for (std::size_t i = 0; i < 4; ++i) largest = std::max(largest, most[i]);
    lu.largest_ = largest;
    zero = sum + sum_of(zeros);
  }
};

template <class Number>
struct OrderedLu<Number>::Eliminate {
  [[gnu::always_inline]] static inline void run(OrderedLu& lu, const Number& shift) {
    const PivotOrder& order = lu.order_;
    const std::size_t n = lu.n_;
    const std::size_t* start = lu.pattern_.row_start.data();
    const Place *place = order.place().data(), *pattern_row = order.row().data();
    const double *A = lu.A_.data(), *B = lu.B_.data();
    Number *row = lu.row_.data(), *lower = lu.lower_.data(), *upper = lu.upper_.data(), *inverse = lu.inverse_.data();
    Lane multiplier{}, pivot{}, finite{};
    pivot += std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < n; ++k) {
      const auto fill = order.fill(k);
      for (const Place* p = fill.begin; p != fill.end; ++p) row[*p] = Number{};
      const std::size_t i = pattern_row[k];
      for (std::size_t e = start[i]; e < start[i + 1]; ++e) shift_by(A[e], B[e], shift, row[place[e]]);

      const auto before = order.lower(k);
      for (const Place* p = before.begin; p != before.end; ++p) {
        Number l;
        multiply(row[*p], inverse[*p], l);
        *lower++ = l;
        Lane size;
        find_size(l, size);
        multiplier = size > multiplier ? size : multiplier;
        const auto columns = order.upper(*p);
        const Number* u = lu.upper_.data() + order.upper_begin(*p);
        for (const Place* q = columns.begin; q != columns.end; ++q) subtract_product(l, *u++, row[*q]);
      }
      Lane size;
      find_size(row[k], size);
      pivot = size < pivot ? size : pivot;
      invert(row[k], inverse[k]);
      watch(inverse[k], finite);
      const auto behind = order.upper(k);
      for (const Place* q = behind.begin; q != behind.end; ++q) *upper++ = row[*q];
    }
    lu.multiplier_ = multiplier;
    lu.pivot_ = pivot;
    lu.finite_ = finite;
  }
};

template <class Number>
bool OrderedLu<Number>::factor_in_order(const double* A, const double* B, const Number& shift, double size) {
  double zero;
  in_fours<Scale>(*this, A, B, size, zero);
  if (zero != 0.0 || std::isnan(zero)) return false;
  run_with<Eliminate, Lane>(*this, shift);
  for (std::size_t i = 0; i < lanes; ++i)
    if (lane(finite_, i) != 0.0 || !(lane(multiplier_, i) <= largest_multiplier)) return false;
  return pivots_stand_out(size);
}

/// Whether every pivot is more than round-off of the entries of its column. It is, where it is more than that of the largest
/// entry at all.
template <class Number>
bool OrderedLu<Number>::pivots_stand_out(double size) {
  const double round_off = 4.0 * static_cast<double>(n_) * std::numeric_limits<double>::epsilon();
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < lanes; ++i) smallest = std::min(smallest, lane(pivot_, i));
  if (!(largest_ < squarable && smallest > 1.0 / squarable)) return false;
  if (smallest > round_off * largest_) return true;
  std::vector<double>& column_size = first_solution_;
  std::ranges::fill(column_size, 0.0);
  for (std::size_t k = 0; k < A_.size(); ++k) {
    double& to = column_size[order_.place()[k]];
    to = std::max(to, std::abs(A_[k]) + size * std::abs(B_[k]));
  }
  for (std::size_t k = 0; k < n_; ++k) {
    Lane inverse;
    find_size(inverse_[k], inverse);
    // |1/z| in the norm |re| + |im| is between 1/|z| and 2/|z|.
    for (std::size_t i = 0; i < lanes; ++i)
      if (!(lane(inverse, i) * (round_off * column_size[k]) < 1.0)) return false;
  }
  return true;
}

template <class Number>
struct OrderedLu<Number>::Substitute {
  [[gnu::always_inline]] static inline void run(OrderedLu& lu, const Vectors& x) {
    const PivotOrder& order = lu.order_;
    const std::size_t n = lu.n_;
    const Place *row = order.row().data(), *column = order.column().data();
    const Number *lower = lu.lower_.data(), *upper = lu.upper_.data() + order.upper_begin(n), *inverse = lu.inverse_.data();
    const double* row_factor = lu.row_factor_.data();
    Number* y = lu.solution_.data();
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i = row[k];
      Number sum;
      take(x, i, sum);
      scale_by(row_factor[i], sum);
      const auto before = order.lower(k);
      for (const Place* p = before.begin; p != before.end; ++p) subtract_product(*lower++, y[*p], sum);
      y[k] = sum;
    }
    for (std::size_t k = n; k-- > 0;) {
      Number sum = y[k];
      const auto behind = order.upper(k);
      for (const Place* q = behind.end; q != behind.begin;) subtract_product(*--upper, y[*--q], sum);
      multiply(sum, inverse[k], y[k]);
    }
    if (lu.columns_scaled_)
      for (std::size_t k = 0; k < n; ++k) scale_by(lu.column_factor_[column[k]], y[k]);
    for (std::size_t k = 0; k < n; ++k) put(y[k], column[k], x);
  }

 private:
  [[gnu::always_inline]] static inline void take(const Vectors& x, std::size_t i, Number& to) {
    if constexpr (complex) {
      for (std::size_t l = 0; l < lanes; ++l) {
        set_lane(to.re, l, x.re[l][i]);
        set_lane(to.im, l, x.im[l][i]);
      }
    } else {
      to = x.re[0][i];
    }
  }
  [[gnu::always_inline]] static inline void put(const Number& y, std::size_t j, const Vectors& x) {
    if constexpr (complex) {
      for (std::size_t l = 0; l < lanes; ++l) {
        x.re[l][j] = lane(y.re, l);
        x.im[l][j] = lane(y.im, l);
      }
    } else {
      x.re[0][j] = y;
    }
  }
};

template <class Number>
void OrderedLu<Number>::solve(const Vectors& x) {
  run_with<Substitute, Lane>(*this, x);
}

template <class Number>
void OrderedLu<Number>::solve_first(double* x) {
  if constexpr (complex) {
    const auto real = [](const Number& of) { return lane(of.re, 0); };
    const Number *lower = lower_.data(), *upper = upper_.data() + order_.upper_begin(n_);
    double* y = first_solution_.data();
    for (std::size_t k = 0; k < n_; ++k) {
      const std::size_t i = order_.row()[k];
      double sum = row_factor_[i] * x[i];
      const auto before = order_.lower(k);
      for (const Place* p = before.begin; p != before.end; ++p) sum -= real(*lower++) * y[*p];
      y[k] = sum;
    }
    for (std::size_t k = n_; k-- > 0;) {
      double sum = y[k];
      const auto behind = order_.upper(k);
      for (const Place* q = behind.end; q != behind.begin;) sum -= real(*--upper) * y[*--q];
      y[k] = sum * real(inverse_[k]);
    }
    for (std::size_t k = 0; k < n_; ++k) {
      const std::size_t j = order_.column()[k];
      x[j] = columns_scaled_ ? column_factor_[j] * y[k] : y[k];
    }
  } else {
    solve({{x}, {nullptr}});
  }
}

template class OrderedLu<double>;
template class OrderedLu<Complex<Two>>;
template class OrderedLu<Complex<Four>>;

}  // namespace daedalus::linalg
