#pragma once

#include <memory>
#include <optional>
#include <string>

#include "daedalus/linalg/dense_matrix.hpp"
#include "daedalus/linalg/double_double.hpp"

namespace daedalus::linalg {

/// A fraction of integers of any length.
class Rational {
 public:
  Rational() noexcept;  ///< 0
  Rational(long value);
  Rational(long numerator, long denominator);
  /// "-3/4", "17"
  explicit Rational(const std::string& text);
  Rational(const Rational& other);
  Rational(Rational&& other) noexcept;
  Rational& operator=(const Rational& other);
  Rational& operator=(Rational&& other) noexcept;
  ~Rational();

  /// The value of a double, to its last bit.
  static Rational exactly(double value);

  Rational& operator+=(const Rational& other);
  Rational& operator-=(const Rational& other);
  Rational& operator*=(const Rational& other);
  Rational& operator/=(const Rational& other);  ///< other is not 0
  Rational operator-() const;

  int sign() const;
  double log2() const;            ///< of its size, which may be beyond all doubles; not of 0
  bool integer() const;
  double value() const;           ///< the nearest double or its neighbour
  std::string text() const;       ///< "-3/4", "17"
  std::string numerator() const;  ///< with its sign
  std::string denominator() const;

  friend bool operator==(const Rational& a, const Rational& b);
  friend bool operator<(const Rational& a, const Rational& b);

 private:
  struct Number;
  std::unique_ptr<Number> number_;  ///< none for 0, which most entries of matrices are
};

inline Rational operator+(Rational a, const Rational& b) { return a += b; }
inline Rational operator-(Rational a, const Rational& b) { return a -= b; }
inline Rational operator*(Rational a, const Rational& b) { return a *= b; }
inline Rational operator/(Rational a, const Rational& b) { return a /= b; }

/// The fraction that somebody meant who wrote this number: the shortest decimal if it has at most ten digits, the
/// double itself if it is a whole number below 2^53 or has at most 30 bits, p/q if that is this double and p q is below
/// 1e11. None for other numbers, which are measured or computed and not exact.
std::optional<Rational> short_rational(double value);

/// The digits of the shortest decimal that is read as this number.
std::size_t decimal_digits(double value);
/// Whether the number itself, not the decimal it is written as, is short: it has at most 30 bits.
bool has_few_bits(double value);

using RationalMatrix = BasicMatrix<Rational>;

/// Every entry as a short fraction; none where one is not short.
std::optional<RationalMatrix> short_rational(const DenseMatrix& matrix);
DenseMatrix rounded(const RationalMatrix& matrix);
/// The nearest number of 31 digits.
DoubleDouble extended(const Rational& value);
BasicMatrix<DoubleDouble> extended(const RationalMatrix& matrix);

}  // namespace daedalus::linalg
