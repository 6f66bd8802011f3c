#include "daedalus/expr/latex.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/typesetter.hpp"

namespace daedalus::expr {

namespace {

constexpr std::size_t longest_text = 4'000'000;

const Notation& notation() {
  static const Notation signs{
      .parentheses = {"\\left(", "", "\\right)"},
      .marks = {{Op::add, {"", " + ", ""}},
                {Op::sub, {"", " - ", ""}},
                {Op::mul, {"", " \\, ", ""}},
                {Op::div, {"\\frac{", "}{", "}"}},
                {Op::neg, {"-", "", ""}},
                {Op::less, {"", " < ", ""}},
                {Op::less_equal, {"", " \\le ", ""}},
                {Op::equal, {"", " = ", ""}},
                {Op::not_equal, {"", " \\ne ", ""}},
                {Op::logical_and, {"", " \\land ", ""}},
                {Op::logical_or, {"", " \\lor ", ""}},
                {Op::logical_not, {"\\lnot ", "", ""}},
                {Op::sqrt, {"\\sqrt{", "", "}"}},
                {Op::cbrt, {"\\sqrt[3]{", "", "}"}},
                {Op::abs, {"\\left|", "", "\\right|"}},
                {Op::floor, {"\\left\\lfloor ", "", "\\right\\rfloor"}}},
      .beside_digits = {"", " \\cdot ", ""},
      .cases = {"\\begin{cases}", " & \\text{if } ", " \\\\ ", " & \\text{otherwise}\\end{cases}"},
      .functions = {{Op::sin, "\\sin"},
                    {Op::cos, "\\cos"},
                    {Op::tan, "\\tan"},
                    {Op::asin, "\\arcsin"},
                    {Op::acos, "\\arccos"},
                    {Op::atan, "\\arctan"},
                    {Op::sinh, "\\sinh"},
                    {Op::cosh, "\\cosh"},
                    {Op::tanh, "\\tanh"},
                    {Op::exp, "\\exp"},
                    {Op::log, "\\ln"},
                    {Op::log10, "\\log_{10}"},
                    {Op::min, "\\min"},
                    {Op::max, "\\max"}},
      .before_function = "",
      .arguments = {"\\left(", ", ", "\\right)"}};
  return signs;
}

std::string written(double value) {
  if (value == std::numbers::pi) return "\\pi";
  if (std::isinf(value)) return value > 0.0 ? "\\infty" : "-\\infty";
  const std::string text = shortest(value);
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  const std::string mantissa = text.substr(0, e);
  const std::string power = fmt::format("10^{{{}}}", std::stoi(text.substr(e + 1)));
  if (mantissa == "1") return power;
  if (mantissa == "-1") return "-" + power;
  return fmt::format("{} \\cdot {}", mantissa, power);
}

class LatexPrinter : public Typesetter {
 public:
  explicit LatexPrinter(const Graph& graph) : Typesetter(graph, notation()) {}

 private:
  std::string number(double value) const override { return written(value); }
  std::string name(const std::string& name) const override { return name_to_latex(name); }
  std::string function(std::string_view name) const override { return fmt::format("\\operatorname{{{}}}", name); }

  /// Two exponents in a row would be refused, and those of a fraction be taken for its numerator's.
  void emit_power(const Node& node) override {
    const Node& base = graph_.node(node.a);
    const bool is_constant = base.op == Op::constant, is_symbol = base.op == Op::symbol;
    const bool has_exponent = (is_constant && written(base.value).find('^') != std::string::npos) ||
                              (is_symbol && name(graph_.symbol_name(base.index)).find('^') != std::string::npos);
    push("}");
    push(node.b, lowest);
    if (base.op == Op::div || base.op == Op::choose || (is_constant && has_exponent)) {
      push("\\right)^{");
      push(node.a, lowest);
      push("\\left(");
    } else if ((is_symbol && !has_exponent) || (is_constant && base.value >= 0.0)) {
      push("^{");
      push(node.a, lowest);
    } else {
      push("}^{");
      push(node.a, power_ + 1);
      push("{");
    }
  }
};

std::string escaped(const std::string& word) {
  std::string text;
  for (const char c : word) {
    if (c == '_') text += '\\';
    text += c;
  }
  return text;
}

std::string upright(const std::string& word) { return fmt::format("\\mathrm{{{}}}", escaped(word)); }

/// A letter is slanted, a word upright.
std::string written(const std::string& word) {
  if (greek_letter(word) != nullptr) return "\\" + word;
  const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? word : word.size() == 1 ? escaped(word) : upright(word);
}

std::string written(const NameParts::Subscript& subscript) {
  switch (subscript.kind) {
    case NameParts::Subscript::Kind::index:
      return subscript.text;
    case NameParts::Subscript::Kind::label:
      return upright(subscript.text);
    case NameParts::Subscript::Kind::word:
      break;
  }
  const auto [word, digits] = word_and_digits(subscript.text);
  return digits.empty() ? written(word) : fmt::format("{}_{{{}}}", written(word), digits);
}

}  // namespace

std::string to_latex(Expr root) {
  LatexPrinter printer(root.graph());
  return printer.print(root.id(), longest_text) ? printer.text() : printer.text() + " ...";
}

std::string name_to_latex(const std::string& name) {
  const NameParts parts(name);
  std::string text = written(parts.base);
  // the dot stands over the letter, the subscript beside it
  constexpr std::array dots{"\\dot", "\\ddot", "\\dddot"};
  const auto times = static_cast<std::size_t>(parts.derivatives);
  if (times > dots.size())
    text += fmt::format("^{{({})}}", times);
  else if (times > 0)
    text = fmt::format("{}{{{}}}", dots[times - 1], text);
  std::string below;
  for (const NameParts::Subscript& subscript : parts.subscripts)
    below += (below.empty() ? "" : ",") + written(subscript);
  return below.empty() ? text : fmt::format("{}_{{{}}}", text, below);
}

}  // namespace daedalus::expr
