#include <fmt/format.h>

#include <algorithm>

#include "daedalus/model/reader_guard.hpp"
#include "daedalus/model/reader_state.hpp"
#include "daedalus/model/rules.hpp"

namespace daedalus::model {

/// Gives false after a fault that hides an equation.
bool Reader::declare_equations(std::string_view name, std::vector<Declaration>& out) {
  const TomlValue* table = section(name);
  if (table == nullptr) return find(file_, name) == nullptr;
  bool complete = true;
  for (const TomlEntry& entry : table->entries) {
    Declaration declaration;
    declaration.place = entry.key.place();
    declaration.value = &entry.value;
    const bool bracket = entry.name().find('[') != std::string::npos;
    if (is_name(entry.name()) || bracket || name == "constraints") {
      declaration.key = parse_name(entry.key);
      const bool wrong = declaration.key != nullptr && declaration.key->form != KeySyntax::Form::plain &&
                         declaration.key->form != KeySyntax::Form::indexed;
      if (wrong) {
        fault("bad-name", fmt::format("'{}' is not a name for an entry of [{}]", entry.name(), name),
              fmt::format("write name = \"{} = ...\"", entry.name()), declaration.place);
      }
      if (wrong || declaration.key == nullptr) {
        complete = false;
        continue;
      }
    } else if (entry.name().find_first_of("()'^*+/=") != std::string::npos) {
      // A left side as the key would leave an equation that says something else.
      fault("bad-name", fmt::format("'{}' is not a name for an entry of [{}]", entry.name(), name),
            entry.value.is_text()
                ? fmt::format("write name = \"{} = {}\"", entry.name(), entry.value.text.text())
                : fmt::format("write name = \"{} = ...\"", entry.name()),
            declaration.place);
      complete = false;
      continue;
    } else {
      // Equations are never named in expressions: what stands there is a label.
      KeySyntax label;
      label.base = entry.name();
      declaration.key = &keys_.emplace_back(std::move(label));
    }
    const TomlValue* value = &entry.value;
    const std::string what = fmt::format("'{}'", entry.name());
    if (value->is_table()) {
      check_keys(*value, what, {"equation", "for", "description", "value"});
      label(*value, "description");
      if (field(*value, "for") != nullptr) {
        declaration.loops = loops_of(*value);
        declaration.faulty = declaration.loops == nullptr;
      }
      const TomlValue* given = field(*value, "equation");
      value = given != nullptr ? given : field(*value, "value");
      if (value == nullptr) {
        fault("missing-key", fmt::format("{} has no equation", what), "write { equation = \"a = b\" }",
              declaration.place);
        declaration.faulty = true;
      }
    }
    if (value != nullptr) declaration.quantity = equation(*value, what);
    if (declaration.quantity.faulty) declaration.faulty = true;
    out.push_back(declaration);
  }
  return complete;
}

bool Reader::expand_equations(std::vector<Declaration>& entries, const Rules& rules, std::vector<Equation>& out) {
  std::unordered_map<std::string, Place> places;
  bool complete = true;
  for (Declaration& entry : entries) {
    if (entry.faulty || !check(entry, rules)) {
      complete = false;
      continue;
    }
    const SyntaxTree& tree = *entry.quantity.tree;
    const bool fine = members(entry, [&](const Member& member) {
      const auto [found, fresh] = places.try_emplace(member.name, entry.place);
      if (!fresh) overlap(member.name, found->second, entry);
      Equation equation;
      equation.name = member.name;
      equation.place = entry.place;
      equation.left = elaborator_.number(tree, tree.left(), member.scope);
      equation.right =
          tree.has_right() ? elaborator_.number(tree, tree.right(), member.scope) : elaborator_.graph().constant(0.0);
      equation.residual = equation.left - equation.right;
      out.push_back(std::move(equation));
    });
    complete = complete && fine;
  }
  return complete;
}

/// Makes lambda.rod known before anything that may use it is elaborated.
void Reader::expand_constraint_names() {
  for (Declaration& entry : constraints_) {
    Declaration names = entry;
    names.quantity = {};
    names.faulty = false;
    const bool readable =
        (entry.loops != nullptr || !entry.value->is_table() || field(*entry.value, "for") == nullptr) &&
        check(names, rules::constraint);
    const bool fine = readable && members(names, [&](const Member& member) {
                        elaborator_.add_constraint(entry.key->base, member.name);
                      });
    if (!fine) elaborator_.poison_constraint(entry.key->base);
  }
  if (!is_mechanics()) return;
  std::unordered_set<std::string> coordinates;
  for (const Unknown& variable : model_.variables) coordinates.insert(variable.name);
  elaborator_.set_coordinates(std::move(coordinates));
}

void Reader::read_constraints() {
  expand_equations(constraints_, rules::constraint, model_.constraints);
  for (const Equation& constraint : model_.constraints)
    model_.multipliers.push_back(elaborator_.graph().symbol("lambda." + constraint.name));
}

}  // namespace daedalus::model
