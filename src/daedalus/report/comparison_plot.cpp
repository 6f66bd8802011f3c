// The work-precision diagram: error against processor time, both logarithmic. Panels share their axes, so that methods
// can be compared across them, and a formulation has the same colour and mark in all of them, told once.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "daedalus/report/comparison.hpp"
#include "daedalus/report/comparison_parts.hpp"
#include "daedalus/report/plot_font.hpp"
#include "daedalus/report/plot_frame.hpp"
#include "daedalus/report/plot_style.hpp"

namespace daedalus::report {

using solve::ComparedRun;
using solve::Comparison;

namespace {

constexpr double figure_width = 480.0, lone_height = 210.0, panel_height = 150.0;
constexpr double heading = 14.0, column_gap = 16.0, row_gap = 8.0;
constexpr double legend_line = 10.0, legend_gap = 14.0, swatch = 18.0;
constexpr double curve_width = 0.9, mark_radius = 2.3, mark_edge = 0.9;
constexpr double spare = 1.12;  ///< where SVG is shown with a font wider than Helvetica
constexpr Color pale{226, 226, 226}, quiet{110, 110, 110}, white{255, 255, 255};

/// One formulation with one method: a point per tolerance.
struct WorkCurve {
  std::size_t series = 0;
  std::vector<Spot> points;  ///< seconds and error
};

struct WorkPanel {
  std::string method;
  std::vector<WorkCurve> curves;
};

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = 0.0;
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  Axis axis(int wanted) const {
    if (!(low <= high)) return narrow_logarithmic_axis(0.1, 10.0, wanted);
    const double space = 1.15 * std::pow(high / low, 0.03);
    return narrow_logarithmic_axis(low / space, high * space, wanted);
  }
};

std::vector<WorkPanel> panels_of(const Comparison& comparison) {
  const std::vector<std::string> series = series_of(comparison);
  std::vector<WorkPanel> panels;
  const ComparedRun* before = nullptr;
  for (const ComparedRun& run : comparison.runs) {
    const double error = solve::of_motion(run.error).value_or(0.0), seconds = run.trajectory.processor_seconds;
    if (!run.success || !(error > 0.0 && std::isfinite(error)) || !(seconds > 0.0)) continue;
    auto panel = std::ranges::find(panels, run.method, &WorkPanel::method);
    if (panel == panels.end()) panel = panels.insert(panels.end(), WorkPanel{run.method, {}});
    const auto own = static_cast<std::size_t>(std::ranges::find(series, series_of(comparison, run)) - series.begin());
    const bool continues = before != nullptr && before->model == run.model && before->formulation == run.formulation &&
                           before->method == run.method && before->step.has_value() == run.step.has_value();
    if (!continues) panel->curves.push_back({own, {}});
    panel->curves.back().points.push_back({seconds, error});
    before = &run;
  }
  return panels;
}

/// Corners around the origin, at most 1.2 away from it: circle, square, triangle, diamond, triangle upside down.
std::vector<Spot> shape_of(std::size_t series) {
  switch (series % mark_shapes) {
    case 1:
      return {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}};
    case 2:
      return {{0.0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}};
    case 3:
      return {{0.0, -1.25}, {1.1, 0.0}, {0.0, 1.25}, {-1.1, 0.0}};
    case 4:
      return {{0.0, 1.2}, {1.1, -0.8}, {-1.1, -0.8}};
    default:
      std::vector<Spot> circle;
      for (int k = 0; k < 16; ++k)
        circle.push_back({std::cos(k * std::numbers::pi / 8.0), std::sin(k * std::numbers::pi / 8.0)});
      return circle;
  }
}

Color color_of(std::size_t series) { return palette[series % palette.size()]; }
/// The second time that a colour comes, its marks are open.
bool open(std::size_t series) { return series / palette.size() % 2 == 1; }

