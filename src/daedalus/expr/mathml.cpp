#include "daedalus/expr/mathml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <vector>

#include "daedalus/base/text.hpp"

namespace daedalus::expr {

namespace {

constexpr std::size_t longest_text = 200'000;

/// How tightly a form binds; an operand that binds less than its place asks for is put in parentheses.
enum Binding { lowest = 0, or_ = 1, and_ = 2, compare = 3, sum = 4, product = 5, power_ = 6, atom = 7 };

Binding binding_of(const Node& node) {
  switch (node.op) {
    case Op::add:
    case Op::sub:
    case Op::neg:
      return sum;
    case Op::mul:
      return product;
    case Op::pow:
      return power_;
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
      return compare;
    case Op::logical_and:
      return and_;
    case Op::logical_or:
      return or_;
    case Op::constant:
      return node.value < 0.0 ? sum : atom;
    default:
      return atom;  // a fraction, a root, a function: their own marks hold them together
  }
}

const std::unordered_map<std::string, std::string>& greek() {
  static const std::unordered_map<std::string, std::string> letters{
      {"alpha", "α"},   {"beta", "β"},  {"gamma", "γ"},  {"delta", "δ"}, {"epsilon", "ε"}, {"zeta", "ζ"},
      {"eta", "η"},     {"theta", "θ"}, {"iota", "ι"},   {"kappa", "κ"}, {"lambda", "λ"},  {"mu", "μ"},
      {"nu", "ν"},      {"xi", "ξ"},    {"pi", "π"},     {"rho", "ρ"},   {"sigma", "σ"},   {"tau", "τ"},
      {"upsilon", "υ"}, {"phi", "φ"},   {"chi", "χ"},    {"psi", "ψ"},   {"omega", "ω"},   {"Gamma", "Γ"},
      {"Delta", "Δ"},   {"Theta", "Θ"}, {"Lambda", "Λ"}, {"Xi", "Ξ"},    {"Pi", "Π"},      {"Sigma", "Σ"},
      {"Upsilon", "Υ"}, {"Phi", "Φ"},   {"Psi", "Ψ"},    {"Omega", "Ω"}};
  return letters;
}

bool all_digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// A name in two parts: the letter or word, and what stands below it to its right.
struct NameParts {
  std::string base;
  std::vector<std::string> subscripts;
};

std::string identifier(const std::string& word) {
  const auto letter = greek().find(word);
  return fmt::format("<mi>{}</mi>", letter == greek().end() ? escape_markup(word) : letter->second);
}

std::string index_text(const std::string& text) {
  return all_digits(text) ? fmt::format("<mn>{}</mn>", text) : fmt::format("<mi>{}</mi>", escape_markup(text));
}

/// x_max is x with the subscript max, theta1 is theta with 1, lambda.rod[3] is lambda with rod and 3.
NameParts parts_of(const std::string& name) {
  NameParts parts;
  std::size_t at = 0;
  while (at < name.size()) {
    if (name[at] == '[') {
      const std::size_t end = std::min(name.find(']', at), name.size());
      std::size_t from = at + 1;
      while (from < end) {
        const std::size_t comma = std::min(name.find(',', from), end);
        parts.subscripts.push_back(index_text(name.substr(from, comma - from)));
        from = comma + 1;
      }
      at = end + 1;
      continue;
    }
    if (at > 0 && (name[at] == '.' || name[at] == '_')) ++at;
    const std::size_t end = std::min(name.find_first_of("._[", at + 1), name.size());
    const std::string word = name.substr(at, end - at);
    at = end;
    if (word.empty()) continue;
    if (!parts.base.empty()) {
      const auto letter = greek().find(word);
      parts.subscripts.push_back(letter == greek().end() ? index_text(word) : identifier(word));
      continue;
    }
    const std::size_t letters = word.find_last_not_of("0123456789") + 1;
    parts.base = identifier(letters == 0 ? word : word.substr(0, letters));
    if (letters > 0 && letters < word.size()) parts.subscripts.push_back(index_text(word.substr(letters)));
  }
  if (parts.base.empty()) parts.base = identifier(name);
  return parts;
}

std::string written(const NameParts& parts) {
  if (parts.subscripts.empty()) return parts.base;
  if (parts.subscripts.size() == 1) return fmt::format("<msub>{}{}</msub>", parts.base, parts.subscripts.front());
  return fmt::format("<msub>{}<mrow>{}</mrow></msub>", parts.base, fmt::join(parts.subscripts, "<mo>,</mo>"));
}

std::string number(double value) {
  if (value == std::numbers::pi) return "<mi>π</mi>";
  if (std::isnan(value)) return "<mtext>nan</mtext>";
  if (std::signbit(value) && value != 0.0) return fmt::format("<mrow><mo>−</mo>{}</mrow>", number(-value));
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

/// Emits an expression with an explicit stack: pieces of markup and operands with the binding their place asks for.
class MathmlPrinter {
 public:
  explicit MathmlPrinter(const Graph& graph) : graph_(graph) {}

  std::string operator()(NodeId root) {
    push(root, lowest);
    while (!stack_.empty()) {
      const Piece piece = std::move(stack_.back());
      stack_.pop_back();
      if (piece.literal)
        text_ += piece.text;
      else
        open(piece.id, piece.place);
      if (text_.size() > longest_text) return "<mtext>(too long to typeset)</mtext>";
    }
    return std::move(text_);
  }

 private:
  struct Piece {
    bool literal;
    std::string text;
    NodeId id = 0;
    int place = lowest;
  };
  void push(NodeId id, int place) { stack_.push_back({false, {}, id, place}); }
  void push(std::string text) { stack_.push_back({true, std::move(text)}); }

  void open(NodeId id, int place) {
    const Node& node = graph_.node(id);
    if (binding_of(node) < place) {
      push("<mo>)</mo></mrow>");
      push(id, lowest);
      push("<mrow><mo>(</mo>");
      return;
    }
    emit(node);
  }

  void around(const char* before, NodeId inside, const char* after) {
    push(after);
    push(inside, lowest);
    push(before);
  }

  void infix(const Node& node, const std::string& sign, int left, int right) {
    push("</mrow>");
    push(node.b, right);
    push(sign);
    push(node.a, left);
    push("<mrow>");
  }

  void call(const std::string& name, const Node& node) {
    push("<mo>)</mo></mrow></mrow>");
    const int n = arity(node.op);
    if (n > 1) {
      push(node.b, lowest);
      push("<mo>,</mo>");
    }
    push(node.a, lowest);
    push(fmt::format("<mrow>{}<mo>&#x2061;</mo><mrow><mo>(</mo>", name));
  }

  void emit_product(const Node& node) {
    // digits beside digits would read as one number
    NodeId first = node.b;
    while (graph_.node(first).op == Op::mul || graph_.node(first).op == Op::pow) first = graph_.node(first).a;
    const bool digits = graph_.node(first).op == Op::constant && graph_.node(first).value >= 0.0;
    infix(node, digits ? "<mo>⋅</mo>" : "<mo lspace=\"0\" rspace=\"0.15em\">&#x2062;</mo>", product, product);
  }

  void emit_power(const Node& node) {
    const Node& base = graph_.node(node.a);
    const bool plain = base.op == Op::symbol || (base.op == Op::constant && base.value >= 0.0 &&
                                                 number(base.value).find("msup") == std::string::npos);
    const bool closed = base.op == Op::abs || base.op == Op::floor;
    push("</msup>");
    push(node.b, lowest);
    if (plain || closed) {
      push(node.a, lowest);
    } else {
      push("<mo>)</mo></mrow>");
      push(node.a, lowest);
      push("<mrow><mo>(</mo>");
    }
    push("<msup>");
  }

  void emit(const Node& node) {
    switch (node.op) {
      case Op::constant:
        push(number(node.value));
        return;
      case Op::symbol:
        push(name_to_mathml(graph_.symbol_name(node.index)));
        return;
      case Op::add:
        infix(node, "<mo>+</mo>", sum, sum);
        return;
      case Op::sub:
        infix(node, "<mo>−</mo>", sum, sum + 1);
        return;
      case Op::mul:
        emit_product(node);
        return;
      case Op::div:
        push("</mfrac>");
        push(node.b, lowest);
        push(node.a, lowest);
        push("<mfrac>");
        return;
      case Op::pow:
        emit_power(node);
        return;
      case Op::neg:
        push("</mrow>");
        push(node.a, product);
        push("<mrow><mo>−</mo>");
        return;
      case Op::less:
        infix(node, "<mo>&lt;</mo>", sum, sum);
        return;
      case Op::less_equal:
        infix(node, "<mo>≤</mo>", sum, sum);
        return;
      case Op::equal:
        infix(node, "<mo>=</mo>", sum, sum);
        return;
      case Op::not_equal:
        infix(node, "<mo>≠</mo>", sum, sum);
        return;
      case Op::logical_and:
        infix(node, "<mo>∧</mo>", and_, and_ + 1);
        return;
      case Op::logical_or:
        infix(node, "<mo>∨</mo>", or_, or_ + 1);
        return;
      case Op::logical_not:
        push("</mrow>");
        push(node.a, power_);
        push("<mrow><mo>¬</mo>");
        return;
      case Op::sqrt:
        around("<msqrt>", node.a, "</msqrt>");
        return;
      case Op::cbrt:
        around("<mroot>", node.a, "<mn>3</mn></mroot>");
        return;
      case Op::abs:
        around("<mrow><mo>|</mo>", node.a, "<mo>|</mo></mrow>");
        return;
      case Op::floor:
        around("<mrow><mo>⌊</mo>", node.a, "<mo>⌋</mo></mrow>");
        return;
      case Op::choose:
        push("</mtd><mtd><mtext>otherwise</mtext></mtd></mtr></mtable></mrow>");
        push(node.c, lowest);
        push("</mtd></mtr><mtr><mtd>");
        push(node.a, lowest);
        push("</mtd><mtd><mtext>if </mtext>");
        push(node.b, lowest);
        push("<mrow><mo>{</mo><mtable class=\"cases\"><mtr><mtd>");
        return;
      case Op::asin:
        call("<mi>arcsin</mi>", node);
        return;
      case Op::acos:
        call("<mi>arccos</mi>", node);
        return;
      case Op::atan:
        call("<mi>arctan</mi>", node);
        return;
      case Op::log:
        call("<mi>ln</mi>", node);
        return;
      case Op::log10:
        call("<msub><mi>log</mi><mn>10</mn></msub>", node);
        return;
      case Op::lookup:
        call(name_to_mathml(graph_.table_name(node.index)), node);
        return;
      default:
        call(fmt::format("<mi>{}</mi>", name_of(node.op)), node);
    }
  }

  const Graph& graph_;
  std::vector<Piece> stack_;
  std::string text_;
};

}  // namespace

std::string to_mathml(Expr root) { return MathmlPrinter(root.graph())(root.id()); }

std::string name_to_mathml(const std::string& name) {
  if (!name.starts_with("der(") || !name.ends_with(")")) return written(parts_of(name));
  const std::size_t comma = name.rfind(',');
  const std::string digits = comma == std::string::npos ? "" : name.substr(comma + 1, name.size() - comma - 2);
  const bool counted = all_digits(digits) && name.find(']', comma) == std::string::npos;
  const int times = counted ? std::stoi(digits) : 1;
  // the dot stands over the letter, the subscript beside it
  NameParts parts = parts_of(name.substr(4, (counted ? comma : name.size() - 1) - 4));
  constexpr std::array dots{"", "˙", "¨", "⃛"};
  parts.base = times > 3 ? fmt::format("<msup>{}<mrow><mo>(</mo><mn>{}</mn><mo>)</mo></mrow></msup>", parts.base, times)
                         : fmt::format("<mover accent=\"true\">{}<mo>{}</mo></mover>", parts.base,
                                       dots[static_cast<std::size_t>(times)]);
  return written(parts);
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
