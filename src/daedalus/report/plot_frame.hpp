#pragma once

#include "daedalus/report/plot_axis.hpp"
#include "daedalus/report/plot_picture.hpp"

namespace daedalus::report {

// Sizes in points, made for a page: text of 8 points when a figure is printed at its own width.
inline constexpr double figure_margin = 8.0, text_size = 8.0, title_size = 8.5, tick_length = 3.0, tick_pad = 3.0;
inline constexpr double text_height = 0.72;  ///< of digits and capitals, relative to the size
inline constexpr Color ink{38, 38, 38};

/// Two axes and where they stand.
struct Frame {
  Axis x, y;
  double left = 0.0, top = 0.0, width = 0.0, height = 0.0;

  Spot at(double vx, double vy) const { return {left + width * x.place(vx), top + height * (1.0 - y.place(vy))}; }
  double bottom() const { return top + height; }
};

/// Draws the axes with their ticks. A title without words is left out; a tick without words is short.
void draw_axes(Picture& picture, const Frame& frame, const Words& x_title, const Words& y_title);

/// The widest text at the ticks.
double tick_width(const Axis& axis);
/// From the axis to the outer edge of its title.
double room_left(const Axis& y);
inline constexpr double room_below = tick_length + tick_pad + text_size + title_size + 5.0;

}  // namespace daedalus::report
