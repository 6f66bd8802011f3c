#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daedalus {

/// The text that a person wrote, kept so that messages can quote it.
struct SourceText {
  std::string name;  ///< file name as the user gave it, or "--set", "--fix", ...
  std::string text;
};

/// Where something stands in a user's text. Lines and columns count from 1, columns in bytes (shown_column counts characters); line 0 means "no place".
struct Place {
  std::shared_ptr<const SourceText> source;
  std::size_t line = 0;
  std::size_t column = 0;
  std::size_t length = 1;  ///< bytes to underline
};

/// The column of a place in characters (UTF-8 code points), from 1, as editors show it.
std::size_t shown_column(const Place& place);

/// One mistake of the author: what was found, what was expected, what to do.
struct Fault {
  std::string code;     ///< stable name such as "unknown-name"; docs/errors.md lists them
  std::string message;  ///< what was found and what was expected
  std::string advice;   ///< what to write instead; may be empty
  Place place;
};

/// Renders a fault with file, line, column, the quoted text and a caret below it.
std::string render(const Fault& fault);

/// Thrown for mistakes of the author of a model, an option or a file. Never for numerical failure.
class Error : public std::exception {
 public:
  explicit Error(std::vector<Fault> faults);
  Error(std::string code, std::string message, std::string advice = {}, Place place = {});

  const std::vector<Fault>& faults() const { return faults_; }
  const char* what() const noexcept override { return rendered_.c_str(); }

 private:
  std::vector<Fault> faults_;
  std::string rendered_;
};

/// Collects faults so that all of a file are reported together.
class Faults {
 public:
  /// Faults that are shown; more than these help nobody.
  static constexpr std::size_t most_shown = 100;

  void add(std::string code, std::string message, std::string advice = {}, Place place = {});
  void add(const Error& error);
  bool empty() const { return faults_.empty(); }
  std::size_t size() const { return faults_.size(); }
  /// Throws one Error with what was collected, ordered by place, if there is anything.
  void throw_if_any();

 private:
  std::vector<Fault> faults_;
};

/// The names nearest to a misspelt one, best first; empty where none is near.
std::vector<std::string> nearest_names(std::string_view wrong, const std::vector<std::string>& known,
                                       std::size_t most = 3);

/// "did you mean 'length'?" or "known names: a, b, c", from nearest_names; empty where nothing is known.
std::string suggest(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace daedalus
