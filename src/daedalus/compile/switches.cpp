#include "daedalus/compile/switches.hpp"

#include <cmath>
#include <limits>

namespace daedalus::compile {

using expr::Expr;
using expr::Op;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

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
    case Op::not_equal:
    case Op::lookup:
      return true;
    default:
      return false;
  }
}

/// abs(a) and its derivative sign(a) have the same function, and so have min(a, b) and the condition b < a in its
/// derivative: they share one switch and can never disagree.
Switches::Switch Switches::switch_of(Expr node) {
  expr::Graph& graph = node.graph();
  const expr::Node what = node.node();
  const Expr a{&graph, what.a}, b{&graph, what.b};
  switch (what.op) {
    case Op::abs:
    case Op::sign:
      return {Kind::side, a, nullptr, {}};
    case Op::floor:
      return {Kind::whole, a, nullptr, {}};
    case Op::lookup: {
      const std::string name = graph.table_name(what.index);
      return {Kind::segment, a, graph.table(what.index).data, name.substr(0, name.find('\''))};
    }
    case Op::min:
      return {Kind::side, b - a, nullptr, {}};
    default:
      return {Kind::side, a - b, nullptr, {}};
  }
}

void Switches::hold(const std::vector<Expr>& symbols) {
  DAEDALUS_CHECK(switches_.empty(), "{} switches were numbered before", switches_.size());
  for (const Expr& symbol : symbols) held_.try_emplace(symbol.id(), 1 + held_.size());
}

std::optional<std::size_t> Switches::held(expr::NodeId symbol) const {
  const auto found = held_.find(symbol);
  return found == held_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t Switches::of(Expr node) {
  Switch one = switch_of(node);
  const auto [found, fresh] = number_.try_emplace(Key{one.kind, one.function.id(), one.table.get()}, switches_.size());
  if (fresh) switches_.push_back(std::move(one));
  return place(found->second);
}

std::size_t Switches::find(Expr node) const {
  const Switch one = switch_of(node);
  const auto found = number_.find(Key{one.kind, one.function.id(), one.table.get()});
  return found == number_.end() ? 0 : place(found->second);
}

std::vector<double> Switches::free_modes(const std::vector<double>& held_values) const {
  DAEDALUS_CHECK(held_values.size() == held_.size(), "{} values for {}", held_values.size(), held_.size());
  std::vector<double> frozen(1 + held_.size() + switches_.size(), std::numeric_limits<double>::quiet_NaN());
  std::copy(held_values.begin(), held_values.end(), frozen.begin() + 1);
  return frozen;
}

double Switches::Switch::mode(double value) const {
  switch (kind) {
    case Kind::side:
      return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : value;
    case Kind::whole:
      return std::floor(value);
    case Kind::segment:
      return table->segment(value);
  }
  DAEDALUS_CHECK(false, "unknown kind of switch {}", static_cast<int>(kind));
}

double Switches::Switch::low(double mode) const {
  switch (kind) {
    case Kind::side:
      return mode < 0.0 ? -infinity : 0.0;
    case Kind::whole:
      return mode;
    case Kind::segment:
      return table->low(mode);
  }
  DAEDALUS_CHECK(false, "unknown kind of switch {}", static_cast<int>(kind));
}

double Switches::Switch::high(double mode) const {
  switch (kind) {
    case Kind::side:
      return mode > 0.0 ? infinity : 0.0;
    case Kind::whole:
      return mode + 1.0;
    case Kind::segment:
      return table->high(mode);
  }
  DAEDALUS_CHECK(false, "unknown kind of switch {}", static_cast<int>(kind));
}

}  // namespace daedalus::compile
