#pragma once

#include <cstddef>
#include <string_view>

namespace daedalus {

/// Bytes of the UTF-8 character with which a text begins; 0 where there is none. A zero byte is no text.
inline std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = static_cast<unsigned char>(text.front());
  const std::size_t length = byte == 0                     ? 0
                             : byte < 0x80                 ? 1
                             : byte >= 0xC2 && byte < 0xE0 ? 2
                             : byte >= 0xE0 && byte < 0xF0 ? 3
                             : byte >= 0xF0 && byte < 0xF5 ? 4
                                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k)
    if ((static_cast<unsigned char>(text[k]) & 0xC0) != 0x80) return 0;
  return length;
}

}  // namespace daedalus
