#include "daedalus/structure/jordan_form.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/linalg/elimination.hpp"

namespace daedalus::structure {

using linalg::RationalPolynomial;

namespace {

/// One above the other, each a basis vector of the next: (M - mu)^(k-1) v, ..., (M - mu) v, v.
RationalMatrix chain(const RationalMatrix& B, RationalMatrix v, std::size_t length) {
  RationalMatrix columns = RationalMatrix::zero(B.rows, length);
  for (std::size_t k = length; k-- > 0; v = B * v) columns.set_block(0, k, v);
  return columns;
}

/// Chains of the eigenvalue 0 of B, the longest first. At height k new chains begin with vectors of the kernel of B^k
/// that are independent of the kernel of B^(k-1) and of what longer chains have there.
std::vector<RationalMatrix> chains(const RationalMatrix& B) {
  std::vector<RationalMatrix> kernels{RationalMatrix::zero(B.rows, 0)};
  for (RationalMatrix power = B;; power = power * B) {
    RationalMatrix kernel = linalg::kernel(power);
    if (kernel.columns == kernels.back().columns) break;
    kernels.push_back(std::move(kernel));
  }
  std::vector<RationalMatrix> found;
  for (std::size_t height = kernels.size() - 1; height > 0; --height) {
    RationalMatrix base = kernels[height - 1];
    for (const RationalMatrix& one : found) base = linalg::joined(base, one.block(0, height - 1, B.rows, 1));
    for (const std::size_t k : linalg::independent_of(base, kernels[height]))
      found.push_back(chain(B, kernels[height].block(0, k, B.rows, 1), height));
  }
  return found;
}

/// The square root of a fraction where that is a fraction of numbers below 1e9.
std::optional<Rational> square_root(const Rational& square) {
  const double p = std::sqrt(std::stod(square.numerator())), q = std::sqrt(std::stod(square.denominator()));
  if (!(p < 1e9 && q < 1e9)) return std::nullopt;
  const Rational root(std::lround(p), std::lround(q));
  return root * root == square ? std::optional(root) : std::nullopt;
}

Rational determinant(const RationalMatrix& matrix) {
  const RationalPolynomial p = linalg::characteristic_polynomial(matrix);  // det(x - M)
  return matrix.rows % 2 == 0 ? p.front() : -p.front();
}

class Builder {
 public:
  explicit Builder(const RationalMatrix& M) : M_(M), T_(RationalMatrix::zero(M.rows, 0)) {}

  void add(const linalg::Factor& factor) {
    if (factor.p.size() == 2) return add_eigenvalue(factor);
    const RationalMatrix value = linalg::evaluated(factor.p, M_);
    RationalMatrix kernel = linalg::kernel(value);
    const std::size_t degree = factor.p.size() - 1;
    if (kernel.columns < degree * factor.multiplicity) {  // not semisimple
      RationalMatrix power = value;
      while (kernel.columns < degree * factor.multiplicity) kernel = linalg::kernel(power = power * value);
      return add_columns(kernel, factor.p, false);
    }
    // Vectors v, M v, ..., M^(degree - 1) v until the kernel is exhausted.
    RationalMatrix have = RationalMatrix::zero(M_.rows, 0);
    while (have.columns < kernel.columns) {
      const std::size_t next = linalg::independent_of(have, kernel).front();
      RationalMatrix cyclic = RationalMatrix::zero(M_.rows, 0), v = kernel.block(0, next, M_.rows, 1);
      for (std::size_t k = 0; k < degree; ++k, v = M_ * v) cyclic = linalg::joined(cyclic, v);
      RationalMatrix more = linalg::joined(have, cyclic);
      if (linalg::rank(more) < more.columns) {  // v lies in a smaller space: p is not irreducible
        const std::vector<std::size_t> rest = linalg::independent_of(have, kernel);
        return add_columns(linalg::chosen(kernel, rest), factor.p, false);
      }
      add_cyclic(cyclic, factor.p);
      have = std::move(more);
    }
  }

  JordanForm finish() && {
    JordanForm out;
    out.J = *linalg::inverse(T_) * M_ * T_;
    out.T = std::move(T_);
    out.blocks = std::move(blocks_);
    return out;
  }

