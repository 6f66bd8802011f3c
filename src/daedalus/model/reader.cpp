#include "daedalus/model/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>

#include "daedalus/base/utf8.hpp"
#include "daedalus/model/checks.hpp"
#include "daedalus/model/reader_guard.hpp"
#include "daedalus/model/reader_state.hpp"
#include "daedalus/model/rules.hpp"

namespace daedalus::model {

namespace {

struct SectionInfo {
  std::string_view name;
  std::vector<Kind> kinds;  ///< empty: all
  std::string_view instead;
};

const std::vector<SectionInfo>& sections() {
  static const std::vector<SectionInfo> table{
      {"parameters", {}, ""},
      {"definitions", {}, ""},
      {"inputs", {}, ""},
      {"tables", {}, ""},
      {"variables", {}, ""},
      {"initial", {}, ""},
      {"outputs", {}, ""},
      {"simulation", {}, ""},
      {"plots", {}, ""},
      {"drawing", {}, ""},
      {"discrete", {}, ""},
      {"events", {}, ""},
      {"lagrangian", {Kind::lagrangian}, "for energies write kind = \"lagrangian\""},
      {"mechanical", {Kind::mechanical}, "for a mass matrix and forces write kind = \"mechanical\""},
      {"constraints", {Kind::lagrangian, Kind::mechanical}, "write the constraint as an equation in [equations]"},
      {"auxiliary", {Kind::lagrangian, Kind::mechanical}, "put all unknowns into [variables]"},
      {"equations",
       {Kind::lagrangian, Kind::mechanical, Kind::dae},
       "a linear model is given by E, A and f in [linear]"},
      {"invariants", {}, ""},
      {"linear", {Kind::linear}, "for matrices write kind = \"linear\""},
  };
  return table;
}

/// The section that other programs call by this name, or nothing.
std::string_view meant_section(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"vars", "variables"},      {"unknowns", "variables"},  {"states", "variables"},   {"state", "variables"},
      {"coordinates", "variables"}, {"constants", "parameters"}, {"consts", "parameters"}, {"params", "parameters"},
      {"eqs", "equations"},       {"eqns", "equations"},      {"odes", "equations"},     {"settings", "simulation"},
      {"solver", "simulation"},   {"options", "simulation"},  {"integrator", "simulation"}, {"plot", "plots"},
      {"functions", "definitions"}, {"animation", "drawing"},
  };
  for (const auto& [other, ours] : others)
    if (other == name) return ours;
  return {};
}

/// The section in which a key stands, or nothing.
std::string_view home_of(std::string_view key) {
  static constexpr std::pair<std::string_view, std::string_view> homes[] = {
      {"kinetic", "lagrangian"}, {"potential", "lagrangian"}, {"dissipation", "lagrangian"}, {"mass", "mechanical"},
      {"force", "mechanical"},   {"E", "linear"},             {"A", "linear"},               {"t_end", "simulation"},
      {"t_start", "simulation"}, {"rtol", "simulation"},      {"atol", "simulation"},        {"method", "simulation"},
      {"formulation", "simulation"}, {"initialize", "simulation"},
  };
  for (const auto& [other, home] : homes)
    if (other == key) return home;
  return {};
}

/// The first byte that is no UTF-8, or npos.
std::size_t first_bad_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i, 4));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

}  // namespace

bool is_section(std::string_view name) {
  return std::ranges::any_of(sections(), [&](const SectionInfo& info) { return info.name == name; });
}

Reader::Reader(std::shared_ptr<const SourceMap> map, std::string folder, const Overrides& overrides)
    : map_(std::move(map)),
      folder_(std::move(folder)),
      overrides_(overrides),
      elaborator_(*(model_.graph = std::make_shared<expr::Graph>()), [this](const Error& error) { report(error); }) {
  model_.source = map_->source();
  model_.time = elaborator_.time();
}

