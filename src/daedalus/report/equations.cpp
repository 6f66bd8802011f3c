#include "daedalus/report/equations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/tidy.hpp"
#include "daedalus/report/matrix_text.hpp"

namespace daedalus::report {

using expr::Expr;
using mechanics::Constraint;
using mechanics::Equations;
using mechanics::ForceTerms;

namespace {

std::string text_of(Expr e) { return expr::to_text(expr::tidy(e)); }

bool all_zero(const std::vector<Expr>& values) {
  return std::all_of(values.begin(), values.end(), [](const Expr& e) { return e.is_constant(0.0); });
}

std::string vector_text(const std::string& name, const std::vector<Expr>& values, const std::vector<std::string>& labels) {
  if (all_zero(values)) return fmt::format("{} = 0\n", name);
  std::size_t width = 0;
  for (const std::string& label : labels) width = std::max(width, label.size());
  std::string text = fmt::format("{} =\n", name);
  for (std::size_t i = 0; i < values.size(); ++i)
    text += fmt::format("  {:<{}}  {}\n", labels[i], width, text_of(values[i]));
  return text;
}

std::vector<std::string> names_of(const std::vector<Expr>& symbols) {
  std::vector<std::string> names;
  for (const Expr& symbol : symbols) names.push_back(symbol.name());
  return names;
}

}  // namespace

Expr acceleration_level(const Equations& eq, std::size_t i) {
  Expr sum = eq.model->graph->constant(0.0);
  for (std::size_t k = eq.G.row_start[i]; k < eq.G.row_start[i + 1]; ++k)
    sum = sum + eq.G.value[k] * eq.a[eq.G.column[k]];
  return sum - eq.constraints[i].gamma;
}

std::string equations_text(const Equations& eq) {
  const ForceTerms terms = mechanics::force_terms(eq);
  const bool lagrangian = eq.model->kind == model::Kind::lagrangian;
  const bool constrained = !eq.constraints.empty();
  std::string text = fmt::format("{}: {}{}\n", eq.model->name, lagrangian ? "M q'' + C q' + dV/dq = Q" : "M q'' = f",
                                 constrained ? " - G^T lambda" : "");
  text += fmt::format("q = ({})\n\n", fmt::join(names_of(eq.q), ", "));
  text += matrix_text("M", eq.M);
  if (lagrangian) {
    text += matrix_text("C", terms.C);
    text += vector_text("dV/dq", terms.gradient, names_of(eq.q));
    text += vector_text("Q", terms.Q, names_of(eq.q));
  } else {
    text += vector_text("f", eq.f, names_of(eq.q));
  }
  if (constrained) {
    text += matrix_text("G", eq.G);
    std::vector<Expr> gamma;
    std::vector<std::string> names;
    for (const Constraint& constraint : eq.constraints) {
      gamma.push_back(constraint.gamma);
      names.push_back(constraint.name);
    }
    text += "\nconstraints\n";
    for (std::size_t i = 0; i < eq.constraints.size(); ++i) {
      const Constraint& constraint = eq.constraints[i];
      text += fmt::format("  {} ({}, multiplier {})\n", constraint.name, constraint.holonomic ? "holonomic" : "nonholonomic",
                          eq.lambda[i].name());
      if (constraint.holonomic) text += fmt::format("    position      {} = 0\n", expr::to_text(constraint.position));
      text += fmt::format("    velocity      {} = 0\n", text_of(constraint.velocity));
      text += fmt::format("    acceleration  {} = 0\n", text_of(acceleration_level(eq, i)));
    }
    text += "\nacceleration level G q'' = gamma\n" + vector_text("gamma", gamma, names);
  }
  if (!eq.auxiliary.empty()) {
    text += "\nauxiliary equations\n";
    for (std::size_t i = 0; i < eq.auxiliary.size(); ++i)
      text += fmt::format("  {}  {} = 0\n", eq.model->equations[i].name, text_of(eq.auxiliary[i]));
  }
  return text;
}

}  // namespace daedalus::report
