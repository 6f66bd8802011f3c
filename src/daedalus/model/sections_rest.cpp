#include <fmt/format.h>

#include <algorithm>

#include "daedalus/expr/walk.hpp"
#include "daedalus/model/reader_guard.hpp"
#include "daedalus/model/reader_state.hpp"
#include "daedalus/model/rules.hpp"

namespace daedalus::model {

namespace {

constexpr double smallest_rtol = 1e-15;  ///< a few units in the last place of a double

}  // namespace

void Reader::read_simulation() {
  if (const TomlValue* table = section("simulation")) {
    check_keys(*table, "[simulation]", {"t_start", "t_end", "rtol", "atol", "formulation", "method", "initialize"});
    const auto number = [&](std::string_view key, std::optional<double>& out) {
      if (const TomlValue* value = field(*table, key)) out = number_of(*value, fmt::format("'{}'", key));
    };
    const auto text = [&](std::string_view key, std::optional<std::string>& out) {
      const TomlValue* value = field(*table, key);
      if (value == nullptr) return;
      const std::string given = text_of(*value, fmt::format("'{}'", key),
                                        key == "initialize" ? "write \"project\", \"check\" or \"off\""
                                        : key == "method"   ? "write for example \"dop853\"; `daedalus methods` lists all"
                                                            : "write for example \"projection\"; `daedalus formulations` lists all");
      if (!given.empty()) out = given;
    };
    number("t_start", model_.simulation.t_start);
    number("t_end", model_.simulation.t_end);
    number("rtol", model_.simulation.rtol);
    number("atol", model_.simulation.atol);
    for (const auto& [key, value] :
         {std::pair("rtol", model_.simulation.rtol), std::pair("atol", model_.simulation.atol)})
      if (value && *value <= 0.0)
        fault("out-of-range", fmt::format("'{}' must be positive; found {}", key, *value),
              fmt::format("write {}", key == std::string_view("atol") ? "1e-8" : "1e-6"),
              field(*table, key)->place);
    const std::optional<double>&rtol = model_.simulation.rtol, &t_end = model_.simulation.t_end;
    if (rtol && *rtol > 0.0 && !(*rtol < 1.0 && *rtol >= smallest_rtol))
      fault("out-of-range", fmt::format("'rtol' must be less than 1 and at least {}; found {}", smallest_rtol, *rtol),
            "write 1e-6", field(*table, "rtol")->place);
    const double t_start = overrides_.t_start.value_or(model_.simulation.t_start.value_or(0.0));
    if (t_end && *t_end < t_start && !overrides_.t_start)
      fault("out-of-range", fmt::format("'t_end' = {} is before t_start = {}", *t_end, t_start),
            "time runs forwards: give a later t_end", field(*table, "t_end")->place);
    for (const std::string_view key : {"t_start", "t_end", "rtol", "atol", "formulation", "method", "initialize"})
      if (const TomlValue* value = field(*table, key)) model_.places.emplace("simulation." + std::string(key), value->place);
    text("formulation", model_.simulation.formulation);
    text("method", model_.simulation.method);
    text("initialize", model_.simulation.initialize);
    const std::vector<std::string> ways{"project", "check", "off"};
    const std::optional<std::string>& initialize = model_.simulation.initialize;
    if (initialize && std::find(ways.begin(), ways.end(), *initialize) == ways.end())
      fault("unknown-word", fmt::format("'{}' is not a way to initialize", *initialize),
            "write \"project\", \"check\" or \"off\"", field(*table, "initialize")->place);
  }
  elaborator_.set_t_start(overrides_.t_start.value_or(model_.simulation.t_start.value_or(0.0)));
}

void Reader::read_events() {
  if (const TomlValue* table = section("events"))
    for (const TomlEntry& entry : table->entries) read_event(entry);
}

void Reader::read_event(const TomlEntry& entry) {
  const Place place = entry.key.place();
  const std::vector<std::string> known{"when", "every", "direction", "reset", "stop"};
  if (std::find(known.begin(), known.end(), entry.name()) != known.end()) {
    fault("wrong-type", fmt::format("'{}' belongs to an event, which has a name", entry.name()),
          "write name = { when = \"x\", stop = true }, or [events.name] with one key per line", place);
    return;
  }
  if (!entry.value.is_table()) {
    fault("wrong-type", fmt::format("the event '{}' is written {{ when = \"...\", reset = {{ ... }} }}", entry.name()),
          "write for example { when = \"x\", stop = true }", entry.value.place);
    return;
  }
  const TomlValue& table = entry.value;
  check_keys(table, fmt::format("the event '{}'", entry.name()), known);
  if (field(table, "for") != nullptr) return;  // reported; its index would be reported again as unknown
  Event event;
  event.name = entry.name();
  event.place = place;
  const TomlValue *when = field(table, "when"), *every = field(table, "every"), *direction = field(table, "direction");
  if ((when == nullptr) == (every == nullptr))
    fault(when == nullptr ? "missing-key" : "both-times",
          fmt::format("the event '{}' needs {}'when' or 'every'", entry.name(), when == nullptr ? "" : "either "),
          "write when = \"y\", or every = 0.1", place);
  if (when != nullptr && !equation_as_condition(*when)) {
    const Quantity read = quantity(*when, "'when'");
    if (read.tree == nullptr && !read.faulty)
      fault("wrong-type", "'when' is an expression that crosses zero or a condition; a number never does",
            "write when = \"y\" or when = \"y < 0\"", when->place);
    else if (check(read, rules::event)) {
      guarded([&] {
        const Value value = elaborator_.value(*read.tree, read.tree->left());
        event.when = value.expression;
        event.when_is_condition = value.condition;
        check_when(*when, *event.when);
      });
    }
  }
  if (every != nullptr) {
    if (const std::optional<double> period = number_of(*every, "'every'")) {
      if (*period <= 0.0)
        fault("out-of-range", fmt::format("'every' must be positive; found {}", *period), "write every = 0.1",
              every->place);
      const Quantity read = quantity(*every, "'every'");
      guarded([&] { event.every = elaborate(read, Scope{}); });
    }
  }
  if (direction != nullptr) {
    event.direction = text_of(*direction, "'direction'", "write \"up\", \"down\" or \"both\"");
    if (!event.direction.empty() && event.direction != "up" && event.direction != "down" && event.direction != "both")
      fault("unknown-word", fmt::format("'{}' is not a direction", event.direction),
            "write \"up\", \"down\" or \"both\"", direction->place);
    else if (every != nullptr || event.when_is_condition)
      fault("not-allowed-here", "'direction' belongs to an expression that crosses zero",
            every != nullptr ? "remove it" : "a condition acts when it becomes true: remove 'direction'",
            direction->place);
  }
  if (const TomlValue* stop = field(table, "stop")) event.stop = boolean_of(*stop, "'stop'").value_or(false);
  if (const TomlEntry* reset = table.find("reset")) {
    if (reset->value.is_table())
      read_resets(reset->value, event);
    else
      fault("wrong-type", fmt::format("'reset' is a table, but {} was found", kind_name(reset->value)),
            "write reset = { x = \"0\" }", reset->value.place);
  }
  model_.events.push_back(std::move(event));
}

/// Answers `when = "x = 3"`.
bool Reader::equation_as_condition(const TomlValue& when) {
  if (!when.is_text() || when.text.text().find('=') == std::string::npos) return false;
  try {
    const SyntaxTree tree = parse_equation(when.text);
    if (!tree.has_right()) return false;
    const std::string_view left = tree.text(tree[tree.left()]), right = tree.text(tree[tree.right()]);
    fault("unexpected-equals", "'when' is an expression that crosses zero or a condition, not an equation",
          right == "0" ? fmt::format("write when = \"{}\", which crosses zero there", left)
                       : fmt::format("write the difference, which crosses zero there: when = \"{} - {}\"", left,
                                     tree[tree.right()].child_count == 0 ? std::string(right) : fmt::format("({})", right)),
          when.place);
    return true;
  } catch (const Error&) {
    return false;  // the fault of the expression is told where it is read
  }
}

/// Answers what never happens: a value that does not change, and equalities, which hold for a moment between two steps.
void Reader::check_when(const TomlValue& when, const Expr& value) {
  bool changes = false, moves = false;
  const NodeId root[] = {value.id()};
  expr::Walk walk;
  for (const NodeId id : walk.from(value.graph(), root)) {
    if (value.graph().node(id).op != expr::Op::symbol) continue;
    const auto is = [&](const Parameter& one) { return one.symbol.id() == id; };
    const bool parameter = std::ranges::any_of(model_.parameters, is), discrete = std::ranges::any_of(model_.discrete, is);
    changes = changes || !parameter;
    moves = moves || (!parameter && !discrete);
  }
  const expr::Node& top = value.graph().node(value.id());
  if (!changes)
    throw Error("wrong-type", fmt::format("'when' is an expression that crosses zero or a condition; '{}' never changes", when.text.text()),
                "write when = \"y\" or when = \"y < 0\"", when.place);
  if (top.op == expr::Op::equal && moves)
    throw Error("unexpected-equals", fmt::format("'{}' holds for a moment only, which no step meets", when.text.text()),
                "write an expression that crosses zero there, such as the difference of the two sides", when.place);
}

void Reader::read_resets(const TomlValue& value, Event& event) {
  for (const TomlEntry& entry : value.entries) {
    const Place place = entry.key.place();
    const KeySyntax* key = parse_name(entry.key);
    if (key == nullptr) continue;
    const Entity* entity = elaborator_.find(key->base);
    if (entity != nullptr && entity->faulty) continue;
    const bool unknown = entity != nullptr && (entity->role == Role::variable || entity->role == Role::auxiliary);
    const bool discrete = entity != nullptr && entity->role == Role::discrete && key->form == KeySyntax::Form::plain;
    if (key->form == KeySyntax::Form::function || (!unknown && !discrete)) {
      std::vector<std::string> known;
      for (const Entity& other : elaborator_.entities())
        if (other.role == Role::variable || other.role == Role::auxiliary || other.role == Role::discrete)
          known.push_back(other.name);
      if (is_mechanics())
        for (const Entity& other : elaborator_.entities())
          if (other.role == Role::variable) known.push_back(fmt::format("der({})", other.name));
      if (entity != nullptr)
        fault("not-allowed-here", fmt::format("'{}' is {} and cannot be reset", entry.name(), name_of(entity->role)),
              entity->role == Role::parameter ? "values that events change stand in [discrete]"
                                              : "events reset variables, their derivatives and discrete values",
              place);
      else
        fault("unknown-name", fmt::format("there is no '{}' that could be reset", entry.name()),
              suggest(entry.name(), known), place);
      continue;
    }
    if (is_mechanics() && key->order > (entity->role == Role::variable ? 1 : 0)) {
      fault("not-allowed-here", fmt::format("'{}' follows from the equations and cannot be reset", entry.name()),
            "events reset positions, velocities, auxiliary unknowns and discrete values", place);
      continue;
    }
    Declaration declaration;
    declaration.key = key;
    declaration.place = place;
    declaration.quantity = quantity(entry.value, fmt::format("the new value of '{}'", entry.name()));
    if (!check(declaration, rules::event)) continue;
    members(declaration, [&](const Member& member) {
      if (unknown && !unknown_of_name_.contains(member.name))
        throw Error("no-such-member", fmt::format("there is no '{}' that could be reset", member.name),
                    entity->members.empty()
                        ? ""
                        : fmt::format("there are {} to {}", member_name(key->base, entity->members.begin()->first),
                                      member_name(key->base, entity->members.rbegin()->first)),
                    place);
      const std::string name = derivative_name(member.name, static_cast<std::size_t>(key->order));
      for (const auto& [other, expression] : event.reset)
        if (other == name)
          throw Error("duplicate-name", fmt::format("'{}' is reset twice by the event '{}'", name, event.name),
                      "der(x) and x' are the same: remove one", place);
      event.reset.emplace_back(name, elaborate(declaration.quantity, member.scope));
    });
  }
}

void Reader::read_plots() {
  const TomlValue* plots = section("plots");
  if (plots == nullptr) return;
  for (const TomlEntry& entry : plots->entries) {
    const Place place = entry.key.place();
    if (!entry.value.is_table()) {
      fault("wrong-type", fmt::format("the plot '{}' is written {{ x = \"t\", y = [\"x\"] }}", entry.name()),
            "put it in braces, with 'y' at least", entry.value.place);
      continue;
    }
    check_keys(entry.value, fmt::format("the plot '{}'", entry.name()), {"x", "y"});
    Plot plot;
    plot.name = entry.name();
    plot.place = place;
    plot.x_value = elaborator_.time();
    if (const TomlValue* x = field(entry.value, "x"))
      if (!read_plot_column(*x, plot.x, plot.x_value)) continue;
    const TomlValue* y = field(entry.value, "y");
    if (y == nullptr) {
      fault("missing-key", fmt::format("the plot '{}' has no 'y'", entry.name()), "write y = [\"x\", \"der(x)\"]",
            place);
      continue;
    }
    const std::vector<TomlValue> one = y->is_array() ? y->items : std::vector{*y};
    for (const TomlValue& item : one) {
      std::string name;
      Expr shown;
      if (!read_plot_column(item, name, shown)) continue;
      plot.y.push_back(name);
      plot.y_values.push_back(shown);
    }
    model_.plots.push_back(std::move(plot));
  }
}

bool Reader::read_plot_column(const TomlValue& value, std::string& name, Expr& shown) {
  if (!value.is_text()) {
    fault("wrong-type", fmt::format("a plot shows columns named in quotes, but {} was found", kind_name(value)),
          "write \"der(x)\"", value.place);
    return false;
  }
  const std::string& text = value.text.text();
  // Columns that only a run knows.
  const bool residual = text.find("residual.") != std::string::npos;
  if (residual || (text == "energy" && elaborator_.find("energy") == nullptr)) {
    name = text;
    shown = Expr{};
    return true;
  }
  const Quantity read = quantity(value, "a column");
  if (!check(read, rules::output)) return false;
  return guarded([&] {
    shown = elaborate(read, Scope{});
    const Syntax& root = (*read.tree)[read.tree->left()];
    const Syntax* inner = &root;
    if (root.kind == SyntaxKind::prime) inner = &(*read.tree)[read.tree->children(root)[0]];
    const Entity* entity = inner->kind == SyntaxKind::name ? elaborator_.find(read.tree->name(*inner)) : nullptr;
    const bool output = entity != nullptr && entity->role != Role::variable && entity->role != Role::auxiliary;
    name = shown.is_symbol() && !output ? shown.name() : std::string(read.tree->text(root));
  });
}

}  // namespace daedalus::model