/// The head tells the kind, on which everything else depends: without it nothing more is said.
void Reader::read_head() {
  const auto text = [&](std::string_view key, std::string& out) {
    if (const TomlEntry* entry = find(file_, key)) out = text_of(entry->value, fmt::format("'{}'", key));
  };
  text("name", model_.name);
  text("description", model_.description);
  if (model_.name.empty()) model_.name = std::filesystem::path(map_->source()->name).stem().string();
  if (const TomlEntry* format = find(file_, "format"))
    if (!format->value.is_number() || format->value.number != 1.0)
      fault("bad-format", "this program reads format 1 of the model file", "write format = 1, or leave it out",
            format->value.place);
  const TomlEntry* kind = find(file_, "kind");
  if (kind == nullptr) {
    for (const TomlEntry& section : file_.entries)
      if (const TomlEntry* inside = section.value.is_table() ? section.value.find("kind") : nullptr; inside != nullptr) {
        fault("missing-kind", fmt::format("'kind' stands in the section [{}]", section.name()),
              "it belongs to the whole model: write it at the top, above all sections", inside->key.place());
        return;
      }
    fault("missing-kind", "the model does not say its kind",
          "write kind = \"lagrangian\", \"mechanical\", \"dae\" or \"linear\" at the top", map_->place(0));
  } else {
    kind_place_ = kind->value.place;
    const std::string given = text_of(kind->value, "'kind'", "write \"lagrangian\", \"mechanical\", \"dae\" or \"linear\"");
    const std::vector<std::string> known{"lagrangian", "mechanical", "dae", "linear"};
    const auto found = std::find(known.begin(), known.end(), given);
    if (found != known.end()) {
      model_.kind = static_cast<Kind>(found - known.begin());
      kind_known_ = true;
    } else if (given == "multibody") {
      fault("unknown-kind", "models of kind \"multibody\" are not read yet",
            "write kind = \"lagrangian\" with redundant coordinates", kind->value.place);
    } else if (kind->value.is_text()) {
      fault("unknown-kind", fmt::format("there is no kind \"{}\"", given),
            fmt::format("{}{}", nearest_names(given, known).empty() ? "" : suggest(given, known) + " ",
                        "the kinds are lagrangian, mechanical, dae and linear"),
            kind->value.place);
    }
  }
}

void Reader::check_top() {
  std::vector<std::string> known{"name", "kind", "description", "format"};
  for (const SectionInfo& info : sections()) known.emplace_back(info.name);
  for (const TomlEntry& entry : file_.entries) {
    const std::string& name = entry.name();
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string_view meant = entry.value.is_table() ? meant_section(name) : name == "type" ? "kind" : std::string_view{};
    const std::vector<std::string> near =
        meant.empty() ? nearest_names(name, known, 1) : std::vector<std::string>{std::string(meant)};
    std::string advice = meant.empty() ? suggest(name, known) : fmt::format("did you mean '{}'?", meant);
    if (name == "forces") advice = "forces stand in [lagrangian.forces]";
    if (name == "dissipation" || name == "damping" || name == "friction")
      advice = "write dissipation = \"...\" below [lagrangian]";
    if (name == "initial_conditions" || name == "initial_values" || name == "start" || name == "starts")
      advice = "start values stand in [variables], equations that hold at the start in [initial]";
    if (const std::string_view home = home_of(name); !entry.value.is_table() && !home.empty())
      advice = fmt::format("it stands below [{}]", home);
    if (name == "points" || name == "lines" || name == "trails") advice = "it stands in [drawing] or [drawing.points]";
    if (!entry.value.is_table() && near.empty() && home_of(name).empty())
      advice = "an entry stands below the header of its section: [parameters], [variables], ...";
    fault("unknown-section", fmt::format("there is no {} '{}'", entry.value.is_table() ? "section" : "key", name),
          advice, entry.key.place());
    // A misspelt section is read under its right name; a section cannot be meant by a key, nor a key by a section.
    const bool is_head = !near.empty() && std::find(known.begin(), known.begin() + 4, near[0]) != known.begin() + 4;
    if (!near.empty() && is_head != entry.value.is_table()) misspelt_[&file_].emplace(near[0], &entry);
  }
}

