// The equations of motion, or of a DAE, as a LaTeX document. Widths are estimated here, to decide where lines break and
// which matrices are written entry by entry; the macro \fit measures what is set and scales it where the estimate was
// too small.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/tidy.hpp"
#include "daedalus/report/equations.hpp"
#include "daedalus/report/shared_parts.hpp"

namespace daedalus::report {

using expr::Expr;
using expr::Op;
using expr::SparseExpr;
using mechanics::Constraint;
using mechanics::Equations;
using mechanics::ForceTerms;

namespace {

constexpr std::size_t line_width = 88;      ///< characters of formula in a line of the page
constexpr std::size_t widest_matrix = 130;  ///< scaled to two thirds; anything wider gets names
constexpr std::size_t widest_entry = 14;    ///< of a matrix with names: longer entries are written below it
constexpr std::size_t largest_matrix = 24;  ///< rows and columns; a larger one is a list of its entries

constexpr const char* preamble =
    R"(\documentclass[a4paper]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{amsmath}
\usepackage{graphicx}
\setcounter{MaxMatrixCols}{200}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\renewcommand{\arraystretch}{1.5}
% scales a formula that is wider than the line
\newsavebox{\fitbox}
\newcommand{\fit}[1]{\sbox{\fitbox}{$\displaystyle #1$}%
  \ifdim\wd\fitbox>0.92\linewidth\resizebox{0.92\linewidth}{!}{\usebox{\fitbox}}\else\usebox{\fitbox}\fi}
\begin{document}
)";

std::string latex_of(Expr e) { return expr::to_latex(expr::tidy(e)); }

/// About how many characters wide a formula is set: commands count as one letter, braces and the like as none.
std::size_t width_of(const std::string& latex) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < latex.size(); ++i) {
    const char c = latex[i];
    if (c == '\\') {
      std::size_t end = i + 1;
      while (end < latex.size() && std::isalpha(static_cast<unsigned char>(latex[end]))) ++end;
      const std::string_view name(latex.data() + i + 1, end - i - 1);
      if (name == "sin" || name == "cos" || name == "tan" || name == "exp" || name == "log")
        width += 3;
      else if (name != "left" && name != "right" && name != "frac" && name != "dot" && name != "ddot" &&
               name != "mathrm")
        ++width;
      i = std::max(i, end - 1);
    } else if (std::string_view("{}^_ ").find(c) == std::string_view::npos) {
      ++width;
    }
  }
  return width;
}

/// The summands of an expression as written, each with its sign in front (none before the first).
std::vector<std::string> summands(Expr root) {
  struct Open {
    Expr e;
    bool negative;
  };
  const Expr tidied = expr::tidy(root);
  std::vector<Open> stack{{tidied, false}};
  std::vector<std::string> terms;
  while (!stack.empty()) {
    const Open top = stack.back();
    stack.pop_back();
    const expr::Node node = top.e.node();
    const auto part = [&](expr::NodeId id) { return Expr(&top.e.graph(), id); };
    if (node.op == Op::add || node.op == Op::sub) {
      stack.push_back({part(node.b), node.op == Op::sub ? !top.negative : top.negative});
      stack.push_back({part(node.a), top.negative});
    } else if (node.op == Op::neg) {
      stack.push_back({part(node.a), !top.negative});
    } else {
      std::string text = expr::to_latex(top.e);
      bool negative = top.negative;
      if (text.starts_with("-")) {
        text.erase(0, 1);
        negative = !negative;
      }
      terms.push_back((negative ? "-" : terms.empty() ? "" : "+") + std::string(" ") + text);
    }
  }
  return terms;
}

/// Puts pieces together to lines of the page; each ends before `line_width`, or has one piece.
std::vector<std::string> lines_of(const std::vector<std::string>& pieces, const std::string& between) {
  std::vector<std::string> lines;
  std::size_t width = 0;
  for (const std::string& piece : pieces) {
    const std::size_t more = width_of(piece) + 2;
    if (lines.empty() || width + more > line_width) {
      if (!lines.empty()) lines.back() += between;
      lines.push_back(piece);
      width = more;
    } else {
      lines.back() += between + piece;
      width += more;
    }
  }
  return lines;
}

