// Every f is written as a sum of c t^k e^(m t) with complex c and m; products add powers and exponents, and what belongs to
// m and its conjugate is real: 2 Re(c e^(i b t)) = 2 Re c cos(b t) - 2 Im c sin(b t).

#include "daedalus/structure/forcing.hpp"

#include <cmath>
#include <map>

#include "daedalus/expr/substitute.hpp"
#include "daedalus/linalg/rational.hpp"

namespace daedalus::structure {

using expr::Expr;
using expr::NodeId;
using expr::Op;
using Number = Forcing::Number;

namespace {

constexpr std::size_t most_terms = 200;
constexpr int most_power = 40;

struct Key {
  int power;
  Number rate, frequency;
  friend bool operator<(const Key& l, const Key& r) {
    if (!(l.rate == r.rate)) return l.rate < r.rate;
    if (!(l.frequency == r.frequency)) return l.frequency < r.frequency;
    return l.power < r.power;
  }
};

struct Complex {
  Number re, im;
};

/// sum of c t^k e^((a + i b) t)
class Sum {
 public:
  std::map<Key, Complex> terms;

  static Sum constant(Number value) {
    Sum result;
    result.add({0, 0.0, 0.0}, {value, 0.0});
    return result;
  }
  void add(const Key& key, const Complex& c) {
    if (c.re == Number(0.0) && c.im == Number(0.0)) return;
    Complex& sum = terms[key];
    sum.re += c.re;
    sum.im += c.im;
    if (sum.re == Number(0.0) && sum.im == Number(0.0)) terms.erase(key);
  }
  /// The value of a sum that does not depend on t.
  std::optional<Number> value() const {
    if (terms.empty()) return Number(0.0);
    const auto& [key, c] = *terms.begin();
    if (terms.size() > 1 || key.power != 0 || !(key.rate == Number(0.0)) || !(key.frequency == Number(0.0))) return std::nullopt;
    return c.re;
  }
  /// (slope, value at 0) of a sum that is linear in t.
  std::optional<std::pair<Number, Number>> line() const {
    Number slope, start;
    for (const auto& [key, c] : terms) {
      if (key.power > 1 || !(key.rate == Number(0.0)) || !(key.frequency == Number(0.0))) return std::nullopt;
      (key.power == 1 ? slope : start) = c.re;
    }
    return std::pair(slope, start);
  }
};

Sum sum(const Sum& a, const Sum& b, Number factor) {
  Sum result = a;
  for (const auto& [key, c] : b.terms) result.add(key, {factor * c.re, factor * c.im});
  return result;
}

std::optional<Sum> product(const Sum& a, const Sum& b) {
  Sum result;
  for (const auto& [k, c] : a.terms)
    for (const auto& [l, d] : b.terms) {
      if (k.power + l.power > most_power || result.terms.size() > most_terms) return std::nullopt;
      result.add({k.power + l.power, k.rate + l.rate, k.frequency + l.frequency},
                 {c.re * d.re - c.im * d.im, c.re * d.im + c.im * d.re});
    }
  return result;
}

std::optional<Sum> power(const Sum& base, const Sum& exponent) {
  const std::optional<Number> value = exponent.value();
  if (!value) return std::nullopt;
  const double e = double(*value);
  if (e != std::floor(e) || e < 0.0 || e > most_power || value->low() != 0.0) return std::nullopt;
  std::optional<Sum> result = Sum::constant(1.0);
  for (int k = 0; k < static_cast<int>(e) && result; ++k) result = product(*result, base);
  return result;
}

/// exp, sinh, cosh, sin or cos of a linear function.
std::optional<Sum> function(Op op, const Sum& argument) {
  const auto line = argument.line();
  if (!line) return std::nullopt;
  const auto [slope, start] = *line;
  Sum result;
  const Number half = 0.5;
  if (op == Op::sin || op == Op::cos) {
    const linalg::SineCosine at = linalg::sincos(start);
    const Complex c = op == Op::cos ? Complex{half * at.cosine, half * at.sine} : Complex{half * at.sine, -half * at.cosine};
    result.add({0, 0.0, slope}, c);
    result.add({0, 0.0, -slope}, {c.re, -c.im});
    return result;
  }
  const Number up = linalg::exp(start), down = linalg::exp(-start);
  if (op == Op::exp) result.add({0, slope, 0.0}, {up, 0.0});
  if (op == Op::sinh || op == Op::cosh) {
    result.add({0, slope, 0.0}, {half * up, 0.0});
    result.add({0, -slope, 0.0}, {op == Op::cosh ? half * down : -half * down, 0.0});
  }
  return result;
}

std::optional<Sum> combined(const expr::Node& node, const std::vector<const Sum*>& operands) {
  switch (node.op) {
    case Op::add: return sum(*operands[0], *operands[1], 1.0);
    case Op::sub: return sum(*operands[0], *operands[1], -1.0);
    case Op::neg: return sum({}, *operands[0], -1.0);
    case Op::mul: return product(*operands[0], *operands[1]);
    case Op::div: {
      const std::optional<Number> divisor = operands[1]->value();
      if (!divisor || *divisor == Number(0.0)) return std::nullopt;
      return sum({}, *operands[0], Number(1.0) / *divisor);
    }
    case Op::pow:
      if (std::optional<Sum> result = power(*operands[0], *operands[1])) return result;
      break;
    case Op::sin:
    case Op::cos:
    case Op::exp:
    case Op::sinh:
    case Op::cosh: return function(node.op, *operands[0]);
    default: break;
  }
  // Other functions of numbers are numbers.
  double values[3] = {0.0, 0.0, 0.0};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::optional<Number> value = operands[i]->value();
    if (!value) return std::nullopt;
    values[i] = double(*value);
  }
  const double value = expr::apply(node.op, values[0], values[1], values[2]);
  if (!std::isfinite(value)) return std::nullopt;
  return Sum::constant(value);
}

/// Decimals are meant as they are written: 0.1 is 1/10, as it is in E and A.
Number written(double value) {
  const std::optional<linalg::Rational> fraction = linalg::short_rational(value);
  return fraction ? linalg::extended(*fraction) : Number(value);
}

/// Each root as a sum; nothing where one is not.
std::optional<std::vector<Sum>> sums_of(const std::vector<Expr>& f, Expr t,
                                        const std::unordered_map<NodeId, double>& parameters) {
  std::unordered_map<NodeId, Sum> known;
  std::vector<Sum> result;
  if (f.empty()) return result;
  const expr::Graph& graph = t.graph();
  for (const NodeId id : expr::reachable(f)) {
    const expr::Node& node = graph.node(id);
    std::optional<Sum> value;
    if (node.op == Op::constant) {
      value = Sum::constant(written(node.value));
    } else if (id == t.id()) {
      value.emplace();
      value->add({1, 0.0, 0.0}, {1.0, 0.0});
    } else if (node.op == Op::symbol) {
      if (const auto found = parameters.find(id); found != parameters.end()) value = Sum::constant(written(found->second));
    } else if (node.op != Op::lookup) {
      std::vector<const Sum*> operands;
      const NodeId of[] = {node.a, node.b, node.c};
      for (int k = 0; k < expr::arity(node.op); ++k) operands.push_back(&known.at(of[k]));
      value = combined(node, operands);
    }
    if (!value) return std::nullopt;
    known.emplace(id, std::move(*value));
  }
  for (const Expr& root : f) result.push_back(known.at(root.id()));
  return result;
}

}  // namespace

