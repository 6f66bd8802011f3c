// The equations of motion, or of a DAE, as a LaTeX document.

#include <fmt/format.h>

#include "daedalus/expr/latex.hpp"
#include "daedalus/report/equations.hpp"
#include "daedalus/report/latex_parts.hpp"
#include "daedalus/report/shared_parts.hpp"

namespace daedalus::report {

using expr::Expr;
using mechanics::Constraint;
using mechanics::Equations;
using mechanics::ForceTerms;

std::string equations_latex(const Equations& eq) {
  const ForceTerms terms = mechanics::force_terms(eq);
  const bool lagrangian = eq.model->kind == model::Kind::lagrangian;
  const bool constrained = !eq.constraints.empty();
  std::string text =
      fmt::format("\\[ {}{} \\]\n",
                  lagrangian ? "M \\ddot{q} + C \\dot{q} + \\frac{\\partial V}{\\partial q} = Q" : "M \\ddot{q} = f",
                  constrained ? " - G^{T} \\lambda" : "");
  std::vector<std::string> names;
  for (const Expr& q : eq.q) names.push_back(latex::of(q));
  text += latex::unknowns("q", names);
  text += latex::matrix("M", eq.M);
  if (lagrangian) {
    text += latex::matrix("C", terms.C);
    text += latex::column("\\frac{\\partial V}{\\partial q}", terms.gradient, names, "\\frac{{\\partial V}}{{\\partial {}}}");
    text += latex::column("Q", terms.Q, names, "Q_{{{}}}");
  } else {
    text += latex::column("f", eq.f, names, "f_{{{}}}");
  }
  if (constrained) {
    text += latex::matrix("G", eq.G);
    for (std::size_t i = 0; i < eq.constraints.size(); ++i) {
      const Constraint& constraint = eq.constraints[i];
      std::vector<std::string> rows;
      if (constraint.holonomic) rows.push_back(latex::row("\\text{position}\\quad &", constraint.position, " = 0"));
      rows.push_back(latex::row("\\text{velocity}\\quad &", constraint.velocity, " = 0"));
      rows.push_back(latex::row("\\text{acceleration}\\quad &", acceleration_level(eq, i), " = 0"));
      text +=
          fmt::format("\\paragraph{{{}}} multiplier ${}$\n", latex::escaped(constraint.name), expr::to_latex(eq.lambda[i])) +
          latex::aligned(rows);
    }
  }
  if (!eq.auxiliary.empty()) {
    std::vector<std::string> rows;
    for (const Expr& residual : eq.auxiliary) rows.push_back(latex::row("&", residual, " = 0"));
    text += "\\paragraph{auxiliary equations}\n" + latex::aligned(rows);
  }
  return latex::document(eq.model->name, text);
}

std::string equations_latex(const structure::DaeFunctions& dae) {
  std::vector<std::string> names, rows;
  for (const Expr& y : dae.equations.y) names.push_back(latex::of(y));
  const SharedParts shared = shared_parts(dae.equations.F);
  for (const Expr& residual : shared.roots) rows.push_back(latex::row("0 &=", residual));
  std::string text = "\\[ F(t, y, \\dot{y}) = 0 \\]\n" + latex::unknowns("y", names) + latex::aligned(rows);
  if (!shared.parts.empty()) {
    rows.clear();
    for (const auto& [name, value] : shared.parts) rows.push_back(latex::row(latex::of(name) + " &=", value));
    text += "where parts that occur more than once are\n" + latex::aligned(rows);
  }
  return latex::document(dae.model->name, text);
}

}  // namespace daedalus::report
