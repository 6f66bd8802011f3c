#include "daedalus/model/name_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "daedalus/model/vocabulary.hpp"

namespace daedalus::model {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// lambda, lambda_rod, reaction_1 and the like.
bool names_multiplier(const std::string& name) {
  for (const std::string_view head : {"lambda", "reaction"})
    if (name.starts_with(head) && (name.size() == head.size() || name[head.size()] == '_' ||
                                   std::isdigit(static_cast<unsigned char>(name[head.size()]))))
      return true;
  return false;
}

}  // namespace

bool NameCheck::fault(std::string code, std::string message, std::string advice, const Place& place) {
  report_(Error(std::move(code), std::move(message), std::move(advice), place));
  return false;
}

bool NameCheck::expression(const SyntaxTree& tree) {
  const bool left = walk(tree, tree.left(), 0);
  const bool right = !tree.has_right() || walk(tree, tree.right(), 0);
  return left && right;
}

bool NameCheck::loops(const LoopsSyntax& loops) {
  bool fine = true;
  for (const LoopSyntax& loop : loops.loops) {
    fine = walk(loops.tree, loop.from, 0) && fine;
    fine = walk(loops.tree, loop.to, 0) && fine;
    fine = loop_index(loop.name, loops.tree.passage().place(loop.begin, loop.end - loop.begin)) && fine;
    loops_.push_back(loop.name);
  }
  return fine;
}

bool NameCheck::loop_index(const std::string& name, const Place& place) {
  if (is_reserved(name))
    return fault("reserved-name", fmt::format("'{}' belongs to the language and cannot be a loop index", name),
                 "choose another name", place);
  if (contains(loops_, name))
    return fault("bad-loop-index", fmt::format("'{}' is already the index of an outer loop", name),
                 "choose another name", place);
  if (contains(arguments_, name))
    return fault("bad-loop-index", fmt::format("'{}' is already an argument of the function", name),
                 "choose another name", place);
  const Entity* entity = elaborator_.find(name);
  if (entity != nullptr &&
      (entity->role == Role::parameter || entity->role == Role::variable || entity->role == Role::auxiliary))
    return fault("bad-loop-index", fmt::format("the loop index '{}' has the name of {}", name, name_of(entity->role)),
                 "choose another name for the index", place);
  return true;
}

bool NameCheck::walk(const SyntaxTree& tree, SyntaxId id, int order) {
  const Syntax& node = tree[id];
  switch (node.kind) {
    case SyntaxKind::number:
      return true;
    case SyntaxKind::name:
      return name(tree, node, order);
    case SyntaxKind::dotted:
      return dotted(tree, node);
    case SyntaxKind::call:
      return call(tree, node, order);
    case SyntaxKind::prime: {
      if (!refuse_rate_of_parameter(tree, node)) return false;
      const Syntax* outer = std::exchange(derivative_, derivative_ != nullptr ? derivative_ : &node);
      const bool fine = walk(tree, tree.children(node)[0], order + node.order);
      derivative_ = outer;
      return fine;
    }
    case SyntaxKind::loop_sum:
    case SyntaxKind::loop_product: {
      const auto children = tree.children(node);
      bool fine = walk(tree, children[0], 0);
      fine = walk(tree, children[1], 0) && fine;
      fine = loop_index(tree.name(node),
                        tree.passage().place(static_cast<std::size_t>(node.order), tree.name(node).size())) &&
             fine;
      loops_.push_back(tree.name(node));
      fine = walk(tree, children[2], order) && fine;
      loops_.pop_back();
      return fine;
    }
    default:
      break;
  }
  bool fine = true;
  for (const SyntaxId child : tree.children(node)) fine = walk(tree, child, order) && fine;
  return fine;
}

