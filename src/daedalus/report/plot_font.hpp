#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "daedalus/report/plot_picture.hpp"

namespace daedalus::report {

/// A character of the PDF standard fonts: Helvetica in Windows encoding (with the minus sign at code 1), or Symbol.
struct Glyph {
  enum class Font : std::uint8_t { helvetica, symbol };
  Font font = Font::helvetica;
  std::uint8_t code = '?';
  int width = 556;  ///< in thousandths of the size
};

/// Characters of a UTF-8 text; those that neither font has become '?'.
std::vector<Glyph> glyphs_of(std::string_view text);

/// Width of a text in points.
double width_of(const Words& words, double size);

}  // namespace daedalus::report
