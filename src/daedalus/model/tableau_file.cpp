#include "daedalus/model/tableau_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "daedalus/base/text.hpp"
#include "daedalus/model/elaborate.hpp"
#include "daedalus/model/name_check.hpp"
#include "daedalus/model/toml_source.hpp"

namespace daedalus::model {
namespace {

const std::vector<std::string>& keys() {
  static const std::vector<std::string> known{"name", "order", "A", "b", "c", "embedded", "citation"};
  return known;
}

class TableauReader {
 public:
  explicit TableauReader(std::shared_ptr<const SourceMap> map)
      : map_(std::move(map)), elaborator_(graph_, [this](const Error& error) { faults_.add(error); }) {}

  TableauFile read() {
    const TomlValue file = parse_toml(map_);
    if (const TomlEntry* kind = file.find("kind"))
      throw Error("bad-tableau", fmt::format("'{}' is a model, not a tableau of a method", kind->key.place().source->name),
                  "a tableau says A and b; `daedalus methods` lists methods that need no file", kind->key.place());
    for (const TomlEntry& entry : file.entries) {
      if (std::ranges::find(keys(), entry.name()) != keys().end()) continue;
      faults_.add("unknown-key", fmt::format("a tableau has no key '{}'", entry.name()), suggest(entry.name(), keys()),
                  entry.key.place());
    }
    TableauFile result;
    text(file, "name", result.name);
    text(file, "citation", result.citation);
    if (const TomlEntry* order = file.find("order")) {
      result.order = number(order->value, "'order'");
      if (result.order->value < 1.0 || result.order->value != std::floor(result.order->value))
        faults_.add("out-of-range", fmt::format("'order' must be 1, 2, 3, ...; found {}", brief(result.order->value)),
                    "leave it out to have it found", order->value.place);
    }
    for (const char* needed : {"A", "b"}) {
      if (file.find(needed) == nullptr)
        faults_.add("missing-key", fmt::format("the tableau does not say '{}'", needed),
                    "write A = [[...], ...] with one row for every stage and b = [...] with its weights",
                    map_->place(0));
    }
    faults_.throw_if_any();

    result.b = row(file.find("b")->value, "'b'");
    if (const TomlEntry* c = file.find("c")) result.c = row(c->value, "'c'");
    if (const TomlEntry* embedded = file.find("embedded")) result.embedded = row(embedded->value, "'embedded'");
    read_matrix(*file.find("A"), result);
    check_sizes(file, result);
    faults_.throw_if_any();
    return result;
  }

 private:
  void text(const TomlValue& file, std::string_view key, std::string& out) {
    const TomlEntry* entry = file.find(key);
    if (entry == nullptr) return;
    if (entry->value.is_text())
      out = entry->value.text.text();
    else
      faults_.add("wrong-type", fmt::format("'{}' is a text, but {} was found", key, kind_name(entry->value)),
                  "put it in quotes", entry->value.place);
  }

  TableauNumber number(const TomlValue& value, const std::string& what) {
    TableauNumber result{value.number, {}, value.place};
    if (value.is_number()) {
      result.text = shortest(value.number);
    } else if (value.is_text()) {
      result.text = value.text.text();
      result.value = evaluate(value.text);
    } else {
      faults_.add(
          "wrong-type",
          fmt::format("{} has {} where a number or an expression in quotes is expected", what, kind_name(value)),
          "write for example 0.5 or \"1/2 - sqrt(3)/6\"", value.place);
      return result;
    }
    if (!std::isfinite(result.value))
      faults_.add("not-finite", fmt::format("{} has a number that is not finite", what),
                  "write a number; infinity and NaN are none", value.place);
    return result;
  }

  double evaluate(const Passage& passage) {
    static const Rules rules{
        .where = "a tableau", .advice = "use numbers and functions such as sqrt", .parameters_only = true};
    try {
      const SyntaxTree tree = parse_expression(passage);
      NameCheck names(elaborator_, rules, [this](const Error& error) {
        for (const Fault& fault : error.faults())
          faults_.add(fault.code, fault.message, fault.code == "unknown-name" ? rules.advice : fault.advice, fault.place);
      });
      if (names.expression(tree)) return elaborator_.constant(tree);
    } catch (const Error& error) {
      faults_.add(error);
    } catch (const Poisoned&) {
    }
    return 0.0;
  }

  std::vector<TableauNumber> row(const TomlValue& value, const std::string& what) {
    std::vector<TableauNumber> result;
    if (!value.is_array()) {
      faults_.add("wrong-type", fmt::format("{} is a list of numbers, but {} was found", what, kind_name(value)),
                  "write for example [\"1/6\", \"2/3\", \"1/6\"]", value.place);
      return result;
    }
    for (const TomlValue& item : value.items) result.push_back(number(item, what));
    return result;
  }

  void read_matrix(const TomlEntry& entry, TableauFile& result) {
    if (!entry.value.is_array()) {
      faults_.add("wrong-type", fmt::format("'A' is a list of rows, but {} was found", kind_name(entry.value)),
                  "write for example A = [[], [\"1/2\"]]", entry.value.place);
      return;
    }
    const std::size_t stages = entry.value.items.size();
    for (std::size_t i = 0; i < stages; ++i) {
      const TomlValue& item = entry.value.items[i];
      std::vector<TableauNumber> numbers = row(item, fmt::format("row {} of 'A'", i + 1));
      if (item.is_array() && numbers.size() != stages && numbers.size() != i)
        faults_.add("wrong-size",
                    fmt::format("row {} of 'A' has {}, but there are {}", i + 1, count(numbers.size(), "number"),
                                count(stages, "row")),
                    fmt::format("write {} numbers, or the {} before the diagonal of an explicit method", stages, i),
                    item.place);
      numbers.resize(stages, {0.0, "0", item.place});
      result.a.push_back(std::move(numbers));
    }
  }

  void check_sizes(const TomlValue& file, const TableauFile& result) {
    const auto same = [&](const char* key, std::size_t size) {
      const TomlEntry* entry = file.find(key);
      if (entry == nullptr || !entry->value.is_array() || size == result.a.size()) return;
      faults_.add("wrong-size",
                  fmt::format("'{}' has {}, but 'A' has {}", key, count(size, "number"), count(result.a.size(), "row")),
                  "give one for every stage", entry->value.place);
    };
    same("b", result.b.size());
    same("c", result.c.size());
    same("embedded", result.embedded.size());
    if (result.a.empty() && faults_.empty())
      faults_.add("wrong-size", "'A' has no rows", "give one row for every stage", file.find("A")->value.place);
  }

  std::shared_ptr<const SourceMap> map_;
  Faults faults_;
  expr::Graph graph_;
  Elaborator elaborator_;
};

}  // namespace

TableauFile read_tableau_text(const std::string& text, const std::string& name) {
  const auto source = std::make_shared<const SourceText>(SourceText{name, text});
  TableauFile result = TableauReader(std::make_shared<const SourceMap>(source)).read();
  if (result.name.empty()) result.name = std::filesystem::path(name).stem().string();
  return result;
}

TableauFile read_tableau(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw Error("file-not-found", fmt::format("the tableau file '{}' cannot be opened", path),
                "check the name and the folder; `daedalus methods` lists methods that need no file");
  std::ostringstream text;
  text << file.rdbuf();
  return read_tableau_text(text.str(), path);
}

}  // namespace daedalus::model
