#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace daedalus::linalg {

/// QR of a matrix given by its columns, each kept contiguously ("vectors"), with column pivoting relative to the length
/// of each column: column scaling changes neither the pivots' order nor the rank.
///
/// The pivot is the first vector whose remaining relative length is at least `pivot_fraction` of the largest, so that
/// where several choices are equally sound the later vectors are the ones called dependent. Vectors carry the range of
/// their nonzero entries; reflections skip vectors they do not meet, which makes banded matrices cheap.
class HouseholderQr {
 public:
  enum class Rows { as_given, largest_first };

  /// Allocates for `vectors` columns of `length` entries, all zero.
  HouseholderQr(std::size_t vectors, std::size_t length);

  /// Zeroes vector j and returns its storage.
  double* clear(std::size_t j);
  /// States that vector j is zero outside [begin, end).
  void set_support(std::size_t j, std::size_t begin, std::size_t end) {
    begin_[j] = begin;
    end_[j] = end;
  }

  /// Factors the first `count` vectors; stops where every remaining relative length is at most `tolerance`.
  /// `pivot_fraction` 0 keeps the given order. Returns the rank. Rows of very different size (light and heavy bodies)
  /// keep their digits only if the largest are eliminated into; equal ones do better without the exchange.
  /// No more than `most` vectors are taken.
  std::size_t factor(std::size_t count, double tolerance, double pivot_fraction = 0.5, Rows rows = Rows::as_given,
                     std::size_t most = std::numeric_limits<std::size_t>::max());

  std::size_t rank() const { return rank_; }
  const std::vector<std::size_t>& order() const { return order_; }  ///< pivots first, then the dependent ones
  const double* vector(std::size_t j) const { return entries_.data() + j * length_; }
  std::size_t begin(std::size_t j) const { return begin_[j]; }
  std::size_t end(std::size_t j) const { return end_[j]; }
  /// R(i, k) for the vector at position k of order(), i <= min(k, rank - 1).
  double entry(std::size_t i, std::size_t k) const { return i == k ? diagonal_[k] : entries_[order_[k] * length_ + i]; }
  double kept() const { return kept_; }        ///< smallest relative pivot counted, 1 where there is none
  double dropped() const { return dropped_; }  ///< largest remaining relative length not counted

  void apply_transposed(double* x) const;  ///< x = Q^T x
  void apply(double* x) const;             ///< x = Q x
  void solve_upper(double* x) const;       ///< R11 y = x in place
  void solve_lower(double* x) const;       ///< R11^T y = x in place

 private:
  void exchange_rows(std::size_t k, std::size_t count);

  std::size_t length_, rank_ = 0;
  std::vector<double> entries_;  ///< below the diagonal the reflectors, above it R
  std::vector<double> diagonal_, tau_, remaining_, reference_, inverse_;
  std::vector<std::size_t> order_, swap_, begin_, end_;
  double kept_ = 1.0, dropped_ = 0.0;
};

}  // namespace daedalus::linalg
