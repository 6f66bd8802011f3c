#pragma once

#include <cstddef>
#include <vector>

namespace daedalus::integrate {

/// The last points (t_i, y_i) of a solution, the newest first, and the polynomials through them. Distances between
/// points are free. Holds values rather than differences, so that whatever moves a point (a projection) moves the
/// history.
class MultistepHistory {
 public:
  static constexpr std::size_t most_points = 10;

  explicit MultistepHistory(std::size_t dimension);

  /// Forgets all but the newest `points`.
  void truncate(std::size_t points) { count_ = points < count_ ? points : count_; }
  std::size_t count() const { return count_; }
  /// Makes y, `step` after the newest point, the newest one; forgets the oldest where there are too many.
  void push(double step, const double* y);
  /// Appends a point that is older than all, `ago` before the newest.
  void append(double ago, const double* y);
  /// The i-th newest value.
  const double* value(std::size_t i) const { return values_[slot_[i]].data(); }
  double* value(std::size_t i) { return values_[slot_[i]].data(); }
  /// Time of the i-th newest point minus that of the newest.
  double offset(std::size_t i) const { return offset_[i]; }

  /// Writes the weights w_i, i < points, with which the values at the newest points give the polynomial through them at
  /// the time `x` after the newest one.
  void value_weights(std::size_t points, double x, double* weight) const;
  /// The same for its derivative.
  void slope_weights(std::size_t points, double x, double* weight) const;
  /// Sets out to total y_0 + sum_(i > 0) weight_i (y_i - y_0): weights that add up to `total`, without the round-off of
  /// their sum, which would be the same in all steps and add up.
  void combine(std::size_t points, const double* weight, double total, double* out) const;

 private:
  std::size_t dimension_, count_ = 0;
  std::vector<std::vector<double>> values_;
  std::size_t slot_[most_points];
  double offset_[most_points];
};

}  // namespace daedalus::integrate