std::optional<Forcing> forcing_of(const std::vector<Expr>& f, Expr t, const std::unordered_map<NodeId, double>& parameters) {
  const std::optional<std::vector<Sum>> sums = sums_of(f, t, parameters);
  if (!sums) return std::nullopt;
  // Highest power of each pair of rate and frequency >= 0; the place of its first function, t^0.
  std::map<Key, std::pair<int, std::size_t>> groups;
  for (const Sum& one : *sums)
    for (const auto& [key, c] : one.terms) {
      if (key.frequency < Number(0.0)) continue;
      int& highest = groups[{0, key.rate, key.frequency}].first;
      highest = std::max(highest, key.power);
    }
  Forcing out;
  for (auto& [key, group] : groups) {
    group.second = out.basis.size();
    for (int k = 0; k <= group.first; ++k) {
      out.basis.push_back({k, key.rate, key.frequency, false});
      if (key.frequency > Number(0.0)) out.basis.push_back({k, key.rate, key.frequency, true});
    }
  }
  const std::size_t m = out.basis.size();
  out.F = linalg::BasicMatrix<Number>::zero(f.size(), m);
  out.S = linalg::BasicMatrix<Number>::zero(m, m);
  for (const auto& [key, group] : groups) {
    const bool waves = key.frequency > Number(0.0);
    const std::size_t width = waves ? 2 : 1;
    for (int k = 0; k <= group.first; ++k)
      for (std::size_t part = 0; part < width; ++part) {
        const std::size_t row = group.second + static_cast<std::size_t>(k) * width + part;
        out.S(row, row) = key.rate;
        if (k > 0) out.S(row, row - width) = Number(static_cast<double>(k));
        if (waves) out.S(row, part == 0 ? row + 1 : row - 1) = part == 0 ? -key.frequency : key.frequency;
      }
  }
  for (std::size_t i = 0; i < sums->size(); ++i)
    for (const auto& [key, c] : (*sums)[i].terms) {
      if (key.frequency < Number(0.0)) continue;
      const std::size_t first = groups.at({0, key.rate, key.frequency}).second;
      if (key.frequency > Number(0.0)) {
        out.F(i, first + 2 * static_cast<std::size_t>(key.power)) = Number(2.0) * c.re;
        out.F(i, first + 2 * static_cast<std::size_t>(key.power) + 1) = Number(-2.0) * c.im;
      } else {
        out.F(i, first + static_cast<std::size_t>(key.power)) = c.re;
      }
    }
  return out;
}

void Forcing::at(double t, std::vector<Number>& w) const {
  w.resize(basis.size());
  for (std::size_t i = 0; i < basis.size(); ++i) {
    Number value = basis[i].rate == Number(0.0) ? Number(1.0) : linalg::exp(basis[i].rate * t);
    for (int k = 0; k < basis[i].power; ++k) value *= t;
    if (basis[i].frequency > Number(0.0)) {
      const linalg::SineCosine wave = linalg::sincos(basis[i].frequency * t);
      value *= basis[i].sine ? wave.sine : wave.cosine;
    }
    w[i] = value;
  }
}

}  // namespace daedalus::structure
