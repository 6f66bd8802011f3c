#include "daedalus/solve/analysis_linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/expr/tidy.hpp"
#include "daedalus/structure/linear_model.hpp"
#include "daedalus/structure/pencil_findings.hpp"

namespace daedalus::solve {

using expr::Expr;
using structure::DenseMatrix;

namespace {

/// "2*a - b + 0.5*c", or "0".
class Sum {
 public:
  void add(double factor, const std::string& term) {
    if (factor == 0.0) return;
    text_ += text_.empty() ? (factor < 0.0 ? "-" : "") : (factor < 0.0 ? " - " : " + ");
    const double size = std::abs(factor);
    text_ += size == 1.0 ? term : fmt::format("{}*{}", brief(size, 10), term);
  }
  std::string text() const { return text_.empty() ? "0" : text_; }

 private:
  std::string text_;
};

class Writer {
 public:
  Writer(const structure::LinearModel& system, bool rows_are_numbered, bool exact)
      : system_(system), exact_(exact), derivatives_{system.f} {
    for (std::size_t i = 0; i < system.equations.size(); ++i)
      names_.push_back(rows_are_numbered ? fmt::format("f{}", i + 1) : "f." + system.equations[i]);
  }

  LinearFindings::Equation equation(const structure::ManifoldEquation<double>& one) {
    Sum with_f, unknowns;
    for (std::size_t j = 0; j < one.unknowns.size(); ++j) {
      with_f.add(one.unknowns[j], system_.unknowns[j]);
      unknowns.add(one.unknowns[j], system_.unknowns[j]);
    }
    add_forcing(with_f, one.forcing, names_);
    return {with_f.text() + " = 0", unknowns.text() + " = " + shown(-forcing(one.forcing))};
  }

  /// What stands opposite the unknowns of that equation, at a time.
  double side(const structure::ManifoldEquation<double>& one, double t) {
    return -expr::evaluate(forcing(one.forcing), {{system_.time.id(), t}});
  }

  LinearFindings::Freedom freedom(const DenseMatrix& vector) const {
    LinearFindings::Freedom out;
    for (std::size_t j = 0; j < vector.columns; ++j) {
      Sum sum;
      for (std::size_t k = 0; k < vector.rows; ++k) sum.add(vector(k, j), model::derivative_name("phi", k));
      if (sum.text() == "0") continue;
      out.unknowns.push_back(system_.unknowns[j]);
      out.additions.push_back(sum.text());
    }
    return out;
  }

  LinearFindings::Dependence dependence(const DenseMatrix& vector) {
    LinearFindings::Dependence out;
    for (std::size_t i = 0; i < vector.columns; ++i)
      for (std::size_t k = 0; k < vector.rows; ++k)
        if (vector(k, i) != 0.0) {
          out.equations.push_back(system_.equations[i]);
          break;
        }
    Sum combination, condition;
    add_forcing(combination, vector, system_.equations);
    add_forcing(condition, vector, names_);
    out.combination = combination.text();
    out.condition = condition.text() + " = 0";
    out.holds = vanishes(expr::tidy(forcing(vector)), vector);
    out.left = out.holds ? "0" : shown(forcing(vector));
    return out;
  }

 private:
  /// Coefficients that rounding has touched are good to ten digits or so.
  std::string shown(const Expr& sum) const {
    return expr::to_text(exact_ ? expr::with_digits(expr::tidy(sum), 15) : expr::with_digits(expr::tidy(sum, 1e-10), 10));
  }

  static void add_forcing(Sum& sum, const DenseMatrix& terms, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < terms.columns; ++i)
      for (std::size_t k = 0; k < terms.rows; ++k) sum.add(terms(k, i), model::derivative_name(names[i], k));
  }

  /// The k-th derivative of f_i.
  const Expr& derivative(std::size_t i, std::size_t k) {
    while (derivatives_.size() <= k)
      derivatives_.push_back(
          expr::derivative_along(derivatives_.back(), {{system_.time.id(), system_.time.graph().constant(1.0)}}));
    return derivatives_[k][i];
  }

  Expr forcing(const DenseMatrix& terms) {
    Expr sum = system_.time.graph().constant(0.0);
    for (std::size_t k = 0; k < terms.rows; ++k)
      for (std::size_t i = 0; i < terms.columns; ++i)
        if (terms(k, i) != 0.0) sum = sum + terms(k, i) * derivative(i, k);
    return sum;
  }

  /// By its form, or by its values at some times beside those of its terms: a sum that cancels but for round-off.
  bool vanishes(const Expr& left, const DenseMatrix& terms) {
    if (left.is_constant(0.0)) return true;
    for (const double t : {0.137, 0.731, 1.618, 3.25}) {
      const std::unordered_map<expr::NodeId, double> at{{system_.time.id(), t}};
      double size = 0.0;
      for (std::size_t k = 0; k < terms.rows; ++k)
        for (std::size_t i = 0; i < terms.columns; ++i)
          if (terms(k, i) != 0.0) size += std::abs(terms(k, i) * expr::evaluate(derivative(i, k), at));
      if (!(std::abs(expr::evaluate(left, at)) <= 1e-9 * size)) return false;
    }
    return true;
  }

