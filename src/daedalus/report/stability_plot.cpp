// The edge |R| = 1 by marching squares: a cell of a grid whose corners lie on both sides of the edge is crossed by
// straight pieces between the places where |R| - 1, taken as linear on its sides, vanishes. A frame of corners that
// count as outside closes the lines at the border of the picture, so that what they enclose can be filled.
#include "daedalus/report/stability_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "daedalus/base/error.hpp"
#include "daedalus/report/plot_frame.hpp"
#include "daedalus/report/plot_style.hpp"
#include "daedalus/solve/tableau_method.hpp"

namespace daedalus::report {
namespace {

constexpr double longest = 260.0, margin = figure_margin;
constexpr Color pale{190, 190, 190}, shade{205, 226, 241}, edge{0, 114, 178};
struct Window {
  double left, right, low, high;
};

/// |R| - 1 at z, cut so that poles do not shift the edge.
double excess(const integrate::IntegratorEntry& method, std::size_t formula, double x, double y) {
  const double value = integrate::amplification(method, formula, {x, y}) - 1.0;
  // On the imaginary axis of a symmetric method |R| = 1: round-off must not make it look unstable.
  if (std::abs(value) < 1e-9) return -1e-9;
  return std::isfinite(value) ? std::clamp(value, -0.5, 0.5) : 0.5;
}

/// The lines |R| = 1 inside a window, closed along its border.
class Contour {
 public:
  Contour(const integrate::IntegratorEntry& method, std::size_t formula, const Window& window, std::size_t cells)
      : window_(window), size_(cells + 3), value_(size_ * size_, 0.5) {
    // Conjugate z have the same |R|, and windows reach as far down as up.
    for (std::size_t j = 1; j <= size_ / 2; ++j)
      for (std::size_t i = 1; i + 1 < size_; ++i)
        value_[j * size_ + i] = value_[(size_ - 1 - j) * size_ + i] = excess(method, formula, x_of(i), y_of(j));
    for (std::size_t j = 0; j + 1 < size_; ++j)
      for (std::size_t i = 0; i + 1 < size_; ++i) cross(i, j);
  }

  struct Point {
    double x, y;
    bool on_border;
  };

  /// Closed lines of points in the plane.
  std::vector<std::vector<Point>> rings() const {
    std::vector<std::vector<Point>> result;
    std::map<std::size_t, bool> used;
    for (const auto& [first, neighbours] : links_) {
      if (used[first]) continue;
      std::vector<Point> ring;
      std::size_t at = first, before = neighbours.back();
      do {
        used[at] = true;
        ring.push_back(point(at));
        const std::vector<std::size_t>& next = links_.at(at);
        const std::size_t to = next[0] == before && next.size() > 1 ? next[1] : next[0];
        before = at;
        at = to;
      } while (at != first && !used[at]);
      result.push_back(std::move(ring));
    }
    return result;
  }

 private:
  double x_of(std::size_t i) const { return window_.left + (window_.right - window_.left) * part(i); }
  double y_of(std::size_t j) const { return window_.low + (window_.high - window_.low) * part(j); }
  /// The frame lies on the border itself.
  double part(std::size_t i) const {
    return (static_cast<double>(std::clamp<std::size_t>(i, 1, size_ - 2)) - 1.0) / static_cast<double>(size_ - 3);
  }

  double value(std::size_t i, std::size_t j) const { return value_[j * size_ + i]; }
  /// The side from (i, j) to the right is even, that upwards odd.
  std::size_t side(std::size_t i, std::size_t j, bool up) const { return 2 * (j * size_ + i) + (up ? 1 : 0); }

  void cross(std::size_t i, std::size_t j) {
    std::vector<std::size_t> crossed;  // counterclockwise from below
    const bool a = value(i, j) > 0.0, b = value(i + 1, j) > 0.0, c = value(i + 1, j + 1) > 0.0,
               d = value(i, j + 1) > 0.0;
    if (a != b) crossed.push_back(side(i, j, false));
    if (b != c) crossed.push_back(side(i + 1, j, true));
    if (c != d) crossed.push_back(side(i, j + 1, false));
    if (d != a) crossed.push_back(side(i, j, true));
    if (crossed.size() == 4) {
      const double centre = value(i, j) + value(i + 1, j) + value(i + 1, j + 1) + value(i, j + 1);
      // Corner a is cut off from the centre unless both are on the same side.
      if ((centre > 0.0) == a) {
        link(crossed[0], crossed[1]);
        link(crossed[2], crossed[3]);
      } else {
        link(crossed[0], crossed[3]);
        link(crossed[1], crossed[2]);
      }
    } else if (crossed.size() == 2) {
      link(crossed[0], crossed[1]);
    }
  }

  void link(std::size_t one, std::size_t other) {
    links_[one].push_back(other);
    links_[other].push_back(one);
  }

  Point point(std::size_t key) const {
    const bool up = key % 2 == 1;
    const std::size_t i = key / 2 % size_, j = key / 2 / size_, i2 = up ? i : i + 1, j2 = up ? j + 1 : j;
    const double from = value(i, j), to = value(i2, j2), s = from / (from - to);
    const auto frame = [&](std::size_t k) { return k == 0 || k + 1 == size_; };
    return {x_of(i) + s * (x_of(i2) - x_of(i)), y_of(j) + s * (y_of(j2) - y_of(j)),
            frame(i) || frame(j) || frame(i2) || frame(j2)};
  }

