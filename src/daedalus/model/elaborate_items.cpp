#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/model/elaborate.hpp"
#include "daedalus/model/elaborate_depth.hpp"
#include "daedalus/model/limits.hpp"
#include "daedalus/model/vocabulary.hpp"

namespace daedalus::model {

std::string_view name_of(Role role) {
  switch (role) {
    case Role::parameter:
      return "a parameter";
    case Role::definition:
      return "a definition";
    case Role::function:
      return "a function";
    case Role::input:
      return "an input";
    case Role::variable:
      return "a variable";
    case Role::auxiliary:
      return "an auxiliary unknown";
    case Role::discrete:
      return "a discrete value";
    case Role::output:
      return "an output";
  }
  return "a name";
}

std::string member_name(const std::string& base, const Indices& indices) {
  std::string text = base + "[";
  for (std::size_t i = 0; i < indices.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(indices[i]);
  return text + "]";
}

Elaborator::Elaborator(expr::Graph& graph, std::function<void(const Error&)> report)
    : graph_(graph),
      report_(std::move(report)),
      parameters_([this](NodeId id) { return parameter_number(id); }),
      starts_([this](NodeId id) { return start_number(id); }),
      time_(graph.symbol("t")),
      t_start_symbol_(graph.symbol("t_start")) {}

Entity* Elaborator::declare(Role role, const std::string& name, const Place& place) {
  if (is_reserved(name)) {
    report_(Error("reserved-name", fmt::format("'{}' belongs to the language and cannot be redefined", name),
                  "choose another name", place));
    return nullptr;
  }
  const auto [found, fresh] = entity_of_name_.try_emplace(name, nullptr);
  if (!fresh) {
    Entity& first = *found->second;
    const bool same = first.role == role;
    report_(Error("duplicate-name",
                  fmt::format("'{}' is already {}{}", name, name_of(first.role),
                              first.place.line > 0 ? fmt::format(" (line {})", first.place.line) : ""),
                  same ? "a name is either single or a family: rename one of the two"
                       : "parameters, definitions, inputs, variables, auxiliary, discrete values and outputs share one "
                         "namespace: rename one of the two",
                  place));
    // Whether x or x[i] is meant in an expression cannot be said.
    if (same) first.faulty = true;
    return nullptr;
  }
  Entity& entity = entities_.emplace_back();
  entity.role = role;
  entity.name = name;
  entity.place = place;
  found->second = &entities_.back();
  return found->second;
}

Entity* Elaborator::find(const std::string& name) {
  const auto found = entity_of_name_.find(name);
  return found == entity_of_name_.end() ? nullptr : found->second;
}

ItemId Elaborator::add(Item item) {
  const auto id = static_cast<ItemId>(items_.size());
  if (items_.size() >= limits::items)
    throw Error("too-large", fmt::format("the model is too large: it has more than {} quantities", limits::items),
                "check the bounds of families; long data belong into [tables]", item.place);
  if (item.kind == Item::Kind::parameter || item.kind == Item::Kind::discrete)
    item_of_symbol_[item.expression.id()] = id;
  items_.push_back(std::move(item));
  return id;
}

void Elaborator::add_constraint(const std::string& base, const std::string& name) {
  constraints_.insert(name);
  constraint_bases_.insert(base);
}

std::vector<std::string> Elaborator::visible_names(const Scope& scope) const {
  constexpr std::size_t most_names = 5000;  // for a suggestion; a model of a million names has a million mistakes
  std::vector<std::string> names;
  for (const auto& [name, value] : scope.loops) names.push_back(name);
  for (const auto& [name, value] : scope.arguments) names.push_back(name);
  for (const Entity& entity : entities_)
    if (entity.role != Role::function) {
      names.push_back(entity.name);
      if (names.size() >= most_names) break;
    }
  names.insert(names.end(), {"t", "pi"});
  return names;
}

const Elaborator::UnknownSymbol* Elaborator::unknown_of(NodeId symbol) const {
  const auto found = unknown_of_symbol_.find(symbol);
  return found == unknown_of_symbol_.end() ? nullptr : &found->second;
}

std::optional<ItemId> Elaborator::start_of(Expr symbol) const {
  const auto found = start_of_symbol_.find(symbol.id());
  return found == start_of_symbol_.end() ? std::nullopt : std::optional(found->second);
}

template <class Work>
auto Elaborator::drive(Work&& work) {
  while (true) {
    try {
      return work();
    } catch (const Deferred& deferred) {
      const Scope outer = std::exchange(scope_, Scope{});
      resolve(deferred.item);
      scope_ = outer;
    }
  }
}

bool Elaborator::resolve(ItemId first) {
  if (items_[first].state == Item::State::done) return true;
  if (items_[first].state == Item::State::faulty) return false;
  const std::size_t bottom = waiting_.size();
  waiting_.push_back(first);
  while (waiting_.size() > bottom) {
    const ItemId id = waiting_.back();
    items_[id].state = Item::State::idle;
    waiting_.pop_back();
    try {
      run(id, items_[id].place);
    } catch (const Deferred& deferred) {
      items_[id].state = Item::State::waiting;
      waiting_.push_back(id);
      waiting_.push_back(deferred.item);
    } catch (const Poisoned&) {
    }
  }
  return items_[first].state == Item::State::done;
}

void Elaborator::cycle(ItemId id, const Place& place) const {
  std::vector<std::string> path;
  const auto waiting = std::find(waiting_.begin(), waiting_.end(), id);
  for (auto it = waiting; it != waiting_.end(); ++it) path.push_back(items_[*it].name);
  const auto active = waiting != waiting_.end() ? active_.begin() : std::find(active_.begin(), active_.end(), id);
  for (auto it = active; it != active_.end(); ++it) path.push_back(items_[*it].name);
  path.push_back(items_[id].name);
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path.size() > 10 && i == 6) {
      text += " -> ...";
      i = path.size() - 2;
    } else {
      text += (i == 0 ? "" : " -> ") + path[i];
    }
  }
  const std::string what = items_[id].kind == Item::Kind::start
                               ? "start values depend on each other in a circle"
                               : fmt::format("'{}' is defined by itself", items_[id].name);
  throw Error("cycle", fmt::format("{}: {}", what, text), "give one of them a value that does not need the others",
              place);
}

