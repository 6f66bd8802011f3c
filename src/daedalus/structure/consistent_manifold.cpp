#include "daedalus/structure/consistent_manifold.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/linalg/elimination.hpp"
#include "daedalus/linalg/lapack.hpp"

namespace daedalus::structure {

using linalg::BasicMatrix;

namespace {

/// From S x + sum_k N^k L2 f^(k) = 0, S of full row rank.
template <class Number>
std::vector<ManifoldEquation<Number>> solved(const BasicMatrix<Number>& S, const BasicMatrix<Number>& N,
                                             const BasicMatrix<Number>& L2, int index, double tolerance) {
  const linalg::Echelon<Number> e = linalg::echelon(S, tolerance);
  std::vector<ManifoldEquation<Number>> result;
  for (std::size_t i = 0; i < e.rank(); ++i) {
    ManifoldEquation<Number> equation{
        e.pivots[i], {}, ForcingTerms<Number>::zero(static_cast<std::size_t>(index), S.columns)};
    for (std::size_t j = 0; j < S.columns; ++j) equation.unknowns.push_back(e.form(i, j));
    result.push_back(std::move(equation));
  }
  BasicMatrix<Number> power = e.left * L2, nilpotent = e.left;
  for (int k = 0; k < index; ++k) {
    for (std::size_t i = 0; i < result.size(); ++i)
      for (std::size_t j = 0; j < S.columns; ++j) result[i].forcing(static_cast<std::size_t>(k), j) = power(i, j);
    nilpotent = nilpotent * N;
    power = nilpotent * L2;
  }
  return result;
}

}  // namespace

std::vector<ManifoldEquation<Rational>> consistent_manifold(const ExactWeierstrass& form) {
  const RationalMatrix inverse = *linalg::inverse(form.R);
  return solved(inverse.block(form.finite, 0, form.infinite, form.n), form.N,
                form.L.block(form.finite, 0, form.infinite, form.n), form.index, 0.0);
}

std::vector<ManifoldEquation<double>> consistent_manifold(const WeierstrassForm& form) {
  const std::optional<DenseMatrix> inverse = linalg::inverse(form.R);
  if (!inverse) return {};
  const DenseMatrix S = inverse->block(form.finite, 0, form.infinite, form.n);
  // A pivot must be well above the error of R^-1.
  std::vector<ManifoldEquation<double>> equations =
      solved(S, form.N, form.L.block(form.finite, 0, form.infinite, form.n), form.index, 1e-8 * linalg::norm(S));
  for (ManifoldEquation<double>& equation : equations) {
    const auto clean = [](auto begin, auto end) {
      double largest = 0.0;
      for (auto entry = begin; entry != end; ++entry) largest = std::max(largest, std::abs(*entry));
      for (auto entry = begin; entry != end; ++entry)
        if (std::abs(*entry) < 1e-9 * largest) *entry = 0.0;
    };
    clean(equation.unknowns.begin(), equation.unknowns.end());
    clean(equation.forcing.entries.begin(), equation.forcing.entries.end());
  }
  return equations;
}

RationalMatrix consistent_projector(const ExactWeierstrass& form) {
  return form.R.block(0, 0, form.n, form.finite) * linalg::inverse(form.R)->block(0, 0, form.finite, form.n);
}

DenseMatrix consistent_projector(const WeierstrassForm& form) {
  const std::optional<DenseMatrix> inverse = linalg::inverse(form.R);
  if (!inverse) return {};
  DenseMatrix projector = form.R.block(0, 0, form.n, form.finite) * inverse->block(0, 0, form.finite, form.n);
  const double zero = 1e-12 * std::max(1.0, form.condition_R);
  for (double& entry : projector.entries)
    if (std::abs(entry) < zero) entry = 0.0;
  return projector;
}

std::vector<double> nearest_consistent(const std::vector<ManifoldEquation<double>>& manifold, const std::vector<double>& sides,
                                       const std::vector<double>& x, const std::vector<double>& units) {
  // With x = x0 + D u, D the units: the shortest u with S D u = side - S x0.
  std::vector<double> result = x;
  if (manifold.empty()) return result;
  DenseMatrix S = DenseMatrix::zero(manifold.size(), x.size());
  std::vector<double> missing = sides;
  for (std::size_t i = 0; i < manifold.size(); ++i) {
    double size = 0.0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      missing[i] -= manifold[i].unknowns[j] * x[j];
      S(i, j) = manifold[i].unknowns[j] * units[j];
      size = std::max(size, std::abs(S(i, j)));
    }
    for (std::size_t j = 0; j < x.size(); ++j) S(i, j) /= size;
    missing[i] /= size;
  }
  const linalg::Svd svd = linalg::svd(S);
  for (std::size_t k = 0; k < manifold.size(); ++k) {
    double part = 0.0;
    for (std::size_t i = 0; i < manifold.size(); ++i) part += svd.U(i, k) * missing[i];
    for (std::size_t j = 0; j < x.size(); ++j) result[j] += units[j] * svd.V(j, k) * part / svd.values[k];
  }
  return result;
}

}  // namespace daedalus::structure
