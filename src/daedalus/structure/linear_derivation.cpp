#include "daedalus/structure/linear_derivation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/structure/gauss_like.hpp"
#include "daedalus/structure/jordan_form.hpp"
#include "daedalus/structure/pencil_findings.hpp"

namespace daedalus::structure {

using expr::Expr;
using linalg::BasicMatrix;

namespace {

double number(const Rational& value) { return value.value(); }
/// Rounding has touched it: what it leaves behind the tenth digit is not for people.
double number(double value) { return std::stod(brief(value, 10)); }

/// A factor after which a list of fractions is one of whole numbers; of doubles none.
double whole(const std::vector<Rational>& numbers) {
  Rational factor(1);
  for (const Rational& one : numbers)
    if (const Rational scaled = factor * one; !scaled.integer()) factor *= Rational(scaled.denominator());
  return factor.value();
}
double whole(const std::vector<double>&) { return 1.0; }

class Teller {
 public:
  explicit Teller(const LinearModel& system) : system_(system), graph_(system.time.graph()) {
    for (std::size_t i = 0; i < system.equations.size(); ++i) names_.push_back(fmt::format("f{}", i + 1));
    for (const std::string& name : system.unknowns) unknowns_.push_back(graph_.symbol(name));
    for (const std::string& name : system.unknowns) rates_.push_back(graph_.symbol(rate_name(name)));
    derivatives_.push_back(system.f);
  }

  Derivation::Matrix matrix(const std::string& name, const RationalMatrix& entries) const {
    return {name, {}, entries};
  }
  Derivation::Matrix matrix(const std::string& name, const DenseMatrix& entries) const {
    expr::SparseExpr sparse;
    sparse.rows = entries.rows;
    sparse.columns = entries.columns;
    for (std::size_t i = 0; i < entries.rows; ++i) {
      for (std::size_t j = 0; j < entries.columns; ++j)
        if (entries(i, j) != 0.0) {
          sparse.column.push_back(j);
          sparse.value.push_back(graph_.constant(number(entries(i, j))));
        }
      sparse.row_start.push_back(sparse.column.size());
    }
    return {name, sparse};
  }

  /// 0 = row x + forcing, with f as names, multiplied so that its numbers are whole.
  template <class Number>
  Derivation::Equation algebraic(const std::string& name, const std::vector<Number>& row,
                                 const ForcingTerms<Number>& forcing) {
    const double factor = factor_of(row, forcing, Number(1));
    return {name, graph_.constant(0.0), sum(row, factor) + named(forcing, factor)};
  }
  /// x_j' = row x + forcing, in the same way; with the functions of the model where `put_in`.
  template <class Number>
  Derivation::Equation rate(std::size_t j, const std::vector<Number>& row, const ForcingTerms<Number>& forcing) {
    const double factor = factor_of(row, forcing, Number(1));
    return {fmt::format("rate {}", j + 1), factor * rates_[j], sum(row, factor) + put_in(forcing, factor)};
  }
  /// forcing = 0 with f as names.
  template <class Number>
  Derivation::Equation condition(std::size_t k, const ForcingTerms<Number>& forcing) {
    const double factor = factor_of(std::vector<Number>{}, forcing, Number(1));
    return {fmt::format("condition {}", k + 1), named(forcing, factor), graph_.constant(0.0)};
  }
  Derivation::Equation manifold(std::size_t k, const ManifoldEquation<double>& equation) {
    return {fmt::format("manifold {}", k + 1), sum(equation.unknowns, 1.0), -put_in(equation.forcing, 1.0)};
  }

 private:
  static std::string rate_name(const std::string& name) {
    // x, der(x), der(x,2): the derivative of an unknown that is a derivative itself
    if (!name.starts_with("der(")) return model::derivative_name(name, 1);
    const std::size_t comma = name.rfind(',');
    const std::string of = name.substr(4, (comma == std::string::npos ? name.size() - 1 : comma) - 4);
    return model::derivative_name(of, comma == std::string::npos ? 2 : std::stoul(name.substr(comma + 1)) + 1);
  }

