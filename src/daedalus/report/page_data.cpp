// The numbers of a run for the scripts of its page.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "daedalus/expr/mathml.hpp"
#include "daedalus/report/page_parts.hpp"
#include "daedalus/report/plot.hpp"

namespace daedalus::report {

using json = nlohmann::ordered_json;
using model::Model;
using solve::Trajectory;

std::string base64(const void* data, std::size_t size) {
  static constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::string text((size + 2) / 3 * 4, '=');
  std::size_t out = 0;
  for (std::size_t i = 0; i < size; i += 3) {
    const std::size_t left = std::min<std::size_t>(3, size - i);
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) three = three << 8 | (k < left ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < left + 1; ++k) text[out + k] = letters[three >> (18 - 6 * k) & 63U];
    out += 4;
  }
  return text;
}

std::string script_text(const std::string& description) {
  std::string text;
  for (const char c : description) {
    if (c == '<')  // could end the script element that the text stands in
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

namespace {

constexpr std::size_t most_numbers = 3'000'000;      ///< float64 in a page: 32 MB of text
constexpr std::size_t many_columns = 200;            ///< above, only what is drawn is kept where space is short
constexpr std::size_t most_residuals = 16;           ///< curves in one panel
constexpr std::size_t most_frames = 4000;            ///< of the animation
constexpr std::size_t most_coordinates = 2'000'000;  ///< float32 in all frames

static_assert(std::endian::native == std::endian::little, "the page's numbers are little endian");

/// Numbers of one series: a column of the run, a picture of it, or values computed here.
struct Series {
  enum class From { time, column, picture, values } from = From::time;
  std::size_t position = 0;
  std::vector<double> values = {};
};

class Collector {
 public:
  Collector(const Model& model, const Trajectory& run) : model_(model), run_(run) {
    for (std::size_t i = 0; i < run.columns.size(); ++i) column_.emplace(run.columns[i], i);
    series_.push_back({});
  }

  PageData collect() {
    PageData data;
    data.all_rows = run_.t.size();
    Model bare = model_;
    bare.plots.clear();
    const PlotData chosen = plot_data(run_, bare);

    // all columns first: with t they are the CSV file of the page
    std::size_t drawn = 1;
    for (const Panel& panel : chosen.panels) drawn += panel.curves.size();
    data.all_columns =
        run_.columns.size() <= many_columns || (run_.columns.size() + drawn) * run_.t.size() <= most_numbers;
    json columns = json::array({"t"});
    if (data.all_columns)
      for (const std::string& name : run_.columns) {
        columns.push_back(name);
        series_of_column(name);
      }
    json panels = json::array();
    for (const Panel& panel : chosen.panels) panels.push_back(time_panel(panel));
    if (!data.all_columns)
      for (std::size_t s = 1; s < series_.size() && series_[s].from == Series::From::column; ++s)
        columns.push_back(run_.columns[series_[s].position]);
    json phases = json::array();
    add_plots(panels, phases);
    data.has_phases = !phases.empty();

    data.rows = std::min(run_.t.size(), std::max<std::size_t>(2, most_numbers / series_.size()));
    const json drawing = draw(data);
    data.numbers = numbers(data.rows);
    const json description{
        {"model", model_.name}, {"logarithmicTime", chosen.logarithmic_time}, {"timeUnit", chosen.panels.empty() ? "" : chosen.panels.front().x_unit},
        {"rows", data.rows},    {"allRows", data.all_rows},
        {"columns", columns},   {"series", series_.size()},
        {"panels", panels},     {"phases", phases},
        {"drawing", drawing}};
    data.description = script_text(description.dump(-1, ' ', false, json::error_handler_t::replace));
    return data;
  }

 private:
  std::size_t series_of_column(const std::string& name) {
    const auto [entry, fresh] = series_of_.try_emplace(name, series_.size());
    if (fresh) series_.push_back({Series::From::column, column_.at(name)});
    return entry->second;
  }

  /// The row of the run that is row `k` of the `rows` in the page; the scripts count frames in the same way.
  static std::size_t chosen_row(std::size_t k, std::size_t rows, std::size_t all) {
    return rows < 2 ? 0 : k * (all - 1) / (rows - 1);
  }

  double number(const Series& series, std::size_t row) const {
    switch (series.from) {
      case Series::From::time:
        return run_.t[row];
      case Series::From::column:
        return run_.value(row, series.position);
      case Series::From::picture:
        return run_.pictures[row * run_.picture_count + series.position];
      default:
        return series.values[row];
    }
  }

  std::string numbers(std::size_t rows) const {
    std::vector<double> all;
    all.reserve(rows * series_.size());
    for (const Series& series : series_)
      for (std::size_t k = 0; k < rows; ++k) all.push_back(number(series, chosen_row(k, rows, run_.t.size())));
    return base64(all.data(), all.size() * sizeof(double));
  }

  json curve(const std::string& name, std::size_t series, double offset = 0.0) const {
    std::string label = expr::name_to_mathml(name);
    if (name.find_first_of(" +-*/^=") != std::string::npos) label = "<mtext>" + expr::escape_markup(name) + "</mtext>";
    const auto residual = [&](const std::string& start, const std::string& end, const std::string& before,
                              const std::string& after) {
      if (name.starts_with(start) && name.ends_with(end))
        label = "<msub>" + before + "<mi>g</mi>" + after + "<mi>" +
                expr::escape_markup(name.substr(start.size(), name.size() - start.size() - end.size())) +
                "</mi></msub>";
    };
    residual("residual.", "", "", "");
    residual("der(residual.", ")", "<mover accent=\"true\">", "<mo>˙</mo></mover>");
    if (name == "energy" && offset != 0.0) label = "<mrow><mi>E</mi><mo>−</mo><msub><mi>E</mi><mn>0</mn></msub></mrow>";
    return {{"name", name}, {"label", label}, {"series", series}, {"offset", offset}};
  }

  json time_panel(const Panel& panel) {
    const bool logarithmic = panel.scale == Panel::Scale::logarithmic;
    json curves = json::array();
    bool family = panel.family;
    for (const Curve& drawn : panel.curves) {
      if (logarithmic && !column_.contains(drawn.name)) {
        // the largest of many constraints: a page has room for a few more than a figure
        const std::vector<std::string> members = residuals(panel.y_title);
        if (!members.empty() && members.size() <= most_residuals) {
          family = true;
          for (const std::string& name : members) curves.push_back(curve(name, series_of_column(name)));
          continue;
        }
      }
      if (column_.contains(drawn.name)) {
        const std::size_t series = series_of_column(drawn.name);
        const bool energy = logarithmic && drawn.name == "energy";
        curves.push_back(curve(drawn.name, series, energy ? run_.value(0, column_.at("energy")) : 0.0));
      } else if (drawn.y.size() == run_.t.size()) {
        curves.push_back(curve(drawn.name, series_.size()));
        series_.push_back({Series::From::values, 0, drawn.y});
      }
    }
    return {{"title", panel.y_title},
            {"unit", unit_text(panel.y_unit)},
            {"logarithmic", logarithmic},
            {"family", family},
            {"notes", family == panel.family ? panel.notes : std::vector<std::string>{}},
            {"curves", curves}};
  }

  /// Residuals of the level that the title of a panel names.
  std::vector<std::string> residuals(const std::string& title) const {
    const bool velocity = title.find("velocity") != std::string::npos;
    std::vector<std::string> names;
    for (const std::string& name : run_.columns)
      if (name.starts_with(velocity ? "der(residual." : "residual.")) names.push_back(name);
    return names;
  }

  /// The series of an entry of [plots]: the time, a column, or an expression that the run recorded.
  std::optional<std::size_t> plotted(const std::string& name, std::size_t picture) {
    if (name == "t" || name == "time") return 0;
    if (column_.contains(name)) return series_of_column(name);
    if (picture >= run_.picture_count) return std::nullopt;
    series_.push_back({Series::From::picture, picture});
    return series_.size() - 1;
  }

  void add_plots(json& panels, json& phases) {
    std::size_t picture = 0;
    for (const auto& point : model_.drawing.points) picture += point.second.size();
    for (const model::Plot& plot : model_.plots) {
      const std::optional<std::size_t> x = plotted(plot.x, picture++);
      json curves = json::array();
      for (const std::string& name : plot.y)
        if (const std::optional<std::size_t> y = plotted(name, picture++)) curves.push_back(curve(name, *y));
      if (!x || curves.empty()) continue;
      if (*x == 0)
        panels.push_back({{"title", plot.name},
                          {"unit", ""},
                          {"logarithmic", false},
                          {"family", false},
                          {"notes", json::array()},
                          {"curves", curves}});
      else
        phases.push_back({{"title", plot.name},
                          {"x", curve(plot.x, *x)},
                          {"xUnit", unit_text(unit_of(plot.x))},
                          {"yUnit", plot.y.size() == 1 ? unit_text(unit_of(plot.y[0])) : ""},
                          {"curves", curves}});
    }
  }

  std::string unit_of(const std::string& name) const {
    for (const auto& unknown : model_.variables)
      if (unknown.name == name) return unknown.unit;
    for (const auto& output : model_.outputs)
      if (output.name == name) return output.unit;
    return {};
  }

  /// Points of an animation with where their coordinates come from; a missing third coordinate is 0.
  struct Point {
    std::string name;
    std::vector<Series> at;
  };

  std::vector<Point> drawn_points() const {
    std::vector<Point> points;
    std::size_t picture = 0;
    for (const auto& [name, coordinates] : model_.drawing.points) {
      Point point{name, {}};
      for (std::size_t k = 0; k < coordinates.size(); ++k) point.at.push_back({Series::From::picture, picture++});
      points.push_back(std::move(point));
    }
    return points;
  }

  /// Without a drawing: pairs and triples of columns whose names differ in one letter only, x, y and perhaps z.
  std::vector<Point> guessed_points() const {
    std::vector<std::string> names;
    for (const auto& unknown : model_.variables) names.push_back(unknown.name);
    for (const auto& output : model_.outputs) names.push_back(output.name);
    std::vector<Point> points;
    for (const std::string& name : names)
      for (std::size_t at = 0; at < name.size(); ++at) {
        if (name[at] != 'x' && name[at] != 'X') continue;
        const bool large = name[at] == 'X';
        const auto other = [&](char letter) {
          std::string text = name;
          text[at] = large ? static_cast<char>(letter - 'a' + 'A') : letter;
          return column_.find(text);
        };
        const auto x = column_.find(name), y = other('y'), z = other('z');
        if (x == column_.end() || (y == column_.end() && z == column_.end())) continue;
        Point point{"(" + name, {{Series::From::column, x->second}}};
        for (const auto& next : {y, z})
          if (next != column_.end()) {
            point.at.push_back({Series::From::column, next->second});
            point.name += ", " + next->first;
          }
        point.name += ")";
        points.push_back(std::move(point));
        break;
      }
    return points;
  }

  json draw(PageData& data) const {
    const bool drawn = !model_.drawing.points.empty();
    if (drawn && run_.picture_count == 0) return nullptr;
    const std::vector<Point> points = drawn ? drawn_points() : guessed_points();
    if (points.empty() || data.rows == 0) return nullptr;
    std::size_t dimension = 2;
    for (const Point& point : points) dimension = std::max(dimension, point.at.size());
    const std::size_t width = points.size() * dimension;
    const std::size_t frames = std::min({data.rows, most_frames, std::max<std::size_t>(2, most_coordinates / width)});
    std::vector<float> all;
    all.reserve(frames * width);
    for (std::size_t k = 0; k < frames; ++k) {
      const std::size_t row = chosen_row(chosen_row(k, frames, data.rows), data.rows, run_.t.size());
      for (const Point& point : points)
        for (std::size_t d = 0; d < dimension; ++d)
          all.push_back(d < point.at.size() ? static_cast<float>(number(point.at[d], row)) : 0.0F);
    }
    data.frames = base64(all.data(), all.size() * sizeof(float));
    data.dimension = static_cast<int>(dimension);

    json names = json::array(), lines = json::array(), trails = json::array();
    std::unordered_map<std::string, std::size_t> position;
    for (const Point& point : points) {
      position.emplace(point.name, names.size());
      names.push_back(point.name);
    }
    if (drawn) {
      for (const auto& line : model_.drawing.lines) {
        json path = json::array();
        for (const std::string& name : line)
          if (const auto found = position.find(name); found != position.end()) path.push_back(found->second);
        lines.push_back(path);
      }
      for (const std::string& name : model_.drawing.trails)
        if (const auto found = position.find(name); found != position.end()) trails.push_back(found->second);
    } else {
      for (std::size_t i = 0; i < std::min<std::size_t>(points.size(), 3); ++i) trails.push_back(i);
    }
    return {{"dimension", dimension}, {"names", names}, {"lines", lines}, {"trails", trails}, {"frames", frames}};
  }

  const Model& model_;
  const Trajectory& run_;
  std::unordered_map<std::string, std::size_t> column_, series_of_;
  std::vector<Series> series_;
};

}  // namespace

PageData page_data(const Model& model, const Trajectory& run) { return Collector(model, run).collect(); }

}  // namespace daedalus::report
