// Polynomials in atoms (symbols, function values, what cannot be expanded), and the products of sines and cosines turned
// into sums:
//     2 sin a sin b = cos(a - b) - cos(a + b),   2 cos a cos b = cos(a - b) + cos(a + b),   2 sin a cos b = sin(a + b) + sin(a - b)
// In this Fourier form sin^2 + cos^2 = 1 and the addition theorems are nothing but collected terms.

#include "daedalus/expr/tidy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/expr/walk.hpp"

namespace daedalus::expr {

namespace {

constexpr std::size_t most_terms = 400;
constexpr std::size_t most_nodes = 3000;

using Monomial = std::vector<std::pair<NodeId, int>>;  ///< atoms, ascending, with exponents that are not zero

/// The sum of like terms, and the sum of their moduli.
struct Coefficient {
  Coefficient(double number) : value(number), size(std::abs(number)) {}
  Coefficient(double number, double terms) : value(number), size(terms) {}
  double value, size;
};
using Polynomial = std::map<Monomial, Coefficient>;

/// Thrown where an expression grows beyond what a person would read.
struct TooLong {};

enum class Trigonometry { kept, linearized };

class Tidier {
 public:
  Tidier(Graph& graph, Trigonometry trigonometry, double cancelled)
      : graph_(graph), trigonometry_(trigonometry), cancelled_(cancelled) {}

  Expr operator()(Expr root) {
    const NodeId ids[] = {root.id()};
    Walk walk;
    const std::vector<NodeId> order = walk.from(graph_, ids);
    if (order.size() > most_nodes) throw TooLong{};
    for (const NodeId id : order) polynomials_.emplace(id, expand(id));
    return build(polynomials_.at(root.id()));
  }

 private:
  Polynomial expand(NodeId id) {
    const Node node = graph_.node(id);
    const auto of = [&](NodeId operand) -> const Polynomial& { return polynomials_.at(operand); };
    switch (node.op) {
      case Op::constant: return node.value == 0.0 ? Polynomial{} : Polynomial{{{}, node.value}};
      case Op::symbol: return atom(id);
      case Op::add: return sum(of(node.a), of(node.b), 1.0);
      case Op::sub: return sum(of(node.a), of(node.b), -1.0);
      case Op::neg: return sum({}, of(node.a), -1.0);
      case Op::mul: return product(of(node.a), of(node.b));
      case Op::div: {
        const Polynomial& below = of(node.b);
        if (below.size() == 1) return product(of(node.a), power_of_monomial(*below.begin(), -1));
        return product(of(node.a), {{{{build(below).id(), -1}}, 1.0}});
      }
      case Op::pow: {
        const Node exponent = graph_.node(node.b);
        if (exponent.op == Op::constant && exponent.value == std::floor(exponent.value) && std::abs(exponent.value) <= 8.0)
          return power_of(of(node.a), static_cast<int>(exponent.value));
        return atom(graph_.make(Op::pow, build(of(node.a)), build(of(node.b))).id());
      }
      case Op::lookup: return atom(graph_.lookup(graph_.table_name(node.index), build(of(node.a))).id());
      case Op::sin:
      case Op::cos: return trigonometric(node.op, of(node.a));
      default: {
        const int n = arity(node.op);
        const Expr a = build(of(node.a));
        if (n == 1) return value_of(graph_.make(node.op, a));
        const Expr b = build(of(node.b));
        return value_of(n == 2 ? graph_.make(node.op, a, b) : graph_.make(node.op, a, b, build(of(node.c))));
      }
    }
  }

  static Polynomial atom(NodeId id) { return {{{{id, 1}}, 1.0}}; }

  Polynomial value_of(Expr e) {
    if (e.is_constant()) return e.is_constant(0.0) ? Polynomial{} : Polynomial{{{}, e.node().value}};
    return atom(e.id());
  }

  /// sin or cos of a polynomial, with the sign of its first term taken out.
  Polynomial trigonometric(Op op, const Polynomial& argument) {
    if (argument.empty()) return op == Op::cos ? Polynomial{{{}, 1.0}} : Polynomial{};
    const bool negative = leading(argument) < 0.0;
    const Expr e = graph_.make(op, build(negative ? sum({}, argument, -1.0) : argument));
    arguments_[e.id()] = negative ? sum({}, argument, -1.0) : argument;
    Polynomial result = value_of(e);
    if (negative && op == Op::sin)
      for (auto& [monomial, coefficient] : result) coefficient.value = -coefficient.value;
    return result;
  }

