// What is drawn of a run, in which panel.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "daedalus/base/error.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/report/plot.hpp"
#include "daedalus/report/plot_reduce.hpp"

namespace daedalus::report {

using model::Model;
using solve::Trajectory;

namespace {

constexpr std::size_t most_curves = 8;      ///< in one panel
constexpr std::size_t smooth_parts = 1500;  ///< a curve gets at least so many points

/// "s" where the units of the model speak of seconds and of no other time; otherwise nobody knows the unit of t.
std::string time_unit(const Model& model) {
  static const std::set<std::string> seconds{"s", "N", "kN", "J", "kJ", "W", "kW", "Hz", "Pa", "V", "A", "F", "C"};
  static const std::set<std::string> others{"ms", "us", "ns", "min", "h", "d", "day", "yr"};
  bool found = false, other = false;
  const auto look = [&](const std::string& unit) {
    std::string word;
    for (const char c : unit + " ") {
      if (std::isalpha(static_cast<unsigned char>(c))) {
        word += c;
      } else {
        found = found || seconds.contains(word);
        other = other || others.contains(word);
        word.clear();
      }
    }
  };
  for (const auto& parameter : model.parameters) look(parameter.unit);
  for (const auto& unknown : model.variables) look(unknown.unit);
  for (const auto& unknown : model.auxiliary) look(unknown.unit);
  for (const auto& output : model.outputs) look(output.unit);
  return found && !other ? "s" : "";
}

/// The unit of a derivative: "m" gives "m/s", "m/s" gives "m/s^2". Empty where either is unknown.
std::string unit_of_rate(const std::string& unit, const std::string& time) {
  if (unit.empty() || time.empty()) return {};
  if (unit == "1") return "1/" + time;
  if (unit.ends_with("/" + time)) return unit + "^2";
  if (unit.find('/') != std::string::npos) return "(" + unit + ")/" + time;
  return unit + "/" + time;
}

enum class Role { variable, rate, auxiliary, output, multiplier, residual, residual_rate, energy, other };

struct Column {
  std::string name, unit;
  Role role = Role::other;
  std::size_t position = 0;
};

/// "x[3]", "der(x[3])": the part before the index.
std::string family_of(const std::string& name) {
  const std::size_t bracket = name.find('[');
  return bracket == std::string::npos ? std::string{} : name.substr(0, bracket);
}

/// Up to `most` of them, evenly spaced, with the first and the last.
std::vector<Column> some_of(const std::vector<Column>& columns, std::size_t most) {
  if (columns.size() <= most) return columns;
  std::vector<Column> chosen;
  for (std::size_t k = 0; k < most; ++k) chosen.push_back(columns[k * (columns.size() - 1) / (most - 1)]);
  return chosen;
}

class Chooser {
 public:
  Chooser(const Trajectory& run, const Model& model, const std::vector<std::string>& curves)
      : run_(run), model_(model), time_unit_(time_unit(model)), wanted_(curves.begin(), curves.end()) {
    std::unordered_map<std::string, Column> known;
    const auto learn = [&](const std::string& name, const std::string& unit, Role role) {
      known.try_emplace(name, Column{name, unit, role});
    };
    const auto learn_unknown = [&](const model::Unknown& unknown, Role role) {
      std::string unit = unknown.unit;
      learn(unknown.name, unit, role);
      for (std::size_t k = 1; k <= 3; ++k) {
        unit = unit_of_rate(unit, time_unit_);
        learn(model::derivative_name(unknown.name, k), unit, Role::rate);
      }
    };
    for (const auto& unknown : model.variables) learn_unknown(unknown, Role::variable);
    for (const auto& unknown : model.auxiliary) learn_unknown(unknown, Role::auxiliary);
    for (const auto& output : model.outputs) learn(output.name, output.unit, Role::output);
    for (std::size_t i = 0; i < run.columns.size(); ++i) {
      const std::string& name = run.columns[i];
      Column column{name, {}, Role::other};
      if (const auto entry = known.find(name); entry != known.end())
        column = entry->second;
      else if (name.starts_with("lambda."))
        column.role = Role::multiplier;
      else if (name.starts_with("residual."))
        column.role = Role::residual;
      else if (name.starts_with("der(residual."))
        column.role = Role::residual_rate;
      else if (name == "energy")
        column.role = Role::energy;
      column.position = i;
      columns_.push_back(column);
      position_.emplace(name, i);
    }
    scale_ = spans_decades() ? TimeScale::logarithmic : TimeScale::linear;
    fine_t_ = refined_times(run.t, smooth_parts, scale_);
  }

