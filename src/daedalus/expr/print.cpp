#include "daedalus/expr/print.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>
#include <unordered_set>
#include <variant>
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
    case Op::neg: return sum;
    case Op::mul:
    case Op::div: return product;
    case Op::pow: return power_;
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal: return compare;
    case Op::logical_and: return and_;
    case Op::logical_or: return or_;
    case Op::logical_not: return not_;
    case Op::constant: return node.value < 0.0 ? sum : atom;
    default: return atom;
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
      case Op::constant: push(shortest(node.value)); return;
      case Op::symbol: push(graph_.symbol_name(node.index)); return;
      case Op::add: infix(node, " + ", sum, sum); return;
      case Op::sub: infix(node, " - ", sum, sum + 1); return;
      case Op::mul: infix(node, "*", product, product); return;
      case Op::div: infix(node, "/", product, product + 1); return;
      case Op::pow: infix(node, "^", power_ + 1, power_); return;
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::not_equal: infix(node, fmt::format(" {} ", name_of(node.op)), sum, sum); return;
      case Op::logical_and: infix(node, " and ", and_, and_ + 1); return;
      case Op::logical_or: infix(node, " or ", or_, or_ + 1); return;
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
      case Op::constant: push(number(node.value)); return;
      case Op::symbol: push(name_to_latex(graph_.symbol_name(node.index))); return;
      case Op::add: infix(node, " + ", sum, sum); return;
      case Op::sub: infix(node, " - ", sum, sum + 1); return;
      case Op::mul: {
        // digits beside digits would read as one number
        const Node& right = graph_.node(node.b);
        const bool digits = right.op == Op::constant ||
                            (right.op == Op::mul && graph_.node(right.a).op == Op::constant) ||
                            (right.op == Op::pow && graph_.node(right.a).op == Op::constant);
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
        push("}");
        push(node.b, lowest);
        push("}^{");
        if (graph_.node(node.a).op == Op::div) {
          push("\\right)");
          push(node.a, lowest);
          push("\\left(");
        } else {
          push(node.a, power_ + 1);
        }
        push("{");
        return;
      case Op::neg:
        push(node.a, product);
        push("-");
        return;
      case Op::less: infix(node, " < ", sum, sum); return;
      case Op::less_equal: infix(node, " \\le ", sum, sum); return;
      case Op::equal: infix(node, " = ", sum, sum); return;
      case Op::not_equal: infix(node, " \\ne ", sum, sum); return;
      case Op::logical_and: infix(node, " \\land ", and_, and_ + 1); return;
      case Op::logical_or: infix(node, " \\lor ", or_, or_ + 1); return;
      case Op::logical_not:
        push(node.a, not_ + 1);
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
      case Op::sin: call("\\sin", node); return;
      case Op::cos: call("\\cos", node); return;
      case Op::tan: call("\\tan", node); return;
      case Op::asin: call("\\arcsin", node); return;
      case Op::acos: call("\\arccos", node); return;
      case Op::atan: call("\\arctan", node); return;
      case Op::sinh: call("\\sinh", node); return;
      case Op::cosh: call("\\cosh", node); return;
      case Op::tanh: call("\\tanh", node); return;
      case Op::exp: call("\\exp", node); return;
      case Op::log: call("\\ln", node); return;
      case Op::log10: call("\\log_{10}", node); return;
      case Op::min: call("\\min", node); return;
      case Op::max: call("\\max", node); return;
      case Op::lookup: call(name_to_latex(graph_.table_name(node.index)), node); return;
      default: call(fmt::format("\\operatorname{{{}}}", name_of(node.op)), node);
    }
  }

  static std::string number(double value) {
    std::string text = shortest(value);
    const std::size_t e = text.find('e');
    if (e == std::string::npos) return text;
    return fmt::format("{} \\cdot 10^{{{}}}", text.substr(0, e), std::stoi(text.substr(e + 1)));
  }
};

const std::unordered_set<std::string>& greek() {
  static const std::unordered_set<std::string> names{
      "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta",   "theta", "iota",  "kappa", "lambda", "mu",
      "nu",    "xi",   "pi",    "rho",   "sigma",   "tau",  "upsilon", "phi", "chi",   "psi",   "omega",
      "Gamma", "Delta", "Theta", "Lambda", "Xi",    "Pi",   "Sigma", "Phi",   "Psi",   "Omega"};
  return names;
}

std::string word_to_latex(const std::string& word) {
  if (greek().contains(word)) return "\\" + word;
  if (word.size() <= 1) return word;
  // theta1 -> \theta_{1}: a name that ends in digits has a subscript
  const std::size_t letters = word.find_last_not_of("0123456789") + 1;
  const std::string stem = word.substr(0, letters), digits = word.substr(letters);
  std::string base = greek().contains(stem) ? "\\" + stem : stem.size() == 1 ? stem : fmt::format("\\mathrm{{{}}}", stem);
  if (letters == 0) return word;
  return digits.empty() ? base : fmt::format("{}_{{{}}}", base, digits);
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
    const std::string inner = name_to_latex(name.substr(4, (counted ? comma : name.size() - 1) - 4));
    // the dot stands over the letter, the subscript beside it
    const std::size_t subscript = inner.find("_{");
    const std::string base = inner.substr(0, subscript);
    const std::string tail = subscript == std::string::npos ? "" : inner.substr(subscript);
    if (times > 3) return fmt::format("{}^{{({})}}{}", base, times, tail);
    constexpr std::array dots{"", "\\dot", "\\ddot", "\\dddot"};
    return fmt::format("{}{{{}}}{}", dots[static_cast<std::size_t>(times)], base, tail);
  }
  const std::size_t dot = name.find('.');
  if (dot != std::string::npos) {
    std::string label = name.substr(dot + 1), escaped;
    for (const char c : label) escaped += c == '_' ? std::string("\\_") : std::string(1, c);
    return fmt::format("{}_{{\\mathrm{{{}}}}}", word_to_latex(name.substr(0, dot)), escaped);
  }
  const std::size_t bracket = name.find('[');
  std::string stem = name.substr(0, bracket), indices;
  if (bracket != std::string::npos) indices = name.substr(bracket + 1, name.size() - bracket - 2);
  const std::size_t underscore = stem.find('_');
  std::string subscript;
  if (underscore != std::string::npos && underscore > 0) {
    std::string rest = stem.substr(underscore + 1), part;
    stem = stem.substr(0, underscore);
    for (const char c : rest + "_") {
      if (c != '_') {
        part += c;
        continue;
      }
      if (!part.empty()) subscript += (subscript.empty() ? "" : ",") + word_to_latex(part);
      part.clear();
    }
  } else {
    const std::string base = word_to_latex(stem);
    const std::size_t digits = base.find("_{");
    if (digits != std::string::npos && !indices.empty()) {
      subscript = base.substr(digits + 2, base.size() - digits - 3);
      stem = stem.substr(0, stem.find_last_not_of("0123456789") + 1);
    }
  }
  if (!indices.empty()) subscript += (subscript.empty() ? "" : ",") + indices;
  const std::string base = word_to_latex(stem);
  return subscript.empty() ? base : fmt::format("{}_{{{}}}", base, subscript);
}

}  // namespace daedalus::expr
