#pragma once

#include <optional>

#include "daedalus/linalg/double_double.hpp"
#include "daedalus/linalg/matrix_parts.hpp"

namespace daedalus::linalg {

/// Orthonormal bases of the column space of a matrix and of what is orthogonal to it.
template <class T>
struct OrthogonalSplit {
  BasicMatrix<T> range, rest;
  double kept = 1.0;     ///< smallest pivot counted, relative to the largest
  double dropped = 0.0;  ///< largest pivot not counted
  std::size_t rank() const { return range.columns; }
};

/// Householder QR with column pivoting. A pivot far below the largest is dropped where the widest gap is: above round-off of
/// the numbers T, or above round-off of doubles, which is what entries given as doubles may carry. A matrix that is the
/// product of larger ones is judged beside their size. A `rank` that is known counts instead.
template <class T>
OrthogonalSplit<T> orthogonal_split(BasicMatrix<T> matrix, double size = 0.0, std::optional<std::size_t> rank = {});

/// The inverse by elimination with row pivoting; an empty matrix where a pivot vanishes.
template <class T>
BasicMatrix<T> inverse(BasicMatrix<T> matrix);

}  // namespace daedalus::linalg
