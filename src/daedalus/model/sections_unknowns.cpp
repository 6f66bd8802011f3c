#include <fmt/format.h>

#include <algorithm>

#include "daedalus/model/reader_guard.hpp"
#include "daedalus/model/reader_state.hpp"
#include "daedalus/model/rules.hpp"

namespace daedalus::model {

void Reader::declare_unknowns(std::string_view name, Role role, std::vector<Declaration>& out) {
  const TomlValue* table = section(name);
  if (table == nullptr) return;
  for (const TomlEntry& entry : table->entries) {
    Declaration declaration;
    declaration.place = entry.key.place();
    declaration.value = &entry.value;
    // Uses of a name that was meant are not reported as well.
    const auto poison = [&](const std::string& base) {
      unknowns_complete_ = false;
      if (is_name(base) && elaborator_.find(base) == nullptr)
        if (Entity* entity = elaborator_.declare(role, base, declaration.place)) entity->faulty = true;
    };
    if (entry.name().ends_with("(0)")) {
      const std::string base = entry.name().substr(0, entry.name().find_first_of("'("));
      fault("bad-name", fmt::format("'{}' is not a name for a variable", entry.name()),
            fmt::format("the start value is written {} = 1.0, that of the derivative \"der({})\" = 0.0", base, base),
            declaration.place);
      poison(base);
      continue;
    }
    declaration.key = parse_name(entry.key);
    if (declaration.key == nullptr) {
      unknowns_complete_ = false;
      continue;
    }
    const KeySyntax& key = *declaration.key;
    const bool derivative = key.form == KeySyntax::Form::derivative;
    if (key.form == KeySyntax::Form::function) {
      const bool family = entry.value.is_table() && entry.value.find("for") != nullptr;
      fault("bad-name", fmt::format("'{}' is not a name for a variable", entry.name()),
            family ? fmt::format("an index stands in brackets: \"{}[{}]\"", key.base, fmt::join(key.arguments, ","))
                   : fmt::format("write {}; a start value of a derivative is \"der({})\"", key.base, key.base),
            declaration.place);
      poison(key.base);
      continue;
    }
    Entity* entity = derivative ? nullptr : elaborator_.find(key.base);
    const bool joins = entity != nullptr && entity->role == role && key.has_indices && !entity->expanded;
    if (!derivative && !joins) {
      entity = elaborator_.declare(role, key.base, declaration.place);
      if (entity == nullptr) {
        unknowns_complete_ = false;
        if (Entity* other = elaborator_.find(key.base)) other->faulty = true;  // nobody knows which of the two is meant
      }
    }
    const TomlValue* value = &entry.value;
    const std::string what = fmt::format("'{}'", entry.name());
    if (value->is_table()) {
      std::vector<std::string> known{"start", "fixed", "unit", "description", "for"};
      if (!derivative) known.insert(known.end(), {"nominal", "atol"});
      check_keys(*value, what, known);
      if (field(*value, "for") != nullptr) {
        declaration.loops = loops_of(*value);
        declaration.faulty = declaration.loops == nullptr;
      }
      value = field(*value, "start");
    } else if (value->is_array()) {
      fault("wrong-type", fmt::format("{} is one unknown with one start value, but an array was found", what),
            is_section(key.base)
                ? fmt::format("[{}] is a section: write it on a line of its own, and its entries below", key.base)
                : fmt::format("several unknowns are a family: \"{}[i]\" = {{ for = \"i in 1..{}\", start = ... }}", key.base,
                              value->items.size()),
            value->place);
      declaration.faulty = true;
      value = nullptr;
    }
    if (value != nullptr) declaration.quantity = quantity(*value, fmt::format("the start value of {}", what));
    if (derivative || entity != nullptr) out.push_back(declaration);
    if (entity == nullptr) continue;
    if (key.has_indices) entity->expanded = false;
    if (declaration.faulty) entity->faulty = true;
  }
}

void Reader::expand_unknowns(std::vector<Declaration>& entries, Role role, std::vector<Unknown>& out) {
  for (Declaration& entry : entries) {
    if (entry.key->form == KeySyntax::Form::derivative) continue;
    Entity* entity = elaborator_.find(entry.key->base);
    const auto spoil = [&] {
      entity->faulty = entry.faulty = true;
      unknowns_complete_ = false;
    };
    // A wrong start value does not hide the unknown itself.
    Declaration names = entry;
    names.quantity = {};
    if (!check(names, rules::start)) {
      spoil();
      continue;
    }
    Unknown pattern;
    pattern.place = entry.place;
    if (entry.value->is_table()) {
      const TomlValue& table = *entry.value;
      pattern.unit = label(table, "unit");
      pattern.description = label(table, "description");
      const auto positive = [&](std::string_view key) -> std::optional<double> {
        const TomlValue* value = field(table, key);
        if (value == nullptr) return std::nullopt;
        const std::optional<double> number = number_of(*value, fmt::format("'{}'", key));
        if (number && *number <= 0.0) {
          fault("out-of-range", fmt::format("'{}' must be positive; found {}", key, *number),
                fmt::format("write {}, or leave it out", key == "atol" ? "1e-8" : "1.0"), value->place);
          return std::nullopt;
        }
        return number;
      };
      pattern.nominal = positive("nominal").value_or(1.0);
      pattern.atol = positive("atol");
    }
    entity->expanded = true;
    const bool fine = members(entry, [&](const Member& member) {
      if (entry.key->has_indices) {
        const auto found = entity->members.find(member.indices);
        if (found != entity->members.end()) overlap(member.name, elaborator_.item(found->second).place, entry);
      }
      Item item;
      item.name = member.name;
      item.state = Item::State::done;
      item.expression = elaborator_.graph().symbol(member.name);
      item.place = entry.place;
      Unknown unknown = pattern;
      unknown.name = member.name;
      unknown.symbol = item.expression;
      const ItemId id = elaborator_.add(std::move(item));
      elaborator_.add_unknown(id);
      if (entry.key->has_indices) {
        entity->members.emplace(member.indices, id);
      } else {
        entity->scalar = true;
        entity->scalar_item = id;
      }
      unknown_of_name_.emplace(member.name, UnknownRecord{role, out.size()});
      out.push_back(std::move(unknown));
    });
    if (!fine) spoil();
  }
}

void Reader::add_starts(std::vector<Declaration>& entries, Role role) {
  for (Declaration& entry : entries) {
    const KeySyntax& key = *entry.key;
    Entity* entity = elaborator_.find(key.base);
    if (key.form == KeySyntax::Form::derivative) {
      if (entity == nullptr || entity->role != role) {
        std::vector<std::string> known;
        for (const Entity& other : elaborator_.entities())
          if (other.role == role) known.push_back(other.name);
        fault("unknown-name",
              fmt::format("there is no {} '{}' whose derivative could start",
                          role == Role::variable ? "variable" : "auxiliary unknown", key.base),
              suggest(key.base, known), entry.place);
        continue;
      }
      Declaration names = entry;
      names.quantity = {};
      if (entity->faulty || !check(names, rules::start)) continue;
    }
    if (entity == nullptr || entity->faulty || entry.faulty) continue;
    bool fixed = false;
    if (entry.value->is_table())
      if (const TomlValue* value = field(*entry.value, "fixed")) fixed = boolean_of(*value, "'fixed'").value_or(false);
    if (!entry.quantity.given && !fixed) continue;
    bool fine = !entry.quantity.faulty;
    if (fine && entry.quantity.given) {
      Declaration whole = entry;
      fine = check(whole, rules::start);
    }
    members(entry, [&](const Member& member) {
      add_start(member, entry.quantity, {key.order, fixed, fine}, entry.place);
    });
  }
}

void Reader::add_start(const Member& member, const Quantity& value, const StartOptions& options, const Place& place) {
  const auto found = unknown_of_name_.find(member.name);
  if (found == unknown_of_name_.end()) {
    const Entity* entity = elaborator_.find(member.name.substr(0, member.name.find('[')));
    if (entity != nullptr && entity->faulty) throw Poisoned{};
    std::vector<std::string> known;
    for (const auto& [name, record] : unknown_of_name_) known.push_back(name);
    std::sort(known.begin(), known.end());
    throw Error("no-such-member", fmt::format("there is no unknown '{}'", member.name), suggest(member.name, known),
                place);
  }
  const Unknown& unknown = unknown_at(found->second);
  const Expr symbol = elaborator_.rate(unknown.symbol, options.order);
  const std::string name = derivative_name(member.name, static_cast<std::size_t>(options.order));
  if (const std::optional<ItemId> earlier = elaborator_.start_of(symbol))
    throw Error("duplicate-name",
                fmt::format("the start of '{}' is given twice: here and in line {}", name,
                            elaborator_.item(*earlier).place.line),
                "der(x), der(x,1) and x' are the same: remove one", place);
  Item item;
  item.kind = Item::Kind::start;
  item.name = name;
  item.tree = value.tree;
  item.value = value.number;
  item.scope = member.scope;
  item.place = value.given ? value.place : place;
  item.state = !options.fine ? Item::State::faulty : value.tree == nullptr ? Item::State::done : Item::State::idle;
  const ItemId id = elaborator_.add(std::move(item));
  elaborator_.set_start(symbol, id);
  starts_.push_back({found->second, options.order, id, value.given, options.fixed});
}

void Reader::resolve_starts() {
  for (const StartRecord& record : starts_) {
    if (!elaborator_.resolve(record.item)) continue;
    const Item& item = elaborator_.item(record.item);
    Unknown& unknown = unknown_at(record.unknown);
    const auto order = static_cast<std::size_t>(record.order);
    if (unknown.start.size() <= order) unknown.start.resize(order + 1);
    unknown.start[order] = {item.value, record.given, record.fixed, item.place};
  }
}

Unknown& Reader::unknown_at(const UnknownRecord& record) {
  return record.role == Role::variable ? model_.variables[record.position] : model_.auxiliary[record.position];
}

}  // namespace daedalus::model
