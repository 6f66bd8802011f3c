#include "daedalus/linalg/shifted_family.hpp"

#include <algorithm>

#include "daedalus/base/check.hpp"
#include "daedalus/linalg/ordered_lu.hpp"

namespace daedalus::linalg {

/// One complex shift fills two lanes, two or three fill four; a lane that is left over repeats the real one.
struct ShiftedFamily::Lanes {
  Lanes(const Sparsity& given, std::size_t most_complex_shifts) : pattern(given), spare(2 * pattern.rows) {
    if (most_complex_shifts > 0) two = std::make_unique<OrderedLu<Complex<Two>>>(pattern);
    if (most_complex_shifts > 1) four = std::make_unique<OrderedLu<Complex<Four>>>(pattern);
  }

  template <class Lane>
  static Complex<Lane> in_lanes(const Shifts& shifts) {
    Complex<Lane> result{};
    result.re += shifts.real;
    for (std::size_t k = 0; k < shifts.count; ++k) {
      result.re[k + 1] = shifts.complex[k].real();
      result.im[k + 1] = shifts.complex[k].imag();
    }
    return result;
  }

  template <class Lu>
  void solve(Lu& lu, std::size_t count, double* x) {
    const std::size_t n = pattern.rows;
    typename Lu::Vectors vectors;
    for (std::size_t k = 0; k < Lu::lanes; ++k) {
      const bool used = k > 0 && k <= count;
      vectors.re[k] = used ? x + (2 * k - 1) * n : spare.data();
      vectors.im[k] = used ? x + 2 * k * n : spare.data() + n;
    }
    vectors.re[0] = x;
    std::ranges::fill(spare, 0.0);
    lu.solve(vectors);
  }

  Sparsity pattern;
  std::unique_ptr<OrderedLu<Complex<Two>>> two;
  std::unique_ptr<OrderedLu<Complex<Four>>> four;
  std::vector<double> spare;  ///< a right side of zero
};

ShiftedFamily::ShiftedFamily(const Sparsity& pattern, std::size_t most_complex_shifts)
    : size_(pattern.rows), real_(pattern, ShiftedLu::Numbers::real) {
  DAEDALUS_CHECK(most_complex_shifts <= most_complex, "{} complex shifts", most_complex_shifts);
  for (std::size_t k = 0; k < most_complex_shifts; ++k) complex_.emplace_back(pattern, ShiftedLu::Numbers::complex);
  if (real_.backend() == ShiftedLu::Backend::dense && size_ <= most_ordered && most_complex_shifts > 0)
    lanes_ = std::make_unique<Lanes>(pattern, most_complex_shifts);
}
ShiftedFamily::~ShiftedFamily() = default;
ShiftedFamily::ShiftedFamily(ShiftedFamily&&) noexcept = default;
ShiftedFamily& ShiftedFamily::operator=(ShiftedFamily&&) noexcept = default;

bool ShiftedFamily::factor(const double* A, const double* B, const Shifts& shifts, const double* row_scale,
                           const double* column_scale) {
  DAEDALUS_CHECK(shifts.count <= complex_.size(), "{} complex shifts", shifts.count);
  count_ = shifts.count;
  together_ = Together::none;
  if (lanes_) {
    double size = std::abs(shifts.real);
    for (std::size_t k = 0; k < count_; ++k) size = std::max(size, std::abs(shifts.complex[k]));
    if (count_ == 1) {
      if (lanes_->two->factor(A, B, Lanes::in_lanes<Two>(shifts), size, row_scale, column_scale)) together_ = Together::two;
    } else if (count_ > 1) {
      if (lanes_->four->factor(A, B, Lanes::in_lanes<Four>(shifts), size, row_scale, column_scale)) together_ = Together::four;
    }
    if (together_ != Together::none) return true;
  }
  if (!real_.factor(A, B, shifts.real, row_scale, column_scale)) {
    singular_column_ = real_.singular_column();
    return false;
  }
  for (std::size_t k = 0; k < count_; ++k)
    if (!complex_[k].factor(A, B, shifts.complex[k], row_scale, column_scale)) {
      singular_column_ = complex_[k].singular_column();
      return false;
    }
  return true;
}

void ShiftedFamily::solve(double* x) {
  if (together_ == Together::two) return lanes_->solve(*lanes_->two, count_, x);
  if (together_ == Together::four) return lanes_->solve(*lanes_->four, count_, x);
  real_.solve(x);
  for (std::size_t k = 0; k < count_; ++k) complex_[k].solve(x + (2 * k + 1) * size_, x + (2 * k + 2) * size_);
}

void ShiftedFamily::solve_real(double* x) {
  if (together_ == Together::two) return lanes_->two->solve_first(x);
  if (together_ == Together::four) return lanes_->four->solve_first(x);
  real_.solve(x);
}

std::size_t ShiftedFamily::singular_column() const { return singular_column_; }

}  // namespace daedalus::linalg
