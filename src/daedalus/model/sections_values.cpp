#include <fmt/format.h>

#include "daedalus/model/reader_guard.hpp"
#include "daedalus/model/reader_state.hpp"
#include "daedalus/model/rules.hpp"
#include "daedalus/model/vocabulary.hpp"

namespace daedalus::model {

void Reader::declare_parameters() {
  const TomlValue* table = section("parameters");
  if (table == nullptr) return;
  for (const TomlEntry& entry : table->entries) {
    const Place place = entry.key.place();
    if (!is_name(entry.name())) {
      fault("bad-name", fmt::format("'{}' is not a name for a parameter", entry.name()),
            "names consist of letters, digits and '_'; an array is written k = [1.0, 2.0], a family stands in "
            "[definitions]",
            place);
      const std::string base = entry.name().substr(0, entry.name().find('['));
      if (is_name(base) && elaborator_.find(base) == nullptr)
        if (Entity* entity = elaborator_.declare(Role::parameter, base, place)) entity->faulty = true;
      continue;
    }
    elaborator_.declare(Role::parameter, entry.name(), place);
  }
}

void Reader::declare_parameter(const TomlEntry& entry) {
  Entity* entity = elaborator_.find(entry.name());
  if (entity == nullptr || entity->role != Role::parameter || entity->place.line != entry.key.place().line) return;
  const TomlValue* value = &entry.value;
  ParameterRecord record;
  if (value->is_table()) {
    check_keys(*value, fmt::format("the parameter '{}'", entry.name()), {"value", "unit", "description", "min", "max"});
    record.unit = label(*value, "unit");
    record.description = label(*value, "description");
    if (const TomlValue* least = field(*value, "min")) record.least = quantity(*least, "'min'");
    if (const TomlValue* most = field(*value, "max")) record.most = quantity(*most, "'max'");
    value = field(*value, "value");
    if (value == nullptr) {
      fault("missing-key", fmt::format("the parameter '{}' has no value", entry.name()), "write { value = 1.0, ... }",
            entry.key.place());
      entity->faulty = true;
      return;
    }
  }
  const std::size_t before = parameters_.size();
  Indices at;
  add_parameter_items(*entity, *value, at, entry.key.place());
  for (std::size_t i = before; i < parameters_.size(); ++i) {
    const ItemId item = parameters_[i].item;
    parameters_[i] = record;
    parameters_[i].item = item;
  }
}

void Reader::add_parameter_items(Entity& entity, const TomlValue& value, Indices& at, const Place& place) {
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (value.items[i].is_array() != value.items[0].is_array()) {
        fault("wrong-type", fmt::format("the array '{}' mixes numbers and arrays", entity.name),
              "give every row as an array", value.items[i].place);
        entity.faulty = true;
        return;
      }
      at.push_back(static_cast<std::int64_t>(i) + 1);
      add_parameter_items(entity, value.items[i], at, place);
      at.pop_back();
    }
    return;
  }
  const std::string name = at.empty() ? entity.name : member_name(entity.name, at);
  Quantity read = quantity(value, fmt::format("the parameter '{}'", name));
  Place where = place;
  if (const auto found = parameter_overrides_.find(name); found != parameter_overrides_.end()) {
    read = found->second.quantity;
    where = found->second.place;
    parameter_overrides_.erase(found);
  }
  Item item;
  item.kind = Item::Kind::parameter;
  item.name = name;
  item.tree = read.tree;
  item.value = read.number;
  item.expression = elaborator_.graph().symbol(name);
  item.place = where;
  const bool fine = check(read, rules::parameter);
  item.state = !fine ? Item::State::faulty : read.tree == nullptr ? Item::State::done : Item::State::idle;
  const ItemId id = elaborator_.add(std::move(item));
  if (at.empty()) {
    entity.scalar = true;
    entity.scalar_item = id;
  } else {
    entity.members.emplace(at, id);
  }
  parameters_.push_back({id, {}, {}, {}, {}});
}