/// A row of an align: `left`, then the sum in as many lines as it needs, then `right`.
std::string row(const std::string& left, Expr sum, const std::string& right = {}) {
  std::vector<std::string> lines = lines_of(summands(sum), " ");
  lines.back() += right;
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += " \\\\\n";
    // The empty group makes a sign at the beginning of a line an operator, with space after it.
    text += i > 0 ? "  & \\quad \\fit{{} " : "  " + left + " \\fit{";
    text += lines[i] + "}";
  }
  return text;
}

std::string aligned(const std::vector<std::string>& rows) {
  if (rows.empty()) return {};
  return fmt::format("\\begin{{align*}}\n{}\n\\end{{align*}}\n", fmt::join(rows, " \\\\[3pt]\n"));
}

std::string displayed(const std::string& formula) { return "\\[ \\fit{" + formula + "} \\]\n"; }

std::string entry_name(const std::string& name, std::size_t i, std::size_t j) {
  return fmt::format("{}_{{{},{}}}", name, i + 1, j + 1);
}

std::string matrix(const std::string& name, const SparseExpr& matrix) {
  if (matrix.value.empty()) return displayed(name + " = 0");
  const bool listed = matrix.rows > largest_matrix || matrix.columns > largest_matrix;
  std::vector<std::string> cells, rows;
  std::vector<std::size_t> width(matrix.columns, 1);
  if (!listed) cells.assign(matrix.rows * matrix.columns, "0");
  for (std::size_t i = 0; i < matrix.rows; ++i)
    for (std::size_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const std::size_t j = matrix.column[k];
      if (listed) {
        rows.push_back(row(entry_name(name, i, j) + " &=", matrix.value[k]));
        continue;
      }
      std::string& cell = cells[i * matrix.columns + j];
      cell = latex_of(matrix.value[k]);
      width[j] = std::max(width[j], width_of(cell));
    }
  if (listed)
    return fmt::format("${}$ has {} rows and {} columns; its entries that are not zero are\n", name, matrix.rows,
                       matrix.columns) +
           aligned(rows);
  std::size_t total = 0;
  for (const std::size_t one : width) total += one + 2;
  if (total > widest_matrix)
    for (std::size_t i = 0; i < matrix.rows; ++i)
      for (std::size_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
        std::string& cell = cells[i * matrix.columns + matrix.column[k]];
        if (width_of(cell) <= widest_entry) continue;
        cell = entry_name(name, i, matrix.column[k]);
        rows.push_back(row(cell + " &=", matrix.value[k]));
      }
  std::string text = name + " = \\begin{bmatrix}\n";
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    const auto begin = cells.begin() + static_cast<std::ptrdiff_t>(i * matrix.columns);
    text += fmt::format("  {}{}\n", fmt::join(begin, begin + static_cast<std::ptrdiff_t>(matrix.columns), " & "),
                        i + 1 < matrix.rows ? " \\\\" : "");
  }
  return displayed(text + "\\end{bmatrix}") + (rows.empty() ? "" : "with\n" + aligned(rows));
}

/// A vector as a column, or component by component where one of them is long; `component` has {} for the coordinate.
std::string column(const std::string& name, const std::vector<Expr>& values,
                   const std::vector<std::string>& coordinates, const std::string& component) {
  std::vector<std::string> cells, rows;
  std::size_t width = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    cells.push_back(latex_of(values[i]));
    width = std::max(width, width_of(cells.back()));
  }
  if (std::all_of(cells.begin(), cells.end(), [](const std::string& cell) { return cell == "0"; }))
    return displayed(name + " = 0");
  if (width + 8 <= line_width && values.size() <= largest_matrix)
    return displayed(fmt::format("{} = \\begin{{bmatrix}} {} \\end{{bmatrix}}", name, fmt::join(cells, " \\\\ ")));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (cells[i] != "0") rows.push_back(row(fmt::format(fmt::runtime(component), coordinates[i]) + " &=", values[i]));
  return aligned(rows);
}