/// What to write for dx, dx_dt, xdot, x_ddot and the like, where x is an unknown.
std::string NameCheck::derivative_advice(const std::string& name) const {
  struct Spelling {
    std::string_view before, after;
    int order;
  };
  static constexpr Spelling spellings[] = {
      {"d", "", 1},    {"d", "dt", 1},  {"d", "_dt", 1},   {"D", "", 1},     {"", "dot", 1},  {"", "_dot", 1},
      {"", "_d", 1},   {"", "p", 1},    {"", "_p", 1},     {"", "_prime", 1}, {"", "prime", 1}, {"dd", "", 2},
      {"d2", "", 2},   {"", "ddot", 2}, {"", "_ddot", 2},  {"", "_dd", 2},   {"", "_pp", 2},  {"", "pp", 2},
  };
  for (const Spelling& way : spellings) {
    if (name.size() <= way.before.size() + way.after.size() || !name.starts_with(way.before) ||
        !name.ends_with(way.after))
      continue;
    const std::string base =
        name.substr(way.before.size(), name.size() - way.before.size() - way.after.size());
    const Entity* entity = elaborator_.find(base);
    if (entity == nullptr || (entity->role != Role::variable && entity->role != Role::auxiliary)) continue;
    return fmt::format("the {}derivative of {} is written {}", way.order == 2 ? "second " : "", base,
                       way.order == 2 ? "der(" + base + ", 2)" : "der(" + base + ")");
  }
  return {};
}

/// What to write for x_1 or x1 where x is a family, and for mgy where m, g and y exist.
std::string NameCheck::composed_advice(const std::string& name) const {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits > 0 && digits < name.size()) {
    const std::string base = name.substr(0, name[digits - 1] == '_' ? digits - 1 : digits);
    if (const Entity* entity = elaborator_.find(base); entity != nullptr && (!entity->members.empty() || !entity->expanded))
      return fmt::format("a member of the family {} is written {}[{}]", base, base, name.substr(digits));
  }
  std::string product;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t length = std::min<std::size_t>(name.size() - at, 20);
    const auto known = [&] {
      const Entity* entity = elaborator_.find(name.substr(at, length));
      return entity != nullptr && entity->role != Role::function;
    };
    while (length > 0 && !known()) --length;
    if (length == 0) return {};
    product += (at == 0 ? "" : "*") + name.substr(at, length);
    at += length;
  }
  return fmt::format("a product is written {}", product);
}

/// Whether a name is 'dt' below a numerator such as 'dx', which is reported already.
bool NameCheck::follows_wrong_differential(const SyntaxTree& tree, const Syntax& node) const {
  const std::string& name = tree.name(node);
  const std::string_view before = std::string_view(tree.passage().text()).substr(0, node.begin);
  if (!(name == "dt" || name == "dt2") || !before.ends_with('/')) return false;
  std::size_t begin = before.size() - 1;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(before[begin - 1])) || before[begin - 1] == '_')) --begin;
  const std::string numerator(before.substr(begin, before.size() - 1 - begin));
  return numerator.starts_with('d') && !derivative_advice(numerator).empty() && elaborator_.find(numerator) == nullptr;
}

