// Figures: what is chosen, how it is thinned, and that the files are well formed.

#include "daedalus/report/plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <string>

#include "daedalus/base/error.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/report/page.hpp"
#include "daedalus/report/plot_axis.hpp"
#include "daedalus/report/plot_font.hpp"
#include "daedalus/report/plot_reduce.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "folders.hpp"

namespace daedalus::report {
namespace {

std::vector<std::string> texts_of(const Axis& axis) {
  std::vector<std::string> texts;
  for (const Tick& tick : axis.ticks) {
    std::string text;
    for (const Run& run : tick.words) text += run.raised ? "^" + run.text : run.text;
    if (!text.empty()) texts.push_back(text);
  }
  return texts;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

solve::Trajectory run_of(const model::Model& model, double t_end) {
  solve::RunOptions options;
  options.t_end = t_end;
  options.residuals = options.pictures = true;
  return solve::simulate(model, options);
}

model::Model shipped(const std::string& name) {
  return model::read_model(tests::source_folder() + "/models/" + name + ".toml");
}

TEST(PlotAxis, TicksAreAtOneTwoFive) {
  EXPECT_EQ(texts_of(linear_axis(0.0, 50.0, 6)), (std::vector<std::string>{"0", "10", "20", "30", "40", "50"}));
  EXPECT_EQ(texts_of(linear_axis(-2.6, 2.6, 3)), (std::vector<std::string>{"\u22122", "0", "2"}));
  EXPECT_EQ(texts_of(linear_axis(0.0, 0.03, 6)),
            (std::vector<std::string>{"0.000", "0.005", "0.010", "0.015", "0.020", "0.025", "0.030"}));
}

TEST(PlotAxis, SmallAndLargeNumbersShareAPowerOfTen) {
  const Axis small = linear_axis(0.0, 4e-5, 4);
  EXPECT_EQ(small.exponent, -6);
  EXPECT_EQ(texts_of(small), (std::vector<std::string>{"0", "10", "20", "30", "40"}));
  EXPECT_EQ(linear_axis(0.0, 3e7, 4).exponent, 6);
  EXPECT_EQ(linear_axis(0.0, 3e3, 4).exponent, 0);
}

TEST(PlotAxis, DecadesAreWholeAndNotTooMany) {
  const Axis axis = logarithmic_axis(3e-16, 2e-3, 5);
  EXPECT_DOUBLE_EQ(axis.low, 1e-16);
  EXPECT_DOUBLE_EQ(axis.high, 1e-2);
  EXPECT_LE(texts_of(axis).size(), 5U);
  EXPECT_EQ(texts_of(axis).back(), "10^\u22122");
  EXPECT_NEAR(axis.place(1e-9), 0.5, 1e-12);
}

TEST(PlotAxis, AConstantGetsARangeAroundIt) {
  const auto [low, high] = widened(3.0, 3.0, 0.05);
  EXPECT_LT(low, 3.0);
  EXPECT_GT(high, 3.0);
  const auto [zero_low, zero_high] = widened(0.0, 0.0, 0.05);
  EXPECT_LT(zero_low, zero_high);
}

TEST(PlotReduce, ColumnsKeepTheirExtremes) {
  std::vector<Spot> line;
  for (int i = 0; i < 100000; ++i) line.push_back({i * 0.004, std::sin(i * 0.7)});
  line[50001].y = 5.0;  // one row sticks out and must stay
  const std::vector<Spot> thin = thin_by_columns(line, 0.5);
  EXPECT_LE(thin.size(), 2U * 801U + 2U);
  EXPECT_EQ(std::max_element(thin.begin(), thin.end(), [](auto a, auto b) { return a.y < b.y; })->y, 5.0);
  EXPECT_TRUE(std::is_sorted(thin.begin(), thin.end(), [](auto a, auto b) { return a.x < b.x; }));
  EXPECT_EQ(thin.front().x, line.front().x);
  EXPECT_EQ(thin.back().x, line.back().x);
}

TEST(PlotReduce, AnyLineStaysWithinTheDistance) {
  std::vector<Spot> line;
  for (int i = 0; i <= 20000; ++i) line.push_back({100.0 * std::cos(i * 0.001), 100.0 * std::sin(i * 0.003)});
  const std::vector<Spot> thin = thin_by_distance(line, 0.1, 100000);
  EXPECT_LT(thin.size(), 2000U);
  double farthest = 0.0;
  for (const Spot& spot : line) {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k + 1 < thin.size(); ++k) {
      const double dx = thin[k + 1].x - thin[k].x, dy = thin[k + 1].y - thin[k].y, length = dx * dx + dy * dy;
      const double at =
          length > 0.0 ? std::clamp(((spot.x - thin[k].x) * dx + (spot.y - thin[k].y) * dy) / length, 0.0, 1.0) : 0.0;
      nearest = std::min(nearest, std::hypot(spot.x - thin[k].x - at * dx, spot.y - thin[k].y - at * dy));
    }
    farthest = std::max(farthest, nearest);
  }
  // The corner may itself lie off the middle of the wedge by the distance: twice the distance bounds the deviation.
  EXPECT_LE(farthest, 0.2);
  EXPECT_LE(thin_by_distance(line, 0.1, 60).size(), 60U);
}

TEST(PlotReduce, RefinementFollowsTheSlopes) {
  // A cubic is its own Hermite interpolant: only rounding is left.
  std::vector<double> t{0.0, 1.0, 2.5, 4.0}, y, slopes;
  for (const double s : t) {
    y.push_back(s * s * s - 2.0 * s);
    slopes.push_back(3.0 * s * s - 2.0);
  }
  const std::vector<double> times = refined_times(t, 100), values = refined_values(t, y, slopes, 100);
  ASSERT_EQ(times.size(), values.size());
  EXPECT_GE(times.size(), 100U);
  for (std::size_t i = 0; i < times.size(); ++i)
    EXPECT_NEAR(values[i], times[i] * times[i] * times[i] - 2.0 * times[i],
                64.0 * 16.0 * std::numeric_limits<double>::epsilon());
}

TEST(PlotReduce, RefinementByDecadesIsEvenInTheLogarithm) {
  std::vector<double> t{0.0, 1e-6, 1e-3, 10.0, 1e4}, y, slopes;
  for (const double s : t) {
    y.push_back(s * s - s);
    slopes.push_back(2.0 * s - 1.0);
  }
  const std::vector<double> times = refined_times(t, 100, TimeScale::logarithmic),
                            values = refined_values(t, y, slopes, 100, TimeScale::logarithmic);
  ASSERT_EQ(times.size(), values.size());
  ASSERT_EQ(times.front(), 0.0);
  ASSERT_EQ(times[1], 1e-6);
  // Ten decades in a hundred parts, each interval in whole ones.
  for (std::size_t i = 2; i < times.size(); ++i)
    EXPECT_LE(std::log10(times[i] / times[i - 1]), 0.1 * (1.0 + 1e-9)) << times[i];
  // A parabola is its own Hermite interpolant: rounding relative to the largest values of its interval.
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double large = *std::upper_bound(t.begin(), t.end() - 1, times[i]);
    EXPECT_NEAR(values[i], times[i] * times[i] - times[i],
                64.0 * std::max(large, large * large) * std::numeric_limits<double>::epsilon());
  }
}

TEST(PlotReduce, AJumpStaysAJump) {
  const std::vector<double> t{0.0, 1.0, 1.0, 2.0}, y{0.0, 0.0, 1.0, 1.0};
  // Either constant, up to the rounding of two weights that sum to one.
  for (const double value : refined_values(t, y, {}, 50))
    EXPECT_LE(std::min(std::abs(value), std::abs(value - 1.0)), 4.0 * std::numeric_limits<double>::epsilon()) << value;
}

TEST(PlotFont, KnowsWidthsAndLettersOfUnits) {
  EXPECT_DOUBLE_EQ(width_of({{"10"}}, 10.0), 11.12);
  EXPECT_DOUBLE_EQ(width_of({{"10"}, {"2", true}}, 10.0), 11.12 + 5.56 * raised_size);
  const std::vector<Glyph> glyphs = glyphs_of("k\u03A9\u00B0\u2212\u4E2D");
  ASSERT_EQ(glyphs.size(), 5U);
  EXPECT_EQ(glyphs[1].font, Glyph::Font::symbol);
  EXPECT_EQ(glyphs[1].code, 'W');
  EXPECT_EQ(glyphs[2].code, 0xB0);
  EXPECT_EQ(glyphs[3].code, 1);
  EXPECT_EQ(glyphs[4].code, '?');
}

TEST(PlotData, ShowsVariablesResidualsEnergyAndPlots) {
  const model::Model model = shipped("pendulum");
  const PlotData data = plot_data(run_of(model, 5.0), model);
  const auto panel = [&](const std::string& title) {
    const auto found =
        std::find_if(data.panels.begin(), data.panels.end(), [&](const Panel& p) { return p.y_title == title; });
    EXPECT_NE(found, data.panels.end()) << title;
    return found == data.panels.end() ? Panel{} : *found;
  };
  const Panel coordinates = panel("coordinates");
  EXPECT_EQ(coordinates.curves.size(), 2U);
  EXPECT_EQ(coordinates.y_unit, "m");
  EXPECT_EQ(coordinates.x_unit, "s");
  EXPECT_EQ(panel("velocities").y_unit, "m/s");
  EXPECT_EQ(panel("|residuals|").scale, Panel::Scale::logarithmic);
  EXPECT_EQ(panel("|residuals|").curves.size(), 2U);
  EXPECT_EQ(panel("|energy error|").scale, Panel::Scale::logarithmic);
  const Panel phase = panel("der(x)");
  EXPECT_FALSE(phase.over_time);
  EXPECT_EQ(phase.x_title, "angle");
  EXPECT_EQ(data.panels.back().y_title, "der(x)");
}

// A reaction over decades: half of the steps are over before a thousandth of the time.
TEST(PlotData, ShowsRunsOverDecadesOnALogarithmicAxis) {
  const model::Model model = shipped("robertson");
  const solve::Prepared prepared = solve::prepare(model);
  solve::RunOptions options;
  picture_options(prepared, options);
  const PlotData data = plot_data(solve::simulate(prepared, options), model);
  EXPECT_TRUE(data.logarithmic_time);
  const std::string svg = plot_svg(data);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  for (const Panel& panel : data.panels) EXPECT_FALSE(panel.curves.empty()) << panel.y_title;
  EXPECT_FALSE(plot_data(run_of(shipped("pendulum"), 5.0), shipped("pendulum")).logarithmic_time);
}

TEST(PlotData, DrawsOnlyWhatWasAskedFor) {
  const model::Model model = shipped("pendulum");
  const solve::Trajectory run = run_of(model, 2.0);
  const PlotData data = plot_data(run, model, {"tension", "phase", "residual.rod"});
  ASSERT_EQ(data.panels.size(), 3U);
  EXPECT_EQ(data.panels[0].y_title, "tension");
  EXPECT_EQ(data.panels[1].y_title, "|residual.rod|");
  EXPECT_EQ(data.panels[2].x_title, "angle");
  EXPECT_NO_THROW(require_curves({"tension", "phase"}, run.columns, model));
  try {
    require_curves({"phase", "tention"}, run.columns, model);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.faults().front().code, "unknown-column");
    EXPECT_EQ(error.faults().front().advice, "did you mean 'tension'?");
  }
}

