// A picture as SVG 1.1 text.

#include <fmt/format.h>

#include <cmath>

#include "daedalus/report/plot_picture.hpp"

namespace daedalus::report {

namespace {

using Out = fmt::memory_buffer;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

/// A number of hundredths, as short as can be: "12.5", "-.03".
void hundredths(Out& out, long long value) {
  if (value < 0) out.push_back('-');
  const long long size = std::abs(value);
  if (size >= 100 || size == 0) fmt::format_to(std::back_inserter(out), "{}", size / 100);
  if (size % 100 == 0) return;
  out.push_back('.');
  out.push_back(static_cast<char>('0' + size % 100 / 10));
  if (size % 10 != 0) out.push_back(static_cast<char>('0' + size % 10));
}

std::string color(const Color& c) { return fmt::format("#{:02x}{:02x}{:02x}", c.red, c.green, c.blue); }

/// Relative moves between points on a grid of 1/100: short, and roundings do not add up.
void write(Out& out, const std::vector<Spot>& spots) {
  out.push_back('M');
  long long x = 0, y = 0;
  for (std::size_t i = 0; i < spots.size(); ++i) {
    const long long next_x = std::llround(100.0 * spots[i].x), next_y = std::llround(100.0 * spots[i].y);
    if (i == 1) out.push_back('l');
    if (i > 1 && next_x == x && next_y == y) continue;
    if (i > 1 && next_x >= x) out.push_back(' ');
    hundredths(out, next_x - x);
    if (next_y >= y || i == 0) out.push_back(' ');
    hundredths(out, next_y - y);
    x = next_x;
    y = next_y;
  }
}

void write(Out& out, const Path& path) {
  if (path.spots.size() < 2) return;
  fmt::format_to(std::back_inserter(out), "<path stroke=\"{}\" stroke-width=\"{:.4g}\" d=\"", color(path.color),
                 path.width);
  write(out, path.spots);
  fmt::format_to(std::back_inserter(out), "\"/>\n");
}

void write(Out& out, const Area& area) {
  fmt::format_to(std::back_inserter(out), "<path fill=\"{}\" fill-rule=\"evenodd\" d=\"", color(area.color));
  for (const std::vector<Spot>& ring : area.rings) {
    write(out, ring);
    out.push_back('z');
  }
  fmt::format_to(std::back_inserter(out), "\"/>\n");
}

void write(Out& out, const Label& label) {
  constexpr const char* anchors[] = {"start", "middle", "end"};
  fmt::format_to(std::back_inserter(out), "<text font-size=\"{:.4g}\" text-anchor=\"{}\" fill=\"{}\" ", label.size,
                 anchors[static_cast<int>(label.anchor)], color(label.color));
  if (label.upwards)
    fmt::format_to(std::back_inserter(out), "transform=\"translate({:.2f} {:.2f}) rotate(-90)\">", label.at.x,
                   label.at.y);
  else
    fmt::format_to(std::back_inserter(out), "x=\"{:.2f}\" y=\"{:.2f}\">", label.at.x, label.at.y);
  double lift = 0.0;
  for (const Run& run : label.words) {
    const double wanted = run.raised ? -raised_lift * label.size : 0.0;
    if (wanted == lift && !run.raised)
      fmt::format_to(std::back_inserter(out), "{}", escaped(run.text));
    else
      fmt::format_to(std::back_inserter(out), "<tspan dy=\"{:.2f}\" font-size=\"{:.3g}\">{}</tspan>", wanted - lift,
                     run.raised ? raised_size * label.size : label.size, escaped(run.text));
    lift = wanted;
  }
  fmt::format_to(std::back_inserter(out), "</text>\n");
}

}  // namespace

std::string picture_svg(const Picture& picture) {
  Out out;
  fmt::format_to(
      std::back_inserter(out),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.2f}pt\" height=\"{1:.2f}pt\" viewBox=\"0 0 {0:.2f} "
      "{1:.2f}\">\n<title>{2}</title>\n<desc>{3}</desc>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      picture.width, picture.height, escaped(picture.title), escaped(picture.description));
  fmt::format_to(std::back_inserter(out), "<g fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n");
  for (const Area& area : picture.areas) write(out, area);
  for (const Path& path : picture.paths) write(out, path);
  for (const Area& mark : picture.marks) write(out, mark);
  fmt::format_to(std::back_inserter(out),
                 "</g>\n<g font-family=\"Helvetica, 'Nimbus Sans', Arial, 'Liberation Sans', sans-serif\" "
                 "xml:space=\"preserve\">\n");
  for (const Label& label : picture.labels) write(out, label);
  fmt::format_to(std::back_inserter(out), "</g>\n</svg>\n");
  return fmt::to_string(out);
}

}  // namespace daedalus::report