  PlotData choose() {
    const bool mechanics = model_.kind == model::Kind::lagrangian || model_.kind == model::Kind::mechanical;
    add_group(Role::variable, mechanics ? "coordinates" : "variables");
    add_group(Role::rate, mechanics ? "velocities" : "derivatives");
    add_group(Role::auxiliary, "auxiliary unknowns");
    add_group(Role::multiplier, "multipliers");
    add_group(Role::output, "outputs");
    add_group(Role::other, "values");
    add_residuals();
    add_energy();
    for (Panel& panel : data_.panels) panel.x_unit = time_unit_;
    add_plots();
    data_.logarithmic_time = scale_ == TimeScale::logarithmic;
    data_.title = model_.name;
    data_.description = fmt::format("{} + {}, rtol {}, atol {}, t = {} .. {}", run_.formulation, run_.method,
                                    brief(run_.rtol, 3), brief(run_.atol, 3), brief(run_.t_start), brief(run_.t_end));
    return std::move(data_);
  }

 private:
  /// Whether the method itself took time by decades: half of its steps lie in the first thousandth of the run.
  bool spans_decades() const {
    constexpr double early_part = 1e-3, least_span = 1e5;
    constexpr std::size_t few_steps = 20;
    if (run_.t.empty() || run_.t.front() < 0.0 || run_.stats.steps < few_steps) return false;
    const auto first = std::upper_bound(run_.t.begin(), run_.t.end(), 0.0);
    const double length = run_.t.back() - run_.t.front();
    if (first == run_.t.end() || !(length > least_span * *first)) return false;
    const auto early = std::upper_bound(first, run_.t.end(), run_.t.front() + early_part * length) - first;
    return 2 * static_cast<std::size_t>(early) > run_.stats.steps;
  }

  std::vector<double> raw(std::size_t position) const {
    std::vector<double> values(run_.t.size());
    for (std::size_t row = 0; row < values.size(); ++row) values[row] = run_.value(row, position);
    return values;
  }

  /// A column between its rows as well: with its derivative where that is a column, too.
  std::vector<double> smooth(std::size_t position) const {
    const auto rate = position_.find(model::derivative_name(run_.columns[position], 1));
    return refined_values(run_.t, raw(position), rate == position_.end() ? std::vector<double>{} : raw(rate->second),
                          smooth_parts, scale_);
  }

  bool is_wanted(const std::string& name) const { return wanted_.empty() || wanted_.contains(name); }

  std::vector<Column> columns_of(Role role) const {
    std::vector<Column> result;
    for (const Column& column : columns_)
      if (column.role == role && is_wanted(column.name)) result.push_back(column);
    return result;
  }