bool NameCheck::name(const SyntaxTree& tree, const Syntax& node, int order) {
  const std::string& name = tree.name(node);
  bool fine = true;
  for (const SyntaxId index : tree.children(node)) fine = walk(tree, index, 0) && fine;
  const bool local =
      contains(loops_, name) || contains(arguments_, name) || name == "pi" || name == "t" || name == "time";
  if (local && node.child_count > 0)
    return fault("index-not-allowed", fmt::format("'{}' is a single number and has no index", name),
                 fmt::format("write {}", name),
                 tree.place(node));
  if ((name == "t" || name == "time") && rules_.parameters_only && !contains(arguments_, name))
    return fault("not-constant", fmt::format("time may not be used in {}", rules_.where), rules_.advice,
                 tree.place(node));
  if (local) return fine;
  if (const Entity* entity = elaborator_.find(name)) return role(*entity, tree, node, order) && fine;
  if (name == "t_start" && rules_.t_start && node.child_count == 0) return fine;
  if (is_reserved(name))
    return fault("function-without-arguments", fmt::format("'{}' is a function and needs its arguments", name),
                 fmt::format("write {}(...)", name), tree.place(node));
  if (elaborator_.is_table(name))
    return fault("function-without-arguments", fmt::format("'{}' is a table and needs its argument", name),
                 fmt::format("write {}(t)", name), tree.place(node));
  if (follows_wrong_differential(tree, node)) return false;
  std::string advice = derivative_advice(name);
  // d, step and the like may well be meant as names of parameters.
  if (advice.empty() && (name != "d" || tree.passage().text().find("dt") != std::string::npos))
    advice = advice_for_foreign_name(name);
  if (name == "t_start") advice = "t_start may be used in start values only; elsewhere write t";
  if (names_multiplier(name))
    advice = "the multiplier of the constraint 'rod' is lambda.rod, its reaction on x reaction.rod.x";
  if (advice.empty()) {
    Scope scope;
    for (const std::string& loop : loops_) scope.loops.emplace_back(loop, 0);
    for (const std::string& argument : arguments_) scope.arguments.emplace_back(argument, Expr{});
    std::vector<std::string> known = elaborator_.visible_names(scope);
    if (name.size() == 1) known.pop_back();  // 'pi' is near every 'i' and 'p', and never meant
    advice = composed_advice(name);
    if (advice.empty()) advice = suggest(name, known);
    if (advice.starts_with("known names") && !tree.place(node).source->name.starts_with("--"))
      advice = fmt::format("declare it in [parameters]{}; {}", rules_.parameters_only ? "" : " or [variables]", advice);
  }
  return fault("unknown-name", fmt::format("there is no '{}'", name), advice, tree.place(node));
}

bool NameCheck::role(const Entity& entity, const SyntaxTree& tree, const Syntax& node, int order) {
  if (entity.faulty) return false;
  const auto refuse = [&](std::string_view code) {
    return fault(std::string(code),
                 fmt::format("'{}' is {} and may not be used in {}", entity.name, name_of(entity.role), rules_.where),
                 rules_.advice, tree.place(node));
  };
  switch (entity.role) {
    case Role::function:
      return fault("function-without-arguments", fmt::format("'{}' is a function and needs its arguments", entity.name),
                   fmt::format("write {}(...)", entity.name), tree.place(node));
    case Role::parameter:
    case Role::definition:
      return true;
    case Role::input:
    case Role::discrete:
      return rules_.parameters_only ? refuse("not-constant") : true;
    case Role::output:
      return rules_.parameters_only || rules_.signal ? refuse("not-constant") : true;
    case Role::variable:
    case Role::auxiliary:
      break;
  }
  if (rules_.parameters_only || rules_.signal) return refuse("not-constant");
  const int highest = entity.role == Role::variable ? rules_.highest_variable : rules_.highest_auxiliary;
  if (order <= highest) return true;
  if (highest < 0) return refuse("not-allowed-here");
  return fault(
      "not-allowed-here",
      fmt::format("the derivative {} may not be used in {}",
                  derivative_name(std::string(tree.text(node)), static_cast<std::size_t>(order)), rules_.where),
      rules_.advice, tree.place(derivative_ != nullptr ? *derivative_ : node));
}

bool NameCheck::dotted(const SyntaxTree& tree, const Syntax& node) {
  const auto segments = tree.children(node);
  bool fine = true;
  for (const SyntaxId segment : segments)
    for (const SyntaxId index : tree.children(tree[segment])) fine = walk(tree, index, 0) && fine;
  const std::string& head = tree.name(tree[segments[0]]);
  const std::size_t wanted = head == "lambda" ? 2 : 3;
  if ((head != "lambda" && head != "reaction") || segments.size() != wanted || tree[segments[0]].child_count != 0)
    return fault("unknown-name", fmt::format("there is no '{}'", tree.text(node)),
                 tree.text(node).ends_with(".csv") || tree.text(node).ends_with(".txt")
                     ? "data of a file stand in [tables]: f = { file = \"log.csv\", x = \"t\", y = \"f\" }, and are used as f(t)"
                 : tree.text(node).ends_with(".pi") || tree.text(node).ends_with(".PI")
                     ? "write pi"
                     : "names with dots are lambda.CONSTRAINT and reaction.CONSTRAINT.COORDINATE",
                 tree.place(node));
  if (!rules_.multipliers)
    return fault("multiplier-not-allowed", fmt::format("'{}' may not be used in {}", tree.text(node), rules_.where),
                 "multipliers and reactions may appear in outputs, events, plots and drawing", tree.place(node));
  return fine;
}

