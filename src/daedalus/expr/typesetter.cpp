#include "daedalus/expr/typesetter.hpp"

#include <algorithm>
#include <unordered_map>

namespace daedalus::expr {

namespace {

/// How tightly the operands of a form must bind that has signs of its own.
std::pair<int, int> places_of(Op op) {
  switch (op) {
    case Op::add:
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
      return {sum, sum};
    case Op::sub:
      return {sum, sum + 1};
    case Op::mul:
    case Op::neg:
      return {product, product};
    case Op::logical_and:
      return {and_, and_ + 1};
    case Op::logical_or:
      return {or_, or_ + 1};
    case Op::logical_not:
      return {power_, power_};  // "not a < b" would read as "(not a) < b"
    default:
      return {lowest, lowest};  // their own marks hold them together
  }
}

}  // namespace

bool Typesetter::needs_parentheses(const Node& node, int place) const {
  return node.op != Op::div && Printer::needs_parentheses(node, place);  // a fraction needs none
}

std::pair<std::string, std::string> Typesetter::parentheses() const {
  return {notation_.parentheses.before, notation_.parentheses.after};
}

void Typesetter::emit(const Node& node) {
  switch (node.op) {
    case Op::constant:
      return push(number(node.value));
    case Op::symbol:
      return push(name(graph_.symbol_name(node.index)));
    case Op::pow:
      return emit_power(node);
    case Op::lookup:
      return emit_call(name(graph_.table_name(node.index)), node);
    case Op::choose: {
      const NodeId parts[] = {node.b, node.a, node.c};
      for (std::size_t i = 3; i-- > 0;) {
        push(notation_.cases[i + 1]);
        push(parts[i], lowest);
      }
      return push(notation_.cases[0]);
    }
    default:
      break;
  }
  if (node.op == Op::mul && begins_with_digits(node.b))
    return emit_operands(node, notation_.beside_digits, places_of(node.op));
  if (const auto marks = notation_.marks.find(node.op); marks != notation_.marks.end())
    return emit_operands(node, marks->second, places_of(node.op));
  const auto other = notation_.functions.find(node.op);
  emit_call(other != notation_.functions.end() ? other->second : function(name_of(node.op)), node);
}

void Typesetter::emit_operands(const Node& node, const Marks& marks, std::pair<int, int> places) {
  push(marks.after);
  if (arity(node.op) > 1) {
    push(node.b, places.second);
    push(marks.between);
  }
  push(node.a, places.first);
  push(marks.before);
}

void Typesetter::emit_call(std::string name, const Node& node) {
  emit_operands(node, notation_.arguments, {lowest, lowest});
  push(std::move(name));
  push(notation_.before_function);
}

/// Digits beside digits would read as one number.
bool Typesetter::begins_with_digits(NodeId factor) const {
  while (graph_.node(factor).op == Op::mul || graph_.node(factor).op == Op::pow) factor = graph_.node(factor).a;
  return graph_.node(factor).op == Op::constant && graph_.node(factor).value >= 0.0;
}

const std::string* greek_letter(const std::string& name) {
  static const std::unordered_map<std::string, std::string> letters{
      {"alpha", "α"},   {"beta", "β"},  {"gamma", "γ"},  {"delta", "δ"}, {"epsilon", "ε"}, {"zeta", "ζ"},
      {"eta", "η"},     {"theta", "θ"}, {"iota", "ι"},   {"kappa", "κ"}, {"lambda", "λ"},  {"mu", "μ"},
      {"nu", "ν"},      {"xi", "ξ"},    {"pi", "π"},     {"rho", "ρ"},   {"sigma", "σ"},   {"tau", "τ"},
      {"upsilon", "υ"}, {"phi", "φ"},   {"chi", "χ"},    {"psi", "ψ"},   {"omega", "ω"},   {"Gamma", "Γ"},
      {"Delta", "Δ"},   {"Theta", "Θ"}, {"Lambda", "Λ"}, {"Xi", "Ξ"},    {"Pi", "Π"},      {"Sigma", "Σ"},
      {"Upsilon", "Υ"}, {"Phi", "Φ"},   {"Psi", "Ψ"},    {"Omega", "Ω"}};
  const auto found = letters.find(name);
  return found == letters.end() ? nullptr : &found->second;
}

std::pair<std::string, std::string> word_and_digits(const std::string& text) {
  const std::size_t letters = text.find_last_not_of("0123456789") + 1;
  if (letters == 0) return {text, {}};
  return {text.substr(0, letters), text.substr(letters)};
}

NameParts::NameParts(const std::string& name) {
  if (!name.starts_with("der(") || !name.ends_with(")")) {
    split(name);
    return;
  }
  const std::size_t comma = name.rfind(',');
  const std::string digits = comma == std::string::npos ? "" : name.substr(comma + 1, name.size() - comma - 2);
  const bool counted = !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos &&
                       name.find(']', comma) == std::string::npos;
  derivatives = counted ? std::stoi(digits) : 1;
  split(name.substr(4, (counted ? comma : name.size() - 1) - 4));
}

/// x[1,2], lambda.rod[3], reaction.rod.x: what follows the name stands below it.
void NameParts::split(const std::string& name) {
  const std::size_t end = std::min(name.find_first_of(".["), name.size());
  split_words(name.substr(0, end));
  for (std::size_t at = end; at < name.size();) {
    const bool index = name[at] != '.';  // [, or a comma inside of brackets
    const std::size_t next = std::min(name.find_first_of(index ? ",]" : ".[", at + 1), name.size());
    if (next > at + 1)
      subscripts.push_back(
          {index ? Subscript::Kind::index : Subscript::Kind::label, name.substr(at + 1, next - at - 1)});
    at = next + (next < name.size() && name[next] == ']' ? 1 : 0);
  }
}

/// x_max is x with the subscript max, x1_2 is x with 1,2.
void NameParts::split_words(const std::string& words) {
  std::size_t underscore = words.find_first_not_of('_');
  if (underscore != std::string::npos) underscore = words.find('_', underscore);
  if (underscore == std::string::npos || underscore + 1 == words.size()) underscore = words.size();
  const auto [word, digits] = word_and_digits(words.substr(0, underscore));
  base = word;
  if (!digits.empty()) subscripts.push_back({Subscript::Kind::index, digits});
  while (underscore < words.size()) {
    const std::size_t next = std::min(words.find('_', underscore + 1), words.size());
    if (next > underscore + 1)
      subscripts.push_back({Subscript::Kind::word, words.substr(underscore + 1, next - underscore - 1)});
    underscore = next;
  }
}

}  // namespace daedalus::expr