void Reader::resolve_parameters() {
  if (const TomlValue* table = section("parameters"))
    for (const TomlEntry& entry : table->entries) declare_parameter(entry);
  for (const auto& [name, rest] : parameter_overrides_) {
    const Entity* entity = elaborator_.find(rest.key->base);
    if (entity == nullptr || entity->faulty) continue;
    const std::string advice =
        entity->scalar ? fmt::format("'{}' is a single number: write {}=...", entity->name, entity->name)
        : entity->members.empty()
            ? std::string{}
            : fmt::format("there are {} to {}", member_name(entity->name, entity->members.begin()->first),
                          member_name(entity->name, entity->members.rbegin()->first));
    fault("no-such-member", fmt::format("there is no parameter '{}'", name), advice, rest.place);
  }
  for (const ParameterRecord& record : parameters_) {
    const bool fine = elaborator_.resolve(record.item);
    const Item& item = elaborator_.item(record.item);
    if (!fine) continue;
    const auto bound = [&](const Quantity& limit, bool least) {
      if (!limit.given || limit.faulty || !check(limit, rules::parameter)) return;
      guarded([&] {
        const double number = limit.tree == nullptr ? limit.number : elaborator_.constant(*limit.tree);
        if (least ? item.value >= number : item.value <= number) return;
        fault("out-of-range",
              fmt::format("the parameter '{}' is {}, but its {} value is {}", item.name, item.value,
                          least ? "smallest" : "largest", number),
              fmt::format("choose a value {} {}", least ? "from" : "up to", number), item.place);
      });
    };
    bound(record.least, true);
    bound(record.most, false);
    Parameter parameter;
    parameter.name = item.name;
    parameter.symbol = item.expression;
    parameter.value = item.value;
    parameter.unit = record.unit;
    parameter.description = record.description;
    parameter.place = item.place;
    model_.parameters.push_back(std::move(parameter));
  }
}

void Reader::declare_quantities(std::string_view name, Role role, std::vector<Declaration>& out) {
  const TomlValue* table = section(name);
  if (table == nullptr) return;
  const bool families = role != Role::input;
  for (const TomlEntry& entry : table->entries) {
    Declaration declaration;
    declaration.place = entry.key.place();
    declaration.value = &entry.value;
    declaration.key = parse_name(entry.key);
    if (declaration.key == nullptr) continue;
    const KeySyntax& key = *declaration.key;
    const bool function = key.form == KeySyntax::Form::function;
    if (key.form == KeySyntax::Form::derivative || (function && role != Role::definition) ||
        (key.has_indices && !families)) {
      fault("bad-name", fmt::format("'{}' cannot be defined in [{}]", entry.name(), name),
            function          ? "functions stand in [definitions]"
            : key.has_indices ? "an input is a single signal; a family of known signals is possible in [definitions]"
                              : "start values of derivatives stand in [variables]",
            declaration.place);
      continue;
    }
    Entity* entity = elaborator_.find(key.base);
    const bool joins = entity != nullptr && entity->role == role && key.has_indices && !entity->expanded;
    if (!joins) entity = elaborator_.declare(function ? Role::function : role, key.base, declaration.place);
    const TomlValue* value = &entry.value;
    const std::string what = fmt::format("'{}'", entry.name());
    if (value->is_table()) {
      std::vector<std::string> known{"value", "unit", "description"};
      if (families && !function) known.insert(known.begin() + 1, "for");
      check_keys(*value, what, known);
      label(*value, "unit");
      label(*value, "description");
      if (families && !function && field(*value, "for") != nullptr) {
        declaration.loops = loops_of(*value);
        if (declaration.loops == nullptr) declaration.faulty = true;
      }
      value = field(*value, "value");
      if (value == nullptr) {
        fault("missing-key", fmt::format("{} has no value", what), "write { value = \"...\" }", declaration.place);
        declaration.faulty = true;
      }
    }
    if (value != nullptr) declaration.quantity = quantity(*value, what);
    if (entity == nullptr) continue;
    if (key.has_indices) entity->expanded = false;
    if (function) {
      entity->arguments = key.arguments;
      entity->body = declaration.quantity.tree;
      for (std::size_t i = 0; i < key.arguments.size(); ++i) {
        const bool twice = std::find(key.arguments.begin(), key.arguments.begin() + static_cast<std::ptrdiff_t>(i),
                                     key.arguments[i]) != key.arguments.begin() + static_cast<std::ptrdiff_t>(i);
        if (!twice && !is_reserved(key.arguments[i])) continue;
        fault("bad-argument", fmt::format("'{}' cannot be an argument of '{}'", key.arguments[i], key.base),
              twice ? "every argument needs its own name" : "the name belongs to the language", declaration.place);
        declaration.faulty = true;
      }
      if (entity->body == nullptr && !declaration.quantity.faulty && declaration.quantity.given) {
        // A function that is a number: its text is the number.
        entity->body = parse(Passage(map_, fmt::format("({})", declaration.quantity.number), 0));
      }
    }
    if (declaration.faulty || declaration.quantity.faulty) entity->faulty = true;
    out.push_back(declaration);
  }
}