bool NameCheck::arguments(const SyntaxTree& tree, const Syntax& node, std::size_t least, std::size_t most) {
  const std::size_t given = node.child_count;
  if (given >= least && given <= most) return true;
  const std::string wanted = least == most ? fmt::format("{} argument{}", least, least == 1 ? "" : "s")
                             : most > 100  ? fmt::format("{} or more arguments", least)
                                           : fmt::format("{} or {} arguments", least, most);
  const std::string& name = tree.name(node);
  std::string advice;
  const auto children = tree.children(node);
  for (std::size_t i = 0; i + 1 < children.size() && given > most; ++i) {
    const Syntax &left = tree[children[i]], &right = tree[children[i + 1]];
    if (left.kind == SyntaxKind::number && right.kind == SyntaxKind::number && left.end + 1 == right.begin)
      advice = fmt::format("a decimal point is written {}.{}", tree.text(left), tree.text(right));
  }
  if (advice.empty()) advice = fmt::format("write {}({})", name, elaborator_.is_table(name) ? "t" : "x");
  if (name == "sqrt" && given == 2) advice = "other roots are powers: x^(1/3)";
  if (name == "if") advice = "write if(condition, a, b)";
  if (name == "der") advice = "write der(x) or der(x, 2)";
  if (name == "atan" && given == 2) advice = "write atan2(y, x)";
  if (name == "log" && given == 2) advice = "write log(x)/log(base)";
  if (name == "atan2") advice = "write atan2(y, x)";
  if (name == "hypot") advice = "write hypot(x, y)";
  if (name == "min" || name == "max") advice = fmt::format("write {}(a, b)", name);
  if (const Entity* entity = elaborator_.find(name); entity != nullptr && entity->role == Role::function)
    advice = fmt::format("write {}({})", name, fmt::join(entity->arguments, ", "));
  return fault("wrong-arguments", fmt::format("{} takes {}; found {}", name, wanted, given), advice, tree.place(node));
}

/// Answers der(m) and m' where m is a parameter: a slip for a variable, as nobody writes 0 like that.
bool NameCheck::refuse_rate_of_parameter(const SyntaxTree& tree, const Syntax& node) {
  const Syntax& inner = tree[tree.children(node)[0]];
  if (inner.kind != SyntaxKind::name || contains(loops_, tree.name(inner)) || contains(arguments_, tree.name(inner))) return true;
  const Entity* entity = elaborator_.find(tree.name(inner));
  if (entity == nullptr || entity->role != Role::parameter || entity->faulty) return true;
  return fault("not-allowed-here", fmt::format("'{}' is a parameter: it does not change, its derivative is 0", entity->name),
               "what changes with time is a variable or an input; otherwise leave the derivative out", tree.place(node));
}

/// Answers der(f, x), which would be a derivative with respect to x.
bool NameCheck::refuse_order(const SyntaxTree& tree, const Syntax& order) {
  if (order.kind == SyntaxKind::number && order.value != std::floor(order.value))
    return fault("bad-order", fmt::format("the order of a derivative is 1, 2, ...: found {}", tree.text(order)),
                 "write der(x) or der(x, 2)", tree.place(order));
  if (order.kind != SyntaxKind::name) return true;
  const std::string& name = tree.name(order);
  const Entity* entity = elaborator_.find(name);
  const bool time = name == "t" || name == "time";
  if (!time && (entity == nullptr || (entity->role != Role::variable && entity->role != Role::auxiliary))) return true;
  return fault("bad-order", fmt::format("the order of a derivative is 1, 2, ...: found '{}'", name),
               time ? "every derivative is with respect to time: write der(x)"
                    : "there are no derivatives with respect to other things than time: write them out",
               tree.place(order));
}

