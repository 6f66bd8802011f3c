#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "daedalus/model/syntax.hpp"
#include "daedalus/model/toml_source.hpp"
#include "daedalus/model/vocabulary.hpp"

namespace daedalus::model {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.eE+-_") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

/// Whether the digits mean a number beyond all doubles.
bool overflows(std::string_view digits) {
  std::string plain(digits);
  std::erase(plain, '_');
  return std::isinf(std::strtod(plain.c_str(), nullptr));
}

bool is_bare(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; }

/// The line around a fault, cut into what stands around it.
struct Surroundings {
  std::string_view line;
  std::size_t at;     ///< of the fault in the line
  std::size_t start;  ///< of the line in the text
};

Surroundings surroundings(const SourceMap& map, std::size_t offset) {
  const std::string_view text = map.text();
  offset = std::min(offset, text.size());
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', offset), text.size());
  return {text.substr(start, end - start), offset - start, start};
}

/// The key that stands before the "=" at `equals`, or nothing.
std::string_view key_before(std::string_view line, std::size_t equals) {
  std::string_view head = trimmed(line.substr(0, equals));
  const std::size_t cut = head.find_last_of("{,");
  if (cut != std::string_view::npos && head.find('(', cut) == std::string_view::npos)
    head = trimmed(head.substr(cut + 1));
  return head;
}

/// From `begin` to the end of the value: a comma or bracket that does not belong to it, a comment, the end of the line.
std::string_view value_from(std::string_view line, std::size_t begin) {
  int depth = 0;
  char quote = '\0';
  std::size_t end = begin;
  for (; end < line.size(); ++end) {
    const char c = line[end];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
      continue;
    }
    if (c == '"') quote = c;
    if (c == '#') break;
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && --depth < 0) break;
    if (depth == 0 && (c == ',' || c == '}')) break;
  }
  return trimmed(line.substr(begin, end - begin));
}

/// The header of the section in which a line stands, without brackets; empty at the top.
std::string_view section_of(const SourceMap& map, std::size_t start) {
  const std::string_view text = map.text();
  while (start > 0) {
    const std::size_t before = start < 2 ? std::string_view::npos : text.rfind('\n', start - 2);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view line = trimmed(text.substr(begin, start - 1 - begin));
    if (line.starts_with('[') && !line.starts_with("[["))
      return trimmed(line.substr(1, std::min(line.find(']'), line.size()) - 1));
    start = begin;
  }
  return {};
}

bool holds_equations(std::string_view section) {
  return section == "equations" || section == "constraints" || section == "invariants" || section == "initial";
}

