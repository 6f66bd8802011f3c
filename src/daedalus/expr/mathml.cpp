#include "daedalus/expr/mathml.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/typesetter.hpp"

namespace daedalus::expr {

namespace {

constexpr std::size_t longest_text = 200'000;

const Notation& notation() {
  const auto infix = [](const char* sign) { return Marks{"<mrow>", fmt::format("<mo>{}</mo>", sign), "</mrow>"}; };
  const auto prefix = [](const char* sign) { return Marks{fmt::format("<mrow><mo>{}</mo>", sign), "", "</mrow>"}; };
  static const Notation signs{
      .parentheses = {"<mrow><mo>(</mo>", "", "<mo>)</mo></mrow>"},
      .marks = {{Op::add, infix("+")},
                {Op::sub, infix("−")},
                {Op::mul, {"<mrow>", "<mo lspace=\"0\" rspace=\"0.15em\">&#x2062;</mo>", "</mrow>"}},
                {Op::div, {"<mfrac>", "", "</mfrac>"}},
                {Op::neg, prefix("−")},
                {Op::less, infix("&lt;")},
                {Op::less_equal, infix("≤")},
                {Op::equal, infix("=")},
                {Op::not_equal, infix("≠")},
                {Op::logical_and, infix("∧")},
                {Op::logical_or, infix("∨")},
                {Op::logical_not, prefix("¬")},
                {Op::sqrt, {"<msqrt>", "", "</msqrt>"}},
                {Op::cbrt, {"<mroot>", "", "<mn>3</mn></mroot>"}},
                {Op::abs, {"<mrow><mo>|</mo>", "", "<mo>|</mo></mrow>"}},
                {Op::floor, {"<mrow><mo>⌊</mo>", "", "<mo>⌋</mo></mrow>"}}},
      .beside_digits = infix("⋅"),
      .cases = {"<mrow><mo>{</mo><mtable class=\"cases\"><mtr><mtd>", "</mtd><mtd><mtext>if </mtext>",
                "</mtd></mtr><mtr><mtd>", "</mtd><mtd><mtext>otherwise</mtext></mtd></mtr></mtable></mrow>"},
      .functions = {{Op::asin, "<mi>arcsin</mi>"},
                    {Op::acos, "<mi>arccos</mi>"},
                    {Op::atan, "<mi>arctan</mi>"},
                    {Op::log, "<mi>ln</mi>"},
                    {Op::log10, "<msub><mi>log</mi><mn>10</mn></msub>"}},
      .before_function = "<mrow>",
      .arguments = {"<mo>&#x2061;</mo><mrow><mo>(</mo>", "<mo>,</mo>", "<mo>)</mo></mrow></mrow>"}};
  return signs;
}

std::string written(double value) {
  if (value == std::numbers::pi) return "<mi>π</mi>";
  if (std::isnan(value)) return "<mtext>nan</mtext>";
  if (std::signbit(value) && value != 0.0) return fmt::format("<mrow><mo>−</mo>{}</mrow>", written(-value));
  if (std::isinf(value)) return "<mi>∞</mi>";
  const std::string text = shortest(value);
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return fmt::format("<mn>{}</mn>", text);
  const int exponent = std::stoi(text.substr(e + 1));
  const std::string power =
      fmt::format("<msup><mn>10</mn><mn>{}{}</mn></msup>", exponent < 0 ? "−" : "", std::abs(exponent));
  if (text.substr(0, e) == "1") return power;
  return fmt::format("<mrow><mn>{}</mn><mo>⋅</mo>{}</mrow>", text.substr(0, e), power);
}

class MathmlPrinter : public Typesetter {
 public:
  explicit MathmlPrinter(const Graph& graph) : Typesetter(graph, notation()) {}

 private:
  std::string number(double value) const override { return written(value); }
  std::string name(const std::string& name) const override { return name_to_mathml(name); }
  std::string function(std::string_view name) const override { return fmt::format("<mi>{}</mi>", name); }

  void emit_power(const Node& node) override {
    const Node& base = graph_.node(node.a);
    const bool has_exponent = base.op == Op::constant && written(base.value).find("msup") != std::string::npos;
    const bool whole = base.op == Op::symbol || base.op == Op::abs || base.op == Op::floor ||
                       (base.op == Op::constant && base.value >= 0.0 && !has_exponent);
    const Marks& around = notation().parentheses;
    push("</msup>");
    push(node.b, lowest);
    if (!whole) push(around.after);
    push(node.a, lowest);
    push(whole ? "<msup>" : "<msup>" + around.before);
  }
};

std::string identifier(const std::string& word) {
  const std::string* letter = greek_letter(word);
  return fmt::format("<mi>{}</mi>", letter == nullptr ? escape_markup(word) : *letter);
}

std::string number_or_identifier(const std::string& text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? fmt::format("<mn>{}</mn>", text) : identifier(text);
}

std::string written(const NameParts::Subscript& subscript) {
  switch (subscript.kind) {
    case NameParts::Subscript::Kind::index:
      return number_or_identifier(subscript.text);
    case NameParts::Subscript::Kind::label:
      return fmt::format("<mi>{}</mi>", escape_markup(subscript.text));
    case NameParts::Subscript::Kind::word:
      break;
  }
  const auto [word, digits] = word_and_digits(subscript.text);
  return digits.empty() ? number_or_identifier(word)
                        : fmt::format("<msub>{}<mn>{}</mn></msub>", identifier(word), digits);
}

}  // namespace

std::string to_mathml(Expr root) {
  MathmlPrinter printer(root.graph());
  return printer.print(root.id(), longest_text) ? printer.text() : "<mtext>(too long to typeset)</mtext>";
}

std::string name_to_mathml(const std::string& name) {
  const NameParts parts(name);
  std::string text = identifier(parts.base);
  // the dot stands over the letter, the subscript beside it
  constexpr std::array dots{"˙", "¨", "⃛"};
  const auto times = static_cast<std::size_t>(parts.derivatives);
  if (times > dots.size())
    text = fmt::format("<msup>{}<mrow><mo>(</mo><mn>{}</mn><mo>)</mo></mrow></msup>", text, times);
  else if (times > 0)
    text = fmt::format("<mover accent=\"true\">{}<mo>{}</mo></mover>", text, dots[times - 1]);
  std::string below;
  for (const NameParts::Subscript& subscript : parts.subscripts)
    below += (below.empty() ? "" : "<mo>,</mo>") + written(subscript);
  if (below.empty()) return text;
  if (parts.subscripts.size() > 1) below = fmt::format("<mrow>{}</mrow>", below);
  return fmt::format("<msub>{}{}</msub>", text, below);
}

std::string escape_markup(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace daedalus::expr
