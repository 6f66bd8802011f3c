#include "daedalus/expr/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <unordered_set>
#include <vector>

#include "daedalus/base/text.hpp"

namespace daedalus::expr {

namespace {

/// How tightly a form binds; an operand that binds less than its place asks for is put in parentheses.
enum Binding { lowest = 0, or_ = 1, and_ = 2, not_ = 3, compare = 4, sum = 5, product = 6, power_ = 8, atom = 9 };

Binding binding_of(const Node& node) {
  switch (node.op) {
    case Op::add:
    case Op::sub:
    case Op::neg:
      return sum;
    case Op::mul:
    case Op::div:
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
    case Op::logical_not:
      return not_;
    case Op::constant:
      return node.value < 0.0 ? sum : atom;
    default:
      return atom;
  }
}

constexpr std::size_t longest_text = 4'000'000;

/// Emits an expression with an explicit stack: pieces of text and operands with the binding their place asks for.
class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}
  virtual ~Printer() = default;

  std::string operator()(NodeId root) {
    push(root, lowest);
    while (!stack_.empty() && text_.size() < longest_text) {
      Piece piece = std::move(stack_.back());
      stack_.pop_back();
      if (piece.literal)
        text_ += piece.text;
      else
        open(piece.id, piece.place);
    }
    if (!stack_.empty()) text_ += " ...";
    return std::move(text_);
  }

 protected:
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
    const bool parentheses = binding_of(node) < place && needs_parentheses(node);
    if (parentheses) {
      push(closing());
      push(id, lowest);
      push(opening());
      return;
    }
    emit(node);
  }

  virtual bool needs_parentheses(const Node&) const { return true; }
  virtual std::string opening() const { return "("; }
  virtual std::string closing() const { return ")"; }
  /// Pushes the parts of a node, last part first.
  virtual void emit(const Node& node) = 0;

  const Graph& graph_;
  std::vector<Piece> stack_;
  std::string text_;
};

class TextPrinter : public Printer {
 public:
  using Printer::Printer;

 private:
  void infix(const Node& node, std::string sign, int left, int right) {
    push(node.b, right);
    push(std::move(sign));
    push(node.a, left);
  }

  void emit(const Node& node) override {
    switch (node.op) {
      case Op::constant:
        push(node.value == std::numbers::pi ? "pi" : shortest(node.value));
        return;
      case Op::symbol:
        push(graph_.symbol_name(node.index));
        return;
      case Op::add:
        infix(node, " + ", sum, sum);
        return;
      case Op::sub:
        infix(node, " - ", sum, sum + 1);
        return;
      case Op::mul:
        infix(node, "*", product, product);
        return;
      case Op::div:
        infix(node, "/", product, product + 1);
        return;
      case Op::pow:
        infix(node, "^", power_ + 1, power_);
        return;
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::not_equal:
        infix(node, fmt::format(" {} ", name_of(node.op)), sum, sum);
        return;
      case Op::logical_and:
        infix(node, " and ", and_, and_ + 1);
        return;
      case Op::logical_or:
        infix(node, " or ", or_, or_ + 1);
        return;
      case Op::neg:
        push(node.a, product);
        push("-");
        return;
      case Op::logical_not:
        push(node.a, not_);
        push("not ");
        return;
      default: {
        push(")");
        const int n = arity(node.op);
        if (n > 2) {
          push(node.c, lowest);
          push(", ");
        }
        if (n > 1) {
          push(node.b, lowest);
          push(", ");
        }
        push(node.a, lowest);
        push(std::string(node.op == Op::lookup ? graph_.table_name(node.index) : name_of(node.op)) + "(");
      }
    }
  }
};

class LatexPrinter : public Printer {
 public:
  using Printer::Printer;

 private:
  std::string opening() const override { return "\\left("; }
  std::string closing() const override { return "\\right)"; }
  bool needs_parentheses(const Node& node) const override { return node.op != Op::div; }  // a fraction needs none

  void infix(const Node& node, std::string sign, int left, int right) {
    push(node.b, right);
    push(std::move(sign));
    push(node.a, left);
  }

  void call(std::string name, const Node& node) {
    push("\\right)");
    const int n = arity(node.op);
    if (n > 1) {
      push(node.b, lowest);
      push(", ");
    }
    push(node.a, lowest);
    push(std::move(name) + "\\left(");
  }

