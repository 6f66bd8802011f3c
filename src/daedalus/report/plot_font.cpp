// Widths of Helvetica and Symbol, two of the fonts that every PDF reader has (PDF 32000-1:2008, 9.6.2.2). The numbers
// are those of Adobe's font metrics. SVG uses whatever the reader has in place of Helvetica; its widths are close.

#include "daedalus/report/plot_font.hpp"

#include <array>

namespace daedalus::report {

namespace {

// From the space on.
constexpr std::array<int, 95> ascii_widths{
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

// Unicode 0x391 .. 0x3A9 and 0x3B1 .. 0x3C9: Alpha to Omega without 0x3A2, alpha to omega with the final sigma.
constexpr std::string_view capital_codes = "ABGDEZHQIKLMNXOPR?STUFCYW";
constexpr std::array<int, 25> capital_widths{722, 667, 603, 612, 611, 611, 722, 741, 333, 722, 686, 889, 722,
                                             645, 722, 768, 556, 0,   592, 611, 690, 763, 722, 795, 768};
constexpr std::string_view small_codes = "abgdezhqiklmnxoprVstufcyw";
constexpr std::array<int, 25> small_widths{631, 549, 411, 494, 439, 494, 603, 521, 329, 549, 549, 576, 521,
                                           493, 549, 549, 549, 439, 603, 439, 576, 521, 549, 686, 686};

int latin_width(char32_t c) {
  switch (c) {
    case 0xB0:
      return 400;
    case 0xB2:
    case 0xB3:
    case 0xB9:
      return 333;
    case 0xB5:
      return 556;
    case 0xB7:
      return 278;
    case 0xD7:
    case 0xB1:
      return 584;
    default:
      return c >= 0xC0 && c < 0xE0 ? 690 : 556;
  }
}

Glyph glyph_of(char32_t c) {
  using Font = Glyph::Font;
  if (c >= 0x20 && c < 0x7F) return {Font::helvetica, static_cast<std::uint8_t>(c), ascii_widths[c - 0x20]};
  if (c >= 0xA1 && c <= 0xFF) return {Font::helvetica, static_cast<std::uint8_t>(c), latin_width(c)};
  if (c == 0x2212) return {Font::helvetica, 1, 584};
  if (c == 0x2126) c = 0x3A9;  // ohm
  if (c == 0x3BC) return {Font::helvetica, 0xB5, 556};
  if (c >= 0x391 && c <= 0x3A9 && c != 0x3A2)
    return {Font::symbol, static_cast<std::uint8_t>(capital_codes[c - 0x391]), capital_widths[c - 0x391]};
  if (c >= 0x3B1 && c <= 0x3C9)
    return {Font::symbol, static_cast<std::uint8_t>(small_codes[c - 0x3B1]), small_widths[c - 0x3B1]};
  return {};
}

}  // namespace

std::vector<Glyph> glyphs_of(std::string_view text) {
  std::vector<Glyph> glyphs;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t c = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k)
      c = c << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3FU);
    glyphs.push_back(glyph_of(c));
    i += length;
  }
  return glyphs;
}

double width_of(const Words& words, double size) {
  double sum = 0.0;
  for (const Run& run : words)
    for (const Glyph& glyph : glyphs_of(run.text)) sum += glyph.width * (run.raised ? raised_size : 1.0);
  return sum * size / 1000.0;
}

}  // namespace daedalus::report
