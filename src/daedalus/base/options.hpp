#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daedalus/base/error.hpp"

namespace daedalus {

/// One option that a method or formulation understands.
struct OptionSpec {
  std::string name;
  std::string summary;
  std::optional<double> standard;  ///< default value; none: the option is absent unless given
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::string> words = {};  ///< non-empty: the value is one of these words, the first is the default
  bool text = false;                    ///< the value is any text, such as an expression; absent unless given
};

/// A name with options as a person types it: "baumgarte:omega=2,xi=0.8".
struct Choice {
  std::string name;
  std::vector<std::pair<std::string, std::string>> options;
  std::string text() const;
};

/// Splits "name:key=value,key=value"; a comma in brackets belongs to its value. Throws Error("bad-choice") on malformed text.
Choice parse_choice(std::string_view text);

/// The options of one chosen entry, checked against its specification.
class Options {
 public:
  /// Throws Error naming option, value and bound where `choice` does not fit `specs`.
  Options(const Choice& choice, const std::vector<OptionSpec>& specs);

  bool given(std::string_view name) const;
  double number(std::string_view name) const;  ///< given value or default; the option must have one
  const std::string& word(std::string_view name) const;  ///< given word, or the default; given text
  /// Every option with the value in force, as text, in the order of the specification.
  const std::vector<std::pair<std::string, std::string>>& in_force() const { return in_force_; }

 private:
  struct Value {
    std::string name, word;
    std::optional<double> number;
    bool given;
  };
  const Value& find(std::string_view name) const;
  std::vector<Value> values_;
  std::vector<std::pair<std::string, std::string>> in_force_;
};

}  // namespace daedalus
