#include "daedalus/model/elaborate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "daedalus/model/elaborate_depth.hpp"
#include "daedalus/model/limits.hpp"
#include "daedalus/model/vocabulary.hpp"

namespace daedalus::model {

using expr::Op;

namespace {

bool is_whole(double value) { return std::abs(value) < 9e15 && value == std::floor(value); }

[[noreturn]] void condition_as_number(const SyntaxTree& tree, const Syntax& node) {
  throw Error("condition-as-number", fmt::format("'{}' is a condition, but a number is expected here", tree.text(node)),
              "write if(condition, 1, 0)", tree.place(node));
}

std::string plural(std::size_t n, std::string_view noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

}  // namespace

void Elaborator::too_large(const Place& place) const {
  throw Error("too-large", fmt::format("the model is too large: written out it has more than {} parts", limits::nodes),
              "check the bounds of families and sums; a name in [definitions] avoids writing out the same part again",
              place);
}

Value Elaborator::elaborate(const SyntaxTree& tree, SyntaxId id) {
  const Syntax& node = tree[id];
  const Depth guard(*this, tree, node);
  if (++steps_ > limits::steps || graph_.size() > limits::nodes) too_large(tree.place(node));
  const auto children = tree.children(node);
  switch (node.kind) {
    case SyntaxKind::number:
      return {graph_.constant(node.value)};
    case SyntaxKind::name:
      return name_value(tree, node);
    case SyntaxKind::dotted:
      return {dotted(tree, node)};
    case SyntaxKind::prime: {
      const Expr inner = number_of(tree, children[0]);
      try {
        return {derivative(inner, node.order)};
      } catch (const Error& error) {
        throw Error(error.faults()[0].code, error.faults()[0].message, error.faults()[0].advice, tree.place(node));
      }
    }
    case SyntaxKind::call:
      return {call(tree, node)};
    case SyntaxKind::negate:
      return {-number_of(tree, children[0])};
    case SyntaxKind::sum: {
      Expr sum = number_of(tree, children[0]);
      for (std::size_t i = 1; i < children.size(); ++i) {
        const Expr term = number_of(tree, children[i]);
        sum = tree.flag(node, i) == '+' ? sum + term : sum - term;
      }
      return {sum};
    }
    case SyntaxKind::product: {
      Expr product = number_of(tree, children[0]);
      for (std::size_t i = 1; i < children.size(); ++i) {
        const Expr factor = number_of(tree, children[i]);
        product = tree.flag(node, i) == '*' ? product * factor : product / factor;
      }
      return {product};
    }
    case SyntaxKind::power: {
      const Expr base = number_of(tree, children[0]);
      return {expr::pow(base, number_of(tree, children[1]))};
    }
    case SyntaxKind::compare:
    case SyntaxKind::logical_and:
    case SyntaxKind::logical_or:
    case SyntaxKind::logical_not:
      return logical(tree, node);
    case SyntaxKind::loop_sum:
    case SyntaxKind::loop_product:
      return {loop(tree, node)};
  }
  DAEDALUS_CHECK(false, "unknown kind of syntax {}", static_cast<int>(node.kind));
}

Expr Elaborator::number_of(const SyntaxTree& tree, SyntaxId id) {
  const Value result = elaborate(tree, id);
  if (result.condition) condition_as_number(tree, tree[id]);
  return result.expression;
}

Expr Elaborator::condition_of(const SyntaxTree& tree, SyntaxId id, std::string_view where) {
  const Value result = elaborate(tree, id);
  if (!result.condition)
    throw Error("number-as-condition", fmt::format("'{}' is a number, but {} a condition", tree.text(tree[id]), where),
                "compare it: x > 0, or mode == 1", tree.place(tree[id]));
  return result.expression;
}

Value Elaborator::logical(const SyntaxTree& tree, const Syntax& node) {
  const auto children = tree.children(node);
  if (node.kind == SyntaxKind::logical_not)
    return {graph_.make(Op::logical_not, condition_of(tree, children[0], "'not' needs")), true};
  if (node.kind == SyntaxKind::compare) {
    const Expr a = number_of(tree, children[0]), b = number_of(tree, children[1]);
    const std::string& sign = tree.name(node);
    if (sign == "<") return {graph_.make(Op::less, a, b), true};
    if (sign == "<=") return {graph_.make(Op::less_equal, a, b), true};
    if (sign == ">") return {graph_.make(Op::less, b, a), true};
    if (sign == ">=") return {graph_.make(Op::less_equal, b, a), true};
    return {graph_.make(sign == "==" ? Op::equal : Op::not_equal, a, b), true};
  }
  // What is decided by parameters and indices alone is decided here, so that the rest need not make sense:
  // i > 1 and k[i-1] > 0.
  const bool all = node.kind == SyntaxKind::logical_and;
  const std::string_view where = all ? "'and' needs" : "'or' needs";
  std::optional<Expr> result;
  for (const SyntaxId child : children) {
    const Expr part = condition_of(tree, child, where);
    if (const std::optional<double> decided = constant(part)) {
      if ((*decided != 0.0) == all) continue;
      return {graph_.constant(all ? 0.0 : 1.0), true};
    }
    result = result ? graph_.make(all ? Op::logical_and : Op::logical_or, *result, part) : part;
  }
  return {result ? *result : graph_.constant(all ? 1.0 : 0.0), true};
}

const std::int64_t* Elaborator::loop_value(const std::string& name) const {
  for (auto loop = scope_.loops.rbegin(); loop != scope_.loops.rend(); ++loop)
    if (loop->first == name) return &loop->second;
  return nullptr;
}

/// " (with i = 3, j = 1)" for messages about one member of a family.
std::string Elaborator::with_loops() const {
  if (scope_.loops.empty()) return {};
  std::string text = " (with ";
  for (std::size_t i = 0; i < scope_.loops.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", scope_.loops[i].first, scope_.loops[i].second);
  return text + ")";
}

Value Elaborator::name_value(const SyntaxTree& tree, const Syntax& node) {
  const std::string& name = tree.name(node);
  if (node.child_count == 0) {
    if (const std::int64_t* index = loop_value(name)) return {graph_.constant(static_cast<double>(*index))};
    for (auto argument = scope_.arguments.rbegin(); argument != scope_.arguments.rend(); ++argument)
      if (argument->first == name) return {argument->second};
    if (name == "pi") return {graph_.constant(std::numbers::pi)};
    if (name == "t" || name == "time") {
      if (parameters_only_)
        throw Error("not-constant", "time may not be used here: only numbers and parameters", "", tree.place(node));
      return {time_};
    }
  }
  if (Entity* entity = find(name)) return {entity_value(*entity, tree, node)};
  if (name == "t_start" && t_start_allowed_ && node.child_count == 0) return {t_start_symbol_};
  std::string advice = advice_for_foreign_name(name);
  if (advice.empty()) advice = suggest(name, visible_names(scope_));
  throw Error("unknown-name", fmt::format("there is no '{}'", name), advice, tree.place(node));
}

void Elaborator::refuse_role(Role role, const std::string& name, const Place& place) const {
  throw Error("not-constant",
              fmt::format("'{}' is {}; only numbers and parameters may be used here", name, name_of(role)), "", place);
}

Expr Elaborator::entity_value(Entity& entity, const SyntaxTree& tree, const Syntax& node) {
  if (entity.faulty) throw Poisoned{};
  const bool constant_role =
      entity.role == Role::parameter || entity.role == Role::definition || entity.role == Role::function;
  if (parameters_only_ && !constant_role) refuse_role(entity.role, entity.name, tree.place(node));
  if (entity.role == Role::function)
    throw Error("function-without-arguments", fmt::format("'{}' is a function and needs its arguments", entity.name),
                fmt::format("write {}(...)", entity.name), tree.place(node));
  if (!entity.expanded) refuse_role(entity.role, entity.name, tree.place(node));
  if (node.child_count == 0) {
    if (entity.scalar) return item_value(entity.scalar_item, tree, node);
    std::string example =
        entity.members.empty() ? entity.name + "[1]" : member_name(entity.name, entity.members.begin()->first);
    throw Error("index-missing",
                fmt::format("'{}' is {} with {}; its index is missing", entity.name,
                            entity.role == Role::parameter ? "an array" : "a family",
                            plural(entity.members.size(), entity.role == Role::parameter ? "element" : "member")),
                fmt::format("write {}", example), tree.place(node));
  }
  if (entity.members.empty() && entity.scalar)
    throw Error("index-not-allowed", fmt::format("'{}' is {} without index", entity.name, name_of(entity.role)),
                fmt::format("write {}", entity.name), tree.place(node));
  const Indices at = indices(tree, tree.children(node), scope_);
  const auto found = entity.find(at);
  if (found == entity.members.end()) {
    std::string advice;
    if (entity.members.empty()) {
      advice = "the family has no members: its bounds are empty";
    } else {
      const std::string first = member_name(entity.name, entity.members.begin()->first),
                        last = member_name(entity.name, entity.members.rbegin()->first);
      const std::size_t wanted = entity.members.begin()->first.size();
      advice = wanted != at.size()
                   ? fmt::format("{} has {} {}: {} to {}", entity.name, wanted, wanted == 1 ? "index" : "indices", first, last)
               : first == last ? fmt::format("there is only {}", first) : fmt::format("there are {} to {}", first, last);
    }
    throw Error("no-such-member", fmt::format("there is no {}{}", member_name(entity.name, at), with_loops()), advice,
                tree.place(node));
  }
  return item_value(found->second, tree, node);
}

Expr Elaborator::item_value(ItemId id, const SyntaxTree& tree, const Syntax& node) {
  if (items_[id].kind == Item::Kind::expression) {
    if (items_[id].state != Item::State::done) run(id, tree.place(node));
    return items_[id].expression;
  }
  if (items_[id].state == Item::State::faulty) throw Poisoned{};
  return items_[id].expression;
}

std::string Elaborator::segment_name(const SyntaxTree& tree, const Syntax& node) {
  if (node.child_count == 0) return tree.name(node);
  return member_name(tree.name(node), indices(tree, tree.children(node), scope_));
}

Expr Elaborator::dotted(const SyntaxTree& tree, const Syntax& node) {
  const auto segments = tree.children(node);
  const std::string& head = tree.name(tree[segments[0]]);
  const std::size_t wanted = head == "lambda" ? 2 : 3;
  if ((head != "lambda" && head != "reaction") || segments.size() != wanted || tree[segments[0]].child_count != 0)
    throw Error("unknown-name", fmt::format("there is no '{}'", tree.text(node)),
                "names with dots are lambda.CONSTRAINT and reaction.CONSTRAINT.COORDINATE", tree.place(node));
  const std::string& base = tree.name(tree[segments[1]]);
  if (faulty_constraints_.contains(base)) throw Poisoned{};
  const std::string constraint = segment_name(tree, tree[segments[1]]);
  if (!constraints_.contains(constraint)) {
    std::vector<std::string> known(constraint_bases_.begin(), constraint_bases_.end());
    std::sort(known.begin(), known.end());
    throw Error("unknown-name", fmt::format("there is no constraint '{}'{}", constraint, with_loops()),
                constraint_bases_.contains(base) ? "the constraint is a family: name one of its members"
                : known.empty()                  ? "the model has no constraints"
                                                 : suggest(constraint, known),
                tree.place(tree[segments[1]]));
  }
  if (wanted == 2) {
    const Expr symbol = graph_.symbol("lambda." + constraint);
    multipliers_.insert(symbol.id());
    return symbol;
  }
  const std::string coordinate = segment_name(tree, tree[segments[2]]);
  if (!coordinates_.contains(coordinate)) {
    const Entity* entity = find(tree.name(tree[segments[2]]));
    if (entity != nullptr && entity->faulty) throw Poisoned{};
    throw Error("unknown-name", fmt::format("there is no coordinate '{}'{}", coordinate, with_loops()),
                suggest(coordinate, {coordinates_.begin(), coordinates_.end()}), tree.place(tree[segments[2]]));
  }
  const Expr symbol = graph_.symbol(reaction_name(constraint, coordinate));
  multipliers_.insert(symbol.id());
  return symbol;
}

Expr Elaborator::call(const SyntaxTree& tree, const Syntax& node) {
  const std::string& name = tree.name(node);
  const auto arguments = tree.children(node);
  if (name == "der") return derivative_call(tree, node);
  if (name == "if") {
    const Expr condition = condition_of(tree, arguments[0], "if needs");
    if (const std::optional<double> decided = constant(condition))
      return number_of(tree, arguments[*decided != 0.0 ? 1 : 2]);
    const Expr yes = number_of(tree, arguments[1]);
    return expr::choose(condition, yes, number_of(tree, arguments[2]));
  }
  if (const Builtin* builtin = find_builtin(name)) {
    const Expr first = number_of(tree, arguments[0]);
    if (builtin->most == 1) return graph_.make(builtin->op, first);
    Expr result = first;
    for (std::size_t i = 1; i < arguments.size(); ++i)
      result = graph_.make(builtin->op, result, number_of(tree, arguments[i]));
    return result;
  }
  if (is_table(name)) {
    if (parameters_only_)
      throw Error("not-constant", fmt::format("the table '{}' may not be used here", name), "", tree.place(node));
    return graph_.lookup(name, number_of(tree, arguments[0]));
  }
  Entity* entity = find(name);
  if (entity == nullptr || entity->faulty || entity->role != Role::function) throw Poisoned{};
  return function_call(*entity, tree, node);
}

Expr Elaborator::function_call(Entity& entity, const SyntaxTree& tree, const Syntax& node) {
  if (active_functions_.contains(&entity))
    throw Error("cycle", fmt::format("the function '{}' calls itself", entity.name), "write a formula without the call",
                tree.place(node));
  Scope inner;
  const auto arguments = tree.children(node);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    inner.arguments.emplace_back(entity.arguments[i], number_of(tree, arguments[i]));
  struct Restore {
    Elaborator& elaborator;
    Scope& outer;
    const Entity* function;
    ~Restore() {
      std::swap(elaborator.scope_, outer);
      elaborator.active_functions_.erase(function);
    }
  };
  std::swap(scope_, inner);
  active_functions_.insert(&entity);
  const Restore restore{*this, inner, &entity};
  return number_of(*entity.body, entity.body->left());
}

std::map<Indices, ItemId>::const_iterator Entity::find(const Indices& at) {
  if (recent && *recent != members.end()) {
    const auto next = std::next(*recent);
    if (next != members.end() && next->first == at) return *(recent = next);
  }
  const auto found = members.find(at);
  recent = found == members.end() ? std::nullopt : std::optional<std::map<Indices, ItemId>::const_iterator>(found);
  return found;
}

namespace {

/// Whether a part of an expression contains a name.
bool mentions(const SyntaxTree& tree, SyntaxId id, const std::string& name) {
  const Syntax& node = tree[id];
  if (node.kind == SyntaxKind::name && tree.name(node) == name) return true;
  const auto children = tree.children(node);
  return std::any_of(children.begin(), children.end(), [&](SyntaxId child) { return mentions(tree, child, name); });
}

}  // namespace

Expr Elaborator::loop(const SyntaxTree& tree, const Syntax& node) {
  const auto children = tree.children(node);
  const std::int64_t from = whole_number(tree, children[0]), to = whole_number(tree, children[1]);
  const bool adds = node.kind == SyntaxKind::loop_sum;
  Expr result = graph_.constant(adds ? 0.0 : 1.0);
  if (to < from) return result;
  const auto terms = static_cast<std::size_t>(to - from) + 1;
  if (terms > limits::terms)
    throw Error("too-many-members", fmt::format("{} over {} terms is too long", adds ? "a sum" : "a product", terms),
                "a name in [definitions] avoids writing out the same sum again", tree.place(node));
  scope_.loops.emplace_back(tree.name(node), from);
  struct Restore {
    Scope& scope;
    std::size_t size;
    ~Restore() { scope.loops.resize(size); }
  };
  const std::size_t level = scope_.loops.size() - 1;
  const Restore restore{scope_, level};
  // A sum of numbers leaves no trace of its terms in the graph.
  const auto sum_of_numbers = [&]() -> std::optional<double> {
    double total = adds ? 0.0 : 1.0;
    for (std::int64_t i = from; i <= to; ++i) {
      scope_.loops[level].second = i;
      const std::optional<double> term = quick_number(tree, children[2]);
      if (!term || !std::isfinite(*term)) return std::nullopt;
      if (++steps_ > limits::steps) too_large(tree.place(node));
      total = adds ? total + *term : total * *term;
    }
    return std::isfinite(total) ? std::optional(total) : std::nullopt;
  };
  if (const std::optional<double> total = sum_of_numbers()) return graph_.constant(*total);
  if (!mentions(tree, children[2], tree.name(node))) {
    const Expr term = number_of(tree, children[2]);
    const Expr count = graph_.constant(static_cast<double>(terms));
    return adds ? count * term : pow(term, count);
  }
  for (std::int64_t i = from; i <= to; ++i) {
    scope_.loops[level].second = i;
    const Expr term = number_of(tree, children[2]);
    result = adds ? result + term : result * term;
  }
  return result;
}

/// Plain arithmetic of indices and parameters without building nodes; nothing where it is more than that.
std::optional<double> Elaborator::quick_number(const SyntaxTree& tree, SyntaxId id) {
  const Syntax& node = tree[id];
  const auto children = tree.children(node);
  switch (node.kind) {
    case SyntaxKind::number:
      return node.value;
    case SyntaxKind::name:
      if (node.child_count == 0)
        if (const std::int64_t* index = loop_value(tree.name(node))) return static_cast<double>(*index);
      return std::nullopt;
    case SyntaxKind::negate: {
      const std::optional<double> inner = quick_number(tree, children[0]);
      return inner ? std::optional(-*inner) : std::nullopt;
    }
    case SyntaxKind::product: {
      double total = 1.0;
      for (std::size_t i = 0; i < children.size(); ++i) {
        const std::optional<double> factor = quick_number(tree, children[i]);
        if (!factor) return std::nullopt;
        total = tree.flag(node, i) == '*' ? total * *factor : total / *factor;
      }
      return total;
    }
    case SyntaxKind::power: {
      const std::optional<double> base = quick_number(tree, children[0]), exponent = quick_number(tree, children[1]);
      return base && exponent ? std::optional(expr::power(*base, *exponent)) : std::nullopt;
    }
    case SyntaxKind::sum: {
      double total = 0.0;
      for (std::size_t i = 0; i < children.size(); ++i) {
        const std::optional<double> term = quick_number(tree, children[i]);
        if (!term) return std::nullopt;
        total += tree.flag(node, i) == '+' ? *term : -*term;
      }
      return total;
    }
    default:
      return std::nullopt;
  }
}

std::int64_t Elaborator::whole_number(const SyntaxTree& tree, SyntaxId id) {
  const Syntax& node = tree[id];
  std::optional<double> number = quick_number(tree, id);
  if (!number) {
    const Expr expression = number_of(tree, id);
    number = constant(expression);
    if (!number)
      throw Error("index-not-constant",
                  fmt::format("'{}' changes with time, but a whole number is expected here", tree.text(node)),
                  "indices and bounds use numbers, whole parameters and loop indices", tree.place(node));
  }
  if (!is_whole(*number))
    throw Error(
        "index-not-whole",
        node.kind == SyntaxKind::number
            ? fmt::format("found {} where a whole number is expected", tree.text(node))
            : fmt::format("'{}' is {}, but a whole number is expected here{}", tree.text(node), *number, with_loops()),
        "use floor(...) where a fraction is meant to be cut", tree.place(node));
  return static_cast<std::int64_t>(*number);
}

Indices Elaborator::indices(const SyntaxTree& tree, std::span<const SyntaxId> parts, const Scope& scope) {
  Indices result;
  result.reserve(parts.size());
  if (&scope == &scope_) {
    for (const SyntaxId part : parts) result.push_back(whole_number(tree, part));
  } else {
    for (const SyntaxId part : parts) result.push_back(whole(tree, part, scope));
  }
  return result;
}

void Elaborator::iterate(const LoopsSyntax& loops, const std::function<void(const Scope&)>& member) {
  struct Range {
    std::int64_t from, to;
  };
  constexpr std::size_t most_loops = 12;
  if (loops.loops.size() > most_loops)
    throw Error("too-many-members", fmt::format("a family has at most {} indices", most_loops), "", loops.tree.place());
  Scope scope;
  const auto range_of = [&](const LoopSyntax& loop) {
    return Range{whole(loops.tree, loop.from, scope), whole(loops.tree, loop.to, scope)};
  };
  // The members are counted first: a slip in a bound must not fill the memory before it is answered.
  std::size_t members = 0, visited = 0;
  const auto refuse = [&] {
    throw Error("too-many-members", fmt::format("the family has more than {} members", limits::members),
                "check its bounds", loops.tree.place());
  };
  const std::function<void(std::size_t)> count = [&](std::size_t level) {
    const Range range = range_of(loops.loops[level]);
    if (range.to < range.from) return;
    const auto size = static_cast<std::size_t>(range.to - range.from) + 1;
    if (size > limits::members) refuse();
    if (level + 1 == loops.loops.size()) {
      members += size;
      if (members > limits::members) refuse();
      return;
    }
    for (std::int64_t i = range.from; i <= range.to; ++i) {
      if (++visited > limits::members) refuse();
      scope.loops.emplace_back(loops.loops[level].name, i);
      count(level + 1);
      scope.loops.pop_back();
    }
  };
  count(0);
  const std::function<void(std::size_t)> visit = [&](std::size_t level) {
    if (level == loops.loops.size()) return member(scope);
    const Range range = range_of(loops.loops[level]);
    for (std::int64_t i = range.from; i <= range.to; ++i) {
      scope.loops.emplace_back(loops.loops[level].name, i);
      visit(level + 1);
      scope.loops.pop_back();
    }
  };
  visit(0);
}

}  // namespace daedalus::model
