// The quasi-Weierstrass form by Wong's sequences (T. Berger, A. Ilchmann, S. Trenn: The quasi-Weierstrass form for regular
// matrix pencils, Linear Algebra Appl. 436, 2012):
//     V_0 = R^n,  V_(i+1) = A^-1 (E V_i),        W_0 = 0,  W_(i+1) = E^-1 (A W_i).
// The limits V, W of a regular pencil span R^n, and L = [E V, A W]^-1. The dimensions of W_i tell the nilpotent blocks:
// dim W_i - dim W_(i-1) of them are of size i at least. Theorem 4 of 000 is the same with N and J in Jordan form, which
// nothing here needs and which rounding does not survive.

#include "daedalus/structure/decoupling.hpp"

#include <algorithm>
#include <cmath>

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
  /// The vectors x with M x in the image of the orthonormal columns of `basis` under the other matrix.
  BasicMatrix<T> preimage(const BasicMatrix<T>& M, const BasicMatrix<T>& other, const BasicMatrix<T>& basis) {
    const linalg::OrthogonalSplit<T> image = split(other * basis, linalg::row_norm(other));
    return split(transposed(transposed(image.rest) * M), linalg::row_norm(M)).rest;
  }

 private:
  linalg::OrthogonalSplit<T> split(const BasicMatrix<T>& M, double size) {
    linalg::OrthogonalSplit<T> result = linalg::orthogonal_split(M, size);
    out_.kept = std::min(out_.kept, result.kept);
    out_.dropped = std::max(out_.dropped, result.dropped);
    return result;
  }
  Decoupling<T>& out_;
};

}  // namespace

template <class T>
std::optional<Decoupling<T>> decouple(BasicMatrix<T> E, BasicMatrix<T> A) {
  const std::size_t n = E.rows;
  const Balance scale = balance(E, A);
  Decoupling<T> out;
  Sequence<T> sequence(out);

  auto V = BasicMatrix<T>::identity(n), W = BasicMatrix<T>::zero(n, 0);
  for (std::size_t step = 0; step <= n; ++step) {
    BasicMatrix<T> next = sequence.preimage(A, E, V);
    const bool end = next.columns == V.columns;
    V = std::move(next);
    if (end) break;
  }
  std::vector<std::size_t> blocks_of_size;  // at least 1, 2, ...
  for (std::size_t step = 0; step <= n; ++step) {
    BasicMatrix<T> next = sequence.preimage(E, A, W);
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
  return out;
}

template std::optional<Decoupling<double>> decouple(BasicMatrix<double>, BasicMatrix<double>);
template std::optional<Decoupling<linalg::DoubleDouble>> decouple(BasicMatrix<linalg::DoubleDouble>, BasicMatrix<linalg::DoubleDouble>);

}  // namespace daedalus::structure
