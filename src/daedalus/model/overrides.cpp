#include <fmt/format.h>

#include "daedalus/model/reader_guard.hpp"
#include "daedalus/model/reader_state.hpp"
#include "daedalus/model/rules.hpp"

namespace daedalus::model {

void Reader::read_overrides() {
  for (const auto& [name, value] : overrides_.set) read_override("--set", name, value);
  for (const auto& [name, value] : overrides_.fix) read_override("--fix", name, value);
}

/// Decides what an option means; it is applied where the thing it names gets its value.
void Reader::read_override(const std::string& option, const std::string& name, const std::string& value) {
  const auto map =
      std::make_shared<const SourceMap>(std::make_shared<const SourceText>(SourceText{option, name + "=" + value}));
  Override change;
  change.option = option;
  const Passage key_text(map, name, 0), value_text(map, value, name.size() + 1);
  change.place = key_text.place();
  change.key = parse_name(key_text);
  change.quantity.given = true;
  change.quantity.place = value_text.place();
  change.quantity.tree = parse(value_text);
  change.quantity.faulty = change.quantity.tree == nullptr;
  if (change.key == nullptr) return;
  const Entity* entity = elaborator_.find(change.key->base);
  const Role role = entity != nullptr ? entity->role : Role::function;
  const bool start = role == Role::variable || role == Role::auxiliary;
  const bool value_of =
      option == "--set" && (role == Role::parameter || role == Role::input || role == Role::discrete) &&
      change.key->form != KeySyntax::Form::derivative && change.key->form != KeySyntax::Form::function;
  if (!start && !value_of) {
    std::vector<std::string> known;
    for (const Entity& other : elaborator_.entities()) {
      const bool settable = option == "--set" && (other.role == Role::parameter || other.role == Role::input ||
                                                  other.role == Role::discrete);
      if (settable || other.role == Role::variable || other.role == Role::auxiliary) known.push_back(other.name);
    }
    if (entity == nullptr)
      fault("unknown-name", fmt::format("the model has no '{}'", change.key->base), suggest(change.key->base, known),
            change.place);
    else
      fault("not-allowed-here", fmt::format("'{}' is {}, which {} cannot change", name, name_of(role), option),
            option == "--fix" ? "--fix binds start values of variables; for parameters use --set"
                              : "--set changes parameters, inputs, discrete values and start values",
            change.place);
    return;
  }
  if (start) {
    start_overrides_.push_back(std::move(change));
  } else if (role == Role::parameter) {
    // Elements of arrays are named by numbers: k[1], K[1,2].
    Indices at;
    bool plain = true;
    for (const SyntaxId index : change.key->indices) {
      const Syntax& node = change.key->tree[index];
      plain = plain && node.kind == SyntaxKind::number;
      at.push_back(static_cast<std::int64_t>(node.value));
    }
    if (!plain) {
      fault("index-not-whole", fmt::format("the index in '{}' must be a number", name), "write k[1]=2.5", change.place);
      return;
    }
    parameter_overrides_[at.empty() ? change.key->base : member_name(change.key->base, at)] = std::move(change);
  } else {
    quantity_overrides_[change.key->base] = std::move(change);
  }
}

/// Before anything that uses them was elaborated.
void Reader::perturb_inputs() {
  if (overrides_.perturbed.empty()) return;
  expr::Graph& graph = elaborator_.graph();
  const auto parameter = [&](const std::string& name) {
    const Expr symbol = graph.symbol(name);
    model_.parameters.push_back({name, symbol, 0.0, {}, {}, {}});
    return symbol;
  };
  const Expr after = elaborator_.time() - parameter("deviation.time");
  for (const std::string& name : overrides_.perturbed) {
    const Entity* entity = elaborator_.find(name);
    if (entity == nullptr || entity->role != Role::input || !entity->scalar || !elaborator_.resolve(entity->scalar_item)) continue;
    Item& item = elaborator_.item(entity->scalar_item);
    const std::string deviation = "deviation." + name;
    item.expression = item.expression + parameter(deviation) + parameter(derivative_name(deviation, 1)) * after +
                      parameter(derivative_name(deviation, 2)) * after * after / 2.0;
  }
}

void Reader::apply_start_overrides() {
  for (const Override& change : start_overrides_) {
    Declaration declaration;
    declaration.key = change.key;
    declaration.place = change.place;
    declaration.quantity = change.quantity;
    Entity* entity = elaborator_.find(change.key->base);
    if (entity == nullptr || entity->faulty || !check(declaration, rules::start)) continue;
    const bool fixes = change.option == "--fix";
    members(declaration, [&](const Member& member) {
      const auto found = unknown_of_name_.find(member.name);
      if (found == unknown_of_name_.end()) {
        const std::string first =
            entity->members.empty() ? entity->name : member_name(entity->name, entity->members.begin()->first);
        throw Error("no-such-member", fmt::format("the model has no unknown '{}'", member.name),
                    entity->members.size() > 1 ? fmt::format("there are {} to {}", first,
                                                             member_name(entity->name, entity->members.rbegin()->first))
                                               : fmt::format("there is only {}", first),
                    change.place);
      }
      const Expr symbol = elaborator_.rate(unknown_at(found->second).symbol, change.key->order);
      if (const std::optional<ItemId> earlier = elaborator_.start_of(symbol)) {
        Item& item = elaborator_.item(*earlier);
        item.tree = change.quantity.tree;
        item.scope = member.scope;
        item.place = change.quantity.place;
        item.state = Item::State::idle;
        for (StartRecord& record : starts_) {
          if (record.item != *earlier) continue;
          record.given = true;
          record.fixed = record.fixed || fixes;
        }
      } else {
        add_start(member, change.quantity, {change.key->order, fixes, true}, change.place);
      }
    });
  }
}

}  // namespace daedalus::model
