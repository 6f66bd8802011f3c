#include "daedalus/expr/graph.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "daedalus/base/error.hpp"
#include "daedalus/expr/hypotenuse.hpp"
#include "daedalus/expr/sine.hpp"

namespace daedalus::expr {

namespace {

constexpr NodeId empty = std::numeric_limits<NodeId>::max();

struct OpInfo {
  std::string_view name;
  int arity;
};

constexpr std::array<OpInfo, 41> infos{{
    {"constant", 0}, {"symbol", 0}, {"table", 1}, {"+", 2},    {"-", 2},     {"*", 2},     {"/", 2},
    {"-", 1},        {"^", 2},      {"sin", 1},   {"cos", 1},  {"tan", 1},   {"asin", 1},  {"acos", 1},
    {"atan", 1},     {"sinh", 1},   {"cosh", 1},  {"tanh", 1}, {"asinh", 1}, {"acosh", 1}, {"atanh", 1},
    {"exp", 1},      {"log", 1},    {"log10", 1}, {"sqrt", 1}, {"cbrt", 1},  {"abs", 1},   {"sign", 1},
    {"floor", 1},    {"atan2", 2},  {"min", 2},   {"max", 2},  {"hypot", 2}, {"<", 2},     {"<=", 2},
    {"==", 2},       {"!=", 2},     {"and", 2},   {"or", 2},   {"not", 1},   {"if", 3},
}};

bool commutes(Op op) { return op == Op::add || op == Op::mul; }

std::uint64_t hash_of(const Node& node) {
  auto mix = [](std::uint64_t h, std::uint64_t v) {
    h ^= v + 0x9E3779B97F4A7C15ULL + (h << 6) + (h >> 2);
    return h * 0xBF58476D1CE4E5B9ULL;
  };
  std::uint64_t h = static_cast<std::uint64_t>(node.op);
  h = mix(h, commutes(node.op) ? std::min(node.a, node.b) : node.a);
  h = mix(h, commutes(node.op) ? std::max(node.a, node.b) : node.b);
  h = mix(h, node.c);
  h = mix(h, node.index);
  // Whole numbers differ in the upper bits only, and a product moves bits up only: both are folded down, or the numbers
  // of a long sum would all meet in a few buckets.
  const auto bits = std::bit_cast<std::uint64_t>(node.value);
  h = mix(h, bits ^ (bits >> 32));
  h ^= h >> 32;
  h *= 0x94D049BB133111EBULL;
  return h ^ (h >> 29);
}

bool same(const Node& l, const Node& r) {
  // a + b and b + a are one node; the order in which it was written first is the one that is printed.
  const bool operands = (l.a == r.a && l.b == r.b) || (commutes(l.op) && l.a == r.b && l.b == r.a);
  return l.op == r.op && operands && l.c == r.c && l.index == r.index &&
         std::bit_cast<std::uint64_t>(l.value) == std::bit_cast<std::uint64_t>(r.value);
}

/// +-2^k of moderate size: multiplying by it is exact.
bool is_power_of_two(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::abs(mantissa) == 0.5 && std::abs(exponent) < 64;
}

/// Whether numbers whose product or quotient is `merged` may become that one number: not where it leaves the range in
/// which a power of two is exact.
bool is_exact(double merged) { return std::isnormal(merged) && std::abs(merged) > 1e-200 && std::abs(merged) < 1e200; }

}  // namespace

int arity(Op op) { return infos[static_cast<std::size_t>(op)].arity; }
std::string_view name_of(Op op) { return infos[static_cast<std::size_t>(op)].name; }

bool is_power_of_products(double exponent) {
  const double size = std::abs(exponent), part = size - std::floor(size);
  return (part == 0.0 && size <= 64.0) || (part == 0.5 && size < 8.0);
}

double power(double x, double y) {
  if (!is_power_of_products(y)) return std::pow(x, y);
  const bool half = y != std::floor(y);
  if (half) x += 0.0;  // the root of -0 is 0
  double result = 1.0, base = x;
  for (auto n = static_cast<unsigned>(std::abs(y)); n != 0; n >>= 1, base *= base)
    if (n & 1U) result *= base;
  if (half) result *= std::sqrt(x);
  return y < 0.0 ? 1.0 / result : result;
}

double apply(Op op, double a, double b, double c) {
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::div: return a / b;
    case Op::neg: return -a;
    case Op::pow: return power(a, b);
    case Op::sin: return sine(a);
    case Op::cos: return cosine(a);
    case Op::tan: return std::tan(a);
    case Op::asin: return std::asin(a);
    case Op::acos: return std::acos(a);
    case Op::atan: return std::atan(a);
    case Op::sinh: return std::sinh(a);
    case Op::cosh: return std::cosh(a);
    case Op::tanh: return std::tanh(a);
    case Op::asinh: return std::asinh(a);
    case Op::acosh: return std::acosh(a);
    case Op::atanh: return std::atanh(a);
    case Op::exp: return std::exp(a);
    case Op::log: return std::log(a);
    case Op::log10: return std::log10(a);
    case Op::sqrt: return std::sqrt(a);
    case Op::cbrt: return std::cbrt(a);
    case Op::abs: return std::abs(a);
    case Op::sign: return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a;  // keeps NaN
    case Op::floor: return std::floor(a);
    case Op::atan2: return std::atan2(a, b);
    case Op::min: return b < a ? b : a;
    case Op::max: return a < b ? b : a;
    case Op::hypot: return hypotenuse(a, b);
    case Op::less: return a < b ? 1.0 : 0.0;
    case Op::less_equal: return a <= b ? 1.0 : 0.0;
    case Op::equal: return a == b ? 1.0 : 0.0;
    case Op::not_equal: return a != b ? 1.0 : 0.0;
    case Op::logical_and: return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
    case Op::logical_or: return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
    case Op::logical_not: return a == 0.0 ? 1.0 : 0.0;
    case Op::choose: return a != 0.0 ? b : c;
    case Op::constant:
    case Op::symbol:
    case Op::lookup: break;
  }
  DAEDALUS_CHECK(false, "operation {} has no value of its own", name_of(op));
}

