#include <fmt/format.h>

#include "daedalus/report/derivation.hpp"
#include "daedalus/report/latex_parts.hpp"

namespace daedalus::report {

using structure::Derivation;

namespace {

std::string equations_rows(const std::vector<Derivation::Equation>& equations) {
  std::vector<std::string> rows;
  for (const Derivation::Equation& equation : equations) {
    const std::string name = fmt::format("\\text{{{}}}\\quad ", latex::escaped(equation.name));
    rows.push_back(equation.right.is_constant(0.0) ? latex::row(name + "0 &=", equation.left)
                                                   : latex::row(name + latex::of(equation.left) + " &=", equation.right));
  }
  return latex::aligned(rows);
}

/// "T_1^{-1}" for "inv(T_1)".
std::string with_inverses(std::string name) {
  const std::string opening = "inv(";
  for (std::size_t begin = 0; (begin = name.find(opening, begin)) != std::string::npos;) {
    const std::size_t end = name.find(')', begin);
    name.replace(end, 1, "^{-1}");
    name.erase(begin, opening.size());
  }
  return name;
}

}  // namespace

std::string steps_latex(const Derivation& derivation) {
  std::string text = latex::escaped(derivation.method) + "\n";
  std::size_t number = 0;
  for (const Derivation::Step& step : derivation.steps) {
    text += fmt::format("\\subsection*{{{}. {}}}\n", ++number, latex::escaped(step.title));
    for (const Derivation::Part& part : step.parts) {
      if (!part.text.empty()) text += latex::escaped(part.text) + "\n\n";
      text += equations_rows(part.equations);
      for (const Derivation::Matrix& matrix : part.matrices) {
        const std::string name = with_inverses(matrix.name);
        text += matrix.fractions ? latex::matrix(name, *matrix.fractions) : latex::matrix(name, matrix.entries);
      }
    }
  }
  if (derivation.index) text += fmt::format("\\subsection*{{Index {}}}\n", *derivation.index);
  if (!derivation.reduced.empty()) text += "\\subsection*{Reduced system}\n" + equations_rows(derivation.reduced);
  if (!derivation.conditions.empty())
    text += "\\subsection*{Consistency conditions}\nThe start must meet these, and the solution then keeps them.\n" +
            equations_rows(derivation.conditions);
  return latex::document(derivation.model, text);
}

}  // namespace daedalus::report
