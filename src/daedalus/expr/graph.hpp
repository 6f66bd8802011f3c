#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "daedalus/base/check.hpp"
#include "daedalus/expr/interpolant.hpp"

namespace daedalus::expr {

/// What a node computes. The operands are `a`, `b`, `c` of Node.
enum class Op : std::uint8_t {
  constant,
  symbol,
  lookup,  ///< table(a): `index` names the table
  add, sub, mul, div, neg, pow,
  sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh,
  exp, log, log10, sqrt, cbrt, abs, sign, floor,
  atan2, min, max, hypot,
  less, less_equal, equal, not_equal, logical_and, logical_or, logical_not,  ///< 1 or 0
  choose,  ///< if(a, b, c)
};

/// Number of operands of an operation.
int arity(Op op);
/// The name by which people call the operation: "sin", "+", "if".
std::string_view name_of(Op op);

using NodeId = std::uint32_t;

struct Node {
  Op op;
  NodeId a = 0, b = 0, c = 0;
  std::uint32_t index = 0;  ///< symbol or table number
  double value = 0.0;       ///< of a constant
};

class Graph;

/// A small handle to a node. Handles of one graph are equal exactly when their expressions are the same node.
/// The operators below build further nodes in the same graph.
class Expr {
 public:
  Expr() = default;
  Expr(Graph* graph, NodeId id) : graph_(graph), id_(id) {}

  bool valid() const { return graph_ != nullptr; }
  /// Throws Error("empty-expression") where the handle was never given a value.
  Graph& graph() const {
    if (graph_ == nullptr) [[unlikely]]
      refuse_empty();
    return *graph_;
  }
  NodeId id() const { return id_; }
  const Node& node() const;

  bool is_constant() const { return node().op == Op::constant; }
  bool is_constant(double value) const { return is_constant() && node().value == value; }
  bool is_symbol() const { return node().op == Op::symbol; }
  /// Name of a symbol.
  const std::string& name() const;

  friend bool operator==(const Expr& l, const Expr& r) { return l.id_ == r.id_ && l.graph_ == r.graph_; }

 private:
  [[noreturn]] static void refuse_empty();
  Graph* graph_ = nullptr;
  NodeId id_ = 0;
};

/// An append-only arena of nodes with hash-consing: equal expressions are one node, so common subexpressions are
/// shared by construction. Operands always have smaller ids than the node that uses them: a pass over a graph is a
/// loop over ids.
///
/// `make` simplifies locally: constants are folded, 0 and 1 disappear, signs and powers of two are moved. None of it
/// changes the value of an expression, to the last bit, at a point where all of its parts are finite and none
/// underflows (a factor 0 removes what it multiplies). Only the sign of a zero may change.
class Graph {
 public:
  Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Expr constant(double value);
  /// The symbol of that name, made at first use.
  Expr symbol(std::string_view name);
  bool has_symbol(std::string_view name) const { return symbol_of_name_.contains(std::string(name)); }
  const std::string& symbol_name(std::uint32_t index) const { return symbol_names_[index]; }
  std::size_t symbol_count() const { return symbol_names_.size(); }

  Expr make(Op op, Expr a);
  Expr make(Op op, Expr a, Expr b);
  Expr make(Op op, Expr a, Expr b, Expr c);
  /// table(argument), with tables numbered by name.
  Expr lookup(std::string_view table, Expr argument);
  const std::string& table_name(std::uint32_t index) const { return table_names_[index]; }
  /// Gives the data of a table. Its derivatives are tables of their own, named with primes: path', path''.
  void define_table(std::string_view name, std::shared_ptr<const Interpolant> data);
  struct TableUse {
    std::shared_ptr<const Interpolant> data;  ///< none where the table has no data
    int times = 0;                            ///< of which derivative
  };
  TableUse table(std::uint32_t index) const;

  const Node& node(NodeId id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }

 private:
  void require_own(Expr e) const;
  NodeId intern(const Node& node);
  NodeId simplified_unary(Op op, NodeId a);
  NodeId simplified_binary(Op op, NodeId a, NodeId b);

  NodeId add(NodeId a, NodeId b);
  NodeId sub(NodeId a, NodeId b);
  NodeId mul(NodeId a, NodeId b);
  NodeId div(NodeId a, NodeId b);
  NodeId pow(NodeId a, NodeId b);
  NodeId neg(NodeId a);
  NodeId number(double value);
  /// The number of an operation on numbers, or no node where it is not finite: 1/0 and exp(1000) stay as they were
  /// written, since no number in a model file says infinity.
  NodeId folded(Op op, NodeId a, NodeId b);
  bool is_constant(NodeId id) const { return nodes_[id].op == Op::constant; }
  bool is_constant(NodeId id, double value) const { return is_constant(id) && nodes_[id].value == value; }

  void grow();

  std::vector<Node> nodes_;
  /// A place of the hash table. The hash beside the node spares a look at most nodes that are another one.
  struct Bucket {
    NodeId id;
    std::uint32_t hash;
  };
  std::vector<Bucket> buckets_;  ///< open addressing, id `empty` where free
  std::deque<std::string> symbol_names_, table_names_;
  std::unordered_map<std::string, NodeId> symbol_of_name_;
  std::unordered_map<std::string, std::uint32_t> table_of_name_;
  std::unordered_map<std::string, std::shared_ptr<const Interpolant>> table_data_;
};

inline const Node& Expr::node() const { return graph_->node(id_); }

/// The value of an operation on numbers: the one definition that folding, interpreter and tests share.
double apply(Op op, double a, double b = 0.0, double c = 0.0);
/// Exponents of powers that are made of products: whole ones up to 64, and halves up to 7.5, with a square root.
bool is_power_of_products(double exponent);
/// x^y; where products make it, x^2 is x*x to the last bit.
double power(double x, double y);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator+(Expr a, double b);
Expr operator-(Expr a, double b);
Expr operator*(Expr a, double b);
Expr operator/(Expr a, double b);
Expr operator+(double a, Expr b);
Expr operator-(double a, Expr b);
Expr operator*(double a, Expr b);
Expr operator/(double a, Expr b);
Expr pow(Expr a, Expr b);
Expr pow(Expr a, double b);
Expr sin(Expr a);
Expr cos(Expr a);
Expr tan(Expr a);
Expr asin(Expr a);
Expr acos(Expr a);
Expr atan(Expr a);
Expr sinh(Expr a);
Expr cosh(Expr a);
Expr tanh(Expr a);
Expr asinh(Expr a);
Expr acosh(Expr a);
Expr atanh(Expr a);
Expr exp(Expr a);
Expr log(Expr a);
Expr log10(Expr a);
Expr sqrt(Expr a);
Expr cbrt(Expr a);
Expr abs(Expr a);
Expr sign(Expr a);
Expr floor(Expr a);
Expr atan2(Expr y, Expr x);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr hypot(Expr a, Expr b);
/// if(condition, yes, no)
Expr choose(Expr condition, Expr yes, Expr no);

}  // namespace daedalus::expr