Graph::Graph() : buckets_(1024, Bucket{empty, 0}) { nodes_.reserve(512); }

const std::string& Expr::name() const { return graph_->symbol_name(node().index); }

void Graph::grow() {
  std::vector<Bucket> larger(buckets_.size() * 2, Bucket{empty, 0});
  const std::size_t mask = larger.size() - 1;
  for (const Bucket& bucket : buckets_) {
    if (bucket.id == empty) continue;
    std::size_t slot = bucket.hash & mask;
    while (larger[slot].id != empty) slot = (slot + 1) & mask;
    larger[slot] = bucket;
  }
  buckets_ = std::move(larger);
}

NodeId Graph::intern(const Node& node) {
  const std::size_t mask = buckets_.size() - 1;
  const auto hash = static_cast<std::uint32_t>(hash_of(node));
  std::size_t slot = hash & mask;
  for (; buckets_[slot].id != empty; slot = (slot + 1) & mask)
    if (buckets_[slot].hash == hash && same(nodes_[buckets_[slot].id], node)) return buckets_[slot].id;
  const auto id = static_cast<NodeId>(nodes_.size());
  DAEDALUS_CHECK(id != empty, "expression graph is full with {} nodes", nodes_.size());
  nodes_.push_back(node);
  buckets_[slot] = {id, hash};
  if (nodes_.size() * 2 > buckets_.size()) grow();
  return id;
}

NodeId Graph::number(double value) {
  Node node{Op::constant};
  node.value = value == 0.0 ? 0.0 : value;  // one zero: -0 would be a second node
  return intern(node);
}

Expr Graph::constant(double value) { return {this, number(value)}; }

Expr Graph::symbol(std::string_view name) {
  const auto found = symbol_of_name_.find(std::string(name));
  if (found != symbol_of_name_.end()) return {this, found->second};
  Node node{Op::symbol};
  node.index = static_cast<std::uint32_t>(symbol_names_.size());
  symbol_names_.emplace_back(name);
  const NodeId id = intern(node);
  symbol_of_name_.emplace(name, id);
  return {this, id};
}

Expr Graph::lookup(std::string_view table, Expr argument) {
  const auto [found, fresh] =
      table_of_name_.try_emplace(std::string(table), static_cast<std::uint32_t>(table_names_.size()));
  if (fresh) table_names_.emplace_back(table);
  Node node{Op::lookup, argument.id()};
  node.index = found->second;
  return {this, intern(node)};
}

