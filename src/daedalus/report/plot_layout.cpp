// From curves to a picture: panels over time below each other with one time axis, the others in rows of two below them.
// Sizes are in points and made for a page: text of 8 points when the figure is printed at its own width.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "daedalus/report/plot.hpp"
#include "daedalus/report/plot_axis.hpp"
#include "daedalus/report/plot_font.hpp"
#include "daedalus/report/plot_picture.hpp"
#include "daedalus/report/plot_reduce.hpp"
#include "daedalus/report/plot_style.hpp"

namespace daedalus::report {

namespace {

constexpr double figure_width = 480.0, margin = 8.0;
constexpr double text_size = 8.0, title_size = 8.5, note_size = 7.0;
constexpr double time_gap = 15.0;
constexpr double stack_height = 560.0, tallest = 88.0,
                 lowest = 54.0;  ///< of panels over time: all on one page, if possible
constexpr double other_height = 150.0, other_gap = 40.0, column_gap = 30.0;
constexpr double tick_length = 3.0, tick_pad = 3.0, legend_gap = 10.0, swatch = 14.0, legend_line = 9.5;
constexpr double curve_width = 0.9, axis_width = 0.5, grid_width = 0.4;
constexpr double text_height = 0.72;  ///< of digits and capitals, relative to the size
constexpr double spare = 1.12;        ///< where SVG is shown with a font wider than Helvetica
constexpr Color ink{38, 38, 38}, pale{226, 226, 226}, quiet{110, 110, 110};

// A family has an order, and so have its colours: from dark violet to green, ascending in lightness.
constexpr std::array<Color, 4> sequence{{{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}}};

Color color_of(const Panel& panel, std::size_t i) {
  if (!panel.family || panel.curves.size() < 4) return palette[i % palette.size()];
  const double at = 3.0 * static_cast<double>(i) / static_cast<double>(panel.curves.size() - 1);
  const std::size_t k = std::min<std::size_t>(2, static_cast<std::size_t>(at));
  const double part = at - static_cast<double>(k);
  const auto mix = [&](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + part * (b - a)));
  };
  return {mix(sequence[k].red, sequence[k + 1].red), mix(sequence[k].green, sequence[k + 1].green),
          mix(sequence[k].blue, sequence[k + 1].blue)};
}

/// "m/s^2" as m/s with a raised 2; "kg*m" with a dot.
void append_unit(Words& words, const std::string& unit) {
  std::string plain;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (unit[i] == '^' && i + 1 < unit.size()) {
      std::string raised;
      std::size_t k = i + 1;
      if (unit[k] == '-') {
        raised = "\u2212";
        ++k;
      }
      while (k < unit.size() && (std::isdigit(static_cast<unsigned char>(unit[k])) || unit[k] == '.'))
        raised += unit[k++];
      words.push_back({plain});
      words.push_back({raised, true});
      plain.clear();
      i = k - 1;
    } else {
      plain += unit[i] == '*' ? "\u00B7" : std::string(1, unit[i]);
    }
  }
  words.push_back({plain});
}

/// "title (10^-3 m)".
Words axis_title(const std::string& title, const std::string& unit, int exponent) {
  Words words{{title}};
  if (unit.empty() && exponent == 0) return words;
  words.back().text += " (";
  if (exponent != 0) {
    words.back().text += "10";
    words.push_back({exponent < 0 ? "\u2212" + std::to_string(-exponent) : std::to_string(exponent), true});
    if (!unit.empty()) words.push_back({" "});
  }
  if (!unit.empty()) append_unit(words, unit);
  words.push_back({")"});
  return words;
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return !(low <= high); }
};

bool shown(const Panel& panel, double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && (panel.scale == Panel::Scale::linear || y > 0.0);
}

Range range_of(const Panel& panel, const std::vector<double> Curve::*coordinate) {
  Range range;
  for (const Curve& curve : panel.curves)
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      if (shown(panel, curve.x[i], curve.y[i])) range.take((curve.*coordinate)[i]);
  return range;
}

