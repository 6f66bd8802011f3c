// An expression is parsed, simplified by construction, differentiated, tidied, printed and parsed again; every form has
// the same value at some points, up to rounding. The reference is a plain evaluation of the syntax tree, which shares
// nothing with the graph.
//
// Rounding is bounded by running error analysis: every number carries a bound of its error, and the error of an
// operation is how far its value moves between the corners of its operands' bounds, plus two units of its own. A
// discontinuity inside the bounds makes the error infinite; such a point says nothing and is left out, as is one where
// a part is not finite or underflows.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "daedalus/base/error.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/latex.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/expr/tidy.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/model/syntax.hpp"
#include "daedalus/model/vocabulary.hpp"
#include "unit/expr/dual.hpp"

namespace {

using namespace daedalus;
using expr::Expr;
using expr::Op;

constexpr double infinite = std::numeric_limits<double>::infinity();

struct Bounded {
  double value = 0.0, error = 0.0;
  bool usable() const { return std::isfinite(value) && std::isfinite(error); }
};

bool is_decision(Op op) { return op == Op::floor || op == Op::sign || (op >= Op::less && op <= Op::logical_not); }

Bounded apply(Op op, Bounded a, Bounded b = {}, Bounded c = {}) {
  if (op == Op::choose) {
    if (!a.usable() || a.error > 0.0) return {0.0, infinite};
    return a.value != 0.0 ? b : c;
  }
  const double value = expr::apply(op, a.value, b.value, c.value);
  if (!a.usable() || !b.usable() || !std::isfinite(value)) return {value, infinite};
  double spread = 0.0;
  for (const double da : {-a.error, 0.0, a.error})
    for (const double db : {-b.error, 0.0, b.error})
      spread = std::max(spread, std::abs(expr::apply(op, a.value + da, b.value + db, c.value) - value));
  if (std::isnan(spread) || (is_decision(op) && spread > 0.0)) return {value, infinite};
  // A jump inside the bounds: the branch cut of atan2, a pole between the corners.
  if (spread > 1e-3 * (1.0 + std::abs(value)) || a.error > 1e-3 * (1.0 + std::abs(a.value))) return {value, infinite};
  const bool exact = is_decision(op) || op == Op::neg || op == Op::min || op == Op::max || op == Op::abs;
  const bool tiny =
      (value != 0.0 && std::abs(value) < 1e-290) ||
      (value == 0.0 && (op == Op::mul || op == Op::div || op == Op::pow || op == Op::exp) && a.value != 0.0);
  if (tiny) return {value, infinite};
  return {value, spread + (exact ? 0.0 : 4.5e-16 * std::abs(value))};
}

/// A number for a name, the same in every graph.
double number_for(const std::string& name, unsigned point) {
  std::uint64_t hash = 1469598103934665603ULL + point * 7919ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  hash ^= hash >> 29;
  hash *= 0xBF58476D1CE4E5B9ULL;
  hash ^= hash >> 32;
  const double unit = static_cast<double>(hash >> 11) * 0x1p-53;
  return point % 3 == 0 ? 0.1 + 0.8 * unit : point % 3 == 1 ? 4.0 * unit - 2.0 : 20.0 * unit - 10.0;
}

Bounded evaluate(Expr root, unsigned point) {
  std::unordered_map<expr::NodeId, Bounded> values;
  const Expr roots[] = {root};
  const expr::Graph& graph = root.graph();
  for (const expr::NodeId id : expr::reachable(roots)) {
    const expr::Node& node = graph.node(id);
    Bounded value;
    if (node.op == Op::constant)
      value = {node.value, 0.0};
    else if (node.op == Op::symbol)
      value = {number_for(graph.symbol_name(node.index), point), 0.0};
    else if (expr::arity(node.op) == 1)
      value = apply(node.op, values[node.a]);
    else if (expr::arity(node.op) == 2)
      value = apply(node.op, values[node.a], values[node.b]);
    else
      value = apply(node.op, values[node.a], values[node.b], values[node.c]);
    values[id] = value;
  }
  return values[root.id()];
}

/// Evaluates the syntax tree; nothing where it uses what this plain evaluator does not know.
class Reference {
 public:
  Reference(const model::SyntaxTree& tree, unsigned point) : tree_(tree), point_(point) {}
  std::optional<Bounded> operator()(model::SyntaxId id) {
    using model::SyntaxKind;
    const model::Syntax& node = tree_[id];
    const auto children = tree_.children(node);
    std::vector<Bounded> parts;
    const bool loop = node.kind == SyntaxKind::loop_sum || node.kind == SyntaxKind::loop_product;
    if (loop || node.kind == SyntaxKind::prime || node.kind == SyntaxKind::dotted) return std::nullopt;
    if (node.kind == SyntaxKind::name && node.child_count > 0) return std::nullopt;
    for (const model::SyntaxId child : children) {
      const std::optional<Bounded> part = (*this)(child);
      if (!part) return std::nullopt;
      // The elaborator may leave out what does not matter to the value; here every part has to be finite.
      if (!part->usable()) return Bounded{0.0, infinite};
      parts.push_back(*part);
    }
    switch (node.kind) {
      case SyntaxKind::number:
        return Bounded{node.value, 0.0};
      case SyntaxKind::name: {
        const std::string& name = tree_.name(node);
        if (name == "pi") return Bounded{std::numbers::pi, 0.0};
        return Bounded{number_for(name == "time" ? "t" : name, point_), 0.0};
      }
      case SyntaxKind::negate:
        return apply(Op::neg, parts[0]);
      case SyntaxKind::sum:
      case SyntaxKind::product: {
        Bounded result = parts[0];
        for (std::size_t i = 1; i < parts.size(); ++i) {
          const char sign = tree_.flag(node, i);
          result = apply(sign == '+'   ? Op::add
                         : sign == '-' ? Op::sub
                         : sign == '*' ? Op::mul
                                       : Op::div,
                         result, parts[i]);
        }
        return result;
      }
      case SyntaxKind::power:
        return apply(Op::pow, parts[0], parts[1]);
      case SyntaxKind::compare: {
        const std::string& sign = tree_.name(node);
        if (sign == "<") return apply(Op::less, parts[0], parts[1]);
        if (sign == "<=") return apply(Op::less_equal, parts[0], parts[1]);
        if (sign == ">") return apply(Op::less, parts[1], parts[0]);
        if (sign == ">=") return apply(Op::less_equal, parts[1], parts[0]);
        return apply(sign == "==" ? Op::equal : Op::not_equal, parts[0], parts[1]);
      }
      case SyntaxKind::logical_and:
      case SyntaxKind::logical_or: {
        Bounded result = parts[0];
        for (std::size_t i = 1; i < parts.size(); ++i)
          result = apply(node.kind == SyntaxKind::logical_and ? Op::logical_and : Op::logical_or, result, parts[i]);
        return result;
      }
      case SyntaxKind::logical_not:
        return apply(Op::logical_not, parts[0]);
      case SyntaxKind::call: {
        const std::string& name = tree_.name(node);
        if (name == "if") return apply(Op::choose, parts[0], parts[1], parts[2]);
        const model::Builtin* builtin = model::find_builtin(name);
        if (builtin == nullptr) return std::nullopt;
        if (builtin->most == 1) return apply(builtin->op, parts[0]);
        Bounded result = parts[0];
        for (std::size_t i = 1; i < parts.size(); ++i) result = apply(builtin->op, result, parts[i]);
        return result;
      }
      default:
        return std::nullopt;
    }
  }

