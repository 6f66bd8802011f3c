#include "daedalus/linalg/rational.hpp"

#include <fmt/format.h>
#include <gmp.h>

#include <cmath>
#include <cstdlib>
#include <utility>

#include "daedalus/base/check.hpp"

namespace daedalus::linalg {

struct Rational::Number {
  mpq_t q;
  Number() { mpq_init(q); }
  Number(const Number& other) {
    mpq_init(q);
    mpq_set(q, other.q);
  }
  Number& operator=(const Number&) = delete;
  ~Number() { mpq_clear(q); }
};

namespace {

std::string text_of(const mpz_t z) {
  std::string text(mpz_sizeinbase(z, 10) + 2, '\0');
  mpz_get_str(text.data(), 10, z);
  text.resize(text.find('\0'));
  return text;
}

}  // namespace

Rational::Rational() noexcept = default;
Rational::Rational(long value) {
  if (value == 0) return;
  number_ = std::make_unique<Number>();
  mpq_set_si(number_->q, value, 1);
}
Rational::Rational(long numerator, long denominator) : Rational(numerator) { *this /= Rational(denominator); }
Rational::Rational(const std::string& text) : number_(std::make_unique<Number>()) {
  DAEDALUS_CHECK(mpq_set_str(number_->q, text.c_str(), 10) == 0, "'{}' is not a fraction", text);
  mpq_canonicalize(number_->q);
  if (mpq_sgn(number_->q) == 0) number_.reset();
}
Rational::Rational(const Rational& other)
    : number_(other.number_ ? std::make_unique<Number>(*other.number_) : nullptr) {}
Rational::Rational(Rational&& other) noexcept = default;
Rational& Rational::operator=(const Rational& other) {
  if (this != &other) number_ = other.number_ ? std::make_unique<Number>(*other.number_) : nullptr;
  return *this;
}
Rational& Rational::operator=(Rational&& other) noexcept = default;
Rational::~Rational() = default;

Rational Rational::exactly(double value) {
  Rational result;
  if (value == 0.0) return result;
  result.number_ = std::make_unique<Number>();
  mpq_set_d(result.number_->q, value);
  return result;
}

Rational& Rational::operator+=(const Rational& other) {
  if (!other.number_) return *this;
  if (!number_) return *this = other;
  mpq_add(number_->q, number_->q, other.number_->q);
  if (mpq_sgn(number_->q) == 0) number_.reset();
  return *this;
}
Rational& Rational::operator-=(const Rational& other) {
  if (!other.number_) return *this;
  if (!number_) return *this = -other;
  mpq_sub(number_->q, number_->q, other.number_->q);
  if (mpq_sgn(number_->q) == 0) number_.reset();
  return *this;
}
Rational& Rational::operator*=(const Rational& other) {
  if (!number_) return *this;
  if (!other.number_) {
    number_.reset();
    return *this;
  }
  mpq_mul(number_->q, number_->q, other.number_->q);
  return *this;
}
Rational& Rational::operator/=(const Rational& other) {
  DAEDALUS_CHECK(other.number_ != nullptr, "division of {} by zero", text());
  if (number_) mpq_div(number_->q, number_->q, other.number_->q);
  return *this;
}
Rational Rational::operator-() const {
  Rational result(*this);
  if (result.number_) mpq_neg(result.number_->q, result.number_->q);
  return result;
}

double Rational::log2() const {
  DAEDALUS_CHECK(number_ != nullptr, "logarithm of {}", text());
  long above = 0, below = 0;
  const double numerator = mpz_get_d_2exp(&above, mpq_numref(number_->q));
  const double denominator = mpz_get_d_2exp(&below, mpq_denref(number_->q));
  return std::log2(std::abs(numerator) / denominator) + static_cast<double>(above - below);
}

int Rational::sign() const { return number_ ? mpq_sgn(number_->q) : 0; }
bool Rational::integer() const { return !number_ || mpz_cmp_ui(mpq_denref(number_->q), 1) == 0; }
double Rational::value() const { return number_ ? mpq_get_d(number_->q) : 0.0; }
std::string Rational::numerator() const { return number_ ? text_of(mpq_numref(number_->q)) : "0"; }
std::string Rational::denominator() const { return number_ ? text_of(mpq_denref(number_->q)) : "1"; }
std::string Rational::text() const { return integer() ? numerator() : numerator() + "/" + denominator(); }

bool operator==(const Rational& a, const Rational& b) {
  if (!a.number_ || !b.number_) return !a.number_ && !b.number_;
  return mpq_equal(a.number_->q, b.number_->q) != 0;
}
bool operator<(const Rational& a, const Rational& b) {
  if (!a.number_) return b.sign() > 0;
  if (!b.number_) return a.sign() < 0;
  return mpq_cmp(a.number_->q, b.number_->q) < 0;
}

namespace {

/// The shortest decimal that is read as this double: d.ddddde+xx.
std::string shortest_decimal(double value) {
  std::string text;
  for (int digits = 0; digits <= 17; ++digits) {
    text = fmt::format("{:.{}e}", value, digits);
    if (std::strtod(text.c_str(), nullptr) == value) break;
  }
  return text;
}

/// The sign and the digits before its exponent.
std::string digits_of(const std::string& decimal) {
  std::string digits;
  for (const char c : decimal.substr(0, decimal.find('e')))
    if (c != '.') digits += c;
  return digits;
}

}  // namespace

std::size_t decimal_digits(double value) { return digits_of(shortest_decimal(std::abs(value))).size(); }

bool has_few_bits(double value) {
  constexpr int most_bits = 30;
  int power = 0;
  const double mantissa = std::ldexp(std::frexp(value, &power), most_bits);
  return mantissa == std::trunc(mantissa);
}

std::optional<Rational> short_rational(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  if (value == 0.0) return Rational();
  if (value == std::trunc(value) && std::abs(value) < 0x1p53) return Rational(static_cast<long>(value));
  constexpr int most_digits = 10, most_exponent = 330;
  constexpr double most_fraction = 1e11;
  const std::string text = shortest_decimal(value);
  const long exponent = std::strtol(text.c_str() + text.find('e') + 1, nullptr, 10);
  if (std::abs(exponent) > most_exponent) return std::nullopt;
  const std::string digits = digits_of(text);
  const std::size_t count = digits.size() - (value < 0.0 ? 1 : 0);
  if (count <= most_digits) {
    const long shift = exponent - static_cast<long>(count) + 1;
    const std::string zeros(static_cast<std::size_t>(std::abs(shift)), '0');
    return Rational(shift >= 0 ? digits + zeros : digits + "/1" + zeros);
  }
  // 33025/524288 has 19 decimals, more than a double needs to be read again: the double itself is exact, its text is not.
  if (has_few_bits(value)) return Rational::exactly(value);
  // The convergents of the continued fraction: the first that is read as this double. One of `most_fraction` in 2^52 doubles
  // is such a fraction by chance.
  double rest = std::abs(value), p = 1.0, q = 0.0, p_before = 0.0, q_before = 1.0;
  while (true) {
    const double whole = std::floor(rest);
    p_before = std::exchange(p, whole * p + p_before);
    q_before = std::exchange(q, whole * q + q_before);
    if (!(p * q < most_fraction)) return std::nullopt;
    if (p / q == std::abs(value)) return Rational(static_cast<long>(std::copysign(p, value)), static_cast<long>(q));
    rest = 1.0 / (rest - whole);
  }
}

std::optional<RationalMatrix> short_rational(const DenseMatrix& matrix) {
  RationalMatrix result = RationalMatrix::zero(matrix.rows, matrix.columns);
  for (std::size_t k = 0; k < matrix.entries.size(); ++k) {
    std::optional<Rational> entry = short_rational(matrix.entries[k]);
    if (!entry) return std::nullopt;
    result.entries[k] = std::move(*entry);
  }
  return result;
}

DenseMatrix rounded(const RationalMatrix& matrix) {
  DenseMatrix result = DenseMatrix::zero(matrix.rows, matrix.columns);
  for (std::size_t k = 0; k < matrix.entries.size(); ++k) result.entries[k] = matrix.entries[k].value();
  return result;
}

DoubleDouble extended(const Rational& value) {
  const double high = value.value();
  return std::isfinite(high) ? DoubleDouble(high, (value - Rational::exactly(high)).value()) : DoubleDouble(high);
}

BasicMatrix<DoubleDouble> extended(const RationalMatrix& matrix) {
  auto result = BasicMatrix<DoubleDouble>::zero(matrix.rows, matrix.columns);
  for (std::size_t k = 0; k < matrix.entries.size(); ++k) result.entries[k] = extended(matrix.entries[k]);
  return result;
}

}  // namespace daedalus::linalg