  template <class Number>
  static double factor_of(std::vector<Number> row, const ForcingTerms<Number>& forcing, Number lead) {
    row.push_back(lead);
    row.insert(row.end(), forcing.entries.begin(), forcing.entries.end());
    return whole(row);
  }
  template <class Number>
  Expr sum(const std::vector<Number>& row, double factor) const {
    Expr result = graph_.constant(0.0);
    for (std::size_t j = 0; j < row.size(); ++j)
      if (!(row[j] == Number(0))) result = result + factor * number(row[j]) * unknowns_[j];
    return result;
  }
  template <class Number>
  Expr named(const ForcingTerms<Number>& forcing, double factor) const {
    Expr result = graph_.constant(0.0);
    for (std::size_t i = 0; i < forcing.columns; ++i)
      for (std::size_t k = 0; k < forcing.rows; ++k)
        if (!(forcing(k, i) == Number(0)))
          result = result + factor * number(forcing(k, i)) * graph_.symbol(model::derivative_name(names_[i], k));
    return result;
  }
  template <class Number>
  Expr put_in(const ForcingTerms<Number>& forcing, double factor) {
    Expr result = graph_.constant(0.0);
    for (std::size_t k = 0; k < forcing.rows; ++k)
      for (std::size_t i = 0; i < forcing.columns; ++i)
        if (!(forcing(k, i) == Number(0))) result = result + factor * number(forcing(k, i)) * derivative(k)[i];
    return result;
  }
  const std::vector<Expr>& derivative(std::size_t k) {
    while (derivatives_.size() <= k)
      derivatives_.push_back(expr::derivative_along(derivatives_.back(), {{system_.time.id(), graph_.constant(1.0)}}));
    return derivatives_[k];
  }