/// The line of a section of equations that holds an equation without a name.
Fault unnamed_equation(const SourceMap& map, const Surroundings& here, std::string_view section) {
  std::string_view line = trimmed(here.line.substr(0, here.line.find('#')));
  const std::size_t column = here.line.find(line);
  const std::size_t length = line.size();
  if (line.size() > 1 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
  return {"toml", fmt::format("an entry of [{}] is a name, '=' and the equation in quotes", section),
          fmt::format("write name = \"{}\"", line), map.place(here.start + column, length)};
}

/// A key such as der(x) or x[1] without quotes.
std::optional<Fault> unquoted_key(const SourceMap& map, const Surroundings& here) {
  std::size_t begin = here.at;
  while (begin > 0 && is_bare(here.line[begin - 1])) --begin;
  const std::size_t equals = here.line.find('=', here.at);
  if (begin == here.at || equals == std::string_view::npos) return std::nullopt;
  const std::string_view key = trimmed(here.line.substr(begin, equals - begin));
  const std::string_view value = value_from(here.line, equals + 1);
  const std::string_view section = section_of(map, here.start);
  const bool member = value.starts_with('{') || value.starts_with('"');  // x[1] = "..." is a name without quotes
  if (holds_equations(section) && !member) return unnamed_equation(map, here, section);
  if (key.ends_with("(0)"))
    return Fault{"toml", fmt::format("'{}' is not a name for a start value", key),
                 key.find('\'') == std::string_view::npos
                     ? fmt::format("write {} = {}", key.substr(0, key.size() - 3), value.empty() ? "1.0" : value)
                     : fmt::format("write \"der({})\" = {}", key.substr(0, key.find('\'')), value.empty() ? "0.0" : value),
                 map.place(here.start + begin, key.size())};
  return Fault{
      "key-needs-quotes", fmt::format("the key {} contains '{}' and stands without quotes", key, here.line[here.at]),
      fmt::format("write \"{}\" = {}", key, value.empty() ? "..." : value), map.place(here.start + begin, key.size())};
}

/// Advice for a value that is no TOML: mostly an expression without quotes.
Fault bad_value(const SourceMap& map, const Surroundings& here) {
  const std::size_t stop = std::min(here.at, here.line.size());
  std::size_t begin = 0;
  std::size_t equals = std::string_view::npos;
  char quote = '\0';
  for (std::size_t i = 0; i < stop; ++i) {
    const char c = here.line[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '=' || c == ',' || c == '[' || c == '{') {
      begin = i + 1;
      equals = c == '=' ? i : std::string_view::npos;
    }
  }
  while (begin < here.line.size() && here.line[begin] == ' ') ++begin;
  const std::string_view value = value_from(here.line, begin);
  const std::string_view key = equals == std::string_view::npos ? std::string_view{} : key_before(here.line, equals);
  const std::string prefix = key.empty() ? "" : fmt::format("{} = ", key);
  const Place place = map.place(here.start + begin, std::max<std::size_t>(value.size(), 1));
  const auto fault = [&](std::string code, std::string message, std::string advice) {
    return Fault{std::move(code), std::move(message), std::move(advice), place};
  };
  if (value.empty())
    return fault("toml", "a value is missing", prefix.empty() ? "" : fmt::format("write {}0.0", prefix));
  if (value.front() == '=') return fault("toml", "found '==' where a key has its value", "write a single '='");
  if (value.front() == '"' || value.front() == '\'')
    return fault("toml", "something follows the closing quote of a text",
                 value.front() == '\'' ? "put an expression with an apostrophe into double quotes: \"der(x) = x'\""
                                       : "put the whole expression into one pair of quotes");
  const std::string word(value);
  if (std::count(value.begin(), value.end(), '"') == 1 && value.ends_with('"'))
    return fault("toml", "the opening quote of a text is missing", fmt::format("write {}\"{}", prefix, word));
  if (begin > 0 && here.line[begin - 1] == '[' && value.find('=') != std::string_view::npos && value.find('"') > value.find('='))
    return fault("toml", "found '=' in an array", "a table is written in braces: { start = 1, fixed = true }");
  if (const std::size_t semicolon = value.find(';'); semicolon != std::string_view::npos && semicolon + 1 < value.size())
    return fault("toml", fmt::format("found ';' in {}", word),
                 value.find('=', semicolon) == std::string_view::npos || here.line.find_first_of("{[") < begin ? "entries of arrays and tables are separated by ','"
                                                                      : "write one entry on each line, without ';'");
  if (value.front() == '>' && !prefix.empty())
    return fault("toml", "found '=>' where a key has its value", fmt::format("write {}{}", prefix, trimmed(value.substr(1))));
  if (value.front() == '(' && value.back() == ')' && value.find(',') != std::string_view::npos)
    return fault("toml", fmt::format("{} is not a TOML value", word),
                 fmt::format("an array is written {}[{}]", prefix, value.substr(1, value.size() - 2)));
  if (value.starts_with("- ") && is_number(value.substr(2)))
    return fault("toml", "a blank follows the sign of a number", fmt::format("write {}-{}", prefix, trimmed(value.substr(2))));
  if (value.ends_with('%') && is_number(value.substr(0, value.size() - 1)))
    return fault("toml", fmt::format("'%' does not belong into the number {}", word), "5 % is written 0.05");
  if (value.ends_with("\u00B0") && is_number(value.substr(0, value.size() - 2)))
    return fault("toml", fmt::format("the sign of degrees does not belong into the number {}", word),
                 fmt::format("angles are in radians: {}\"{}*pi/180\"", prefix, value.substr(0, value.size() - 2)));
  for (const std::string_view curly : {"\u201C", "\u201D", "\u201E", "\u2018", "\u2019"})
    if (value.starts_with(curly)) return fault("toml", "typographic quotes mean nothing here", "write straight quotes: \"");
  if (begin > 0 && here.line[begin - 1] == '[' && trimmed(here.line.substr(0, begin)) == "[" &&
      here.line.find(']') != std::string_view::npos)
    return Fault{"toml", "something follows the header of a section", "write the entries on lines of their own below it",
                 map.place(here.start + here.line.find(']') + 1)};
  if (const std::string_view rest = trimmed(here.line.substr(begin + value.size()));
      rest.starts_with(',') && is_number(value)) {
    const std::string_view after = trimmed(rest.substr(1));
    if (!prefix.empty() && after.find('.') == 3 && is_number(after))
      return fault("toml", fmt::format("found ',' in the number {}{}", word, rest),
                   fmt::format("digits are not grouped: {}{}{}", prefix, word, after));
    if (!prefix.empty() && !after.empty() && std::isdigit(static_cast<unsigned char>(after.front())))
      return fault("toml", fmt::format("found ',' in the number {}{}", word, rest),
                   fmt::format("a decimal point is written {}{}.{}", prefix, word, after));
    if (!prefix.empty() && after.empty())
      return fault("toml", "found ',' at the end of an entry", fmt::format("write {}{}", prefix, word));
  }
  if (word.ends_with(';'))
    return fault("toml", "found ';' at the end of an entry",
                 fmt::format("write {}{}", prefix, trimmed(value.substr(0, value.size() - 1))));
  if (const std::size_t blank = word.find(' '); blank != std::string::npos && is_number(word.substr(0, blank)) &&
                                                std::isalpha(static_cast<unsigned char>(trimmed(value.substr(blank))[0]))) {
    const std::string_view section = section_of(map, here.start);
    const bool takes_unit = section == "parameters" || section == "variables" || section == "auxiliary";
    const std::string_view unit = trimmed(value.substr(blank));
    if (!unit_advice(unit.substr(0, unit.find_first_of("/*^ "))).empty())
      return fault("toml", fmt::format("the unit {} does not belong into the number", unit),
                   takes_unit ? fmt::format("write {}{{ {} = {}, unit = \"{}\" }}", prefix,
                                            section == "parameters" ? "value" : "start", word.substr(0, blank), unit)
                              : fmt::format("write {}{}", prefix, word.substr(0, blank)));
  }
  if (const std::size_t blank = word.find(' ');
      blank != std::string::npos && is_number(word.substr(0, blank)) && is_number(trimmed(value.substr(blank))))
    return fault("toml", fmt::format("found two numbers, {}", word), fmt::format("write one of them; an array is [{}, {}]",
                                                                                  word.substr(0, blank), trimmed(value.substr(blank))));
  if (word == "True" || word == "TRUE" || word == "False" || word == "FALSE")
    return fault("toml", fmt::format("'{}' is not a TOML value", word),
                 fmt::format("write {}{}", prefix, word[0] == 'T' ? "true" : "false"));
  if (key == "fixed" || key == "stop")
    return fault("toml", fmt::format("'{}' is true or false; found {}", key, word), fmt::format("write {}true", prefix));
  const bool digits = word.find_first_not_of("0123456789.eE+-_") == std::string::npos &&
                      word.find_first_of("0123456789") != std::string::npos;
  const std::size_t dot = word.find('.');
  if (digits && dot != word.rfind('.'))
    return fault("toml", fmt::format("'{}' is not a TOML number", word), "a number has one decimal point");
  if (digits && dot != std::string::npos) {
    std::string better = word;
    if (dot + 1 == word.size() || !std::isdigit(static_cast<unsigned char>(word[dot + 1]))) better.insert(dot + 1, "0");
    if (dot == 0 || !std::isdigit(static_cast<unsigned char>(word[dot - 1]))) better.insert(dot, "0");
    if (better != word)
      return fault("toml", fmt::format("'{}' is not a TOML number: digits stand on both sides of the dot", word),
                   fmt::format("write {}{}", prefix, better));
  }
  if (digits && overflows(word))
    return fault("number-too-large", fmt::format("the number {} is larger than any double", word), "the largest is about 1.8e308");
  if (digits && word.find_first_not_of("+-0") != std::string::npos && word[word.find_first_not_of("+-")] != '0' &&
      word.find_first_of(".eE") == std::string::npos)
    return fault("toml", fmt::format("the whole number {} is too long for TOML", word), fmt::format("write {}{}.0", prefix, word));
  if (digits && word.find_first_of("+-*/", 1) == std::string::npos)
    return fault("toml", fmt::format("'{}' is not a TOML number", word),
                 word.find_last_of("eE") + 1 == word.size() ? fmt::format("write {}{}0", prefix, word) : "leave out leading zeros");
  for (const std::string_view nothing : {"null", "NULL", "Null", "nil", "None", "none", "undefined", "NA", "NaN", "Inf", "Infinity"})
    if (word == nothing)
      return fault("toml", fmt::format("'{}' is not a TOML value", word), "write a number, or remove the entry");
  static constexpr std::string_view texts[] = {"name",        "kind",          "description", "unit",
                                               "file",        "interpolation", "outside",     "direction",
                                               "formulation", "method",        "initialize"};
  if (std::find(std::begin(texts), std::end(texts), key) != std::end(texts))
    return fault("toml", fmt::format("the text {} stands without quotes", word),
                 fmt::format("write {}\"{}\"", prefix, word));
  return fault("expression-needs-quotes", fmt::format("the expression {} stands without quotes", word),
               fmt::format("put expressions in quotes: {}\"{}\"", prefix, word));
}

/// The line, from 1, before `start` in which `wanted` accepts the text, not beyond the header of the section if
/// `within`.
template <class Wanted>
std::size_t earlier_line(const SourceMap& map, std::size_t start, bool within, Wanted&& wanted) {
  const std::string_view text = map.text();
  while (start > 0) {
    const std::size_t before = start < 2 ? std::string_view::npos : text.rfind('\n', start - 2);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view line = trimmed(text.substr(begin, start - 1 - begin));
    if (wanted(line)) return map.place(begin).line;
    if (within && line.starts_with('[')) return 0;
    start = begin;
  }
  return 0;
}

/// Where the text begins that is still open at the end of a line.
std::size_t open_quote(std::string_view line) {
  char quote = '\0';
  std::size_t at = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '\0' && c == '#') break;
    if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
      at = i;
    } else if (c == quote) {
      quote = '\0';
    }
  }
  return quote == '\0' ? line.size() : at;
}