// The first residual of a consistent start is exactly 0 and not drawn; the axis begins at 0 all the same.
TEST(PlotFile, TheTimeAxisSpansTheWholeRun) {
  PlotData data;
  data.panels.resize(1);
  data.panels[0].scale = Panel::Scale::logarithmic;
  data.panels[0].curves = {{"a", {0.0, 3.0, 10.0}, {0.0, 1.0, 0.0}}};
  const std::string svg = plot_svg(data);
  EXPECT_NE(svg.find(">0<"), std::string::npos);
  EXPECT_NE(svg.find(">10<"), std::string::npos);
}

TEST(PlotData, DrawsExpressionsOfPlots) {
  const model::Model model = model::read_model_text(
      "kind = \"lagrangian\"\n[variables]\nx = 1.0\n[lagrangian]\nkinetic = \"der(x)^2/2\"\npotential = \"x^2/2\"\n"
      "[simulation]\nt_end = 6\n[plots]\nsquare = { x = \"x^2\", y = [\"x*der(x)\", \"x + 1\"] }\n",
      "square.toml");
  const PlotData data = plot_data(run_of(model, 6.0), model);
  const Panel& panel = data.panels.back();
  EXPECT_EQ(panel.y_title, "square");
  ASSERT_EQ(panel.curves.size(), 2U);
  // x starts at 1 at rest.
  EXPECT_DOUBLE_EQ(panel.curves[0].x.front(), 1.0);
  EXPECT_DOUBLE_EQ(panel.curves[0].y.front(), 0.0);
  EXPECT_DOUBLE_EQ(panel.curves[1].y.front(), 2.0);
}