  /// The coefficient of the term that is printed first.
  double leading(const Polynomial& p) const {
    double coefficient = 0.0;
    NodeId least = std::numeric_limits<NodeId>::max();
    for (const auto& [monomial, term] : p) {
      const NodeId first = monomial.empty() ? std::numeric_limits<NodeId>::max() - 1 : monomial.front().first;
      if (first < least) {
        least = first;
        coefficient = term.value;
      }
    }
    return coefficient;
  }

  Polynomial sum(const Polynomial& a, const Polynomial& b, double factor) const {
    Polynomial result = a;
    for (const auto& [monomial, term] : b) add(result, monomial, {factor * term.value, std::abs(factor) * term.size});
    return result;
  }

  /// Adds a term; what is left of some that cancel up to rounding is nothing.
  void add(Polynomial& to, const Monomial& monomial, const Coefficient& term) const {
    const auto [found, fresh] = to.try_emplace(monomial, term);
    if (!fresh) {
      Coefficient& all = found->second;
      all = {all.value + term.value, all.size + term.size};
      if (std::abs(all.value) <= cancelled_ * all.size) to.erase(found);
    }
    if (to.size() > most_terms) throw TooLong{};
  }

  Polynomial product(const Polynomial& a, const Polynomial& b) {
    Polynomial result;
    for (const auto& [left, l] : a)
      for (const auto& [right, r] : b) {
        Monomial together;
        std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(together),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
        Monomial merged;
        for (const auto& factor : together) {
          if (!merged.empty() && merged.back().first == factor.first) {
            merged.back().second += factor.second;
            if (merged.back().second == 0) merged.pop_back();
          } else {
            merged.push_back(factor);
          }
        }
        for (const auto& [monomial, c] : linearized(merged, {l.value * r.value, l.size * r.size})) add(result, monomial, c);
      }
    return result;
  }

  /// Replaces products of sines and cosines by sums until one factor at most is left.
  Polynomial linearized(const Monomial& monomial, const Coefficient& coefficient) {
    if (trigonometry_ == Trigonometry::kept) return {{monomial, coefficient}};
    std::vector<NodeId> waves;
    Monomial rest;
    for (const auto& [id, exponent] : monomial) {
      if (exponent > 0 && arguments_.contains(id))
        waves.insert(waves.end(), static_cast<std::size_t>(exponent), id);
      else
        rest.emplace_back(id, exponent);
    }
    if (waves.size() < 2) return {{monomial, coefficient}};
    const NodeId first = waves[0], second = waves[1];
    const bool sine1 = graph_.node(first).op == Op::sin, sine2 = graph_.node(second).op == Op::sin;
    const Polynomial &a = arguments_.at(first), &b = arguments_.at(second);
    const Polynomial plus = sum(a, b, 1.0), minus = sum(a, b, -1.0);
    Polynomial pair;
    if (sine1 == sine2)
      pair = sum(trigonometric(Op::cos, minus), trigonometric(Op::cos, plus), sine1 ? -1.0 : 1.0);
    else  // sin a cos b, or cos a sin b = sin(a + b) - sin(a - b)
      pair = sum(trigonometric(Op::sin, plus), trigonometric(Op::sin, minus), sine1 ? 1.0 : -1.0);
    Polynomial others{{rest, {coefficient.value / 2.0, coefficient.size / 2.0}}};
    for (std::size_t i = 2; i < waves.size(); ++i) others = product(others, atom(waves[i]));
    return product(others, pair);
  }

  Polynomial power_of_monomial(const std::pair<const Monomial, Coefficient>& term, int exponent) {
    Monomial monomial = term.first;
    for (auto& factor : monomial) factor.second *= exponent;
    return {{monomial, power(term.second.value, exponent)}};
  }

  Polynomial power_of(const Polynomial& base, int exponent) {
    if (exponent == 0) return {{{}, 1.0}};
    if (exponent < 0) {
      if (base.size() == 1) return power_of_monomial(*base.begin(), exponent);
      return {{{{build(base).id(), exponent}}, 1.0}};
    }
    Polynomial result = base;
    for (int k = 1; k < exponent; ++k) result = product(result, base);
    return result;
  }

