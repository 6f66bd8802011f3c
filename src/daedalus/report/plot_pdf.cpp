// A picture as PDF 1.4 (PDF 32000-1:2008): one page of the size of the picture, uncompressed.

#include <fmt/format.h>

#include <vector>

#include "daedalus/report/plot_font.hpp"
#include "daedalus/report/plot_picture.hpp"
#include "daedalus/report/version.hpp"

namespace daedalus::report {

namespace {

using Out = fmt::memory_buffer;

template <class... Values>
void put(Out& out, fmt::format_string<Values...> form, Values&&... values) {
  fmt::format_to(std::back_inserter(out), form, std::forward<Values>(values)...);
}

/// A number with at most two decimals and no zeros at the end.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

/// A string of the file, as hexadecimal bytes: nothing to escape.
std::string hexadecimal(const std::vector<Glyph>& glyphs, std::size_t from, std::size_t to) {
  std::string text = "<";
  for (std::size_t i = from; i < to; ++i) text += fmt::format("{:02X}", glyphs[i].code);
  return text + ">";
}

std::string channels(const Color& c) {
  return fmt::format("{:.3f} {:.3f} {:.3f}", c.red / 255.0, c.green / 255.0, c.blue / 255.0);
}

void write(Out& out, const Path& path, double height) {
  if (path.spots.size() < 2) return;
  put(out, "{} RG {} w\n", channels(path.color), number(path.width));
  std::string last;
  for (std::size_t i = 0; i < path.spots.size(); ++i) {
    const std::string spot = number(path.spots[i].x) + " " + number(height - path.spots[i].y);
    if (i > 1 && spot == last) continue;
    put(out, "{} {}\n", spot, i == 0 ? 'm' : 'l');
    last = spot;
  }
  put(out, "S\n");
}

void write(Out& out, const Area& area, double height) {
  put(out, "{} rg\n", channels(area.color));
  for (const std::vector<Spot>& ring : area.rings) {
    for (std::size_t i = 0; i < ring.size(); ++i)
      put(out, "{} {} {}\n", number(ring[i].x), number(height - ring[i].y), i == 0 ? 'm' : 'l');
    put(out, "h\n");
  }
  put(out, "f*\n");
}

void write(Out& out, const Label& label, double height) {
  const double width = width_of(label.words, label.size);
  const double back = label.anchor == Anchor::start ? 0.0 : label.anchor == Anchor::middle ? width / 2 : width;
  const double x = label.at.x - (label.upwards ? 0.0 : back), y = height - label.at.y - (label.upwards ? back : 0.0);
  put(out, "BT {} rg {} {} {} Tm\n", channels(label.color), label.upwards ? "0 1 -1 0" : "1 0 0 1", number(x),
      number(y));
  for (const Run& run : label.words) {
    const std::vector<Glyph> glyphs = glyphs_of(run.text);
    put(out, "{} Ts\n", number(run.raised ? raised_lift * label.size : 0.0));
    for (std::size_t i = 0, next = 0; i < glyphs.size(); i = next) {
      while (next < glyphs.size() && glyphs[next].font == glyphs[i].font) ++next;
      put(out, "/F{} {} Tf {} Tj\n", static_cast<int>(glyphs[i].font),
          number(label.size * (run.raised ? raised_size : 1.0)), hexadecimal(glyphs, i, next));
    }
  }
  put(out, "ET\n");
}

/// A text of the document's properties.
std::string property(std::string_view text) {
  const std::vector<Glyph> glyphs = glyphs_of(text);
  return hexadecimal(glyphs, 0, glyphs.size());
}

}  // namespace

std::string picture_pdf(const Picture& picture) {
  Out content;
  put(content, "1 J 1 j\n");
  for (const Area& area : picture.areas) write(content, area, picture.height);
  for (const Path& path : picture.paths) write(content, path, picture.height);
  for (const Area& mark : picture.marks) write(content, mark, picture.height);
  for (const Label& label : picture.labels) write(content, label, picture.height);

  const std::vector<std::string> objects{
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents 4 0 R "
                  "/Resources << /Font << /F0 5 0 R /F1 6 0 R >> >> >>",
                  number(picture.width), number(picture.height)),
      fmt::format("<< /Length {} >>\nstream\n{}\nendstream", content.size(), fmt::to_string(content)),
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica "
      "/Encoding << /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [1 /minus] >> >>",
      "<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>",
      fmt::format("<< /Title {} /Subject {} /Producer (daedalus {}) >>", property(picture.title),
                  property(picture.description), version()),
  };
  Out out;
  // Four bytes above 127 tell programs that move the file not to treat it as text.
  put(out, "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n");
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    places.push_back(out.size());
    put(out, "{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
  }
  const std::size_t table = out.size();
  put(out, "xref\n0 {}\n0000000000 65535 f \n", objects.size() + 1);
  for (const std::size_t place : places) put(out, "{:010} 00000 n \n", place);
  put(out, "trailer\n<< /Size {} /Root 1 0 R /Info {} 0 R >>\nstartxref\n{}\n%%EOF\n", objects.size() + 1,
      objects.size(), table);
  return fmt::to_string(out);
}

}  // namespace daedalus::report