void Graph::define_table(std::string_view name, std::shared_ptr<const Interpolant> data) {
  table_data_.insert_or_assign(std::string(name), std::move(data));
}

Graph::TableUse Graph::table(std::uint32_t index) const {
  const std::string& name = table_names_[index];
  const std::size_t base = std::min(name.find('\''), name.size());
  const auto found = table_data_.find(name.substr(0, base));
  return {found == table_data_.end() ? nullptr : found->second, static_cast<int>(name.size() - base)};
}

NodeId Graph::folded(Op op, NodeId a, NodeId b) {
  if (!is_constant(a) || !is_constant(b)) return empty;
  const double value = apply(op, nodes_[a].value, nodes_[b].value);
  return std::isfinite(value) ? number(value) : empty;
}

NodeId Graph::neg(NodeId a) {
  const Node n = nodes_[a];
  if (n.op == Op::constant) return number(-n.value);
  if (n.op == Op::neg) return n.a;
  if (n.op == Op::sub) return sub(n.b, n.a);
  return intern({Op::neg, a});
}

NodeId Graph::add(NodeId a, NodeId b) {
  if (is_constant(a, 0.0)) return b;
  if (is_constant(b, 0.0)) return a;
  if (const NodeId sum = folded(Op::add, a, b); sum != empty) return sum;
  const Node l = nodes_[a], r = nodes_[b];
  if (r.op == Op::neg) return sub(a, r.a);
  if (l.op == Op::neg) return sub(b, l.a);
  if (a == b) return mul(number(2.0), a);
  if (r.op == Op::constant && r.value < 0.0) return sub(a, number(-r.value));
  if (l.op == Op::constant && l.value < 0.0) return sub(b, number(-l.value));
  return intern({Op::add, a, b});
}

NodeId Graph::sub(NodeId a, NodeId b) {
  if (is_constant(b, 0.0)) return a;
  if (is_constant(a, 0.0)) return neg(b);
  if (a == b) return number(0.0);
  if (const NodeId difference = folded(Op::sub, a, b); difference != empty) return difference;
  const Node r = nodes_[b];
  if (r.op == Op::neg) return add(a, r.a);
  if (r.op == Op::constant && r.value < 0.0) return add(a, number(-r.value));
  return intern({Op::sub, a, b});
}

NodeId Graph::mul(NodeId a, NodeId b) {
  if (const NodeId product = folded(Op::mul, a, b); product != empty) return product;
  if (is_constant(a, 0.0) || is_constant(b, 0.0)) return number(0.0);
  if (is_constant(b)) std::swap(a, b);  // numbers stand in front
  if (is_constant(a, 1.0)) return b;
  if (is_constant(a) && nodes_[a].value < 0.0) return neg(mul(number(-nodes_[a].value), b));  // signs move outwards
  Node l = nodes_[a], r = nodes_[b];
  if (l.op == Op::neg) return neg(mul(l.a, b));
  if (r.op == Op::neg) return neg(mul(a, r.a));

  // Powers of two are exact and may move: (m/2)*(2*v) is m*v.
  const auto two_power = [&](const Node& n, double& factor, NodeId& rest) {
    if (n.op == Op::mul && is_constant(n.a) && is_power_of_two(nodes_[n.a].value)) {
      factor = nodes_[n.a].value;
      rest = n.b;
      return true;
    }
    if (n.op == Op::div && is_constant(n.b) && is_power_of_two(nodes_[n.b].value)) {
      factor = 1.0 / nodes_[n.b].value;
      rest = n.a;
      return true;
    }
    return false;
  };
  double fa = 1.0, fb = 1.0;
  NodeId ra = a, rb = b;
  if (l.op == Op::constant) {
    if (r.op == Op::mul && is_constant(r.a) && (is_power_of_two(l.value) || is_power_of_two(nodes_[r.a].value)) &&
        is_exact(l.value * nodes_[r.a].value))
      return mul(number(l.value * nodes_[r.a].value), r.b);
    if (r.op == Op::div && is_constant(r.b) && is_power_of_two(nodes_[r.b].value) &&
        is_exact(l.value / nodes_[r.b].value))
      return mul(number(l.value / nodes_[r.b].value), r.a);
    // 3*(1/x) rounds twice, 3/x once: only the outer number may go inside, and only if it is a power of two.
    if (r.op == Op::div && is_constant(r.a) && is_power_of_two(l.value) && is_exact(l.value * nodes_[r.a].value))
      return div(number(l.value * nodes_[r.a].value), r.b);
    // 2*(x*(0.5/y)), as derivatives of logarithms have it, is x*(1/y).
    if (r.op == Op::mul && is_power_of_two(l.value)) {
      const auto cancels = [&](const Node& n) { return n.op == Op::div && is_constant(n.a, 1.0 / l.value); };
      if (const Node inner = nodes_[r.b]; cancels(inner)) return mul(r.a, div(number(1.0), inner.b));
      if (const Node inner = nodes_[r.a]; cancels(inner)) return mul(div(number(1.0), inner.b), r.b);
    }
    return intern({Op::mul, a, b});
  }
  const bool left = two_power(l, fa, ra), right = two_power(r, fb, rb);
  if (left || right) {
    const double factor = fa * fb;
    const NodeId product = mul(ra, rb);
    if (factor == 1.0) return product;
    if (std::abs(factor) < 1.0) return div(product, number(1.0 / factor));
    return mul(number(factor), product);
  }
  // A number inside a product moves to its front as it is: x*(3*y) is 3*(x*y) only up to rounding, so it stays.
  if (a == b) return pow(a, number(2.0));
  return intern({Op::mul, a, b});
}