  /// Symbols of the author first, then functions, then rates, each in the order of the model.
  std::pair<int, NodeId> rank(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.op != Op::symbol) return {1, id};
    return {graph_.symbol_name(node.index).starts_with("der(") ? 2 : 0, id};
  }

  Expr build(const Monomial& monomial, double coefficient) {
    Monomial factors = monomial;
    std::sort(factors.begin(), factors.end(), [&](const auto& x, const auto& y) { return rank(x.first) < rank(y.first); });
    Expr above = graph_.constant(1.0), below = graph_.constant(1.0);
    for (const auto& [id, exponent] : factors) {
      Expr& side = exponent > 0 ? above : below;
      side = side * pow(Expr{&graph_, id}, std::abs(exponent));
    }
    // a half reads better as a denominator
    const double inverse = 1.0 / coefficient;
    if (std::abs(coefficient) < 1.0 && std::abs(inverse - std::round(inverse)) < 1e-12 * std::abs(inverse))
      return (coefficient < 0.0 ? -above : above) / (std::round(std::abs(inverse)) * below);
    above = coefficient * above;
    return below.is_constant(1.0) ? above : above / below;
  }

  Expr build(const Polynomial& p) {
    if (p.empty()) return graph_.constant(0.0);
    // the factors that all terms share stand in front
    Monomial common = p.begin()->first;
    for (const auto& [monomial, coefficient] : p) {
      Monomial shared;
      for (const auto& [id, exponent] : common)
        for (const auto& [other, e] : monomial)
          if (other == id && (exponent > 0) == (e > 0)) shared.emplace_back(id, exponent > 0 ? std::min(exponent, e) : std::max(exponent, e));
      common = shared;
    }
    const bool factored = p.size() > 1 && !common.empty();
    std::vector<std::pair<Monomial, double>> terms;
    for (const auto& [monomial, coefficient] : p) {
      Monomial rest;
      for (const auto& [id, exponent] : monomial) {
        int left = exponent;
        if (factored)
          for (const auto& [other, e] : common)
            if (other == id) left -= e;
        if (left != 0) rest.emplace_back(id, left);
      }
      terms.emplace_back(rest, coefficient.value);
    }
    std::stable_sort(terms.begin(), terms.end(), [&](const auto& x, const auto& y) { return key(x.first) < key(y.first); });
    // a positive term leads, so that no sum starts with a minus
    const auto positive = std::find_if(terms.begin(), terms.end(), [](const auto& term) { return term.second > 0.0; });
    if (positive != terms.end()) std::rotate(terms.begin(), positive, positive + 1);
    const bool negative = positive == terms.end();
    Expr total = graph_.constant(0.0);
    for (const auto& [monomial, coefficient] : terms) total = total + build(monomial, negative ? -coefficient : coefficient);
    if (factored) total = build(common, 1.0) * total;
    return negative ? -total : total;
  }

  std::vector<std::pair<int, NodeId>> key(const Monomial& monomial) const {
    std::vector<std::pair<int, NodeId>> ranks;
    for (const auto& [id, exponent] : monomial) ranks.push_back(rank(id));
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

  Graph& graph_;
  Trigonometry trigonometry_;
  double cancelled_;
  std::unordered_map<NodeId, Polynomial> polynomials_;
  std::unordered_map<NodeId, Polynomial> arguments_;  ///< of the sines and cosines among the atoms
};

}  // namespace

Expr tidy(Expr root, double cancelled) {
  Expr best = root;
  std::size_t length = to_text(root).size();
  for (const Trigonometry trigonometry : {Trigonometry::kept, Trigonometry::linearized}) {
    try {
      const Expr candidate = Tidier(root.graph(), trigonometry, cancelled)(root);
      const std::size_t size = to_text(candidate).size();
      if (size < length || (size == length && trigonometry == Trigonometry::kept)) {
        best = candidate;
        length = size;
      }
    } catch (const TooLong&) {
      continue;
    }
  }
  return best;
}

Expr with_digits(Expr root, int digits) {
  Graph& graph = root.graph();
  std::unordered_map<NodeId, Expr> shorter;
  for (const NodeId id : reachable(std::span<const Expr>(&root, 1))) {
    const Node node = graph.node(id);
    if (node.op == Op::constant && std::isfinite(node.value)) shorter.emplace(id, graph.constant(std::stod(brief(node.value, digits))));
  }
  return substitute(root, shorter);
}

}  // namespace daedalus::expr
