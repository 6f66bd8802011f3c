#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "daedalus/expr/walk.hpp"
#include "daedalus/model/evaluator.hpp"
#include "daedalus/model/model.hpp"
#include "daedalus/model/syntax.hpp"

namespace daedalus::model {

/// What a name of the shared namespace is.
enum class Role : std::uint8_t { parameter, definition, function, input, variable, auxiliary, discrete, output };
/// "a parameter", "a definition", ...
std::string_view name_of(Role role);

using Indices = std::vector<std::int64_t>;
using ItemId = std::uint32_t;

/// Values of loop indices and of function arguments inside an expression.
struct Scope {
  std::vector<std::pair<std::string, std::int64_t>> loops;
  std::vector<std::pair<std::string, Expr>> arguments;
};

/// One thing that a name stands for: a parameter, one member of a family, a start value. What it needs of others is
/// computed on demand.
struct Item {
  enum class Kind : std::uint8_t { symbol, parameter, discrete, expression, start };
  enum class State : std::uint8_t { idle, waiting, active, done, faulty };
  Kind kind = Kind::symbol;
  State state = State::idle;
  std::string name;
  const SyntaxTree* tree = nullptr;  ///< null for a number
  double value = 0.0;                ///< of a parameter, discrete value or start
  Expr expression;                   ///< the symbol, or what the definition says
  Scope scope;
  Place place;
};

/// A name of the shared namespace with everything that bears it.
struct Entity {
  Role role = Role::parameter;
  std::string name;
  Place place;
  bool faulty = false;   ///< its own fault was reported: uses of it are not
  bool expanded = true;  ///< members of the family are known
  bool scalar = false;   ///< the name without an index
  ItemId scalar_item = 0;
  std::map<Indices, ItemId> members;
  /// The member with these indices or the end; what follows the one found last is found at once, as in sums.
  std::map<Indices, ItemId>::const_iterator find(const Indices& at);
  std::optional<std::map<Indices, ItemId>::const_iterator> recent;
  std::vector<std::string> arguments;  ///< of a function
  const SyntaxTree* body = nullptr;
};

/// Thrown where something depends on a part whose own fault was reported already.
struct Poisoned {};

/// A value of the language: a number or a condition.
struct Value {
  Expr expression;
  bool condition = false;
};

/// Gives syntax trees their meaning: names become symbols, families, sums and functions are written out, definitions
/// are put in. Faults of definitions are reported where they stand, once.
class Elaborator {
 public:
  Elaborator(expr::Graph& graph, std::function<void(const Error&)> report);

  // Names
  /// Declares a name; gives null after reporting a fault where it is taken by another role or reserved.
  Entity* declare(Role role, const std::string& name, const Place& place);
  Entity* find(const std::string& name);
  const std::deque<Entity>& entities() const { return entities_; }
  std::deque<Entity>& entities() { return entities_; }
  void declare_table(const std::string& name) { tables_.insert(name); }
  bool is_table(const std::string& name) const { return tables_.contains(name); }
  /// Adds an item; the id stays valid.
  ItemId add(Item item);
  Item& item(ItemId id) { return items_[id]; }
  /// Makes symbols of an unknown and its derivatives known.
  void add_unknown(ItemId id) { unknown_of_symbol_[items_[id].expression.id()] = {id, 0}; }
  /// Names of constraints and coordinates, for lambda.rod and reaction.rod.x.
  void add_constraint(const std::string& base, const std::string& name);
  void add_multiplier(Expr symbol) { multipliers_.insert(symbol.id()); }
  void set_coordinates(std::unordered_set<std::string> names) { coordinates_ = std::move(names); }
  void poison_constraint(const std::string& base) { faulty_constraints_.insert(base); }
  std::vector<std::string> visible_names(const Scope& scope) const;

  // Expressions. All of them throw Error, or Poisoned where the fault was reported already.
  Expr number(const SyntaxTree& tree, SyntaxId root, Scope scope = {});
  Value value(const SyntaxTree& tree, SyntaxId root, Scope scope = {});
  /// A whole number: an index or a bound.
  std::int64_t whole(const SyntaxTree& tree, SyntaxId root, const Scope& scope);
  /// Indices of a key or of a point of the drawing.
  Indices indices(const SyntaxTree& tree, std::span<const SyntaxId> parts, const Scope& scope);
  /// Calls `member` for every combination of the loops, in lexicographic order.
  void iterate(const LoopsSyntax& loops, const std::function<void(const Scope&)>& member);
  /// A number from parameters alone.
  double constant(const SyntaxTree& tree, const Scope& scope = {});
  std::optional<double> constant(Expr expression);
  /// Computes an item and what it needs; false where it is faulty.
  bool resolve(ItemId id);
  /// The total time derivative, `times` times.
  Expr derivative(Expr expression, int times);
  /// The symbol of the `order`-th derivative of an unknown.
  Expr rate(Expr unknown, int order);
  struct UnknownSymbol {
    ItemId item;
    int order;
  };
  /// The unknown and the order of derivative that a symbol stands for.
  const UnknownSymbol* unknown_of(NodeId symbol) const;