/// The value below which one in fifty of the positive values lies: a few tiny ones (the first step's, a change of sign)
/// do not stretch a logarithmic axis.
double low_end(const Panel& panel) {
  std::vector<double> values;
  for (const Curve& curve : panel.curves)
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      if (shown(panel, curve.x[i], curve.y[i])) values.push_back(curve.y[i]);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 50);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// A panel with its axes and where it stands.
struct Placed {
  const Panel* panel;
  Axis x, y;
  double left = 0.0, top = 0.0, width = 0.0, height = 0.0;

  Spot at(double vx, double vy) const { return {left + width * x.place(vx), top + height * (1.0 - y.place(vy))}; }
};

Axis y_axis_of(const Panel& panel, double height) {
  const Range range = range_of(panel, &Curve::y);
  const int wanted = static_cast<int>(height / 22.0);
  if (panel.scale == Panel::Scale::logarithmic) {
    if (range.empty()) return logarithmic_axis(1e-17, 1e-15, wanted);
    return logarithmic_axis(std::max(low_end(panel), range.high * 1e-18), range.high, wanted + 1);
  }
  if (range.empty()) return linear_axis(-1.0, 1.0, wanted);
  const auto [low, high] = widened(range.low, range.high, 0.05);
  return linear_axis(low, high, wanted);
}

double tick_width(const Axis& axis) {
  double width = 0.0;
  for (const Tick& tick : axis.ticks) width = std::max(width, width_of(tick.words, text_size));
  return width;
}

double legend_width(const Panel& panel) {
  double width = 0.0;
  if (panel.curves.size() > 1)
    for (const Curve& curve : panel.curves)
      width = std::max(width, swatch + 4.0 + spare * width_of({{curve.name}}, text_size));
  for (const std::string& note : panel.notes) width = std::max(width, spare * width_of({{note}}, note_size));
  return width > 0.0 ? width + legend_gap : 0.0;
}

/// Height that the legend needs; its last line may hang into the gap below.
double legend_height(const Panel& panel) {
  const std::size_t lines = (panel.curves.size() > 1 ? panel.curves.size() : 0) + panel.notes.size();
  return static_cast<double>(lines) * legend_line - time_gap / 2;
}

/// Gives both axes the same length per unit, so that a circle is one.
void make_equal(Placed& placed) {
  const double per_x = (placed.x.high - placed.x.low) / placed.width,
               per_y = (placed.y.high - placed.y.low) / placed.height;
  const double per = std::max(per_x, per_y);
  const auto stretched = [&](const Axis& axis, double length) {
    const double middle = (axis.low + axis.high) / 2, half = per * length / 2;
    return linear_axis(middle - half, middle + half, static_cast<int>(length / 30.0));
  };
  placed.x = stretched(placed.x, placed.width);
  placed.y = stretched(placed.y, placed.height);
}

class Layout {
 public:
  explicit Layout(const PlotData& data) : data_(data) {
    picture_.width = figure_width;
    picture_.title = data.title;
    picture_.description = data.description;
  }

  Picture draw() {
    double y = place_over_time(margin);
    y = place_others(y);
    picture_.height = y + margin;
    for (const Placed& placed : placed_) draw_grid(placed);
    for (const Placed& placed : placed_) draw_curves(placed);
    for (const Placed& placed : placed_) draw_axes(placed);
    for (const Placed& placed : placed_) draw_legend(placed);
    return std::move(picture_);
  }

