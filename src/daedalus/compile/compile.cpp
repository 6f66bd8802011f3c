#include "daedalus/compile/compile_as_wished.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "daedalus/base/error.hpp"
#include "daedalus/compile/tape.hpp"
#include "daedalus/expr/walk.hpp"

namespace daedalus::compile {

using expr::Expr;
using expr::Node;
using expr::NodeId;
using expr::Op;

namespace {

constexpr std::uint32_t no_register = std::numeric_limits<std::uint32_t>::max();

Code code_of(Op op) {
  switch (op) {
    case Op::add:
      return Code::add;
    case Op::sub:
      return Code::sub;
    case Op::mul:
      return Code::mul;
    case Op::div:
      return Code::div;
    case Op::neg:
      return Code::neg;
    case Op::pow:
      return Code::pow;
    case Op::sin:
      return Code::sin;
    case Op::cos:
      return Code::cos;
    case Op::tan:
      return Code::tan;
    case Op::asin:
      return Code::asin;
    case Op::acos:
      return Code::acos;
    case Op::atan:
      return Code::atan;
    case Op::sinh:
      return Code::sinh;
    case Op::cosh:
      return Code::cosh;
    case Op::tanh:
      return Code::tanh;
    case Op::asinh:
      return Code::asinh;
    case Op::acosh:
      return Code::acosh;
    case Op::atanh:
      return Code::atanh;
    case Op::exp:
      return Code::exp;
    case Op::log:
      return Code::log;
    case Op::log10:
      return Code::log10;
    case Op::sqrt:
      return Code::sqrt;
    case Op::cbrt:
      return Code::cbrt;
    case Op::abs:
      return Code::abs;
    case Op::sign:
      return Code::sign;
    case Op::floor:
      return Code::floor;
    case Op::atan2:
      return Code::atan2;
    case Op::min:
      return Code::min;
    case Op::max:
      return Code::max;
    case Op::hypot:
      return Code::hypot;
    case Op::less:
      return Code::less;
    case Op::less_equal:
      return Code::less_equal;
    case Op::equal:
      return Code::equal;
    case Op::not_equal:
      return Code::not_equal;
    case Op::logical_and:
      return Code::logical_and;
    case Op::logical_or:
      return Code::logical_or;
    case Op::logical_not:
      return Code::logical_not;
    case Op::choose:
      return Code::choose;
    case Op::lookup:
      return Code::table;
    case Op::constant:
    case Op::symbol:
      break;
  }
  DAEDALUS_CHECK(false, "no instruction for {}", expr::name_of(op));
}

/// What a node is at compile time: a number known now, or the output of an instruction.
struct Value {
  bool known = false;
  double number = 0.0;
  bool varies = false;  ///< between events
};

/// Whether a node takes one of a few values, which change at events only.
bool is_stepwise(Op op) {
  switch (op) {
    case Op::sign:
    case Op::floor:
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_not: return true;
    default: return false;
  }
}

/// Whether x is a power of two whose inverse is a normal number as well.
bool has_exact_inverse(double x) {
  int exponent = 0;
  return std::abs(std::frexp(x, &exponent)) == 0.5 && std::abs(exponent) < 1000;
}

class Compiler {
 public:
  Compiler(const Request& request, const Wish& wish, Switches& switches)
      : request_(request), wish_(wish), switches_(switches) {}

  Function operator()() {
    auto tape = std::make_shared<Function::Tape>();
    tape_ = tape.get();
    tape_->outputs = request_.outputs.size();
    tape_->notes = wish_.notes;
    for (const auto& block : request_.inputs) tape_->blocks.push_back(block.size());
    if (!request_.outputs.empty()) {
      order_and_fold();
      place_constants_and_inputs();
      emit();
    } else {
      place_constants_and_inputs();
    }
    tape_->code.push_back({Code::end});
    tape_->registers = next_register_;
    return Function(std::move(tape));
  }

 private:
  Value& value(NodeId id) { return values_[walk_.position(id)]; }
  std::uint32_t& reg(NodeId id) { return registers_[walk_.position(id)]; }