 private:
  void add_eigenvalue(const linalg::Factor& factor) {
    RationalMatrix B = M_;
    for (std::size_t i = 0; i < B.rows; ++i) B(i, i) += factor.p[0];  // M - mu with p = x - mu
    for (const RationalMatrix& one : chains(B)) add_columns(one, factor.p, true);
  }

  /// x^2 - 2 a x + a^2 + b^2: with w = (M - a) v / b, M v = a v + b w and M w = a w - b v.
  void add_cyclic(const RationalMatrix& cyclic, const RationalPolynomial& p) {
    if (p.size() == 3) {
      const Rational a = p[1] * Rational(-1, 2);
      const std::optional<Rational> b = square_root(p[0] - a * a);
      if (b && b->sign() > 0) {
        RationalMatrix pair = cyclic;
        for (std::size_t i = 0; i < pair.rows; ++i) pair(i, 1) = (cyclic(i, 1) - a * cyclic(i, 0)) / *b;
        return add_columns(pair, p, true);
      }
    }
    add_columns(cyclic, p, false);
  }

  void add_columns(const RationalMatrix& columns, const RationalPolynomial& factor, bool canonical) {
    blocks_.push_back({T_.columns, columns.columns, factor, canonical});
    T_ = linalg::joined(T_, columns);
  }

  const RationalMatrix& M_;
  RationalMatrix T_;
  std::vector<JordanForm::Block> blocks_;
};

}  // namespace

bool JordanForm::canonical() const {
  return std::all_of(blocks.begin(), blocks.end(), [](const Block& block) { return block.canonical; });
}

JordanForm jordan_form(const RationalMatrix& M) {
  Builder builder(M);
  std::vector<linalg::Factor> factors = linalg::rational_factors(linalg::characteristic_polynomial(M));
  std::stable_partition(factors.begin(), factors.end(),
                        [](const linalg::Factor& f) { return f.p.size() == 2 && f.p[0].sign() == 0; });
  for (const linalg::Factor& factor : factors) builder.add(factor);
  return std::move(builder).finish();
}

std::optional<JordanConstruction> jordan_construction(const RationalPencil& pencil) {
  const std::optional<Rational> shift = regular_shift(pencil);
  if (!shift) return std::nullopt;
  const std::size_t n = pencil.rows();
  JordanConstruction out;
  out.shift = *shift;
  out.T0 = pencil.A - *shift * pencil.E;
  const RationalMatrix T0_inverse = *linalg::inverse(out.T0);
  const JordanForm first = jordan_form(T0_inverse * pencil.E);
  out.T1 = first.T;
  std::size_t ni = 0;
  for (const JordanForm::Block& block : first.blocks)
    if (block.factor.size() == 2 && block.factor[0].sign() == 0) ni += block.size;
  const std::size_t nf = n - ni;
  out.N_tilde = first.J.block(0, 0, ni, ni);
  out.J_tilde = first.J.block(ni, ni, nf, nf);

  const RationalMatrix upper = RationalMatrix::identity(ni) + *shift * out.N_tilde;
  out.T2 = RationalMatrix::zero(n, n);
  out.T2.set_block(0, 0, upper);
  out.T2.set_block(ni, ni, out.J_tilde);
  out.nilpotent = jordan_form(*linalg::inverse(upper) * out.N_tilde);
  out.finite = jordan_form(*linalg::inverse(out.J_tilde) * (RationalMatrix::identity(nf) + *shift * out.J_tilde));
  out.T3 = RationalMatrix::zero(n, n);
  out.T3.set_block(0, 0, out.nilpotent.T);
  out.T3.set_block(ni, ni, out.finite.T);
  out.N = out.nilpotent.J;
  out.J = out.finite.J;
  out.P = *linalg::inverse(out.T0 * out.T1 * out.T2 * out.T3);
  out.Q = out.T1 * out.T3;

  // det P det(A - lambda E) det Q = det(I - lambda N) det(J - lambda I) = (-1)^nf det(lambda I - J), and
  // 1/(det P det Q) = det T0 det T2.
  out.determinant = linalg::characteristic_polynomial(out.J);
  const Rational factor = determinant(out.T0) * determinant(out.T2) * Rational(nf % 2 == 0 ? 1 : -1);
  for (Rational& coefficient : out.determinant) coefficient *= factor;
  return out;
}

}  // namespace daedalus::structure
