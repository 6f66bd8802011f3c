#include "daedalus/model/toml_source.hpp"

#include <algorithm>

// Malformed input such as "[," must be an error and not an abort.
#define TOML_ASSERT(condition) static_cast<void>(0)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace daedalus::model {

namespace {

constexpr std::size_t most_dots = 200;

/// Refuses keys with hundreds of dots: the tree that they make would exhaust the stack when it is destroyed.
void refuse_deep_keys(const SourceMap& map) {
  const std::string& text = map.text();
  std::size_t dots = 0;
  bool part = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '.' && part) {
      part = false;
      if (++dots > most_dots)
        throw Error("toml", "a key has more than 200 parts", "a model needs at most two: [lagrangian.forces]", map.place(i));
    } else if (c == ' ' || c == '\t') {
    } else if (std::isalnum(byte) || c == '_' || c == '-' || c == '"' || c == '\'' || byte >= 0x80) {
      part = true;
    } else {
      dots = 0;
      part = false;
    }
  }
}

class Converter {
 public:
  explicit Converter(std::shared_ptr<const SourceMap> map) : map_(std::move(map)) {}

  TomlValue value(const toml::node& node) const {
    TomlValue result;
    const std::size_t begin = offset(node.source().begin), end = offset(node.source().end);
    result.place = map_->place(begin, end > begin ? end - begin : 1);
    if (const auto* table = node.as_table()) {
      result.kind = TomlValue::Kind::table;
      std::vector<std::pair<std::size_t, const toml::key*>> order;
      for (const auto& [key, child] : *table) order.emplace_back(offset(key.source().begin), &key);
      std::sort(order.begin(), order.end());  // the reader of TOML sorts keys by name
      result.entries.reserve(order.size());
      for (const auto& [at, key] : order)
        result.entries.push_back({key_passage(std::string(key->str()), at), value(*table->get(key->str()))});
    } else if (const auto* array = node.as_array()) {
      result.kind = TomlValue::Kind::array;
      result.items.reserve(array->size());
      for (const toml::node& item : *array) result.items.push_back(value(item));
    } else if (const auto* text = node.as_string()) {
      result.kind = TomlValue::Kind::text;
      result.text = Passage::of_toml_string(map_, text->get(), begin);
    } else if (const auto* whole = node.as_integer()) {
      result.kind = TomlValue::Kind::number;
      result.number = static_cast<double>(whole->get());
    } else if (const auto* real = node.as_floating_point()) {
      result.kind = TomlValue::Kind::number;
      result.number = real->get();
    } else if (const auto* boolean = node.as_boolean()) {
      result.kind = TomlValue::Kind::boolean;
      result.boolean = boolean->get();
    } else {
      result.kind = TomlValue::Kind::date;
    }
    return result;
  }

 private:
  std::size_t offset(const toml::source_position& position) const { return map_->offset(position.line, position.column); }

  Passage key_passage(std::string key, std::size_t at) const {
    const std::string& text = map_->text();
    if (at < text.size() && (text[at] == '"' || text[at] == '\'')) return Passage::of_toml_string(map_, std::move(key), at);
    return {map_, std::move(key), at};
  }

  std::shared_ptr<const SourceMap> map_;
};

}  // namespace

const TomlEntry* TomlValue::find(std::string_view key) const {
  for (const TomlEntry& entry : entries)
    if (entry.name() == key) return &entry;
  return nullptr;
}

std::string_view kind_name(const TomlValue& value) {
  switch (value.kind) {
    case TomlValue::Kind::number: return "a number";
    case TomlValue::Kind::boolean: return value.boolean ? "true" : "false";
    case TomlValue::Kind::text: return "a text";
    case TomlValue::Kind::array: return "an array";
    case TomlValue::Kind::table: return "a table";
    case TomlValue::Kind::date: return "a date";
  }
  return "something else";
}

TomlValue parse_toml(const std::shared_ptr<const SourceMap>& map) {
  refuse_deep_keys(*map);
  try {
    const toml::table table = toml::parse(std::string_view(map->text()), std::string_view{});
    return Converter(map).value(table);
  } catch (const toml::parse_error& error) {
    const std::size_t offset = map->offset(error.source().begin.line, error.source().begin.column);
    throw Error(std::vector{toml_fault(*map, offset, error.description())});
  }
}

}  // namespace daedalus::model