  /// Topological order, constant folding with the numbers of the parameters, and the position of each last use.
  void order_and_fold() {
    graph_ = &request_.outputs.front().graph();
    std::vector<NodeId> roots;
    for (const auto* list : {&wish_.first, &request_.outputs})
      for (const Expr& e : *list) roots.push_back(e.id());
    order_ = walk_.from(*graph_, roots);
    values_.resize(order_.size());
    registers_.assign(order_.size(), no_register);
    last_use_.assign(order_.size(), 0);
    needed_.assign(order_.size(), false);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Node& node = graph_->node(order_[i]);
      Value& here = values_[i];
      if (node.op == Op::constant) {
        here = {true, node.value};
      } else if (node.op == Op::symbol) {
        here.varies = !switches_.held(order_[i]);
        if (here.varies) {
          if (const std::optional<double> number = number_of(order_[i])) here = {true, *number};
        }
      } else {
        fold(node, here);
      }
    }
    for (const Expr& output : request_.outputs) needed_[walk_.position(output.id())] = true;
    for (std::size_t i = order_.size(); i-- > 0;) {
      if (!needed_[i] || values_[i].known) continue;
      const Node& node = graph_->node(order_[i]);
      for (int k = 0; k < expr::arity(node.op); ++k) {
        const std::size_t position = walk_.position(k == 0 ? node.a : k == 1 ? node.b : node.c);
        needed_[position] = true;
        last_use_[position] = std::max(last_use_[position], i);
      }
    }
  }

  std::optional<double> number_of(NodeId symbol) const {
    if (request_.numbers == nullptr) return std::nullopt;
    const auto found = request_.numbers->find(symbol);
    return found == request_.numbers->end() ? std::nullopt : std::optional(found->second);
  }

  void fold(const Node& node, Value& here) {
    const int n = expr::arity(node.op);
    const Value a = value(node.a);
    const Value b = n > 1 ? value(node.b) : Value{true, 0.0};
    const Value c = n > 2 ? value(node.c) : Value{true, 0.0};
    here.varies = !is_stepwise(node.op) && ((a.varies && node.op != Op::choose) || b.varies || c.varies);
    if (node.op == Op::lookup) {
      const expr::Graph::TableUse table = graph_->table(node.index);
      if (table.data == nullptr)
        throw Error("unknown-table", "the table '" + graph_->table_name(node.index) + "' has no data",
                    "give it with define_table");
      if (a.known) here = {true, table.data->value(table.data->segment(a.number), a.number, table.times)};
      if (table.data->smoothness() < 0) here.varies = false;
      return;
    }
    if (a.known && b.known && c.known)
      here = {true, expr::apply(node.op, a.number, b.number, c.number)};
    else if (node.op == Op::mul && ((a.known && a.number == 0.0) || (b.known && b.number == 0.0)))
      here = {true, 0.0};  // a parameter that is zero removes what it multiplies
  }

  std::uint32_t constant(double number) {
    const auto [found, fresh] =
        constant_register_.try_emplace(std::bit_cast<std::uint64_t>(number), std::uint32_t(tape_->constants.size()));
    if (fresh) tape_->constants.push_back(number);
    return found->second;
  }

  void place_constants_and_inputs() {
    for (std::size_t i = 0; i < order_.size(); ++i)
      if (needed_[i] && values_[i].known)
        registers_[i] = constant(values_[i].number);
      else if (needed_[i] && graph_->node(order_[i]).op == Op::symbol && switches_.held(order_[i]))
        constant_of_held(order_[i]);
    place_inverses();
    next_register_ = static_cast<std::uint32_t>(tape_->constants.size());
    for (const auto& block : request_.inputs)
      for (const Expr& symbol : block) {
        if (walk_.visited(symbol.id()) && !values_.empty() && !value(symbol.id()).known)
          reg(symbol.id()) = next_register_;
        ++next_register_;
      }
    first_temporary_ = next_register_;
  }

  /// Divisors that are powers of two become factors: the same to the last bit, and faster. Their places are known before
  /// the inputs are placed.
  void place_inverses() {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Node& node = graph_->node(order_[i]);
      if (!needed_[i] || values_[i].known || node.op != Op::div || !value(node.b).known) continue;
      const double divisor = value(node.b).number;
      if (has_exact_inverse(divisor)) exact_inverse_[divisor] = constant(1.0 / divisor);
    }
  }

  std::uint32_t constant_of_held(NodeId symbol) { return constant(number_of(symbol).value_or(0.0)); }

  std::uint32_t allocate() {
    if (!free_.empty()) {
      const std::uint32_t r = free_.back();
      free_.pop_back();
      return r;
    }
    return next_register_++;
  }