  double extent(const Column& column) const {
    double low = INFINITY, high = -INFINITY;
    for (std::size_t row = 0; row < run_.t.size(); ++row) {
      const double value = run_.value(row, column.position);
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    return high > low ? high - low : 0.0;
  }

  void add_group(Role role, const std::string& title) {
    std::vector<std::string> units;
    std::map<std::string, std::vector<Column>> by_unit;
    for (const Column& column : columns_of(role)) {
      if (!by_unit.contains(column.unit)) units.push_back(column.unit);
      by_unit[column.unit].push_back(column);
    }
    for (const std::string& unit : units)
      for (const std::vector<Column>& part : by_size(by_unit[unit])) add_alike(part, title);
  }

  /// Splits curves of one unit where some move more than ten times less than all others and would look flat.
  std::vector<std::vector<Column>> by_size(const std::vector<Column>& columns) const {
    std::vector<double> extents;
    for (const Column& column : columns)
      if (const double size = extent(column); size > 0.0) extents.push_back(size);
    std::sort(extents.begin(), extents.end());
    double gap = 10.0, limit = 0.0;
    for (std::size_t i = 1; i < extents.size(); ++i)
      if (extents[i] / extents[i - 1] > gap) {
        gap = extents[i] / extents[i - 1];
        limit = extents[i];
      }
    if (limit == 0.0) return {columns};
    std::vector<std::vector<Column>> parts(2);
    const bool first_large = extent(columns.front()) >= limit;
    for (const Column& column : columns) parts[(extent(column) >= limit) == first_large ? 0 : 1].push_back(column);
    return parts;
  }

  /// Curves of one unit: all in one panel, or by family where they are many.
  void add_alike(const std::vector<Column>& columns, const std::string& title) {
    if (columns.size() <= most_curves) return add_panel(columns, columns.size(), title);
    std::vector<std::string> families;
    std::map<std::string, std::vector<Column>> members;
    for (const Column& column : columns) {
      const std::string family = family_of(column.name);
      if (!members.contains(family)) families.push_back(family);
      members[family].push_back(column);
    }
    for (const std::string& family : families) {
      const std::vector<Column>& all = members[family];
      if (!family.empty()) {
        add_panel(some_of(all, most_curves), all.size(), title);
        continue;
      }
      const std::size_t panels = std::min<std::size_t>(4, (all.size() + most_curves - 1) / most_curves);
      for (std::size_t k = 0; k < panels; ++k) {
        const auto begin = static_cast<std::ptrdiff_t>(k * all.size() / panels),
                   end = static_cast<std::ptrdiff_t>((k + 1) * all.size() / panels);
        const std::vector<Column> part(all.begin() + begin, all.begin() + end);
        add_panel(some_of(part, most_curves), part.size(), title);
      }
    }
  }

  void add_panel(const std::vector<Column>& columns, std::size_t of, const std::string& title) {
    Panel panel;
    const std::string family = family_of(columns.front().name);
    panel.family = !family.empty() && std::all_of(columns.begin(), columns.end(),
                                                  [&](const Column& c) { return family_of(c.name) == family; });
    // "der(x[3])" is a member of der(x).
    const std::string closed = family.starts_with("der(") ? family + ")" : family;
    panel.y_title = columns.size() == 1 ? columns.front().name : panel.family ? title + " " + closed : title;
    panel.y_unit = columns.front().unit;
    for (const Column& column : columns) panel.curves.push_back({column.name, fine_t_, smooth(column.position)});
    if (of > columns.size()) panel.notes.push_back(fmt::format("{} of {}", columns.size(), of));
    data_.panels.push_back(std::move(panel));
  }

  Curve absolute(const std::string& name, const std::vector<Column>& columns) const {
    Curve curve{name, run_.t, std::vector<double>(run_.t.size(), 0.0)};
    for (const Column& column : columns)
      for (std::size_t row = 0; row < run_.t.size(); ++row)
        curve.y[row] = std::max(curve.y[row], std::abs(run_.value(row, column.position)));
    return curve;
  }

  static void add_logarithmic(Panel& panel, Curve curve) {
    if (std::all_of(curve.y.begin(), curve.y.end(), [](double y) { return y == 0.0; })) {
      panel.notes.push_back(curve.name + ": exactly 0");
      return;
    }
    panel.curves.push_back(std::move(curve));
  }

  void add_residuals() {
    const std::vector<Column> position = columns_of(Role::residual), velocity = columns_of(Role::residual_rate);
    if (position.size() + velocity.size() == 0) return;
    const bool together = position.size() + velocity.size() <= 4;
    Panel panel;
    const auto close = [&](const std::string& title) {
      panel.scale = Panel::Scale::logarithmic;
      const bool single = panel.curves.size() == 1 && position_.contains(panel.curves.front().name);
      panel.y_title = single ? "|" + panel.curves.front().name + "|" : title;
      // Axes without a curve say nothing, unless they were asked for.
      if (!panel.curves.empty() || (!panel.notes.empty() && !wanted_.empty())) data_.panels.push_back(std::move(panel));
      panel = {};
    };
    const auto add_level = [&](const std::vector<Column>& level) {
      if (level.size() <= most_curves) {
        for (const Column& column : level) add_logarithmic(panel, absolute(column.name, {column}));
        return;
      }
      panel.notes.push_back(fmt::format("largest of {}", level.size()));
      add_logarithmic(panel, absolute("all", level));
    };
    add_level(position);
    if (!together) close("|position residuals|");
    add_level(velocity);
    close(together ? "|residuals|" : "|velocity residuals|");
  }

  void add_energy() {
    const std::vector<Column> energy = columns_of(Role::energy);
    if (energy.empty() || run_.t.empty()) return;
    Panel panel;
    if (!run_.energy) {
      panel.y_title = "energy";
      panel.curves.push_back({"energy", fine_t_, smooth(energy.front().position)});
    } else {
      panel.scale = Panel::Scale::logarithmic;
      panel.y_title = "|energy error|";
      Curve curve{"energy", run_.t, raw(energy.front().position)};
      const double start = curve.y.front();
      for (double& y : curve.y) y = std::abs(y - start);
      add_logarithmic(panel, std::move(curve));
      panel.notes.push_back(fmt::format("relative: {}", brief(*run_.energy, 2)));
    }
    data_.panels.push_back(std::move(panel));
  }

  /// Values of an entry of [plots]: a column, the time, or an expression that the run recorded.
  std::vector<double> plotted(const std::string& name, std::size_t picture) const {
    if (name == "t") return fine_t_;
    if (const auto column = position_.find(name); column != position_.end()) return smooth(column->second);
    if (picture >= run_.picture_count) return {};
    std::vector<double> values(run_.t.size());
    for (std::size_t row = 0; row < values.size(); ++row)
      values[row] = run_.pictures[row * run_.picture_count + picture];
    return refined_values(run_.t, values, {}, smooth_parts, scale_);
  }

  std::string unit_of(const std::string& name) const {
    if (name == "t") return time_unit_;
    const auto column = position_.find(name);
    return column == position_.end() ? std::string{} : columns_[column->second].unit;
  }

  void add_plots() {
    std::size_t picture = 0;
    for (const auto& point : model_.drawing.points) picture += point.second.size();
    for (const model::Plot& plot : model_.plots) {
      Panel panel;
      panel.over_time = plot.x == "t";
      panel.x_title = plot.x;
      panel.x_unit = unit_of(plot.x);
      const std::vector<double> x = plotted(plot.x, picture++);
      for (std::size_t k = 0; k < plot.y.size(); ++k) {
        std::vector<double> y = plotted(plot.y[k], picture++);
        if (x.empty() || y.empty()) continue;
        panel.y_unit = panel.curves.empty() || panel.y_unit == unit_of(plot.y[k]) ? unit_of(plot.y[k]) : "";
        panel.curves.push_back({plot.y[k], x, std::move(y)});
      }
      if (panel.curves.empty() || !is_wanted(plot.name)) continue;
      panel.y_title = panel.curves.size() == 1 ? panel.curves.front().name : plot.name;
      data_.panels.push_back(std::move(panel));
    }
  }

  const Trajectory& run_;
  const Model& model_;
  std::string time_unit_;
  std::set<std::string> wanted_;  ///< all if empty
  std::vector<Column> columns_;
  std::unordered_map<std::string, std::size_t> position_;
  TimeScale scale_ = TimeScale::linear;
  std::vector<double> fine_t_;
  PlotData data_;
};

}  // namespace

PlotData plot_data(const Trajectory& trajectory, const Model& model, const std::vector<std::string>& curves) {
  return Chooser(trajectory, model, curves).choose();
}

void require_curves(const std::vector<std::string>& curves, const std::vector<std::string>& columns,
                    const Model& model) {
  std::vector<std::string> names = columns;
  for (const model::Plot& plot : model.plots) names.push_back(plot.name);
  for (const std::string& curve : curves)
    if (std::find(names.begin(), names.end(), curve) == names.end())
      throw Error("unknown-column", fmt::format("there is no '{}' to draw", curve), suggest(curve, names));
}

}  // namespace daedalus::report