  void emit(const Node& node) override {
    switch (node.op) {
      case Op::constant:
        push(number(node.value));
        return;
      case Op::symbol:
        push(name_to_latex(graph_.symbol_name(node.index)));
        return;
      case Op::add:
        infix(node, " + ", sum, sum);
        return;
      case Op::sub:
        infix(node, " - ", sum, sum + 1);
        return;
      case Op::mul: {
        // digits beside digits would read as one number
        NodeId first = node.b;
        while (graph_.node(first).op == Op::mul || graph_.node(first).op == Op::pow) first = graph_.node(first).a;
        const bool digits = graph_.node(first).op == Op::constant;
        infix(node, digits ? " \\cdot " : " \\, ", product, product);
        return;
      }
      case Op::div:
        push("}");
        push(node.b, lowest);
        push("}{");
        push(node.a, lowest);
        push("\\frac{");
        return;
      case Op::pow:
        emit_power(node);
        return;
      case Op::neg:
        push(node.a, product);
        push("-");
        return;
      case Op::less:
        infix(node, " < ", sum, sum);
        return;
      case Op::less_equal:
        infix(node, " \\le ", sum, sum);
        return;
      case Op::equal:
        infix(node, " = ", sum, sum);
        return;
      case Op::not_equal:
        infix(node, " \\ne ", sum, sum);
        return;
      case Op::logical_and:
        infix(node, " \\land ", and_, and_ + 1);
        return;
      case Op::logical_or:
        infix(node, " \\lor ", or_, or_ + 1);
        return;
      case Op::logical_not:
        push(node.a, power_);  // \lnot a < b would read as (\lnot a) < b
        push("\\lnot ");
        return;
      case Op::sqrt:
        push("}");
        push(node.a, lowest);
        push("\\sqrt{");
        return;
      case Op::cbrt:
        push("}");
        push(node.a, lowest);
        push("\\sqrt[3]{");
        return;
      case Op::abs:
        push("\\right|");
        push(node.a, lowest);
        push("\\left|");
        return;
      case Op::floor:
        push("\\right\\rfloor");
        push(node.a, lowest);
        push("\\left\\lfloor ");
        return;
      case Op::choose:
        push(" & \\text{otherwise}\\end{cases}");
        push(node.c, lowest);
        push(" \\\\ ");
        push(node.a, lowest);
        push(" & \\text{if } ");
        push(node.b, lowest);
        push("\\begin{cases}");
        return;
      case Op::sin:
        call("\\sin", node);
        return;
      case Op::cos:
        call("\\cos", node);
        return;
      case Op::tan:
        call("\\tan", node);
        return;
      case Op::asin:
        call("\\arcsin", node);
        return;
      case Op::acos:
        call("\\arccos", node);
        return;
      case Op::atan:
        call("\\arctan", node);
        return;
      case Op::sinh:
        call("\\sinh", node);
        return;
      case Op::cosh:
        call("\\cosh", node);
        return;
      case Op::tanh:
        call("\\tanh", node);
        return;
      case Op::exp:
        call("\\exp", node);
        return;
      case Op::log:
        call("\\ln", node);
        return;
      case Op::log10:
        call("\\log_{10}", node);
        return;
      case Op::min:
        call("\\min", node);
        return;
      case Op::max:
        call("\\max", node);
        return;
      case Op::lookup:
        call(name_to_latex(graph_.table_name(node.index)), node);
        return;
      default:
        call(fmt::format("\\operatorname{{{}}}", name_of(node.op)), node);
    }
  }

  void emit_power(const Node& node) {
    const Node& base = graph_.node(node.a);
    const bool has_exponent = base.op == Op::constant && number(base.value).find('^') != std::string::npos;
    push("}");
    push(node.b, lowest);
    if (base.op == Op::div || base.op == Op::choose || has_exponent) {
      push("\\right)^{");
      push(node.a, lowest);
      push("\\left(");
    } else if ((base.op == Op::symbol &&
                name_to_latex(graph_.symbol_name(base.index)).find('^') == std::string::npos) ||
               (base.op == Op::constant && base.value >= 0.0)) {
      push("^{");
      push(node.a, lowest);
    } else {
      push("}^{");
      push(node.a, power_ + 1);
      push("{");
    }
  }