  void release(NodeId id, std::size_t at) {
    const std::size_t position = walk_.position(id);
    if (values_[position].known || last_use_[position] != at) return;
    const std::uint32_t r = registers_[position];
    if (r < first_temporary_ || released_[position]) return;
    released_[position] = true;
    free_.push_back(r);
  }

  void emit() {
    released_.assign(order_.size(), false);
    // The outputs that each value is, chained from the first to the last.
    constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> first_store(order_.size(), none), next_store(request_.outputs.size(), none);
    for (auto k = static_cast<std::uint32_t>(request_.outputs.size()); k-- > 0;) {
      std::uint32_t& first = first_store[walk_.position(request_.outputs[k].id())];
      next_store[k] = first;
      first = k;
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const NodeId id = order_[i];
      const Node node = graph_->node(id);  // a copy: a new switch adds nodes to the graph
      if (!needed_[i]) continue;
      if (const auto held = node.op == Op::symbol ? switches_.held(id) : std::nullopt) {
        const Instruction read{Code::held, registers_[i] = allocate(), constant_of_held(id), 0,
                               static_cast<std::uint32_t>(*held)};
        tape_->code.push_back(read);
      }
      if (!values_[i].known && node.op == Op::symbol)
        DAEDALUS_CHECK(registers_[i] != no_register, "'{}' is neither an input nor a number",
                       graph_->symbol_name(node.index));
      if (!values_[i].known && node.op != Op::symbol) emit_node(i, node);
      for (std::uint32_t k = first_store[i]; k != none; k = next_store[k])
        tape_->code.push_back({Code::store, k, registers_[i]});
      if (!values_[i].known && last_use_[i] == 0 && registers_[i] >= first_temporary_) free_.push_back(registers_[i]);
    }
  }

  /// Where the mode of a node stands among the frozen values. Place 0 is free: the node decides by its own values.
  std::size_t place_of(Expr self, const Node& node) {
    const bool varies = value(node.a).varies || (expr::arity(node.op) > 1 && value(node.b).varies);
    if (!varies) return 0;
    return request_.new_switches == Request::NewSwitches::added ? switches_.of(self) : switches_.find(self);
  }

  void emit_node(std::size_t i, const Node& node) {
    const int n = expr::arity(node.op);
    const Expr self{graph_, order_[i]};
    Instruction instruction{code_of(node.op), 0, reg(node.a), n > 1 ? reg(node.b) : 0U, n > 2 ? reg(node.c) : 0U};
    if (node.op == Op::pow && value(node.b).known) {
      if (value(node.b).number == 2.0) instruction.code = Code::square;
      if (value(node.b).number == -1.0) instruction.code = Code::inverse;
    }
    if (node.op == Op::div && value(node.b).known && has_exact_inverse(value(node.b).number)) {
      instruction.code = Code::mul;
      instruction.b = exact_inverse_[value(node.b).number];
    }
    if (is_switched(node.op)) instruction.c = static_cast<std::uint32_t>(place_of(self, node));
    if (node.op == Op::lookup) {
      instruction.b = static_cast<std::uint32_t>(tape_->tables.size());
      tape_->tables.push_back(graph_->table(node.index));
    }
    release(node.a, i);
    if (n > 1) release(node.b, i);
    if (n > 2) release(node.c, i);
    instruction.to = registers_[i] = allocate();
    tape_->code.push_back(instruction);
  }

  const Request& request_;
  const Wish& wish_;
  Switches& switches_;
  Function::Tape* tape_ = nullptr;
  expr::Graph* graph_ = nullptr;
  expr::Walk walk_;
  std::vector<NodeId> order_;
  std::vector<Value> values_;
  std::vector<std::uint32_t> registers_;
  std::vector<std::size_t> last_use_;
  std::vector<bool> needed_, released_;
  std::unordered_map<std::uint64_t, std::uint32_t> constant_register_;
  std::unordered_map<double, std::uint32_t> exact_inverse_;  ///< the register of 1/x
  std::vector<std::uint32_t> free_;
  std::uint32_t next_register_ = 0, first_temporary_ = 0;
};

}  // namespace

Function compile(const Request& request, Switches& switches) { return Compiler(request, {}, switches)(); }

Function compile_as_wished(const Request& request, const Wish& wish, Switches& switches) {
  return Compiler(request, wish, switches)();
}

}  // namespace daedalus::compile
