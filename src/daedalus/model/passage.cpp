#include "daedalus/model/passage.hpp"

#include <algorithm>
#include <utility>

namespace daedalus::model {

namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Bytes that one escape sequence of a basic string takes, and the bytes that it stands for in UTF-8.
struct Escape {
  std::size_t length, bytes;
};

Escape escape_at(std::string_view text, std::size_t at) {
  const char kind = at + 1 < text.size() ? text[at + 1] : '\0';
  if (kind != 'u' && kind != 'U') return {2, 1};
  const std::size_t digits = kind == 'u' ? 4 : 8;
  unsigned long code = 0;
  for (std::size_t i = at + 2; i < at + 2 + digits && i < text.size(); ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 0;
    code = code * 16 + static_cast<unsigned long>(digit);
  }
  return {2 + digits, code < 0x80 ? 1U : code < 0x800 ? 2U : code < 0x10000 ? 3U : 4U};
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

SourceMap::SourceMap(std::shared_ptr<const SourceText> source) : source_(std::move(source)), line_starts_{0} {
  for (std::size_t i = 0; i < source_->text.size(); ++i) {
    if (source_->text[i] == '\n') line_starts_.push_back(i + 1);
    if (continues_character(source_->text[i])) wide_lines_.insert(line_starts_.size());
  }
}

Place SourceMap::place(std::size_t offset, std::size_t length) const {
  offset = std::min(offset, source_->text.size());
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<std::size_t>(after - line_starts_.begin());
  const std::size_t end_of_line = line < line_starts_.size() ? line_starts_[line] - 1 : source_->text.size();
  return {source_, line, offset - line_starts_[line - 1] + 1,
          std::max<std::size_t>(1, std::min(length, end_of_line - offset))};
}

std::size_t SourceMap::offset(std::size_t line, std::size_t character) const {
  if (line == 0) return 0;
  if (line > line_starts_.size()) return source_->text.size();
  std::size_t at = line_starts_[line - 1];
  if (!wide_lines_.contains(line)) return std::min(at + character - 1, source_->text.size());
  for (std::size_t i = 1; i < character && at < source_->text.size(); ++i) {
    ++at;
    while (at < source_->text.size() && continues_character(source_->text[at])) ++at;
  }
  return at;
}

Passage::Passage(std::shared_ptr<const SourceMap> map, std::string text, std::size_t offset)
    : map_(std::move(map)), text_(std::move(text)), runs_{{0, offset}} {}

Passage Passage::of_toml_string(std::shared_ptr<const SourceMap> map, std::string text, std::size_t offset) {
  const std::string& source = map->text();
  Passage passage(std::move(map), std::move(text), offset + 1);
  if (offset >= source.size()) return passage;
  const char quote = source[offset];
  const bool multi_line = source.compare(offset, 3, std::string(3, quote)) == 0;
  std::size_t at = offset + (multi_line ? 3 : 1);
  if (multi_line && source.compare(at, 1, "\n") == 0) at += 1;
  if (multi_line && source.compare(at, 2, "\r\n") == 0) at += 2;
  passage.runs_ = {{0, at}};
  std::size_t here = 0;
  while (here < passage.text_.size() && at < source.size()) {
    if (quote == '"' && source[at] == '\\') {
      if (multi_line && at + 1 < source.size() && is_blank(source[at + 1])) {
        for (++at; at < source.size() && is_blank(source[at]);) ++at;
      } else {
        const Escape escape = escape_at(source, at);
        passage.runs_.push_back({here, at});
        at += escape.length;
        here += escape.bytes;
      }
      passage.runs_.push_back({here, at});
    } else if (source[at] != passage.text_[here]) {
      // The reader of TOML may turn "\r\n" into "\n"; everything else is taken as it stands.
      ++at;
      passage.runs_.push_back({here, at});
      if (source[at - 1] != '\r') ++here;
    } else {
      ++at;
      ++here;
    }
  }
  return passage;
}

std::size_t Passage::source_offset(std::size_t offset) const {
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), offset,
                                      [](std::size_t value, const Run& run) { return value < run.here; });
  const Run& run = after == runs_.begin() ? runs_.front() : *(after - 1);
  return run.there + (offset - run.here);
}

Place Passage::place(std::size_t offset, std::size_t length) const {
  if (!map_) return {};
  const std::size_t begin = source_offset(std::min(offset, text_.size()));
  const std::size_t last = std::min(offset + length, text_.size());
  if (last <= offset) return map_->place(begin, 1);
  const std::size_t end = source_offset(last - 1) + 1;
  return map_->place(begin, end > begin ? end - begin : 1);
}

}  // namespace daedalus::model
