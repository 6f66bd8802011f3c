#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace daedalus::report {

// A picture as a list of lines and texts, in points of 1/72 inch, y downwards.

struct Spot {
  double x = 0.0, y = 0.0;
};

struct Color {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const Color&, const Color&) = default;
};

struct Path {
  std::vector<Spot> spots;
  Color color;
  double width = 0.5;
};

/// What lies inside an odd number of closed lines, filled.
struct Area {
  std::vector<std::vector<Spot>> rings;
  Color color;
};

/// A piece of text (UTF-8), raised and smaller for exponents.
struct Run {
  std::string text;
  bool raised = false;
};
using Words = std::vector<Run>;

enum class Anchor { start, middle, end };

struct Label {
  Spot at;  ///< on the base line
  Words words;
  double size = 8.0;
  Anchor anchor = Anchor::start;
  Color color;
  bool upwards = false;  ///< turned by 90 degrees, read from below
};

struct Picture {
  double width = 0.0, height = 0.0;
  std::string title, description;
  std::vector<Path> paths;
  std::vector<Label> labels;     ///< over all paths
  std::vector<Area> areas = {};  ///< below all paths
  std::vector<Area> marks = {};  ///< over all paths, in order
};

/// Size of raised text and how far it is lifted, relative to the size of the text.
constexpr double raised_size = 0.7, raised_lift = 0.38;

std::string picture_svg(const Picture& picture);
std::string picture_pdf(const Picture& picture);

}  // namespace daedalus::report
