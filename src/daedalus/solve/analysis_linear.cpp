#include "daedalus/solve/analysis_linear.hpp"

#include <fmt/format.h>

#include <cmath>

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
using structure::LinearModel;

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
  Writer(const LinearModel& system, bool rows_are_numbered) : system_(system), derivatives_{system.f} {
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
    return {with_f.text() + " = 0", unknowns.text() + " = " + expr::to_text(expr::tidy(-forcing(one.forcing)))};
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
    const Expr left = expr::tidy(forcing(vector));
    out.holds = vanishes(left, vector);
    out.left = out.holds ? "0" : expr::to_text(left);
    return out;
  }

 private:
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

  const LinearModel& system_;
  std::vector<std::string> names_;
  std::vector<std::vector<Expr>> derivatives_;  ///< [k][i]
};

}  // namespace

std::optional<LinearFindings> linear_findings(const model::Model& model) {
  const std::optional<LinearModel> system = structure::linear_model(model);
  if (!system) return std::nullopt;
  structure::PencilFindings found = structure::pencil_findings(system->pencil);
  LinearFindings out;
  out.unknowns = system->unknowns;
  Writer writer(*system, model.kind == model::Kind::linear);
  for (const auto& one : found.manifold) out.manifold.push_back(writer.equation(one));
  for (const auto& one : found.free) out.free.push_back(writer.freedom(one));
  for (const auto& one : found.dependencies) out.dependences.push_back(writer.dependence(one));
  out.structure = std::move(found.structure);
  const structure::KroneckerStructure& s = out.structure;
  if (!s.decided)
    out.notes.push_back(
        fmt::format("the structure cannot be decided: singular values down to {} would count and those up to {} not, "
                    "of matrices of "
                    "size 1, which is not far enough apart; give the entries with all their digits, or as fractions",
                    brief(s.kept, 2), brief(s.dropped, 2)));
  if (s.exact && found.rounding_differs)
    out.notes.push_back(
        fmt::format("the entries are taken as exact; changes of {} relative to E and A can give another structure",
                    brief(std::max(found.rounding_dropped, 1e-16), 1)));
  if (s.decided && !s.exact && s.dropped > 1e-12)
    out.notes.push_back(
        fmt::format("the entries are taken as good to {} only: singular values up to that size count as zero",
                    brief(s.dropped, 1)));
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
