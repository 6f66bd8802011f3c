#pragma once

#include <vector>

#include "daedalus/linalg/double_double.hpp"
#include "daedalus/linalg/matrix_parts.hpp"

namespace daedalus::linalg {

/// exp(M h) of one matrix for many h, and its action on vectors, to round-off of the numbers T.
template <class T>
class Exponential {
 public:
  explicit Exponential(BasicMatrix<T> matrix);

  /// x <- exp(M h) x
  void apply(double h, std::vector<T>& x);
  /// An upper estimate of the error of the last apply() in each component, for a vector x without one.
  double error() const { return error_; }
  std::size_t size() const { return matrix_.rows; }

 private:
  const BasicMatrix<T>& power(double h);

  BasicMatrix<T> matrix_;
  double norm_;
  double error_ = 0.0;
  struct Kept {
    double h;
    BasicMatrix<T> value;
  };
  std::vector<Kept> kept_;  ///< of the last step sizes, for runs with equal ones
  std::vector<double> asked_;
};

/// exp(M) by Taylor's series of M / 2^s and s squarings.
template <class T>
BasicMatrix<T> exponential(BasicMatrix<T> M);

}  // namespace daedalus::linalg
