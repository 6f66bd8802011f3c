#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "daedalus/base/error.hpp"

namespace daedalus::model {

/// A text of the author with the beginnings of its lines, to turn offsets into places.
class SourceMap {
 public:
  explicit SourceMap(std::shared_ptr<const SourceText> source);

  const std::string& text() const { return source_->text; }
  const std::shared_ptr<const SourceText>& source() const { return source_; }
  /// The place of `length` bytes from `offset` on, cut at the end of the line.
  Place place(std::size_t offset, std::size_t length = 1) const;
  /// Offset of a line and a column that counts characters, both from 1.
  std::size_t offset(std::size_t line, std::size_t character) const;

 private:
  std::shared_ptr<const SourceText> source_;
  std::vector<std::size_t> line_starts_;
  std::unordered_set<std::size_t> wide_lines_;  ///< those with characters of several bytes
};

/// A piece of text that stands somewhere in a source: the value of a TOML string, an argument of the command line. It
/// knows where each of its characters was written, also across escapes and lines.
class Passage {
 public:
  Passage() = default;
  /// Text that stands in the source from `offset` on, character by character.
  Passage(std::shared_ptr<const SourceMap> map, std::string text, std::size_t offset);
  /// The value `text` of the TOML string whose opening quote is at `offset`.
  static Passage of_toml_string(std::shared_ptr<const SourceMap> map, std::string text, std::size_t offset);

  const std::string& text() const { return text_; }
  /// The place of `length` characters from `offset` of this text on.
  Place place(std::size_t offset, std::size_t length = 1) const;
  /// The place of all of it.
  Place place() const { return place(0, text_.size()); }

 private:
  struct Run {
    std::size_t here, there;  ///< from `here` on, characters stand at `there` and after it in the source
  };
  std::size_t source_offset(std::size_t offset) const;

  std::shared_ptr<const SourceMap> map_;
  std::string text_;
  std::vector<Run> runs_;
};

}  // namespace daedalus::model
