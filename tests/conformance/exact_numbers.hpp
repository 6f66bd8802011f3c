#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace daedalus::test {

/// Whole numbers of any size: what order conditions need of arithmetic, no more.
class Whole {
 public:
  Whole(long long value = 0) : negative_(value < 0) {
    auto rest = negative_ ? 0ULL - static_cast<unsigned long long>(value) : static_cast<unsigned long long>(value);
    for (; rest != 0; rest >>= 32) digits_.push_back(static_cast<std::uint32_t>(rest));
  }

  friend bool operator==(const Whole&, const Whole&) = default;

  friend Whole operator*(const Whole& a, const Whole& b) {
    Whole result;
    result.digits_.assign(a.digits_.size() + b.digits_.size(), 0);
    for (std::size_t i = 0; i < a.digits_.size(); ++i) {
      std::uint64_t carry = 0;
      for (std::size_t j = 0; j < b.digits_.size() || carry != 0; ++j) {
        carry += result.digits_[i + j];
        if (j < b.digits_.size()) carry += std::uint64_t{a.digits_[i]} * b.digits_[j];
        result.digits_[i + j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    result.negative_ = a.negative_ != b.negative_;
    return result.trimmed();
  }

  friend Whole operator+(const Whole& a, const Whole& b) {
    if (a.negative_ == b.negative_) return added(a, b);
    return smaller(a, b) ? subtracted(b, a) : subtracted(a, b);
  }

  Whole operator-() const {
    Whole result = *this;
    if (!digits_.empty()) result.negative_ = !negative_;
    return result;
  }
  friend Whole operator-(const Whole& a, const Whole& b) { return a + -b; }

 private:
  /// Compares moduli.
  static bool smaller(const Whole& a, const Whole& b) {
    if (a.digits_.size() != b.digits_.size()) return a.digits_.size() < b.digits_.size();
    return std::lexicographical_compare(a.digits_.rbegin(), a.digits_.rend(), b.digits_.rbegin(), b.digits_.rend());
  }

  static Whole added(const Whole& a, const Whole& b) {
    Whole result;
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < std::max(a.digits_.size(), b.digits_.size()) || carry != 0; ++i) {
      if (i < a.digits_.size()) carry += a.digits_[i];
      if (i < b.digits_.size()) carry += b.digits_[i];
      result.digits_.push_back(static_cast<std::uint32_t>(carry));
      carry >>= 32;
    }
    result.negative_ = a.negative_;
    return result;
  }

  /// a - b in modulus, with the sign of a, where a is not smaller.
  static Whole subtracted(const Whole& a, const Whole& b) {
    Whole result = a;
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < a.digits_.size(); ++i) {
      std::int64_t digit =
          std::int64_t{a.digits_[i]} - borrow - (i < b.digits_.size() ? std::int64_t{b.digits_[i]} : 0);
      borrow = digit < 0 ? 1 : 0;
      if (digit < 0) digit += std::int64_t{1} << 32;
      result.digits_[i] = static_cast<std::uint32_t>(digit);
    }
    return result.trimmed();
  }

  Whole trimmed() {
    while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
    if (digits_.empty()) negative_ = false;
    return *this;
  }

  bool negative_ = false;
  std::vector<std::uint32_t> digits_;  ///< of base 2^32, the lowest first, none for 0
};

/// p + q sqrt(d) with whole p and q. Numbers without a root go with every d.
struct WithRoot {
  Whole p, q;
  int d = 1;

  WithRoot(Whole whole = 0) : p(std::move(whole)) {}
  WithRoot(long long whole) : p(whole) {}
  WithRoot(Whole whole, Whole root, int radicand) : p(std::move(whole)), q(std::move(root)), d(radicand) {}

  friend bool operator==(const WithRoot& a, const WithRoot& b) { return a.p == b.p && a.q == b.q; }
  friend WithRoot operator+(const WithRoot& a, const WithRoot& b) { return {a.p + b.p, a.q + b.q, std::max(a.d, b.d)}; }
  friend WithRoot operator-(const WithRoot& a, const WithRoot& b) { return {a.p - b.p, a.q - b.q, std::max(a.d, b.d)}; }
  friend WithRoot operator*(const WithRoot& a, const WithRoot& b) {
    const int d = std::max(a.d, b.d);
    return {a.p * b.p + Whole(d) * a.q * b.q, a.p * b.q + a.q * b.p, d};
  }
};

}  // namespace daedalus::test
