#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/model/reader_guard.hpp"
#include "daedalus/model/reader_state.hpp"
#include "daedalus/model/vocabulary.hpp"

namespace daedalus::model {

void Reader::report(const Error& error) {
  for (const Fault& fault : error.faults()) {
    // A function or a definition that is used often is wrong once.
    const std::string once = fmt::format("{}:{}:{}:{}:{}", fault.place.source ? fault.place.source->name : "",
                                         fault.place.line, fault.place.column, fault.code, fault.message);
    if (reported_.insert(once).second) faults_.add(Error(std::vector{fault}));
    if (fault.code == "too-large" || faults_.size() > Faults::most_shown) throw Stop{};
  }
}

void Reader::fault(std::string code, std::string message, std::string advice, const Place& place) {
  report(Error(std::move(code), std::move(message), std::move(advice), place));
}

const TomlValue* Reader::section(std::string_view name) {
  const TomlEntry* entry = find(file_, name);
  return entry == nullptr ? nullptr : table_of(*entry, fmt::format("[{}]", name));
}

const TomlValue* Reader::table_of(const TomlEntry& entry, std::string_view what) {
  if (entry.value.is_table()) return &entry.value;
  fault("wrong-type", fmt::format("{} is a section, but {} was found", what, kind_name(entry.value)),
        fmt::format("write {} on a line of its own and its entries below", what), entry.value.place);
  return nullptr;
}

namespace {

/// The known key that other programs and books call by this name, or nothing.
std::string meant_key(const std::string& name, const std::vector<std::string>& known) {
  static constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"T", "kinetic"},    {"V", "potential"},  {"U", "potential"},    {"L", "lagrangian"},
      {"R", "dissipation"}, {"D", "dissipation"}, {"M", "mass"},        {"f", "force"},
      {"F", "force"},      {"forces", "force"}, {"value", "start"},    {"initial", "start"},
      {"init", "start"},   {"start", "value"},  {"solver", "method"},  {"integrator", "method"},
      {"tolerance", "rtol"}, {"reltol", "rtol"}, {"abstol", "atol"},   {"tend", "t_end"},
      {"stop", "t_end"},   {"end", "t_end"},    {"duration", "t_end"}, {"condition", "when"},
      {"units", "unit"},   {"maximum", "max"},  {"minimum", "min"},    {"then", "reset"},
      {"action", "reset"}, {"do", "reset"},     {"damping", "dissipation"}, {"friction", "dissipation"},
      {"rayleigh", "dissipation"}, {"nom", "nominal"}, {"t", "x"},     {"guess", "start"},
      {"T", "t_end"},      {"t", "t_end"},      {"tspan", "t_end"},    {"t_span", "t_end"},
      {"tf", "t_end"},     {"t_final", "t_end"}, {"tfinal", "t_end"},  {"t0", "t_start"},
      {"if", "when"},      {"trigger", "when"}, {"terminal", "stop"},  {"terminate", "stop"},
      {"period", "every"}, {"columns", "y"},    {"expression", "value"}, {"formula", "value"},
      {"eq", "equation"},  {"expression", "equation"}, {"formula", "equation"},
  };
  for (const auto& [other, ours] : others)
    if (other == name && std::find(known.begin(), known.end(), ours) != known.end()) return std::string(ours);
  return {};
}

}  // namespace

void Reader::check_keys(const TomlValue& table, const std::string& where, const std::vector<std::string>& known) {
  for (const TomlEntry& entry : table.entries) {
    if (std::find(known.begin(), known.end(), entry.name()) != known.end()) continue;
    std::string advice = suggest(entry.name(), known);
    const std::string meant = meant_key(entry.name(), known);
    if (!meant.empty()) advice = fmt::format("did you mean '{}'?", meant);
    if (entry.name() == "step" || entry.name() == "dt" || entry.name() == "h")
      advice = "a fixed step is an option of the command line: --step";
    for (const std::string_view option : {"first_step", "max_step", "max_steps", "samples", "every", "output", "plot", "report"})
      if (where == "[simulation]" && entry.name() == option) {
        advice = fmt::format("it is an option of the command line: --{}", option);
        std::replace(advice.begin(), advice.end(), '_', '-');
      }
    if (entry.name() == "file" && known.front() == "value")
      advice = "data of a file stand in [tables]: f = { file = \"log.csv\", x = \"t\", y = \"f\" }, and are used as f(t)";
    if (entry.name() == "at" && std::find(known.begin(), known.end(), "when") != known.end())
      advice = "a time is a condition like others: when = \"t >= 2\"";
    const bool unknown = std::find(known.begin(), known.end(), "nominal") != known.end();
    for (const std::string_view rate : {"velocity", "v", "speed", "der", "rate", "dot"})
      if (unknown && entry.name() == rate)
        advice = "the start of the derivative is an entry of its own: \"der(x)\" = 0.0";
    if (entry.name() == "for")
      advice =
          "families are possible in variables, auxiliary, definitions, equations, constraints, invariants, outputs, "
          "forces and drawing";
    fault("unknown-key", fmt::format("{} has no key '{}'", where, entry.name()), advice, entry.key.place());
    // The slip is reported; that the right key is missing need not be.
    const std::vector<std::string> near =
        meant.empty() ? nearest_names(entry.name(), known, 1) : std::vector<std::string>{meant};
    if (!near.empty()) misspelt_[&table].emplace(near[0], &entry);
  }
}

