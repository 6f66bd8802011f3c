#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/base/text.hpp"
#include "daedalus/model/reader_guard.hpp"
#include "daedalus/model/reader_state.hpp"
#include "daedalus/model/rules.hpp"

namespace daedalus::model {

namespace {

const std::vector<std::string>& linear_keys() {
  static const std::vector<std::string> keys{"E", "A", "f", "B", "C", "D"};
  return keys;
}

std::string entries(std::size_t n) { return n == 1 ? "1 entry" : fmt::format("{} entries", n); }

}  // namespace

void Reader::read_lagrangian() {
  const TomlEntry* entry = find(file_, "lagrangian");
  if (entry == nullptr) {
    fault("missing-section", "a model of kind \"lagrangian\" needs the section [lagrangian]",
          "write [lagrangian] with kinetic = \"...\" and potential = \"...\"", kind_place_);
    return;
  }
  const TomlValue* table = section("lagrangian");
  if (table == nullptr) return;
  check_keys(*table, "[lagrangian]", {"kinetic", "potential", "lagrangian", "dissipation", "forces"});
  const auto energy = [&](std::string_view key, const Rules& rules, std::optional<Expr>& out) {
    const TomlValue* value = field(*table, key);
    if (value == nullptr) return;
    model_.places[std::string(key)] = value->place;
    const Quantity read = quantity(*value, fmt::format("'{}'", key));
    if (check(read, rules)) guarded([&] { out = elaborate(read, Scope{}); });
  };
  energy("kinetic", rules::kinetic, model_.kinetic);
  energy("potential", rules::potential, model_.potential);
  energy("lagrangian", rules::lagrangian, model_.lagrangian);
  energy("dissipation", rules::dissipation, model_.dissipation);
  const bool whole = find(*table, "lagrangian") != nullptr, kinetic = find(*table, "kinetic") != nullptr,
             potential = find(*table, "potential") != nullptr;
  if (whole && (kinetic || potential)) {
    fault("both-energies", "[lagrangian] gives the Lagrangian and energies",
          "give lagrangian = \"...\", or kinetic and potential, not both", find(*table, "lagrangian")->key.place());
  } else if (!whole && !kinetic) {
    fault("missing-key", "[lagrangian] has no kinetic energy",
          "write kinetic = \"m/2*der(x)^2\", or lagrangian = \"...\"", entry->key.place());
  }
  if (model_.kinetic && !model_.potential && !potential) model_.potential = elaborator_.graph().constant(0.0);
  if (const TomlEntry* forces = find(*table, "forces"))
    if (const TomlValue* given = table_of(*forces, "[lagrangian.forces]")) read_forces(*given);
}

void Reader::read_forces(const TomlValue& table) {
  std::unordered_map<std::string, Place> places;
  for (const TomlEntry& entry : table.entries) {
    Declaration declaration;
    declaration.place = entry.key.place();
    declaration.key = parse_name(entry.key);
    declaration.value = &entry.value;
    if (declaration.key == nullptr) continue;
    const std::string& base = declaration.key->base;
    const Entity* entity = elaborator_.find(base);
    const bool form =
        declaration.key->form == KeySyntax::Form::plain || declaration.key->form == KeySyntax::Form::indexed;
    if (!form || entity == nullptr || entity->role != Role::variable) {
      std::vector<std::string> known;
      for (const Entity& other : elaborator_.entities())
        if (other.role == Role::variable) known.push_back(other.name);
      fault("unknown-name", fmt::format("there is no coordinate '{}' on which a force could act", entry.name()),
            entity != nullptr && entity->role == Role::auxiliary
                ? fmt::format("'{}' is an auxiliary unknown: it has an equation, not a force", base)
                : suggest(base, known),
            declaration.place);
      continue;
    }
    const TomlValue* value = &entry.value;
    if (value->is_table()) {
      check_keys(*value, fmt::format("the force on '{}'", entry.name()),
                 {"value", "for", "unit", "description", "force"});
      if (field(*value, "for") != nullptr) {
        declaration.loops = loops_of(*value);
        if (declaration.loops == nullptr) continue;
      }
      const TomlValue* given = field(*value, "value");
      value = given != nullptr ? given : field(*value, "force");
      if (value == nullptr) {
        fault("missing-key", fmt::format("the force on '{}' has no value", entry.name()), "write { value = \"...\" }",
              declaration.place);
        continue;
      }
    }
    declaration.quantity = quantity(*value, fmt::format("the force on '{}'", entry.name()));
    if (entity->faulty || !check(declaration, rules::force)) continue;
    members(declaration, [&](const Member& member) {
      if (!unknown_of_name_.contains(member.name))
        throw Error("no-such-member",
                    fmt::format("there is no coordinate '{}' on which a force could act", member.name),
                    entity->members.empty()
                        ? ""
                        : fmt::format("there are {} to {}", member_name(base, entity->members.begin()->first),
                                      member_name(base, entity->members.rbegin()->first)),
                    declaration.place);
      const auto [found, fresh] = places.try_emplace(member.name, declaration.place);
      if (!fresh) overlap(member.name, found->second, declaration);
      model_.forces.push_back({member.name, elaborate(declaration.quantity, member.scope), declaration.place, {}, {}});
    });
  }
}

bool Reader::read_cell(const TomlValue& value, const std::string& name, const Rules& rules, Expr& out) {
  const Quantity read = quantity(value, fmt::format("an entry of {}", name));
  if (!check(read, rules)) return false;
  if (!guarded([&] { out = elaborate(read, Scope{}); })) return false;
  const std::optional<double> number = elaborator_.constant(out);
  if (!number || std::isfinite(*number)) return true;
  fault("not-finite",
        fmt::format("an entry of {} is {}", name, std::isnan(*number) ? "undefined (not a number)" : "infinite"),
        "look for a division by 0, a root or logarithm of a negative number, or an overflow", value.place);
  return false;
}

std::optional<std::size_t> Reader::size_of(const TomlValue* value, const std::string& name, const Place& place) {
  if (value == nullptr) {
    fault("missing-key", fmt::format("a sparse matrix needs '{}'", name),
          "write { rows = 3, columns = 3, entries = [[1, 1, 1.0]] }", place);
    return std::nullopt;
  }
  const std::optional<double> number = number_of(*value, fmt::format("'{}'", name));
  if (!number) return std::nullopt;
  if (*number < 0.0 || *number > 1e7 || *number != std::floor(*number)) {
    fault("out-of-range", fmt::format("'{}' is a whole number from 0 to 10000000; found {}", name, *number),
          fmt::format("write for example {} = 3", name), value->place);
    return std::nullopt;
  }
  return static_cast<std::size_t>(*number);
}

bool Reader::read_matrix(const TomlValue& value, const std::string& name, const Rules& rules, Matrix& out) {
  bool fine = true;
  if (value.is_table()) {
    check_keys(value, name, {"rows", "columns", "entries"});
    const std::optional<std::size_t> rows = size_of(field(value, "rows"), "rows", value.place),
                                     columns = size_of(field(value, "columns"), "columns", value.place);
    const TomlValue* cells = field(value, "entries");
    if (cells == nullptr || !cells->is_array()) {
      fault(cells == nullptr ? "missing-key" : "wrong-type",
            fmt::format("{} needs its entries as an array of [row, column, value]", name),
            "write entries = [[1, 1, 1.0], [2, 2, \"m\"]]", cells == nullptr ? value.place : cells->place);
      return false;
    }
    if (!rows || !columns) return false;
    out.rows = *rows;
    out.columns = *columns;
    std::set<std::pair<std::size_t, std::size_t>> taken;
    for (const TomlValue& item : cells->items) {
      if (!item.is_array() || item.items.size() != 3) {
        fault("wrong-type", fmt::format("an entry of {} is [row, column, value]", name), "write [1, 2, 3.5]",
              item.place);
        fine = false;
        continue;
      }
      const std::optional<double> row = number_of(item.items[0], "a row"),
                                  column = number_of(item.items[1], "a column");
      Expr cell;
      if (!read_cell(item.items[2], name, rules, cell) || !row || !column) {
        fine = false;
        continue;
      }
      const auto inside = [](double at, std::size_t size) {
        return at >= 1.0 && at <= static_cast<double>(size) && at == std::floor(at);
      };
      if (!inside(*row, out.rows) || !inside(*column, out.columns)) {
        fault("no-such-member",
              fmt::format("{} has no entry in row {}, column {}: it is {} by {}", name, *row, *column, out.rows,
                          out.columns),
              "rows and columns count from 1", item.place);
        fine = false;
        continue;
      }
      const auto r = static_cast<std::size_t>(*row) - 1, c = static_cast<std::size_t>(*column) - 1;
      if (!taken.emplace(r, c).second) {
        fault("overlap", fmt::format("the entry of {} in row {}, column {} is given twice", name, r + 1, c + 1),
              "remove one", item.place);
        fine = false;
        continue;
      }
      if (!cell.is_constant(0.0)) out.entries.push_back({r, c, cell});
    }
    std::sort(out.entries.begin(), out.entries.end(),
              [](const Entry& a, const Entry& b) { return std::pair(a.row, a.column) < std::pair(b.row, b.column); });
    return fine;
  }
  const bool rows_given = value.is_array() && std::all_of(value.items.begin(), value.items.end(),
                                                          [](const TomlValue& row) { return row.is_array(); });
  if (!rows_given) {
    fault("wrong-type", fmt::format("{} is a matrix: an array of rows, or {{ rows, columns, entries }}", name),
          "write [[1, 0], [0, 1]]", value.place);
    return false;
  }
  out.rows = value.items.size();
  out.columns = out.rows == 0 ? 0 : value.items[0].items.size();
  for (std::size_t r = 0; r < out.rows; ++r) {
    const TomlValue& row = value.items[r];
    if (row.items.size() != out.columns) {
      fault(
          "wrong-size",
          fmt::format("row {} of {} has {}, the first row has {}", r + 1, name, entries(row.items.size()), out.columns),
          "give all rows the same length", row.place);
      fine = false;
      continue;
    }
    for (std::size_t c = 0; c < out.columns; ++c) {
      Expr cell;
      if (!read_cell(row.items[c], name, rules, cell))
        fine = false;
      else if (!cell.is_constant(0.0))
        out.entries.push_back({r, c, cell});
    }
  }
  return fine;
}

bool Reader::read_vector(const TomlValue& value, const std::string& name, const Rules& rules, std::vector<Expr>& out) {
  if (!value.is_array()) {
    fault("wrong-type", fmt::format("{} is an array, but {} was found", name, kind_name(value)),
          "write [\"0\", \"-m*g\"]", value.place);
    return false;
  }
  bool fine = true;
  for (const TomlValue& item : value.items) {
    Expr cell;
    if (!read_cell(item, name, rules, cell)) fine = false;
    out.push_back(cell);
  }
  return fine;
}

void Reader::read_mechanical() {
  const TomlEntry* entry = find(file_, "mechanical");
  if (entry == nullptr) {
    fault("missing-section", "a model of kind \"mechanical\" needs the section [mechanical]",
          "write [mechanical] with mass = [[...]] and force = [...]", kind_place_);
    return;
  }
  const TomlValue* table = section("mechanical");
  if (table == nullptr) return;
  check_keys(*table, "[mechanical]", {"mass", "force"});
  const std::size_t n = model_.variables.size();
  for (const std::string_view key : {"mass", "force"})
    if (find(*table, key) == nullptr)
      fault("missing-key", fmt::format("[mechanical] has no '{}'", key),
            key == "mass" ? "write mass = [[\"m\"]]" : "write force = [\"-m*g\"]", entry->key.place());
  for (const std::string_view key : {"mass", "force"})
    if (const TomlValue* value = field(*table, key)) model_.places[std::string(key)] = value->place;
  if (const TomlValue* mass = field(*table, "mass")) {
    const bool fine = read_matrix(*mass, "the mass matrix", rules::mass, model_.mass);
    if (fine && unknowns_complete_ && (model_.mass.rows != n || model_.mass.columns != n))
      fault("wrong-size",
            fmt::format("the mass matrix is {} by {}, but there are {}", model_.mass.rows, model_.mass.columns,
                        count(n, "variable")),
            "give one row and one column for every variable", mass->place);
  }
  if (const TomlValue* force = field(*table, "force")) {
    const bool fine = read_vector(*force, "the force", rules::force, model_.force);
    if (fine && unknowns_complete_ && model_.force.size() != n)
      fault("wrong-size",
            fmt::format("the force has {}, but there are {}", entries(model_.force.size()), count(n, "variable")),
            "give one entry for every variable", force->place);
  }
}

/// Number of columns of E or A, for the names x1 .. xn of a linear model that does not list its variables.
std::size_t Reader::linear_size() {
  const TomlValue* table = section("linear");
  if (table == nullptr) return 0;
  check_keys(*table, "[linear]", linear_keys());
  for (const std::string_view key : {"E", "A"}) {
    const TomlValue* value = field(*table, key);
    if (value == nullptr) continue;
    if (value->is_array() && !value->items.empty() && value->items[0].is_array()) return value->items[0].items.size();
    const TomlValue* columns = value->is_table() ? field(*value, "columns") : nullptr;
    if (columns == nullptr) continue;
    if (columns->is_number() && columns->number >= 0.0 && columns->number <= 1e7)
      return static_cast<std::size_t>(columns->number);
    if (columns->is_text())
      fault("missing-section", "where 'columns' is an expression, the variables must be listed",
            "write \"x[i]\" = { for = \"i in 1..N\" } in [variables]", columns->place);
  }
  return 0;
}

void Reader::read_linear() {
  const TomlEntry* entry = find(file_, "linear");
  if (entry == nullptr) {
    fault("missing-section", "a model of kind \"linear\" needs the section [linear]",
          "write [linear] with E = [[...]] and A = [[...]]", kind_place_);
    return;
  }
  const TomlValue* table = section("linear");
  if (table == nullptr) return;
  check_keys(*table, "[linear]", linear_keys());
  struct Part {
    std::string_view key;
    Matrix* matrix;
    bool fine = false;
  };
  std::array<Part, 5> parts{{{"E", &model_.E}, {"A", &model_.A}, {"B", &model_.B}, {"C", &model_.C}, {"D", &model_.D}}};
  for (Part& part : parts) {
    if (const TomlValue* value = field(*table, part.key)) {
      model_.places[std::string(part.key)] = value->place;
      part.fine = read_matrix(*value, std::string(part.key), rules::matrix, *part.matrix);
    } else if (part.key == "E" || part.key == "A") {
      fault("missing-key", fmt::format("[linear] has no '{}'", part.key),
            fmt::format("write {} = [[1, 0], [0, 1]]", part.key), entry->key.place());
    }
  }
  const auto size = [&](const Part& part, std::size_t rows, std::size_t columns, std::string_view why) {
    if (!part.fine || (part.matrix->rows == rows && part.matrix->columns == columns)) return;
    fault("wrong-size",
          fmt::format("{} is {} by {}, but {} by {} is expected: {}", part.key, part.matrix->rows, part.matrix->columns,
                      rows, columns, why),
          fmt::format("write {} of {}", count(rows, "row"), entries(columns)), field(*table, part.key)->place);
  };
  const bool known = parts[0].fine, n_known = unknowns_complete_ && known;
  const std::size_t rows = model_.E.rows, columns = model_.E.columns;
  if (known && (rows == 0 || columns == 0))
    fault("no-variables", "E is empty: the model has no variables", "write E = [[1, 0], [0, 1]]", field(*table, "E")->place);
  if (known) size(parts[1], rows, columns, "A is as large as E");
  if (n_known && columns != model_.variables.size())
    fault("wrong-size",
          fmt::format("E has {} for {}", count(columns, "column"), count(model_.variables.size(), "variable")),
          "give one column for every variable", field(*table, "E")->place);
  if (known) size(parts[2], rows, model_.B.columns, "B has as many rows as E");
  if (known) size(parts[3], model_.C.rows, columns, "C has as many columns as E");
  if (const TomlValue* D = field(*table, "D"); D != nullptr && (!field(*table, "B") || !field(*table, "C")))
    fault("missing-key", "D is given without B and C", "give B, C and D together", D->place);
  else if (parts[2].fine && parts[3].fine)
    size(parts[4], model_.C.rows, model_.B.columns, "rows of C, columns of B");
  if (const TomlValue* f = field(*table, "f")) {
    model_.places["f"] = f->place;
    const bool fine = read_vector(*f, "f", rules::linear_force, model_.f);
    if (fine && known && model_.f.size() != rows)
      fault("wrong-size", fmt::format("f has {}, but E has {}", entries(model_.f.size()), count(rows, "row")),
            "give one entry for every row", f->place);
  }
  if (model_.f.empty()) model_.f.assign(rows, elaborator_.graph().constant(0.0));
}

}  // namespace daedalus::model
