#include <fmt/format.h>

#include <algorithm>

#include "daedalus/model/reader_guard.hpp"
#include "daedalus/model/reader_state.hpp"
#include "daedalus/model/rules.hpp"

namespace daedalus::model {

void Reader::read_drawing() {
  const TomlValue* table = section("drawing");
  if (table == nullptr) return;
  check_keys(*table, "[drawing]", {"points", "lines", "trails"});
  if (const TomlEntry* points = table->find("points")) {
    model_.places["drawing"] = points->key.place();
    if (const TomlValue* given = table_of(*points, "[drawing.points]")) read_points(*given);
  }
  if (const TomlValue* lines = field(*table, "lines")) read_lines(*lines);
  if (const TomlValue* trails = field(*table, "trails")) read_trails(*trails);
}

void Reader::read_points(const TomlValue& table) {
  for (const TomlEntry& entry : table.entries) {
    Declaration declaration;
    declaration.place = entry.key.place();
    declaration.key = parse_name(entry.key);
    if (declaration.key == nullptr) continue;
    const KeySyntax& key = *declaration.key;
    faulty_points_.insert(key.base);
    if (key.form != KeySyntax::Form::plain && key.form != KeySyntax::Form::indexed) {
      fault("bad-name", fmt::format("'{}' is not a name for a point", entry.name()), "write bob = [\"x\", \"y\"]",
            declaration.place);
      continue;
    }
    const TomlValue* value = &entry.value;
    if (value->is_table()) {
      check_keys(*value, fmt::format("the point '{}'", entry.name()), {"for", "at"});
      if (field(*value, "for") != nullptr) {
        declaration.loops = loops_of(*value);
        if (declaration.loops == nullptr) continue;
      }
      value = field(*value, "at");
    }
    if (value == nullptr || !value->is_array() || value->items.size() < 2 || value->items.size() > 3) {
      fault("wrong-size", fmt::format("the point '{}' needs 2 or 3 coordinates", entry.name()),
            "write [\"x\", \"y\"], in a family at = [\"x[i]\", \"y[i]\"]",
            value == nullptr ? declaration.place : value->place);
      continue;
    }
    std::vector<Quantity> coordinates;
    bool fine = true;
    for (const TomlValue& item : value->items) {
      coordinates.push_back(quantity(item, "a coordinate"));
      Declaration one = declaration;
      one.quantity = coordinates.back();
      fine = check(one, rules::drawing) && fine;
    }
    if (!fine) continue;
    fine = members(declaration, [&](const Member& member) {
      if (!points_[key.base].insert(member.indices).second)
        throw Error("overlap", fmt::format("the point '{}' is given twice", member.name),
                    "let the families not overlap", declaration.place);
      std::vector<Expr> at;
      for (const Quantity& coordinate : coordinates) at.push_back(elaborate(coordinate, member.scope));
      model_.drawing.points.emplace_back(member.name, std::move(at));
    });
    if (fine) faulty_points_.erase(key.base);
  }
}

/// Reads ["pivot", "p[i]"] for given loop indices and checks that the points exist.
bool Reader::point_names(const TomlValue& value, const Scope& scope, std::vector<std::string>& out) {
  if (!value.is_text()) {
    fault("wrong-type", fmt::format("a point is named in quotes, but {} was found", kind_name(value)), "write \"bob\"",
          value.place);
    return false;
  }
  const KeySyntax* key = parse_point(value);
  if (key == nullptr || faulty_points_.contains(key->base)) return false;
  return guarded([&] {
    const Indices at = elaborator_.indices(key->tree, key->indices, scope);
    const std::string name = key->has_indices ? member_name(key->base, at) : key->base;
    const auto found = points_.find(key->base);
    if (found == points_.end() || !found->second.contains(at)) {
      std::vector<std::string> known;
      for (const auto& [base, members] : points_)
        known.push_back(members.size() == 1 && members.begin()->empty() ? base : member_name(base, *members.begin()));
      std::sort(known.begin(), known.end());
      throw Error("unknown-name", fmt::format("there is no point '{}' in [drawing.points]", name), suggest(name, known),
                  value.place);
    }
    out.push_back(name);
  });
}

/// Points are named again for every member of a family of lines: each text is parsed once.
const KeySyntax* Reader::parse_point(const TomlValue& value) {
  const auto [found, fresh] = point_keys_.try_emplace(&value, nullptr);
  if (fresh) found->second = parse_name(value.text);
  return found->second;
}

void Reader::read_lines(const TomlValue& value) {
  if (!value.is_array()) {
    fault("wrong-type", fmt::format("'lines' is an array of lines, but {} was found", kind_name(value)),
          "write lines = [[\"pivot\", \"bob\"]]", value.place);
    return;
  }
  for (const TomlValue& item : value.items) {
    const auto one = [&](const TomlValue& points, const Scope& scope) {
      std::vector<std::string> line;
      bool fine = true;
      for (const TomlValue& point : points.items) fine = fine && point_names(point, scope, line);
      if (!fine) throw Poisoned{};
      if (line.size() < 2)
        throw Error("wrong-size", "a line needs at least two points", "write [\"pivot\", \"bob\"]", points.place);
      model_.drawing.lines.push_back(std::move(line));
    };
    guarded([&] { for_points(item, "lines", one); });
  }
}

void Reader::read_trails(const TomlValue& value) {
  if (!value.is_array()) {
    fault("wrong-type", fmt::format("'trails' is an array of points, but {} was found", kind_name(value)),
          "write trails = [\"bob\"]", value.place);
    return;
  }
  for (const TomlValue& item : value.items) {
    const auto one = [&](const TomlValue& points, const Scope& scope) {
      for (const TomlValue& point : points.items)
        if (!point_names(point, scope, model_.drawing.trails)) throw Poisoned{};
    };
    if (item.is_text())
      point_names(item, Scope{}, model_.drawing.trails);
    else
      guarded([&] { for_points(item, "trails", one); });
  }
}

/// Visits a list of points, or a family { for, points } of them.
void Reader::for_points(const TomlValue& item, std::string_view what,
                        const std::function<void(const TomlValue&, const Scope&)>& visit) {
  if (item.is_array()) return visit(item, Scope{});
  const TomlValue* points = item.is_table() ? field(item, "points") : nullptr;
  if (points == nullptr || !points->is_array())
    throw Error("wrong-type",
                fmt::format("an entry of '{}' is a list of points or {{ for = \"...\", points = [...] }}", what),
                "write [\"pivot\", \"bob\"]", item.place);
  check_keys(item, fmt::format("an entry of '{}'", what), {"for", "points"});
  if (field(item, "for") == nullptr) return visit(*points, Scope{});
  const LoopsSyntax* loops = loops_of(item);
  static const Rules bounds{.where = "a bound", .advice = "use whole numbers and parameters", .parameters_only = true};
  NameCheck names(elaborator_, bounds, [this](const Error& error) { report(error); });
  if (loops == nullptr || !names.loops(*loops)) throw Poisoned{};
  elaborator_.iterate(*loops, [&](const Scope& scope) { visit(*points, scope); });
}

}  // namespace daedalus::model
