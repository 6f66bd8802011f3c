#pragma once

#include <array>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "daedalus/model/elaborate.hpp"
#include "daedalus/model/name_check.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/model/toml_source.hpp"

namespace daedalus::model {

/// A number or an expression, as it stands in the file.
struct Quantity {
  bool given = false, faulty = false;
  double number = 0.0;
  const SyntaxTree* tree = nullptr;  ///< null for a number
  Place place;
};

/// What one entry of a section declares: a name or a family of names with a quantity or an equation.
struct Declaration {
  const KeySyntax* key = nullptr;
  const LoopsSyntax* loops = nullptr;  ///< of a family
  const TomlValue* value = nullptr;    ///< the whole value
  Quantity quantity;
  Place place;  ///< of the key
  bool faulty = false;
};

/// One member of an entry; an entry that is no family has one.
struct Member {
  std::string name;
  Indices indices;
  Scope scope;
};

/// Whether a section of the model file has this name.
bool is_section(std::string_view name);

/// Turns a TOML file into a Model. Names are declared first, then every expression is checked, then parameters get
/// their numbers, families their members, and expressions their meaning; at each step the faults are collected and what
/// is faulty is left out of the next.
class Reader {
 public:
  Reader(std::shared_ptr<const SourceMap> map, std::string folder, const Overrides& overrides);
  Model read();

 private:
  // reader.cpp: the order of things, and the head of the file
  void read_head();
  void check_top();
  void check_sections();
  void declare_names();
  void declare_default_variables();
  void check_missing();

  // entries.cpp: what all sections share
  Model read_all();
  /// Thrown by `report` where reading on makes no sense: the model is too large, or wrong all over.
  struct Stop {};
  void report(const Error& error);
  void fault(std::string code, std::string message, std::string advice, const Place& place);
  const TomlValue* section(std::string_view name);
  const TomlValue* table_of(const TomlEntry& entry, std::string_view what);
  void check_keys(const TomlValue& table, const std::string& where, const std::vector<std::string>& known);
  const TomlEntry* find(const TomlValue& table, std::string_view key) const;
  const TomlValue* field(const TomlValue& table, std::string_view key) const;
  std::string text_of(const TomlValue& value, std::string_view what, std::string_view advice = "put it in quotes");
  std::optional<bool> boolean_of(const TomlValue& value, std::string_view what);
  std::optional<double> number_of(const TomlValue& value, const std::string& what);
  std::string label(const TomlValue& table, std::string_view key);
  const SyntaxTree* parse(const Passage& passage);
  const SyntaxTree* parse_as_equation(const Passage& passage);
  const KeySyntax* parse_name(const Passage& passage);
  const LoopsSyntax* loops_of(const TomlValue& table);
  Quantity quantity(const TomlValue& value, std::string_view what);
  Quantity equation(const TomlValue& value, std::string_view what);
  bool check(const Declaration& entry, const Rules& rules);
  bool check(const Quantity& quantity, const Rules& rules);
  bool members(const Declaration& entry, const std::function<void(const Member&)>& visit);
  Expr elaborate(const Quantity& quantity, const Scope& scope);
  template <class Work>
  bool guarded(Work&& work);
  bool is_kind(Kind kind) const { return model_.kind == kind; }
  bool is_mechanics() const { return is_kind(Kind::lagrangian) || is_kind(Kind::mechanical); }

  // sections_values.cpp: parameters, definitions, inputs, discrete, outputs
  void declare_parameters();
  void declare_parameter(const TomlEntry& entry);
  void add_parameter_items(Entity& entity, const TomlValue& value, Indices& at, const Place& place);
  void resolve_parameters();
  void declare_quantities(std::string_view section, Role role, std::vector<Declaration>& entries);
  void check_quantities(std::vector<Declaration>& entries, const Rules& rules);
  void check_functions();
  void add_quantity_items(std::vector<Declaration>& entries, bool families);
  [[noreturn]] void overlap(const std::string& name, const Place& first, const Declaration& entry) const;
  void collect_quantities(const std::vector<Declaration>& entries, std::vector<Named>& out);
  void declare_discrete();
  void resolve_discrete();
  void check_inputs();
  void perturb_inputs();