/// The names of all unknowns, in as many lines as they need.
std::string unknowns(const std::string& symbol, const std::vector<std::string>& names) {
  std::vector<std::string> lines = lines_of(names, ",\\; ");
  lines.front().insert(0, symbol + " = (");
  lines.back() += ")";
  return fmt::format("\\begin{{gather*}}\n  {}\n\\end{{gather*}}\n", fmt::join(lines, " \\\\\n  "));
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("_%&#{}$").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else if (c == '\\')
      out += "\\textbackslash{}";
    else if (c == '^' || c == '~')
      out += std::string("\\") + c + "{}";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string equations_latex(const Equations& eq) {
  const ForceTerms terms = mechanics::force_terms(eq);
  const bool lagrangian = eq.model->kind == model::Kind::lagrangian;
  const bool constrained = !eq.constraints.empty();
  std::string text = preamble;
  text += fmt::format("\\section*{{{}}}\n", escaped(eq.model->name));
  text +=
      fmt::format("\\[ {}{} \\]\n",
                  lagrangian ? "M \\ddot{q} + C \\dot{q} + \\frac{\\partial V}{\\partial q} = Q" : "M \\ddot{q} = f",
                  constrained ? " - G^{T} \\lambda" : "");
  std::vector<std::string> names;
  for (const Expr& q : eq.q) names.push_back(latex_of(q));
  text += unknowns("q", names);
  text += matrix("M", eq.M);
  if (lagrangian) {
    text += matrix("C", terms.C);
    text += column("\\frac{\\partial V}{\\partial q}", terms.gradient, names, "\\frac{{\\partial V}}{{\\partial {}}}");
    text += column("Q", terms.Q, names, "Q_{{{}}}");
  } else {
    text += column("f", eq.f, names, "f_{{{}}}");
  }
  if (constrained) {
    text += matrix("G", eq.G);
    for (std::size_t i = 0; i < eq.constraints.size(); ++i) {
      const Constraint& constraint = eq.constraints[i];
      std::vector<std::string> rows;
      if (constraint.holonomic) rows.push_back(row("\\text{position}\\quad &", constraint.position, " = 0"));
      rows.push_back(row("\\text{velocity}\\quad &", constraint.velocity, " = 0"));
      rows.push_back(row("\\text{acceleration}\\quad &", acceleration_level(eq, i), " = 0"));
      text +=
          fmt::format("\\paragraph{{{}}} multiplier ${}$\n", escaped(constraint.name), expr::to_latex(eq.lambda[i])) +
          aligned(rows);
    }
  }
  if (!eq.auxiliary.empty()) {
    std::vector<std::string> rows;
    for (const Expr& residual : eq.auxiliary) rows.push_back(row("&", residual, " = 0"));
    text += "\\paragraph{auxiliary equations}\n" + aligned(rows);
  }
  return text + "\\end{document}\n";
}

std::string equations_latex(const structure::DaeFunctions& dae) {
  std::vector<std::string> names, rows;
  for (const Expr& y : dae.equations.y) names.push_back(latex_of(y));
  const SharedParts shared = shared_parts(dae.equations.F);
  for (const Expr& residual : shared.roots) rows.push_back(row("0 &=", residual));
  std::string text = fmt::format("{}\\section*{{{}}}\n\\[ F(t, y, \\dot{{y}}) = 0 \\]\n{}{}", preamble,
                                 escaped(dae.model->name), unknowns("y", names), aligned(rows));
  if (!shared.parts.empty()) {
    rows.clear();
    for (const auto& [name, value] : shared.parts) rows.push_back(row(latex_of(name) + " &=", value));
    text += "where parts that occur more than once are\n" + aligned(rows);
  }
  return text + "\\end{document}\n";
}

}  // namespace daedalus::report