/// Checks every expression that was declared; what is wrong is not reported again where it is used.
void Reader::check_quantities(std::vector<Declaration>& entries, const Rules& rules) {
  for (Declaration& entry : entries) {
    Entity* entity = elaborator_.find(entry.key->base);
    if (const auto found = quantity_overrides_.find(entry.key->base); found != quantity_overrides_.end())
      entry.quantity = found->second.quantity;
    if (!check(entry, rules)) {
      entry.faulty = true;
      if (entity != nullptr) entity->faulty = true;
    }
  }
}

/// Functions must not call themselves, directly or through others, even where nobody calls them.
void Reader::check_functions() {
  struct Call {
    Entity* function;
    Place place;
  };
  std::unordered_map<const Entity*, std::vector<Call>> calls;
  std::vector<Entity*> functions;
  for (Entity& entity : elaborator_.entities()) {
    if (entity.role != Role::function || entity.faulty || entity.body == nullptr) continue;
    functions.push_back(&entity);
    for (SyntaxId id = 0; id < entity.body->size(); ++id) {
      const Syntax& node = (*entity.body)[id];
      if (node.kind != SyntaxKind::call) continue;
      Entity* called = elaborator_.find(entity.body->name(node));
      if (called != nullptr && called->role == Role::function)
        calls[&entity].push_back({called, entity.body->place(node)});
    }
  }
  enum class State { fresh, open, done };
  std::unordered_map<const Entity*, State> states;
  for (Entity* first : functions) {
    std::vector<std::pair<Entity*, std::size_t>> path;
    if (states[first] == State::fresh) path.emplace_back(first, 0);
    while (!path.empty()) {
      auto& [entity, next] = path.back();
      states[entity] = State::open;
      if (next == calls[entity].size()) {
        states[entity] = State::done;
        path.pop_back();
        continue;
      }
      const Call& call = calls[entity][next++];
      if (states[call.function] == State::fresh) {
        path.emplace_back(call.function, 0);
      } else if (states[call.function] == State::open) {
        std::string text;
        bool inside = false;
        for (const auto& [step, position] : path) {
          inside = inside || step == call.function;
          if (inside) {
            text += step->name + " -> ";
            step->faulty = true;
          }
        }
        fault("cycle",
              fmt::format("the function '{}' calls itself: {}{}", call.function->name, text, call.function->name),
              "write a formula without the call", call.place);
      }
    }
  }
}

void Reader::add_quantity_items(std::vector<Declaration>& entries, bool families) {
  for (Declaration& entry : entries) {
    const bool family = entry.key->has_indices || entry.loops != nullptr;
    if (entry.faulty || family != families || entry.key->form == KeySyntax::Form::function) continue;
    Entity* entity = elaborator_.find(entry.key->base);
    if (entity == nullptr) continue;
    entity->expanded = true;
    const bool fine = members(entry, [&](const Member& member) {
      Item item;
      item.kind = Item::Kind::expression;
      item.name = member.name;
      item.tree = entry.quantity.tree;
      item.value = entry.quantity.number;
      item.scope = member.scope;
      item.place = entry.place;
      if (!entry.key->has_indices) {
        entity->scalar = true;
        entity->scalar_item = elaborator_.add(std::move(item));
        return;
      }
      const auto found = entity->members.find(member.indices);
      if (found != entity->members.end()) overlap(member.name, elaborator_.item(found->second).place, entry);
      entity->members.emplace(member.indices, elaborator_.add(std::move(item)));
    });
    if (!fine) entity->faulty = entry.faulty = true;
  }
}

