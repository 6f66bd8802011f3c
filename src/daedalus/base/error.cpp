#include "daedalus/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "daedalus/base/utf8.hpp"

namespace daedalus {

namespace {

/// The line of the source that a place points into, without its line break.
std::string_view line_of(const Place& place) {
  const std::string_view text = place.source->text;
  std::size_t begin = 0;
  for (std::size_t line = 1; line < place.line; ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Bytes that continue a UTF-8 character take no column on the screen.
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The quoted line with a caret below, cut to a window where the line is very long.
std::string quote(const Place& place) {
  std::string_view line = line_of(place);
  std::size_t column = std::min(place.column == 0 ? 1 : place.column, line.size() + 1);
  constexpr std::size_t window = 160;
  std::size_t cut = 0;
  if (line.size() > window && column > window / 2) {
    cut = std::min(column - window / 2, line.size() - window / 2);
    while (cut < line.size() && continues_character(line[cut])) ++cut;
  }
  std::size_t end = std::min(cut + window, line.size());
  while (end > cut && end < line.size() && continues_character(line[end])) --end;
  const std::string_view shown = line.substr(cut, end - cut);
  column -= std::min(cut, column - 1);
  std::string marks;
  for (std::size_t i = 0; i + 1 < column && i < shown.size(); ++i)
    if (!continues_character(shown[i])) marks += shown[i] == '\t' ? '\t' : ' ';
  marks += '^';
  for (std::size_t i = column; i < column + place.length - 1 && i < shown.size(); ++i)
    if (!continues_character(shown[i])) marks += '~';
  std::string text;
  // What a terminal cannot show is a question mark, one for every mark below.
  for (std::size_t i = 0; i < shown.size();) {
    const std::size_t length = utf8_length(shown.substr(i));
    const bool control = static_cast<unsigned char>(shown[i]) < 32 && shown[i] != '\t';
    if (length > 0 && !control)
      text += shown.substr(i, length);
    else if (!continues_character(shown[i]))
      text += '?';
    i += std::max<std::size_t>(length, 1);
  }
  return fmt::format("{:>6} | {}\n       | {}\n", place.line, text, marks);
}

/// Cuts the middle out of a text that quotes something endless.
void shorten(std::string& text) {
  constexpr std::size_t most = 600, head = 400, tail = 150;
  if (text.size() <= most) return;
  std::size_t from = head, to = text.size() - tail;
  while (from > 0 && continues_character(text[from])) --from;
  while (to < text.size() && continues_character(text[to])) ++to;
  text.replace(from, to - from, " ... ");
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1), last(b.size() + 1), before(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto same = [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
      };
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0U : 1U)});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

std::size_t shown_column(const Place& place) {
  if (!place.source || place.line == 0) return place.column;
  const std::string_view before = line_of(place).substr(0, place.column == 0 ? 0 : place.column - 1);
  const auto inner = std::count_if(before.begin(), before.end(), continues_character);
  return place.column - static_cast<std::size_t>(inner);
}

std::string render(const Fault& fault) {
  std::string text;
  if (fault.place.source) {
    text += fault.place.source->name;
    if (fault.place.line > 0) text += fmt::format(":{}:{}", fault.place.line, shown_column(fault.place));
    text += ": ";
  }
  text += fmt::format("error[{}]: {}\n", fault.code, fault.message);
  if (fault.place.source && fault.place.line > 0) text += quote(fault.place);
  if (!fault.advice.empty()) text += fmt::format("  -> {}\n", fault.advice);
  return text;
}

Error::Error(std::vector<Fault> faults) : faults_(std::move(faults)) {
  for (Fault& fault : faults_) {
    shorten(fault.message);
    shorten(fault.advice);
    rendered_ += render(fault);
  }
  if (!rendered_.empty() && rendered_.back() == '\n') rendered_.pop_back();
}

Error::Error(std::string code, std::string message, std::string advice, Place place)
    : Error(std::vector<Fault>{{std::move(code), std::move(message), std::move(advice), std::move(place)}}) {}

void Faults::add(std::string code, std::string message, std::string advice, Place place) {
  faults_.push_back({std::move(code), std::move(message), std::move(advice), std::move(place)});
}

void Faults::add(const Error& error) { faults_.insert(faults_.end(), error.faults().begin(), error.faults().end()); }

void Faults::throw_if_any() {
  if (faults_.empty()) return;
  std::stable_sort(faults_.begin(), faults_.end(), [](const Fault& a, const Fault& b) {
    return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
  });
  if (faults_.size() > most_shown) {
    faults_.resize(most_shown);
    this->add("too-many-faults", fmt::format("there are more mistakes; these are the first {}", most_shown),
              "correct these and try again");
  }
  throw Error(std::move(faults_));
}

std::vector<std::string> nearest_names(std::string_view wrong, const std::vector<std::string>& known,
                                       std::size_t most) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  constexpr std::size_t longest = 100;
  if (wrong.size() > longest) return {};
  const std::size_t allowed = std::max<std::size_t>(1, wrong.size() / 3 + (wrong.size() > 2 ? 1 : 0));
  for (const std::string& name : known) {
    const std::size_t longer = std::max(name.size(), wrong.size()), shorter = std::min(name.size(), wrong.size());
    if (longer - shorter > allowed) continue;
    const std::size_t distance = edit_distance(wrong, name);
    if (distance <= allowed && distance < longer) ranked.emplace_back(distance, name);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& [distance, name] : ranked) {
    if (names.size() == most || (distance > 0 && ranked.front().first == 0)) break;  // only the case is wrong
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string suggest(std::string_view wrong, const std::vector<std::string>& known) {
  const std::vector<std::string> near = nearest_names(wrong, known);
  if (!near.empty()) {
    std::string text = "did you mean ";
    for (std::size_t i = 0; i < near.size(); ++i)
      text += fmt::format("{}'{}'", i == 0 ? "" : i + 1 == near.size() ? " or " : ", ", near[i]);
    return text + "?";
  }
  if (known.empty()) return {};
  constexpr std::size_t most = 12;
  std::string text = "known names: ";
  for (std::size_t i = 0; i < known.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + known[i];
  return known.size() > most ? text + fmt::format(", ... ({} in all)", known.size()) : text;
}

}  // namespace daedalus
