#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daedalus/model/passage.hpp"

namespace daedalus::model {

struct TomlEntry;

/// A value of a TOML file with its place. Entries of tables stand in the order of the file.
struct TomlValue {
  enum class Kind { number, boolean, text, array, table, date };
  Kind kind = Kind::table;
  double number = 0.0;
  bool boolean = false;
  Passage text;  ///< of a string
  std::vector<TomlValue> items;
  std::vector<TomlEntry> entries;
  Place place;

  bool is_number() const { return kind == Kind::number; }
  bool is_text() const { return kind == Kind::text; }
  bool is_array() const { return kind == Kind::array; }
  bool is_table() const { return kind == Kind::table; }
  /// The entry of that key, or null.
  const TomlEntry* find(std::string_view key) const;
};

struct TomlEntry {
  Passage key;
  TomlValue value;
  const std::string& name() const { return key.text(); }
};

/// "a number", "a text", ... for messages.
std::string_view kind_name(const TomlValue& value);

/// Reads TOML. Throws Error for faults of TOML's own syntax, with advice for what people often write.
TomlValue parse_toml(const std::shared_ptr<const SourceMap>& map);

/// The fault of TOML's syntax at `offset`, in words for authors of models. `description` is what the reader of TOML
/// said.
Fault toml_fault(const SourceMap& map, std::size_t offset, std::string_view description);

}  // namespace daedalus::model