 private:
  /// Stacks the panels over time; returns where they end.
  double place_over_time(double top) {
    Range time;
    double labels = 0.0, legends = 0.0;
    std::vector<Placed> stack;
    const auto panels =
        std::count_if(data_.panels.begin(), data_.panels.end(), [](const Panel& p) { return p.over_time; });
    const double usual =
        std::clamp(stack_height / static_cast<double>(std::max<std::ptrdiff_t>(1, panels)) - time_gap, lowest, tallest);
    for (const Panel& panel : data_.panels) {
      if (!panel.over_time) continue;
      // The whole run, also where a logarithmic panel has nothing to show.
      for (const Curve& curve : panel.curves)
        for (const double t : curve.x)
          if (std::isfinite(t) && (t > 0.0 || !data_.logarithmic_time)) time.take(t);
      const double height = std::max(usual, legend_height(panel));
      Placed placed{&panel, {}, y_axis_of(panel, height)};
      placed.height = height;
      labels = std::max(labels, tick_width(placed.y));
      legends = std::max(legends, legend_width(panel));
      stack.push_back(std::move(placed));
    }
    if (stack.empty()) return top;
    if (time.empty()) time = {0.0, 1.0};
    if (!(time.high > time.low)) time.high = time.low + 1.0;
    const double left = left_ = margin + title_size + 8.0 + labels + tick_pad + tick_length;
    const double right = figure_width - margin - std::clamp(legends, 6.0, 0.4 * figure_width);
    for (Placed& placed : stack) {
      placed.left = left;
      placed.width = right - left;
      placed.top = top;
      const int wanted = static_cast<int>(placed.width / 50.0);
      placed.x = data_.logarithmic_time ? logarithmic_axis(std::max(time.low, 1e-18 * time.high), time.high, wanted)
                                            : linear_axis(time.low, time.high, wanted);
      top += placed.height + time_gap;
    }
    for (Placed& placed : stack)
      if (&placed != &stack.back())
        for (Tick& tick : placed.x.ticks) tick.words.clear();
    placed_.insert(placed_.end(), stack.begin(), stack.end());
    return top - time_gap + tick_length + tick_pad + text_size + title_size + 8.0;
  }

  /// Places the other panels in rows of two; returns where they end.
  double place_others(double top) {
    std::vector<const Panel*> others;
    for (const Panel& panel : data_.panels)
      if (!panel.over_time) others.push_back(&panel);
    if (others.empty()) return top;
    if (!placed_.empty()) top += 16.0;
    const double cell = (figure_width - 2 * margin - column_gap) / 2;
    for (std::size_t i = 0; i < others.size(); ++i) {
      Placed placed{others[i], {}, y_axis_of(*others[i], other_height)};
      const Panel& panel = *others[i];
      double labels = title_size + 8.0 + tick_width(placed.y) + tick_pad + tick_length;
      if (i % 2 == 0) labels = std::max(labels, left_ - margin);
      placed.left = margin + static_cast<double>(i % 2) * (cell + column_gap) + labels;
      placed.width = cell - labels - std::min(legend_width(panel), 0.4 * cell);
      placed.top = top;
      placed.height = other_height;
      Range range = range_of(panel, &Curve::x);
      if (range.empty()) range = {0.0, 1.0};
      const auto [low, high] = widened(range.low, range.high, 0.05);
      placed.x = linear_axis(low, high, static_cast<int>(placed.width / 38.0));
      const double per_x = (high - low) / placed.width, per_y = (placed.y.high - placed.y.low) / placed.height;
      const bool alike = !panel.x_unit.empty() && panel.x_unit == panel.y_unit && panel.scale == Panel::Scale::linear;
      if (alike && per_x < 4.0 * per_y && per_y < 4.0 * per_x) make_equal(placed);
      placed_.push_back(std::move(placed));
      if (i % 2 == 1 || i + 1 == others.size()) top += other_height + other_gap;
    }
    return top - other_gap + tick_length + tick_pad + text_size + title_size + 8.0;
  }

  void line(Spot from, Spot to, Color color, double width) { picture_.paths.push_back({{from, to}, color, width}); }

  void draw_grid(const Placed& p) {
    for (const Tick& tick : p.y.ticks) {
      const double y = p.at(p.x.low, tick.value).y;
      if (!tick.words.empty()) line({p.left, y}, {p.left + p.width, y}, pale, grid_width);
    }
  }