void Reader::check_sections() {
  if (!kind_known_) return;
  for (const SectionInfo& info : sections()) {
    const TomlEntry* entry = file_.find(info.name);
    if (entry == nullptr || info.kinds.empty()) continue;
    if (std::find(info.kinds.begin(), info.kinds.end(), model_.kind) == info.kinds.end())
      fault("wrong-section", fmt::format("a model of kind \"{}\" has no section [{}]", name_of(model_.kind), info.name),
            is_kind(Kind::linear) && info.name == "constraints" ? "a linear model is given by E, A and f in [linear]"
                                                                : std::string(info.instead),
            entry->key.place());
    else
      continue;
    if (info.name == "constraints") unknowns_complete_ = false;  // equations that were meant are missing
  }
}

void Reader::declare_names() {
  declare_parameters();
  declare_quantities("definitions", Role::definition, definitions_);
  declare_quantities("inputs", Role::input, inputs_);
  declare_unknowns("variables", Role::variable, variables_);
  // Without any unknown every expression would be reported.
  if (const TomlEntry* entry = find(file_, "variables"); entry != nullptr && !entry->value.is_table())
    faults_.throw_if_any();
  if (is_mechanics()) {
    declare_unknowns("auxiliary", Role::auxiliary, auxiliary_);
  } else if (find(file_, "auxiliary") != nullptr) {
    // The section is refused; its names are known, so that their uses are not reported as well.
    declare_unknowns("auxiliary", Role::auxiliary, auxiliary_);
    for (Entity& entity : elaborator_.entities())
      if (entity.role == Role::auxiliary) entity.faulty = true;
    auxiliary_.clear();
    unknowns_complete_ = false;
  }
  declare_discrete();
  declare_quantities("outputs", Role::output, outputs_);
  declare_tables();
  if (!is_kind(Kind::linear) && !declare_equations("equations", equations_)) unknowns_complete_ = false;
  if (is_mechanics()) declare_equations("constraints", constraints_);
  declare_equations("invariants", invariants_);
  declare_equations("initial", initial_);
  if (is_kind(Kind::linear) && find(file_, "variables") == nullptr) declare_default_variables();
}

/// x1 .. xn of a linear model that does not list its variables.
void Reader::declare_default_variables() {
  static const TomlValue zero = [] {
    TomlValue value;
    value.kind = TomlValue::Kind::number;
    return value;
  }();
  const TomlEntry* linear = find(file_, "linear");
  const std::size_t n = linear_size();
  for (std::size_t i = 1; i <= n; ++i) {
    KeySyntax key;
    key.base = fmt::format("x{}", i);
    const Place place = linear->key.place();
    if (elaborator_.declare(Role::variable, key.base, place) == nullptr) {
      unknowns_complete_ = false;
      continue;
    }
    Declaration declaration;
    declaration.key = &keys_.emplace_back(std::move(key));
    declaration.value = &zero;
    declaration.place = place;
    variables_.push_back(declaration);
  }
}

Model Reader::read() {
  try {
    return read_all();
  } catch (const Stop&) {
    faults_.throw_if_any();
    throw;
  }
}

