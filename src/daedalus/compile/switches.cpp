#include "daedalus/compile/switches.hpp"

#include <cmath>

namespace daedalus::compile {

using expr::Expr;
using expr::Op;

bool is_switched(Op op) {
  switch (op) {
    case Op::abs:
    case Op::sign:
    case Op::floor:
    case Op::min:
    case Op::max:
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal: return true;
    default: return false;
  }
}

std::size_t Switches::of(Expr node) {
  const auto [found, fresh] = number_.try_emplace(node.id(), switches_.size());
  if (fresh) {
    const Op op = node.node().op;
    const Expr a{&node.graph(), node.node().a}, b{&node.graph(), node.node().b};
    switch (op) {
      case Op::abs:
      case Op::sign: switches_.push_back({Kind::sign, node, a}); break;
      case Op::floor: switches_.push_back({Kind::whole, node, a}); break;
      case Op::min: switches_.push_back({Kind::order, node, b - a}); break;
      case Op::max: switches_.push_back({Kind::order, node, a - b}); break;
      default: switches_.push_back({Kind::condition, node, a - b});
    }
  }
  return found->second;
}

double Switches::mode(Kind kind, Op op, double value) {
  switch (kind) {
    case Kind::sign: return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0;
    case Kind::whole: return std::floor(value);
    case Kind::order: return value < 0.0 ? 1.0 : 0.0;
    case Kind::condition: return expr::apply(op, value, 0.0);
  }
  DAEDALUS_CHECK(false, "unknown kind of switch {}", static_cast<int>(kind));
}

}  // namespace daedalus::compile
