#pragma once

#include <cmath>
#include <cstddef>

#include "daedalus/base/fours.hpp"

// Numbers for eliminations of one matrix or of several at once, which then lie beside each other in the lanes of a vector. Not
// part of this room's interface.
namespace daedalus::linalg {

typedef double Two __attribute__((vector_size(16)));
typedef long long TwoMasks __attribute__((vector_size(16)));

/// Complex numbers by their parts. Aligned as the widest instructions want it, which the compiler takes for granted where it
/// may use them and does not provide where it may not.
template <class Lane>
struct alignas(sizeof(Lane)) Complex {
  Lane re, im;
};

template <class Number>
struct LaneOf {
  using Type = Number;
};
template <class Lane>
struct LaneOf<Complex<Lane>> {
  using Type = Lane;
};

template <class Lane>
constexpr std::size_t lane_count = sizeof(Lane) / sizeof(double);

[[gnu::always_inline]] inline double lane(double of, std::size_t) { return of; }
[[gnu::always_inline]] inline double lane(const Two& of, std::size_t i) { return of[i]; }
[[gnu::always_inline]] inline double lane(const Four& of, std::size_t i) { return of[i]; }
[[gnu::always_inline]] inline void set_lane(double& of, std::size_t, double to) { of = to; }
[[gnu::always_inline]] inline void set_lane(Two& of, std::size_t i, double to) { of[i] = to; }
[[gnu::always_inline]] inline void set_lane(Four& of, std::size_t i, double to) { of[i] = to; }

[[gnu::always_inline]] inline void find_size(const double& of, double& to) { to = std::abs(of); }
[[gnu::always_inline]] inline void find_size(const Two& of, Two& to) {
  constexpr long long all_but_sign = 0x7FFFFFFFFFFFFFFF;
  to = reinterpret_cast<Two>(reinterpret_cast<TwoMasks>(of) & all_but_sign);
}
[[gnu::always_inline]] inline void find_size(const Four& of, Four& to) { magnitude(of, to); }
/// |re| + |im|
template <class Lane>
[[gnu::always_inline]] inline void find_size(const Complex<Lane>& of, Lane& to) {
  Lane re, im;
  find_size(of.re, re);
  find_size(of.im, im);
  to = re + im;
}

/// to = a + shift b
[[gnu::always_inline]] inline void shift_by(double a, double b, const double& shift, double& to) { to = a + shift * b; }
template <class Lane>
[[gnu::always_inline]] inline void shift_by(double a, double b, const Complex<Lane>& shift, Complex<Lane>& to) {
  to.re = a + shift.re * b;
  to.im = shift.im * b;
}

[[gnu::always_inline]] inline void multiply(const double& x, const double& y, double& to) { to = x * y; }
template <class Lane>
[[gnu::always_inline]] inline void multiply(const Complex<Lane>& x, const Complex<Lane>& y, Complex<Lane>& to) {
  const Lane re = x.re * y.re - x.im * y.im;
  to.im = x.re * y.im + x.im * y.re;
  to.re = re;
}

/// to -= x y
[[gnu::always_inline]] inline void subtract_product(const double& x, const double& y, double& to) { to -= x * y; }
template <class Lane>
[[gnu::always_inline]] inline void subtract_product(const Complex<Lane>& x, const Complex<Lane>& y, Complex<Lane>& to) {
  to.re -= x.re * y.re - x.im * y.im;
  to.im -= x.re * y.im + x.im * y.re;
}

[[gnu::always_inline]] inline void scale_by(double factor, double& x) { x *= factor; }
template <class Lane>
[[gnu::always_inline]] inline void scale_by(double factor, Complex<Lane>& x) {
  x.re *= factor;
  x.im *= factor;
}

/// to = 1/x. Squares of parts beyond 1e154 overflow.
[[gnu::always_inline]] inline void invert(const double& x, double& to) { to = 1.0 / x; }
template <class Lane>
[[gnu::always_inline]] inline void invert(const Complex<Lane>& x, Complex<Lane>& to) {
  const Lane inverse = 1.0 / (x.re * x.re + x.im * x.im);
  to.re = x.re * inverse;
  to.im = -x.im * inverse;
}

/// sum += 0 x: not a number from the first x on that is not finite.
[[gnu::always_inline]] inline void watch(const double& x, double& sum) { sum += 0.0 * x; }
template <class Lane>
[[gnu::always_inline]] inline void watch(const Complex<Lane>& x, Lane& sum) {
  sum += 0.0 * x.re + 0.0 * x.im;
}

}  // namespace daedalus::linalg
