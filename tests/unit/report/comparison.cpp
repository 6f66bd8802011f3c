// The page and the figure of comparisons that are made up, so that every number in them is known.

#include "daedalus/report/comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "daedalus/report/plot_font.hpp"
#include "unit/report/page_tools.hpp"

namespace daedalus::report {
namespace {

using solve::ComparedRun;
using solve::Comparison;
using solve::Quantity;

constexpr std::size_t parts = solve::ResidualHistory::parts;

ComparedRun run_of(const std::string& formulation, const std::string& method, double rtol, double seconds) {
  ComparedRun run;
  run.formulation = formulation;
  run.method = method;
  run.rtol = rtol;
  run.success = true;
  run.trajectory.processor_seconds = seconds;
  run.trajectory.stats.steps = 7;
  run.trajectory.stats.rhs = 70;
  run.trajectory.constraints.present = {true, true, false};
  of(run.error, Quantity::position) = 2.0 * rtol;
  of(run.error, Quantity::velocity) = 10.0 * rtol;
  run.residuals.levels.assign(2, std::vector<double>(parts, 0.0));
  for (std::size_t k = 0; k < parts; ++k) {
    run.residuals.levels[0][k] = rtol * static_cast<double>(k);
    run.residuals.levels[1][k] = std::nan("");
  }
  return run;
}

/// Every formulation with every method at 1e-3, 1e-5, 1e-7, ten times the time for each hundredth of the tolerance.
Comparison comparison_of(const std::vector<std::string>& formulations, const std::vector<std::string>& methods) {
  Comparison comparison;
  comparison.models.resize(1);
  comparison.models[0].name = "swing";
  comparison.models[0].t_end = 2.0;
  comparison.models[0].reference.computed = true;
  comparison.models[0].reference.origin = "this and that";
  of(comparison.models[0].reference.agreement, Quantity::position) = 1e-9;
  comparison.quantities = {Quantity::position, Quantity::velocity};
  for (std::size_t i = 0; i < formulations.size(); ++i)
    for (const std::string& method : methods)
      for (const int k : {0, 1, 2})
        comparison.runs.push_back(run_of(formulations[i], method, std::pow(10.0, -3 - 2 * k),
                                         static_cast<double>(i + 1) * std::pow(10.0, -3 + k)));
  comparison.planned = comparison.runs.size();
  return comparison;
}

void fail(ComparedRun& run, const std::string& reason) {
  run.success = false;
  run.message = reason;
  run.error = {};
}

std::vector<std::string> names(std::size_t count) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back("formulation-" + std::to_string(i));
  return result;
}

std::string text_of(const Label& label) {
  std::string text;
  for (const Run& run : label.words) text += run.text;
  return text;
}

Spot centre_of(const Area& mark) {
  Spot sum;
  for (const Spot& spot : mark.rings.front()) sum = {sum.x + spot.x, sum.y + spot.y};
  const auto count = static_cast<double>(mark.rings.front().size());
  return {sum.x / count, sum.y / count};
}

struct Box {
  double left, right, top, bottom;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

Box box_of(const Label& label) {
  const double width = width_of(label.words, label.size), high = 0.72 * label.size, low = 0.22 * label.size;
  const double back = label.anchor == Anchor::start ? 0.0 : label.anchor == Anchor::middle ? width / 2 : width;
  if (label.upwards) return {label.at.x - high, label.at.x + low, label.at.y - width + back, label.at.y + back};
  return {label.at.x - back, label.at.x - back + width, label.at.y - high, label.at.y + low};
}

TEST(ComparisonFigure, PointsAreWhereTheNumbersAre) {
  const Picture picture = work_precision(comparison_of({"a", "b"}, {"rk4"}));
  // two in the legend, then three points each
  ASSERT_EQ(picture.marks.size(), 8U);
  const Spot a1 = centre_of(picture.marks[2]), a2 = centre_of(picture.marks[3]), a3 = centre_of(picture.marks[4]),
             b1 = centre_of(picture.marks[5]);
  // A factor of ten in time and a hundred in error are the same distance everywhere: axes are logarithmic.
  EXPECT_GT(a2.x - a1.x, 20.0);
  EXPECT_NEAR(a3.x - a2.x, a2.x - a1.x, 1e-9);
  EXPECT_GT(a2.y - a1.y, 20.0);
  EXPECT_NEAR(a3.y - a2.y, a2.y - a1.y, 1e-9);
  // b takes twice the time at the same error; a square's centre is its point, too
  EXPECT_NEAR((b1.x - a1.x) / (a2.x - a1.x), std::log10(2.0), 1e-9);
  EXPECT_NEAR(b1.y, a1.y, 1e-9);
}

TEST(ComparisonFigure, PanelsShareTheirAxesAndTheLegend) {
  const Comparison comparison = comparison_of({"a", "b", "c"}, {"one", "two", "three"});
  const Picture picture = work_precision(comparison);
  for (const char* name : {"a", "b", "c", "one", "two", "three"})
    EXPECT_EQ(std::ranges::count(picture.labels, std::string(name), text_of), 1) << name;
  // The same numbers with another method stand at the same place of their panel: the two in the upper row differ by the
  // distance of the panels, all points alike.
  ASSERT_EQ(picture.marks.size(), 30U);
  const std::size_t first = 3;  // after those of the legend
  const double across = centre_of(picture.marks[first + 9]).x - centre_of(picture.marks[first]).x;
  EXPECT_GT(across, 100.0);
  for (std::size_t k = 0; k < 9; ++k) {
    const Spot one = centre_of(picture.marks[first + k]), two = centre_of(picture.marks[first + 9 + k]);
    EXPECT_NEAR(two.x - one.x, across, 1e-9);
    EXPECT_NEAR(two.y, one.y, 1e-9);
    EXPECT_EQ(picture.marks[first + k].color, picture.marks[first + 9 + k].color);
  }
}

TEST(ComparisonFigure, NoTextLiesOnAnotherOrOutside) {
  for (const std::size_t methods : {1U, 2U, 3U, 4U, 5U})
    for (const std::size_t formulations : {1U, 2U, 16U, 30U}) {
      const Picture picture = work_precision(comparison_of(names(formulations), names(methods)));
      std::vector<Box> boxes;
      for (const Label& label : picture.labels) {
        boxes.push_back(box_of(label));
        EXPECT_GE(boxes.back().left, 0.0) << text_of(label);
        EXPECT_LE(boxes.back().right, picture.width) << text_of(label);
        EXPECT_GE(boxes.back().top, 0.0) << text_of(label);
        EXPECT_LE(boxes.back().bottom, picture.height) << text_of(label);
      }
      for (std::size_t i = 0; i < boxes.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
          EXPECT_FALSE(boxes[i].meets(boxes[k]))
              << methods << " methods, " << formulations << " formulations: '" << text_of(picture.labels[i])
              << "' lies on '" << text_of(picture.labels[k]) << "'";
    }
}

TEST(ComparisonFigure, SixteenFormulationsLookDifferent) {
  const Picture picture = work_precision(comparison_of(names(16), {"rk4"}));
  // A curve is known by its colour, the number of corners of its marks, which way they point, and whether these are
  // open.
  std::vector<std::string> looks;
  for (std::size_t k = 0; k < picture.marks.size(); ++k) {
    const Area& mark = picture.marks[k];
    if (mark.color == Color{255, 255, 255}) continue;
    const bool open = k + 1 < picture.marks.size() && picture.marks[k + 1].color == Color{255, 255, 255};
    const std::vector<Spot>& ring = mark.rings.front();
    const double lift = ring[0].y - centre_of(mark).y;
    const std::string look = std::to_string(mark.color.red) + " " + std::to_string(mark.color.green) + " " +
                             std::to_string(ring.size()) + (lift > 1e-9 ? " down" : " up") +
                             (std::abs(ring[0].x - centre_of(mark).x) < 1e-9 ? " tip" : "") + (open ? " open" : "");
    if (std::ranges::find(looks, look) == looks.end()) looks.push_back(look);
  }
  EXPECT_EQ(looks.size(), 16U);
}

TEST(ComparisonFigure, FailedRunsAreNotDrawnAndNothingIsSaid) {
  Comparison comparison = comparison_of({"a", "b"}, {"rk4", "bdf"});
  for (ComparedRun& run : comparison.runs)
    if (run.method == "bdf") fail(run, "the step became too small");
  fail(comparison.runs[0], "given up");
  const Picture picture = work_precision(comparison);
  EXPECT_EQ(picture.marks.size(), 5U + 2U);
  EXPECT_EQ(std::ranges::count(picture.labels, std::string("bdf"), text_of), 0);
  EXPECT_NE(picture.description.find("5 of 12 runs reached the end"), std::string::npos) << picture.description;
  for (ComparedRun& run : comparison.runs) fail(run, "given up");
  const Picture empty = work_precision(comparison);
  ASSERT_EQ(empty.labels.size(), 1U);
  EXPECT_EQ(text_of(empty.labels[0]), "no run has an error to show");
  EXPECT_EQ(picture_svg(empty).find("nan"), std::string::npos);
}

TEST(ComparisonFigure, FilesHaveTheMarks) {
  const Picture picture = work_precision(comparison_of({"a"}, {"rk4"}));
  const std::string svg = picture_svg(picture), pdf = picture_pdf(picture);
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(svg, "fill-rule=\"evenodd\""), 4U);
  EXPECT_EQ(count(pdf, "\nf*\n"), 4U);
}

TEST(ComparisonPage, HoldsTheNumbersOfTheRuns) {
  Comparison comparison = comparison_of({"ggl", "index1"}, {"rk4"});
  fail(comparison.runs[2], "the step became too small at t = 1");
  const std::string page = to_page(comparison);
  const auto json = nlohmann::json::parse(block(page, "comparison"));
  EXPECT_EQ(json["series"], (nlohmann::json{"ggl", "index1"}));
  EXPECT_EQ(json["quantities"], (nlohmann::json{"position", "velocity"}));
  EXPECT_EQ(json["agreement"], (nlohmann::json{1e-9, 0.0}));
  EXPECT_EQ(json["levels"], (nlohmann::json{"position", "velocity"}));
  EXPECT_EQ(json["rows"].size(), 6U);
  ASSERT_EQ(json["runs"].size(), 5U);
  EXPECT_EQ(json["runs"][2]["row"], 3) << "the failed one is left out";
  EXPECT_EQ(json["runs"][1]["series"], 0);
  EXPECT_EQ(json["runs"][1]["error"], (nlohmann::json{2e-5, 1e-4}));
  EXPECT_EQ(json["runs"][1]["work"], (nlohmann::json{0.01, 70.0, 7.0, 0.0}));
  const std::vector<float> residuals = decoded<float>(block(page, "residuals"));
  ASSERT_EQ(residuals.size(), 5 * 2 * parts);
  EXPECT_EQ(residuals[2 * parts + 17], static_cast<float>(17 * 1e-5));
  EXPECT_TRUE(std::isnan(residuals[3 * parts + 17]));
}

TEST(ComparisonPage, SaysWhatFailedWhatIsLeftOutAndWhatTheReferenceIs) {
  Comparison comparison = comparison_of({"ggl"}, {"rk4"});
  fail(comparison.runs[2], "the step became too small at t = 1");
  comparison.left_out.push_back({0, "index3", "dop853", "they do not fit"});
  comparison.interrupted = true;
  comparison.planned = 99;
  const std::string page = to_page(comparison);
  const std::string words = page.substr(0, page.find("<script"));
  EXPECT_NE(words.find("1 did not reach the end"), std::string::npos);
  EXPECT_NE(words.find("Interrupted: 99 were planned."), std::string::npos);
  EXPECT_NE(words.find("<th>ggl + rk4, rtol 1e-7</th><td>the step became too small at t = 1</td>"), std::string::npos);
  EXPECT_NE(words.find("<th>index3 + dop853</th><td>they do not fit</td>"), std::string::npos);
  EXPECT_NE(words.find("this and that agree to 1.0e-09 in positions"), std::string::npos);

  comparison.models[0].reference = {};
  comparison.models[0].reference.message = "there is none: chaos";
  for (ComparedRun& run : comparison.runs) run.error = {};
  const std::string without = to_page(comparison);
  EXPECT_NE(without.find("there is none: chaos"), std::string::npos);
  EXPECT_EQ(without.find("id=\"work\""), std::string::npos) << "no diagram of errors that are unknown";
  EXPECT_NE(without.find("id=\"drift\""), std::string::npos);
}

TEST(ComparisonPage, LoadsNothingAndNamesCannotBreakOut) {
  Comparison comparison = comparison_of({"</script><b>"}, {"<i>"});
  comparison.models[0].name = "<script>alert(1)</script>";
  fail(comparison.runs[0], "<img src=x>");
  const std::string page = to_page(comparison);
  const std::string words = page.substr(0, page.find("<script type="));
  EXPECT_FALSE(std::regex_search(words, std::regex(R"re((src|href)="(?!data:|#))re")));
  for (const char* wrong : {"<b>", "<i>", "<img", "<script>alert"})
    EXPECT_EQ(words.find(wrong), std::string::npos) << wrong;
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(block(page, "comparison"))["series"][0], "</script><b>");
}

}  // namespace
}  // namespace daedalus::report