/// Where the text begins that """ opens and nothing closes, or npos.
std::size_t open_block(std::string_view text) {
  std::size_t open = std::string_view::npos;
  for (std::size_t at = text.find("\"\"\""); at != std::string_view::npos; at = text.find("\"\"\"", at + 3))
    open = open == std::string_view::npos ? at : std::string_view::npos;
  return open;
}

std::string quoted_part(std::string_view description) {
  const std::size_t from = description.find('\'');
  const std::size_t to = description.rfind('\'');
  if (from == std::string_view::npos || to <= from) return {};
  return std::string(description.substr(from + 1, to - from - 1));
}

}  // namespace

Fault toml_fault(const SourceMap& map, std::size_t offset, std::string_view description) {
  const Surroundings here = surroundings(map, offset);
  const auto says = [&](std::string_view what) { return description.find(what) != std::string_view::npos; };
  const Place place = map.place(offset);
  if (says("invalid utf-8")) return {"not-text", "the file is not UTF-8 text", "save it as UTF-8", place};
  if (says("maximum nested"))
    return {"toml", "arrays and tables are nested too deep", "a model needs at most four levels", place};
  if (says("expected '=', saw '('") || says("expected '=', saw '['") || says("expected '=', saw '''"))
    if (const std::optional<Fault> fault = unquoted_key(map, here)) return *fault;
  if (says("cannot redefine existing")) {
    const std::string name = quoted_part(description);
    const auto where = [](std::size_t line) {
      return line == 0 ? std::string{} : fmt::format(": here and in line {}", line);
    };
    if (says("table header")) {
      const std::string_view header = trimmed(here.line);
      const std::size_t line =
          earlier_line(map, here.start, false, [&](std::string_view other) { return other.starts_with(header); });
      return {"duplicate-section", fmt::format("the section [{}] appears twice{}", name, where(line)),
              "put all its entries below one header", map.place(here.start, header.size())};
    }
    const std::size_t line = earlier_line(map, here.start, true, [&](std::string_view other) {
      if (!other.empty() && (other.front() == '"' || other.front() == '\'')) other.remove_prefix(1);
      return other.starts_with(name) && other.size() > name.size() && !is_bare(other[name.size()]);
    });
    const std::size_t equals = std::min(here.line.find('='), here.line.size());
    return {"duplicate-name", fmt::format("'{}' is written twice in this section{}", name, where(line)),
            "remove or rename one of them", map.place(here.start, trimmed(here.line.substr(0, equals)).size())};
  }
  if (says("expected value, saw")) return bad_value(map, here);
  if (says("unescaped control") || says("control characters other than TAB") || (says("string") && says("end-of-file"))) {
    const std::size_t quote = open_quote(here.line);
    if (const std::size_t block = open_block(map.text());
        block != std::string_view::npos && offset >= map.text().size() && quote == here.line.size())
      return {"toml", "a text over several lines is not closed", "end it with \"\"\"", map.place(block, 3)};
    return {"toml", "a text is not closed",
            "add the closing quote; a text over several lines stands between \"\"\" and \"\"\"",
            quote < here.line.size() ? map.place(here.start + quote, here.line.size() - quote) : place};
  }
  if (says("unknown escape"))
    return {"toml", fmt::format("'{}' is not an escape of TOML", quoted_part(description)),
            "write \\\\ for a backslash, or put the text into single quotes", place};
  if (says("inline table") && (says("saw '\\n'") || says("saw '\n'") || says("saw '\\r'")))
    return {"toml", "an inline table { ... } must stand on one line",
            "keep it on one line, or write it as a section: [section.name] with one key per line", place};
  if (says("inline table") && says("dangling comma"))
    return {"toml", "an inline table must not end with a comma", "remove the last ','", place};
  if (says("key-value pair: expected '='")) {
    const std::string_view section = section_of(map, here.start), line = trimmed(here.line);
    const std::string_view rest = here.at < here.line.size() ? trimmed(here.line.substr(here.at)) : std::string_view{};
    const std::string_view key = trimmed(here.line.substr(0, std::min(here.at, here.line.size())));
    const std::size_t equals = rest.find('=');
    const std::string_view after = equals == std::string_view::npos ? std::string_view{} : trimmed(rest.substr(equals + 1));
    const bool named = after.starts_with('"') || after.starts_with('{') || rest.starts_with(": \"") || rest.starts_with(":\"");
    if (holds_equations(section) && !named) return unnamed_equation(map, here, section);
    if (section.empty() && equals == std::string_view::npos && !rest.starts_with(':'))
      return {"toml", "this is not a model: a model is a TOML file with lines such as key = value",
              "begin with kind = \"lagrangian\", then [variables]; docs/model-file.md shows all of it",
              map.place(here.start, line.size())};
    if (rest == ":")
      return {"toml", "a key is followed by '='; found ':'",
              fmt::format("the header of a section is written [{}]", key), place};
    if (rest.starts_with(':')) {
      const std::string_view value = trimmed(rest.substr(rest.starts_with(":=") ? 2 : 1));
      const bool quotes = !value.empty() && std::isalpha(static_cast<unsigned char>(value.front())) && value != "true" &&
                          value != "false";
      return {"toml", "a key is followed by '='; found ':'",
              quotes ? fmt::format("write {} = \"{}\"", key, value)
                     : fmt::format("write {} = {}", key, value.empty() ? "..." : value),
              place};
    }
    if (const std::size_t brace = key.rfind('{'); rest.find_first_of(",}") == 0 && brace != std::string_view::npos) {
      const std::string_view value = trimmed(key.substr(brace + 1));
      const std::string_view name = section == "variables" || section == "auxiliary" ? "start"
                                    : section == "parameters" || section == "outputs" || section == "definitions" ? "value"
                                                                                                                  : "name";
      return {"toml", fmt::format("the value {} in braces has no name", value),
              fmt::format("write {}{{ {} = {}{}", key.substr(0, brace), name, value, rest.starts_with(',') ? "" : " ") +
                  std::string(rest),
              map.place(here.start + here.line.find(value, here.line.find('{')), value.size())};
    }
    if (rest.starts_with(','))
      return {"toml", "an entry gives one value to one name; found ','", "write one entry on each line", place};
    if (rest.empty())
      return {"toml", fmt::format("'{}' has no value", key), fmt::format("write {} = 0.0", key),
              map.place(here.start + here.line.find(key), key.size())};
    if (equals != std::string_view::npos && is_bare(rest.front()) && is_name(trimmed(rest.substr(0, equals))))
      return {"toml", "a name has no spaces",
              fmt::format("write {}_{} = {}", key, trimmed(rest.substr(0, equals)), trimmed(rest.substr(equals + 1))),
              map.place(here.start + here.line.find(key),
                        here.at - here.line.find(key) + trimmed(rest.substr(0, equals)).size())};
    const std::string_view value = trimmed(rest.substr(rest.starts_with("<-") || rest.starts_with("->") ? 2 : 0));
    return {"toml", fmt::format("a key is followed by '=' and a value; found '{}'", rest),
            is_number(value) ? fmt::format("write {} = {}", key, value) : "write key = value", place};
  }
  if (says("expected keys, tables")) {
    const std::string_view line = trimmed(here.line);
    if (line.starts_with("//") || line.starts_with("/*") || line.starts_with('%') || line.starts_with("--"))
      return {"toml", "this is not TOML", "a comment begins with '#'", place};
    if (line.starts_with('='))
      return {"toml", "the name before '=' is missing", fmt::format("write name {}", line), map.place(here.start, line.size())};
    if (line.starts_with("(") && line.ends_with(")"))
      return {"toml", "found parentheses around the name of a section",
              fmt::format("write [{}]", trimmed(line.substr(1, line.size() - 2))), map.place(here.start, line.size())};
    if (line.starts_with("```")) return {"toml", "this is not TOML", "remove the line: the model alone is the file", place};
    if (const std::size_t equals = line.find('='); equals != std::string_view::npos && is_name(trimmed(line.substr(0, equals))))
      return {"key-needs-quotes", fmt::format("the key {} contains letters beyond a to z", trimmed(line.substr(0, equals))),
              fmt::format("write \"{}\" = {}", trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1))), place};
    if (line.starts_with('{') || line.starts_with('<'))
      return {"toml", "this is not a model: a model is a TOML file with lines such as key = value",
              "begin with kind = \"lagrangian\", then [variables]; docs/model-file.md shows all of it", place};
  }
  if (says("tables with blank bare keys"))
    return {"toml", "the header of a section is empty", "write its name: [variables]", place};
  if (says("table header") && (says("expected ']'") || says("must be contiguous"))) {
    std::string header(trimmed(here.line));
    if (says("must be contiguous"))
      return {"toml", "the name of a section stands in one pair of brackets",
              fmt::format("write [{}]", trimmed(trimmed(header.substr(1)).substr(1, trimmed(header.substr(1)).find(']') - 1))), place};
    if (header.find(']') == std::string::npos)
      return {"toml", "the header of a section is not closed", fmt::format("write {}]", header), place};
    header.resize(header.find(']') + 1);
    std::erase_if(header, [](char c) { return !is_bare(c) && c != '.' && c != '[' && c != ']'; });
    return {"toml", "the name of a section has letters, digits and '_' only", fmt::format("write {}", header), place};
  }
  if (says("parsing array") && says("end-of-file")) return {"toml", "an array is not closed", "add ']'", place};
  if (says("parsing array") && says("expected comma or closing"))
    return {"toml", "found something else than ',' or ']' in an array",
            "separate the entries by ',' and end the array with ']'", place};
  for (const std::string_view blank : {"\u00A0", "\u202F", "\u2009", "\u200B", "\u3000"})
    if (here.line.substr(std::min(here.at, here.line.size())).starts_with(blank))
      return {"toml", "found a blank that is no plain space", "write a plain space", place};
  if (says("parsing value") || says("integer") || says("floating-point") || says("boolean") ||
      says("expected a comment") || says("date") || says("time"))
    return bad_value(map, here);
  std::string_view rest = description;
  const std::size_t colon = rest.find(": ");
  if (rest.starts_with("Error while parsing") && colon != std::string_view::npos)
    return {"toml", fmt::format("this is not TOML: in the {}, {}", rest.substr(20, colon - 20), rest.substr(colon + 2)),
            "every line is key = value or [section]", place};
  return {"toml", fmt::format("this is not TOML: {}", rest), "every line is key = value or [section]", place};
}

}  // namespace daedalus::model
