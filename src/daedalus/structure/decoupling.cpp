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

namespace daedalus::structure {

using linalg::BasicMatrix;

namespace {

/// Powers of two that bring the rows of [E, A] and the columns of E and A to size 1.
struct Balance {
  std::vector<int> row, column;
};

template <class T>
Balance balance(BasicMatrix<T>& E, BasicMatrix<T>& A) {
  const std::size_t n = E.rows;
  Balance out{std::vector<int>(n, 0), std::vector<int>(n, 0)};
  for (int sweep = 0; sweep < 8; ++sweep) {
    bool moved = false;
    for (const bool rows : {true, false})
      for (std::size_t i = 0; i < n; ++i) {
        double largest = 0.0;
        for (std::size_t j = 0; j < n; ++j)
          for (const BasicMatrix<T>* M : {&E, &A})
            largest = std::max(largest, std::abs(double(rows ? (*M)(i, j) : (*M)(j, i))));
        if (!(largest > 0.0) || !std::isfinite(largest)) continue;
        const int power = -std::ilogb(largest);
        if (power == 0) continue;
        moved = moved || std::abs(power) > 1;
        (rows ? out.row : out.column)[i] += power;
        for (std::size_t j = 0; j < n; ++j)
          for (BasicMatrix<T>* M : {&E, &A}) {
            T& value = rows ? (*M)(i, j) : (*M)(j, i);
            value = ldexp(value, power);
          }
      }
    if (!moved) break;
  }
  return out;
}

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
  using std::ldexp;
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
  for (std::size_t size = blocks_of_size.size(); size > 0; --size) {
    const std::size_t larger = size < blocks_of_size.size() ? blocks_of_size[size] : 0;
    out.nilpotent_blocks.insert(out.nilpotent_blocks.end(), blocks_of_size[size - 1] - std::min(larger, blocks_of_size[size - 1]), size);
  }
  out.L1 = L.block(0, 0, n1, n);
  out.L2 = L.block(n1, 0, n - n1, n);
  out.J = out.L1 * (A * V);
  out.N = out.L2 * (E * W);
  out.condition = linalg::row_norm(linalg::beside(V, W)) * linalg::row_norm(L) * (linalg::row_norm(E) + linalg::row_norm(A));
  // A vanishing power of N is set to zero by its index: what rounding leaves there is not used.
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n1; ++j) V(i, j) = ldexp(V(i, j), scale.column[i]);
    for (std::size_t j = 0; j < n - n1; ++j) W(i, j) = ldexp(W(i, j), scale.column[i]);
    for (std::size_t j = 0; j < n1; ++j) out.L1(j, i) = ldexp(out.L1(j, i), scale.row[i]);
    for (std::size_t j = 0; j < n - n1; ++j) out.L2(j, i) = ldexp(out.L2(j, i), scale.row[i]);
  }
  out.V = std::move(V);
  out.W = std::move(W);
  return out;
}

template std::optional<Decoupling<double>> decouple(BasicMatrix<double>, BasicMatrix<double>);
template std::optional<Decoupling<linalg::DoubleDouble>> decouple(BasicMatrix<linalg::DoubleDouble>, BasicMatrix<linalg::DoubleDouble>);

}  // namespace daedalus::structure