void Elaborator::run(ItemId id, const Place& place) {
  Item& item = items_[id];
  switch (item.state) {
    case Item::State::done:
      return;
    case Item::State::faulty:
      throw Poisoned{};
    case Item::State::active:
    case Item::State::waiting:
      cycle(id, place);
    case Item::State::idle:
      break;
  }
  if (depth_ > defer_after) throw Deferred{id};
  constexpr int frames = 6;  // what one item takes of the stack, in levels of expressions
  item.state = Item::State::active;
  active_.push_back(id);
  depth_ += frames;
  Scope outer = std::exchange(scope_, item.scope);
  std::unordered_set<const Entity*> functions = std::exchange(active_functions_, {});
  const auto leave = [&](Item::State state) {
    items_[id].state = state;
    active_.pop_back();
    depth_ -= frames;
    scope_ = std::move(outer);
    active_functions_ = std::move(functions);
  };
  try {
    compute(item);
  } catch (const Deferred&) {
    leave(Item::State::idle);
    throw;
  } catch (const Poisoned&) {
    leave(Item::State::faulty);
    throw;
  } catch (const Error& error) {
    if (item.kind == Item::Kind::expression && parameters_only_ && error.faults()[0].code == "not-constant") {
      // The definition itself is right; it is its use where a constant is needed that is not.
      leave(Item::State::idle);
      throw Error("not-constant",
                  fmt::format("'{}' depends on more than parameters: {}", item.name, error.faults()[0].message),
                  "use numbers and parameters here", place);
    }
    leave(Item::State::faulty);
    report_(error);
    throw Poisoned{};
  }
  leave(Item::State::done);
}

