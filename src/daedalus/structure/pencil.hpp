#pragma once

#include "daedalus/linalg/dense_matrix.hpp"

namespace daedalus::structure {

using linalg::DenseMatrix;

/// E x' = A x + f: the matrices of the pencil A - lambda E, of the same size, not necessarily square.
template <class Number>
struct BasicPencil {
  linalg::BasicMatrix<Number> E, A;
  std::size_t rows() const { return E.rows; }
  std::size_t columns() const { return E.columns; }
};
using Pencil = BasicPencil<double>;

}  // namespace daedalus::structure