  // Starts
  void set_start(Expr symbol, ItemId start_item) { start_of_symbol_[symbol.id()] = start_item; }
  std::optional<ItemId> start_of(Expr symbol) const;
  void set_t_start(double value) { t_start_ = value; }
  /// Whether t_start has a meaning in what is elaborated now.
  void allow_t_start(bool allowed) { t_start_allowed_ = allowed; }
  /// Whether only parameters may be used now.
  void parameters_only(bool only) { parameters_only_ = only; }

  expr::Graph& graph() { return graph_; }
  Expr time() const { return time_; }

 private:
  struct Deferred {
    ItemId item;
  };
  class Depth;

  template <class Work>
  auto drive(Work&& work);
  void run(ItemId id, const Place& place);
  void compute(Item& item);
  [[noreturn]] void cycle(ItemId id, const Place& place) const;
  [[noreturn]] void too_large(const Place& place) const;

  Value elaborate(const SyntaxTree& tree, SyntaxId id);
  Expr number_of(const SyntaxTree& tree, SyntaxId id);
  Expr condition_of(const SyntaxTree& tree, SyntaxId id, std::string_view where);
  Value name_value(const SyntaxTree& tree, const Syntax& node);
  Expr entity_value(Entity& entity, const SyntaxTree& tree, const Syntax& node);
  Expr item_value(ItemId id, const SyntaxTree& tree, const Syntax& node);
  Expr dotted(const SyntaxTree& tree, const Syntax& node);
  Expr call(const SyntaxTree& tree, const Syntax& node);
  Expr function_call(Entity& entity, const SyntaxTree& tree, const Syntax& node);
  Expr derivative_call(const SyntaxTree& tree, const Syntax& node);
  Expr loop(const SyntaxTree& tree, const Syntax& node);
  Value logical(const SyntaxTree& tree, const Syntax& node);
  Expr total_derivative(Expr root);
  Expr derivative_of_term(Expr term);
  std::optional<double> quick_number(const SyntaxTree& tree, SyntaxId id);
  std::int64_t whole_number(const SyntaxTree& tree, SyntaxId id);
  std::string segment_name(const SyntaxTree& tree, const Syntax& node);
  const std::int64_t* loop_value(const std::string& name) const;
  std::string with_loops() const;
  [[noreturn]] void refuse_role(Role role, const std::string& name, const Place& place) const;
  std::optional<double> parameter_number(NodeId symbol);
  std::optional<double> start_number(NodeId symbol);

  expr::Graph& graph_;
  std::function<void(const Error&)> report_;
  std::deque<Entity> entities_;
  std::unordered_map<std::string, Entity*> entity_of_name_;
  std::unordered_set<std::string> tables_, constraints_, constraint_bases_, faulty_constraints_, coordinates_;
  std::deque<Item> items_;
  std::unordered_map<NodeId, UnknownSymbol> unknown_of_symbol_;
  std::unordered_map<NodeId, ItemId> item_of_symbol_;  ///< parameters and discrete values
  std::unordered_map<NodeId, ItemId> start_of_symbol_;
  std::unordered_set<NodeId> multipliers_;
  std::unordered_map<NodeId, Expr> total_derivatives_;
  std::unordered_set<const Entity*> active_functions_;
  Evaluator parameters_, starts_;
  expr::Walk walk_;
  Expr time_, t_start_symbol_;
  double t_start_ = 0.0;
  bool t_start_allowed_ = false, parameters_only_ = false;

  Scope scope_;
  int depth_ = 0;
  std::size_t steps_ = 0;  ///< parts of expressions that were elaborated
  std::vector<ItemId> waiting_, active_;
};

/// Gives every unknown of a model the symbols of as many derivatives as the model uses, and a start value for each.
void complete_unknowns(Model& model, Elaborator& elaborator);

/// "x[1,2]".
std::string member_name(const std::string& base, const Indices& indices);

}  // namespace daedalus::model
