#pragma once

#include <string_view>
#include <vector>

namespace daedalus::expr {

/// A function of one argument through data: a polynomial of degree at most three between neighbouring knots. Every
/// polynomial goes on smoothly beyond the ends of its segment, so that an integrator can step up to a knot.
class Interpolant {
 public:
  enum class Method { step, linear, monotone, spline };
  enum class Outside { hold, error, periodic };

  /// Needs at least two points with ascending x.
  Interpolant(std::vector<double> x, std::vector<double> y, Method method, Outside outside);

  /// Number of the segment in which x lies: 0 is the first; those before, and from the last knot on, are outside or
  /// belong to other periods.
  double segment(double x) const;
  /// Where a segment begins and ends.
  double low(double segment) const;
  double high(double segment) const;
  /// The polynomial of a segment or its derivative, anywhere. Not a number in a segment outside, where that is an
  /// error.
  double value(double segment, double x, int times = 0) const;

  /// Whether a segment lies outside the data and that is an error.
  bool forbidden(double segment) const;
  /// How many derivatives are continuous at the knots; -1 where the function itself jumps.
  int smoothness() const { return static_cast<int>(method_) - 1; }
  double first() const { return x_.front(); }
  double last() const { return x_.back(); }

 private:
  struct Cubic {
    double c0 = 0.0, c1 = 0.0, c2 = 0.0, c3 = 0.0;  ///< powers of x - x_k
  };
  double segments() const { return static_cast<double>(cubic_.size()); }
  void join_slopes(const std::vector<double>& slope);
  std::vector<double> monotone_slopes() const;
  std::vector<double> spline_slopes() const;
  bool closes() const { return outside_ == Outside::periodic && y_.front() == y_.back(); }

  std::vector<double> x_, y_;
  std::vector<Cubic> cubic_;
  Method method_;
  Outside outside_;
};

}  // namespace daedalus::expr