class Diagram {
 public:
  explicit Diagram(const Comparison& comparison) : comparison_(comparison), panels_(panels_of(comparison)) {
    const std::vector<std::string> all = series_of(comparison);
    std::vector<std::size_t> used;
    for (const WorkPanel& panel : panels_)
      for (const WorkCurve& curve : panel.curves) {
        used.push_back(curve.series);
        for (const Spot& point : curve.points) {
          seconds_.take(point.x);
          errors_.take(point.y);
        }
      }
    std::ranges::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (const std::size_t series : used) legend_.push_back({series, all[series]});
    for (const auto& entry : legend_)
      entry_width_ = std::max(entry_width_, swatch + 4.0 + spare * width_of({{entry.second}}, text_size));
    picture_.width = figure_width;
  }

  Picture draw() {
    const double bottom = panels_.size() <= 1 ? place_one() : place_many();
    for (std::size_t i = 0; i < panels_.size(); ++i) draw_panel(panels_[i], frames_[i]);
    if (panels_.empty())
      picture_.labels.push_back({{figure_width / 2, figure_margin + text_size},
                                 {{"no run has an error to show"}},
                                 text_size,
                                 Anchor::middle,
                                 quiet});
    picture_.height = bottom + figure_margin;
    return std::move(picture_);
  }

 private:
  double legend_height() const { return legend_line * static_cast<double>(legend_.size()); }

  /// One panel with the legend beside it; returns where they end.
  double place_one() {
    if (panels_.empty()) return figure_margin + 2 * text_size;
    Frame frame;
    frame.height = std::max(lone_height, legend_height());
    frame.y = errors_.axis(static_cast<int>(frame.height / 18.0));
    frame.left = figure_margin + room_left(frame.y);
    frame.top = figure_margin + heading;
    frame.width = figure_width - figure_margin - frame.left - std::min(0.45 * figure_width, entry_width_ + legend_gap);
    frame.x = seconds_.axis(static_cast<int>(frame.width / 40.0));
    frames_.push_back(frame);
    draw_legend({frame.left + frame.width + legend_gap, frame.top}, legend_.size());
    return frame.bottom() + room_below;
  }

  /// Rows of two panels. The legend fills the place that an odd number leaves free, else it stands below.
  double place_many() {
    const std::size_t rows = (panels_.size() + 1) / 2;
    const double room = room_left(errors_.axis(static_cast<int>(panel_height / 18.0)));
    const double width = (figure_width - 2 * figure_margin - room - column_gap) / 2;
    const bool beside = panels_.size() % 2 == 1 && entry_width_ + legend_gap <= width;
    double top = figure_margin;
    for (std::size_t row = 0; row < rows; ++row) {
      const bool last = row + 1 == rows;
      Frame frame;
      frame.top = top + heading;
      frame.width = width;
      frame.height = last && beside ? std::max(panel_height, legend_height() - room_below) : panel_height;
      frame.x = seconds_.axis(static_cast<int>(width / 40.0));
      frame.y = errors_.axis(static_cast<int>(frame.height / 18.0));
      for (std::size_t column = 0; column < 2 && 2 * row + column < panels_.size(); ++column) {
        frame.left = figure_margin + room + static_cast<double>(column) * (width + column_gap);
        frames_.push_back(frame);
      }
      top = frame.bottom() + row_gap;
      // The panel above an empty place has the texts of its own axis.
      if (row + 2 == rows && panels_.size() % 2 == 1) top += room_below - row_gap;
    }
    const double right = figure_margin + room + width + column_gap;
    if (beside) draw_legend({right + legend_gap, frames_.back().top}, legend_.size());
    top += room_below - row_gap;
    if (beside) return top;
    const double columns = std::floor((figure_width - 2 * figure_margin - room) / (entry_width_ + legend_gap));
    const auto lines =
        static_cast<std::size_t>(std::ceil(static_cast<double>(legend_.size()) / std::max(1.0, columns)));
    draw_legend({figure_margin + room, top + 8.0}, lines);
    return top + 8.0 + legend_line * static_cast<double>(lines);
  }

  bool is_lowest(std::size_t i) const { return i + 2 >= panels_.size(); }