  const structure::LinearModel& system_;
  bool exact_;
  std::vector<std::string> names_;
  std::vector<std::vector<Expr>> derivatives_;  ///< [k][i]
};

std::optional<LinearFindings::Nearest> nearest_of(const model::Model& model, const structure::LinearModel& system, Writer& writer,
                                                   const std::vector<structure::ManifoldEquation<double>>& manifold,
                                                   double t_start) {
  std::map<std::string, std::pair<double, double>> starts;  // value and unit
  for (const model::Unknown& unknown : model.variables)
    for (std::size_t k = 0; k < unknown.start.size(); ++k)
      starts[model::derivative_name(unknown.name, k)] = {unknown.start[k].value, unknown.nominal};
  LinearFindings::Nearest out;
  std::vector<double> units, sides;
  for (const std::string& name : system.unknowns) {
    out.given.push_back(starts[name].first);
    units.push_back(starts[name].second > 0.0 ? starts[name].second : 1.0);
  }
  for (const auto& one : manifold) sides.push_back(writer.side(one, t_start));
  if (std::any_of(sides.begin(), sides.end(), [](double side) { return !std::isfinite(side); })) return std::nullopt;
  out.values = structure::nearest_consistent(manifold, sides, out.given, units);
  for (std::size_t j = 0; j < units.size(); ++j)
    out.distance = std::hypot(out.distance, (out.values[j] - out.given[j]) / units[j]);
  return out;
}

ModeAnalysis modes_of(const model::Model& model, const structure::Pencil& pencil, const structure::KroneckerStructure& s) {
  const auto numbers = model.numbers();
  const auto dense = [&](const model::Matrix& matrix, std::size_t rows, std::size_t columns) {
    auto result = DenseMatrix::zero(rows, columns);
    for (const model::Entry& entry : matrix.entries) result(entry.row, entry.column) = expr::evaluate(entry.value, numbers);
    return result;
  };
  return mode_analysis(pencil, s, dense(model.B, pencil.rows(), model.B.columns), dense(model.C, model.C.rows, pencil.columns()));
}

void add_notes(LinearFindings& out, bool rounding_differs, double rounding_dropped) {
  const structure::KroneckerStructure& s = out.structure;
  if (!s.decided && s.noise_alone)
    out.notes.push_back(
        fmt::format("the structure cannot be decided: beside the others a row, a column or E is so small that it may "
                    "be nothing but "
                    "noise, of which the ranks show {}; scale the equations and unknowns so that their entries are "
                    "alike, or give the "
                    "entries with all their digits",
                    brief(std::max(s.dropped, 1e-16), 1)));
  else if (!s.decided)
    out.notes.push_back(
        fmt::format("the structure cannot be decided: singular values down to {} would count and those up to {} not, "
                    "of matrices of "
                    "size 1, which is not far enough apart; give the entries with all their digits, or as fractions",
                    brief(s.kept, 2), brief(s.dropped, 2)));
  if (s.exact && rounding_differs)
    out.notes.push_back(
        fmt::format("the entries are taken as exact; changes of {} relative to E and A can give another structure",
                    brief(std::max(rounding_dropped, 1e-16), 1)));
  if (s.decided && !s.exact && s.dropped > 1e-12)
    out.notes.push_back(
        fmt::format("the entries are taken as good to {} only: singular values up to that size count as zero",
                    brief(s.dropped, 1)));
}

}  // namespace

std::optional<LinearFindings> linear_findings(const model::Model& model, double t_start) {
  std::optional<structure::SparseLinearModel> sparse = structure::sparse_linear_model(model);
  if (!sparse) return std::nullopt;
  if (std::max(sparse->pencil.rows, sparse->pencil.columns) > structure::most_dense) {
    std::optional<structure::KroneckerStructure> large = structure::sparse_structure(sparse->pencil, structure::most_dense);
    if (!large) return std::nullopt;
    LinearFindings out;
    out.unknowns = std::move(sparse->unknowns);
    out.structure = std::move(*large);
    add_notes(out, false, 0.0);
    return out;
  }
  const std::optional<structure::LinearModel> system = structure::linear_model(std::move(*sparse));
  structure::PencilFindings found = structure::pencil_findings(system->pencil);
  LinearFindings out;
  out.unknowns = system->unknowns;
  Writer writer(*system, model.kind == model::Kind::linear, found.structure.exact);
  for (const auto& one : found.manifold) out.manifold.push_back(writer.equation(one));
  for (const auto& one : found.free) out.free.push_back(writer.freedom(one));
  for (const auto& one : found.dependencies) out.dependences.push_back(writer.dependence(one));
  out.structure = std::move(found.structure);
  const structure::KroneckerStructure& s = out.structure;
  if (s.regular) {
    out.nearest = nearest_of(model, *system, writer, found.manifold, t_start);
    out.projector = std::move(found.projector);
    out.spaces = std::move(found.spaces);
    for (std::size_t i = 0; i < out.projector.rows; ++i) {
      std::vector<std::string>& row = out.projector_text.emplace_back();
      for (std::size_t j = 0; j < out.projector.columns; ++j)
        row.push_back(found.fractions ? (*found.fractions)(i, j).text() : brief(out.projector(i, j), 10));
    }
    if (s.rows <= most_modes) out.modes = modes_of(model, system->pencil, s);
  }
  add_notes(out, found.rounding_differs, found.rounding_dropped);
  return out;
}

std::string class_of(const LinearFindings& findings) {
  const structure::KroneckerStructure& s = findings.structure;
  if (s.rows != s.columns) return s.rows > s.columns ? "more equations than unknowns" : "fewer equations than unknowns";
  if (!s.regular) return "linear equations with a singular pencil";
  if (*s.index == 0) return "linear ordinary differential equations";
  if (s.differential_dimension == 0 && *s.index == 1) return "linear algebraic equations";
  return fmt::format("linear differential-algebraic equations of index {}", *s.index);
}

}  // namespace daedalus::solve
