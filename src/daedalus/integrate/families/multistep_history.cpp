// Lagrange's form with the nodes x_i:  p(x) = sum_i y_i prod_(m != i) (x - x_m) / (x_i - x_m), and its derivative
//   p'(x) = sum_i y_i sum_(j != i) 1 / (x_i - x_j) prod_(m != i, j) (x - x_m) / (x_i - x_m).
#include "daedalus/integrate/families/multistep_history.hpp"

#include <algorithm>

#include "daedalus/base/check.hpp"

namespace daedalus::integrate {

MultistepHistory::MultistepHistory(std::size_t dimension)
    : dimension_(dimension), values_(most_points, std::vector<double>(dimension)) {
  for (std::size_t i = 0; i < most_points; ++i) slot_[i] = i;
}

void MultistepHistory::push(double step, const double* y) {
  count_ = std::min(count_ + 1, most_points);
  const std::size_t oldest = slot_[count_ - 1];
  for (std::size_t i = count_ - 1; i > 0; --i) {
    slot_[i] = slot_[i - 1];
    offset_[i] = offset_[i - 1] - step;
  }
  slot_[0] = oldest;
  offset_[0] = 0.0;
  std::copy_n(y, dimension_, values_[oldest].begin());
}

void MultistepHistory::append(double ago, const double* y) {
  DAEDALUS_CHECK(count_ < most_points, "{} points", count_);
  offset_[count_] = -ago;
  std::copy_n(y, dimension_, values_[slot_[count_]].begin());
  ++count_;
}

void MultistepHistory::value_weights(std::size_t points, double x, double* weight) const {
  for (std::size_t i = 0; i < points; ++i) {
    double above = 1.0, below = 1.0;
    for (std::size_t m = 0; m < points; ++m) {
      if (m == i) continue;
      above *= x - offset_[m];
      below *= offset_[i] - offset_[m];
    }
    weight[i] = above / below;
  }
}

void MultistepHistory::slope_weights(std::size_t points, double x, double* weight) const {
  for (std::size_t i = 0; i < points; ++i) {
    // The product and its derivative, factor by factor.
    double product = 1.0, slope = 0.0, below = 1.0;
    for (std::size_t m = 0; m < points; ++m) {
      if (m == i) continue;
      slope = slope * (x - offset_[m]) + product;
      product *= x - offset_[m];
      below *= offset_[i] - offset_[m];
    }
    weight[i] = slope / below;
  }
}

void MultistepHistory::combine(std::size_t points, const double* weight, double total, double* out) const {
  const double* first = value(0);
  std::fill_n(out, dimension_, 0.0);
  for (std::size_t i = 1; i < points; ++i) {
    const double* y = value(i);
    const double w = weight[i];
    for (std::size_t k = 0; k < dimension_; ++k) out[k] += w * (y[k] - first[k]);
  }
  for (std::size_t k = 0; k < dimension_; ++k) out[k] += total * first[k];
}

}  // namespace daedalus::integrate