NodeId Graph::div(NodeId a, NodeId b) {
  if (const NodeId quotient = folded(Op::div, a, b); quotient != empty) return quotient;
  if (is_constant(b, 1.0)) return a;
  if (is_constant(a, 0.0) && !is_constant(b, 0.0)) return a;
  const Node l = nodes_[a], r = nodes_[b];
  if (is_constant(a) && l.value < 0.0) return neg(div(number(-l.value), b));
  if (l.op == Op::neg) return neg(div(l.a, b));
  if (r.op == Op::neg) return neg(div(a, r.a));
  if (is_constant(b) && is_power_of_two(r.value)) {
    if (r.value < 0.0) return neg(div(a, number(-r.value)));
    if (l.op == Op::mul && is_constant(l.a) && is_exact(nodes_[l.a].value / r.value))
      return mul(number(nodes_[l.a].value / r.value), l.b);
    if (l.op == Op::div && is_constant(l.b) && is_exact(nodes_[l.b].value * r.value))
      return div(l.a, number(nodes_[l.b].value * r.value));
    if (std::abs(r.value) < 1.0) return mul(number(1.0 / r.value), a);
  }
  return intern({Op::div, a, b});
}

NodeId Graph::pow(NodeId a, NodeId b) {
  if (const NodeId value = folded(Op::pow, a, b); value != empty) return value;
  if (is_constant(b, 1.0)) return a;
  if (is_constant(b, 0.0)) return number(1.0);
  if (is_constant(a, 1.0)) return a;
  if (nodes_[a].op == Op::neg && is_constant(b) && nodes_[b].value == std::floor(nodes_[b].value) &&
      std::abs(nodes_[b].value) <= 64.0) {
    const NodeId positive = pow(nodes_[a].a, b);
    return std::fmod(nodes_[b].value, 2.0) == 0.0 ? positive : neg(positive);
  }
  return intern({Op::pow, a, b});
}

NodeId Graph::simplified_unary(Op op, NodeId a) {
  if (op == Op::neg) return neg(a);
  if (const NodeId value = folded(op, a, a); value != empty) return value;
  return intern({op, a});
}

NodeId Graph::simplified_binary(Op op, NodeId a, NodeId b) {
  switch (op) {
    case Op::add: return add(a, b);
    case Op::sub: return sub(a, b);
    case Op::mul: return mul(a, b);
    case Op::div: return div(a, b);
    case Op::pow: return pow(a, b);
    default: break;
  }
  if (const NodeId value = folded(op, a, b); value != empty) return value;
  if ((op == Op::min || op == Op::max) && a == b) return a;
  return intern({op, a, b});
}

void Expr::refuse_empty() {
  throw Error("empty-expression", "an expression is used that was never given a value", "build it from symbols of the model");
}

/// The C++ interface lets a program mix graphs: that is its author's mistake, not ours.
void Graph::require_own(Expr e) const {
  if (&e.graph() != this)
    throw Error("mixed-graphs", "expressions of two models are mixed", "use only symbols of the model that is being built");
}