  const LinearModel& system_;
  expr::Graph& graph_;
  std::vector<std::string> names_;
  std::vector<Expr> unknowns_, rates_;
  std::vector<std::vector<Expr>> derivatives_;
};

/// One elimination: L, U, the blocks, and what the algebraic rows say in the author's unknowns.
template <class Number>
Derivation::Step told(const GaussLikeStep<Number>& step, std::size_t k, Teller& teller) {
  const std::size_t m = step.before.rows(), n = step.before.columns(), r = step.rank;
  Derivation::Step out{k == 0 ? fmt::format("elimination: E has rank {} of {}", r, m)
                              : fmt::format("shift {} and elimination: E has rank {} of {}", k, r, m),
                       {}};
  if (k > 0)
    out.parts.push_back(
        {"The algebraic rows are differentiated: their blocks, with the sign changed, move from A to E.",
         {},
         {teller.matrix(fmt::format("E_{}", k), step.before.E), teller.matrix(fmt::format("A_{}", k), step.before.A)}});
  const std::string below = fmt::format("_{}", k);
  out.parts.push_back({"Rows are combined by L, columns by U, until E is diagonal; x is replaced by U z.",
                       {},
                       {teller.matrix("L" + below, step.L), teller.matrix("U" + below, step.U),
                        teller.matrix(fmt::format("L{0} E{0} U{0}", below), step.after.E),
                        teller.matrix(fmt::format("L{0} A{0} U{0}", below), step.after.A)}});
  if (r == m) {
    out.parts.push_back({m == n ? "E is regular: this is an ODE."
                                : fmt::format("Every row has a derivative of its own: {} for {} unknowns.",
                                              count(m, "equation"), n)});
    return out;
  }
  const auto inverse = linalg::inverse(step.coordinates);
  const BasicMatrix<Number> rows = step.after.A.block(r, 0, m - r, n) * *inverse;
  Derivation::Part part{"The other rows contain no derivative. In the unknowns of the model they are"};
  for (std::size_t i = r; i < m; ++i) {
    std::vector<Number> row;
    for (std::size_t j = 0; j < n; ++j) row.push_back(rows(i - r, j));
    part.equations.push_back(teller.algebraic(fmt::format("algebraic {}", i - r + 1), row, step.forcing[i]));
  }
  out.parts.push_back(std::move(part));
  return out;
}

template <class Number>
void tell_gauss(const GaussLikeReduction<Number>& reduction, Teller& teller, Derivation& out) {
  for (std::size_t k = 0; k < reduction.steps.size(); ++k) out.steps.push_back(told(reduction.steps[k], k, teller));
  if (!reduction.regular) {
    const GaussLikeStep<Number>& last = reduction.steps.back();
    out.steps.push_back(
        {"a singular pencil",
         {{last.rank == last.before.rows()
               ? "There are fewer equations than unknowns, and no shift adds one: E never becomes regular."
           : reduction.conditions.empty()
               ? "E is singular after as many shifts as there are unknowns: it never becomes regular."
               : "In combinations of these rows nothing but f is left: E never becomes regular."}}});
    return;
  }
  const std::size_t n = reduction.ode.rows;
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<Number> row;
    for (std::size_t i = 0; i < n; ++i) row.push_back(reduction.ode(j, i));
    out.reduced.push_back(teller.rate(j, row, reduction.ode_forcing[j]));
  }
  out.index = static_cast<std::size_t>(reduction.index());
  out.steps.push_back(
      {"the index",
       {{fmt::format("E became regular after {}: the index is {}. Derivatives of f up to order {} enter.",
                     count(*out.index, "shift"), *out.index, reduction.derivatives)}}});
}

std::string text_of(const linalg::RationalPolynomial& p) { return linalg::to_text(p, "lambda"); }

void tell_jordan(const JordanConstruction& c, const RationalPencil& pencil, const Teller& teller, Derivation& out) {
  const RationalMatrix inverse_E = *linalg::inverse(c.T0) * pencil.E;
  const RationalMatrix split = *linalg::inverse(c.T1) * inverse_E * c.T1;
  out.steps.push_back(
      {fmt::format("Theorem 4: T_0 = A - lambda_0 E with lambda_0 = {}", c.shift.text()),
       {{fmt::format(
             "det(A - lambda E) = {} is not zero there. T_1 brings inv(T_0) E to Jordan form, the eigenvalue 0 first:",
             text_of(c.determinant)),
         {},
         {teller.matrix("T_0", c.T0), teller.matrix("inv(T_0) E", inverse_E), teller.matrix("T_1", c.T1),
          teller.matrix("inv(T_1) inv(T_0) E T_1", split)}}}});
  out.steps.push_back({"Theorem 4: T_2 makes the other block of each pair an identity",
                       {{"On the nilpotent part T_2 is I + lambda_0 N, on the other J, the blocks of the last matrix.",
                         {},
                         {teller.matrix("T_2", c.T2)}}}});
  out.steps.push_back(
      {"Theorem 4: T_3 brings both blocks to Jordan form again",
       {{c.finite.canonical()
             ? ""
             : "Eigenvalues that are not fractions have no Jordan form in fractions: their block stays as it is.",
         {},
         {teller.matrix("T_3", c.T3)}}}});
  Derivation::Part result{
      "P = inv(T_0 T_1 T_2 T_3) and Q = T_1 T_3 give P E Q = [N 0; 0 I], P A Q = [I 0; 0 J] with",
      {},
      {teller.matrix("P", c.P), teller.matrix("Q", c.Q), teller.matrix("N", c.N), teller.matrix("J", c.J)}};
  out.steps.push_back({"Theorem 4: the Weierstrass form", {std::move(result)}});
}

std::string numbers(const std::vector<std::size_t>& all) {
  std::vector<std::string> texts;
  for (const std::size_t one : all) texts.push_back(std::to_string(one));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string structure_text(const KroneckerStructure& s) {
  if (!s.regular)
    return fmt::format("The pencil is singular: column minimal indices {}, row minimal indices {}.",
                       numbers(s.column_minimal_indices), numbers(s.row_minimal_indices));
  return fmt::format("The pencil is regular: nilpotent blocks {}, {}.", numbers(s.nilpotent_blocks),
                     count(s.differential_dimension, "finite eigenvalue"));
}

}  // namespace

Derivation linear_derivation(const model::Model& model) {
  Derivation out;
  const std::optional<LinearModel> system = linear_model(model);
  if (!system) {
    out.method = "linear equations";
    out.steps.push_back(
        {"the model", {{fmt::format("With more than {} unknowns nobody reads the steps.", most_dense)}}});
    return out;
  }
  const std::optional<RationalPencil> fractions = short_rational(system->pencil);
  out.method = fmt::format("elimination and differentiation of linear equations{}",
                           fractions ? ", in fractions" : ", with rounding: the entries are no short fractions");
  Teller teller(*system);
  const PencilFindings findings = pencil_findings(system->pencil);
  const auto pencil = fractions
                          ? std::vector{teller.matrix("E", fractions->E), teller.matrix("A", fractions->A)}
                          : std::vector{teller.matrix("E", system->pencil.E), teller.matrix("A", system->pencil.A)};
  out.steps.push_back(
      {"the pencil A - lambda E of E x' = A x + f",
       {{fmt::format("x = ({}), and f1, f2, ... are the parts of f.", fmt::join(system->unknowns, ", ")), {}, pencil},
        {structure_text(findings.structure)}}});
  if (fractions) {
    tell_gauss(gauss_like_reduction(*fractions), teller, out);
  } else {
    const double size = std::max(linalg::norm(system->pencil.E), linalg::norm(system->pencil.A));
    const KroneckerStructure& s = findings.structure;
    tell_gauss(gauss_like_reduction(system->pencil, size * std::max(std::sqrt(s.kept * s.dropped), 1e-13)), teller,
               out);
  }
  if (!findings.structure.regular) {
    Derivation::Part part{
        findings.dependencies.empty()
            ? "No combination of the equations is free of unknowns: any f will do."
            : "Combinations of the equations and their derivatives contain no unknown: f must satisfy"};
    for (std::size_t i = 0; i < findings.dependencies.size(); ++i)
      part.equations.push_back(teller.condition(i, findings.dependencies[i]));
    out.steps.push_back({"what binds f", {std::move(part)}});
  }
  if (findings.structure.regular && fractions && system->pencil.rows() <= most_jordan)
    tell_jordan(*jordan_construction(*fractions), *fractions, teller, out);
  for (std::size_t i = 0; i < findings.manifold.size(); ++i)
    out.conditions.push_back(teller.manifold(i, findings.manifold[i]));
  out.complete = findings.structure.regular && out.index.has_value();
  return out;
}

}  // namespace daedalus::structure
