// The quasi-Weierstrass form by Wong's sequences (T. Berger, A. Ilchmann, S. Trenn: The quasi-Weierstrass form for regular
// matrix pencils, Linear Algebra Appl. 436, 2012):
//     V_0 = R^n,  V_(i+1) = A^-1 (E V_i),        W_0 = 0,  W_(i+1) = E^-1 (A W_i).
// The limits V, W of a regular pencil span R^n, and L = [E V, A W]^-1. The dimensions of W_i tell the nilpotent blocks:
// dim W_i - dim W_(i-1) of them are of size i at least. Theorem 4 of 000 is the same with N and J in Jordan form, which
// nothing here needs and which rounding does not survive.

#include "daedalus/structure/decoupling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/linalg/orthogonal_split.hpp"
#include "daedalus/structure/decoupling_parts.hpp"

namespace daedalus::structure {

using linalg::BasicMatrix;

namespace {

/// The steps of Wong's sequences, with what their rank decisions rest on.
template <class T>
class Sequence {
 public:
  explicit Sequence(Decoupling<T>& out) : out_(out) {}
  /// The vectors x with M x in the image of the orthonormal columns of `basis` under the other matrix. Both spaces, the
  /// image and the vectors, have a dimension that may be known.
  BasicMatrix<T> preimage(const BasicMatrix<T>& M, const BasicMatrix<T>& other, const BasicMatrix<T>& basis,
                          std::optional<std::size_t> image_rank, std::optional<std::size_t> dimension) {
    const linalg::OrthogonalSplit<T> image = split(other * basis, linalg::row_norm(other), image_rank);
    if (dimension) dimension = M.columns - *dimension;
    return split(transposed(transposed(image.rest) * M), linalg::row_norm(M), dimension).rest;
  }

 private:
  linalg::OrthogonalSplit<T> split(const BasicMatrix<T>& M, double size, std::optional<std::size_t> rank) {
    linalg::OrthogonalSplit<T> result = linalg::orthogonal_split(M, size, rank);
    out_.kept = std::min(out_.kept, result.kept);
    out_.dropped = std::max(out_.dropped, result.dropped);
    return result;
  }
  Decoupling<T>& out_;
};

}  // namespace

template <class T>
std::optional<Decoupling<T>> decouple(BasicMatrix<T> E, BasicMatrix<T> A, const std::optional<BlockCounts>& known) {
  using std::ldexp;
  const std::size_t n = E.rows;
  // With blocks that are known, s_i of size i at least, the dimension of W_i is s_1 + ... + s_i, that of A W_i the same, that of
  // V_i n less as much, and that of E V_i that of V_(i+1).
  const auto dimension = [&](std::size_t step) -> std::optional<std::size_t> {
    if (!known) return std::nullopt;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < std::min(step, known->size()); ++i) sum += (*known)[i];
    return sum;
  };
  const auto rest = [&](std::size_t step) -> std::optional<std::size_t> {
    if (!known) return std::nullopt;
    return n - *dimension(step);
  };
  const Balance scale = balance_of({linalg::converted<double>(E), linalg::converted<double>(A)});
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      E(i, j) = ldexp(E(i, j), scale.row[i] + scale.column[j] + scale.time);
      A(i, j) = ldexp(A(i, j), scale.row[i] + scale.column[j]);
    }
  Decoupling<T> out;
  Sequence<T> sequence(out);

  auto V = BasicMatrix<T>::identity(n), W = BasicMatrix<T>::zero(n, 0);
  for (std::size_t step = 0; step <= n; ++step) {
    BasicMatrix<T> next = sequence.preimage(A, E, V, rest(step + 1), rest(step + 1));
    const bool end = next.columns == V.columns;
    V = std::move(next);
    if (end) break;
  }
  std::vector<std::size_t> blocks_of_size;  // at least 1, 2, ...
  for (std::size_t step = 0; step <= n; ++step) {
    BasicMatrix<T> next = sequence.preimage(E, A, W, dimension(step), dimension(step + 1));
    if (next.columns <= W.columns) break;
    blocks_of_size.push_back(next.columns - W.columns);
    W = std::move(next);
  }
  if (V.columns + W.columns != n) return std::nullopt;
  // Columns have length 1: what is smaller than round-off beside it is a zero.
  for (BasicMatrix<T>* basis : {&V, &W})
    for (T& entry : basis->entries)
      if (std::abs(double(entry)) < 100.0 * linalg::unit_roundoff(T(0.0))) entry = T(0.0);
  const BasicMatrix<T> L = linalg::inverse(linalg::beside(E * V, A * W));
  if (L.rows != n) return std::nullopt;
  const std::size_t n1 = V.columns;
  out.index = static_cast<int>(blocks_of_size.size());
  out.nilpotent_blocks = block_sizes(blocks_of_size);
  out.L1 = L.block(0, 0, n1, n);
  out.L2 = L.block(n1, 0, n - n1, n);
  out.J = out.L1 * (A * V);
  out.N = out.L2 * (E * W);
  out.condition = linalg::row_norm(linalg::beside(V, W)) * linalg::row_norm(L) * (linalg::row_norm(E) + linalg::row_norm(A));
  // A vanishing power of N is set to zero by its index: what rounding leaves there is not used.
  out.V = std::move(V);
  out.W = std::move(W);
  unscale(scale, out);
  balance_dynamics(out, 1e3 * out.condition * std::max(linalg::unit_roundoff(T(0.0)), out.dropped));
  return out;
}

std::optional<Decoupling<linalg::DoubleDouble>> decouple(const Pencil& pencil) {
  using Number = linalg::DoubleDouble;
  if (const std::optional<RationalPencil> fractions = short_rational(pencil)) return decouple(*fractions);
  const BasicMatrix<Number> E = linalg::converted<Number>(pencil.E), A = linalg::converted<Number>(pencil.A);
  const Reduction reduction = reduce(pencil);
  const auto of_staircase = [&]() -> std::optional<Decoupling<Number>> {
    if (!reduction.stairs.regular()) return std::nullopt;
    return decouple(E, A, std::optional<BlockCounts>(reduction.stairs.s));
  };
  if (reduction.decided) return of_staircase();
  // What double precision cannot tell may be clear in twice as many digits: whole numbers of an ill-conditioned pencil, say.
  // A pivot of the size of round-off is that of the entries.
  constexpr double entries = std::numeric_limits<double>::epsilon();
  std::optional<Decoupling<Number>> out = decouple(E, A);
  if (!out || out->kept < 10.0 * entries * static_cast<double>(pencil.rows())) out = of_staircase();
  if (out) out->decided = out->dropped < entries * entries * out->kept;
  return out;
}

template std::optional<Decoupling<double>> decouple(BasicMatrix<double>, BasicMatrix<double>, const std::optional<BlockCounts>&);
template std::optional<Decoupling<linalg::DoubleDouble>> decouple(BasicMatrix<linalg::DoubleDouble>, BasicMatrix<linalg::DoubleDouble>,
                                                                  const std::optional<BlockCounts>&);

}  // namespace daedalus::structure
