// Taylor series after reduction of the argument: exp(x) = 2^k exp(r / 512)^512 with |r| <= log(2) / 2, and sine and cosine
// of r, |r| <= pi / 4, with x = k pi / 2 + r.

#include "daedalus/linalg/double_double.hpp"

namespace daedalus::linalg {

namespace {

// The two doubles nearest to log 2 and pi / 2.
const DoubleDouble log_2{0.6931471805599453, 2.3190468138462996e-17};
const DoubleDouble half_pi{1.5707963267948966, 6.123233995736766e-17};
constexpr double smallest = 1e-33;

}  // namespace

DoubleDouble exp(DoubleDouble x) {
  if (!(std::abs(x.high()) < 709.0)) return std::exp(x.high());
  const double k = std::round(x.high() / log_2.high());
  const DoubleDouble r = ldexp(x - log_2 * k, -9);
  // exp(r) - 1, so that squaring loses nothing beside 1
  DoubleDouble term = r, rest = r;
  for (int i = 2; i < 20 && std::abs(term.high()) > smallest * std::abs(r.high()); ++i) {
    term = term * r / DoubleDouble(i);
    rest += term;
  }
  for (int i = 0; i < 9; ++i) rest = ldexp(rest, 1) + rest * rest;
  return ldexp(rest + 1.0, static_cast<int>(k));
}

SineCosine sincos(DoubleDouble x) {
  if (!(std::abs(x.high()) < 1e15)) return {std::sin(x.high()), std::cos(x.high())};
  const double k = std::round(x.high() / half_pi.high());
  const DoubleDouble r = x - half_pi * k;
  DoubleDouble sine, cosine, term = 1.0;
  for (int i = 0; i < 40; ++i) {
    DoubleDouble& sum = i % 2 == 0 ? cosine : sine;
    sum += i % 4 < 2 ? term : -term;
    term = term * r / DoubleDouble(i + 1);
    if (std::abs(term.high()) < smallest * 1e-3) break;
  }
  switch (static_cast<int>(std::fmod(k, 4.0) + 4.0) % 4) {
    case 0: return {sine, cosine};
    case 1: return {cosine, -sine};
    case 2: return {-sine, -cosine};
    default: return {-cosine, sine};
  }
}

}  // namespace daedalus::linalg
