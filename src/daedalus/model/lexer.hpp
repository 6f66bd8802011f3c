#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "daedalus/model/passage.hpp"

namespace daedalus::model {

enum class TokenKind : std::uint8_t {
  number,
  name,
  plus,
  minus,
  times,
  divide,
  power,
  open,
  close,
  open_bracket,
  close_bracket,
  comma,
  equals,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  prime,
  range,
  dot,
  end,
};

struct Token {
  TokenKind kind;
  std::uint32_t begin = 0, end = 0;
  double value = 0.0;  ///< of a number
};

/// Cuts an expression into tokens, the last of which is `end`. Throws Error for a character that has no meaning.
std::vector<Token> tokens_of(const Passage& passage);

/// Length in bytes of the letter (also Greek, Latin, Cyrillic in UTF-8) or "_" at the beginning of `text`, or 0.
std::size_t letter_length(std::string_view text);

}  // namespace daedalus::model