  // sections_unknowns.cpp: variables, auxiliary and their starts
  void declare_unknowns(std::string_view section, Role role, std::vector<Declaration>& entries);
  void expand_unknowns(std::vector<Declaration>& entries, Role role, std::vector<Unknown>& out);
  void add_starts(std::vector<Declaration>& entries, Role role);
  struct StartOptions {
    int order;
    bool fixed, fine;
  };
  void add_start(const Member& member, const Quantity& value, const StartOptions& options, const Place& place);
  void resolve_starts();

  // sections_equations.cpp
  bool declare_equations(std::string_view section, std::vector<Declaration>& entries);
  bool expand_equations(std::vector<Declaration>& entries, const Rules& rules, std::vector<Equation>& out);
  void expand_constraint_names();
  void read_constraints();

  // sections_mechanics.cpp
  void read_lagrangian();
  void read_forces(const TomlValue& table);
  void read_mechanical();
  void read_linear();
  bool read_matrix(const TomlValue& value, const std::string& name, const Rules& rules, Matrix& out);
  bool read_vector(const TomlValue& value, const std::string& name, const Rules& rules, std::vector<Expr>& out);
  bool read_cell(const TomlValue& value, const std::string& name, const Rules& rules, Expr& out);
  std::optional<std::size_t> size_of(const TomlValue* value, const std::string& name, const Place& place);
  std::size_t linear_size();

  // sections_tables.cpp
  void declare_tables();
  void read_tables();
  void read_table(const TomlEntry& entry);

  // sections_rest.cpp: simulation, events, plots
  void read_simulation();
  void read_events();
  void read_event(const TomlEntry& entry);
  bool equation_as_condition(const TomlValue& when);
  void check_when(const TomlValue& when, const Expr& value);
  void read_resets(const TomlValue& value, Event& event);
  void read_plots();
  bool read_plot_column(const TomlValue& value, std::string& name, Expr& shown);

  // sections_drawing.cpp
  void read_drawing();
  void read_points(const TomlValue& table);
  void read_lines(const TomlValue& value);
  void read_trails(const TomlValue& value);
  void for_points(const TomlValue& item, std::string_view what,
                  const std::function<void(const TomlValue&, const Scope&)>& visit);
  const KeySyntax* parse_point(const TomlValue& value);
  bool point_names(const TomlValue& value, const Scope& scope, std::vector<std::string>& out);

  // overrides.cpp
  struct Override {
    std::string option;
    const KeySyntax* key;
    Quantity quantity;
    Place place;
  };
  void read_overrides();
  void read_override(const std::string& option, const std::string& name, const std::string& value);
  void apply_start_overrides();

  std::shared_ptr<const SourceMap> map_;
  std::string folder_;
  const Overrides& overrides_;
  TomlValue file_;
  Model model_;
  Faults faults_;
  std::set<std::string> reported_;
  std::unordered_map<const TomlValue*, std::map<std::string, const TomlEntry*>>
      misspelt_;  ///< right key to wrong entry
  Elaborator elaborator_;

  std::deque<SyntaxTree> trees_;
  std::deque<KeySyntax> keys_;
  std::deque<LoopsSyntax> loops_;
  std::vector<Declaration> definitions_, inputs_, outputs_, variables_, auxiliary_, equations_, constraints_, initial_,
      invariants_;
  struct ParameterRecord {
    ItemId item;
    std::string unit, description;
    Quantity least, most;
  };
  std::vector<ParameterRecord> parameters_;
  std::vector<ParameterRecord> discrete_;
  struct UnknownRecord {
    Role role;
    std::size_t position;
  };
  struct StartRecord {
    UnknownRecord unknown;
    int order;
    ItemId item;
    bool given, fixed;
  };
  Unknown& unknown_at(const UnknownRecord& record);
  std::unordered_map<std::string, UnknownRecord> unknown_of_name_;
  std::vector<StartRecord> starts_;
  std::map<std::string, Override> parameter_overrides_, quantity_overrides_;
  std::vector<Override> start_overrides_;
  std::unordered_map<std::string, std::set<Indices>> points_;
  std::set<std::string> faulty_points_;
  std::unordered_map<const TomlValue*, const KeySyntax*> point_keys_;
  Place kind_place_;
  bool kind_known_ = false;
  expr::Walk walk_;
  bool unknowns_complete_ = true;  ///< no fault hides an unknown or an equation, so that counting makes sense
};

}  // namespace daedalus::model
