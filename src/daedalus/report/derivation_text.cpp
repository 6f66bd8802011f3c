#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/tidy.hpp"
#include "daedalus/report/derivation.hpp"
#include "daedalus/report/matrix_text.hpp"

namespace daedalus::report {

using structure::Derivation;

namespace {

constexpr std::size_t longest = 2000;  ///< characters of an equation; nobody reads on

std::string side(const expr::Expr& e) {
  const std::string text = expr::to_text(expr::tidy(e));
  if (text.size() <= longest) return text;
  return fmt::format("{} ... ({} more characters; --format json has them)", text.substr(0, longest), text.size() - longest);
}

std::string equations_lines(const std::vector<Derivation::Equation>& equations) {
  std::size_t width = 0;
  for (const Derivation::Equation& equation : equations) width = std::max(width, equation.name.size());
  std::string text;
  for (const Derivation::Equation& equation : equations)
    text += fmt::format("    {:<{}}  {} = {}\n", equation.name, width, side(equation.left), side(equation.right));
  return text;
}

/// The lines of a text, each behind some spaces.
std::string indented(const std::string& text, std::size_t spaces) {
  std::string result;
  bool begins = true;
  for (const char c : text) {
    if (begins && c != '\n') result.append(spaces, ' ');
    result += c;
    begins = c == '\n';
  }
  return result;
}

}  // namespace

std::string steps_text(const Derivation& derivation) {
  std::string text = fmt::format("{} ({}): {}\n", derivation.model, derivation.kind, derivation.method);
  std::size_t number = 0;
  for (const Derivation::Step& step : derivation.steps) {
    text += fmt::format("\n{}. {}\n", ++number, step.title);
    for (const Derivation::Part& part : step.parts) {
      if (!part.text.empty()) text += fmt::format("  {}\n", part.text);
      text += equations_lines(part.equations);
      for (const Derivation::Matrix& matrix : part.matrices)
        text += indented(matrix.fractions ? matrix_text(matrix.name, *matrix.fractions) : matrix_text(matrix.name, matrix.entries), 4);
    }
  }
  if (derivation.index) text += fmt::format("\nindex {}\n", *derivation.index);
  if (!derivation.reduced.empty()) text += "\nreduced system\n" + equations_lines(derivation.reduced);
  if (!derivation.conditions.empty())
    text += "\nconsistency conditions, which the start must meet and the solution then keeps\n" +
            equations_lines(derivation.conditions);
  return text;
}

}  // namespace daedalus::report