TEST(PlotData, ShowsSomeMembersOfALargeFamily) {
  model::Overrides overrides;
  overrides.set = {{"N", "30"}};
  const model::Model model = model::read_model(tests::source_folder() + "/models/chain.toml", overrides);
  const PlotData data = plot_data(run_of(model, 0.05), model);
  for (const Panel& panel : data.panels) EXPECT_LE(panel.curves.size(), 8U) << panel.y_title;
  EXPECT_TRUE(data.panels.front().family);
  EXPECT_EQ(data.panels.front().curves.front().name, "x[1]");
  EXPECT_EQ(data.panels.front().curves.back().name, "x[30]");
  EXPECT_EQ(data.panels.front().notes, (std::vector<std::string>{"8 of 30"}));
}

PlotData long_run() {
  PlotData data;
  data.title = "long";
  for (int p = 0; p < 6; ++p) {
    Panel panel;
    panel.y_title = "panel";
    panel.over_time = p < 5;
    if (p == 4) panel.scale = Panel::Scale::logarithmic;
    for (int c = 0; c < 6; ++c) {
      Curve curve{"c" + std::to_string(c), {}, {}};
      for (int i = 0; i < 100000; ++i) {
        const double t = i * 1e-3;
        curve.x.push_back(panel.over_time ? t : std::sin(1.3 * t + c));
        curve.y.push_back(std::abs(std::sin((7.0 + c) * t)) * std::cos(t) + (p == 4 ? 1.1 : 0.0));
      }
      panel.curves.push_back(std::move(curve));
    }
    data.panels.push_back(std::move(panel));
  }
  return data;
}

