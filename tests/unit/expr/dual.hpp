#pragma once

#include <cmath>
#include <numbers>
#include <unordered_map>
#include <vector>

#include "daedalus/expr/graph.hpp"

/// Dual numbers v + d*epsilon with epsilon^2 = 0: derivatives along a path that shares nothing with the symbolic one.
/// Dual<Dual<double>> gives second derivatives.
namespace daedalus::expr::dual {

template <class T>
struct Dual {
  T v{}, d{};
  Dual() = default;
  Dual(double value) : v(value), d(0.0) {}
  Dual(T value, T derivative) : v(value), d(derivative) {}
};

inline double real(double x) { return x; }
template <class T>
double real(const Dual<T>& x) {
  return real(x.v);
}

template <class T>
Dual<T> operator+(const Dual<T>& a, const Dual<T>& b) {
  return {a.v + b.v, a.d + b.d};
}
template <class T>
Dual<T> operator-(const Dual<T>& a, const Dual<T>& b) {
  return {a.v - b.v, a.d - b.d};
}
template <class T>
Dual<T> operator-(const Dual<T>& a) {
  return {-a.v, -a.d};
}
template <class T>
Dual<T> operator*(const Dual<T>& a, const Dual<T>& b) {
  return {a.v * b.v, a.d * b.v + a.v * b.d};
}
template <class T>
Dual<T> operator/(const Dual<T>& a, const Dual<T>& b) {
  const T q = a.v / b.v;
  return {q, (a.d - q * b.d) / b.v};
}

using std::exp, std::log, std::sin, std::cos, std::sqrt;
template <class T>
Dual<T> exp(const Dual<T>& a) {
  const T e = exp(a.v);
  return {e, e * a.d};
}
template <class T>
Dual<T> log(const Dual<T>& a) {
  return {log(a.v), a.d / a.v};
}
template <class T>
Dual<T> sqrt(const Dual<T>& a) {
  const T s = sqrt(a.v);
  return {s, a.d / (s + s)};
}
template <class T>
Dual<T> sin(const Dual<T>& a);
template <class T>
Dual<T> cos(const Dual<T>& a) {
  return {cos(a.v), -(sin(a.v) * a.d)};
}
template <class T>
Dual<T> sin(const Dual<T>& a) {
  return {sin(a.v), cos(a.v) * a.d};
}

/// The operations built from exp, log, sqrt, sin and cos alone.
template <class D>
D apply(Op op, const D& a, const D& b, const D& c) {
  const D one(1.0), two(2.0);
  const auto atan_of = [&](const D& x) {
    // Newton's correction of the double value makes a number with all its derivatives: y = y0 - f(y0)/f'(y0), f = sin -
    // x cos
    D y(std::atan(real(x)));
    for (int i = 0; i < 3; ++i) y = y - (sin(y) - x * cos(y)) / (cos(y) + x * sin(y));
    return y;
  };
  switch (op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return a / b;
    case Op::neg:
      return -a;
    case Op::pow: {
      if (real(a) > 0.0) return exp(b * log(a));
      const double whole = std::abs(real(b));
      const D undefined = D(std::nan("")) * a;
      if (whole != std::floor(whole) || whole > 64.0) return undefined;
      D result = one;
      for (int i = 0; i < static_cast<int>(whole); ++i) result = result * a;
      return real(b) < 0.0 ? one / result : result;
    }
    case Op::sin:
      return sin(a);
    case Op::cos:
      return cos(a);
    case Op::tan:
      return sin(a) / cos(a);
    case Op::asin:
      return atan_of(a / sqrt(one - a * a));
    case Op::acos:
      return D(std::numbers::pi / 2.0) - atan_of(a / sqrt(one - a * a));
    case Op::atan:
      return atan_of(a);
    case Op::sinh:
      return (exp(a) - exp(-a)) / two;
    case Op::cosh:
      return (exp(a) + exp(-a)) / two;
    case Op::tanh:
      return (exp(a) - exp(-a)) / (exp(a) + exp(-a));
    case Op::asinh:
      return log(a + sqrt(a * a + one));
    case Op::acosh:
      return log(a + sqrt(a * a - one));
    case Op::atanh:
      return log((one + a) / (one - a)) / two;
    case Op::exp:
      return exp(a);
    case Op::log:
      return log(a);
    case Op::log10:
      return log(a) / log(D(10.0));
    case Op::sqrt:
      return sqrt(a);
    case Op::cbrt:
      return real(a) < 0.0 ? -exp(log(-a) / D(3.0)) : exp(log(a) / D(3.0));
    case Op::abs:
      return real(a) < 0.0 ? -a : a;
    case Op::sign:
      return D(expr::apply(op, real(a)));
    case Op::floor:
      return D(std::floor(real(a)));
    case Op::atan2: {
      if (std::abs(real(b)) > std::abs(real(a))) {
        const D angle = atan_of(a / b);
        return real(b) > 0.0 ? angle : angle + D(real(a) < 0.0 ? -std::numbers::pi : std::numbers::pi);
      }
      return D(real(a) < 0.0 ? -std::numbers::pi / 2.0 : std::numbers::pi / 2.0) - atan_of(b / a);
    }
    case Op::min:
      return real(b) < real(a) ? b : a;
    case Op::max:
      return real(a) < real(b) ? b : a;
    case Op::hypot:
      return sqrt(a * a + b * b);
    case Op::choose:
      return real(a) != 0.0 ? b : c;
    default:
      return D(expr::apply(op, real(a), real(b), real(c)));
  }
}

/// Evaluates the nodes up to `root` in any number type.
template <class D>
D evaluate(Expr root, const std::unordered_map<NodeId, D>& values) {
  std::vector<D> value(root.id() + 1);
  for (NodeId id = 0; id <= root.id(); ++id) {
    const Node& node = root.graph().node(id);
    if (node.op == Op::constant)
      value[id] = D(node.value);
    else if (node.op == Op::symbol)
      value[id] = values.contains(id) ? values.at(id) : D(0.0);
    else if (node.op != Op::lookup)
      value[id] = dual::apply(node.op, value[node.a], value[node.b], value[node.c]);
  }
  return value[root.id()];
}

}  // namespace daedalus::expr::dual
