// Reduction by multiples of pi/2 (W. J. Cody, W. Waite, Software Manual for the Elementary Functions, 1980) with products that
// are rounded once with the sum, and the polynomials of Sun's fdlibm for |r| <= pi/4:
//   x = n pi/2 + r + y,   sin(r + y) = r + r^3 S(r^2) + y cos(r),   cos(r + y) = 1 - r^2/2 + r^4 C(r^2) - r y.
// pi/2 is the sum of three numbers. x - n times the first is exact: for |n| < 2^20 both are multiples of 2^-53 or of a larger
// power where they do not cancel. What is lost by taking n times the second from it is kept in y, with n times the third.
#include "daedalus/expr/sine.hpp"

#include <bit>
#include <cmath>

#include "daedalus/base/fours.hpp"

namespace daedalus::expr {

namespace {

/// Where n is small enough; further away the C library reduces with more digits.
constexpr double widest = 0x1p20;

#define DAEDALUS_IN_LINE [[gnu::always_inline]] inline
#pragma GCC diagnostic ignored "-Wpsabi"  // nothing is passed: all is in line

/// a b + c, rounded once
DAEDALUS_IN_LINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
DAEDALUS_IN_LINE long long bits(double a) { return std::bit_cast<long long>(a); }
DAEDALUS_IN_LINE double number(long long a) { return std::bit_cast<double>(a); }

#if defined(__x86_64__)
DAEDALUS_IN_LINE Four fused(Four a, const Four& b, const Four& c) {
#if defined(__clang__)
  for (int k = 0; k < 4; ++k) a[k] = __builtin_fma(a[k], b[k], c[k]);
#else  // which would do that one after the other
  asm("vfmadd213pd %2, %1, %0" : "+x"(a) : "x"(b), "x"(c));
#endif
  return a;
}
DAEDALUS_IN_LINE FourMasks bits(Four a) { return reinterpret_cast<FourMasks>(a); }
DAEDALUS_IN_LINE Four number(FourMasks a) { return reinterpret_cast<Four>(a); }
#endif

/// For |x| < widest. `Number` is one or four.
template <class Number>
DAEDALUS_IN_LINE void turn(const Number& x, Number& sine, Number& cosine) {
  const auto all = [](double value) __attribute__((always_inline)) { return Number{} + value; };
  const Number shift = all(0x1.8p52), shifted = fused(x, all(0x1.45f306dc9c883p-1), shift), n = shifted - shift;
  const auto quarter = bits(shifted);  // n, in the last bits
  const Number second = all(0x1.1a62633145c07p-54);
  const Number near = fused(-n, all(0x1.921fb54442d18p+0), x), p = n * second, lost = fused(n, second, -p);
  const Number r = near - p, back = r - near;
  const Number y = fused(n, all(0x1.f1976b7ed8fbcp-110), ((near - (r - back)) - (p + back)) - lost);
  const Number z = r * r, w = z * z, v = z * r;
  const Number S = fused(z * w, fused(z, all(0x1.5d93a5acfd57cp-33), all(-0x1.ae5e68a2b9cebp-26)),
                         fused(z, fused(z, all(0x1.71de357b1fe7dp-19), all(-0x1.a01a019c161d5p-13)), all(0x1.111111110f8a6p-7)));
  const Number s = r - (fused(z, fused(-v, S, 0.5 * y), -y) - v * -0x1.5555555555549p-3);
  const Number C = fused(w * w, fused(z, fused(z, all(-0x1.8fae9be8838d4p-37), all(0x1.1ee9ebdb4b1c4p-29)), all(-0x1.27e4f809c52adp-22)),
                         z * fused(z, fused(z, all(0x1.a01a019cb159p-16), all(-0x1.6c16c16c15177p-10)), all(0x1.555555555554cp-5)));
  const Number half = 0.5 * z, one = 1.0 - half;
  const Number c = one + (((1.0 - one) - half) + fused(z, C, -(r * y)));
  // An odd quarter exchanges sine and cosine; the second and third turn the sign of the sine, the first and second of the cosine.
  const auto exchanged = (bits(s) ^ bits(c)) & -(quarter & 1);
  sine = number((bits(s) ^ exchanged) ^ ((quarter & 2) << 62));
  cosine = number((bits(c) ^ exchanged) ^ (((quarter + 1) & 2) << 62));
}

#if defined(__x86_64__)
const bool fuses = __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0;

[[gnu::target("avx2,fma")]] void turn_fused(double x, double& sine, double& cosine) { turn(x, sine, cosine); }

[[gnu::target("avx2,fma")]] void turn_four(const double* x, double* sine, double* cosine) {
  Four s, c;
  turn(Four(*four(x)), s, c);
  *four(sine) = s;
  *four(cosine) = c;
}
#endif

DAEDALUS_IN_LINE void turn_one(double x, double& sine, double& cosine) {
  if (!(std::abs(x) < widest)) [[unlikely]] {
    sine = std::sin(x);
    cosine = std::cos(x);
    return;
  }
#if defined(__x86_64__)
  if (fuses) return turn_fused(x, sine, cosine);
#endif
  turn(x, sine, cosine);
}

}  // namespace

void sine_and_cosine(double x, double* sine, double* cosine) { turn_one(x, *sine, *cosine); }

double sine(double x) {
  double s, c;
  turn_one(x, s, c);
  return s;
}

double cosine(double x) {
  double s, c;
  turn_one(x, s, c);
  return c;
}

void sine_and_cosine_of_four(const double* x, double* sine, double* cosine) {
#if defined(__x86_64__)
  bool all_near = fuses;
  for (int k = 0; k < 4; ++k) all_near = all_near & (std::abs(x[k]) < widest);
  if (all_near) [[likely]] return turn_four(x, sine, cosine);
#endif
  for (int k = 0; k < 4; ++k) turn_one(x[k], sine[k], cosine[k]);
}

}  // namespace daedalus::expr
