#include "daedalus/report/equations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/tidy.hpp"

namespace daedalus::report {

using expr::Expr;
using expr::SparseExpr;
using mechanics::Constraint;
using mechanics::Equations;
using mechanics::ForceTerms;

namespace {

std::string text_of(Expr e) { return expr::to_text(expr::tidy(e)); }

bool all_zero(const std::vector<Expr>& values) {
  return std::all_of(values.begin(), values.end(), [](const Expr& e) { return e.is_constant(0.0); });
}

/// A small matrix as rows, a large or wide one entry by entry.
std::string matrix_text(const std::string& name, const SparseExpr& matrix) {
  if (matrix.value.empty()) return fmt::format("{} = 0\n", name);
  std::vector<std::string> cells(matrix.rows * matrix.columns, "0");
  std::vector<std::size_t> width(matrix.columns, 1);
  std::size_t total = 0;
  constexpr std::size_t widest = 110, largest = 12;
  const bool small = matrix.rows <= largest && matrix.columns <= largest;
  if (small) {
    for (std::size_t i = 0; i < matrix.rows; ++i)
      for (std::size_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
        cells[i * matrix.columns + matrix.column[k]] = text_of(matrix.value[k]);
    for (std::size_t j = 0; j < matrix.columns; ++j) {
      for (std::size_t i = 0; i < matrix.rows; ++i) width[j] = std::max(width[j], cells[i * matrix.columns + j].size());
      total += width[j] + 2;
    }
  }
  std::string text = fmt::format("{} =\n", name);
  if (small && total <= widest) {
    for (std::size_t i = 0; i < matrix.rows; ++i) {
      text += "  [";
      for (std::size_t j = 0; j < matrix.columns; ++j) text += fmt::format(" {:<{}} ", cells[i * matrix.columns + j], width[j]);
      text += "]\n";
    }
    return text;
  }
  for (std::size_t i = 0; i < matrix.rows; ++i)
    for (std::size_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
      if (const std::string entry = text_of(matrix.value[k]); entry != "0")
        text += fmt::format("  [{},{}]  {}\n", i + 1, matrix.column[k] + 1, entry);
  return text;
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
