#include "daedalus/structure/pencil_findings.hpp"

#include <algorithm>
#include <cmath>

namespace daedalus::structure {

namespace {

/// Coefficients of polynomials of a higher degree are lost in rounding, and nobody reads them.
constexpr std::size_t most_degree = 12;

/// A positive factor that makes fractions whole numbers, and the first that is not zero positive.
Rational whole_factor(const std::vector<const Rational*>& numbers) {
  Rational factor(1);
  for (const Rational* number : numbers)
    if (const Rational scaled = factor * *number; !scaled.integer()) factor *= Rational(scaled.denominator());
  const auto first = std::find_if(numbers.begin(), numbers.end(), [](const Rational* n) { return n->sign() != 0; });
  return first != numbers.end() && (*first)->sign() < 0 ? -factor : factor;
}

ManifoldEquation<double> whole(const ManifoldEquation<Rational>& equation) {
  std::vector<const Rational*> numbers;
  for (const Rational& number : equation.unknowns) numbers.push_back(&number);
  for (const Rational& number : equation.forcing.entries) numbers.push_back(&number);
  const Rational factor = whole_factor(numbers);
  ManifoldEquation<double> result{equation.pivot, {}, linalg::rounded(factor * equation.forcing)};
  for (const Rational& number : equation.unknowns) result.unknowns.push_back((factor * number).value());
  return result;
}

std::vector<PolynomialVector<double>> whole(const std::vector<PolynomialVector<Rational>>& vectors) {
  std::vector<PolynomialVector<double>> result;
  for (const PolynomialVector<Rational>& vector : vectors) {
    std::vector<const Rational*> numbers;
    for (const Rational& number : vector.entries) numbers.push_back(&number);
    result.push_back(linalg::rounded(whole_factor(numbers) * vector));
  }
  return result;
}

bool same(const KroneckerStructure& a, const KroneckerStructure& b) {
  return a.regular == b.regular && a.nilpotent_blocks == b.nilpotent_blocks &&
         a.column_minimal_indices == b.column_minimal_indices && a.row_minimal_indices == b.row_minimal_indices;
}

PencilFindings exact_findings(const RationalPencil& pencil) {
  PencilFindings out{exact_structure(pencil), {}, {}, {}, {}, {}, {}};
  if (out.structure.regular) {
    const ExactWeierstrass form = *exact_weierstrass(pencil);
    for (const ManifoldEquation<Rational>& equation : consistent_manifold(form)) out.manifold.push_back(whole(equation));
    out.fractions = consistent_projector(form);
    out.projector = linalg::rounded(*out.fractions);
    out.spaces = deflating_spaces(pencil, form);
    return out;
  }
  out.free = whole(right_minimal_basis(pencil, out.structure.column_minimal_indices));
  out.dependencies = whole(left_minimal_basis(pencil, out.structure.row_minimal_indices));
  return out;
}

/// Vectors of the scaled pencil, cleaned of what is noise there, in the unknowns or rows of the given one, largest
/// entry 1. The power k of lambda has the factor time^k.
void unscale(std::vector<PolynomialVector<double>>& vectors, const std::vector<double>& factors, double time) {
  const auto largest_of = [](const PolynomialVector<double>& vector) {
    double largest = 0.0;
    for (const double entry : vector.entries) largest = std::max(largest, std::abs(entry));
    return largest;
  };
  for (PolynomialVector<double>& vector : vectors) {
    const double noise = 1e-9 * largest_of(vector);
    double power = 1.0;
    for (std::size_t k = 0; k < vector.rows; ++k, power /= time)
      for (std::size_t i = 0; i < vector.columns; ++i)
        vector(k, i) = std::abs(vector(k, i)) < noise ? 0.0 : vector(k, i) * factors[i] * power;
    const double largest = largest_of(vector);
    for (double& entry : vector.entries) entry /= largest;
  }
}

/// What was found of the scaled pencil, in the unknowns, equations and time of the given one.
void unscale(std::vector<ManifoldEquation<double>>& manifold, const PencilScaling& scaling) {
  for (ManifoldEquation<double>& equation : manifold) {
    double factor = scaling.column[equation.pivot];  // the coefficient of the pivot stays 1
    for (std::size_t j = 0; j < equation.unknowns.size(); ++j) equation.unknowns[j] *= factor / scaling.column[j];
    for (std::size_t k = 0; k < equation.forcing.rows; ++k, factor /= scaling.time)
      for (std::size_t i = 0; i < equation.forcing.columns; ++i) equation.forcing(k, i) *= factor * scaling.row[i];
  }
}
void unscale(DenseMatrix& projector, const PencilScaling& scaling) {
  for (std::size_t i = 0; i < projector.rows; ++i)
    for (std::size_t j = 0; j < projector.columns; ++j) projector(i, j) *= scaling.column[i] / scaling.column[j];
}

/// Columns in the units of the given pencil, the first entry of each that is not zero again 1.
void unscale(DenseMatrix& basis, const std::vector<double>& factors, double power) {
  for (std::size_t j = 0; j < basis.columns; ++j) {
    double first = 0.0;
    for (std::size_t i = 0; i < basis.rows; ++i) {
      basis(i, j) *= std::pow(factors[i], power);
      if (first == 0.0) first = basis(i, j);
    }
    for (std::size_t i = 0; i < basis.rows; ++i) basis(i, j) /= first;
  }
}

PencilFindings rounded_findings(const Pencil& pencil) {
  const Reduction reduction = reduce(pencil);
  PencilFindings out{kronecker_structure(reduction), {}, {}, {}, {}, {}, {}};
  const KroneckerStructure& s = out.structure;
  const Pencil unit = scaled(pencil, reduction.scaling);
  if (s.regular) {
    // What is small beside what: in units in which all unknowns and equations are alike.
    Reduction own = reduction;
    own.scaling = {std::vector<double>(pencil.rows(), 1.0), std::vector<double>(pencil.columns(), 1.0), 1.0};
    const WeierstrassForm form = weierstrass_form(unit, own);
    out.manifold = consistent_manifold(form);
    out.projector = consistent_projector(form);
    unscale(out.manifold, reduction.scaling);
    unscale(out.projector, reduction.scaling);
    out.spaces = deflating_spaces(unit, form);
    for (DeflatingSpace* space : {&out.spaces.finite, &out.spaces.infinite}) {
      unscale(space->right, reduction.scaling.column, 1.0);
      unscale(space->left, reduction.scaling.row, -1.0);
    }
    return out;
  }
  const double tolerance = std::max(1e-12, std::sqrt(s.kept * std::max(s.dropped, 1e-16)));
  // Where rounding has made more of a basis, or less, it is none.
  const auto basis = [&](auto found_by, const std::vector<std::size_t>& indices) {
    std::vector<PolynomialVector<double>> found;
    if (!indices.empty() && indices.back() <= most_degree) found = found_by(unit, indices, tolerance);
    if (found.size() != indices.size()) found.clear();
    return found;
  };
  const auto right = [](const auto&... of) { return right_minimal_basis(of...); };
  const auto left = [](const auto&... of) { return left_minimal_basis(of...); };
  out.free = basis(right, s.column_minimal_indices);
  out.dependencies = basis(left, s.row_minimal_indices);
  unscale(out.free, reduction.scaling.column, reduction.scaling.time);
  unscale(out.dependencies, reduction.scaling.row, reduction.scaling.time);
  return out;
}

}  // namespace

PencilFindings pencil_findings(const Pencil& pencil) {
  const std::optional<RationalPencil> fractions = short_rational(pencil);
  if (!fractions) return rounded_findings(pencil);
  PencilFindings out = exact_findings(*fractions);
  const KroneckerStructure rounded = kronecker_structure(pencil);
  out.rounding_differs = !rounded.decided || !same(out.structure, rounded);
  out.rounding_dropped = rounded.dropped;
  out.structure.kept = rounded.kept;
  out.structure.dropped = rounded.dropped;
  out.structure.ranks = rounded.ranks;
  return out;
}

}  // namespace daedalus::structure