void Elaborator::compute(Item& item) {
  if (item.kind == Item::Kind::symbol) return;
  if (item.kind == Item::Kind::expression) {
    item.expression = item.tree != nullptr ? number_of(*item.tree, item.tree->left()) : graph_.constant(item.value);
    return;
  }
  if (item.tree == nullptr) return;
  const bool only = std::exchange(parameters_only_, item.kind != Item::Kind::start);
  const bool t_start = std::exchange(t_start_allowed_, item.kind == Item::Kind::start);
  struct Restore {
    Elaborator& elaborator;
    bool only, t_start;
    ~Restore() {
      elaborator.parameters_only_ = only;
      elaborator.t_start_allowed_ = t_start;
    }
  };
  const Restore restore{*this, only, t_start};
  const Expr expression = number_of(*item.tree, item.tree->left());
  const std::optional<double> number = item.kind == Item::Kind::start ? starts_(expression) : parameters_(expression);
  if (!number)
    throw Error("not-constant",
                fmt::format("the value of '{}' cannot be computed from what is known at the start", item.name),
                item.kind == Item::Kind::start ? "use parameters, t_start and start values of variables, no tables"
                                               : "use numbers and parameters",
                item.tree->place());
  if (!std::isfinite(*number))
    throw Error("not-finite",
                fmt::format("the value of '{}' is {}", item.name,
                            std::isnan(*number) ? "undefined (not a number)" : "infinite"),
                "look for a division by 0, a root or logarithm of a negative number, or an overflow",
                item.tree->place());
  item.value = *number;
}

std::optional<double> Elaborator::parameter_number(NodeId symbol) {
  const auto found = item_of_symbol_.find(symbol);
  if (found == item_of_symbol_.end() || items_[found->second].kind != Item::Kind::parameter) return std::nullopt;
  if (items_[found->second].state != Item::State::done)
    run(found->second, items_[active_.empty() ? found->second : active_.back()].place);
  return items_[found->second].value;
}

std::optional<double> Elaborator::start_number(NodeId symbol) {
  if (symbol == time_.id() || symbol == t_start_symbol_.id()) return t_start_;
  if (const auto item = item_of_symbol_.find(symbol); item != item_of_symbol_.end()) {
    if (items_[item->second].state != Item::State::done)
      run(item->second, items_[active_.empty() ? item->second : active_.back()].place);
    return items_[item->second].value;
  }
  const auto start = start_of_symbol_.find(symbol);
  if (start == start_of_symbol_.end())
    return unknown_of_symbol_.contains(symbol) ? std::optional(0.0) : std::nullopt;  // 0 where none is given
  if (items_[start->second].state != Item::State::done)
    run(start->second, items_[active_.empty() ? start->second : active_.back()].place);
  return items_[start->second].value;
}

std::optional<double> Elaborator::constant(Expr expression) {
  if (expression.is_constant()) return expression.node().value;
  return parameters_(expression);
}

Value Elaborator::value(const SyntaxTree& tree, SyntaxId root, Scope scope) {
  return drive([&] {
    scope_ = scope;
    const Value result = elaborate(tree, root);
    scope_ = {};
    return result;
  });
}

Expr Elaborator::number(const SyntaxTree& tree, SyntaxId root, Scope scope) {
  return drive([&] {
    scope_ = scope;
    const Expr result = number_of(tree, root);
    scope_ = {};
    return result;
  });
}

std::int64_t Elaborator::whole(const SyntaxTree& tree, SyntaxId root, const Scope& scope) {
  return drive([&] {
    scope_ = scope;
    const std::int64_t result = whole_number(tree, root);
    scope_ = {};
    return result;
  });
}

double Elaborator::constant(const SyntaxTree& tree, const Scope& scope) {
  const bool only = std::exchange(parameters_only_, true);
  struct Restore {
    bool& flag;
    bool value;
    ~Restore() { flag = value; }
  };
  const Restore restore{parameters_only_, only};
  return drive([&] {
    scope_ = scope;
    const std::optional<double> result = constant(number_of(tree, tree.left()));
    scope_ = {};
    if (!result) throw Error("not-constant", "a number is expected here, from parameters alone", "", tree.place());
    if (!std::isfinite(*result)) throw Error("not-finite", "the value is not a finite number", "", tree.place());
    return *result;
  });
}

}  // namespace daedalus::model