  void draw_axes(const Placed& p) {
    const double bottom = p.top + p.height;
    picture_.paths.push_back({{{p.left, p.top}, {p.left, bottom}, {p.left + p.width, bottom}}, ink, axis_width});
    for (const Tick& tick : p.y.ticks) {
      const double y = p.at(p.x.low, tick.value).y;
      line({p.left - (tick.words.empty() ? 0.6 : 1.0) * tick_length, y}, {p.left, y}, ink, axis_width);
      picture_.labels.push_back({{p.left - tick_length - tick_pad, y + text_height / 2 * text_size},
                                 tick.words,
                                 text_size,
                                 Anchor::end,
                                 ink});
    }
    for (const Tick& tick : p.x.ticks) {
      const double x = p.left + p.width * p.x.place(tick.value);
      line({x, bottom}, {x, bottom + tick_length}, ink, axis_width);
      picture_.labels.push_back(
          {{x, bottom + tick_length + tick_pad + text_height * text_size}, tick.words, text_size, Anchor::middle, ink});
    }
    const bool titled = std::any_of(p.x.ticks.begin(), p.x.ticks.end(), [](const Tick& t) { return !t.words.empty(); });
    if (titled)
      picture_.labels.push_back({{p.left + p.width / 2, bottom + tick_length + tick_pad + text_size + title_size + 3.0},
                                 axis_title(p.panel->x_title, p.panel->x_unit, p.x.exponent),
                                 title_size,
                                 Anchor::middle,
                                 ink});
    const Words title = axis_title(p.panel->y_title, p.panel->y_unit, p.y.exponent);
    const double room = p.height + time_gap - 8.0;
    const double size = title_size * std::clamp(room / std::max(1.0, width_of(title, title_size)), 0.5, 1.0);
    const double x = p.panel->over_time ? margin + title_size : p.left - tick_length - tick_pad - tick_width(p.y) - 6.0;
    picture_.labels.push_back({{x, p.top + p.height / 2}, title, size, Anchor::middle, ink, true});
  }

  static std::vector<Spot> thinned(const Placed& p, const std::vector<Spot>& line, std::size_t most) {
    if (!p.panel->over_time) return thin_by_distance(line, 0.06, most);
    if (p.y.logarithmic) return thin_to_upper(line, 1.5);
    return thin_by_distance(thin_by_columns(line, 0.5), 0.03, line.size());
  }

  void draw_curves(const Placed& p) {
    std::size_t drawn = 0;
    for (const Panel& panel : data_.panels) drawn += panel.curves.size();
    const std::size_t most = std::max<std::size_t>(500, 60000 / std::max<std::size_t>(1, drawn));
    for (std::size_t c = 0; c < p.panel->curves.size(); ++c) {
      const Curve& curve = p.panel->curves[c];
      std::vector<Spot> part;
      const auto finish = [&] {
        if (part.size() > 1) picture_.paths.push_back({thinned(p, part, most), color_of(*p.panel, c), curve_width});
        part.clear();
      };
      for (std::size_t i = 0; i < curve.x.size(); ++i) {
        if (p.x.logarithmic && !(curve.x[i] >= p.x.low)) continue;
        if (shown(*p.panel, curve.x[i], curve.y[i]))
          part.push_back(
              p.at(curve.x[i], std::max(curve.y[i], p.y.logarithmic ? p.y.low : -std::numeric_limits<double>::max())));
        else if (!std::isfinite(curve.y[i]) || !std::isfinite(curve.x[i]))
          finish();
      }
      finish();
    }
  }

  void draw_legend(const Placed& p) {
    const double left = p.left + p.width + legend_gap;
    double y = p.top + text_size;
    if (p.panel->curves.size() > 1)
      for (std::size_t c = 0; c < p.panel->curves.size(); ++c) {
        const double middle = y - text_height / 2 * text_size;
        line({left, middle}, {left + swatch, middle}, color_of(*p.panel, c), 1.4);
        picture_.labels.push_back(
            {{left + swatch + 4.0, y}, {{p.panel->curves[c].name}}, text_size, Anchor::start, ink});
        y += legend_line;
      }
    for (const std::string& note : p.panel->notes) {
      picture_.labels.push_back({{left, y}, {{note}}, note_size, Anchor::start, quiet});
      y += legend_line;
    }
  }

  const PlotData& data_;
  double left_ = 0.0;  ///< of the panels over time
  std::vector<Placed> placed_;
  Picture picture_;
};

}  // namespace

std::string plot_svg(const PlotData& data) { return picture_svg(Layout(data).draw()); }
std::string plot_pdf(const PlotData& data) { return picture_pdf(Layout(data).draw()); }

}  // namespace daedalus::report
