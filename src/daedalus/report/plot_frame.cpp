#include "daedalus/report/plot_frame.hpp"

#include <algorithm>

#include "daedalus/report/plot_font.hpp"

namespace daedalus::report {

namespace {

constexpr double axis_width = 0.5, short_tick = 0.6;

double length_of(const Tick& tick) { return (tick.words.empty() ? short_tick : 1.0) * tick_length; }

}  // namespace

double tick_width(const Axis& axis) {
  double width = 0.0;
  for (const Tick& tick : axis.ticks) width = std::max(width, width_of(tick.words, text_size));
  return width;
}

double room_left(const Axis& y) { return title_size + 8.0 + tick_width(y) + tick_pad + tick_length; }

void draw_axes(Picture& picture, const Frame& frame, const Words& x_title, const Words& y_title) {
  const double left = frame.left, bottom = frame.bottom();
  picture.paths.push_back({{{left, frame.top}, {left, bottom}, {left + frame.width, bottom}}, ink, axis_width});
  const auto label = [&](Spot at, const Words& words, double size, Anchor anchor) -> Label& {
    picture.labels.push_back({at, words, size, anchor, ink});
    return picture.labels.back();
  };
  for (const Tick& tick : frame.x.ticks) {
    const double x = left + frame.width * frame.x.place(tick.value);
    picture.paths.push_back({{{x, bottom}, {x, bottom + length_of(tick)}}, ink, axis_width});
    if (!tick.words.empty())
      label({x, bottom + tick_length + tick_pad + text_height * text_size}, tick.words, text_size, Anchor::middle);
  }
  for (const Tick& tick : frame.y.ticks) {
    const double y = frame.top + frame.height * (1.0 - frame.y.place(tick.value));
    picture.paths.push_back({{{left - length_of(tick), y}, {left, y}}, ink, axis_width});
    if (!tick.words.empty())
      label({left - tick_length - tick_pad, y + text_height / 2 * text_size}, tick.words, text_size, Anchor::end);
  }
  if (!x_title.empty()) label({left + frame.width / 2, bottom + room_below - 2.0}, x_title, title_size, Anchor::middle);
  if (!y_title.empty())
    label({left - room_left(frame.y) + title_size, frame.top + frame.height / 2}, y_title, title_size, Anchor::middle)
        .upwards = true;
}

}  // namespace daedalus::report
