// Widths are estimated here, to decide where lines break and which matrices are written entry by entry; the macro \fit
// measures what is set and scales it where the estimate was too small.

#include "daedalus/report/latex_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "daedalus/expr/latex.hpp"
#include "daedalus/expr/tidy.hpp"

namespace daedalus::report::latex {

using expr::Expr;
using expr::Op;
using expr::SparseExpr;

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

std::string displayed(const std::string& formula) { return "\\[ \\fit{" + formula + "} \\]\n"; }

std::string entry_name(const std::string& name, std::size_t i, std::size_t j) {
  return fmt::format("{}_{{{},{}}}", name, i + 1, j + 1);
}

}  // namespace

std::string document(const std::string& title, const std::string& content) {
  return fmt::format("{}\\section*{{{}}}\n{}\\end{{document}}\n", preamble, escaped(title), content);
}

std::string of(Expr e) { return expr::to_latex(expr::tidy(e)); }

std::string row(const std::string& left, Expr sum, const std::string& right) {
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
      cell = of(matrix.value[k]);
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

std::string matrix(const std::string& name, const linalg::RationalMatrix& matrix) {
  if (matrix.entries.empty()) return fmt::format("${}$ has no entries.\n", name);
  std::string text = name + " = \\begin{bmatrix}\n";
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    for (std::size_t j = 0; j < matrix.columns; ++j) {
      const linalg::Rational& entry = matrix(i, j);
      const std::string size = (entry.sign() < 0 ? -entry : entry).numerator();
      text += (j > 0 ? " & " : "  ") + std::string(entry.sign() < 0 ? "-" : "") +
              (entry.integer() ? size : fmt::format("\\tfrac{{{}}}{{{}}}", size, entry.denominator()));
    }
    text += i + 1 < matrix.rows ? " \\\\\n" : "\n";
  }
  return displayed(text + "\\end{bmatrix}");
}

std::string column(const std::string& name, const std::vector<Expr>& values,
                   const std::vector<std::string>& coordinates, const std::string& component) {
  std::vector<std::string> cells, rows;
  std::size_t width = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    cells.push_back(of(values[i]));
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

}  // namespace daedalus::report::latex