  void draw_panel(const WorkPanel& panel, Frame frame) {
    const auto i = static_cast<std::size_t>(&panel - panels_.data());
    for (const Tick& tick : frame.y.ticks)
      if (!tick.words.empty())
        picture_.paths.push_back({{frame.at(frame.x.low, tick.value), frame.at(frame.x.high, tick.value)}, pale, 0.4});
    draw_agreement(frame);
    for (const WorkCurve& curve : panel.curves) {
      std::vector<Spot> line;
      for (const Spot& point : curve.points) line.push_back(frame.at(point.x, point.y));
      picture_.paths.push_back({line, color_of(curve.series), curve_width});
      for (const Spot& spot : line) draw_mark(spot, curve.series);
    }
    picture_.labels.push_back(
        {{frame.left + frame.width / 2, frame.top - 5.0}, {{panel.method}}, title_size, Anchor::middle, ink});
    if (i % 2 == 1)
      for (Tick& tick : frame.y.ticks) tick.words.clear();
    if (!is_lowest(i))
      for (Tick& tick : frame.x.ticks) tick.words.clear();
    draw_axes(picture_, frame, is_lowest(i) ? Words{{"processor time (s)"}} : Words{},
              i % 2 == 0 ? Words{{error_title(comparison_)}} : Words{});
  }

  /// Errors below this cannot be told from 0.
  void draw_agreement(const Frame& frame) {
    double agreement = 0.0;
    for (const solve::ComparedModel& model : comparison_.models)
      agreement = std::max(agreement, solve::of_motion(model.reference.agreement).value_or(0.0));
    if (!(agreement > frame.y.low && agreement < frame.y.high)) return;
    const Spot from = frame.at(frame.x.low, agreement);
    picture_.paths.push_back({{from, {from.x + frame.width, from.y}}, quiet, 0.4});
    const double below = from.y + 7.0 < frame.bottom() ? 6.5 : -2.5;
    picture_.labels.push_back(
        {{from.x + 4.0, from.y + below}, {{"agreement of the reference"}}, 6.0, Anchor::start, quiet});
  }

  void draw_mark(Spot at, std::size_t series) {
    const auto ring = [&](double radius) {
      std::vector<Spot> corners = shape_of(series);
      for (Spot& corner : corners) corner = {at.x + radius * corner.x, at.y + radius * corner.y};
      return corners;
    };
    picture_.marks.push_back({{ring(mark_radius)}, color_of(series)});
    if (open(series)) picture_.marks.push_back({{ring(mark_radius - mark_edge)}, white});
  }

  /// Columns of so many lines.
  void draw_legend(Spot corner, std::size_t lines) {
    for (std::size_t k = 0; k < legend_.size(); ++k) {
      const double x = corner.x + static_cast<double>(k / lines) * (entry_width_ + legend_gap);
      const double y = corner.y + text_size + legend_line * static_cast<double>(k % lines);
      const double middle = y - text_height / 2 * text_size;
      const auto& [series, name] = legend_[k];
      picture_.paths.push_back({{{x, middle}, {x + swatch, middle}}, color_of(series), curve_width});
      draw_mark({x + swatch / 2, middle}, series);
      picture_.labels.push_back({{x + swatch + 4.0, y}, {{name}}, text_size, Anchor::start, ink});
    }
  }

  const Comparison& comparison_;
  std::vector<WorkPanel> panels_;
  std::vector<Frame> frames_;  ///< by panel
  Range seconds_, errors_;
  std::vector<std::pair<std::size_t, std::string>> legend_;  ///< series and its name
  double entry_width_ = 0.0;
  Picture picture_;
};

}  // namespace

Picture work_precision(const Comparison& comparison) {
  Picture picture = Diagram(comparison).draw();
  std::vector<std::string> models, references;
  for (const solve::ComparedModel& model : comparison.models) {
    models.push_back(model.name);
    references.push_back(model.reference.message.empty() ? model.reference.origin : "none");
  }
  picture.title = fmt::format("work and precision: {}", fmt::join(models, ", "));
  picture.description = fmt::format(
      "largest |x - reference|/(1 + |reference|) over output times against processor time, from t = {:.6g} to {:.6g}; "
      "reference: {}; {} of {} runs reached the end",
      comparison.models.front().t_start, comparison.models.front().t_end,
      short_message(fmt::format("{}", fmt::join(references, "; ")), 400), comparison.succeeded(), comparison.planned);
  return picture;
}

}  // namespace daedalus::report