Expr Graph::make(Op op, Expr a) {
  require_own(a);
  DAEDALUS_CHECK(arity(op) == 1 && op != Op::lookup, "{} takes {} operands", name_of(op), arity(op));
  return {this, simplified_unary(op, a.id())};
}

Expr Graph::make(Op op, Expr a, Expr b) {
  require_own(a);
  require_own(b);
  DAEDALUS_CHECK(arity(op) == 2, "{} takes {} operands", name_of(op), arity(op));
  return {this, simplified_binary(op, a.id(), b.id())};
}

Expr Graph::make(Op op, Expr a, Expr b, Expr c) {
  require_own(a);
  require_own(b);
  require_own(c);
  DAEDALUS_CHECK(arity(op) == 3, "{} takes {} operands", name_of(op), arity(op));
  if (a.is_constant()) return a.node().value != 0.0 ? b : c;
  if (b == c) return b;
  return {this, intern({op, a.id(), b.id(), c.id()})};
}

Expr operator+(Expr a, Expr b) { return a.graph().make(Op::add, a, b); }
Expr operator-(Expr a, Expr b) { return a.graph().make(Op::sub, a, b); }
Expr operator*(Expr a, Expr b) { return a.graph().make(Op::mul, a, b); }
Expr operator/(Expr a, Expr b) { return a.graph().make(Op::div, a, b); }
Expr operator-(Expr a) { return a.graph().make(Op::neg, a); }
Expr operator+(Expr a, double b) { return a + a.graph().constant(b); }
Expr operator-(Expr a, double b) { return a - a.graph().constant(b); }
Expr operator*(Expr a, double b) { return a * a.graph().constant(b); }
Expr operator/(Expr a, double b) { return a / a.graph().constant(b); }
Expr operator+(double a, Expr b) { return b.graph().constant(a) + b; }
Expr operator-(double a, Expr b) { return b.graph().constant(a) - b; }
Expr operator*(double a, Expr b) { return b.graph().constant(a) * b; }
Expr operator/(double a, Expr b) { return b.graph().constant(a) / b; }
Expr pow(Expr a, Expr b) { return a.graph().make(Op::pow, a, b); }
Expr pow(Expr a, double b) { return pow(a, a.graph().constant(b)); }
Expr sin(Expr a) { return a.graph().make(Op::sin, a); }
Expr cos(Expr a) { return a.graph().make(Op::cos, a); }
Expr tan(Expr a) { return a.graph().make(Op::tan, a); }
Expr asin(Expr a) { return a.graph().make(Op::asin, a); }
Expr acos(Expr a) { return a.graph().make(Op::acos, a); }
Expr atan(Expr a) { return a.graph().make(Op::atan, a); }
Expr sinh(Expr a) { return a.graph().make(Op::sinh, a); }
Expr cosh(Expr a) { return a.graph().make(Op::cosh, a); }
Expr tanh(Expr a) { return a.graph().make(Op::tanh, a); }
Expr asinh(Expr a) { return a.graph().make(Op::asinh, a); }
Expr acosh(Expr a) { return a.graph().make(Op::acosh, a); }
Expr atanh(Expr a) { return a.graph().make(Op::atanh, a); }
Expr exp(Expr a) { return a.graph().make(Op::exp, a); }
Expr log(Expr a) { return a.graph().make(Op::log, a); }
Expr log10(Expr a) { return a.graph().make(Op::log10, a); }
Expr sqrt(Expr a) { return a.graph().make(Op::sqrt, a); }
Expr cbrt(Expr a) { return a.graph().make(Op::cbrt, a); }
Expr abs(Expr a) { return a.graph().make(Op::abs, a); }
Expr sign(Expr a) { return a.graph().make(Op::sign, a); }
Expr floor(Expr a) { return a.graph().make(Op::floor, a); }
Expr atan2(Expr y, Expr x) { return y.graph().make(Op::atan2, y, x); }
Expr min(Expr a, Expr b) { return a.graph().make(Op::min, a, b); }
Expr max(Expr a, Expr b) { return a.graph().make(Op::max, a, b); }
Expr hypot(Expr a, Expr b) { return a.graph().make(Op::hypot, a, b); }
Expr choose(Expr condition, Expr yes, Expr no) { return condition.graph().make(Op::choose, condition, yes, no); }

}  // namespace daedalus::expr
