// exp(M h) = (sum_k (M h / 2^s)^k / k!)^(2^s), with ||M h / 2^s|| <= 1/2. A vector is multiplied either by that matrix or, where
// that is less work, by the series of as many parts of h as keep ||M h / parts|| <= 1 (A. Al-Mohy, N. Higham: Computing the
// action of the matrix exponential, SIAM J. Sci. Comput. 33, 2011).

#include "daedalus/linalg/exponential.hpp"

#include <algorithm>
#include <cmath>

namespace daedalus::linalg {

namespace {

constexpr std::size_t most_kept = 4, most_asked = 8;

}  // namespace

template <class T>
BasicMatrix<T> exponential(BasicMatrix<T> M) {
  using std::ldexp;
  const std::size_t n = M.rows;
  const double norm = row_norm(M);
  const int squarings = norm > 0.5 ? std::max(0, std::ilogb(norm) + 2) : 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) M(i, j) = ldexp(M(i, j), -squarings);
  auto sum = BasicMatrix<T>::identity(n), term = sum;
  for (int k = 1; k < 60; ++k) {
    term = T(1.0) / T(static_cast<double>(k)) * (term * M);
    sum = std::move(sum) + term;
    if (!(row_norm(term) > unit_roundoff(T(0.0)) * 0.1)) break;
  }
  for (int i = 0; i < squarings; ++i) sum = sum * sum;
  return sum;
}

template <class T>
Exponential<T>::Exponential(BasicMatrix<T> matrix) : matrix_(std::move(matrix)), norm_(row_norm(matrix_)) {}

template <class T>
const BasicMatrix<T>& Exponential<T>::power(double h) {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [h](const Kept& kept) { return kept.h == h; });
  if (found != kept_.end()) return found->value;
  if (kept_.size() == most_kept) kept_.erase(kept_.begin());
  kept_.push_back({h, exponential(T(h) * matrix_)});
  return kept_.back().value;
}

template <class T>
void Exponential<T>::apply(double h, std::vector<T>& x) {
  const double n = static_cast<double>(matrix_.rows), size = norm_ * std::abs(h);
  error_ = 0.0;
  if (matrix_.rows == 0 || h == 0.0) return;
  const double parts = std::max(1.0, std::ceil(size)), series = 30.0;
  const bool often = std::find(asked_.begin(), asked_.end(), h) != asked_.end();
  if (asked_.size() == most_asked) asked_.erase(asked_.begin());
  asked_.push_back(h);
  double largest = largest_of(x);
  const double roundoff = unit_roundoff(T(0.0));
  if (often || parts * series > (series + std::log2(parts)) * n) {
    const BasicMatrix<T>& E = power(h);
    // The size of the terms, not of E and x, which may be large in places that do not meet.
    double terms = 0.0;
    for (std::size_t i = 0; i < E.rows; ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < E.columns; ++j) sum += std::abs(double(E(i, j)) * double(x[j]));
      terms = std::max(terms, sum);
    }
    error_ = 4.0 * n * roundoff * (1.0 + size) * terms;
    x = times(E, x);
    return;
  }
  const T part = T(h) / T(parts);
  std::vector<T> term;
  for (double done = 0.0; done < parts; ++done) {
    term = x;
    for (int k = 1; k < 60; ++k) {
      term = times(matrix_, term);
      for (std::size_t i = 0; i < x.size(); ++i) {
        term[i] *= part / T(static_cast<double>(k));
        x[i] += term[i];
      }
      if (!(largest_of(term) > 0.1 * roundoff * largest_of(x))) break;
    }
    largest = std::max(largest, largest_of(x));
  }
  error_ = 4.0 * n * roundoff * parts * largest;
}

template class Exponential<double>;
template class Exponential<DoubleDouble>;
template BasicMatrix<double> exponential(BasicMatrix<double>);
template BasicMatrix<DoubleDouble> exponential(BasicMatrix<DoubleDouble>);

}  // namespace daedalus::linalg