 private:
  const model::SyntaxTree& tree_;
  unsigned point_;
};

std::string model_text(const std::string& expression) {
  std::string quoted;
  for (const char c : expression) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 32 || c == 127) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04X", static_cast<unsigned>(c));
      quoted += code;
    } else {
      quoted += c;
    }
  }
  return "kind = \"dae\"\n[parameters]\na = 1.5\n[definitions]\n\"f(u, v)\" = \"u*v + sin(u)\"\n[variables]\nx = 0\ny "
         "= 0\nz = 0\n"
         "[equations]\ne = \"x = 1\"\nf1 = \"y = 1\"\ng = \"z = 1\"\n[outputs]\nout = \"" +
         quoted + "\"\n";
}

struct Read {
  model::Model model;
  Expr value;
};

Read read(const std::string& expression) {
  Read result{model::read_model_text(model_text(expression), "model.toml"), {}};
  result.value = result.model.outputs.at(0).value;
  return result;
}

[[noreturn]] void differ(const char* what, const std::string& first, const std::string& second, Bounded a, Bounded b) {
  std::fprintf(stderr, "%s:\n  %s = %.17g +- %g\n  %s = %.17g +- %g\n", what, first.c_str(), a.value, a.error,
               second.c_str(), b.value, b.error);
  std::abort();
}