const TomlEntry* Reader::find(const TomlValue& table, std::string_view key) const {
  if (const TomlEntry* entry = table.find(key)) return entry;
  const auto slips = misspelt_.find(&table);
  if (slips == misspelt_.end()) return nullptr;
  const auto slip = slips->second.find(std::string(key));
  return slip == slips->second.end() ? nullptr : slip->second;
}

const TomlValue* Reader::field(const TomlValue& table, std::string_view key) const {
  const TomlEntry* entry = find(table, key);
  return entry == nullptr ? nullptr : &entry->value;
}

std::string Reader::text_of(const TomlValue& value, std::string_view what, std::string_view advice) {
  if (value.is_text()) return value.text.text();
  fault("wrong-type", fmt::format("{} is a text, but {} was found", what, kind_name(value)),
        advice == "put it in quotes" && (value.is_array() || value.is_table()) ? "write one text in quotes" : std::string(advice),
        value.place);
  return {};
}

std::optional<bool> Reader::boolean_of(const TomlValue& value, std::string_view what) {
  if (value.kind == TomlValue::Kind::boolean) return value.boolean;
  fault("wrong-type", fmt::format("{} is true or false, but {} was found", what, kind_name(value)),
        "write true or false without quotes", value.place);
  return std::nullopt;
}

std::optional<double> Reader::number_of(const TomlValue& value, const std::string& what) {
  const Quantity read = quantity(value, what);
  static const Rules rules{
      .where = "a number of the model", .advice = "use numbers and parameters", .parameters_only = true};
  if (read.faulty || !check(read, rules)) return std::nullopt;
  if (read.tree == nullptr) return read.number;
  std::optional<double> result;
  guarded([&] { result = elaborator_.constant(*read.tree); });
  return result;
}

std::string Reader::label(const TomlValue& table, std::string_view key) {
  const TomlValue* value = field(table, key);
  return value == nullptr ? std::string{} : text_of(*value, fmt::format("'{}'", key));
}

const SyntaxTree* Reader::parse(const Passage& passage) {
  const SyntaxTree* tree = nullptr;
  guarded([&] { tree = &trees_.emplace_back(parse_expression(passage)); });
  return tree;
}

const SyntaxTree* Reader::parse_as_equation(const Passage& passage) {
  const SyntaxTree* tree = nullptr;
  guarded([&] { tree = &trees_.emplace_back(parse_equation(passage)); });
  return tree;
}

const KeySyntax* Reader::parse_name(const Passage& passage) {
  try {
    return &keys_.emplace_back(parse_key(passage));
  } catch (const Error& error) {
    const std::string& name = passage.text();
    if (is_reserved(name))
      fault("reserved-name", fmt::format("'{}' belongs to the language and cannot be redefined", name),
            "choose another name", passage.place());
    else if (name.starts_with("lambda.") || name.starts_with("reaction."))
      fault("not-allowed-here", fmt::format("'{}' follows from the equations and cannot be given", name),
            "positions and velocities can be given", passage.place());
    else if (name.starts_with('d') && name.ends_with("/dt"))
      fault("bad-name", fmt::format("'{}' is not a name", name),
            fmt::format("write \"der({})\"", name.substr(1, name.size() - 4)), passage.place());
    else
    fault("bad-name", fmt::format("'{}' is not a name", passage.text()),
          "names consist of letters, digits and '_', and begin with a letter; x[i], der(x) and x' are possible where "
          "they make sense",
          passage.place());
    return nullptr;
  }
}

const LoopsSyntax* Reader::loops_of(const TomlValue& table) {
  const TomlValue* value = field(table, "for");
  if (value == nullptr) return nullptr;
  const LoopsSyntax* result = nullptr;
  if (!value->is_text()) {
    fault("wrong-type", fmt::format("'for' is a text, but {} was found", kind_name(*value)),
          "write for = \"i in 1..N\"", value->place);
    return nullptr;
  }
  guarded([&] { result = &loops_.emplace_back(parse_loops(value->text)); });
  return result;
}

