#pragma once

#include <complex>
#include <vector>

#include "daedalus/linalg/dense_matrix.hpp"

/// What LAPACK does for this room and for `structure`: singular values and the generalized Schur form. For matrices of
/// some hundred rows; nothing here is called within a step.
namespace daedalus::linalg {

/// a = U diag(values) V^T with square orthogonal U and V, values descending.
struct Svd {
  DenseMatrix U, V;
  std::vector<double> values;
};
Svd svd(const DenseMatrix& a);
/// The singular values alone.
std::vector<double> singular_values(const DenseMatrix& a);

/// a = Q S Z^T, b = Q T Z^T with orthogonal Q, Z; S upper quasi-triangular, T upper triangular.
struct GeneralizedSchur {
  DenseMatrix Q, Z, S, T;
  bool converged = true;
};
GeneralizedSchur generalized_schur(const DenseMatrix& a, const DenseMatrix& b);

/// alpha x = lambda beta x: a v = lambda b v with lambda = alpha/beta, and w^* a = lambda w^* b; vectors of length 1.
struct GeneralizedEigen {
  struct Pair {
    std::complex<double> alpha;
    double beta = 0.0;
    std::vector<std::complex<double>> left, right;
  };
  std::vector<Pair> pairs;
  bool converged = true;
};
GeneralizedEigen generalized_eigen(const DenseMatrix& a, const DenseMatrix& b);

/// X and Y with a X - Y b = c and d X - Y e = f, where (a, d) and (b, e) are in generalized Schur form and have no
/// common eigenvalue.
struct SylvesterPair {
  DenseMatrix X, Y;
  bool solved = true;
};
SylvesterPair generalized_sylvester(const DenseMatrix& a, const DenseMatrix& b, const DenseMatrix& c,
                                    const DenseMatrix& d, const DenseMatrix& e, const DenseMatrix& f);

}  // namespace daedalus::linalg