/// Aborts where the two values differ by more than their bounds, with a factor for what the bounds leave out.
void compare(const char* what, Bounded a, Bounded b, const std::string& first, const std::string& second) {
  if (!a.usable() || !b.usable()) return;
  const double allowed = 16.0 * (a.error + b.error) + 1e-13 * std::min(std::abs(a.value), std::abs(b.value)) + 1e-290;
  if (std::abs(a.value - b.value) > allowed) differ(what, first, second, a, b);
}

/// Compares a derivative with dual numbers, which share no rule with it. Their rounding has no bound here: where it
/// might be large, the derivative has to agree to six digits only.
void compare_with_dual(Expr e, Expr symbol, Expr derivative, unsigned point) {
  const Bounded found = evaluate(derivative, point);
  if (!evaluate(e, point).usable() || !found.usable()) return;
  const Expr roots[] = {e};
  std::unordered_map<expr::NodeId, expr::dual::Dual<double>> values;
  for (const expr::NodeId id : expr::symbols_of(roots)) {
    const double value = number_for(e.graph().symbol_name(e.graph().node(id).index), point);
    values[id] = {value, id == symbol.id() ? 1.0 : 0.0};
  }
  const double expected = expr::dual::evaluate(e, values).d;
  const double allowed = 1000.0 * found.error + 1e-6 * (1.0 + std::abs(found.value));
  if (std::isfinite(expected) && std::abs(expected - found.value) > allowed)
    differ("dual numbers and derivative", expr::to_text(e), expr::to_text(derivative), {expected, 0.0}, found);
}

constexpr unsigned points = 6;

void compare_everywhere(const char* what, Expr a, Expr b) {
  for (unsigned point = 0; point < points; ++point) {
    const Bounded left = evaluate(a, point), right = evaluate(b, point);
    compare(what, left, right, expr::to_text(a), expr::to_text(b));
  }
}

void print_and_read(const char* what, Expr e) {
  const std::string text = expr::to_text(e);
  expr::to_latex(e);
  if (text.size() > 20000) return;
  try {
    const Read again = read(text);
    compare_everywhere(what, e, again.value);
  } catch (const Error& error) {
    const std::string& code = error.faults().at(0).code;
    // A derivative may nest deeper than the parser follows.
    if (code == "too-deep" || code == "too-large") return;
    std::fprintf(stderr, "%s: '%s' is not read again:\n%s\n", what, text.c_str(), error.what());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Read first = read(text);
    expr::Graph& graph = first.value.graph();
    if (graph.size() > 3000) return 0;
    const auto source = std::make_shared<const SourceText>(SourceText{"expression", text});
    const model::SyntaxTree tree =
        model::parse_expression(model::Passage(std::make_shared<const model::SourceMap>(source), text, 0));
    for (unsigned point = 0; point < points; ++point)
      if (const std::optional<Bounded> reference = Reference(tree, point)(tree.left()))
        compare("plain evaluation and graph", *reference, evaluate(first.value, point), text,
                expr::to_text(first.value));
    print_and_read("printed and read again", first.value);
    if (graph.size() < 500) compare_everywhere("tidied", first.value, expr::tidy(first.value));

    const std::vector<Expr> symbols{graph.symbol("x"), graph.symbol("y"), graph.symbol("t")};
    const std::vector<Expr> gradient = expr::gradient(first.value, symbols);
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      const Expr forward = expr::partial(first.value, symbols[i]);
      compare_everywhere("forward and reverse derivative", forward, gradient[i]);
      for (unsigned point = 0; point < points; ++point) compare_with_dual(first.value, symbols[i], forward, point);
      if (graph.size() < 3000) print_and_read("derivative printed and read again", forward);
    }
  } catch (const Error&) {
  }
  return 0;
}