Quantity Reader::quantity(const TomlValue& value, std::string_view what) {
  Quantity result;
  result.given = true;
  result.place = value.place;
  if (value.is_number()) {
    result.number = value.number;
    if (!std::isfinite(value.number)) {
      fault("not-finite", fmt::format("{} must be a finite number", what),
            "write a number; infinity and NaN are none", value.place);
      result.faulty = true;
    }
  } else if (value.is_text()) {
    result.tree = parse(value.text);
    result.faulty = result.tree == nullptr;
  } else {
    fault("wrong-type",
          fmt::format("{} is a number or an expression in quotes, but {} was found", what, kind_name(value)),
          value.is_array() ? "one entry is one number: give every component an entry of its own"
                           : "write for example 2.5 or \"2*pi\"",
          value.place);
    result.faulty = true;
  }
  return result;
}

Quantity Reader::equation(const TomlValue& value, std::string_view what) {
  Quantity result;
  result.given = true;
  result.place = value.place;
  if (value.is_text()) {
    result.tree = parse_as_equation(value.text);
    result.faulty = result.tree == nullptr;
  } else {
    fault("wrong-type", fmt::format("{} is an equation in quotes, but {} was found", what, kind_name(value)),
          "write \"a = b\"", value.place);
    result.faulty = true;
  }
  return result;
}

bool Reader::check(const Quantity& quantity, const Rules& rules) {
  if (quantity.faulty) return false;
  if (quantity.tree == nullptr) return true;
  NameCheck names(elaborator_, rules, [this](const Error& error) { report(error); });
  return names.expression(*quantity.tree);
}

/// Checks the key, the ranges and the expression of an entry.
bool Reader::check(const Declaration& entry, const Rules& rules) {
  if (entry.faulty) return false;
  static const Rules bounds{.where = "an index or a bound",
                            .advice = "use whole numbers, parameters and loop indices",
                            .parameters_only = true};
  const auto reporter = [this](const Error& error) { report(error); };
  NameCheck ranges(elaborator_, bounds, reporter);
  NameCheck names(elaborator_, rules, reporter);
  bool fine = true;
  if (entry.loops != nullptr) {
    fine = ranges.loops(*entry.loops);
    for (const LoopSyntax& loop : entry.loops->loops) names.add_loop(loop.name);
  }
  for (const std::string& argument : entry.key->arguments) names.add_argument(argument);
  for (const SyntaxId index : entry.key->indices) {
    const Syntax& node = entry.key->tree[index];
    const std::string& name = entry.key->tree.name(node);
    const bool unknown = node.kind == SyntaxKind::name && node.child_count == 0 && elaborator_.find(name) == nullptr;
    const auto is_index = [&] {
      return std::any_of(entry.loops->loops.begin(), entry.loops->loops.end(),
                         [&](const LoopSyntax& loop) { return loop.name == name; });
    };
    if (unknown && entry.loops != nullptr && !is_index()) {
      std::vector<std::string> known;
      for (const LoopSyntax& loop : entry.loops->loops) known.push_back(loop.name);
      fault("unknown-name", fmt::format("'{}' in the name is no index of 'for'", name),
            fmt::format("'for' gives {}", fmt::join(known, ", ")), entry.key->tree.place(node));
      fine = false;
    } else if (unknown && entry.loops == nullptr) {
      fault("family-without-for", fmt::format("'{}' is not a number, and the entry has no 'for'", name),
            fmt::format("write {{ for = \"{} in 1..N\", ... }}", name), entry.key->tree.place(node));
      fine = false;
    } else {
      fine = ranges.part(entry.key->tree, index) && fine;
    }
  }
  if (entry.quantity.given) {
    if (entry.quantity.faulty) return false;
    if (entry.quantity.tree != nullptr) fine = names.expression(*entry.quantity.tree) && fine;
  }
  return fine;
}

/// Visits the members of an entry in order; false after a fault, which is reported.
bool Reader::members(const Declaration& entry, const std::function<void(const Member&)>& visit) {
  return guarded([&] {
    const KeySyntax& key = *entry.key;
    const auto one = [&](const Scope& scope) {
      Member member;
      member.scope = scope;
      member.name = key.base;
      if (key.has_indices) {
        member.indices = elaborator_.indices(key.tree, key.indices, scope);
        member.name = member_name(key.base, member.indices);
      }
      visit(member);
    };
    if (entry.loops == nullptr) return one(Scope{});
    if (!key.has_indices)
      throw Error("family-without-index", fmt::format("'{}' has a 'for', but its name has no index", key.base),
                  fmt::format("write \"{}[{}]\"", key.base, entry.loops->loops[0].name), entry.place);
    elaborator_.iterate(*entry.loops, one);
  });
}

Expr Reader::elaborate(const Quantity& quantity, const Scope& scope) {
  if (quantity.tree == nullptr) return elaborator_.graph().constant(quantity.number);
  return elaborator_.number(*quantity.tree, quantity.tree->left(), scope);
}

}  // namespace daedalus::model