  Window window_;
  std::size_t size_;  ///< corners in each direction, with the frame
  std::vector<double> value_;
  std::map<std::size_t, std::vector<std::size_t>> links_;
};

/// The part of the plane that shows the edges of all regions, with the origin.
Window window_of(const integrate::IntegratorEntry& method) {
  constexpr double endless = 10.0;  ///< where an edge goes on for ever
  for (double reach = 4.0; reach <= 64.0; reach *= 2.0) {
    double left = 0.0, right = 0.0, high = 0.0;
    bool whole = true, found = false;
    for (std::size_t formula = 0; formula < integrate::stability_regions(method); ++formula)
      for (const auto& ring : Contour(method, formula, {-2 * reach, 2 * reach, -2 * reach, 2 * reach}, 64).rings())
        for (const Contour::Point& point : ring) {
          if (point.on_border) continue;
          found = true;
          whole = whole && std::max(std::abs(point.x), std::abs(point.y)) < reach;
          left = std::min(left, point.x);
          right = std::max(right, point.x);
          high = std::max(high, point.y);
        }
    if (!found || !whole) continue;
    const double space = 0.18 * std::max(right - left, 2.0 * high);
    return {left - space, right + space, -high - space, high + space};
  }
  return {-endless, endless, -endless, endless};
}

class Drawing {
 public:
  Drawing(const integrate::IntegratorEntry& method, const Window& window) : method_(method), window_(window) {
    const double scale = longest / std::max(window.right - window.left, window.high - window.low);
    frame_.width = scale * (window.right - window.left);
    frame_.height = scale * (window.high - window.low);
    frame_.x = linear_axis(window.left, window.right, static_cast<int>(frame_.width / 40.0));
    frame_.y = linear_axis(window.low, window.high, static_cast<int>(frame_.height / 30.0));
    frame_.left = margin + room_left(frame_.y);
    frame_.top = margin + title_size + 6.0;
    const bool legend = integrate::stability_regions(method) > 1;
    picture_.width = frame_.left + frame_.width + margin + (legend ? 60.0 : 4.0);
    picture_.height = frame_.bottom() + room_below + 5.0;
    picture_.title = "stability region of " + method.name;
    picture_.description = "where a step of size h on x' = lambda x does not make x grow, in the plane of h lambda";
  }

  Picture draw() {
    draw_lines_through_zero();
    const std::size_t regions = integrate::stability_regions(method_);
    for (std::size_t formula = 0; formula < regions; ++formula) draw_region(formula, regions);
    draw_axes(picture_, frame_, {{"Re h\u03bb"}}, {{"Im h\u03bb"}});
    const std::string what = regions > 1 ? ": stable outside of the lines" : ": stable where shaded";
    label({frame_.left + frame_.width / 2, margin + title_size}, {{method_.name + what}}, title_size, Anchor::middle);
    return std::move(picture_);
  }

 private:
  Spot at(double x, double y) const { return frame_.at(x, y); }
  void line(Spot from, Spot to, Color color, double width) { picture_.paths.push_back({{from, to}, color, width}); }
  void label(Spot spot, Words words, double size, Anchor anchor) {
    picture_.labels.push_back({spot, std::move(words), size, anchor, ink});
  }

  void draw_lines_through_zero() {
    line(at(window_.left, 0.0), at(window_.right, 0.0), pale, 0.5);
    line(at(0.0, window_.low), at(0.0, window_.high), pale, 0.5);
  }

  void draw_region(std::size_t formula, std::size_t regions) {
    const Color color = regions > 1 ? palette[formula % palette.size()] : edge;
    Area area{{}, shade};
    for (const auto& ring : Contour(method_, formula, window_, 240).rings()) {
      std::vector<Spot> closed;
      for (const Contour::Point& point : ring) closed.push_back(at(point.x, point.y));
      draw_edge(ring, color);
      area.rings.push_back(std::move(closed));
    }
    if (regions == 1) {
      picture_.areas.push_back(std::move(area));
      return;
    }
    const double y = frame_.top + 6.0 + 11.0 * static_cast<double>(formula), x = frame_.left + frame_.width + 8.0;
    line({x, y - 2.5}, {x + 12.0, y - 2.5}, color, 1.0);
    label({x + 15.0, y}, {{fmt::format("order {}", formula + first_order())}}, text_size, Anchor::start);
  }

  /// Formulas stand by order and end at the highest.
  std::size_t first_order() const { return static_cast<std::size_t>(method_.order) + 1 - method_.multistep.size(); }

  /// Draws a closed line without its pieces along the border.
  void draw_edge(const std::vector<Contour::Point>& ring, Color color) {
    std::vector<Spot> part;
    const auto finish = [&] {
      if (part.size() > 1) picture_.paths.push_back({part, color, 1.0});
      part.clear();
    };
    for (std::size_t k = 0; k <= ring.size(); ++k) {
      const Contour::Point& point = ring[k % ring.size()];
      const bool along = k > 0 && point.on_border && ring[k - 1].on_border;
      if (along) finish();
      part.push_back(at(point.x, point.y));
    }
    finish();
  }

  const integrate::IntegratorEntry& method_;
  Window window_;
  Frame frame_;
  Picture picture_;
};

}  // namespace

Picture stability_picture(const integrate::IntegratorEntry& method) {
  if (integrate::stability_regions(method) == 0)
    throw Error("no-stability-region", fmt::format("'{}' has no stability region to draw", method.name),
                "Runge-Kutta and multistep methods have one; `daedalus methods` lists all");
  return Drawing(method, window_of(method)).draw();
}

}  // namespace daedalus::report
