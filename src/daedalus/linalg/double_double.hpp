#pragma once

#include <cmath>
#include <limits>

namespace daedalus::linalg {

/// A number of about 31 digits as the unevaluated sum of two doubles (Dekker 1971): every operation is a few of the
/// machine's, so that matrices of them are quick. Needs one rounding per operation, as this project is compiled.
class DoubleDouble {
 public:
  DoubleDouble(double value = 0.0) : high_(value) {}
  DoubleDouble(double high, double low) : high_(high + low), low_(low - (high_ - high)) {}  // |high| >= |low|

  double high() const { return high_; }
  double low() const { return low_; }
  explicit operator double() const { return high_; }

  friend DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble s = sum(a.high_, b.high_), t = sum(a.low_, b.low_);
    const DoubleDouble u(s.high_, s.low_ + t.high_);
    return {u.high_, u.low_ + t.low_};
  }
  friend DoubleDouble operator-(DoubleDouble a) {
    a.high_ = -a.high_;
    a.low_ = -a.low_;
    return a;
  }
  friend DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
  friend DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble p = product(a.high_, b.high_);
    return {p.high_, p.low_ + (a.high_ * b.low_ + a.low_ * b.high_)};
  }
  friend DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
    const double first = a.high_ / b.high_;
    if (!std::isfinite(first)) return first;
    DoubleDouble rest = a - b * first;
    const double second = rest.high_ / b.high_;
    rest = rest - b * second;
    return DoubleDouble(first, second) + rest.high_ / b.high_;
  }
  DoubleDouble& operator+=(DoubleDouble b) { return *this = *this + b; }
  DoubleDouble& operator-=(DoubleDouble b) { return *this = *this - b; }
  DoubleDouble& operator*=(DoubleDouble b) { return *this = *this * b; }
  DoubleDouble& operator/=(DoubleDouble b) { return *this = *this / b; }

  friend bool operator==(DoubleDouble a, DoubleDouble b) { return a.high_ == b.high_ && a.low_ == b.low_; }
  friend bool operator<(DoubleDouble a, DoubleDouble b) {
    return a.high_ < b.high_ || (a.high_ == b.high_ && a.low_ < b.low_);
  }
  friend bool operator>(DoubleDouble a, DoubleDouble b) { return b < a; }

  friend DoubleDouble abs(DoubleDouble a) { return a.high_ < 0.0 ? -a : a; }
  friend DoubleDouble sqrt(DoubleDouble a) {
    if (!(a.high_ > 0.0)) return std::sqrt(a.high_);
    const double root = std::sqrt(a.high_);
    return DoubleDouble(root) + DoubleDouble((a - product(root, root)).high_ / (2.0 * root));
  }
  /// a times a power of two.
  friend DoubleDouble ldexp(DoubleDouble a, int power) {
    a.high_ = std::ldexp(a.high_, power);
    a.low_ = std::ldexp(a.low_, power);
    return a;
  }

 private:
  static DoubleDouble sum(double a, double b) {
    DoubleDouble s(a + b);
    const double part = s.high_ - a;
    s.low_ = (a - (s.high_ - part)) + (b - part);
    return s;
  }
  static DoubleDouble product(double a, double b) {
    constexpr double splitter = 134217729.0;  // 2^27 + 1
    const double ca = splitter * a, cb = splitter * b;
    const double a1 = ca - (ca - a), a2 = a - a1, b1 = cb - (cb - b), b2 = b - b1;
    DoubleDouble p(a * b);
    p.low_ = ((a1 * b1 - p.high_) + a1 * b2 + a2 * b1) + a2 * b2;
    return p;
  }

  double high_ = 0.0, low_ = 0.0;
};

/// Half a unit in the last place: the relative error of one operation is a few of it at most.
inline double unit_roundoff(double) { return std::numeric_limits<double>::epsilon() / 2.0; }
inline double unit_roundoff(DoubleDouble) { return std::ldexp(1.0, -105); }

DoubleDouble exp(DoubleDouble x);
struct SineCosine {
  DoubleDouble sine, cosine;
};
SineCosine sincos(DoubleDouble x);

}  // namespace daedalus::linalg