/// Answers two entries that make the same member.
void Reader::overlap(const std::string& name, const Place& first, const Declaration& entry) const {
  if (entry.loops != nullptr && first.line == entry.place.line && first.column == entry.place.column) {
    throw Error("overlap", fmt::format("the family makes '{}' more than once", name),
                "every loop index must occur in the name of the member", entry.place);
  }
  throw Error("overlap", fmt::format("'{}' is given twice: here and in line {}", name, first.line),
              "let the families not overlap", entry.place);
}

void Reader::collect_quantities(const std::vector<Declaration>& entries, std::vector<Named>& out) {
  for (const Declaration& entry : entries) {
    if (entry.faulty || entry.key->form == KeySyntax::Form::function) continue;
    Entity* entity = elaborator_.find(entry.key->base);
    if (entity == nullptr || entity->faulty) continue;
    std::string unit, description;
    if (entry.value->is_table()) {
      unit = label(*entry.value, "unit");
      description = label(*entry.value, "description");
    }
    bool fine = true;
    members(entry, [&](const Member& member) {
      if (!fine) return;
      const ItemId id = entry.key->has_indices ? entity->members.at(member.indices) : entity->scalar_item;
      fine = elaborator_.resolve(id);
      if (fine) out.push_back({member.name, elaborator_.item(id).expression, entry.place, unit, description});
    });
  }
}

void Reader::declare_discrete() {
  const TomlValue* table = section("discrete");
  if (table == nullptr) return;
  for (const TomlEntry& entry : table->entries) {
    if (!is_name(entry.name())) {
      fault("bad-name", fmt::format("'{}' is not a name for a discrete value", entry.name()),
            "names consist of letters, digits and '_'", entry.key.place());
      continue;
    }
    Entity* entity = elaborator_.declare(Role::discrete, entry.name(), entry.key.place());
    if (entity == nullptr) continue;
    const TomlValue* value = &entry.value;
    ParameterRecord record;
    if (value->is_table()) {
      check_keys(*value, fmt::format("the discrete value '{}'", entry.name()), {"start", "unit", "description"});
      record.unit = label(*value, "unit");
      record.description = label(*value, "description");
      value = field(*value, "start");
    }
    Item item;
    item.kind = Item::Kind::discrete;
    item.name = entry.name();
    item.expression = elaborator_.graph().symbol(entry.name());
    item.place = entry.key.place();
    if (value != nullptr) record.least = quantity(*value, fmt::format("the discrete value '{}'", entry.name()));
    entity->scalar = true;
    entity->scalar_item = record.item = elaborator_.add(std::move(item));
    discrete_.push_back(record);
  }
}

void Reader::resolve_discrete() {
  for (const ParameterRecord& record : discrete_) {
    Item& item = elaborator_.item(record.item);
    Quantity start = record.least;
    if (const auto found = quantity_overrides_.find(item.name); found != quantity_overrides_.end())
      start = found->second.quantity;
    item.tree = start.tree;
    item.value = start.number;
    if (!check(start, rules::discrete)) item.state = Item::State::faulty;
    if (!elaborator_.resolve(record.item)) continue;
    Parameter discrete;
    discrete.name = item.name;
    discrete.symbol = item.expression;
    discrete.value = item.value;
    discrete.unit = record.unit;
    discrete.description = record.description;
    discrete.place = item.place;
    model_.discrete.push_back(std::move(discrete));
  }
}

/// Inputs are functions of time also where they use definitions.
void Reader::check_inputs() {
  for (const Named& input : model_.inputs) {
    const NodeId root[] = {input.value.id()};
    for (const NodeId id : walk_.from(elaborator_.graph(), root)) {
      if (elaborator_.unknown_of(id) == nullptr) continue;
      fault("not-constant",
            fmt::format("the input '{}' depends on '{}', an unknown of the model", input.name,
                        Expr(&elaborator_.graph(), id).name()),
            rules::input.advice, input.place);
      break;
    }
  }
}

}  // namespace daedalus::model