Model Reader::read_all() {
  file_ = parse_toml(map_);
  check_top();
  read_head();
  check_sections();
  if (!kind_known_) faults_.throw_if_any();

  declare_names();
  read_overrides();
  check_quantities(definitions_, rules::definition);
  check_functions();
  check_quantities(inputs_, rules::input);
  check_quantities(outputs_, rules::output);
  add_quantity_items(definitions_, false);
  add_quantity_items(inputs_, false);
  add_quantity_items(outputs_, false);
  resolve_parameters();
  resolve_discrete();
  read_simulation();
  read_tables();

  add_quantity_items(definitions_, true);
  add_quantity_items(outputs_, true);
  expand_unknowns(variables_, Role::variable, model_.variables);
  expand_unknowns(auxiliary_, Role::auxiliary, model_.auxiliary);
  expand_constraint_names();
  add_starts(variables_, Role::variable);
  add_starts(auxiliary_, Role::auxiliary);
  apply_start_overrides();

  perturb_inputs();
  collect_quantities(definitions_, model_.definitions);
  collect_quantities(inputs_, model_.inputs);
  check_inputs();
  check_missing();
  if (is_kind(Kind::lagrangian)) read_lagrangian();
  if (is_kind(Kind::mechanical)) read_mechanical();
  if (is_kind(Kind::linear)) read_linear();
  if (is_mechanics()) read_constraints();
  if (!expand_equations(equations_, is_mechanics() ? rules::auxiliary_equation : rules::equation, model_.equations))
    unknowns_complete_ = false;
  expand_equations(invariants_, rules::invariant, model_.invariants);
  expand_equations(initial_, rules::initial, model_.initial);
  collect_quantities(outputs_, model_.outputs);
  read_events();
  read_plots();
  read_drawing();
  resolve_starts();
  complete_unknowns(model_, elaborator_);

  const bool complete = unknowns_complete_ && faults_.empty();
  if (unknowns_complete_) check_balance(model_, faults_);
  if (complete) check_model(model_, faults_);
  faults_.throw_if_any();
  return std::move(model_);
}

/// Answers a model without unknowns, or a DAE without equations.
void Reader::check_missing() {
  if (is_kind(Kind::dae) && find(file_, "equations") == nullptr) {
    fault("missing-section", "a model of kind \"dae\" needs the section [equations]",
          "write [equations] with one equation for every variable", kind_place_);
    unknowns_complete_ = false;
  }
  const TomlEntry* variables = find(file_, "variables");
  if (variables == nullptr && !is_kind(Kind::linear)) {
    fault("missing-section", fmt::format("a model of kind \"{}\" needs the section [variables]", name_of(model_.kind)),
          "write [variables] with the unknowns and their start values", kind_place_);
    unknowns_complete_ = false;
  } else if (variables != nullptr && variables->value.is_table() && unknowns_complete_ && model_.variables.empty()) {
    fault("no-variables", "the model has no variables", "write x = 0.0 below [variables]", variables->key.place());
    unknowns_complete_ = false;
  }
}

Model read_model_text(const std::string& text, const std::string& name, const Overrides& overrides,
                      const std::string& folder) {
  const bool marked = text.starts_with("\xEF\xBB\xBF");
  const auto source = std::make_shared<const SourceText>(SourceText{name, marked ? text.substr(3) : text});
  const auto map = std::make_shared<const SourceMap>(source);
  if (const std::size_t bad = first_bad_byte(source->text); bad != std::string_view::npos)
    throw Error("not-text", "the file is not UTF-8 text", "save it as UTF-8", map->place(bad));
  try {
    return Reader(map, folder, overrides).read();
  } catch (const Error&) {
    throw;
  } catch (const InternalError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw InternalError(fmt::format("the reader of models failed: {}", error.what()));
  }
}

Model read_model(const std::string& path, const Overrides& overrides) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status))
    throw Error("file-not-found", fmt::format("'{}' is a folder, not a model file", path), "name the .toml file in it");
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::string advice = "check the name and the folder";
    const std::filesystem::path wanted(path),
        folder = wanted.has_parent_path() ? wanted.parent_path() : std::filesystem::path(".");
    std::vector<std::string> others;
    for (const auto& other : std::filesystem::directory_iterator(folder, status))
      others.push_back(other.path().filename().string());
    if (const auto near = nearest_names(wanted.filename().string(), others); !near.empty())
      advice = suggest(wanted.filename().string(), others);
    throw Error("file-not-found", fmt::format("the model file '{}' cannot be opened", path), advice);
  }
  std::ostringstream text;
  text << file.rdbuf();
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return read_model_text(text.str(), path, overrides, folder.empty() ? "." : folder.string());
}

}  // namespace daedalus::model
