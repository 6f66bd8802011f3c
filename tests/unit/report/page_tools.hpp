#pragma once

#include <cstring>
#include <string>
#include <vector>

namespace daedalus::report {

/// The text of a script element of a page.
inline std::string block(const std::string& page, const std::string& id) {
  const std::string mark = "id=\"" + id + "\">";
  const std::size_t from = page.find(mark) + mark.size();
  return page.substr(from, page.find("</script>", from) - from);
}

/// Numbers from base64.
template <class Number>
std::vector<Number> decoded(const std::string& text) {
  static const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned value = 0, bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    value = value << 6 | static_cast<unsigned>(letters.find(c));
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(value >> bits & 255U);
    }
  }
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

}  // namespace daedalus::report