  static std::string number(double value) {
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
};

const std::unordered_set<std::string>& greek() {
  static const std::unordered_set<std::string> names{
      "alpha", "beta",  "gamma",  "delta", "epsilon", "zeta",  "eta",     "theta", "iota", "kappa", "lambda", "mu",
      "nu",    "xi",    "pi",     "rho",   "sigma",   "tau",   "upsilon", "phi",   "chi",  "psi",   "omega",  "Gamma",
      "Delta", "Theta", "Lambda", "Xi",    "Pi",      "Sigma", "Upsilon", "Phi",   "Psi",  "Omega"};
  return names;
}

/// A name in two parts: the letter or word, and what stands below it to its right.
struct NameParts {
  std::string base, subscript;
};

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : fmt::format("{},{}", first, second);
}

std::string escaped(const std::string& word) {
  std::string text;
  for (const char c : word) {
    if (c == '_') text += '\\';
    text += c;
  }
  return text;
}

/// theta1 is \theta with the subscript 1: digits at the end of a word stand below it.
NameParts parts_of_word(const std::string& word) {
  const std::size_t letters = word.find_last_not_of("0123456789") + 1;
  if (letters == 0) return {word, {}};
  const std::string stem = word.substr(0, letters);
  return {greek().contains(stem) ? fmt::format("\\{}", stem)
          : stem.size() == 1     ? escaped(stem)
                                 : fmt::format("\\mathrm{{{}}}", escaped(stem)),
          word.substr(letters)};
}

std::string written(const NameParts& parts) {
  return parts.subscript.empty() ? parts.base : fmt::format("{}_{{{}}}", parts.base, parts.subscript);
}

/// x_max is x with the subscript max, x1_2 is x with 1,2.
NameParts parts_of_plain(const std::string& name) {
  std::size_t underscore = name.find_first_not_of('_');
  if (underscore != std::string::npos) underscore = name.find('_', underscore);
  if (underscore == std::string::npos || underscore + 1 == name.size()) return parts_of_word(name);
  NameParts parts = parts_of_word(name.substr(0, underscore));
  while (underscore < name.size()) {
    const std::size_t next = std::min(name.find('_', underscore + 1), name.size());
    if (next > underscore + 1) {
      const std::string word = name.substr(underscore + 1, next - underscore - 1);
      parts.subscript = joined(parts.subscript, written(parts_of_word(word)));
    }
    underscore = next;
  }
  return parts;
}

/// x[1,2], lambda.rod[3], reaction.rod.x: what follows the name stands below it.
NameParts parts_of(const std::string& name) {
  const std::size_t end = std::min(name.find_first_of(".["), name.size());
  NameParts parts = parts_of_plain(name.substr(0, end));
  for (std::size_t at = end; at < name.size();) {
    const bool index = name[at] == '[';
    const std::size_t next = std::min(index ? name.find(']', at) : name.find_first_of(".[", at + 1), name.size());
    const std::string piece = name.substr(at + 1, next - at - 1);
    parts.subscript = joined(parts.subscript, index ? piece : fmt::format("\\mathrm{{{}}}", escaped(piece)));
    at = next + (index ? 1 : 0);
  }
  return parts;
}

}  // namespace

std::string to_text(Expr root) { return TextPrinter(root.graph())(root.id()); }

std::string to_latex(Expr root) { return LatexPrinter(root.graph())(root.id()); }

std::string name_to_latex(const std::string& name) {
  if (name.starts_with("der(") && name.ends_with(")")) {
    const std::size_t comma = name.rfind(',');
    const std::string digits = comma == std::string::npos ? "" : name.substr(comma + 1, name.size() - comma - 2);
    const bool counted = !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos &&
                         name.find(']', comma) == std::string::npos;
    const int times = counted ? std::stoi(digits) : 1;
    // the dot stands over the letter, the subscript beside it
    NameParts parts = parts_of(name.substr(4, (counted ? comma : name.size() - 1) - 4));
    constexpr std::array dots{"", "\\dot", "\\ddot", "\\dddot"};
    parts.base = times > 3 ? fmt::format("{}^{{({})}}", parts.base, times)
                           : fmt::format("{}{{{}}}", dots[static_cast<std::size_t>(times)], parts.base);
    return written(parts);
  }
  return written(parts_of(name));
}

}  // namespace daedalus::expr
