// Arithmetic in Q(sqrt d): (p + q s)/r with s^2 = d. The inverse is r (p - q s)/(p^2 - d q^2).
#include "daedalus/integrate/surd.hpp"

#include <cctype>
#include <cmath>
#include <numeric>

#include "daedalus/base/check.hpp"

namespace daedalus::integrate {
namespace {

long long product(long long a, long long b) {
  long long result = 0;
  DAEDALUS_CHECK(!__builtin_mul_overflow(a, b, &result), "{} times {}", a, b);
  return result;
}

long long sum(long long a, long long b) {
  long long result = 0;
  DAEDALUS_CHECK(!__builtin_add_overflow(a, b, &result), "{} plus {}", a, b);
  return result;
}

Surd reduced(long long p, long long q, long long r, int d) {
  DAEDALUS_CHECK(r != 0, "({} + {} sqrt({})) / 0", p, q, d);
  long long common = std::gcd(std::gcd(p, q), r);
  if (r < 0) common = -common;
  return {p / common, q / common, r / common, q == 0 ? 1 : d};
}

/// The root that both numbers have.
int common_root(const Surd& a, const Surd& b) {
  DAEDALUS_CHECK(a.q == 0 || b.q == 0 || a.d == b.d, "sqrt({}) and sqrt({})", a.d, b.d);
  return a.q != 0 ? a.d : b.d;
}

Surd plus(const Surd& a, const Surd& b) {
  const int d = common_root(a, b);
  const long long shared = std::gcd(a.r, b.r), fa = b.r / shared, fb = a.r / shared;
  return reduced(sum(product(a.p, fa), product(b.p, fb)), sum(product(a.q, fa), product(b.q, fb)), product(a.r, fa), d);
}

Surd negative(const Surd& a) { return {-a.p, -a.q, a.r, a.d}; }

Surd times(const Surd& a, const Surd& b) {
  const int d = common_root(a, b);
  return reduced(sum(product(a.p, b.p), product(d, product(a.q, b.q))), sum(product(a.p, b.q), product(a.q, b.p)),
                 product(a.r, b.r), d);
}

Surd inverse(const Surd& a) {
  return reduced(product(a.r, a.p), -product(a.r, a.q), sum(product(a.p, a.p), -product(a.d, product(a.q, a.q))), a.d);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Surd all() {
    const Surd result = terms();
    DAEDALUS_CHECK(next() == '\0', "'{}' at {} of '{}'", text_.substr(at_), at_, text_);
    return result;
  }

 private:
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    return true;
  }

  Surd terms() {
    Surd result = factors();
    for (;;) {
      if (take('+'))
        result = plus(result, factors());
      else if (take('-'))
        result = plus(result, negative(factors()));
      else
        return result;
    }
  }

  Surd factors() {
    Surd result = signed_factor();
    for (;;) {
      if (take('*'))
        result = times(result, signed_factor());
      else if (take('/'))
        result = times(result, inverse(signed_factor()));
      else
        return result;
    }
  }

  Surd signed_factor() {
    if (take('-')) return negative(signed_factor());
    if (take('(')) {
      const Surd inner = terms();
      DAEDALUS_CHECK(take(')'), "a bracket is open in '{}'", text_);
      return inner;
    }
    constexpr std::string_view root = "sqrt(";
    next();
    if (text_.substr(at_).starts_with(root)) {
      at_ += root.size();
      const Surd inner = terms();
      DAEDALUS_CHECK(take(')') && inner.q == 0 && inner.r == 1 && inner.p > 0 && inner.p < 1000, "a root in '{}'",
                     text_);
      return root_of(inner.p);
    }
    return whole_number();
  }

  static Surd root_of(long long radicand) {
    long long outside = 1;
    for (long long i = 2; i * i <= radicand; ++i) {
      while (radicand % (i * i) == 0) {
        radicand /= i * i;
        outside *= i;
      }
    }
    return radicand == 1 ? Surd{outside, 0, 1, 1} : Surd{0, outside, 1, static_cast<int>(radicand)};
  }

  Surd whole_number() {
    DAEDALUS_CHECK(std::isdigit(static_cast<unsigned char>(next())), "'{}' at {} of '{}'", text_.substr(at_), at_,
                   text_);
    long long number = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      number = sum(product(10, number), text_[at_++] - '0');
    }
    return {number, 0, 1, 1};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Surd parse_surd(std::string_view text) { return Parser(text).all(); }

double value_of(const Surd& surd) {
  const long double p = static_cast<long double>(surd.p), q = static_cast<long double>(surd.q);
  const long double root = std::sqrt(static_cast<long double>(surd.d)), r = static_cast<long double>(surd.r);
  // Where the two terms nearly cancel, the difference of their squares is exact: p + q s = (p^2 - d q^2)/(p - q s).
  if (surd.q != 0 && (surd.p < 0) != (surd.q < 0) && surd.p != 0) {
    return static_cast<double>((p * p - static_cast<long double>(surd.d) * q * q) / ((p - q * root) * r));
  }
  return static_cast<double>((p + q * root) / r);
}

}  // namespace daedalus::integrate
