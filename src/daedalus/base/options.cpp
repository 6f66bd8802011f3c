#include "daedalus/base/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "daedalus/base/check.hpp"
#include "daedalus/base/text.hpp"

namespace daedalus {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The number, or the fraction such as 2/3, that the whole text is, if it is one and finite.
std::optional<double> number_in(std::string_view text) {
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const auto above = number_in(text.substr(0, slash)), below = number_in(text.substr(slash + 1));
    if (!above || !below || !std::isfinite(*above / *below)) return std::nullopt;
    return *above / *below;
  }
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0.0;
  const std::from_chars_result end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string bounds_of(const OptionSpec& spec) {
  const bool below = std::isfinite(spec.least), above = std::isfinite(spec.most);
  if (below && above) return fmt::format("a number from {} to {}", shortest(spec.least), shortest(spec.most));
  if (below) return fmt::format("a number, at least {}", shortest(spec.least));
  if (above) return fmt::format("a number, at most {}", shortest(spec.most));
  return "a number";
}

/// Where the first option of several ends: at a comma that stands in no brackets.
std::size_t end_of_option(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (text[i] == ',' && depth <= 0) return i;
  }
  return std::string_view::npos;
}

[[noreturn]] void refuse(std::string_view text, std::string_view found) {
  throw Error("bad-choice", fmt::format("in '{}' {}", text, found),
              "write a name, or a name with options such as 'name:option=1,other=2'");
}

}  // namespace

std::string Choice::text() const {
  std::string result = name;
  char separator = ':';
  for (const auto& [option, value] : options) {
    result += fmt::format("{}{}={}", separator, option, value);
    separator = ',';
  }
  return result;
}

Choice parse_choice(std::string_view text) {
  Choice choice;
  const std::size_t colon = text.find(':');
  choice.name = trimmed(text.substr(0, colon));
  if (choice.name.empty()) refuse(text, "the name is missing");
  if (choice.name.find_first_of("=,") != std::string::npos) {
    refuse(text, fmt::format("'{}' stands where a name is expected", choice.name));
  }
  if (colon == std::string_view::npos) return choice;

  std::string_view rest = text.substr(colon + 1);
  for (bool more = true; more;) {
    const std::size_t comma = end_of_option(rest);
    const std::string_view item = trimmed(rest.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);

    if (item.empty()) refuse(text, "an option is missing after ':' or ','");
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) refuse(text, fmt::format("option '{}' has no value", item));
    std::string name(trimmed(item.substr(0, equals)));
    std::string value(trimmed(item.substr(equals + 1)));
    if (name.empty()) refuse(text, fmt::format("the name of the option is missing before '={}'", value));
    if (value.empty()) refuse(text, fmt::format("option '{}' has no value", name));
    if (std::ranges::any_of(choice.options, [&](const auto& given) { return given.first == name; })) {
      refuse(text, fmt::format("option '{}' is given twice", name));
    }
    choice.options.emplace_back(std::move(name), std::move(value));
  }
  return choice;
}

Options::Options(const Choice& choice, const std::vector<OptionSpec>& specs) {
  Faults faults;
  std::vector<std::string> known;
  for (const OptionSpec& spec : specs) known.push_back(spec.name);
  for (const auto& [name, value] : choice.options) {
    if (std::ranges::find(known, name) != known.end()) continue;
    faults.add("unknown-option",
               fmt::format("'{}' has no option '{}' (given as {}={})", choice.name, name, name, value),
               known.empty() ? fmt::format("'{}' takes no options", choice.name) : suggest(name, known));
  }

  for (const OptionSpec& spec : specs) {
    const auto given = std::ranges::find(choice.options, spec.name, &std::pair<std::string, std::string>::first);
    Value value{.name = spec.name, .word = {}, .number = std::nullopt, .given = given != choice.options.end()};
    if (spec.text) {
      if (value.given) in_force_.emplace_back(spec.name, value.word = given->second);
    } else if (!spec.words.empty()) {
      value.word = value.given ? given->second : spec.words.front();
      if (std::ranges::find(spec.words, value.word) == spec.words.end()) {
        std::string expected;
        for (const std::string& word : spec.words) expected += (expected.empty() ? "" : ", ") + word;
        faults.add("bad-option-value",
                   fmt::format("option '{}' of '{}' is '{}', expected one of: {}", spec.name, choice.name, value.word,
                               expected),
                   nearest_names(value.word, spec.words).empty() ? "" : suggest(value.word, spec.words));
      }
      in_force_.emplace_back(spec.name, value.word);
    } else {
      value.number = value.given ? number_in(given->second) : spec.standard;
      if (value.given && !(value.number && *value.number >= spec.least && *value.number <= spec.most)) {
        faults.add("bad-option-value",
                   fmt::format("option '{}' of '{}' is '{}', expected {}", spec.name, choice.name, given->second,
                               bounds_of(spec)),
                   spec.standard ? fmt::format("without it {} is {}", spec.name, shortest(*spec.standard)) : "");
      }
      if (value.number) in_force_.emplace_back(spec.name, shortest(*value.number));
    }
    values_.push_back(std::move(value));
  }
  faults.throw_if_any();
}

const Options::Value& Options::find(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &Value::name);
  DAEDALUS_CHECK(found != values_.end(), "option '{}' is not in the specification", name);
  return *found;
}

bool Options::given(std::string_view name) const { return find(name).given; }

double Options::number(std::string_view name) const {
  const Value& value = find(name);
  DAEDALUS_CHECK(value.number, "option '{}' has no number", name);
  return *value.number;
}

const std::string& Options::word(std::string_view name) const {
  const Value& value = find(name);
  DAEDALUS_CHECK(!value.number && !value.word.empty(), "option '{}' has no word", name);
  return value.word;
}

}  // namespace daedalus