TEST(PlotFile, ALongRunGivesASmallFile) {
  const PlotData data = long_run();
  EXPECT_LT(plot_svg(data).size(), 1'000'000U);
  EXPECT_LT(plot_pdf(data).size(), 1'500'000U);
}

TEST(PlotFile, SvgIsWellFormedAndEscapesNames) {
  PlotData data;
  data.title = "a < b & c";
  Panel panel;
  panel.y_title = "x<1>&";
  panel.y_unit = "kg*m^-2";
  panel.curves = {{"<a>", {0.0, 1.0, 2.0}, {0.0, 1.0, 0.5}}, {"b", {0.0, 1.0, 2.0}, {0.0, std::nan(""), 2.0}}};
  data.panels.push_back(panel);
  const std::string svg = plot_svg(data);
  EXPECT_EQ(occurrences(svg, "<a>"), 0U);
  EXPECT_EQ(occurrences(svg, "&lt;a&gt;"), 1U);
  EXPECT_NE(svg.find("x&lt;1&gt;&amp; (kg\u00B7m"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  // Every element that is opened is closed.
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-z]+)[^>]*?(/?)>");
  for (std::sregex_iterator at(svg.begin() + static_cast<std::ptrdiff_t>(svg.find("<svg")), svg.end(), tag), end;
       at != end; ++at) {
    if ((*at)[1].length() > 0) {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), (*at)[2]);
      open.pop_back();
    } else if ((*at)[3].length() == 0) {
      open.push_back((*at)[2]);
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(PlotFile, PdfTablePointsAtItsObjects) {
  const model::Model model = shipped("pendulum");
  const std::string pdf = plot_pdf(plot_data(run_of(model, 5.0), model));
  ASSERT_TRUE(pdf.starts_with("%PDF-1.4\n"));
  ASSERT_TRUE(pdf.ends_with("%%EOF\n"));
  const std::size_t start = pdf.rfind("startxref\n") + 10;
  const std::size_t table = std::stoul(pdf.substr(start));
  ASSERT_EQ(pdf.compare(table, 5, "xref\n"), 0);
  std::size_t row = pdf.find("65535 f \n", table) + 9;
  for (int object = 1; pdf.compare(row + 10, 9, " 00000 n ") == 0; ++object, row += 20) {
    const std::string head = std::to_string(object) + " 0 obj\n";
    EXPECT_EQ(pdf.compare(std::stoul(pdf.substr(row, 10)), head.size(), head), 0) << object;
  }
  const std::size_t length_at = pdf.find("/Length ") + 8, stream = pdf.find("stream\n", length_at) + 7;
  EXPECT_EQ(pdf.compare(stream + std::stoul(pdf.substr(length_at)), 10, "\nendstream"), 0);
}

TEST(PlotFile, NothingToDrawIsStillAFile) {
  EXPECT_TRUE(plot_svg({}).ends_with("</svg>\n"));
  PlotData data;
  data.panels.resize(2);
  data.panels[1].over_time = false;
  data.panels[1].curves = {{"a", {1.0}, {std::nan("")}}};
  EXPECT_EQ(plot_svg(data).find("nan"), std::string::npos);
  EXPECT_TRUE(plot_pdf(data).ends_with("%%EOF\n"));
}

TEST(PlotFile, TheSameRunGivesTheSameFile) {
  const model::Model model = shipped("pendulum");
  EXPECT_EQ(plot_pdf(plot_data(run_of(model, 2.0), model)), plot_pdf(plot_data(run_of(model, 2.0), model)));
}

}  // namespace
}  // namespace daedalus::report
