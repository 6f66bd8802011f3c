#include "daedalus/base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace daedalus {

std::string shortest(double value) {
  std::array<char, 32> buffer;  // the longest double, such as -1.2345678901234567e-308, has 24 characters
  const std::to_chars_result end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end.ptr);
}

std::string brief(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

std::string count(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace daedalus