bool NameCheck::call(const SyntaxTree& tree, const Syntax& node, int order) {
  const std::string& name = tree.name(node);
  const auto children = tree.children(node);
  if (name == "der") {
    bool fine = arguments(tree, node, 1, 2) && refuse_rate_of_parameter(tree, node);
    if (!fine) return false;
    int times = 1;
    if (children.size() == 2 && tree[children[1]].kind == SyntaxKind::number && tree[children[1]].value >= 1.0 &&
        tree[children[1]].value <= 100.0)
      times = static_cast<int>(tree[children[1]].value);
    const Syntax* outer = std::exchange(derivative_, derivative_ != nullptr ? derivative_ : &node);
    fine = walk(tree, children[0], order + times);
    derivative_ = outer;
    if (children.size() == 2 && !refuse_order(tree, tree[children[1]])) return false;
    if (children.size() == 2) fine = walk(tree, children[1], 0) && fine;
    return fine;
  }
  if (name == "lambda" || name == "reaction")
    return fault("unknown-function", fmt::format("there is no function '{}'", name),
                 "the multiplier of the constraint 'rod' is lambda.rod, its reaction on x reaction.rod.x",
                 tree.place(node));
  bool fine = true;
  for (const SyntaxId child : children) fine = walk(tree, child, order) && fine;
  if (name == "if") return arguments(tree, node, 3, 3) && fine;
  if (const Builtin* builtin = find_builtin(name)) return arguments(tree, node, builtin->least, builtin->most) && fine;
  if (elaborator_.is_table(name)) {
    if (rules_.parameters_only)
      return fault("not-constant", fmt::format("the table '{}' may not be used in {}", name, rules_.where),
                   rules_.advice, tree.place(node));
    return arguments(tree, node, 1, 1) && fine;
  }
  const Entity* entity = elaborator_.find(name);
  if (entity != nullptr && entity->role == Role::function) {
    if (entity->faulty) return false;
    return arguments(tree, node, entity->arguments.size(), entity->arguments.size()) && fine;
  }
  Place place = tree.passage().place(node.begin, name.size());
  const bool known = entity != nullptr || contains(loops_, name) || contains(arguments_, name) || name == "t" ||
                     name == "time" || name == "pi";
  if (known)
    return fault(
        "not-a-function",
        fmt::format("'{}' is {}, not a function", name, entity != nullptr ? name_of(entity->role) : "a number"),
        entity != nullptr && children.size() == 1 && tree.text(tree[children[0]]) == "t"
            ? fmt::format("write {}: it is a function of time by itself", name)
        : children.size() == 1 && tree.text(tree[children[0]]) == "0"
            ? fmt::format("the value at the start has no name; make it a parameter, and the start of {} too", name)
        : children.size() == 1 && entity != nullptr && tree.text(tree[children[0]]).starts_with("t")
                 && tree[children[0]].kind == SyntaxKind::sum
            ? fmt::format("{} is its value at the time t; values of the past or future cannot be used", name)
            : fmt::format("a product is written {}*(...), an index {}[...]", name, name),
        place);
  std::string advice = advice_for_foreign_name(name);
  if (advice.empty()) {
    std::vector<std::string> functions = callable_names();
    for (const Entity& other : elaborator_.entities())
      if (other.role == Role::function) functions.push_back(other.name);
    advice = suggest(name, functions);
    if (advice.starts_with("known names"))
      advice = fmt::format("define \"{}({})\" in [definitions], or data in [tables]; {}", name, name == "x" ? "u" : "x", advice);
  }
  return fault("unknown-function", fmt::format("there is no function '{}'", name), advice, place);
}

}  // namespace daedalus::model
